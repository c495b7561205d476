// The numbers of a game, and its last landing in the words of players.

import type { Infos } from "../src/index.js";
import { LETTERS } from "./tetromino.js";

/** The numbers of a game so far. */
export interface Tally {
  readonly lines: number;
  readonly pieces: number;
  readonly points: number;
  /** Lines sent; undefined if the rules count none. */
  readonly sent: number | undefined;
  /** Number of pieces in a row that cleared lines, up to the last one. */
  readonly combo: number;
  /** Whether the last clear was difficult: of four lines, or by a spin. */
  readonly backToBack: boolean;
  /** Kind of spin of the last landing. */
  readonly spin: number;
  /** The last special landing in words. */
  readonly deed: string;
}

/** The tally before the first piece. */
export const NOTHING: Tally = { lines: 0, pieces: 0, points: 0, sent: undefined, combo: 0, backToBack: false, spin: 0, deed: "" };

/** The tally of an environment in an answer. */
export function tallyOf({ lines, pieces, episode_return, attack, combo, back_to_back, spin }: Infos, at = 0): Tally {
  return {
    lines: lines![at]!,
    pieces: pieces![at]!,
    points: episode_return?.[at] ?? 0,
    sent: attack?.[at],
    combo: combo?.[at] ?? 0,
    backToBack: back_to_back?.[at] === 1,
    spin: spin?.[at] ?? 0,
    deed: "",
  };
}

/** The tally after a landing. `isEmpty` says whether the playfield is empty now. */
export function landed(before: Tally, infos: Infos, kind: number, isEmpty: boolean, at = 0): Tally {
  const after = tallyOf(infos, at);
  return { ...after, deed: deedInWords(kind, before, after, isEmpty) || before.deed };
}

const NUMBERS = ["", "single", "double", "triple", "tetris"];

/** Name of a clear: T-spin double, mini T-spin, triple. Empty for an ordinary landing. */
export function nameOf(kind: number, spin: number, lines: number): string {
  const number = NUMBERS[lines] ?? `${lines} lines`;
  const by = spin === 0 ? "" : `${spin === 1 ? "mini " : ""}${LETTERS[kind] ?? ""}-spin`;
  const name = [by, number].filter((word) => word !== "").join(" ");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Sent lines in words; empty for none. */
export function sentInWords(sent: number): string[] {
  return sent > 0 ? [`${sent} ${sent === 1 ? "line" : "lines"} sent`] : [];
}

/** A landing in words: `T-spin double, 4 lines sent, back-to-back, combo 3`. Empty for an ordinary landing. */
export function deedInWords(kind: number, before: Tally, after: Tally, isEmpty: boolean): string {
  const lines = after.lines - before.lines;
  const name = nameOf(kind, after.spin, lines);
  if (name === "" || after.sent === undefined) {
    return "";
  }
  const sent = sentInWords(after.sent - (before.sent ?? 0));
  const chained = lines > 0 && before.backToBack && after.backToBack ? ["back-to-back"] : [];
  // Players count from the second clear on.
  const combo = after.combo > 1 ? [`combo ${after.combo - 1}`] : [];
  return [name, ...(lines > 0 && isEmpty ? ["perfect clear"] : []), ...sent, ...chained, ...combo].join(", ");
}
