"""Characters that look like Python's own, as pages, chats and editors put them in."""

import re
import unicodedata

CODE = re.compile(r"U\+([0-9A-F]{4,6})")
QUOTES = {"‘": "'", "’": "'", "‚": "'", "′": "'", "`": "'"}
QUOTES |= dict.fromkeys("“”„″«»", '"') | dict.fromkeys("‐‑‒–—−", "-") | {"×": "*"}


def advice(error: str) -> str:
    """Return what to type, for the text of a SyntaxError that names a character.

    The empty text for any other error.
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
        shown, cure = "", "it cannot be seen; delete the place and type it anew"
    else:
        shown = f" {character}"
        cure = f"type {plain} instead" if plain else "take it out"
    return f"Copied text has characters of its own, here{shown} ({name}): {cure}."


def _plain(character: str) -> str:
    likely = QUOTES.get(character) or unicodedata.normalize("NFKC", character)
    return likely if likely.isascii() else ""
