"""The type of complex arrays, which NumPy's own stubs need in order to know their parts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

ComplexArray = NDArray[np.complexfloating[Any, Any]]
