import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { type DescMessage, fromBinary, isMessage } from "@bufbuild/protobuf";

import { elements } from "../src/index.js";
import * as protocol from "../src/protocol.js";
import { DataType, TensorSchema } from "../src/protocol.js";

const KIT = new URL("../../../../conformance/", import.meta.url);

type Json = { [key: string]: Json } | Json[] | string | number | boolean | null;

/** The answer that starts in a line of a file. */
function answer(file: string, line: number): Json {
  const lines = readFileSync(new URL(file, KIT), "utf8").split("\n").slice(line - 1);
  const more = lines.slice(1).findIndex((text) => !text.startsWith(" "));
  return JSON.parse(lines.slice(0, more + 1).join("\n").replace(/^<+/, "")) as Json;
}

/** The type, the shape and the elements of a text such as `float32[2,3] 0*5 -0.5`. */
function read(text: string): [DataType, number[], (number | bigint)[]] {
  const [head = "", ...words] = text.split(" ");
  const [name = "", shape = ""] = head.slice(0, -1).split("[");
  const dtype = DataType[name.toUpperCase() as keyof typeof DataType];
  const number = (word: string) => {
    const float = Number(word.replace("inf", "Infinity"));
    return dtype === DataType.UINT64 ? BigInt(word) : dtype === DataType.FLOAT32 ? Math.fround(float) : float;
  };
  const numbers = words.flatMap((word) => {
    const [value = "", length = "1"] = word.split("*");
    return Array<number | bigint>(Number(length)).fill(number(value));
  });
  return [dtype, shape.split(",").filter(Boolean).map(Number), numbers];
}

/** The part of a message with this name in JSON, which may be one of several kinds. */
function part(message: object, name: string): unknown {
  if (name in message) return message[name as keyof typeof message];
  const kinds = Object.values(message) as unknown[];
  const kind = kinds.find((kind) => typeof kind === "object" && kind !== null && "case" in kind && kind.case === name);
  return (kind as { value: unknown } | undefined)?.value;
}

/** Compares the tensors of a message with their texts, and adds their types to a list. */
function compare(message: unknown, value: Json, where: string, found: DataType[]): void {
  if (isMessage(message, TensorSchema) && typeof value === "string") {
    const [dtype, shape, numbers] = read(value);
    assert.deepEqual([message.dtype, message.shape], [dtype, shape], where);
    assert.deepEqual([...elements(message)], numbers, where);
    found.push(dtype);
  } else if (Array.isArray(message) && Array.isArray(value)) {
    message.forEach((one, index) => compare(one, value[index] ?? null, `${where}[${index}]`, found));
  } else if (typeof message === "object" && message !== null && typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) compare(part(message, name), inner, `${where}: ${name}`, found);
  }
}

test("every recorded answer of the conformance kit has the numbers of its text", () => {
  const found: DataType[] = [];
  for (const line of readFileSync(new URL("answers.txt", KIT), "utf8").trimEnd().split("\n").slice(1)) {
    const [place = "", name = "", data = ""] = line.split(" ");
    const [file = "", number = ""] = place.split(":");
    const schema = protocol[`${name}Schema` as keyof typeof protocol] as unknown as DescMessage;
    const message = fromBinary(schema, Buffer.from(data, "base64"));
    compare(message, answer(file, Number(number)), place, found);
  }
  assert.ok(found.length > 2000, `${found.length} tensors`);
  const { BOOL, INT8, UINT8, UINT16, INT32, UINT32, INT64, UINT64, FLOAT32, FLOAT64 } = DataType;
  const types = [BOOL, INT8, UINT8, UINT16, INT32, UINT32, INT64, UINT64, FLOAT32, FLOAT64];
  assert.deepEqual(new Set(found), new Set(types));
});
