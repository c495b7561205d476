"""An agent of one's own that weighs what the next piece can reach, and makes the server's choices to the last bit.

    python expectation.py [--address host:port] [--height 6] [--randomizer bag7] [--preview 1] [--games 64]

A greedy controller plays the placement with the largest score. This agent asks further: what could the next piece reach
from there? Where it is shown, its best score counts; where it is hidden, the mean of the best scores of all seven, each
with the odds that it comes, less `caution` standard deviations. Of the placement itself only what belongs to its landing
counts: the playfield is judged when the next piece lies in it. The server plays the same with `EvaluatePolicies`; the
message `Expectation` in `features.proto` defines it, and the names here are its names.

Two calls make a choice in all games at once: the placements of the current pieces; then, from the afterstates of the best
eight of each game, the placements of the seven pieces that may follow.
"""

import argparse
import time

import numpy as np

import tetrion


class Agent:
    """A linear controller that weighs what the next piece can reach."""

    def __init__(self, client, controller, rules, *, placements=8, lost_piece=-100.0, discount=1.0, caution=0.0):
        """Takes weights and features of a controller from the server, and the fields of `tetrion.Search` by their names.

        The rules are fields by name.
        """
        self.client, self.rules = client, rules
        catalog = client.catalog(rules.get("width"))
        policy = client.get_policy(controller)
        self.features, self.weights = policy.features, np.array(policy.weights)
        self.terminal_value = policy.terminal_value
        # With the other weights at 0, a sum of all terms has the same bits as one of these terms alone.
        columns = next(item.columns for item in catalog.feature_sets if item.name == self.features)
        of_landings = {item.name for item in catalog.features if item.stage == "landing"}
        # A member of a family is named with its index, `clears[4]`.
        self.landing_weights = np.where([name.split("[")[0] in of_landings for name in columns], self.weights, 0.0)
        self.placements, self.discount, self.caution = placements, discount, caution
        self.lost = lost_piece * np.abs(self.weights).max()

    def choose(self, found, odds):
        """The rows to play, one for each position.

        Args:
            found: The placements of the current pieces, with features and afterstates.
            odds: float64 [B, 7]: how likely each tetromino comes next; of one that is shown 1, of the others 0.
        """
        positions, rows = self.looked_at(found)
        odds = odds[positions]
        # What each tetromino that may come next can reach from each afterstate, if the game goes on.
        reached = np.full(odds.shape, self.lost)
        places, pieces = np.nonzero(odds * ~found.terminated[rows, None])
        if places.size:
            following = tetrion.Packed(found.afterstates[rows[places]], pieces)
            following = self.client.enumerate_placements(following, rules=self.rules, features=self.features)
            reached[places, pieces] = self.bests(following)
        follows = mean(odds * reached, odds)
        if self.caution:
            apart = reached - follows[:, None]
            follows -= self.caution * np.sqrt(mean(odds * apart * apart, odds))
        values = np.full(len(found.actions), -np.inf)
        values[rows] = found.scores(self.landing_weights, terminal_value="score")[rows] + self.discount * follows
        # The first of the largest; where no placement was looked at, because all of them end the game, the first of all.
        return found.best_rows(values)

    def looked_at(self, found):
        """The placements with the largest scores in their order, of equals the first: their positions and their rows."""
        counts = np.diff(found.row_offsets.astype(np.int64))
        positions = np.repeat(np.arange(len(counts)), counts)
        scores = found.scores(self.weights, terminal_value=self.terminal_value)
        order = np.lexsort((-scores, positions))  # Stable: equals stay in their order.
        rank = np.arange(len(order)) - np.repeat(found.row_offsets[:-1].astype(np.int64), counts)
        rows = np.sort(order[rank < self.placements])
        rows = rows[scores[rows] > -np.inf]
        return positions[rows], rows

    def bests(self, found):
        """The largest score of each position; that of a lost piece where it has no placement, or none that it would play."""
        scores = found.scores(self.weights, terminal_value=self.terminal_value)
        best = found.best_rows(scores)
        largest = np.where(best < 0, -np.inf, scores[best])
        return np.where(largest == -np.inf, self.lost, largest)


def mean(terms, odds):
    """Odds times number of each tetromino [R, 7], added up in their order and divided by the odds.

    `odds @ numbers` may differ in the last bit.
    """
    total = np.zeros(len(terms))
    for piece in range(7):
        total += terms[:, piece]
    return total / odds.sum(axis=1)


