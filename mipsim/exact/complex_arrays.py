"""The type of complex arrays, which NumPy's own stubs need in order to know their parts."""

from typing import Any

import numpy as np

ComplexArray = np.ndarray[Any, np.dtype[np.complex128]]
