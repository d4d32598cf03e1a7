from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from brittle.studies.transfer.showing import TransferFigures
from brittle.studies.transfer.view import compared_figures, mean_distance


def test_distances_are_from_the_base_rate_of_the_target(
    make_figures: Callable[..., TransferFigures],
) -> None:
    matrix = make_figures().matrix
    by_hand = [abs(0.345 - 0.7), abs(0.5 - 0.66), abs(0.25 - 0.81), abs(0.4 - 0.81), abs(0.3 - 0.7)]
    assert mean_distance(matrix) == pytest.approx(sum(by_hand) / 5)
    matrix.rate[1, 1] = np.nan
    without = [by_hand[n] for n in (1, 2, 3)]
    assert mean_distance(matrix) == pytest.approx(sum(without) / 3)


def test_factors_are_compared_by_name(make_figures: Callable[..., TransferFigures]) -> None:
    figures = compared_figures(make_figures())
    assert figures["|r − base| by input form"] == 0.286
    assert figures["fool every target"] == 1
