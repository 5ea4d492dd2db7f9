"""The commands for learners: lab, check, progress, break, reset, restore and so on."""
