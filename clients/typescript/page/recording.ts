// A recorded game in a file or in an address. This file reads and writes it; `course.ts` plays it again.

import { fromBinary, fromJsonString, toBinary, toJsonString } from "@bufbuild/protobuf";

import { type Recording, RecordingSchema, type Rules } from "../src/protocol.js";
import { isOfTetrominoes } from "./rules.js";
import { APART, RULES_FIELDS, type RulesField } from "./rules_fields.js";

/** Maximum size of a file or of an unpacked link, as in the server's programs. */
const MOST_BYTES = 32 << 20;
/** Maximum length of a game in an address. Browsers and chats cut longer links. */
const MOST_LETTERS = 30_000;
/** Maximum size of a text for people, in bytes. */
const MOST_TEXT = 200;

/** Reads a file, in JSON or in binary form. Throws a `RangeError` with the problem. */
export function recordingOf(bytes: Uint8Array): Recording {
  if (bytes.length === 0 || bytes.length > MOST_BYTES) {
    throw new RangeError(`it has ${bytes.length} bytes, expected a recording of at most ${MOST_BYTES}`);
  }
  const start = bytes.find((byte) => ![0x20, 0x09, 0x0a, 0x0d].includes(byte));
  const isJson = start === "{".charCodeAt(0);
  try {
    return isJson ? fromJsonString(RecordingSchema, new TextDecoder("utf-8", { fatal: true }).decode(bytes)) : fromBinary(RecordingSchema, bytes);
  } catch (problem) {
    // A message may quote the file.
    const why = (problem instanceof Error ? problem.message : String(problem)).slice(0, 200);
    throw new RangeError(isJson ? `it is not a recording in JSON: ${why}` : `it is neither a recording in JSON, which begins with {, nor one in binary form: ${why}`);
  }
}

/** Throws a `RangeError` with the first reason why the page cannot play a recording under these rules. */
export function checkRecording(recording: Recording, expected: string): void {
  const { rulesVersion, rules, actions, pieces, outcome, opponent, start, player, origin } = recording;
  const needed = [["rules_version", rulesVersion || undefined], ["rules", rules], ["pieces", pieces.case], ["outcome", outcome], ["opponent.outcome", opponent === undefined || opponent.outcome]] as const;
  const missing = needed.find(([, value]) => value === undefined);
  if (missing !== undefined) {
    throw new RangeError(`${missing[0]} is missing`);
  }
  if (rulesVersion !== expected) {
    throw new RangeError(`rules_version is ${JSON.stringify(rulesVersion.slice(0, 40))}, expected ${JSON.stringify(expected)}: other rules may make another game`);
  }
  if (!isOfTetrominoes(rules)) {
    throw new RangeError("rules.piece_set has pieces that the page cannot draw, expected tetrominoes");
  }
  const isMatch = rules?.players === 2;
  if (isMatch !== (opponent !== undefined)) {
    throw new RangeError(`opponent is ${opponent === undefined ? "missing" : "set"}, but rules.players is ${rules?.players ?? 1}`);
  }
  if (isMatch && start !== undefined) {
    throw new RangeError("start is set, but a match begins with empty playfields");
  }
  if (opponent !== undefined && opponent.actions.length !== actions.length) {
    throw new RangeError(`opponent.actions has ${opponent.actions.length} actions, expected ${actions.length} as in actions`);
  }
  for (const [name, text] of [["player", player], ["origin", origin], ["opponent.player", opponent?.player ?? ""]] as const) {
    if (new TextEncoder().encode(text).length > MOST_TEXT || /\p{C}/u.test(text)) {
      throw new RangeError(`${name} is no text of at most ${MOST_TEXT} bytes without control characters`);
    }
  }
}

/** Throws a `RangeError` if a recording leaves fields of its rules to the server, which has these rules in mind. */
export function checkRules(recorded: Rules, full: Rules): void {
  const texts = ({ read }: RulesField): [string, string] => [read(recorded), read(full)];
  const fields = [
    ...APART.map((name): [string, [string, string]] => [name, [String(recorded[name] ?? ""), String(full[name] ?? "")]]),
    ...RULES_FIELDS.map((field): [string, [string, string]] => [field.path, texts(field)]),
  ];
  const other = fields.find(([, [written, meant]]) => written !== meant);
  if (other !== undefined) {
    throw new RangeError(`rules.${other[0]} is ${other[1][0] || "missing"}, expected ${other[1][1] || "nothing"}: a recording has every field of its rules`);
  }
}

/** A recording as JSON, for a file. */
export function jsonOf(recording: Recording): string {
  return `${toJsonString(RecordingSchema, recording)}\n`;
}

/** A recording as text for an address; undefined if it is too long for one, or if the browser cannot pack it. */
export async function textOf(recording: Recording): Promise<string | undefined> {
  if (typeof CompressionStream === "undefined") {
    return undefined;
  }
  const packed = await piped(toBinary(RecordingSchema, recording), new CompressionStream("deflate-raw"));
  if (packed.length > MOST_LETTERS * 0.75) {
    return undefined;
  }
  return btoa(packed.reduce((text, byte) => text + String.fromCharCode(byte), "")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Reads the text of an address. Throws a `RangeError` with the problem. */
export async function recordingIn(text: string): Promise<Recording> {
  if (typeof DecompressionStream === "undefined") {
    throw new RangeError("this browser cannot unpack links: open the game's file instead");
  }
  let bytes: Uint8Array;
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    bytes = await piped(packed, new DecompressionStream("deflate-raw"));
  } catch (problem) {
    throw problem instanceof RangeError ? problem : new RangeError("the link is cut or changed: its game cannot be unpacked");
  }
  return recordingOf(bytes);
}

/** The bytes that come out of a transformation. Throws a `RangeError` if they are too many. */
async function piped(bytes: Uint8Array, transform: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(transform).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    length += part.value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw new RangeError(`it has more than ${MOST_BYTES} bytes`);
    }
  }
  const whole = new Uint8Array(length);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
