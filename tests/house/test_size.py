"""The package is to stay small. More than that is a warning; the numbers stand at the end of what pytest prints."""

from __future__ import annotations

import warnings

import pytest

from ..support.size import TARGETS, sizes


@pytest.mark.parametrize("what", TARGETS)
def test_the_package_is_not_larger_than_it_should_be(what):
    size = sizes()[what]
    assert size > 0
    if size > TARGETS[what]:
        warnings.warn(f"the package has {size:,g} {what}, and should have at most {TARGETS[what]:,}", stacklevel=1)
