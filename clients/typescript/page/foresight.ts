// What keys do to a falling piece that needs no rules to know: steps and falls. The page shows it at once; the server's answer
// counts.

import type { Act } from "./keyboard.js";
import type { Cell } from "./tetromino.js";

/** Whether a cell is in the playfield, or above it, and empty. */
type IsFree = (cell: Cell) => boolean;

/** The piece after one key; where that is as it is if the key does nothing, or needs rules. */
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

/** The piece after keys, up to the first that needs rules, or that ends its fall. */
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
