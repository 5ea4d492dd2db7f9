"""What learners do: lab, check, progress, reset, restore, update, assemble."""
