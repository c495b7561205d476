// Tetrion for TypeScript: servers, sessions, and games as typed arrays. README.md has examples.

export { Code } from "@connectrpc/connect";
export type { CallOptions } from "./call.js";
export { type Violation, TetrionError } from "./errors.js";
export { KEYS, type KeyName, type Placement, type PlacementOptions, type Placements, actionOf, keysOf, placementOf } from "./placements.js";
export { type ConnectOptions, type SessionOptions, type TransportFactory, type TransportOptions, Server, connect } from "./server.js";
export {
  type FirstStep,
  type Infos,
  type Observations,
  type Step,
  Session,
} from "./session.js";
export { type Arrays, type ElementType, type TypedArray, elements, elementsOf, tensor } from "./tensors.js";
