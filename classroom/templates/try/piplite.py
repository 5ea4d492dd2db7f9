"""Installing packages, for a browser's tab, which cannot do it."""

import sys


async def install(*packages: str, **options: object) -> None:
    """Raise RuntimeError."""
    raise RuntimeError("no packages can be installed in a browser's tab")


piplite = sys.modules["piplite.piplite"] = sys.modules[__name__]
