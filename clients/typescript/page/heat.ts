// A heat map of the placements: one column per column of the playfield, one row per orientation.

import { Surface, colour } from "./surface.js";

/** A placement in the heat map. If several share a cell, the best one counts. */
export interface Warm {
  /** Row of the placement in the answer. */
  readonly row: number;
  readonly orientation: number;
  readonly column: number;
  /** Whether the placement holds the current piece. */
  readonly hold: boolean;
  /** Value from 0 to 1; undefined if the player did not examine the placement. */
  readonly warmth: number | undefined;
}

/** Rows per piece. */
const ROWS = 4;

/** The heat map, as wide as its board. The rows of the current piece come first, then the rows of the piece after holding. */
export class Heat {
  readonly surface = new Surface((pen, width, height) => this.paint(pen, width, height), "heat", "Value of every placement");
  private columns = 10;
  private blocks = 1;
  private warm = new Map<number, Warm>();
  private chosen = -1;
  private other = -1;
  private pointer: { readonly x: number; readonly y: number } | undefined;

  /** With a function that is called when the pointer goes to the cell of another placement, or leaves. */
  constructor(moved: () => void) {
    const { canvas } = this.surface;
    const go = (place: typeof this.pointer) => {
      const before = this.pointed;
      this.pointer = place;
      if (this.pointed !== before) {
        moved();
      }
    };
    for (const kind of ["pointermove", "pointerdown"] as const) {
      canvas.addEventListener(kind, ({ offsetX: x, offsetY: y }) => go({ x, y }));
    }
    canvas.addEventListener("pointerleave", () => go(undefined));
  }

  /** Row of the placement under the pointer. */
  get pointed(): number | undefined {
    if (this.pointer === undefined) {
      return undefined; // without asking for the size, which costs a layout
    }
    const { x, y } = this.pointer;
    const { clientWidth, clientHeight } = this.surface.canvas;
    const [column, row] = [Math.floor((x / clientWidth) * this.columns), Math.floor((y / clientHeight) * ROWS * this.blocks)];
    return this.warm.get(row * this.columns + column)?.row;
  }

  /** Marks the placement that the chosen one is compared with. */
  compare(other: Warm | undefined): void {
    this.other = other === undefined ? -1 : this.at(other);
    this.surface.redraw();
  }

  /** Shows the value of each placement, and the chosen one. */
  show(columns: number, hasHold: boolean, placements: readonly Warm[], chosen: Warm): void {
    this.columns = columns;
    this.blocks = hasHold ? 2 : 1;
    this.warm = new Map();
    for (const placement of placements) {
      const at = this.at(placement);
      if ((placement.warmth ?? -1) > (this.warm.get(at)?.warmth ?? -1) || !this.warm.has(at)) {
        this.warm.set(at, placement);
      }
    }
    this.chosen = this.at(chosen);
    const { canvas } = this.surface;
    canvas.style.setProperty("--columns", String(columns));
    canvas.style.setProperty("--blocks", String(this.blocks));
    canvas.title = hasHold ? "Above: the current piece; below: the other piece, if the current one is held" : "";
    const { length } = placements.filter(({ warmth }) => warmth !== undefined);
    this.surface.label = `${length} placements; the best is orientation ${chosen.orientation}, column ${chosen.column + 1}${chosen.hold ? ", after holding" : ""}`;
    this.surface.redraw();
  }

  private at({ orientation, column, hold }: Warm): number {
    return ((hold ? ROWS : 0) + orientation) * this.columns + column;
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const size = width / this.columns;
    const gap = this.blocks > 1 ? 4 : 0;
    const rows = ROWS * this.blocks;
    const tall = (height - gap) / rows;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        const placement = row * this.columns + column;
        const warm = this.warm.get(placement)?.warmth;
        const [x, y] = [column * size, row * tall + (row < ROWS ? 0 : gap)];
        pen.fillStyle = warm === undefined ? colour("--line") : ramp(warm);
        pen.globalAlpha = warm === undefined ? 0.5 : 1;
        pen.beginPath();
        pen.roundRect(x + 0.5, y + 0.5, size - 1, tall - 1, Math.min(3, size / 5));
        pen.fill();
        pen.globalAlpha = 1;
        if (placement === this.chosen || placement === this.other) {
          pen.strokeStyle = colour("--text");
          pen.lineWidth = placement === this.chosen ? 2 : 1.5;
          pen.setLineDash(placement === this.chosen ? [] : [3, 2]);
          pen.stroke();
          pen.setLineDash([]);
        }
      }
    }
  }
}

// The palette viridis, from dark blue through green to yellow. Lightness alone shows the order, also to colour-blind people.
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const;

/** The colour of a number from 0 to 1. */
export function ramp(value: number): string {
  const place = Math.min(1, Math.max(0, value)) * (STOPS.length - 1);
  const [low, high] = [STOPS[Math.floor(place)]!, STOPS[Math.ceil(place)]!];
  const mixed = low.map((part, at) => Math.round(part + (high[at]! - part) * (place % 1)));
  return `rgb(${mixed.join(" ")})`;
}
