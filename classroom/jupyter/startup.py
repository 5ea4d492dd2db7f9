"""Runs first in each kernel that `course.py lab` starts.

So a learner may begin at any cell: the course is there before the first one has run.
"""

try:
    import classroom.live
except Exception:  # the notebook's first cell says what is wrong
    pass
else:
    del classroom  # it is nobody's name yet
