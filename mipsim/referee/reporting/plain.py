"""Plain JSON data. JSON has no infinities: they are written as "inf" and "-inf", and NaN as null."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return `value` as what JSON can hold; NumPy's numbers and arrays and non-finite floats are converted.
    >>> plain({"n": np.int64(3), "x": (1.0, float("-inf")), "y": float("nan")})
    {'n': 3, 'x': [1.0, '-inf'], 'y': None}
    """
    if value is None or isinstance(value, (str, bool, int)):
        # str() and int() strip enums of the standard library down to what they are.
        return str(value) if isinstance(value, str) else value
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return str(value)
