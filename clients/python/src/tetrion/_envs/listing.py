"""Steps of a session in which an action is the number of a row: a row per placement of the current piece.

The environments for Gymnasium call a `Listing` instead of a stream. It answers like a session of R actions whose
observations are the rows. The extension module lists the placements after each call, and knows which action each row
stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments
from tetrion._messages.answers import AnswerDecoder
from tetrion._messages.listing import placements_request
from tetrion._messages.requests import FeaturesLike
from tetrion._messages.tensors import Specs, from_numpy
from tetrion._pb import messages as pb
from tetrion._sessions.calls import EnvIds
from tetrion._sessions.session import Session
from tetrion._sessions.stream import StepStream
from tetrion.errors import InvalidArgumentError

# Rows per column of the playfield, if there are more actions than that.
_ROWS_PER_COLUMN = 20
# Bytes of a placement in an answer without features and afterstate, rounded up.
_ROW_BYTES = 32


class Listing(StepStream):
    """The calls of a stream for rows.

    Attributes:
        num_rows: Number of rows per environment, R.
        specs: Specs of the observations.
    """

    def __init__(self, session: Session, shown: Sequence[str], features: FeaturesLike, *, masks: bool) -> None:
        """Opens a stream of a session, which must show the server's choice of observations.

        Args:
            session: The session, with features.
            shown: Names of the observations, in order.
            features: The features of the session.
            masks: Whether answers have masks of the rows.

        Raises:
            InvalidArgumentError: An observation does not exist or occurs twice, or the placements of this many environments
                do not fit into an answer.
        """
        message, config = session._message, session._message.config
        width, height = config.rules.width, config.rules.height
        self.num_rows = rows = min(session.num_actions, _ROWS_PER_COLUMN * width)
        num_features = len(session.feature_names)
        specs = {spec.name: spec for spec in message.observation_specs}
        specs |= {
            "features": pb.TensorSpec(name="features", dtype=pb.DATA_TYPE_FLOAT32, shape=[rows, num_features]),
            "rewards": pb.TensorSpec(name="rewards", dtype=pb.DATA_TYPE_FLOAT32, shape=[rows]),
            "terminated": pb.TensorSpec(name="terminated", dtype=pb.DATA_TYPE_INT8, shape=[rows], low=0, high=1),
            "afterstates": pb.TensorSpec(
                name="afterstates", dtype=pb.DATA_TYPE_UINT8, shape=[rows, height, width], low=0, high=1
            ),
        }
        shown = [arguments.choice(f"observations[{place}]", name, specs) for place, name in enumerate(shown)]
        if len(set(shown)) < len(shown):
            raise InvalidArgumentError("observations", f"is {shown}, expected each name once")
        cells = height * (2 if width <= 16 else 4) if "afterstates" in shown else 0
        most = config.max_response_bytes // (rows * (_ROW_BYTES + 4 * num_features + cells))
        if session.num_envs > most:
            problem = f"is {session.num_envs}, expected at most {most} with {rows} rows and {num_features} features each"
            raise InvalidArgumentError("num_envs", problem)
        self.specs = [specs[name] for name in shown]
        masked = pb.ACTION_MASK_FORMAT_BITS if masks else pb.ACTION_MASK_FORMAT_NONE
        described = message.changed(
            observation_specs=self.specs,
            action_spec=message.action_spec.changed(high=rows - 1),
            config=config.changed(action_mask_format=masked),
        )
        answers = AnswerDecoder(described)
        if masks:
            mask = pb.TensorSpec(name="action_mask", dtype=pb.DATA_TYPE_INT8, shape=[rows])
            answers.final_infos = Specs([*described.info_specs, mask])
        connection = session._connection
        request = placements_request(features=features, afterstates="afterstates" in shown).changed(
            max_response_bytes=connection.limits.messages.max_response_bytes, min_revision=connection.min_revision
        )
        with connection.calling():
            native = _native.Listing(session._link.native, described.encode(), request.encode())
        super().__init__(session._link, native, answers)

    @property
    def _is_direct(self) -> bool:
        return False

    def _step_request(self, actions: npt.ArrayLike | Sequence[str], env_ids: EnvIds) -> Any:
        tensor = from_numpy(actions, np.int32, "actions", allow_float=False)
        expected = (self._answers.num_envs if env_ids is None else len(env_ids),)
        if tuple(tensor.shape) != expected:
            raise InvalidArgumentError("actions", f"has the shape {tuple(tensor.shape)}, expected {expected}")
        return super()._step_request(actions, env_ids)
