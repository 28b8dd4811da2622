"""Compares what is recorded of a tensor with a float64 oracle."""

import numpy as np
import pytest


def assert_statistics(record, values):
    wide = np.asarray(values, np.float64)
    assert record["shape"] == list(wide.shape)
    for key, expected in (("Max", wide.max()), ("Min", wide.min()), ("Mean", wide.mean()),
                          ("Norm", np.sqrt((wide * wide).sum()))):
        assert record[key] == pytest.approx(expected, rel=1e-12, abs=1e-15), key
