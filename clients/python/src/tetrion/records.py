"""The frozen dataclasses in answers of servers, generated from the messages of the protocol.

They compare by value, can be pickled, and have None for absent fields. `Client.server_info()` returns a `ServerInfo`,
`Client.catalog()` a `Catalog`, `Session.config` a `SessionConfig`, and `Session.observation_specs` a `TensorSpec` per
observation. An `Evaluation` has an `EvaluationStarted` and an `EvaluationSummary`, and `on_progress` takes an
`EvaluationProgress`.
`Client.task()` returns a `Task`, and `Client.score_task()` a `TaskScore`.
"""

from tetrion._pb import records as _records
from tetrion._pb.records import *  # noqa: F403


def __dir__() -> list[str]:
    """The public names."""
    return list(_records.__all__)
