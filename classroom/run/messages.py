"""The messages of a kernel, checked and rebuilt, because they are not trusted."""

from jupyter_client.session import Session

from classroom.notebook.files import as_table

OUTPUT_LIMIT = 1_000_000  # characters that one cell may show
KEPT = 6_000  # characters of any one text that are reported
HEADERS = 20_000  # bytes that tell what kind a message is, and whose; in fact, 600
ENVELOPE = 100  # characters that a message counts for, if it has nothing in it


def opened(session: Session, frames: list[bytes]) -> dict | None:
    """Return a kernel's message, or None if it is not one; its content is not trusted.

    If it is longer than a cell may show, only its owner and its length are read.
    """
    try:
        _, (_, header, parent, *rest) = session.feed_identities(frames)
        if len(header) + len(parent) > HEADERS:
            return None
        kind = str(session.unpack(header)["msg_type"])
        msg_id = str(session.unpack(parent).get("msg_id"))
        size = ENVELOPE + sum(len(str(part, "utf-8", "replace")) for part in rest)
        content = session.unpack(rest[1]) if size <= OUTPUT_LIMIT else {}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return message(kind, msg_id, plain(kind, as_table(content))) | {"size": size}


def plain(kind: str, content: dict) -> dict:
    """Return the parts of a message that nbval reads, each of the expected type."""
    if kind == "error":
        lines = content.get("traceback")
        kept = {key: _text(content.get(key))[:KEPT] for key in ("ename", "evalue")}
        lines = lines if isinstance(lines, list) else []
        return {**kept, "traceback": [*map(_text, lines)]}
    if kind == "stream":
        return {key: _text(content.get(key)) for key in ("name", "text")}
    if kind in ("display_data", "execute_result"):
        data = as_table(content.get("data"))
        shown = {key: _text(value) for key, value in data.items()}
        return {"data": shown, "metadata": {}, "execution_count": 1}
    return {"execution_state": _text(content.get("execution_state"))}


def message(kind: str, msg_id: str, content: dict) -> dict:
    return {"msg_type": kind, "parent_header": {"msg_id": msg_id}, "content": content}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
