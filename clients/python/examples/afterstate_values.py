"""Learns the values of afterstates from scratch, by approximate policy iteration with rollouts.

    python afterstate_values.py [--address host:port] [--iterations 25] [--states 4000] [--log curve.csv]

The value of an afterstate, the playfield after a placement, is linear in nine features of it (the set `thiery9`), and the
policy plays the placement with the largest value. One iteration improves it:

1. Play many games at once with the policy, and stop them somewhere: these are the states.
2. In each state try the most promising placements: a copy of the game takes each of them, and the policy plays on for
   ten pieces. The value of the placement is the discounted lines that follow, and a critic's value of the last afterstate.
   All copies of a state get the same pieces, so that they differ by their placements and not by luck. The critic is learned
   from the games of step 1 by temporal differences (LSTD).
3. Find the weights whose choices lose the fewest lines against the best placement tried, over all states of the last few
   iterations. A choice has no gradient, but the expected loss of a softmax of the scores has one: follow it while the
   softmax becomes sharper, until it is nearly a choice.

This is direct policy iteration as in Lagoudakis and Parr (2003) and Gabillon, Ghavamzadeh and Scherrer (2013), whose
classification-based policy iteration learned the controllers dt-10 and dt-20. The final measurement uses pieces that did
not take part in learning.

It needs only numpy. Two requests travel together: a step, and the question for the placements that it leads to.
"""

import argparse
import time

import numpy as np

import tetrion

RULES = {"width": 10, "height": 10}
FEATURES = "thiery9"
# The critic sees how full the playfield is, too.
CRITIC = [0.0, 2.5, 5.0, 7.5, 10.0]
# Steps of a fit, and the sharpness of its softmax in the first and the last.
STEPS, SHARPNESS = 40, (5.0, 40.0)


