"""What a run will do, fixed before it starts: which metrics on which cases, and what decides each case."""

from __future__ import annotations

import msgspec

from liftbay.domain.metric import Metric
from liftbay.domain.vocabulary import Bilingual, DatasetType


class RunPlan(msgspec.Struct, frozen=True):
    """For each dataset type of the run: the metrics to decide, and the main metrics in order of preference.

    The first main metric that is applicable to a case decides it.
    """

    scope: str
    main_metric: str  # the scope's own
    reason: Bilingual  # why it is the main metric
    metrics: dict[DatasetType, tuple[Metric, ...]]
    main: dict[DatasetType, tuple[str, ...]]
    probes: tuple[str, ...]
