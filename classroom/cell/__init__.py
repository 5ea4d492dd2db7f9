"""The code that notebooks import; a sandbox shows only this folder of classroom/."""