class Learner:
    """The policy, its games, and its memory of the trials."""

    def __init__(self, client, args):
        self.rng = np.random.default_rng(args.seed)
        self.args = args
        self.weights = None  # Random play to begin with.
        self.memory, self.iteration = [], 0
        names = next(item.columns for item in client.catalog().feature_sets if item.name == FEATURES)
        self.critic = None
        names = [*names, "total_height"]
        lean = {"rules": RULES, "features": names, "observations": ["current"], "infos": ["lines"], "action_mask": False}
        self.games = client.create_session(args.states, seed=args.seed, snapshot_every=0, **lean)
        self.copies = client.create_session(4096, autoreset_mode="disabled", snapshot_every=0, **lean)
        self.stream, self.trials = self.games.stream(), self.copies.stream()
        self.stream.reset()
        self.pieces = 0

    def scores(self, placements):
        """The policy's score of each placement."""
        if self.weights is None:
            scores = self.rng.random(len(placements.actions), np.float32)
        else:
            scores = placements.features[:, :9] @ self.weights.astype(np.float32)
        scores[placements.terminated] = -1e30
        return scores

    def choose(self, placements):
        """The rows that the policy plays, for the environments that have placements."""
        counts = np.diff(placements.row_offsets.astype(np.int64))
        starts, counts = placements.row_offsets[:-1][counts > 0].astype(np.int64), counts[counts > 0]
        scores = self.scores(placements)
        hits = np.flatnonzero(scores == np.repeat(np.maximum.reduceat(scores, starts), counts))
        return hits[np.searchsorted(hits, starts)]  # The first, if several have the same score.

    def seen(self, features):
        """The critic's features of afterstates: a constant, the nine features, and bumps over the mean height."""
        bumps = np.exp(-(((features[:, 9:] / RULES["width"] - CRITIC) / 2.0) ** 2) / 2)
        return np.hstack([np.ones((len(features), 1)), features[:, :9], bumps])

    def play(self, steps):
        """Plays on in all games, and learns the values of afterstates for this policy: LSTD (Bradtke and Barto 1996).

        The value of an afterstate is the discounted sum of the lines that follow.
        """
        size = 10 + len(CRITIC)
        matrix, vector = 1e-2 * np.eye(size), np.zeros(size)
        before, follows = np.zeros((self.args.states, size)), np.zeros(self.args.states, bool)
        for _ in range(steps):
            placements = self.stream.enumerate_placements()
            # Games that have ended have no placements; any action begins the next episode.
            alive = np.diff(placements.row_offsets) > 0
            rows = self.choose(placements)
            actions, now = np.zeros(self.args.states, np.int32), np.zeros((self.args.states, size))
            actions[alive], now[alive] = placements.actions[rows], self.seen(placements.features[rows])
            stepped = self.stream.step(actions)
            now[stepped.terminated] = 0
            matrix += before[follows].T @ (before - self.args.gamma * now)[follows]
            vector += before[follows].T @ stepped.rewards[follows]
            before, follows = now, alive & ~stepped.terminated
        self.critic = np.linalg.solve(matrix, vector)

    def rollouts(self, states, actions):
        """The value of each action: the lines of the policy's play after it, and the value of the last afterstate."""
        values = np.zeros(len(states))
        for first in range(0, len(states), self.copies.num_envs):
            some = slice(first, first + self.copies.num_envs)
            ids = np.arange(len(states[some]))
            self.trials.restore_state(states[some], ids)
            chosen, features, discount = actions[some], None, 1.0
            for step in range(self.args.horizon + 1):
                env_ids = None if len(ids) == self.copies.num_envs else ids
                self.trials.send_step(chosen, env_ids)
                self.trials.send_placements(env_ids)
                stepped, placements = self.trials.receive_step(), self.trials.receive_placements()
                self.pieces += len(ids)
                values[first + ids] += discount * stepped.rewards
                alive = ~stepped.terminated
                if step == self.args.horizon:
                    values[first + ids[alive]] += discount * self.seen(features[alive]) @ self.critic
                ids = ids[alive]
                if not ids.size or step == self.args.horizon:
                    break
                rows = self.choose(placements)
                chosen, features = placements.actions[rows], placements.features[rows]
                discount *= self.args.gamma
        return values

    def improve(self):
        """One iteration."""
        self.play(30 if self.memory else 10)
        placements = self.stream.enumerate_placements()
        # The placements that look best; at the beginning, any. A state that has fewer tries some of them twice.
        owners = np.repeat(np.arange(self.args.states), np.diff(placements.row_offsets.astype(np.int64)))
        order = np.lexsort([-self.scores(placements), owners])
        counts = np.bincount(owners[~placements.terminated], minlength=self.args.states)
        some = np.flatnonzero(counts)
        ranks = np.arange(self.args.candidates) % counts[some, None]
        tried = order[placements.row_offsets[some, None].astype(np.int64) + ranks]
        states = self.games.save_state()
        copies = [states[owner] for owner in owners[tried.ravel()]]
        values = self.rollouts(copies, placements.actions[tried.ravel()]).reshape(tried.shape)
        losses = values.max(axis=1, keepdims=True) - values
        self.memory = [*self.memory, (placements.features[tried, :9], losses.astype(np.float32))][-self.args.memory :]
        # Trials are noisy, and so is a fit to them: steps become shorter, and the weights a mean of many fits.
        found = self.fit()
        self.iteration += 1
        step = min(0.5, 2 / self.iteration)
        self.weights = found if self.weights is None else (1 - step) * self.weights + step * found

    def fit(self):
        """The weights whose choices lose least over all trials in memory, by a softmax that sharpens into a choice."""
        features = np.concatenate([features for features, _ in self.memory])
        losses = np.concatenate([losses for _, losses in self.memory])
        # What the placements of a state have in common decides nothing.
        features = features - features.mean(axis=1, keepdims=True)
        scale = features.std(axis=(0, 1)) + np.float32(1e-6)
        features = (features / scale).reshape(-1, 9)
        weights = heading = np.zeros(9, np.float32)
        if self.weights is not None:
            weights = (self.weights * scale).astype(np.float32)
        for step in range(STEPS):
            weights = weights / (np.linalg.norm(weights) or 1)
            sharpness = SHARPNESS[0] * (SHARPNESS[1] / SHARPNESS[0]) ** (step / STEPS)
            scores = (features @ (sharpness * weights)).reshape(losses.shape)
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            expected = (chances * losses).sum(axis=1, keepdims=True)
            gradient = (chances * (losses - expected)).ravel() @ features
            gradient -= (gradient @ weights) * weights  # Along the sphere: only directions matter.
            # With momentum, and steps that become shorter, whatever the slope.
            heading = 0.8 * heading + 0.2 * gradient / np.linalg.norm(gradient)
            weights = weights - 0.3 * (1 - step / STEPS) * heading
        weights = weights / scale
        return weights / np.linalg.norm(weights)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--states", type=int, default=4000, help="states of an iteration")
    parser.add_argument("--candidates", type=int, default=16, help="placements tried in a state")
    parser.add_argument("--gamma", type=float, default=0.99, help="discount of later lines")
    parser.add_argument("--horizon", type=int, default=10, help="pieces played after each of them")
    parser.add_argument("--memory", type=int, default=12, help="iterations remembered")
    parser.add_argument("--games", type=int, default=2000, help="games of the last measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client = tetrion.Client(args.address)

    def measure(weights, seeds, **kwargs):
        result = client.evaluate(weights=weights, features=FEATURES, seeds=seeds, rules=RULES, **kwargs)
        return result.summary.policies[0].lines

    learner = Learner(client, args)
    began = time.perf_counter()
    curve = []
    for iteration in range(1, args.iterations + 1):
        learner.improve()
        lines = measure(learner.weights, tetrion.DrawnSeeds(seed=1000 + iteration, count=max(args.games // 20, 10)))
        curve.append((iteration, time.perf_counter() - began, lines.mean, lines.ci95_low, lines.ci95_high))
        print(
            f"{iteration:3d}  {curve[-1][1]:5.0f} s  {learner.pieces / 1e6:5.1f} M pieces tried  "
            f"{lines.mean:6,.0f} lines per game, 95 % within {lines.ci95_low:,.0f} .. {lines.ci95_high:,.0f}",
            flush=True,
        )
    learner.trials.close()
    learner.stream.close()
    lines = measure(learner.weights, tetrion.DrawnSeeds(seed=1, count=args.games))
    for name, weight in zip(learner.games.feature_names[:9], learner.weights / np.abs(learner.weights).max(), strict=True):
        print(f"{weight:+.3f}  {name}")
    print(
        f"{lines.mean:,.0f} lines per game over {args.games} fresh games, "
        f"95 % within {lines.ci95_low:,.0f} .. {lines.ci95_high:,.0f}"
    )
    if args.log:
        np.savetxt(args.log, curve, "%.10g", ",", header="iteration,seconds,lines,low,high", comments="")


if __name__ == "__main__":
    main()
