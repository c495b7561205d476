// Predicts moves and falls of a piece that need no rules. The page shows them at once, until the server answers.

import type { Act } from "./keyboard.js";
import type { Cell } from "./tetromino.js";

/** Whether a cell is empty and in the playfield or above it. */
type IsFree = (cell: Cell) => boolean;

/** The piece after one key. It stays the same if the key has no effect or needs rules. */
export function moved(cells: readonly Cell[], act: Act, isFree: IsFree): readonly Cell[] {
  const by = { left: [0, -1], right: [0, 1], down: [-1, 0], bottom: [-1, 0], drop: [-1, 0] }[act as string];
  if (by === undefined || cells.length === 0) {
    return cells;
  }
  let now = cells;
  for (;;) {
    const next = now.map(([row, column]): Cell => [row + by[0]!, column + by[1]!]);
    if (!next.every(isFree)) {
      return now;
    }
    now = next;
    if (act !== "bottom" && act !== "drop") {
      return now;
    }
  }
}

/** The piece after several keys, up to the first key that needs rules or drops it. */
export function foreseen(cells: readonly Cell[], acts: readonly Act[], isFree: IsFree): readonly Cell[] {
  let now = cells;
  for (const act of acts) {
    if (act.startsWith("turn") || act === "hold") {
      break;
    }
    now = moved(now, act, isFree);
    if (act === "drop") {
      break;
    }
  }
  return now;
}
