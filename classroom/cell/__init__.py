"""What a notebook imports: of the classroom a sandbox shows this folder alone."""
