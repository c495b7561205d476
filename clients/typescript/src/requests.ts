// Requests before they leave: every field exists, and every value is one that its field can hold.
//
// Knows kinds of messages, and no particular one. Which values make sense is the server's business. These checks find what
// would arrive as something else (NaN as 0, "false" as true) or not at all (a misspelt field).

import { type DescField, type DescMessage, type DescOneof, ScalarType } from "@bufbuild/protobuf";

import type { CallOptions } from "./call.js";
import { invalid } from "./errors.js";

/**
 * Checks a message, or what one is made of, with everything in it.
 *
 * @throws TetrionError if it has a field that such messages lack, or a value that its field cannot hold.
 */
export function checkMessage(schema: DescMessage, value: unknown, path = ""): void {
  if (!isRecord(value)) {
    throw invalid(path || "the request", `is ${shown(value)}, expected an object with the fields of ${schema.name}`);
  }
  for (const [name, content] of Object.entries(value)) {
    const member = schema.members.find(({ localName }) => localName === name);
    if (name === "$typeName" && content !== schema.typeName) {
      throw invalid(path || "the request", `is a message of ${shown(content)}, expected ${schema.typeName}`);
    } else if (name.startsWith("$") || content === undefined) {
      continue; // protobuf's own, or left out
    } else if (member === undefined) {
      throw invalid(joined(path, name), noField(schema, name));
    } else if (member.kind === "oneof") {
      checkOneof(member, content, path);
    } else {
      checkField(member, content, joined(path, name));
    }
  }
}

/** Checks that options are an object with known names; their values are checked where they are used. */
export function checkOptions(options: unknown, known: readonly string[]): void {
  if (!isRecord(options)) {
    throw invalid("options", `is ${shown(options)}, expected an object with ${known.join(", ")}`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw invalid(name, `is no option${suggestion(name, known)}`);
    }
  }
}

/** The options of a call, checked; `known` names the ones that a call has besides `signal`, and that Connect must not see. */
export function callOptions(options: CallOptions = {}, known: readonly string[] = []): CallOptions {
  checkOptions(options, ["signal", ...known]);
  const { signal } = options;
  if (signal === undefined) {
    return {};
  }
  // Not by its class: a page may have the signal of another frame.
  if (typeof (signal as Partial<AbortSignal> | null)?.aborted !== "boolean") {
    throw invalid("signal", `is ${shown(signal)}, expected an AbortSignal`);
  }
  return { signal };
}

