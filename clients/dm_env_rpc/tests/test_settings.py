"""What the settings do, the specs, and the tables of the README."""

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import packed
from dm_env_rpc.v1.dm_env_rpc_pb2 import INTERRUPTED, RUNNING, TERMINATED, DataType

from tetrion_dm_env_rpc.settings import AT_CREATION, AT_RESET
from tetrion_dm_env_rpc.world import OBSERVATIONS, World

# Learners have stored these numbers: they stay.
UIDS = [
    (1, "reward", "FLOAT"),
    (2, "board", "UINT8"),
    (3, "board_bits", "UINT32"),
    (4, "current", "INT8"),
    (5, "queue", "INT8"),
    (6, "heights", "UINT8"),
    (7, "features", "FLOAT"),
    (8, "falling", "UINT8"),
    (9, "falling_cells", "INT8"),
    (10, "action_mask", "BOOL"),
    (11, "lines", "INT64"),
    (12, "pieces", "INT64"),
    (13, "steps", "INT64"),
    (14, "episode_return", "DOUBLE"),
    (15, "seed", "UINT64"),
    (16, "invalid_action", "BOOL"),
    (17, "invalid_actions", "INT64"),
    (18, "landing_row", "INT8"),
    (19, "held", "INT8"),
    (20, "spin", "UINT8"),
    (21, "attack", "INT64"),
    (22, "combo", "INT32"),
    (23, "back_to_back", "BOOL"),
    (24, "piece_state", "UINT8"),
    (25, "garbage", "UINT8"),
    (26, "garbage_rows", "INT64"),
    (27, "end", "UINT8"),
    (28, "counts", "INT32"),
    (29, "back_to_back_count", "INT32"),
    (30, "sent", "INT64"),
    (31, "received", "INT64"),
    (32, "cancelled", "INT64"),
    (33, "surge", "INT64"),
]
GARBAGE = {
    "lines_per_piece": 1.5,
    "hole_move_chance": 1.0,
    "delay_pieces": 7,
    "hole_change_chance": 0.5,
    "hole_other_column": False,
    "hole_margin": 1,
    "holes_when_sent": True,
    "delay_skips_clears": True,
    "rises_after_clears": True,
    "rows_per_piece": 8,
    "most_waiting": 20,
    "opening_pieces": 14,
    "multiplier": 2.0,
    "multiplier_growth": 0.25,
    "multiplier_after": 9,
    "multiplier_most": 4.0,
    "frames_per_piece": 20,
    "meets_in_flight": True,
}


def test_every_setting_does_what_it_says(client):
    given = packed(
        preset="genetic",
        width=12,
        height=np.uint8(18),
        piece_set="tetrominoes",
        preview=np.int8(2),
        randomizer="bag7",
        action_model="keypress",
        top_out="overflow",
        orientation_table="guideline",
        reach="moves",
        rows_above=3,
        rotation_system="srs_plus",
        half_turns="cobra",
        spin_rule="all_spins",
        spawn_row=12,
        hold=1,
        clear_points="attack",
        attack_table="cold_clear",
        fall_delay=7,
        lock_delay=np.int32(8),
        lock_resets=0,
        clutch=1,
        **{f"garbage__{name}": int(value) if isinstance(value, bool) else value for name, value in GARBAGE.items()},
        scoring__piece=0.5,
        scoring__lines=np.array([1, 2, 4, 8], np.float32),
        scoring__game_end=-3,
        features=["holes", "max_height"],
        max_episode_steps=np.uint32(99),
        invalid_action_policy="ignore",
        invalid_action_reward=-0.5,
        label="agent 7",
        ttl_seconds=60,
        seed=np.uint64(2**64 - 1),
    )
    given["scoring.lines"].shape[:] = [-1]
    # A world has one environment, and so no opponent.
    assert set(AT_CREATION) - set(given) == {"pieces", "players"}
    world = World(client, given)
    config, rules = world._session.config, dict(world._session.rules)
    assert rules.pop("scoring") == {"piece": 0.5, "lines": [1.0, 2.0, 4.0, 8.0], "game_end": -3.0}
    assert rules.pop("garbage") == GARBAGE
    assert (rules.pop("hold"), rules.pop("clutch")) == (True, True)
    expected = {name: tensor.strings.array[0] for name, tensor in given.items() if tensor.HasField("strings")}
    assert (
        expected.items() - {("features", "holes"), ("invalid_action_policy", "ignore"), ("label", "agent 7")}
        <= rules.items()
    )
    numbers = {"width": 12, "height": 18, "preview": 2, "rows_above": 3, "spawn_row": 12}
    numbers |= {"fall_delay": 7, "lock_delay": 8, "lock_resets": 0}
    assert numbers.items() <= rules.items()
    assert config.features == ("holes", "max_height")
    assert (config.max_episode_steps, world.ttl) == (99, 60.0)
    assert (config.autoreset_mode, config.invalid_action_policy) == ("disabled", "ignore")
    assert (config.invalid_action_reward, config.label) == (-0.5, "agent 7")
    world.close()


