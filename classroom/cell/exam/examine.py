"""The exams' groups of rows, and the table of verdicts of one of them."""

from collections.abc import Mapping
from time import process_time
from typing import Any

from classroom.cell.exam import rows
from classroom.cell.exam.arrays import (
    LONG_AND_LEARNING,
    MANY_AT_ONCE,
    PRODUCTS,
    TWICE,
    WITH_CARE,
)
from classroom.cell.exam.numbers import LONG_AND_MANY, ONE_WALK, WHAT_STAYS
from classroom.cell.exam.rows import DONE, OPEN, WRONG, Engine, judge
from classroom.cell.expect import NotFilledIn, WrongAnswer

GROUPS = {
    "one walk": ONE_WALK,
    "what stays": WHAT_STAYS,
    "long and many": LONG_AND_MANY,
    "many at once": MANY_AT_ONCE,
    "products": PRODUCTS,
    "with care": WITH_CARE,
    "long and learning": LONG_AND_LEARNING,
    "twice": TWICE,
}


def examine(group: str, adapters: Mapping[str, Any]) -> None:
    """Judge an engine in a group of rows, and print or raise the table of verdicts.

    Raises WrongAnswer if a row is wrong, else NotFilledIn if one is open.
    """
    engine = Engine(adapters)
    verdicts, begin = [], process_time()
    for row in GROUPS[group]:
        left = rows.ALL_SECONDS - (process_time() - begin)
        verdicts.append(judge(row, engine, min(rows.SECONDS, left)))
    table = "\n".join(map(str, verdicts))
    found = [verdict.status for verdict in verdicts]
    head = f"{found.count(DONE)} of {len(found)} rows are done."
    if not {"make", "grad_of"} & set(adapters):
        head += " (There is no `make` or `grad_of`."
        head += " Has their cell run to its end, and has it passed?)"
    if WRONG in found:
        raise WrongAnswer(f"{head}\n{table}")
    if OPEN in found:
        raise NotFilledIn(f"{head}\n{table}")
    print(table)
