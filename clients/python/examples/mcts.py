"""Monte-Carlo tree search of many games at once, with snapshots of the environment as the model.

    python mcts.py [--address host:port] [--games 64] [--simulations 64] [--peek]

Every game has a tree. A node is a state, kept as a snapshot; its edges are the placements of the current piece. A simulation
goes down every tree by PUCT (Silver et al. 2017), tries a placement and adds the state that follows as a node. In all trees
together these are four calls:

    model.restore_state(snapshots, ids, reseed=...)   # the chosen nodes, one environment per tree
    model.step(actions, ids)
    model.enumerate_placements(ids)                   # the edges of the new nodes, with features
    model.save_state(ids)                             # the new nodes

A snapshot holds the pieces to come. The search must not see them, so `reseed` deals other hidden pieces at every restore;
those that the rules show stay. A placement is tried several times, with different pieces, before its outcomes are searched
further: these are the samples of its chance node. `--peek` leaves the reseeding out, to show the effect of cheating.

The value of an afterstate is linear in features. It is learned first, from games of a controller by temporal differences
(LSTD, Bradtke and Barto 1996), and also makes the priors. Played greedily, the same value is the baseline. Needs only numpy.
"""

import argparse
import time

import numpy as np

import tetrion

CONTROLLER, FEATURES = "dt-10", "thiery9"
# The critic sees how full the playfield is, too.
BUMPS = 5


class Value:
    """The discounted lines that follow an afterstate, if the controller plays."""

    def __init__(self, client, args):
        self.args = args
        names = next(item.columns for item in client.catalog().feature_sets if item.name == FEATURES)
        self.config = {
            "rules": {"width": args.width, "height": args.height, "preview": args.preview},
            "features": [*names, "total_height"],
            "observations": ["current"],
            "infos": ["lines"],
            "action_mask": False,
            "snapshot_every": 0,
        }
        self.weights = None
        self.learn(client)

    def seen(self, features):
        """The critic's features: a constant, the set, and bumps over the mean height."""
        centers, width = np.linspace(0, self.args.height, BUMPS), self.args.height / (BUMPS - 1)
        bumps = np.exp(-(((features[:, 9:] / self.args.width - centers) / width) ** 2) / 2)
        return np.hstack([np.ones((len(features), 1)), features[:, :9], bumps])

    def learn(self, client, games=512, steps=300):
        """Watches the controller play."""
        controller = np.array(client.get_policy(CONTROLLER).weights)
        size = 10 + BUMPS
        matrix, vector = 1e-2 * np.eye(size), np.zeros(size)
        before, follows = np.zeros((games, size)), np.zeros(games, bool)
        with client.create_session(games, seed=self.args.seed, **self.config) as session:
            session.reset()
            for _ in range(steps):
                placements = session.enumerate_placements()
                scores = np.where(placements.terminated, -np.inf, placements.features[:, :9] @ controller)
                # Games that have ended have no placements; any action begins the next episode.
                alive = np.diff(placements.row_offsets) > 0
                rows, now = placements.best_rows(scores), np.zeros((games, size))
                now[alive] = self.seen(placements.features[rows[alive]])
                stepped = session.step(placements.actions_of(rows))
                now[stepped.terminated] = 0
                matrix += before[follows].T @ (before - self.args.gamma * now)[follows]
                vector += before[follows].T @ stepped.rewards[follows]
                before, follows = now, alive & ~stepped.terminated
        self.weights = np.linalg.solve(matrix, vector)

    def __call__(self, placements):
        """The value of each placement: its reward, and what follows."""
        following = np.where(placements.terminated, 0.0, self.seen(placements.features) @ self.weights)
        return placements.rewards + self.args.gamma * following


class Forest:
    """A tree per game, as arrays [games, nodes, edges]."""

    def __init__(self, games, args):
        shape = (games, args.simulations + 1, 4 * args.width)
        self.exists = np.zeros(shape, bool)
        self.actions, self.tried = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        # The value of a placement by itself counts as its first visit.
        self.values, self.priors, self.rewards, self.returns = (np.zeros(shape) for _ in range(4))
        self.visits = np.ones(shape)
        # The nodes that followed a placement, -1 where that ended the game.
        self.outcomes = np.full((*shape, args.outcomes), -1)
        self.snapshots = [[b""] * shape[1] for _ in range(games)]
        self.args = args

    def add(self, trees, node, placements, values, snapshots):
        """Adds a node to each of these trees, and returns the values of their states."""
        fits = np.arange(self.exists.shape[2]) < np.diff(placements.row_offsets)[:, None]
        columns = {"actions": placements.actions, "rewards": placements.rewards, "values": values}
        for name, column in columns.items():
            whole = np.zeros(fits.shape)
            whole[fits] = column
            getattr(self, name)[trees, node] = whole
        self.exists[trees, node] = fits
        scores = np.where(fits, self.values[trees, node], -np.inf)
        best = scores.max(axis=1)
        chances = np.exp((scores - best[:, None]) / self.args.temperature)
        self.priors[trees, node] = chances / chances.sum(axis=1, keepdims=True)
        for tree, snapshot in zip(trees, snapshots, strict=True):
            self.snapshots[tree][node] = snapshot
        return best

    def select(self, trees, nodes):
        """The edge of each node with the best sum of value and curiosity."""
        at = trees, nodes
        visits = self.visits[at]
        curiosity = self.args.exploration * self.priors[at] * np.sqrt(visits.sum(axis=1, keepdims=True)) / visits
        mean = (self.values[at] + self.returns[at]) / visits
        return np.where(self.exists[at], mean + curiosity, -np.inf).argmax(axis=1)


