// The placement that a person aims at: moved and turned freely, then dropped. The twin of src/viewers/aim.rs, on the placements
// that the server has listed. A turn finds its orientation by the cells, not by a table of numbers.

import { type Placements, placementOf } from "../src/index.js";
import type { Rules } from "../src/protocol.js";
import { type Cell, turned } from "./tetromino.js";
import { cellsOf } from "./weighing.js";

/** A placement of the list. */
export interface Place {
  /** Row of the placement in the answer. */
  readonly at: number;
  readonly orientation: number;
  /** Column of the leftmost cell. */
  readonly column: number;
  /** Row of the lowest cell. */
  readonly row: number;
  /** Kind of spin: 0 none, 1 mini, 2 full. */
  readonly spin: number;
  /** Whether the placement holds the current piece. */
  readonly hold: boolean;
  readonly cells: readonly Cell[];
}

/** The placements of an environment in an answer that includes cells. */
export function placesOf(placements: Placements, env = 0): Place[] {
  const [first, end] = [placements.rowOffsets[env]!, placements.rowOffsets[env + 1]!];
  return Array.from({ length: end - first }, (_, offset): Place => {
    const at = first + offset;
    const cells = cellsOf(placements, at);
    return { ...placementOf(placements, at), at, row: Math.min(...cells.map(([row]) => row)), cells };
  });
}

/** The piece that a person aims. */
export class Aim {
  private hold = false;
  private orientation = 0;
  /** Twice the column of the middle, which stays when the piece turns. */
  private middle = 0;
  /** Index among the places in that column: the highest first; of places with the same cells, the best spin first. */
  private depth = 0;

  /** Starts with the current piece in the middle, or with the other one if it has no placement. Needs at least one place. */
  constructor(private readonly rules: Rules, private readonly places: readonly Place[]) {
    this.appear(places[0]!.hold);
  }

  /** The aimed placement, or the nearest existing one. */
  get place(): Place {
    const places = this.ofColumn();
    return places[Math.min(this.depth, places.length - 1)]!;
  }

  /** Moves the piece sideways to the next column with a placement. */
  shift(toTheRight: boolean): void {
    const { column, cells } = this.place;
    const columns = this.ofOrientation().map((place) => place.column);
    const next = toTheRight ? Math.min(...columns.filter((other) => other > column)) : Math.max(...columns.filter((other) => other < column));
    this.depth = 0;
    this.middle = 2 * (Number.isFinite(next) ? next : column) + width(cells);
  }

  /** Turns the piece to the right by this number of quarters, repeatedly until it has a placement. */
  turn(quarters: 1 | 2 | 3): void {
    const { cells } = this.place;
    this.depth = 0;
    // After four turns at most it is in its first orientation again, which has placements.
    for (let turns = 1; turns <= 4; turns++) {
      const shape = shapeOf(turned(cells, 4 - ((turns * quarters) % 4)));
      const found = this.places.find((place) => place.hold === this.hold && shapeOf(turned(place.cells, 0)) === shape);
      if (found !== undefined) {
        this.orientation = found.orientation;
        return;
      }
    }
  }

  /** Goes to the next place below in the column, under overhangs, and from the lowest back to the highest. */
  deepen(): void {
    this.depth = (this.depth + 1) % this.ofColumn().length;
  }

  /** Swaps between the current piece and the other one. Returns whether that is possible. */
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

  /** The placements in the piece's column, or in the nearest column with any. */
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

/** Cells as a text that does not depend on their order. */
function shapeOf(cells: readonly Cell[]): string {
  return cells.map(String).sort().join(" ");
}
