// Tetrion for TypeScript: clients, sessions, and games as typed arrays. README.md has examples.

export { Code } from "@connectrpc/connect";
export type { CallOptions, EnvOptions } from "./call.js";
export { type ConnectOptions, type CatalogOptions, type TransportFactory, type TransportOptions, type WatchOptions, Client, connect } from "./client.js";
export { type Violation, TetrionError } from "./errors.js";
export type { Estimates, Estimation, Evaluation, EvaluationEvent, Games } from "./evaluation.js";
export type { EvaluationOptions, Policy, SessionOptions, Weights } from "./options.js";
export { type ActionDigits, decodeAction, encodeAction } from "./digits.js";
export type { History, HistoryPoint, Spread } from "./history.js";
export { KEYS, type KeyName, type Placement, type PlacementOptions, type Placements, keysOf, placementOf } from "./placements.js";
export type { FeaturesLike, Positions, RulesLike, Search } from "./plain.js";
export type { DrawnSeeds } from "./seeding.js";
export { type FirstStep, type Infos, type Observations, type RenderOptions, type ResetOptions, type RestoreStateOptions, type Step, Session } from "./session.js";
export { type Arrays, type ElementType, type TypedArray, elements, elementsOf, tensor } from "./tensors.js";
export type { ClosableTransport } from "./transport.js";
export { VERSION } from "./versions.js";
export type { WatchEvent } from "./watching.js";
