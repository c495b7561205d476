// Tetrion for TypeScript: clients, sessions, and games as typed arrays. README.md has examples.

export { Code } from "@connectrpc/connect";
export type { CallOptions, EnvOptions } from "./call.js";
export { type ConnectOptions, type CatalogOptions, type TransportFactory, type TransportOptions, type WatchOptions, Client, connect } from "./client.js";
export { type Violation, TetrionError } from "./errors.js";
export type { Evaluation, EvaluationEvent, Games } from "./evaluation.js";
export type { EvaluationOptions, SeedRange, SessionOptions } from "./options.js";
export { KEYS, type KeyName, type Placement, type PlacementOptions, type Placements, actionOf, keysOf, placementOf } from "./placements.js";
export type { Agent, Expectation, FeaturesLike, Mlp, NTuple, Positions, RulesLike } from "./plain.js";
export { type FirstStep, type Infos, type Observations, type RenderOptions, type ResetOptions, type RestoreStateOptions, type Step, Session } from "./session.js";
export { type Arrays, type ElementType, type TypedArray, elements, elementsOf, tensor } from "./tensors.js";
export type { ClosableTransport } from "./transport.js";
export type { WatchEvent } from "./watching.js";
