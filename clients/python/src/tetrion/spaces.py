"""Gymnasium spaces from what the server says about its tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import spaces

from tetrion._pb import tensor_pb2 as pb
from tetrion.tensors import DTYPES


def box(spec: pb.TensorSpec) -> spaces.Box:
    """The space of one tensor for one environment. Bounds that the server does not tell are those of the type."""
    dtype: Any = DTYPES[spec.dtype]
    low, high = -np.inf, np.inf
    if np.issubdtype(dtype, np.integer):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    low = spec.low if spec.HasField("low") else low
    high = spec.high if spec.HasField("high") else high
    return spaces.Box(dtype.type(low), dtype.type(high), tuple(spec.shape), dtype.type)


def observation_space(specs: Iterable[pb.TensorSpec], num_actions: int = 0) -> spaces.Dict:
    """The space of an observation: a dictionary with the names and bounds that the server tells, sorted by name.

    Args:
        specs: What the server says about the session's observations.
        num_actions: The length of `action_mask`, if the observation is to hold one; 0: it does not.
    """
    fields: dict[str, spaces.Space[Any]] = {spec.name: box(spec) for spec in specs}
    if num_actions:
        fields["action_mask"] = spaces.Box(0, 1, (num_actions,), np.int8)
    return spaces.Dict(fields)


def action_space(spec: pb.TensorSpec) -> spaces.Discrete:
    """The space of one action."""
    return spaces.Discrete(int(spec.high) + 1)
