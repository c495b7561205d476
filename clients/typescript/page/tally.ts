// What a game has come to, and what its last landing has done, in the words that players use.

import type { Infos } from "../src/index.js";
import { LETTERS } from "./tetromino.js";

/** The numbers of a game so far. */
export interface Tally {
  readonly lines: bigint;
  readonly pieces: bigint;
  readonly points: number;
  /** Lines sent; undefined where the rules count none. */
  readonly sent: bigint | undefined;
  /** How many of the last pieces cleared lines. */
  readonly combo: number;
  /** Whether the last clear was difficult: of four lines, or by a spin. */
  readonly backToBack: boolean;
  /** What the last landing counted as. */
  readonly spin: number;
  /** The last landing that was something special, in words. */
  readonly deed: string;
}

/** Before the first piece. */
export const NOTHING: Tally = { lines: 0n, pieces: 0n, points: 0, sent: undefined, combo: 0, backToBack: false, spin: 0, deed: "" };

/** The numbers of an environment of an answer. */
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

/** The same after a piece has landed, which left an empty playfield or did not. */
export function landed(before: Tally, infos: Infos, kind: number, isEmpty: boolean, at = 0): Tally {
  const after = tallyOf(infos, at);
  return { ...after, deed: deedInWords(kind, before, after, isEmpty) || before.deed };
}

const NUMBERS = ["", "single", "double", "triple", "tetris"];

/** A clear by its name: T-spin double, mini T-spin, triple. Empty for a landing that is nothing special. */
export function nameOf(kind: number, spin: number, lines: number): string {
  const number = NUMBERS[lines] ?? `${lines} lines`;
  const by = spin === 0 ? "" : `${spin === 1 ? "mini " : ""}${LETTERS[kind] ?? ""}-spin`;
  const name = [by, number].filter((word) => word !== "").join(" ");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Lines that are sent, in words; nothing for none. */
export function sentInWords(sent: number): string[] {
  return sent > 0 ? [`${sent} ${sent === 1 ? "line" : "lines"} sent`] : [];
}

/** What a landing has done: `T-spin double, 4 lines sent, back-to-back, combo 3`. Empty where it was nothing special. */
export function deedInWords(kind: number, before: Tally, after: Tally, isEmpty: boolean): string {
  const lines = Number(after.lines - before.lines);
  const name = nameOf(kind, after.spin, lines);
  if (name === "" || after.sent === undefined) {
    return "";
  }
  const sent = sentInWords(Number(after.sent - (before.sent ?? 0n)));
  const chained = lines > 0 && before.backToBack && after.backToBack ? ["back-to-back"] : [];
  // Players count from the second clear on.
  const combo = after.combo > 1 ? [`combo ${after.combo - 1}`] : [];
  return [name, ...(lines > 0 && isEmpty ? ["perfect clear"] : []), ...sent, ...chained, ...combo].join(", ");
}
