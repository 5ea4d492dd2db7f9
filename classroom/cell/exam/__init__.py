"""The exams from an empty file: any engine is judged by what it does, row by row."""
