"""Names for the numpy array types that the columnar modules share.

This is the only module of `common` that needs numpy: the client and the jobspec values stay
importable without it, so they must not import this one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""Counts, amounts, times, positions and vertex numbers."""
Bools = NDArray[np.bool_]
"""Masks: one flag per row."""
Floats = NDArray[np.float64]
"""Measured values and statistics."""
