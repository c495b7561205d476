// The placement that a person points at: moved and turned at leisure, then dropped. The twin of src/cli/play/aim.rs, among the
// placements that the server has listed. Which orientation a turn leads to is seen from the cells, whatever its number is.

import { type Placements, placementOf } from "../src/index.js";
import type { Rules } from "../src/protocol.js";
import { type Cell, turned } from "./tetromino.js";
import { cellsOf } from "./weighing.js";

/** A placement of the list. */
export interface Place {
  /** Its row of the answer. */
  readonly at: number;
  readonly orientation: number;
  /** The column of its leftmost cell. */
  readonly column: number;
  /** The row of its lowest cell. */
  readonly row: number;
  /** What it counts as. */
  readonly spin: number;
  /** Whether the piece in play is held for it. */
  readonly hold: boolean;
  readonly cells: readonly Cell[];
}

/** The placements of an environment of an answer, which has their cells. */
export function placesOf(rules: Rules, placements: Placements, env = 0): Place[] {
  const [first, end] = [placements.offsets[env]!, placements.offsets[env + 1]!];
  return Array.from({ length: end - first }, (_, offset): Place => {
    const at = first + offset;
    const cells = cellsOf(placements, at);
    return { ...placementOf(rules, placements.placements[at]!), at, row: Math.min(...cells.map(([row]) => row)), cells };
  });
}

/** A piece in a person's hand. */
export class Aim {
  private hold = false;
  private orientation = 0;
  /** Twice the column of its middle: what stays when it is turned. */
  private middle = 0;
  /** Which of the places in that column, the highest first, and of those with the same cells the one that counts most. */
  private depth = 0;

  /** The piece in play in the middle, or the one that it can be held for, if it has no placement. At least one place is needed. */
  constructor(private readonly rules: Rules, private readonly places: readonly Place[]) {
    this.appear(places[0]!.hold);
  }

  /** The placement; the nearest one that there is. */
  get place(): Place {
    const places = this.ofColumn();
    return places[Math.min(this.depth, places.length - 1)]!;
  }

  /** Moves it sideways to the next column that has a placement, if there is one. */
  shift(toTheRight: boolean): void {
    const { column, cells } = this.place;
    const columns = this.ofOrientation().map((place) => place.column);
    const next = toTheRight ? Math.min(...columns.filter((other) => other > column)) : Math.max(...columns.filter((other) => other < column));
    this.depth = 0;
    this.middle = 2 * (Number.isFinite(next) ? next : column) + width(cells);
  }

  /** Turns it to the right by so many quarters, and as many again until it has a placement; half a turn may lead nowhere else. */
  turn(quarters: 1 | 2 | 3): void {
    const { cells } = this.place;
    this.depth = 0;
    // After four turns at most it is the same way round again, and has placements.
    for (let turns = 1; turns <= 4; turns++) {
      const shape = shapeOf(turned(cells, 4 - ((turns * quarters) % 4)));
      const found = this.places.find((place) => place.hold === this.hold && shapeOf(turned(place.cells, 0)) === shape);
      if (found !== undefined) {
        this.orientation = found.orientation;
        return;
      }
    }
  }

  /** Goes to the next place in its column, under what is in the way; from the last one back to the first. */
  deepen(): void {
    this.depth = (this.depth + 1) % this.ofColumn().length;
  }

  /** Holds the piece in play and takes the other one, or takes it back; returns whether that can be done. */
  swap(): boolean {
    const other = !this.hold;
    const can = this.places.some(({ hold }) => hold === other);
    if (can) {
      this.appear(other);
    }
    return can;
  }

  private appear(hold: boolean): void {
    this.hold = hold;
    this.orientation = this.places.find((place) => place.hold === hold)!.orientation;
    [this.middle, this.depth] = [this.rules.width ?? 10, 0];
  }

  private ofOrientation(): Place[] {
    return this.places.filter(({ hold, orientation }) => hold === this.hold && orientation === this.orientation);
  }

  /** The placements of the column that it is over, or of the nearest one that has any. */
  private ofColumn(): Place[] {
    const places = this.ofOrientation();
    const wanted = Math.floor((this.middle - width(places[0]!.cells)) / 2);
    const distance = ({ column }: Place) => Math.abs(column - wanted);
    const nearest = places.reduce((best, place) => (distance(place) < distance(best) ? place : best)).column;
    return places.filter(({ column }) => column === nearest).sort((one, other) => other.row - one.row || other.spin - one.spin);
  }
}

function width(cells: readonly Cell[]): number {
  const columns = cells.map(([, column]) => column);
  return Math.max(...columns) - Math.min(...columns) + 1;
}

/** Cells in an order that does not depend on how they were listed. */
function shapeOf(cells: readonly Cell[]): string {
  return cells.map(String).sort().join(" ");
}
