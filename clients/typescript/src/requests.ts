// Checks requests before the client sends them: every field exists and can hold its value.
//
// These checks work on any message. They find values that would arrive as something else (NaN as 0, "false" as true) or not at all
// (a misspelt field). The server checks whether the values make sense.

import { type DescField, type DescMessage, type DescOneof, ScalarType } from "@bufbuild/protobuf";

import type { CallOptions } from "./call.js";
import { invalid } from "./errors.js";
import { DataType, EnvIdsSchema } from "./protocol.js";
import { fromPlain } from "./plain.js";
import type { Arrays } from "./tensors.js";

/**
 * Checks a message, or an object to make one from, with its nested messages.
 *
 * @throws TetrionError if the message has no such field, or if a field cannot hold its value.
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
      throw invalid(joined(path, name), noField(schema, name, value));
    } else if (member.kind === "oneof") {
      checkOneof(member, content, path);
    } else {
      checkField(member, content, joined(path, name));
    }
  }
}

/** Checks the arguments of a call, which are fields of a message. Unlike options, none may be left out. */
export function checkArguments(schema: DescMessage, values: object, path = ""): void {
  for (const [name, value] of Object.entries(values)) {
    checkField(schema.fields.find(({ localName }) => localName === name)!, value, joined(path, name));
  }
}

/** The fields of a message from options, checked; `fields` names the field of each option. Other options are left out. */
export function fieldsOf(schema: DescMessage, options: object, fields: Readonly<Record<string, string>>): Record<string, unknown> {
  const present = Object.entries(options).filter(([option, value]) => option in fields && value !== undefined);
  return Object.fromEntries(present.map(([option, value]) => {
    const field = schema.fields.find(({ localName }) => localName === fields[option])!;
    const plain = fromPlain(field, value);
    checkField(field, plain, option);
    return [field.localName, plain];
  }));
}

/** Checks that options are an object with known names. Their values are checked where they are used. */
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

/** Options of a call as Connect takes them. */
export interface Call {
  readonly signal?: AbortSignal;
}

/** Checks the options of a call and returns the ones for Connect. `known` names the options that the call has besides `signal`. */
export function callOptions(options: CallOptions = {}, known: readonly string[] = []): Call {
  checkOptions(options, ["signal", ...known]);
  const { signal } = options;
  if (signal === undefined) {
    return {};
  }
  // A signal from another frame of a page has another class.
  if (typeof (signal as Partial<AbortSignal> | null)?.aborted !== "boolean") {
    throw invalid("signal", `is ${shown(signal)}, expected an AbortSignal`);
  }
  return { signal };
}

/** Whether a value is an object of names and values: no array, no map, no date. */
function isRecord(value: unknown): value is object {
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** Converts an array of integers for a tensor. */
export function int32s(path: string, values: ArrayLike<number>, expected = "an array of integers"): Int32Array {
  if (values instanceof Int32Array) {
    return values;
  }
  if (!Array.isArray(values) && (!ArrayBuffer.isView(values) || values instanceof DataView)) {
    throw invalid(path, `is ${shown(values)}, expected ${expected}`);
  }
  return Int32Array.from(values, (value, at) => {
    checkInteger(`${path}[${at}]`, value, ...INT32);
    return value;
  });
}

/** Element types of tensors that callers write as numbers. */
export type NumberType = DataType.FLOAT64 | DataType.INT32;

/** Converts an array of numbers for a tensor. */
export function numbersOf<D extends NumberType>(path: string, values: readonly number[], dtype: D): Arrays[D] {
  // INT32 is for indices, none of which is negative.
  const check = {
    [DataType.FLOAT64]: (at: string, value: unknown) => checkScalar(ScalarType.DOUBLE, value, at),
    [DataType.INT32]: (at: string, value: unknown) => checkInteger(at, value, 0, INT32[1]),
  }[dtype];
  // `forEach` would skip the gaps of a sparse array.
  for (let at = 0; at < values.length; at++) {
    check(`${path}[${at}]`, values[at]);
  }
  const arrays = { [DataType.FLOAT64]: () => Float64Array.from(values, Number), [DataType.INT32]: () => Int32Array.from(values, Number) };
  return arrays[dtype]() as Arrays[D];
}

/** The environments of a call as requests name them; undefined means all. */
export function envIdsOf(envIds: readonly number[] | undefined): { envs?: { ids: number[] } } {
  if (envIds === undefined) {
    return {};
  }
  if (!Array.isArray(envIds)) {
    throw invalid("envIds", `is ${shown(envIds)}, expected an array of environments, or undefined for all of them`);
  }
  const ids = [...envIds];
  checkField(EnvIdsSchema.field.ids, ids, "envIds");
  return { envs: { ids } };
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
    // `forEach` would skip the gaps of a sparse array.
    for (let at = 0; at < value.length; at++) {
      checkValue(field, value[at], `${path}[${at}]`);
    }
  } else {
    throw invalid(path, `is ${shown(value)}, expected an array`);
  }
}

/** Checks the value of a field, or an element of a repeated field. */
function checkValue({ message, enum: values, scalar }: DescField, value: unknown, path: string): void {
  if (message !== undefined) {
    checkMessage(message, value, path);
  } else if (values === undefined) {
    checkScalar(scalar, value, path);
  } else if (typeof value !== "number") {
    const known = values.values.slice(1).map(({ localName, number }) => `${localName.toLowerCase()} (${number})`);
    throw invalid(path, `is ${shown(value)}, expected one of ${values.name}: ${known.join(", ")}`);
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
      // Other characters would arrive as U+FFFD.
      return expect(typeof value === "string" && !/\p{Surrogate}/u.test(value), "a string of Unicode characters");
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

/** Checks an integer. 64-bit integers are bigints or safe integers. */
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

/** A value as it appears in an error message. */
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "an array" : `an object of ${value.constructor?.name ?? "no class"}`;
  }
  const text = typeof value === "string" ? JSON.stringify(value) : typeof value === "bigint" ? `${value}n` : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

/** Error text for a name that is no field of a message. */
function noField(schema: DescMessage, name: string, message: object): string {
  const inOneof = schema.oneofs.find(({ fields }) => fields.some(({ localName }) => localName === name));
  if (inOneof !== undefined) {
    const { case: other } = (message as Record<string, { case?: string } | undefined>)[inOneof.localName] ?? {};
    return other !== undefined ? `is given with ${other}, expected one of the two` : `is a case of ${inOneof.localName}, expected ${inOneof.localName}: { case: ${JSON.stringify(name)}, value: ... }`;
  }
  return `is no field of ${schema.name}${suggestion(name, schema.members.map(({ localName }) => localName))}`;
}

/** The end of an error text for a wrong name: the most similar known name, and all known names. */
function suggestion(name: string, known: readonly string[]): string {
  const plain = (text: string) => text.toLowerCase().replaceAll("_", "");
  const distances = known.map((other) => [distance(plain(name), plain(other)), other] as const).sort(([a], [b]) => a - b);
  const [[least, closest] = [Infinity, ""]] = distances;
  const meant = least <= Math.max(1, 0.4 * name.length) ? `, did you mean ${closest}?` : ",";
  return `${meant} expected one of ${known.join(", ")}`;
}

/** Edit distance of two words. */
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

/** Whether actions are names. */
export function isTexts(actions: Int32Array | readonly number[] | readonly string[]): actions is readonly string[] {
  return Array.isArray(actions) && typeof actions[0] === "string";
}
