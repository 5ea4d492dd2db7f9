"""The commands for teachers: release, collect, grade, report."""
