"""The gradient of the objective along the logits, against torch's own."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from brittle.moves import EditRequest, EditSpace  # noqa: E402
from brittle.ranking.moves import is_reached, objective_gradient  # noqa: E402
from brittle.text import Text  # noqa: E402

TEXT = Text.of("a film")
REQUESTS = [
    EditRequest(TEXT, label, toward, EditSpace(objective=objective), range(2))
    for objective in ("loss", "logit")
    for label, toward in ((0, None), (2, None), (0, 1))
]


def test_it_is_the_gradient_of_what_edit_space_tells() -> None:
    torch.manual_seed(0)
    logits = torch.randn((len(REQUESTS), 3), dtype=torch.float64, requires_grad=True)
    total = torch.zeros(())
    for row, request in zip(logits, REQUESTS):
        value = row if request.space.objective == "logit" else row.log_softmax(dim=0)
        total = total + (-value[request.label] if request.toward is None else value[request.toward])
    (expected,) = torch.autograd.grad(total, logits)
    found = objective_gradient(logits.detach().softmax(dim=1), REQUESTS)
    assert torch.allclose(found, expected, rtol=0, atol=1e-15) and found.dtype == torch.float64


def test_nothing_cancels_where_a_text_is_sure() -> None:
    scores = torch.tensor([[0.0, 60.0, 1.0]], dtype=torch.float64).softmax(dim=1)
    found = objective_gradient(scores, [EditRequest(TEXT, 1, None, EditSpace(), (0,))])
    assert scores[0, 1] == 1.0 and found[0, 1] == -(scores[0, 0] + scores[0, 2]) < 0


def test_a_text_has_left_its_class_or_reached_another() -> None:
    leave, reach = (EditRequest(TEXT, 0, toward, EditSpace(), (0,)) for toward in (None, 2))
    for scores, left, reached in (
        ([0.5, 0.4, 0.1], False, False),
        ([0.3, 0.4, 0.3], True, False),
        ([0.3, 0.3, 0.4], True, True),
        ([0.4, 0.4, 0.2], False, False),  # ties go to the first
    ):
        assert is_reached(scores, leave) == left and is_reached(scores, reach) == reached
