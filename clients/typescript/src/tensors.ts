// Tensors as typed arrays, and back.
//
// A tensor is little-endian bytes without alignment. Every browser and every platform of Node is little-endian, so an array is a
// view of the message's bytes, or a copy if they are not aligned. A view keeps the whole message in memory.

import { create } from "@bufbuild/protobuf";

import { DataType, type Tensor, TensorSchema } from "./protocol.js";

/**
 * Array type of each element type. Booleans are bytes, 0 or 1. INT64 holds counts, at most 2^53, which a number holds exactly;
 * UINT64 holds seeds, as bigints.
 */
export interface Arrays {
  [DataType.BOOL]: Uint8Array;
  [DataType.INT8]: Int8Array;
  [DataType.UINT8]: Uint8Array;
  [DataType.INT16]: Int16Array;
  [DataType.UINT16]: Uint16Array;
  [DataType.INT32]: Int32Array;
  [DataType.UINT32]: Uint32Array;
  [DataType.INT64]: Float64Array;
  [DataType.UINT64]: BigUint64Array;
  [DataType.FLOAT32]: Float32Array;
  [DataType.FLOAT64]: Float64Array;
}

/** An element type that a tensor can have. */
export type ElementType = keyof Arrays;

/** Any of the arrays. */
export type TypedArray = Arrays[ElementType];

/** The arrays whose bytes are those of a tensor. */
const CONSTRUCTORS = {
  [DataType.BOOL]: Uint8Array,
  [DataType.INT8]: Int8Array,
  [DataType.UINT8]: Uint8Array,
  [DataType.INT16]: Int16Array,
  [DataType.UINT16]: Uint16Array,
  [DataType.INT32]: Int32Array,
  [DataType.UINT32]: Uint32Array,
  [DataType.INT64]: BigInt64Array,
  [DataType.UINT64]: BigUint64Array,
  [DataType.FLOAT32]: Float32Array,
  [DataType.FLOAT64]: Float64Array,
} as const;

/** The element type of a tensor that is made from an array. */
const TYPES: readonly (readonly [new (length: number) => TypedArray, DataType])[] = [
  [Uint8Array, DataType.UINT8],
  [Int8Array, DataType.INT8],
  [Int16Array, DataType.INT16],
  [Uint16Array, DataType.UINT16],
  [Int32Array, DataType.INT32],
  [Uint32Array, DataType.UINT32],
  [BigUint64Array, DataType.UINT64],
  [Float32Array, DataType.FLOAT32],
  [Float64Array, DataType.FLOAT64],
];

/**
 * The elements of a tensor of any type, row by row.
 *
 * @throws TypeError if the number of bytes does not fit the type and the shape, or if a number cannot hold a count.
 */
export function elements(tensor: Tensor): TypedArray {
  const constructor = CONSTRUCTORS[tensor.dtype as ElementType] as typeof CONSTRUCTORS[ElementType] | undefined;
  if (constructor === undefined) {
    throw new TypeError(`a tensor has the unknown element type ${tensor.dtype}`);
  }
  const size = constructor.BYTES_PER_ELEMENT;
  const count = countOf(tensor.shape);
  const { data } = tensor;
  if (data.byteLength !== count * size) {
    throw new TypeError(`a tensor of shape [${tensor.shape}] has ${data.byteLength} bytes, expected ${count * size}`);
  }
  // Typed arrays refuse an offset that is not a multiple of the element size.
  const { buffer, byteOffset } = data.byteOffset % size === 0 ? data : new Uint8Array(data);
  const array = new constructor(buffer as ArrayBuffer, byteOffset, count);
  return array instanceof BigInt64Array ? exact(array) : array;
}

/** Counts as numbers. */
function exact(counts: BigInt64Array): Float64Array {
  const numbers = Float64Array.from(counts, Number);
  if (!numbers.every((number) => Math.abs(number) <= 2 ** 53)) {
    throw new TypeError("a tensor holds a count above 2^53");
  }
  return numbers;
}

/**
 * The elements of a tensor that must be present and have this type.
 *
 * @throws TypeError if the tensor is absent or has another type.
 */
export function elementsOf<D extends ElementType>(tensor: Tensor | undefined, dtype: D): Arrays[D] {
  if (tensor?.dtype !== dtype) {
    const found = tensor === undefined ? "none" : DataType[tensor.dtype];
    throw new TypeError(`expected a tensor of ${DataType[dtype]}, found ${found}`);
  }
  return elements(tensor) as Arrays[D];
}

/** An array of zeros. */
export function zeros<D extends ElementType>(dtype: D, length: number): Arrays[D] {
  return new (dtype === DataType.INT64 ? Float64Array : CONSTRUCTORS[dtype])(length) as unknown as Arrays[D];
}

/**
 * An array as a tensor, by default a vector. The bytes are not copied.
 *
 * @throws TypeError if a tensor cannot hold such an array, or if the shape has another number of elements.
 */
export function tensor(array: TypedArray, shape: readonly number[] = [array.length]): Tensor {
  const entry = TYPES.find(([constructor]) => array instanceof constructor);
  if (entry === undefined) {
    throw new TypeError(`the array is no typed array that a tensor can hold, expected one of ${TYPES.map(([{ name }]) => name).join(", ")}`);
  }
  if (!shape.every((length) => Number.isInteger(length) && length >= 0) || countOf(shape) !== array.length) {
    throw new TypeError(`the shape is [${shape}], expected one with the ${array.length} elements of the array`);
  }
  const data = new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
  return create(TensorSchema, { dtype: entry[1], shape: [...shape], data });
}

function countOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}
