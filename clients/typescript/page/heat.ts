// The value of every placement as a picture: a column for each column of the playfield, a row for each orientation.

import { Surface, colour } from "./surface.js";

/** The picture, as wide as the board above it. */
export class Heat {
  readonly surface = new Surface((pen, width, height) => this.paint(pen, width, height), "heat", "Value of every placement");
  private columns = 10;
  private warm = new Map<number, number>();
  private chosen = -1;

  /** Shows how good each placement is, 0 to 1, and which one is chosen. A placement is orientation * width + column. */
  show(columns: number, placements: readonly number[], warmth: readonly number[], chosen: number): void {
    this.columns = columns;
    this.warm = new Map(placements.map((placement, at) => [placement, warmth[at]!]));
    this.chosen = chosen;
    this.surface.canvas.style.setProperty("--columns", String(columns));
    const [orientation, column] = [Math.floor(chosen / columns), chosen % columns];
    this.surface.label = `${placements.length} placements; the best is orientation ${orientation}, column ${column + 1}`;
    this.surface.redraw();
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const size = width / this.columns;
    const rows = 4;
    const tall = height / rows;
    for (let orientation = 0; orientation < rows; orientation++) {
      for (let column = 0; column < this.columns; column++) {
        const placement = orientation * this.columns + column;
        const warm = this.warm.get(placement);
        const [x, y] = [column * size, orientation * tall];
        pen.fillStyle = warm === undefined ? colour("--line") : ramp(warm);
        pen.globalAlpha = warm === undefined ? 0.5 : 1;
        pen.beginPath();
        pen.roundRect(x + 0.5, y + 0.5, size - 1, tall - 1, Math.min(3, size / 5));
        pen.fill();
        pen.globalAlpha = 1;
        if (placement === this.chosen) {
          pen.strokeStyle = colour("--text");
          pen.lineWidth = 2;
          pen.stroke();
        }
      }
    }
  }
}

// From dark blue to yellow through green: lightness alone tells the order, whatever colours one sees. (viridis)
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const;

/** The colour of a number from 0 to 1. */
export function ramp(value: number): string {
  const place = Math.min(1, Math.max(0, value)) * (STOPS.length - 1);
  const [low, high] = [STOPS[Math.floor(place)]!, STOPS[Math.ceil(place)]!];
  const mixed = low.map((part, at) => Math.round(part + (high[at]! - part) * (place % 1)));
  return `rgb(${mixed.join(" ")})`;
}
