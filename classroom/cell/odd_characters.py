"""Characters that look like Python's own, which copied text and editors bring in.

A message names one and says what to type. `%%plain`, typed as the first line of a cell,
replaces all of them. The page that shows the cell exchanges its text, so that nothing
has to be copied, and no open file is written.
"""

import ast
import re
import unicodedata

CODE = re.compile(r"U\+([0-9A-F]{4,6})")
LIKELY = dict.fromkeys("‘’‚′", "'") | dict.fromkeys("“”„″«»", '"')
LIKELY |= dict.fromkeys("‐‑‒–—−", "-")
LIKELY |= {"×": "*", "≤": "<=", "≥": ">=", "≠": "!="}
ALL = (
    "To replace all such characters in the notebook, type %%plain as the first line "
    "of the cell, and run the cell."
)


def advice(error: str) -> str:
    """Return what to type, for the text of a SyntaxError that names a character.

    Return the empty text for any other error.
    """
    found = CODE.search(error)
    if not found:
        return ""
    character = chr(int(found[1], 16))
    name = unicodedata.name(character, f"U+{found[1]}").lower()
    kind, plain = unicodedata.category(character), _plain(character)
    if kind == "Zs":
        shown, cure = "", "type a plain space instead"
    elif kind in ("Cf", "Cc"):
        shown, cure = "", "it is invisible; delete that position and type it again"
    else:
        shown = f" {character}"
        cure = f"type {plain} instead" if plain else "take it out"
    here = f"Copied text has unusual characters, here{shown} ({name}): {cure}."
    return f"{here}\n{ALL}"


def put_right(source: str) -> str:
    """Return a cell in which all characters that Python refuses are plain ones.

    Python says which these are. Characters in a string or a comment stay.
    """
    before = ""
    while before != source:
        before, source = source, _first_put_right(source)
    return source


def _first_put_right(source: str) -> str:
    try:
        ast.parse(source)
        return source
    except SyntaxError as error:
        found, said = CODE.search(error.msg), error.msg
        line = [0, *(m.end() for m in re.finditer("\n", source))][error.lineno - 1]
        place = line + error.offset - 1
    flat = "".join(p if len(p := _plain(c)) == 1 else c for c in source)
    if found and source[place : place + 1] != chr(int(found[1], 16)):
        place = source.find(chr(int(found[1], 16)), line)  # 3.11, within an f-string
    elif "unterminated" in said:
        place = re.compile("[\"']").search(flat, place).start()
    elif not found:
        return source
    mark = flat[place]
    if mark in "'\"":  # then what ends the string is no less odd
        mark *= 3 if flat.startswith(3 * mark, place) else 1
        inside = place + len(mark)
        end = flat.find(mark, inside)
        if end >= 0 and (len(mark) == 3 or "\n" not in flat[inside:end]):
            rest = source[end + len(mark) :]
            return f"{source[:place]}{mark}{source[inside:end]}{mark}{rest}"
    return source[:place] + _plain(source[place]) + source[place + 1 :]


def _plain(character: str) -> str:
    likely = LIKELY.get(character) or unicodedata.normalize("NFKC", character)
    return likely if likely.isascii() else ""