class Odds:
    """How likely each tetromino is dealt next, to one who has seen all pieces before: `rules.proto` says how they are."""

    def __init__(self, randomizer, num_games):
        """Nothing has been seen yet."""
        self.randomizer = randomizer
        self.seen = np.zeros((num_games, 7))
        self.last = np.zeros(num_games, np.int64)

    def see(self, games, pieces):
        """Counts a piece that was dealt in each of some games."""
        self.seen[games, pieces] += 1
        self.last[games] = pieces

    def of(self, games):
        """The odds [B, 7] in some games."""
        seen = self.seen[games]
        if self.randomizer == "bag7":
            # Those still in the bag came once less often than the others; in a new bag there are all seven.
            return (seen == seen.min(axis=1, keepdims=True)).astype(np.float64)
        if self.randomizer == "balanced":
            return 5 + seen.max(axis=1, keepdims=True) - seen
        if self.randomizer == "nes":
            return np.where(np.arange(7) == self.last[games, None], 2.0, 9.0)
        return np.ones_like(seen)


def play(agent, seeds, max_pieces):
    """Plays a game for each seed, side by side; returns the lines and the pieces of each."""
    config = {"rules": agent.rules, "features": agent.features, "env_seeds": seeds, "autoreset_mode": "disabled"}
    fields = {"observations": ["current", "queue"], "infos": ["lines", "pieces"], "action_mask": False}
    session = agent.client.create_session(len(seeds), **config, **fields, snapshot_every=0)
    odds = Odds(agent.rules.get("randomizer", "uniform"), len(seeds))
    lines, pieces = np.zeros((2, len(seeds)), np.int64)
    with session, session.stream() as stream:
        games = np.arange(len(seeds))
        shown = pieces_shown(stream.reset().observations)
        for column in shown.T:
            odds.see(games, column)
        for _ in range(max_pieces):
            found = stream.enumerate_placements(games, afterstates=True)
            next_odds = np.eye(7)[shown[:, 1]] if shown.shape[1] > 1 else odds.of(games)
            stepped = stream.step(found.actions_of(agent.choose(found, next_odds)), games)
            lines[games], pieces[games] = stepped.infos["lines"], stepped.infos["pieces"]
            going_on = ~stepped.terminated
            games, shown = games[going_on], pieces_shown(stepped.observations)[going_on]
            odds.see(games, shown[:, -1])
            if not games.size:
                break
    return lines, pieces


def pieces_shown(observations):
    """The current pieces and the next ones [B, 1 + preview], 0 to 6 in IOTZSJL."""
    return np.column_stack([observations["current"], observations["queue"]]).astype(np.int64)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--controller", default="dt-10", help="whose weights; see docs/catalog.md")
    parser.add_argument("--height", type=int, default=6, help="rows of the playfield, 10 columns wide")
    parser.add_argument("--randomizer", default="uniform", choices=["uniform", "bag7", "balanced", "nes"])
    parser.add_argument("--preview", type=int, default=0, help="next pieces that are shown; the first of them is used")
    parser.add_argument("--placements", type=int, default=8, help="placements looked at in each position")
    parser.add_argument("--caution", type=float, default=0.0, help="deviations by which a hidden piece counts less")
    parser.add_argument("--games", type=int, default=64, help="games side by side")
    parser.add_argument("--max-pieces", type=int, default=1000, help="cuts a game after so many pieces")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    client = tetrion.Client(args.address)
    rules = {"width": 10, "height": args.height, "randomizer": args.randomizer, "preview": args.preview}
    seeds = tetrion.DrawnSeeds(args.seed, args.games)
    greedy = client.evaluate(args.controller, rules=rules, seeds=seeds, max_pieces=args.max_pieces)
    agent = Agent(client, args.controller, rules, placements=args.placements, caution=args.caution)
    began = time.perf_counter()
    lines, pieces = play(agent, greedy.seeds.tolist(), args.max_pieces)
    rate = pieces.sum() / (time.perf_counter() - began)
    for name, games in (("greedy", greedy.lines), ("expectation", lines)):
        print(f"{args.controller} {name:11}  {games.mean():8,.1f} lines per game, {games.min():,} to {games.max():,}")
    cut = int((pieces == args.max_pieces).sum())
    print(f"{cut} of {args.games} games were cut after {args.max_pieces:,} pieces; {rate:,.0f} pieces a second")


if __name__ == "__main__":
    main()
