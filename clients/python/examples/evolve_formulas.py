"""Evolves formulas that score placements: genetic programming over `Client.evaluate`.

    python evolve_formulas.py [--address host:port] [--generations 40] [--log curve.csv]

A formula is a tree of features, numbers and operations. A generation is one call with a policy per formula, and all formulas
play the same games; each generation plays other games. The best of a few random formulas become parents. A child is a parent
with a part of another one, with a new part, or with changed numbers. Fitness is the mean lines of a formula, less a bit for
each part, so that formulas stay readable. In the end, fresh games choose the best of the last elite, and others measure it.
"""

import argparse
import math
import random
import time

import tetrion

RULES = {"width": 10, "height": 10}
FEATURES = [
    "landing_height",
    "eroded_piece_cells",
    "row_transitions",
    "column_transitions",
    "holes",
    "cumulative_wells",
    "hole_depth",
    "rows_with_holes",
    "max_height",
    "bumpiness",
]
# How an operation is written, and its number of operands.
OPERATIONS = [
    ("({} + {})", 2),
    ("({} + {})", 2),
    ("({} - {})", 2),
    ("({} * {})", 2),
    ("({} / {})", 2),
    ("min({}, {})", 2),
    ("max({}, {})", 2),
    ("(if {} > {} then {} else {})", 4),
]
MAX_PARTS = 60


# A tree is a number, the name of a feature, or a tuple of an operation and its operands.
def grow(dice, levels):
    """A random tree."""
    if levels == 0 or dice.random() < 0.2:
        return dice.choice(FEATURES) if dice.random() < 0.7 else round(dice.gauss(0, 3), 2)
    written, operands = dice.choice(OPERATIONS)
    return (written, *(grow(dice, levels - 1) for _ in range(operands)))


def text(tree):
    """The formula of a tree."""
    if isinstance(tree, tuple):
        return tree[0].format(*map(text, tree[1:]))
    return str(tree)


def paths(tree):
    """The ways to all parts of a tree: which operand to take at each step."""
    yield ()
    if isinstance(tree, tuple):
        for place, operand in enumerate(tree[1:], 1):
            yield from ((place, *path) for path in paths(operand))


def part(tree, path):
    """The part of a tree at the end of a path."""
    for place in path:
        tree = tree[place]
    return tree


def replaced(tree, path, new):
    """The tree with another part at the end of a path."""
    if not path:
        return new
    place, *rest = path
    return (*tree[:place], replaced(tree[place], rest, new), *tree[place + 1 :])


def nudged(dice, tree):
    """The tree with changed numbers."""
    if isinstance(tree, tuple):
        return (tree[0], *(nudged(dice, operand) for operand in tree[1:]))
    return round(tree * dice.gauss(1, 0.3) + dice.gauss(0, 0.1), 3) if isinstance(tree, float) else tree


def child(dice, parents):
    """A new tree that has a feature and is not too large."""
    while True:
        one, other = dice.choice(parents), dice.choice(parents)
        path = dice.choice(list(paths(one)))
        kind = dice.random()
        if kind < 0.5:
            tree = replaced(one, path, part(other, dice.choice(list(paths(other)))))
        elif kind < 0.75:
            tree = replaced(one, path, grow(dice, 2))
        else:
            tree = nudged(dice, one)
        if len(list(paths(tree))) <= MAX_PARTS and any(name in text(tree) for name in FEATURES):
            return tree


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--population", type=int, default=200)
    parser.add_argument("--games", type=int, default=10, help="games of each formula")
    parser.add_argument("--max-pieces", type=int, default=20_000, help="cuts a game")
    parser.add_argument("--final-games", type=int, default=1000, help="games of the last measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client, dice = tetrion.Client(args.address), random.Random(args.seed)

    def mean_lines(trees, seeds):
        policies = [tetrion.Policy(formula=text(tree)) for tree in trees]
        result = client.evaluate(policies, seeds=seeds, rules=RULES, max_pieces=args.max_pieces, include_results=False)
        return result.mean_lines

    first = [grow(dice, 3) for _ in range(args.population)]
    population = [child(dice, first) for _ in range(args.population)]
    began, curve = time.perf_counter(), []
    for generation in range(1, args.generations + 1):
        lines = mean_lines(population, tetrion.DrawnSeeds(seed=args.seed + generation, count=args.games))
        scored = [
            (score * (1 - 0.002 * len(list(paths(tree)))), tree) for tree, score in zip(population, lines, strict=True)
        ]
        scored.sort(key=lambda pair: pair[0], reverse=True)
        ordered = sorted(lines)
        median, best = ordered[len(ordered) // 2], ordered[-1]
        curve.append((generation, time.perf_counter() - began, median, ordered[0], best))
        bar = "#" * round(10 * math.log10(1 + best))  # ten for each power of ten
        print(f"{generation:3d}  {curve[-1][1]:5.0f} s  median {median:7,.0f}  best {best:7,.0f} lines  {bar}", flush=True)
        elite = list({text(tree): tree for _, tree in scored[:5]}.values())
        # The best of five random formulas: the one that comes first in the order.
        parents = [scored[min(dice.sample(range(len(scored)), 5))][1] for _ in range(args.population // 4)]
        population = elite + [child(dice, parents) for _ in range(args.population - len(elite))]

    chosen = mean_lines(elite, tetrion.DrawnSeeds(seed=args.seed + args.generations + 1, count=10 * args.games))
    winner = elite[max(range(len(elite)), key=lambda place: chosen[place])]
    policy = tetrion.Policy(formula=text(winner))
    seeds = tetrion.DrawnSeeds(seed=args.seed, count=args.final_games)
    lines = client.evaluate(policy, seeds=seeds, rules=RULES, max_pieces=args.max_pieces).summary.policies[0].lines
    print(text(winner))
    print(
        f"{lines.mean:,.0f} lines a game over {args.final_games} fresh games, "
        f"95 % within {lines.ci95_low:,.0f} .. {lines.ci95_high:,.0f}"
    )
    if args.log:
        with open(args.log, "w") as log:
            log.write("generation,seconds,lines,low,high\n")
            log.writelines(",".join(f"{value:.10g}" for value in row) + "\n" for row in curve)


if __name__ == "__main__":
    main()
