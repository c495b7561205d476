// A playfield in colours: the tetromino of each cell. The server sends only 0 and 1, so this file follows every landing and corrects
// itself by the server's playfield.

import { type Cell, DRAWINGS, turned } from "./tetromino.js";

/** A full cell of unknown origin. */
export const GIVEN = 8;

/** A playfield with the colours of its cells. */
export class Field {
  /** `[height, width]`, row 0 the lowest: 0 empty, 1 to 7 a tetromino, 8 unknown. */
  cells: Uint8Array;
  /** Remaining cells of the last piece, as indices into `cells`. */
  last: number[] = [];

  constructor(readonly width: number, readonly height: number) {
    this.cells = new Uint8Array(width * height);
  }

  /** An independent copy. */
  copy(): Field {
    const copy = new Field(this.width, this.height);
    copy.cells = this.cells.slice();
    copy.last = [...this.last];
    return copy;
  }

  /** Lands a piece. Full rows clear unless `clears` is false. */
  land(kind: number, cells: readonly Cell[], clears: boolean): void {
    this.last = [];
    for (const [row, column] of cells) {
      if (row < this.height) {
        this.cells[row * this.width + column] = kind + 1;
        this.last.push(row * this.width + column);
      }
    }
    if (clears) {
      this.clear();
    }
  }

  /** Takes over the server's playfield of 0 and 1: lifts the cells above new rows of garbage, and corrects cells that differ. */
  agree(board: ArrayLike<number>): void {
    const lift = (this.risen(board) ?? 0) * this.width;
    if (lift > 0) {
      this.cells.copyWithin(lift, 0);
      this.cells.fill(GIVEN, 0, lift);
      this.last = this.last.map((at) => at + lift).filter((at) => at < this.cells.length);
    }
    for (let at = 0; at < this.cells.length; at++) {
      if (board[at] === 0) {
        this.cells[at] = 0;
      } else if (this.cells[at] === 0) {
        this.cells[at] = GIVEN;
      }
    }
    this.last = this.last.filter((at) => this.cells[at] !== 0);
  }

  /** The highest filled row, plus 1. */
  get top(): number {
    for (let row = this.height - 1; row >= 0; row--) {
      if (this.row(row).some((cell) => cell !== 0)) {
        return row + 1;
      }
    }
    return 0;
  }

  /**
   * Finds the landing of a piece from the playfield after it, in games by keys, where the server does not name it. If several
   * places fit, takes the one nearest to the piece's last position.
   */
  landing(kind: number, was: readonly Cell[], board: ArrayLike<number>): Cell[] | undefined {
    const [wasRow, wasColumn] = [Math.min(...was.map(([row]) => row)), Math.min(...was.map(([, column]) => column))];
    let best: Cell[] | undefined;
    let distance = Infinity;
    for (let turns = 0; turns < 4; turns++) {
      const shape = turned(DRAWINGS[kind]!, turns);
      for (let row = 0; row < this.height; row++) {
        for (let column = 0; column < this.width; column++) {
          const cells = shape.map(([up, right]): Cell => [row + up, column + right]);
          const away = 100 * Math.abs(column - wasColumn) + Math.abs(row - wasRow);
          if (away < distance && this.becomes(kind, cells, board)) {
            [best, distance] = [cells, away];
          }
        }
      }
    }
    return best;
  }

  private becomes(kind: number, cells: readonly Cell[], board: ArrayLike<number>): boolean {
    const free = ([row, column]: Cell) => column < this.width && (row >= this.height || this.cells[row * this.width + column] === 0);
    if (!cells.every(free)) {
      return false;
    }
    const after = this.copy();
    after.land(kind, cells, true);
    return after.risen(board) !== undefined;
  }

  /** Number of new rows of garbage in the server's playfield; undefined if they do not explain it. */
  private risen(board: ArrayLike<number>): number | undefined {
    for (let rows = 0; rows < this.height; rows++) {
      const lift = rows * this.width;
      if (this.cells.subarray(0, this.cells.length - lift).every((cell, at) => (cell !== 0) === (board[at + lift] !== 0))) {
        return rows;
      }
      const filled = Array.from({ length: this.width }, (_, column) => board[lift + column] !== 0).filter(Boolean).length;
      if (filled !== this.width - 1) {
        return undefined;
      }
    }
    return undefined;
  }

  private row(row: number): Uint8Array {
    return this.cells.subarray(row * this.width, (row + 1) * this.width);
  }

  private clear(): void {
    const last = new Set(this.last);
    const cells = new Uint8Array(this.cells.length);
    this.last = [];
    let kept = 0;
    for (let row = 0; row < this.height; row++) {
      if (this.row(row).includes(0)) {
        cells.set(this.row(row), kept * this.width);
        for (let column = 0; column < this.width; column++) {
          if (last.has(row * this.width + column)) {
            this.last.push(kept * this.width + column);
          }
        }
        kept++;
      }
    }
    this.cells = cells;
  }
}
