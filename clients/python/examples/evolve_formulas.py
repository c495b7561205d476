"""Evolves short formulas that score placements: a genetic search over `Client.evaluate`.

    python evolve_formulas.py [--address host:port] [--generations 120] [--log curve.csv]

A formula is a sum of terms. A term is a whole number times a feature, its square, or its part above a bound, such as
`-3*max(0,max_height-6)`. Every formula has at most eight terms and 120 characters, so it stays readable.

Several searches start from random formulas, and the best formulas of all go on together. A child has terms of one or two
parents, with changed numbers. The children of a generation play a few games; the best of them join the elite, and all of
these play the same further games. A formula that survives plays other games in each generation, and counts with the mean
over all of them: one lucky generation does not keep it alive. In the end, fresh games choose the best of the elite, and
others measure it.
"""

import argparse
import math
import random
import time
from dataclasses import dataclass

import tetrion

RULES = {"width": 10, "height": 10}
# Features that the kernels measure: thousands of games a second.
FEATURES = [
    "landing_height",
    "eroded_piece_cells",
    "lines_cleared",
    "row_transitions",
    "column_transitions",
    "holes",
    "cumulative_wells",
    "hole_depth",
    "rows_with_holes",
    "pattern_diversity",
    "total_height",
    "max_height",
    "bumpiness",
    "accommodated",
    "fits",
    "deep_wells",
    "weighted_holes",
    "surface_parity",
]
# Most terms are a plain feature.
SHAPES = ["{}", "{}", "{}", "{}", "{}^2", "max(0,{}-BOUND)"]
MOST_TERMS = 8
MOST_CHARACTERS = 120
MOST_ALIKE = 4
# A coefficient is a whole number of at most two digits; only ratios decide.
LARGEST = 99


@dataclass(frozen=True)
class Term:
    """A coefficient, a feature, how the feature enters, and the bound above which it counts."""

    coefficient: float
    feature: str
    shape: str
    bound: int

    def what(self):
        """The term without its numbers."""
        return self.feature, self.shape

    def text(self, scale):
        number = round(self.coefficient * scale)
        if number == 0:
            return ""
        times = "" if abs(number) == 1 else f"{abs(number)}*"
        return f"{'-' if number < 0 else '+'}{times}{self.shape.replace('BOUND', str(self.bound)).format(self.feature)}"


def written(terms):
    """The texts of some terms; empty where the coefficient is too small to matter."""
    largest = max(abs(term.coefficient) for term in terms)
    smallest = min(abs(term.coefficient) for term in terms)
    # Small numbers are short: the smallest coefficient becomes 4, unless the largest would have three digits.
    scale = min(LARGEST / largest, 4 / smallest)
    return [term.text(scale) for term in terms]


@dataclass
class Formula:
    """A formula and its games so far."""

    terms: tuple
    text: str
    lines: float = 0.0
    games: int = 0

    def sure(self):
        """The mean of its lines, less some of the uncertainty: a lucky newcomer does not replace a well-tried formula."""
        return self.lines / self.games * (1 - 0.7 / math.sqrt(self.games))


def drawn(dice):
    """A random term."""
    return Term(
        dice.choice([-1, 1]) * math.exp(dice.gauss(0, 1)), dice.choice(FEATURES), dice.choice(SHAPES), dice.randint(2, 9)
    )


def nudged(dice, term, strength):
    """The term with another coefficient."""
    sign = -1 if dice.random() < 0.02 else 1
    return Term(sign * term.coefficient * math.exp(dice.gauss(0, strength)), term.feature, term.shape, term.bound)


def child(dice, one, other, strength):
    """The terms of a child."""
    terms = list(one)
    kind = dice.random()
    if kind < 0.3:
        # Of the terms that both have, one parent's; of the others, each with even odds.
        mine = {term.what() for term in one}
        terms += [term for term in other if term.what() not in mine and dice.random() < 0.5]
    elif kind < 0.5:
        terms.append(drawn(dice))
    elif kind < 0.6 and len(terms) > 1:
        terms.pop(dice.randrange(len(terms)))
    elif kind < 0.7:
        place, new = dice.randrange(len(terms)), drawn(dice)
        now = terms[place]
        feature, shape = (now.feature, new.shape) if dice.random() < 0.5 else (new.feature, now.shape)
        terms[place] = Term(now.coefficient, feature, shape, new.bound)
    some = dice.random()
    return [nudged(dice, term, strength) if dice.random() < some else term for term in terms]


