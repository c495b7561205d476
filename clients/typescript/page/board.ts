// A playfield on the screen. It knows no rules.

import type { Rules } from "../src/protocol.js";
import { h } from "./dom.js";
import type { Hand } from "./pieces.js";
import { Surface, colour } from "./surface.js";
import { type Cell, DRAWINGS, LETTERS, colourOf } from "./tetromino.js";

/** Content of a board. */
export interface Scene {
  readonly width: number;
  /** Rows of the visible field. */
  readonly height: number;
  /** `[rows, width]`, row 0 the lowest: 0 empty, 1 to 7 a tetromino, 8 unknown. Rows from `height` on are above the field. */
  readonly cells: Uint8Array;
  /** Cells of the last piece, as indices into `cells`. */
  readonly last?: readonly number[];
  /** Number and cells of the current piece. */
  readonly piece?: { readonly kind: number; readonly cells: readonly Cell[] } | undefined;
  /** Cells where the current piece would land. */
  readonly ghost?: readonly Cell[] | undefined;
  /** Number and cells of a piece that a hint proposes. */
  readonly hint?: { readonly kind: number; readonly cells: readonly Cell[] } | undefined;
  /** Words across the board, such as at the end of a game. */
  readonly words?: string | undefined;
  /** Whether the words leave the board visible. */
  readonly isClear?: boolean;
  /** Rows of garbage that wait, the next to rise first. */
  readonly garbage?: readonly number[];
}

/** A board, with `above` rows above the visible field for the current piece and high cells. */
export class Board {
  readonly surface: Surface;
  private scene: Scene | undefined;

  constructor(private readonly above = 0, label = "Playfield") {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), "board", label);
  }

  /** Shows a scene. */
  show(scene: Scene): void {
    if (this.scene?.width !== scene.width || this.scene.height !== scene.height) {
      const { style } = this.surface.canvas;
      style.setProperty("--columns", String(scene.width));
      style.setProperty("--rows", String(scene.height + this.above));
    }
    this.scene = scene;
    this.surface.redraw();
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const { scene } = this;
    if (scene === undefined) {
      return;
    }
    const rows = scene.height + this.above;
    // Whole pixels, so that all cells have the same size.
    const size = Math.max(1 / devicePixelRatio, Math.floor(Math.min(width / scene.width, height / rows) * devicePixelRatio) / devicePixelRatio);
    const left = Math.round((width - size * scene.width) / 2);
    const bottom = Math.round((height + size * rows) / 2);
    const at = (row: number, column: number) => [left + column * size, bottom - (row + 1) * size] as const;
    const fieldTop = bottom - scene.height * size;

    if (this.above > 0) {
      pen.fillStyle = colour("--sky");
      pen.beginPath();
      pen.roundRect(left, fieldTop - this.above * size, scene.width * size, (this.above + 1) * size, [6, 6, 0, 0]);
      pen.fill();
    }
    pen.fillStyle = colour("--screen");
    pen.beginPath();
    pen.roundRect(left, fieldTop, scene.width * size, scene.height * size, this.above > 0 ? [0, 0, 6, 6] : Math.min(4, size / 3));
    pen.fill();
    if (size >= 6) {
      pen.fillStyle = colour("--screen-grid");
      for (let column = 1; column < scene.width; column++) {
        pen.fillRect(left + column * size - 0.5, fieldTop, 1, scene.height * size);
      }
      for (let row = 1; row < scene.height; row++) {
        pen.fillRect(left, fieldTop + row * size - 0.5, scene.width * size, 1);
      }
    }
    // In the dark theme the field needs an edge.
    pen.strokeStyle = colour("--line");
    pen.lineWidth = 1;
    pen.strokeRect(left + 0.5, fieldTop + 0.5, scene.width * size - 1, scene.height * size - 1);
    const drawn = Math.min(rows, scene.cells.length / scene.width);
    for (let row = 0; row < drawn; row++) {
      for (let column = 0; column < scene.width; column++) {
        const cell = scene.cells[row * scene.width + column]!;
        if (cell !== 0) {
          block(pen, ...at(row, column), size, colourOf(cell));
        }
      }
    }
    if (size >= 5 && scene.last !== undefined && scene.last.length > 0) {
      const last = scene.last.map((index): Cell => [Math.floor(index / scene.width), index % scene.width]).filter(([row]) => row < rows);
      outline(pen, last, at, size, "#ffffff", 1.5);
    }
    if (scene.ghost !== undefined && scene.piece !== undefined) {
      pen.globalAlpha = 0.28;
      for (const [row, column] of scene.ghost) {
        block(pen, ...at(row, column), size, colourOf(scene.piece.kind + 1));
      }
      pen.globalAlpha = 1;
      outline(pen, scene.ghost, at, size, colourOf(scene.piece.kind + 1), 1.5);
    }
    for (const [row, column] of scene.piece?.cells ?? []) {
      block(pen, ...at(row, column), size, colourOf(scene.piece!.kind + 1));
    }
    if (scene.hint !== undefined) {
      pen.globalAlpha = 0.4;
      for (const [row, column] of scene.hint.cells) {
        block(pen, ...at(row, column), size, colourOf(scene.hint.kind + 1));
      }
      pen.globalAlpha = 1;
      pen.setLineDash([4, 3]);
      outline(pen, scene.hint.cells, at, size, "#ffffff", 2);
      pen.setLineDash([]);
    }
    let floor = bottom;
    (scene.garbage ?? []).forEach((rows, delay) => {
      // What rises with this piece is brighter than what comes later.
      const tall = Math.min(rows * size, floor - fieldTop);
      pen.fillStyle = delay === 0 ? "#ff4d4f" : "#f0a500";
      pen.fillRect(left, floor - tall + 1, Math.max(3, size / 5), Math.max(0, tall - 1));
      floor -= tall;
    });
    if (scene.words !== undefined) {
      const lines = scene.words.split("\n");
      const letters = Math.max(11, Math.min(18, (scene.width * size) / 9));
      const tall = scene.isClear === true ? lines.length * letters * 1.5 + letters : scene.height * size;
      pen.fillStyle = "rgb(10 12 16 / 72%)";
      pen.fillRect(left, fieldTop + (scene.height * size - tall) / 2, scene.width * size, tall);
      pen.fillStyle = "#ffffff";
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      lines.forEach((line, number) => {
        pen.font = `${number === 0 ? 600 : 400} ${number === 0 ? letters : letters * 0.8}px system-ui, sans-serif`;
        const y = fieldTop + (scene.height * size) / 2 + (number - (lines.length - 1) / 2) * letters * 1.5;
        pen.fillText(line, left + (scene.width * size) / 2, y);
      });
    }
  }
}

