// The numbers of a game, and its last landing in the words of players.

import type { Infos } from "../src/index.js";
import { grouped } from "./dom.js";
import { LETTERS } from "./tetromino.js";

/** The numbers of a game so far. */
export interface Tally {
  readonly lines: number;
  readonly pieces: number;
  readonly points: number;
  /** Lines sent; undefined if the rules count none. In a match, the lines that left. */
  readonly sent: number | undefined;
  /** In a match: lines that arrived, lines that were cancelled instead of sent, and lines of broken back-to-back chains. */
  readonly received: number | undefined;
  readonly cancelled: number;
  readonly surge: number;
  /** Result of a match: 1 won, -1 lost, 0 drawn or not over; undefined in a game alone. */
  readonly won: number | undefined;
  /** Number of pieces in a row that cleared lines, up to the last one. */
  readonly combo: number;
  /** Number of difficult clears in a row, up to the last clear: of four lines, or by a spin. */
  readonly backToBack: number;
  /** Kind of spin of the last landing. */
  readonly spin: number;
  /** The last special landing in words. */
  readonly deed: string;
}

/** The tally before the first piece. */
export const NOTHING: Tally = { lines: 0, pieces: 0, points: 0, sent: undefined, received: undefined, cancelled: 0, surge: 0, won: undefined, combo: 0, backToBack: 0, spin: 0, deed: "" };

/** The tally of an environment in an answer. */
export function tallyOf({ lines, pieces, episode_return, attack, sent = attack, received, cancelled, surge, won, combo, back_to_back_count, spin }: Infos, at = 0): Tally {
  return {
    lines: lines![at]!,
    pieces: pieces![at]!,
    points: episode_return?.[at] ?? 0,
    sent: sent?.[at],
    received: received?.[at],
    cancelled: cancelled?.[at] ?? 0,
    surge: surge?.[at] ?? 0,
    won: won?.[at],
    combo: combo?.[at] ?? 0,
    backToBack: back_to_back_count?.[at] ?? 0,
    spin: spin?.[at] ?? 0,
    deed: "",
  };
}

/** The tally after a landing, and the landing in words. `isEmpty` says whether the playfield is empty now. */
export function landed(before: Tally, infos: Infos, kind: number, isEmpty: boolean, at = 0): { tally: Tally; deed: string } {
  const after = tallyOf(infos, at);
  const deed = deedInWords(kind, before, after, isEmpty);
  return { tally: { ...after, deed: deed || before.deed }, deed };
}

/** The end of a game to end a sentence with; empty while the game goes on. */
export function endSpoken(words: string | undefined): string {
  return words === undefined ? "" : `, ${words.replace(/\n.*/s, "").toLowerCase()}`;
}

const NUMBERS = ["", "single", "double", "triple", "tetris"];

/** Name of a clear: T-spin double, mini T-spin, triple. Empty for an ordinary landing. */
export function nameOf(kind: number, spin: number, lines: number): string {
  const number = NUMBERS[lines] ?? `${lines} lines`;
  const by = spin === 0 ? "" : `${spin === 1 ? "mini " : ""}${LETTERS[kind] ?? ""}-spin`;
  const name = [by, number].filter((word) => word !== "").join(" ");
  return capital(name);
}

/** Words that begin with a capital letter. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Sent or cancelled lines in words; empty for none. */
export function sentInWords(lines: number, what = "sent"): string[] {
  return lines > 0 ? [`${lines} ${lines === 1 ? "line" : "lines"} ${what}`] : [];
}

/** The end of a game in words: the result of a match with the lines sent, or the lines of a game alone. */
export function endInWords({ won, lines, sent = 0 }: Tally, end = "Topped out"): string {
  return won === undefined ? `${end}\n${grouped(lines)} lines` : `${["Lost", "Draw", "Won"][won + 1]}\n${grouped(sent)} lines sent`;
}

/** A landing in words: `T-spin double, 4 lines sent, back-to-back, combo 3`; in a match also `2 lines cancelled`, `surge of 5`. Empty for an ordinary landing. */
export function deedInWords(kind: number, before: Tally, after: Tally, isEmpty: boolean): string {
  const lines = after.lines - before.lines;
  const name = nameOf(kind, after.spin, lines);
  if (name === "" || after.sent === undefined) {
    return "";
  }
  const cancelled = sentInWords(after.cancelled - before.cancelled, "cancelled");
  const sent = sentInWords(after.sent - (before.sent ?? 0));
  const surge = after.surge > before.surge ? [`surge of ${after.surge - before.surge}`] : [];
  // Players count from the second clear on.
  const links = after.backToBack - 1;
  const chained = lines > 0 && before.backToBack > 0 && links > 0 ? [`back-to-back${links > 1 ? ` ${links}` : ""}`] : [];
  const combo = after.combo > 1 ? [`combo ${after.combo - 1}`] : [];
  return [name, ...(lines > 0 && isEmpty ? ["perfect clear"] : []), ...cancelled, ...sent, ...surge, ...chained, ...combo].join(", ");
}
