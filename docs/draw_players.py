"""Draws what each class of player costs and brings: `players.svg`, from the first table of `players.md`.

    python docs/draw_players.py            # writes it
    python docs/draw_players.py --check    # whether it is what the table says; fails if not

A row without a speed is not drawn. The picture has its own background and follows the reader's theme. Only Python is needed.
"""

import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

PAGE = Path(__file__).with_name("players.md")
PICTURE = PAGE.with_suffix(".svg")
COLUMNS = ["player", "class", "lines per game", "pieces per second, one core"]
CLASSES = {"greedy": "greedy", "mean": "exact mean over hidden pieces"}
UNITS = {"M": 1e6, "k": 1e3}

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 36, 84, 46
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .title { font-size: 15px; font-weight: 600 }
.quiet { fill: #59636e } .end { text-anchor: end } .middle { text-anchor: middle }
.card { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0; opacity: 0.6 }
.c0 { fill: #0969da } .c1 { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .quiet { fill: #9198a1 } .card { fill: #0d1117; stroke: #3d444d } .grid { stroke: #3d444d }
.c0 { fill: #4493f8 } .c1 { fill: #db6d28 }
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
    for label, kind, lines, time in found:
        x, y = across(time), up(lines)
        out.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" class="c{list(CLASSES).index(kind)}"/>')
        # The cheap ones are at the left, with room below them; the others have it above.
        if kind == "greedy":
            text(x + 8, y + 16, label, "")
        else:
            text(x - 8, y - 8, label, "end")
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
