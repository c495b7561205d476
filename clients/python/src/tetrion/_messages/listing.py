"""The request for placements."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.policies import Policy, checked_policy, policy_message
from tetrion._messages.requests import FeaturesLike, features_message
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb

if TYPE_CHECKING:
    from typing_extensions import Unpack


class PlacementsOptions(TypedDict, total=False):
    """Contents of a list of placements: keyword arguments of `enumerate_placements` of clients and sessions.

    Attributes:
        features: The name of a feature set or a list of features. Default: the session's features, if any; for positions
            none.
        afterstates: Whether to return the playfields after the placements.
        position_features: Whether to return the features of the current playfields.
        anchors: Whether to return the cells of the pieces' anchors at rest.
        cells: Whether to return the pieces' cells at rest.
        preclear_boards: Whether to return the playfields with the pieces at rest, before full rows are cleared.
        keys: Whether to return the fewest keys that take the piece to each placement, for `Placements.key_names`. They exist
            under rules with kicks and moves on the way down, such as `guideline`.
        optimal_values: Whether to return the exact value of each placement, under rules for which the server knows them,
            such as `{"width": 4, "height": 5}`.
        policy: A policy that scores placements, by its name or as a `Policy`: return the value that it gives each placement,
            and its choices. Not with `actions`.
        actions: Integers [B], one per position: list only the placement of this action, such as the chosen one whose keys
            are wanted. Default: all placements.
    """

    features: FeaturesLike
    afterstates: bool
    position_features: bool
    anchors: bool
    cells: bool
    preclear_boards: bool
    keys: bool
    optimal_values: bool
    policy: Policy | str | None
    actions: npt.ArrayLike | None


def placements_request(**options: Unpack[PlacementsOptions]) -> pb.EnumeratePlacementsRequest:
    """The request for placements, without the positions.

    Raises:
        InvalidArgumentError: A value has the wrong type.
    """
    actions, policy = options.get("actions"), options.get("policy")
    return pb.EnumeratePlacementsRequest(
        features=features_message(options.get("features")),
        include_afterstates=arguments.flag("afterstates", options.get("afterstates", False)),
        include_position_features=arguments.flag("position_features", options.get("position_features", False)),
        include_anchors=arguments.flag("anchors", options.get("anchors", False)),
        include_cells=arguments.flag("cells", options.get("cells", False)),
        include_preclear_boards=arguments.flag("preclear_boards", options.get("preclear_boards", False)),
        include_keys=arguments.flag("keys", options.get("keys", False)),
        include_optimal_values=arguments.flag("optimal_values", options.get("optimal_values", False)),
        policy=None if policy is None else policy_message(checked_policy(policy)),
        actions=None if actions is None else from_numpy(actions, np.int32, "actions", allow_float=False),
    )
