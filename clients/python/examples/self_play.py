"""Learns to win matches by playing against frozen copies of itself, from zero weights. It needs only NumPy.

    python self_play.py [--address host:port] [--seed 1] [--updates 300] [--rivals dt-10 bcts] [--log curve.csv]

128 matches take 32 turns per update, half of them against the newest frozen copy and half against one of the last eight. The
server plays for the copies, which are weights too; every fifth update freezes another.

The policy is a softmax over the weighted sums of the features of each placement. A turn pays the lines that it sends, and a
match ten more if it is won, or ten less if it is lost. A critic, linear in what both sides show, says how much of that could
be expected (generalized advantage estimation). The step of the weights is the regression of the rest on the features by
which the placement differs from the policy's mean: the natural gradient (Kakade 2002).

Every tenth update the best placements by these weights play pairs of matches against fixed players and earlier selves: two
matches with one seed, and sides exchanged. A draw is half a point. The results choose nothing.
"""

import argparse
import time

import numpy as np

import tetrion

RULES = {"preset": "tetrio", "players": 2}
FEATURES = "modern30"
MATCHES, STEPS = 128, 32
DISCOUNT, TRACE = 0.9, 0.9
END = 10  # Reward for a won match, besides the lines sent.
FREEZE, COPIES = 5, 8  # Updates between two copies, and how many are kept.
MINE, THEIRS = np.arange(0, 2 * MATCHES, 2), np.arange(1, 2 * MATCHES, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--rivals", nargs="+", default=["tetrion-guideline", "dt-10", "dellacherie"], help="fixed players")
    parser.add_argument("--pairs", type=int, default=100, help="pairs of matches against each other player")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client = tetrion.Client(args.address)
    session = client.create_session(
        2 * MATCHES, rules={**RULES, "clear_points": "attack"}, features=FEATURES, infos=["won"], action_mask=False,
        observations=["features", "garbage", "counts"], autoreset_mode="same_step", seed=args.seed,
    )  # fmt: skip
    rng = np.random.default_rng(args.seed)
    selves = [np.zeros(len(session.feature_names))]  # The weights after each update.
    state, critic = seen(session.reset()), None
    seconds, points = 0.0, []
    for update in range(1, args.updates + 1):
        began = time.process_time()
        copies = selves[::FREEZE][-COPIES:]
        newest, other = player(copies[-1]), player(copies[rng.integers(len(copies))])
        opponents = [(THEIRS[::2], newest), (THEIRS[1::2], other)]
        state, critic, step = improve(session, state, critic, selves[-1], opponents, rng)
        selves.append(selves[-1] + step)
        seconds += time.process_time() - began
        if update % 10 == 0 or update == 1:
            earlier = [player(selves[0]), player(selves[max(0, update - 50)])]
            row = [share(client, player(selves[-1]), rival, args.pairs) for rival in (*args.rivals, *earlier)]
            points.append((update, seconds, *row))
            names = zip((*args.rivals, "zero weights", "itself 50 updates ago"), row, strict=True)
            measured = ", ".join(f"{value:.3f} against {name}" for name, value in names)
            print(f"update {update:3}: {seconds:4.1f} s of processor time, points per match: {measured}", flush=True)
    session.close()
    if args.log:
        columns = ("update", "seconds", "points", *args.rivals[1:], "start", "earlier")
        np.savetxt(args.log, points, "%.10g", ",", header=",".join(columns), comments="")


def player(weights):
    """The best placement by these weights, as the server plays it."""
    return tetrion.Policy(weights=weights, features=FEATURES)


def share(client, policy, rival, pairs):
    """Share of the points in pairs of matches."""
    result = {"rules": {**RULES, "clear_points": "result"}, "max_pieces": 1000, "episodes_per_seed": 2}
    matches = client.evaluate(policy, opponent=rival, seeds=tetrion.DrawnSeeds(1, pairs), **result)
    return (1 + matches.scores.mean()) / 2


def seen(state):
    """What the critic sees: a constant, and both sides' features, waiting garbage, combo and back-to-back clears."""
    shown = state.observations
    sides = np.hstack([shown["features"], shown["garbage"].sum(axis=1, keepdims=True), shown["counts"][:, :2]])
    return np.hstack([np.ones((MATCHES, 1)), sides[MINE], sides[THEIRS]])


def improve(session, state, critic, weights, opponents, rng):
    """Plays some turns of every match; returns what the critic sees then, the new critic, and the step of the weights."""
    states, surprises, rewards, goes_on = [state], [], [], []
    for _ in range(STEPS):
        actions = np.zeros(2 * MATCHES, np.int32)
        for envs, opponent in opponents:
            actions[envs] = session.enumerate_placements(envs, policy=opponent).policy_actions
        placements = session.enumerate_placements(MINE)
        scores = placements.features @ weights - 1e6 * placements.terminated
        rows = placements.best_rows(scores + rng.gumbel(size=len(scores)))  # A draw from the softmax.
        actions[MINE] = placements.actions[rows]
        surprises.append(placements.features[rows] - mean_features(placements, scores))
        stepped = session.step(actions)
        paid = stepped.rewards.astype(float)
        if stepped.final is not None:
            paid[stepped.final.rows] += END * stepped.final.infos["won"]
        rewards.append(paid[MINE])
        goes_on.append(~stepped.terminated[MINE])
        states.append(seen(stepped))

    values = np.stack(states) @ (np.zeros(state.shape[1]) if critic is None else critic)
    advantages, advantage = np.zeros((STEPS, MATCHES)), 0.0
    for turn in reversed(range(STEPS)):
        surprise = rewards[turn] + DISCOUNT * goes_on[turn] * values[turn + 1] - values[turn]
        advantage = surprise + DISCOUNT * TRACE * goes_on[turn] * advantage
        advantages[turn] = advantage
    critic = regression(np.concatenate(states[:-1]), (values[:-1] + advantages).ravel())
    advantages = (advantages - advantages.mean()) / advantages.std()
    return states[-1], critic, regression(np.concatenate(surprises), advantages.ravel())


def mean_features(placements, scores):
    """The policy's mean of the features of its placement, per match."""
    first, counts = placements.row_offsets[:-1], np.diff(placements.row_offsets)
    chances = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), counts))
    sums = np.add.reduceat(np.column_stack([chances, chances[:, None] * placements.features]), first)
    return sums[:, 1:] / sums[:, :1]


def regression(rows, targets):
    """Weights of the columns whose sums are closest to the targets, with a small price on large weights."""
    moments = rows.T @ rows / len(rows)
    price = 1e-3 * np.diag(moments.diagonal()) + 1e-6 * np.eye(len(moments))
    return np.linalg.solve(moments + price, rows.T @ targets / len(rows))


if __name__ == "__main__":
    main()
