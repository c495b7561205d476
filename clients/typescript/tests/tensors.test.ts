import assert from "node:assert/strict";
import test from "node:test";

import { create } from "@bufbuild/protobuf";

import { elements, elementsOf, tensor } from "../src/index.js";
import { DataType, TensorSchema } from "../src/protocol.js";

test("every element type is read from any offset", () => {
  // The number 1, then the largest or most negative one, little-endian.
  const cases = [
    [DataType.BOOL, [1, 0], [1, 0]],
    [DataType.INT8, [1, 128], [1, -128]],
    [DataType.UINT8, [1, 255], [1, 255]],
    [DataType.INT16, [1, 0, 0, 128], [1, -32768]],
    [DataType.UINT16, [1, 0, 255, 255], [1, 65535]],
    [DataType.INT32, [1, 0, 0, 0, 0, 0, 0, 128], [1, -2147483648]],
    [DataType.UINT32, [1, 0, 0, 0, 255, 255, 255, 255], [1, 4294967295]],
    [DataType.INT64, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0], [1, 2 ** 53]],
    [DataType.UINT64, [1, 0, 0, 0, 0, 0, 0, 0, ...Array<number>(8).fill(255)], [1n, 18446744073709551615n]],
    [DataType.FLOAT32, [0, 0, 128, 63, 0, 0, 0, 192], [1, -2]],
    [DataType.FLOAT64, [0, 0, 0, 0, 0, 0, 240, 63, 0, 0, 0, 0, 0, 0, 0, 192], [1, -2]],
  ] as const;
  for (const [dtype, bytes, expected] of cases) {
    for (let offset = 0; offset < 8; offset++) {
      const message = new Uint8Array([...Array<number>(offset).fill(9), ...bytes, 9]);
      const data = message.subarray(offset, offset + bytes.length);
      const read = elementsOf(create(TensorSchema, { dtype, shape: [2], data }), dtype);
      assert.deepEqual([...read], [...expected], `${DataType[dtype]} at ${offset}`);
    }
  }
});

test("a tensor that contradicts itself is refused", () => {
  const short = create(TensorSchema, { dtype: DataType.INT32, shape: [2], data: new Uint8Array(7) });
  assert.throws(() => elements(short), /shape \[2\] has 7 bytes, expected 8/);
  assert.throws(() => elements(create(TensorSchema, {})), /unknown element type 0/);
  assert.throws(() => elementsOf(short, DataType.BOOL), /expected a tensor of BOOL, found INT32/);
  const large = create(TensorSchema, { dtype: DataType.INT64, shape: [1], data: new Uint8Array([1, 0, 0, 0, 0, 0, 64, 0]) });
  assert.throws(() => elements(large), /a count above 2\^53/);
  assert.throws(() => elementsOf(undefined, DataType.BOOL), /expected a tensor of BOOL, found none/);
});

test("an array that is written is read again", () => {
  const whole = new Float64Array([0, 1, 2, 3, 4, 5]);
  const written = tensor(whole.subarray(2), [2, 2]);
  assert.deepEqual(written.shape, [2, 2]);
  assert.deepEqual([...elementsOf(written, DataType.FLOAT64)], [2, 3, 4, 5]);
  assert.deepEqual(tensor(new BigUint64Array([7n])).dtype, DataType.UINT64);
});
