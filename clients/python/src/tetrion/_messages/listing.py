"""The request for placements."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.placements import PlacementsFlags
from tetrion._messages.policies import Policy, checked_policy, policy_message
from tetrion._messages.requests import FeaturesLike, features_message, selected_features
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb

if TYPE_CHECKING:
    from typing_extensions import Unpack


class PlacementsOptions(PlacementsFlags, total=False):
    """Contents of a list of placements: keyword arguments of `enumerate_placements` of clients and sessions.

    A flag such as `cells=True` adds the column of `Placements` with its name.

    Attributes:
        features: The name of a feature set or a list of features. Default: the session's features, if any; for positions
            none.
        policy: A policy that scores placements, by its name or as a `Policy`: return the value that it gives each placement,
            and its choices. Not with `actions`.
        actions: Integers [B], one per position: list only the placement of this action, such as the chosen one whose keys
            are wanted. Default: all placements.
    """

    features: FeaturesLike
    policy: Policy | str | None
    actions: npt.ArrayLike | None


def placements_request(**options: Unpack[PlacementsOptions]) -> pb.EnumeratePlacementsRequest:
    """The request for placements, without the positions.

    Raises:
        InvalidArgumentError: A value has the wrong type.
    """
    actions, policy = options.get("actions"), options.get("policy")
    flags = tuple(name for name in _FLAGS if arguments.flag(name, options.get(name, False)))
    request = _request(selected_features(options.get("features")), flags)
    if actions is None and policy is None:
        return request
    return request.changed(
        policy=None if policy is None else policy_message(checked_policy(policy)),
        actions=None if actions is None else from_numpy(actions, np.int32, "actions", allow_float=False),
    )


_FLAGS = tuple(PlacementsFlags.__annotations__)


@functools.lru_cache(maxsize=256)
def _request(features: str | tuple[str, ...] | None, flags: tuple[str, ...]) -> pb.EnumeratePlacementsRequest:
    """The request for these columns, which its callers must not change."""
    wanted: dict[str, Any] = {f"include_{name}": True for name in flags}
    return pb.EnumeratePlacementsRequest(features=features_message(features), **wanted)
