// A recorded game in a file or in an address. This file reads and writes it; `course.ts` plays it again.

import { fromBinary, fromJsonString, toBinary, toJsonString } from "@bufbuild/protobuf";

import { type Recording, RecordingSchema } from "../src/protocol.js";
import { isOfTetrominoes } from "./rules.js";

/** Maximum size of a file or of an unpacked link, as in the server's programs. */
const MOST_BYTES = 32 << 20;
/** Maximum length of a game in an address. Browsers and chats cut longer links. */
const MOST_LETTERS = 30_000;

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
    const why = problem instanceof Error ? problem.message : String(problem);
    throw new RangeError(isJson ? `it is not a recording in JSON: ${why}` : `it is neither a recording in JSON, which begins with {, nor one in binary form: ${why}`);
  }
}

/** Throws a `RangeError` with the first reason why the page cannot play a recording under these rules. */
export function checkRecording({ rulesVersion, rules, actions, pieces, outcome, opponent }: Recording, expected: string): void {
  const missing = ([["rules_version", rulesVersion], ["rules", rules], ["pieces", pieces.case], ["outcome", outcome]] as const).find(([, value]) => value === undefined || value === "");
  if (missing !== undefined) {
    throw new RangeError(`${missing[0]} is missing`);
  }
  if (rulesVersion !== expected) {
    throw new RangeError(`rules_version is ${JSON.stringify(rulesVersion.slice(0, 40))}, expected ${JSON.stringify(expected)}: other rules may make another game`);
  }
  if (!isOfTetrominoes(rules)) {
    throw new RangeError("rules.piece_set has pieces that the page cannot draw, expected tetrominoes");
  }
  if ((rules?.players === 2) !== (opponent !== undefined)) {
    throw new RangeError(`opponent is ${opponent === undefined ? "missing" : "set"}, but rules.players is ${rules?.players ?? 1}`);
  }
  if (opponent !== undefined && opponent.actions.length !== actions.length) {
    throw new RangeError(`opponent.actions has ${opponent.actions.length} actions, expected ${actions.length} as in actions`);
  }
}

/** A recording as JSON, for a file. */
export function jsonOf(recording: Recording): string {
  return `${toJsonString(RecordingSchema, recording)}\n`;
}

/** A recording as text for an address; undefined if it is too long for one. */
export async function textOf(recording: Recording): Promise<string | undefined> {
  const packed = await piped(toBinary(RecordingSchema, recording), new CompressionStream("deflate-raw"), MOST_BYTES);
  if (packed.length > MOST_LETTERS * 0.75) {
    return undefined;
  }
  return btoa(packed.reduce((text, byte) => text + String.fromCharCode(byte), "")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Reads the text of an address. Throws a `RangeError` with the problem. */
export async function recordingIn(text: string): Promise<Recording> {
  let bytes: Uint8Array;
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    bytes = await piped(packed, new DecompressionStream("deflate-raw"), MOST_BYTES);
  } catch {
    throw new RangeError("the link is cut or changed: its game cannot be unpacked");
  }
  return recordingOf(bytes);
}

/** The bytes that come out of a transformation, at most `most`. */
async function piped(bytes: Uint8Array, transform: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(transform).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    length += part.value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError(`it has more than ${most} bytes`);
    }
  }
  const whole = new Uint8Array(length);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