def test_the_defaults(client):
    world = World(client, packed(max_episode_steps=0))
    config = world._session.config
    assert (config.rules["preset"], config.max_episode_steps, world.ttl) == ("simplified", 0, 600.0)
    assert (config.autoreset_mode, config.invalid_action_policy) == ("disabled", "terminate")
    world.close()


def test_explicit_pieces_are_dealt_in_every_episode_and_the_last_one_interrupts(links):
    link = links()
    link.play(pieces="IO")
    for _ in range(2):
        assert link.step()[1]["current"] == 0
        assert link.step()[1]["current"] == 1
        state, seen = link.step(4)
        assert (state, seen["current"]) == (INTERRUPTED, -1)


@pytest.mark.parametrize(
    ("policy", "state", "reward"),
    [({}, TERMINATED, 0.0), ({"invalid_action_policy": "ignore", "invalid_action_reward": -0.5}, RUNNING, -0.5)],
)
def test_an_action_that_does_not_exist_does_what_the_setting_says(links, policy, state, reward):
    link = links()
    link.play(pieces="OIT", **policy)
    _, seen = link.step()
    assert (seen["invalid_action"], seen["invalid_actions"]) == (False, 0)
    # An O has one orientation.
    stepped, seen = link.step(10)
    assert (stepped, seen["reward"], seen["invalid_action"], seen["invalid_actions"]) == (state, reward, True, 1)


def test_specs(links):
    link = links()
    link.play(width=6, height=8)
    specs = link.specs
    assert list(specs.actions) == [1]
    action = specs.actions[1]
    assert (action.name, DataType.Name(action.dtype), action.shape) == ("action", "INT32", [])
    assert (action.min.int32s.array, action.max.int32s.array) == ([0], [23])
    # No queue without a preview, no features without a selection.
    names = "reward board board_bits current heights action_mask lines pieces steps episode_return seed"
    names += " invalid_action invalid_actions landing_row end"
    assert [specs.observations[uid].name for uid in sorted(specs.observations)] == names.split()
    board, bits, lines = (specs.observations[uid] for uid in (2, 3, 11))
    assert (board.shape, board.min.uint8s.array, board.max.uint8s.array) == ([8, 6], b"\0", b"\1")
    assert (bits.shape, bits.max.uint32s.array) == ([8], [63])
    assert (lines.min.int64s.array, lines.HasField("max")) == ([0], False)
    assert specs.observations[10].shape == [24]
    assert not specs.observations[10].HasField("min")


def test_uids(links):
    given = {"preset": "lab", "preview": 2, "features": "bcts8"}, {"preset": "guideline"}
    given += ({"preset": "guideline", "action_model": "keypress", "garbage.lines_per_piece": 1},)
    seen = set()
    for settings in given:
        link = links()
        link.play(**settings)
        seen |= {(uid, spec.name, DataType.Name(spec.dtype)) for uid, spec in link.specs.observations.items()}
        _, observed = link.step()
        assert set(observed) == {spec.name for spec in link.specs.observations.values()}
    assert sorted(seen) == UIDS


def test_every_field_has_a_uid(client):
    catalog = client.catalog()
    fields = {field.name for field in (*catalog.observation_fields, *catalog.info_fields)}
    # Worlds compute no exact values, and have no opponent.
    assert fields - {"regret", "won"} == set(OBSERVATIONS) - {"reward", "action_mask"}


def test_the_table_of_the_readme_has_every_setting():
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \|$", readme, re.MULTILINE)
    assert rows == [name for name, setting in AT_CREATION.items() if setting.path[0] != "rules"]
    at_reset = re.findall(r"^\| `(\w+)` \| .*\(also at a reset\) \|$", readme, re.MULTILINE)
    assert at_reset == list(AT_RESET)