def formula_of(dice, terms):
    """The formula of some terms, less those that are too small to matter or too many for a short text; None without any."""
    terms = list({term.what(): term for term in terms}.values())
    while terms:
        texts = written(terms)
        terms = [term for term, text in zip(terms, texts, strict=True) if text]
        text = "".join(texts).removeprefix("+")
        if len(terms) == len(texts) <= MOST_TERMS and len(text) <= MOST_CHARACTERS:
            return Formula(tuple(terms), text)
        if len(terms) == len(texts):
            terms.pop(dice.randrange(len(terms)))
    return None


def fittest(formulas, count):
    """The best formulas, of which few have the same terms with other numbers, so that different ones get their time."""
    kept, alike = [], {}
    for one in sorted(formulas, key=Formula.sure, reverse=True):
        kind = frozenset(term.what() for term in one.terms)
        alike[kind] = alike.get(kind, 0) + 1
        if alike[kind] <= MOST_ALIKE and len(kept) < count:
            kept.append(one)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--islands", type=int, default=6, help="searches from random formulas")
    parser.add_argument("--island-generations", type=int, default=12)
    parser.add_argument("--generations", type=int, default=120, help="generations of the best formulas of all islands")
    parser.add_argument("--children", type=int, default=100, help="new formulas of a generation")
    parser.add_argument("--elite", type=int, default=20, help="formulas that survive a generation")
    parser.add_argument(
        "--games", type=int, default=24, help="games of the elite in a generation; children play a quarter first"
    )
    parser.add_argument("--max-pieces", type=int, default=100_000, help="cuts a game")
    parser.add_argument("--final-games", type=int, default=4000, help="games of the last measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client, dice = tetrion.Client(args.address), random.Random(args.seed)

    def played(formulas, seeds):
        policies = [tetrion.Policy(formula=formula.text) for formula in formulas]
        return client.evaluate(policies, seeds=seeds, rules=RULES, max_pieces=args.max_pieces, include_results=False)

    def play(formulas, seeds):
        """Adds games to the results of formulas."""
        for one, lines in zip(formulas, played(formulas, seeds).mean_lines, strict=True):
            one.lines += lines * seeds.count
            one.games += seeds.count

    def children(parents, strength):
        """New formulas; without parents, random ones."""
        known, born = {formula.text for formula in parents}, []
        while len(born) < args.children:
            if parents:
                # The better of two random ones.
                one, other = (parents[min(dice.randrange(len(parents)) for _ in range(2))].terms for _ in range(2))
                new = formula_of(dice, child(dice, one, other, strength))
            else:
                new = formula_of(dice, [drawn(dice) for _ in range(dice.randint(2, 6))])
            if new is not None and new.text not in known:
                known.add(new.text)
                born.append(new)
        return born

    began, curve = time.perf_counter(), []

    def evolve(elite, generations, name):
        """The elite after some generations."""
        for _ in range(generations):
            heat, seeds = (
                tetrion.DrawnSeeds(seed=args.seed * 100_000 + 2 * len(curve) + of, count=count)
                for of, count in enumerate([args.games // 4, args.games])
            )
            born = children(elite, dice.choice([0.05, 0.15, 0.4]))
            play(born, heat)
            elite = elite + fittest(born, args.elite)
            play(elite, seeds)
            elite = fittest(elite, args.elite)
            mean = elite[0].lines / elite[0].games
            curve.append((len(curve) + 1, time.perf_counter() - began, mean, elite[-1].sure(), mean))
        print(f"{curve[-1][1]:5.0f} s  {name}: {mean:,.0f} lines in {elite[0].games:,} games  {elite[0].text}", flush=True)
        return elite

    # Islands: a search from random formulas may end on a low hill, so several begin, and the best of all go on together.
    elite = []
    for island in range(args.islands):
        elite += evolve([], args.island_generations, f"island {island + 1}")
    elite = fittest(elite, args.elite)
    for generation in range(0, args.generations, 10):
        elite = evolve(elite, min(10, args.generations - generation), f"generation {min(generation + 10, args.generations)}")

    chosen = played(elite, tetrion.DrawnSeeds(seed=args.seed * 100_000 + 99_999, count=args.final_games // 4)).mean_lines
    winner = elite[max(range(len(elite)), key=lambda place: chosen[place])]
    seeds = tetrion.DrawnSeeds(seed=args.seed, count=args.final_games)
    lines = played([winner], seeds).summary.policies[0].lines
    print(winner.text)
    print(
        f"{len(winner.text)} characters, {len(winner.terms)} terms: {lines.mean:,.0f} lines a game over {args.final_games} "
        f"fresh games, 95 % within {lines.ci95_low:,.0f} .. {lines.ci95_high:,.0f}"
    )
    if args.log:
        with open(args.log, "w") as log:
            log.write("generation,seconds,lines,low,high\n")
            log.writelines(",".join(f"{value:.10g}" for value in row) + "\n" for row in curve)


if __name__ == "__main__":
    main()
