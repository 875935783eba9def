"""The rows on a plane: the two directions in which they differ most. The same rows give the same picture."""

import numpy as np

from tallystick.rooms.insight.cluster.rows import Floats, Matrix

SHOWN = 1_000
"""Dots on the plane: more cannot be told apart."""
_DIGITS = 4


def plane(points: Matrix) -> Floats:
    """Two coordinates a point, between -1 and 1."""
    centred = (points - points.mean(axis=0)).astype(np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    # One dimension alone has no second direction.
    axes = np.pad(axes, ((0, 0), (0, max(0, 2 - axes.shape[1]))))
    two = axes[:, ::-1][:, :2] if points.shape[1] > 1 else axes[:, :2]
    # A direction has no front: it points to where its largest part is positive.
    largest = np.abs(two).argmax(axis=0)
    two = two * np.where(two[largest, [0, 1]] < 0, -1.0, 1.0)
    flat = centred @ two
    shown: Floats = np.round(flat / max(float(np.abs(flat).max()), 1e-12), _DIGITS)
    return shown
