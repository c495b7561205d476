// Drawings and colours of the seven tetrominoes. The server knows how they move.

/** Letters of the tetrominoes, in the order of their numbers. */
export const LETTERS = "IOTZSJL";

/** Row and column of a cell, row 0 the lowest. */
export type Cell = readonly [row: number, column: number];

/** Cells of each tetromino, lying flat, for pictures of next pieces. */
export const DRAWINGS: readonly (readonly Cell[])[] = [
  [[0, 0], [0, 1], [0, 2], [0, 3]],
  [[0, 0], [0, 1], [1, 0], [1, 1]],
  [[0, 0], [0, 1], [0, 2], [1, 1]],
  [[0, 1], [0, 2], [1, 0], [1, 1]],
  [[0, 0], [0, 1], [1, 1], [1, 2]],
  [[0, 0], [0, 1], [0, 2], [1, 0]],
  [[0, 0], [0, 1], [0, 2], [1, 2]],
];

/** A drawing after quarter turns, its lowest row and leftmost column 0. */
export function turned(cells: readonly Cell[], turns: number): Cell[] {
  let now: Cell[] = [...cells];
  for (let turn = 0; turn < turns; turn++) {
    now = now.map(([row, column]) => [column, -row]);
  }
  const low = Math.min(...now.map(([row]) => row));
  const left = Math.min(...now.map(([, column]) => column));
  return now.map(([row, column]) => [row - low, column - left]);
}

/** A piece above a field of this height, over its placement. */
export function lifted(cells: readonly Cell[], height: number): Cell[] {
  const low = Math.min(...cells.map(([row]) => row));
  return cells.map(([row, column]): Cell => [row - low + height, column]);
}

/** Names of palettes. */
export type PaletteName = "usual" | "distinct";

// The colours of src/toolkit/picture/colours.rs; tests/it/page.rs compares them. `distinct` is the palette of Okabe and Ito (2008).
const PALETTES: Record<PaletteName, readonly string[]> = {
  usual: ["#2fc6e0", "#f2cf3c", "#a95bd6", "#e2484d", "#53b94f", "#3f6fe0", "#ee8c2f"],
  distinct: ["#56b4e9", "#f0e442", "#cc79a7", "#d55e00", "#009e73", "#0072b2", "#e69f00"],
};
const GIVEN = "#8a909c";

let chosen: PaletteName = "usual";

/** Selects the palette of the pieces. */
export function choosePalette(name: PaletteName): void {
  chosen = name;
}

/** The selected palette. */
export function palette(): PaletteName {
  return chosen;
}

/** The colour of a cell: 1 to 7 for the tetrominoes, 8 for cells of unknown origin. */
export function colourOf(cell: number): string {
  return PALETTES[chosen][cell - 1] ?? GIVEN;
}
