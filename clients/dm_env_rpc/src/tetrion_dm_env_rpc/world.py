"""A world: one environment as dm_env_rpc sees it, a sequence of states from one episode to the next.

No call of that protocol starts an episode: the step after the end of one does, and its actions are ignored. So the end of an
episode, a reset, and a new world have the same effect: the next step is a first step.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import numpy as np
import tetrion
from dm_env_rpc.v1 import dm_env_rpc_pb2 as pb
from dm_env_rpc.v1 import tensor_spec_utils, tensor_utils
from tetrion.errors import TetrionError

from tetrion_dm_env_rpc import settings, tensors
from tetrion_dm_env_rpc.errors import wrong_field

# Every observation, by its UID from 1 on. Learners have stored these numbers: new ones go to the end.
OBSERVATIONS = (
    *("reward", "board", "board_bits", "current", "queue", "heights", "features", "falling", "falling_cells", "action_mask"),
    *("lines", "pieces", "steps", "episode_return", "seed", "invalid_action", "invalid_actions", "landing_row", "held"),
    *("spin", "attack", "combo", "back_to_back", "piece_state", "garbage", "garbage_rows", "end"),
    *("counts", "back_to_back_count", "sent", "received", "cancelled", "surge"),
)
# The UID of the only action.
_ACTION = 1
_NO_REWARD = np.zeros(1, np.float32)


class _Phase(Enum):
    BETWEEN = auto()  # No episode is running, and a joined agent knows that: the next step starts one.
    RUNNING = auto()
    CUT = auto()  # Another client ended the episode: the next step only reports that.


class World:
    """A world. Threads may share it: its calls wait for each other.

    Attributes:
        name: Random name of its session.
        ttl: Seconds without a call after which it ends.
        specs: The message with its action and its observations.
        expires: When it ends if no call comes; kept by `Worlds`, like the next two.
        has_creator: Whether the stream that created it is open.
        has_agent: Whether an agent has joined it.
    """

    expires: float
    has_creator = True
    has_agent = False

    def __init__(self, client: tetrion.Client, given: Mapping[str, Any]) -> None:
        """Creates a session by the settings."""
        arguments = {**settings.DEFAULTS, **settings.read(given, settings.AT_CREATION)}
        self._create = client.create_session
        try:
            # The fields of a session by default depend on its rules. The others come with all rules, or with one of those.
            with self._create(**arguments) as probe:
                observations = {*(probe.config.observation_fields or ()), "board_bits", "heights"}
                infos = {*(probe.config.info_fields or ()), "landing_row", "invalid_action", "invalid_actions"}
            if "falling" in observations:
                observations.add("falling_cells")
            if "attack" in infos:
                observations.add("counts")
                infos.add("back_to_back_count")
            if "garbage" in observations:
                infos |= {"sent", "received", "cancelled", "surge"}
            fields = [[name for name in OBSERVATIONS if name in names] for names in (observations, infos)]
            session = self._session = self._create(**arguments, observations=fields[0], infos=fields[1])
        except TetrionError as error:
            raise settings.by_setting(error) from None
        self.name, self.ttl, self.specs = session.name, session.ttl, pb.ActionObservationSpecs()
        _describe(self.specs.actions[_ACTION], "action", "int32", (), 0, session.num_actions - 1)
        described: list[tuple[Any, ...]] = [("reward", "float32", ()), ("action_mask", "bool", (session.num_actions,))]
        for spec in (*session.observation_specs, *session.info_specs):
            described.append((spec.name, spec.dtype, spec.shape, spec.low, spec.high))
        for name, *of in described:
            _describe(self.specs.observations[OBSERVATIONS.index(name) + 1], name, *of)
        self._lock = threading.Lock()
        self._phase = _Phase.BETWEEN
        # The seed or the pieces of the next episode, if a reset has named them.
        self._seeding: dict[str, Any] = {}
        self._seen: dict[str, Any] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a call is in progress."""
        return self._lock.locked()

    def step(self, request: Any) -> Any:
        """Acts, or starts an episode, and answers with the requested observations."""
        wanted = set(request.requested_observations)
        for uid in sorted(wanted - set(self.specs.observations)):
            raise wrong_field("requested_observations", f"this world has no observation {uid}", "UNKNOWN_NAME")
        with self._lock:
            state = pb.RUNNING
            if self._phase is _Phase.BETWEEN:
                self._see(self._session.reset(**self._seeding))
                self._seeding = {}
            elif self._phase is _Phase.CUT:
                self._seen["reward"], state = _NO_REWARD, pb.INTERRUPTED
            else:
                stepped = self._session.step([_action(request.actions)])
                self._see(stepped, stepped.rewards)
                if stepped.terminated[0] or stepped.truncated[0]:
                    state = pb.TERMINATED if stepped.terminated[0] else pb.INTERRUPTED
            self._phase = _Phase.RUNNING if state == pb.RUNNING else _Phase.BETWEEN
            observations = {uid: _packed(self._seen[OBSERVATIONS[uid - 1]][0]) for uid in wanted}
            return pb.StepResponse(state=state, observations=observations)

    def _see(self, answer: tetrion.Observed | tetrion.Stepped, rewards: Any = _NO_REWARD) -> None:
        self._seen = {"reward": rewards, "action_mask": answer.action_mask, **answer.observations, **answer.infos}

    def reset(self, given: Mapping[str, Any] | None = None, *, from_outside: bool = False) -> None:
        """Ends the episode. From outside, an agent in the middle of it learns about that from its next step."""
        seeding = settings.read(given or {}, settings.AT_RESET)
        if "piece_sequences" in seeding:
            # The next step takes the pieces. A session that is closed at once tells now whether they are right.
            try:
                self._create(rules=self._session.rules, **seeding).close()
            except TetrionError as error:
                raise settings.by_setting(error) from None
        with self._lock:
            is_cut = from_outside and self._phase is not _Phase.BETWEEN
            self._phase, self._seeding = _Phase.CUT if is_cut else _Phase.BETWEEN, seeding

    def close(self) -> None:
        """Ends the session, after a call that is in progress. A session that cannot be ended ends with its lease."""
        with self._lock, contextlib.suppress(TetrionError):
            self._session.close()


def _describe(spec: Any, name: str, dtype: str, shape: tuple[int, ...], low: Any = None, high: Any = None) -> None:
    """Fills in a `TensorSpec`. Booleans have no bounds in this protocol."""
    kind = _wide(np.dtype(dtype))
    spec.name, spec.dtype = name, tensor_utils.np_type_to_data_type(kind)
    spec.shape.extend(shape)
    if kind != np.bool_:
        tensor_spec_utils.set_bounds(spec, *(None if bound is None else kind.type(bound) for bound in (low, high)))


def _packed(array: Any) -> Any:
    return tensor_utils.pack_tensor(array, _wide(array.dtype))


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which an array travels: this protocol has none of 16 bits."""
    return np.dtype(np.uint32) if dtype == np.uint16 else dtype


def _action(actions: Any) -> int:
    """The action of a step; 0 for a step without actions."""
    for uid in sorted(set(actions) - {_ACTION}):
        raise wrong_field("actions", f"this world has no action {uid}", "UNKNOWN_NAME")
    try:
        return tensors.int32(actions[_ACTION]) if _ACTION in actions else 0
    except ValueError as error:
        raise wrong_field(f"actions[{_ACTION}]", str(error), "INVALID_TENSOR") from None
