"""The module from which cells import checks, and answers to guesses."""

from classroom.cell.exam.examine import examine  # noqa: F401
from classroom.cell.exam.training import race  # noqa: F401
from classroom.cell.expect import check, expect, how_many, worked_out  # noqa: F401
from classroom.cell.guesses import compare  # noqa: F401
from classroom.cell.recordable import expect_recorded  # noqa: F401
