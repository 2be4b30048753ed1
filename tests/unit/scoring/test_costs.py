"""Money: tokens at the prices of all models, or of the model that answered."""

from __future__ import annotations

import pytest

from liftbay.domain.episode import Episode, Turn
from liftbay.domain.prices import ModelPrices, Prices
from liftbay.domain.trace import EvalTrace, ModelTokens, ModelUsage
from liftbay.domain.vocabulary import EvalMode
from liftbay.scoring.costs import cost_of
from liftbay.scoring.probes import probe_reader

FLAT = Prices(1.0, 2.0)
BY_MODEL = Prices(1.0, 2.0, by_model={"large": ModelPrices(100.0, 1000.0), "free": ModelPrices(0.0, 0.0)})
MILLION = 1_000_000


def used(
    input_tokens: int | None = 300, output_tokens: int | None = 30, **by_model: tuple[int | None, int | None]
) -> EvalTrace:
    """A trace with these tokens, and how many of them each model had."""
    models = {name: ModelTokens(1, *tokens) for name, tokens in by_model.items()}
    return EvalTrace(model=ModelUsage(input_tokens=input_tokens, output_tokens=output_tokens, by_model=models or None))


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (used(), 300 * 1 + 30 * 2),
        (used(small=(300, 30)), 300 * 1 + 30 * 2),
        (used(large=(300, 30)), 300 * 100 + 30 * 1000),
        (used(large=(100, 10), small=(200, 20)), 100 * 100 + 10 * 1000 + 200 * 1 + 20 * 2),
        (used(large=(100, 10)), 100 * 100 + 10 * 1000 + 200 * 1 + 20 * 2),  # the rest is of models that nobody named
        (used(free=(200, 20), large=(100, 10)), 100 * 100 + 10 * 1000),
        (used(large=(100, None)), 100 * 100 + 200 * 1 + 30 * 2),
        (used(large=(900, 90)), 900 * 100 + 90 * 1000),  # more than the sum says: nothing is taken off
        (used(0, 0), 0),
    ],
)
def test_tokens_that_are_counted_by_model_have_its_price(trace: EvalTrace, expected: float) -> None:
    assert cost_of(trace, BY_MODEL) == pytest.approx(expected / MILLION)


def test_without_prices_or_tokens_it_is_not_known() -> None:
    assert cost_of(used(), None) is None
    for trace in (None, EvalTrace(), EvalTrace(model=ModelUsage(calls=3)), used(None, None)):
        assert cost_of(trace, FLAT) is None


def test_half_of_the_tokens_is_spent_but_no_cost_of_the_turn() -> None:
    """A budget counts what it knows; a figure that would look cheap is not reported."""
    assert cost_of(used(300, None), FLAT) == pytest.approx(300 / MILLION)
    read = probe_reader("cost", FLAT)
    for trace in (used(300, None), used(None, 30), EvalTrace(model=ModelUsage()), EvalTrace()):
        assert list(read(Episode("s", [Turn(1, "?", "a", trace)]), EvalMode.E2E_REAL)) == []
    both = Episode("s", [Turn(1, "?", "a", used()), Turn(2, "?", "a", used())])
    assert list(read(both, EvalMode.E2E_REAL)) == [pytest.approx(2 * 360 / MILLION)]
    assert list(probe_reader("cost")(both, EvalMode.E2E_REAL)) == []
