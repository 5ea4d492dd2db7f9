"""Operations: a forward function, and a formula for the gradient of each argument."""
