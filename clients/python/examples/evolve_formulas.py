"""Evolves short formulas that score placements: a genetic search over `Client.evaluate`.

    python evolve_formulas.py [--address host:port] [--minutes 30] [--log curve.csv]

A formula is a sum of terms. A term is a whole number times a feature, its square, or its part above a bound, such as
`-3*max(0,max_height-6)`. Every formula has at most eight terms and 120 characters, so it stays readable.

The search starts from random formulas. A child has terms of one or two parents, with changed numbers. The children of a
generation play a few games; the best of them join the elite, and all of these play the same further games. A formula
that survives plays other games in each generation, and counts with the mean over all of them: one lucky generation does not
keep it alive. In the end, fresh games choose the best of the elite, and others measure it.
"""

import argparse
import math
import random
import time
from dataclasses import dataclass

import tetrion

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
SHAPES = ["{}", "{}", "{}", "{}^2", "max(0,{}-BOUND)"]
MOST_TERMS = 8
MOST_CHARACTERS = 120
# A coefficient is a whole number of at most two digits; only ratios decide.
LARGEST = 99


@dataclass(frozen=True)
class Term:
    """A coefficient, a feature, how the feature enters, and the bound above which it counts."""

    coefficient: float
    feature: str
    shape: str
    bound: int

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
    if kind < 0.25:
        # Of the terms that both have, one parent's; of the others, each with even odds.
        mine = {(term.feature, term.shape) for term in one}
        terms += [term for term in other if (term.feature, term.shape) not in mine and dice.random() < 0.5]
        terms = [term for term in terms if dice.random() < 0.9]
    elif kind < 0.4:
        terms.append(drawn(dice))
    elif kind < 0.5 and len(terms) > 1:
        terms.pop(dice.randrange(len(terms)))
    elif kind < 0.6 and terms:
        place = dice.randrange(len(terms))
        now, new = terms[place], drawn(dice)
        same = dice.random() < 0.5
        terms[place] = Term(
            now.coefficient, now.feature if same else new.feature, new.shape if same else now.shape, new.bound
        )
    some = dice.random()
    return tuple(nudged(dice, term, strength) if dice.random() < some else term for term in terms)


def accepted(terms):
    """The formula of some terms, or None if it is empty, too long, or has a term twice."""
    if not terms:
        return None
    texts = written(terms)
    terms = tuple(term for term, text in zip(terms, texts, strict=True) if text)
    different = {(term.feature, term.shape, term.bound) for term in terms}
    text = "".join(texts).removeprefix("+")
    if not len(terms) == len(different) <= MOST_TERMS or len(text) > MOST_CHARACTERS:
        return None
    return Formula(terms, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--minutes", type=float, default=30, help="time of the search")
    parser.add_argument("--generations", type=int, help="number of generations, instead of a time")
    parser.add_argument("--children", type=int, default=100, help="new formulas of a generation")
    parser.add_argument("--elite", type=int, default=20, help="formulas that survive a generation")
    parser.add_argument(
        "--games", type=int, default=24, help="games of the elite in a generation; children play a quarter first"
    )
    parser.add_argument("--max-pieces", type=int, default=100_000, help="cuts a game")
    parser.add_argument("--final-games", type=int, default=4000, help="games of the last measurement")
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--height", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client, dice = tetrion.Client(args.address), random.Random(args.seed)
    rules = {"width": args.width, "height": args.height}

    def played(formulas, seeds):
        policies = [tetrion.Policy(formula=formula.text) for formula in formulas]
        return client.evaluate(policies, seeds=seeds, rules=rules, max_pieces=args.max_pieces, include_results=False)

    def play(formulas, seeds):
        """Adds games to the results of formulas."""
        for formula, lines in zip(formulas, played(formulas, seeds).mean_lines, strict=True):
            formula.lines += lines * seeds.count
            formula.games += seeds.count

    def children(parents, strength):
        """New formulas; without parents, random ones."""
        known, born = {formula.text for formula in parents}, []
        while len(born) < args.children:
            if parents:
                # The better of two random ones.
                one, other = (parents[min(dice.randrange(len(parents)) for _ in range(2))].terms for _ in range(2))
                new = accepted(child(dice, one, other, strength))
            else:
                new = accepted(tuple(drawn(dice) for _ in range(dice.randint(2, 6))))
            if new is not None and new.text not in known:
                known.add(new.text)
                born.append(new)
        return born

    began, curve, elite, generation = time.perf_counter(), [], [], 0
    while generation < args.generations if args.generations else time.perf_counter() - began < 60 * args.minutes:
        generation += 1
        born = children(elite, dice.choice([0.05, 0.15, 0.4]))
        heat, seeds = (
            tetrion.DrawnSeeds(seed=args.seed * 100_000 + 2 * generation + of, count=count)
            for of, count in enumerate([args.games // 4, args.games])
        )
        play(born, heat)
        born.sort(key=Formula.sure, reverse=True)
        elite += born[: args.elite]
        play(elite, seeds)
        elite = sorted(elite, key=Formula.sure, reverse=True)[: args.elite]
        best, last = elite[0], elite[-1]
        curve.append((generation, time.perf_counter() - began, best.sure(), last.sure(), best.lines / best.games))
        if generation % 10 == 1:
            print(
                f"{generation:4d}  {curve[-1][1]:5.0f} s  {curve[-1][4]:7,.0f} lines in {best.games:6,} games  {best.text}",
                flush=True,
            )

    chosen = played(elite, tetrion.DrawnSeeds(seed=args.seed * 100_000, count=args.final_games // 4)).mean_lines
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
