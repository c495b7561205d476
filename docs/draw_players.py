"""Draws what each class of player costs and brings: `players.svg`, from the first table of `results.md`.

    python docs/draw_players.py            # writes it
    python docs/draw_players.py --check    # whether it is what the table says; fails if not

A row without a speed is not drawn. The picture has its own background and follows the reader's theme. Only Python is needed.
"""

import math
import sys
from itertools import combinations, product
from pathlib import Path
from xml.sax.saxutils import escape

PAGE = Path(__file__).with_name("results.md")
PICTURE = PAGE.with_name("players.svg")
COLUMNS = ["player on 10 x 10", "class", "lines per game", "pieces per second, one core"]
CLASSES = {"greedy": "greedy", "mean": "exact mean over hidden pieces"}
UNITS = {"M": 1e6, "k": 1e3}

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 36, 84, 46
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .title { font-size: 15px; font-weight: 600 }
.quiet { fill: #59636e } .end { text-anchor: end } .middle { text-anchor: middle }
.card { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0; opacity: 0.6 }
.c0 { fill: #0969da } .c1 { fill: #bc4c00 } .halo { stroke: #ffffff; stroke-width: 3px; paint-order: stroke }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .quiet { fill: #9198a1 } .card { fill: #0d1117; stroke: #3d444d } .grid { stroke: #3d444d }
.c0 { fill: #4493f8 } .c1 { fill: #db6d28 } .halo { stroke: #0d1117 }
}
"""


def number(words: str) -> float:
    """`17,336`, `6.0 M`."""
    digits, _, unit = words.replace(",", "").partition(" ")
    return float(digits) * UNITS.get(unit, 1.0)


def players() -> list[tuple[str, str, float, float]]:
    """The label, the class, the lines per game and the microseconds per piece of each row with a speed."""
    lines = PAGE.read_text().splitlines()
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    found = []
    if next(rows, None) != COLUMNS:
        sys.exit(f"{PAGE.name}: its first table is expected to have the columns {COLUMNS}")
    next(rows)
    for cells in rows:
        if len(cells) != len(COLUMNS) or cells[1] not in [*CLASSES, "shown"]:
            break
        if cells[3] and cells[1] not in CLASSES:
            sys.exit(f"{PAGE.name}: {cells[0]} has a speed, but {cells[1]} has no colour")
        if cells[3]:
            label = cells[0].replace("`", "").split(":")[0].split(",")[0]
            found.append((label, cells[1], number(cells[2]), 1e6 / number(cells[3])))
    return found


def powers(values: list[float]) -> range:
    """The powers of ten around the values."""
    return range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)


#: Places of a label around its dot: the class of its text, and the text's offset from the dot.
PLACES = [("", 9, 4), ("end", -9, 4), ("middle", 0, -10), ("middle", 0, 20)]
#: Width of a letter in pixels, roughly.
LETTER = 6.4
Box = tuple[float, float, float, float]


def box(label: str, x: float, y: float, place: tuple[str, float, float]) -> Box:
    """Left, top, right and bottom of a label."""
    anchor, across, down = place
    width = LETTER * len(label)
    left = x + across - {"": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y + down - 10, left + width, y + down + 3


def gap(one: Box, other: Box) -> float:
    """Distance between two boxes; 0 if they overlap."""
    across = max(one[0] - other[2], other[0] - one[2], 0.0)
    down = max(one[1] - other[3], other[1] - one[3], 0.0)
    return math.hypot(across, down)


def places(dots: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """A place for each label such that labels overlap nothing, and each is far from the dots of the others."""

    def crowding(chosen: tuple[tuple[str, float, float], ...]) -> float:
        boxes = [box(label, x, y, place) for (label, x, y), place in zip(dots, chosen, strict=True)]
        between = [gap(one, other) for one, other in combinations(boxes, 2)]
        points = [(x, y, x, y) for _, x, y in dots]
        strange = [gap(a, b) for i, a in enumerate(boxes) for j, b in enumerate(points) if i != j]
        outside = sum(a[0] < LEFT or a[2] > WIDTH - 4 or a[1] < TOP - 8 or a[3] > HEIGHT - BOTTOM for a in boxes)
        crowded = min(between) < 6 or min(strange) < 16
        return outside + crowded + sum(1 / (1 + distance) for distance in [*between, *strange])

    return list(min(product(PLACES, repeat=len(dots)), key=crowding))


def picture() -> str:
    """The picture as text."""
    found = players()
    across_powers, up_powers = powers([row[3] for row in found]), powers([row[2] for row in found])

    def place(value: float, all_powers: range, start: float, end: float) -> float:
        share = (math.log10(value) - all_powers[0]) / (all_powers[-1] - all_powers[0])
        return round(start + (end - start) * share, 1)

    def across(value: float) -> float:
        return place(value, across_powers, LEFT, WIDTH - RIGHT)

    def up(value: float) -> float:
        return place(value, up_powers, HEIGHT - BOTTOM, TOP)

    out = []

    def text(x: float, y: float, words: str, classes: str) -> None:
        out.append(f'<text x="{x:g}" y="{y:g}" class="{classes}">{escape(words)}</text>')

    title = "What a player costs and brings: 10 x 10, no piece shown"
    text(16, 26, title, "title")
    for color, name in enumerate(CLASSES.values()):
        out.append(f'<circle cx="{22 + 110 * color}" cy="44" r="5" class="c{color}"/>')
        text(32 + 110 * color, 48, name, "quiet")
    for power in up_powers:
        y = up(10.0**power)
        out.append(f'<line x1="{LEFT}" y1="{y:g}" x2="{WIDTH - RIGHT}" y2="{y:g}" class="grid"/>')
        text(LEFT - 6, y + 4, f"{10**power:,}", "quiet end")
    for power in across_powers:
        x = across(10.0**power)
        out.append(f'<line x1="{x:g}" y1="{TOP}" x2="{x:g}" y2="{HEIGHT - BOTTOM}" class="grid"/>')
        text(x, HEIGHT - BOTTOM + 18, f"{10.0**power:g} µs", "quiet middle")
    text(LEFT, TOP - 12, "lines per game", "quiet")
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "time per piece, one core", "quiet middle")
    dots = [(label, across(time), up(lines)) for label, _, lines, time in found]
    for (label, x, y), (_, kind, *_), (anchor, right, down) in zip(dots, found, places(dots), strict=True):
        color = list(CLASSES).index(kind)
        out.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" class="c{color}"/>')
        # In the colour of its dot, so that nobody takes it for another's.
        text(round(x + right, 1), round(y + down, 1), label, f"c{color} halo {anchor}".strip())
    body = "\n".join(out)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{title}</title>\n<style>{STYLE}</style>\n'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="6" class="card"/>\n{body}\n</svg>\n'
    )


def main() -> None:
    """Writes the picture, or compares it."""
    if sys.argv[1:] == ["--check"]:
        if not PICTURE.exists() or PICTURE.read_text() != picture():
            sys.exit(f"{PICTURE.name} is not what {PAGE.name} says: python docs/draw_players.py")
        return
    PICTURE.write_text(picture())
    print(PICTURE)


if __name__ == "__main__":
    main()
