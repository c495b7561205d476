"""A world plays the games of a session, to the last byte."""

import numpy as np
import pytest
from dm_env_rpc.v1.dm_env_rpc_pb2 import INTERRUPTED, RUNNING, TERMINATED

SMALL = {"width": 6, "height": 8}
SEED = 2**64 - 6
SCORING = {"piece": 0.25, "lines": [3.0, 3.0, 3.0, 3.0], "game_end": -2.5}
SURVEY = {"preset": "survey", "height": 7, "preview": 3}
GAMES = {
    # Settings, and the arguments of the session.
    "simplified": (SMALL | {"seed": 42}, {"rules": SMALL, "env_seeds": [42]}),
    "survey": (
        SURVEY
        | {f"scoring__{name}": value for name, value in SCORING.items()}
        | {"seed": np.uint64(SEED), "features": "bcts8", "max_episode_steps": 8},
        {"rules": SURVEY | {"scoring": SCORING}, "env_seeds": [SEED], "features": "bcts8", "max_episode_steps": 8},
    ),
    "lab": ({"preset": "lab", "height": 8, "seed": 3}, {"rules": {"preset": "lab", "height": 8}, "env_seeds": [3]}),
    "guideline": (
        {"preset": "guideline", "seed": 9, "max_episode_steps": 20},
        {"rules": "guideline", "env_seeds": [9], "max_episode_steps": 20},
    ),
    "pieces": (SMALL | {"pieces": "IOTZSJL"}, {"rules": SMALL, "piece_sequences": ["IOTZSJL"]}),
}


def same(seen, rewards, answer):
    arrays = {"reward": rewards, "action_mask": answer.action_mask, **answer.observations, **answer.infos}
    assert set(seen) == set(arrays)
    for name, array in arrays.items():
        # The protocol has no numbers of 16 bits.
        row = array[0].astype(np.uint32) if array.dtype == np.uint16 else array[0]
        assert (seen[name].dtype, seen[name].shape, seen[name].tobytes()) == (row.dtype, row.shape, row.tobytes()), name


@pytest.mark.parametrize("game", GAMES)
def test_equal_bytes(client, links, game):
    settings, arguments = GAMES[game]
    rng = np.random.default_rng(1)
    link = links()
    link.play(**settings)
    shown = {spec.name for spec in link.specs.observations.values()}
    catalog = client.catalog()
    fields = [
        [field.name for field in known if field.name in shown] for known in (catalog.observation_fields, catalog.info_fields)
    ]
    modes = {"autoreset_mode": "disabled", "invalid_action_policy": "terminate"}
    counts = {RUNNING: 0, TERMINATED: 0, INTERRUPTED: 0}
    with client.create_session(observations=fields[0], infos=fields[1], **arguments, **modes) as session:
        for _ in range(20):
            answer = session.reset()
            state, seen = link.step()
            same(seen, np.zeros(1, np.float32), answer)
            while state == RUNNING:
                counts[state] += 1
                # Now and then an action that may not exist, which ends the episode.
                action = 0 if rng.random() < 1 / 16 else rng.choice(np.flatnonzero(answer.action_mask[0]))
                answer = session.step([action])
                state, seen = link.step(action)
                same(seen, answer.rewards, answer)
                ended = TERMINATED if answer.terminated[0] else INTERRUPTED if answer.truncated[0] else RUNNING
                assert state == ended
            counts[state] += 1
    assert counts[RUNNING] > 50
    assert counts[TERMINATED] + counts[INTERRUPTED] == 20
    assert counts[INTERRUPTED] or game in ("simplified", "lab"), counts
    assert counts[TERMINATED], counts