/** Whether a value is an object of names and values: no array, no map, no date. */
function isRecord(value: unknown): value is object {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** Integers for a tensor, whatever array holds them. */
export function int32s(path: string, values: ArrayLike<number>): Int32Array {
  if (values instanceof Int32Array) {
    return values;
  }
  if (!Array.isArray(values) && !ArrayBuffer.isView(values)) {
    throw invalid(path, `is ${shown(values)}, expected an array of integers`);
  }
  return Int32Array.from(values as ArrayLike<number>, (value, at) => {
    checkInteger(`${path}[${at}]`, value, ...INT32);
    return value;
  });
}

/** The environments of a call: undefined for all of them. An empty list would be all of them too, and is refused: its caller selected none. */
export function envIdsOf(envIds: readonly number[] | undefined): { envIds?: number[] } {
  if (envIds === undefined) {
    return {};
  }
  const expected = "expected an array with at least one environment, or undefined for all of them";
  if (!Array.isArray(envIds)) {
    throw invalid("envIds", `is ${shown(envIds)}, ${expected}`);
  }
  if (envIds.length === 0) {
    throw invalid("envIds", `is empty, ${expected}`);
  }
  return { envIds: [...envIds] };
}

function checkOneof({ localName, fields }: DescOneof, content: unknown, path: string): void {
  const { case: chosen, value } = (content ?? {}) as { case?: unknown; value?: unknown };
  const field = fields.find((known) => known.localName === chosen);
  if (field !== undefined && value !== undefined) {
    checkField(field, value, joined(path, field.localName));
  } else if (chosen !== undefined || value !== undefined || !isRecord(content)) {
    const cases = fields.map((known) => known.localName).join(", ");
    throw invalid(joined(path, localName), `is ${shown(content)}, expected { case, value } with one of the cases ${cases}`);
  }
}

function checkField(field: DescField, value: unknown, path: string): void {
  if (field.fieldKind !== "list") {
    checkValue(field, value, path);
  } else if (Array.isArray(value)) {
    // Not `forEach`, which passes over the gaps of an array.
    for (let at = 0; at < value.length; at++) {
      checkValue(field, value[at], `${path}[${at}]`);
    }
  } else {
    throw invalid(path, `is ${shown(value)}, expected an array`);
  }
}

/** Checks the value of a field, or one of its list. */
function checkValue({ message, enum: values, scalar }: DescField, value: unknown, path: string): void {
  if (message !== undefined) {
    checkMessage(message, value, path);
  } else if (values === undefined) {
    checkScalar(scalar, value, path);
  } else if (typeof value !== "number") {
    const known = values.values.slice(1).map(({ localName, number }) => `${localName} (${number})`);
    throw invalid(path, `is ${shown(value)}, expected a number of ${values.name}: ${known.join(", ")}`);
  } else {
    checkInteger(path, value, ...INT32);
  }
}

type Range = readonly [low: number | bigint, high: number | bigint];
const INT32: Range = [-2147483648, 2147483647];
const UINT32: Range = [0, 4294967295];
const INT64: Range = [-9223372036854775808n, 9223372036854775807n];
const UINT64: Range = [0n, 18446744073709551615n];

function checkScalar(type: ScalarType | undefined, value: unknown, path: string): void {
  const expect = (fits: boolean, expected: string) => {
    if (!fits) {
      throw invalid(path, `is ${shown(value)}, expected ${expected}`);
    }
  };
  switch (type) {
    case ScalarType.BOOL:
      return expect(typeof value === "boolean", "true or false");
    case ScalarType.STRING:
      return expect(typeof value === "string", "a string");
    case ScalarType.BYTES:
      return expect(value instanceof Uint8Array, "a Uint8Array");
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return expect(Number.isFinite(value), "a finite number");
    case ScalarType.INT32:
      return checkInteger(path, value, ...INT32);
    case ScalarType.UINT32:
      return checkInteger(path, value, ...UINT32);
    case ScalarType.INT64:
      return checkInteger(path, value, ...INT64);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return checkInteger(path, value, ...UINT64);
    default:
      throw invalid(path, "has a type that this client does not know");
  }
}

/** Checks an integer. Those of 64 bits are bigints, or numbers that are exact. */
function checkInteger(path: string, value: unknown, low: number | bigint, high: number | bigint): void {
  const isWide = typeof high === "bigint";
  const isInteger = Number.isSafeInteger(value) || (isWide && typeof value === "bigint");
  if (!isInteger || (value as number | bigint) < low || (value as number | bigint) > high) {
    throw invalid(path, `is ${shown(value)}, expected ${isWide ? "a bigint" : "an integer"} from ${low} to ${high}`);
  }
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** A value as an error quotes it. */
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "an array" : `an object of ${value.constructor?.name ?? "no class"}`;
  }
  const text = typeof value === "string" ? JSON.stringify(value) : typeof value === "bigint" ? `${value}n` : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

/** Why a name is no field of a message. */
function noField(schema: DescMessage, name: string): string {
  const inOneof = schema.oneofs.find(({ fields }) => fields.some(({ localName }) => localName === name));
  if (inOneof !== undefined) {
    return `is a case of ${inOneof.localName}, expected ${inOneof.localName}: { case: ${JSON.stringify(name)}, value: ... }`;
  }
  return `is no field of ${schema.name}${suggestion(name, schema.members.map(({ localName }) => localName))}`;
}

/** What follows a wrong name: the known one that was probably meant, and all of them. */
function suggestion(name: string, known: readonly string[]): string {
  const plain = (text: string) => text.toLowerCase().replaceAll("_", "");
  const distances = known.map((other) => [distance(plain(name), plain(other)), other] as const).sort(([a], [b]) => a - b);
  const [[least, closest] = [Infinity, ""]] = distances;
  const meant = least <= Math.max(1, 0.4 * name.length) ? `, did you mean ${closest}?` : ",";
  return `${meant} expected one of ${known.join(", ")}`;
}

/** How many letters must be added, removed or changed to get from one word to another. */
function distance(from: string, to: string): number {
  let row = [...Array(to.length + 1).keys()];
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === to[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length]!;
}