/** A full cell: light above, dark below. */
function block(pen: CanvasRenderingContext2D, x: number, y: number, size: number, body: string): void {
  if (size < 8) {
    pen.fillStyle = body;
    pen.fillRect(x, y, size, size);
    return;
  }
  const [left, top, side] = [x + 0.5, y + 0.5, size - 1];
  const radius = size >= 10 ? Math.min(3, size / 8) : 0;
  const edge = Math.max(1, Math.round(size / 9));
  pen.fillStyle = body;
  pen.beginPath();
  pen.roundRect(left, top, side, side, radius);
  pen.fill();
  pen.fillStyle = "rgb(255 255 255 / 30%)";
  pen.beginPath();
  pen.roundRect(left, top, side, edge, [radius, radius, 0, 0]);
  pen.fill();
  pen.fillStyle = "rgb(0 0 0 / 28%)";
  pen.beginPath();
  pen.roundRect(left, top + side - edge, side, edge, [0, 0, radius, radius]);
  pen.fill();
}

/** The outline of cells. */
function outline(
  pen: CanvasRenderingContext2D,
  cells: readonly Cell[],
  at: (row: number, column: number) => readonly [number, number],
  size: number,
  ink: string,
  thickness: number,
): void {
  const has = (row: number, column: number) => cells.some(([r, c]) => r === row && c === column);
  pen.strokeStyle = ink;
  pen.lineWidth = thickness;
  pen.lineCap = "round";
  pen.beginPath();
  for (const [row, column] of cells) {
    const [x, y] = at(row, column);
    const inset = thickness / 2;
    if (!has(row + 1, column)) {
      pen.moveTo(x + inset, y + inset);
      pen.lineTo(x + size - inset, y + inset);
    }
    if (!has(row - 1, column)) {
      pen.moveTo(x + inset, y + size - inset);
      pen.lineTo(x + size - inset, y + size - inset);
    }
    if (!has(row, column - 1)) {
      pen.moveTo(x + inset, y + inset);
      pen.lineTo(x + inset, y + size - inset);
    }
    if (!has(row, column + 1)) {
      pen.moveTo(x + size - inset, y + inset);
      pen.lineTo(x + size - inset, y + size - inset);
    }
  }
  pen.stroke();
}

/** A row of small pieces: the next ones, or the held one. */
export class Row {
  readonly surface: Surface;
  private kinds: readonly number[] = [];

  /** With the label of the row, and its label when empty. */
  constructor(private readonly name: string, private readonly none: string, kind = "pieces") {
    this.surface = new Surface((pen, width, height) => this.paint(pen, width, height), kind, none);
  }

  /** Shows these tetrominoes, by number; -1 is none. */
  show(kinds: ArrayLike<number>): void {
    this.kinds = Array.from(kinds).filter((kind) => kind >= 0);
    const letters = this.kinds.map((kind) => LETTERS[kind]).join(", ");
    this.surface.label = letters === "" ? this.none : `${this.name}: ${letters}`;
    this.surface.redraw();
  }

  private paint(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const many = Math.max(1, this.kinds.length);
    const isColumn = height > width && many > 1;
    const size = Math.floor(isColumn ? Math.min(width / 4.2, height / (3.2 * many)) : Math.min(height / 2.4, width / (4.8 * many)));
    this.kinds.forEach((kind, number) => {
      const columns = Math.max(...DRAWINGS[kind]!.map(([, column]) => column)) + 1;
      const left = isColumn ? (width - columns * size) / 2 : number * size * 4.8;
      const rows = Math.max(...DRAWINGS[kind]!.map(([row]) => row)) + 1;
      const middle = (isColumn ? (number + 0.5) * 3.2 * size : height / 2) + (rows - 2) * (size / 2);
      for (const [row, column] of DRAWINGS[kind]!) {
        block(pen, left + column * size, middle - row * size, size, colourOf(kind + 1));
      }
    });
  }
}

/** The held piece and the next ones. */
export class Side {
  private readonly held = new Row("Held", "No piece is held", "held");
  private readonly next = new Row("Next", "No next piece is shown");
  readonly hold = h("div", { class: "holding" }, h("h2", {}, "Hold"), this.held.surface.canvas);
  readonly queue = h("div", { class: "coming" }, h("h2", {}, "Next"), this.next.surface.canvas);

  /** Shows the parts that the rules have. */
  begin({ hold = false, preview = 0 }: Pick<Rules, "hold" | "preview">): void {
    this.hold.hidden = !hold;
    this.queue.hidden = preview === 0;
  }

  /** Stops drawing. */
  drop(): void {
    this.held.surface.drop();
    this.next.surface.drop();
  }

  /** Shows these pieces. */
  show({ held, next }: Pick<Hand, "held" | "next">): void {
    this.held.show([held]);
    this.next.show(next);
  }
}
