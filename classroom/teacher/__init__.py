"""What teachers do: release, collect, grade, report."""
