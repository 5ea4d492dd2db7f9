"""The commands for learners: lab, check, progress, reset, restore, update, assemble."""