class Search:
    """Searches many games at once."""

    def __init__(self, client, value, args):
        self.value, self.args = value, args
        self.rng = np.random.default_rng(args.seed)
        self.model = client.create_session(args.games, autoreset_mode="disabled", **value.config)
        self.model.reset()
        self.simulations = 0

    def choose(self, placements, snapshots):
        """The most visited placement of each game, as an action."""
        trees = np.arange(len(snapshots))
        forest = Forest(len(trees), self.args)
        forest.add(trees, 0, placements, self.value(placements), snapshots)
        for node in range(1, self.args.simulations + 1):
            path, tips = self.descend(forest, trees)
            returns = np.zeros(len(trees))
            if tips[0].size:
                self.expand(forest, node, tips, returns)
            for at in reversed(path):
                returns[at[0]] = forest.rewards[at] + self.args.gamma * returns[at[0]]
                forest.visits[at] += 1
                forest.returns[at] += returns[at[0]]
        best = np.where(forest.exists[:, 0], forest.visits[:, 0], 0).argmax(axis=1)
        return forest.actions[trees, 0, best]

    def descend(self, forest, trees):
        """Goes down each tree, to an edge with too few outcomes or to the end of the game.

        Returns:
            The edges on the way, level by level; and the edges to try.
        """
        nodes, path, tips = np.zeros(len(trees), np.int64), [], []
        while trees.size:
            at = trees, nodes, forest.select(trees, nodes)
            path.append(at)
            new = forest.tried[at] < self.args.outcomes
            tips.append(np.stack(at)[:, new])
            trees, nodes, edges = (part[~new] for part in at)
            nodes = forest.outcomes[trees, nodes, edges, self.rng.integers(self.args.outcomes, size=trees.size)]
            trees, nodes = trees[nodes >= 0], nodes[nodes >= 0]
        return path, tuple(np.concatenate(tips, axis=1))

    def expand(self, forest, node, tips, returns):
        """Tries these edges in the environment; what follows becomes a node, and its value the return of its tree."""
        trees, parents, edges = tips
        self.simulations += 1
        reseed = None if self.args.peek else self.simulations
        self.model.restore_state(
            [forest.snapshots[tree][at] for tree, at in zip(trees, parents, strict=True)], trees, reseed=reseed
        )
        stepped = self.model.step(forest.actions[tips], trees)
        outcome = forest.tried[tips]
        forest.tried[tips] += 1
        alive = ~stepped.terminated
        going = trees[alive]
        if going.size:
            placements = self.model.enumerate_placements(going)
            states = self.model.save_state(going)
            returns[going] = forest.add(going, node, placements, self.value(placements), states)
            forest.outcomes[going, parents[alive], edges[alive], outcome[alive]] = node


def play(client, value, args, choose, name):
    """Plays games to their ends, or up to a number of pieces, and prints the lines that they clear."""
    began, moves, lines = time.perf_counter(), 0, np.zeros(args.games)
    with client.create_session(args.games, autoreset_mode="disabled", **value.config) as games:
        games.reset(seeds=tetrion.DrawnSeeds(args.seed, args.games))
        ids = np.arange(args.games)
        while ids.size and moves < args.max_pieces:
            stepped = games.step(choose(games, ids), ids)
            lines[ids] = stepped.infos["lines"]
            ids, moves = ids[~stepped.terminated], moves + 1
            if moves % 25 == 0:
                print(f"{name}: piece {moves}, {ids.size} of {args.games} games go on, {lines.mean():.1f} lines", flush=True)
    error = 1.96 * lines.std() / args.games**0.5
    seconds = time.perf_counter() - began
    print(f"{name}: {lines.mean():.1f} +- {error:.1f} lines per game, {ids.size} games cut, {seconds:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--games", type=int, default=64, help="games, searched together")
    parser.add_argument("--simulations", type=int, default=64, help="simulations per piece")
    parser.add_argument("--outcomes", type=int, default=4, help="samples of the pieces that follow a placement")
    parser.add_argument("--exploration", type=float, default=1.0, help="weight of curiosity, in lines")
    parser.add_argument("--temperature", type=float, default=0.5, help="of the priors, in lines")
    parser.add_argument("--gamma", type=float, default=0.98, help="discount of later lines")
    parser.add_argument("--width", type=int, default=6)
    parser.add_argument("--height", type=int, default=6)
    parser.add_argument("--preview", type=int, default=1, help="next pieces that the rules show")
    parser.add_argument("--max-pieces", type=int, default=500)
    parser.add_argument("--peek", action="store_true", help="let the search see the hidden pieces")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    client = tetrion.Client(args.address)
    value = Value(client, args)
    search = Search(client, value, args)

    def greedy(games, ids):
        placements = games.enumerate_placements(ids)
        return placements.actions_of(placements.best_rows(value(placements)))

    def searched(games, ids):
        return search.choose(games.enumerate_placements(ids), games.save_state(ids))

    play(client, value, args, greedy, "greedy")
    play(client, value, args, searched, "search that peeks" if args.peek else "search")


if __name__ == "__main__":
    main()
