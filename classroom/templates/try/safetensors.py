"""Files of tensors, for a browser's tab, which lacks the library safetensors.

The format is eight bytes with the length of a header, the header in JSON, and all
numbers. Source: huggingface.co/docs/safetensors.
"""

import json
import sys
from pathlib import Path
from struct import error, pack, unpack

import numpy as np

KINDS = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2"}
KINDS |= {"I8": "i1", "U8": "u1", "BOOL": "?"}
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}


class SafetensorError(Exception):
    """A file is not a whole .safetensors file."""


def save(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """Return a file with the arrays."""
    header: dict = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        about = {"dtype": NAMES[array.dtype], "shape": array.shape}
        header[name] = about | {"data_offsets": [begin, end]}
    told = json.dumps(header).encode()
    told += b" " * (-len(told) % 8)
    numbers = [array.tobytes() for array in arrays.values()]
    return b"".join([pack("<Q", len(told)), told, *numbers])


class safe_open:
    """The arrays of a file. Raises SafetensorError if it is not whole."""

    def __init__(self, path, framework: str):
        content = Path(path).read_bytes()
        try:
            begin = 8 + unpack("<Q", content[:8])[0]
            self.header = json.loads(content[8:begin])
        except (error, ValueError, MemoryError) as reason:
            raise SafetensorError(str(reason)) from reason
        self.about = self.header.pop("__metadata__", None)
        self.numbers = content[begin:]
        ends = [each["data_offsets"][1] for each in self.header.values()]
        if max(ends, default=0) != len(self.numbers):
            raise SafetensorError("the numbers are not as long as the header says")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def keys(self) -> list[str]:
        """Return the names of the arrays, in the order of the alphabet."""
        return sorted(self.header)

    def metadata(self) -> dict | None:
        """Return the notes of the file."""
        return self.about

    def get_tensor(self, name: str) -> np.ndarray:
        """Return an array by its name."""
        each = self.header[name]
        part = self.numbers[slice(*each["data_offsets"])]
        return np.frombuffer(part, KINDS[each["dtype"]]).reshape(each["shape"])


sys.modules["safetensors.numpy"] = sys.modules[__name__]
