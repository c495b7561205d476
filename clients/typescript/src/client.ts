/// <reference lib="esnext.disposable" preserve="true" />

// A client of a server: its description, its sessions and its evaluations.
//
// This file knows addresses and tokens, but no transport. Those are in `node.ts` and `web.ts`.

import { type Client as GeneratedClient, type Interceptor, createClient } from "@connectrpc/connect";

import { agree } from "./answers.js";
import type { CallOptions } from "./call.js";
import { unreadable } from "./errors.js";
import { type Estimation, type Evaluation, type EvaluationEvent, evaluated, gathered, gatheredEstimates } from "./evaluation.js";
import {
  DeleteSessionRequestSchema,
  EnvironmentService,
  EvaluationService,
  GetCatalogRequestSchema,
  GetPolicyRequestSchema,
  type GetCatalogResponse,
  type GetPolicyResponse,
  type GetServerInfoResponse,
  GetHistoryRequestSchema,
  GetSessionRequestSchema,
  GetTaskRequestSchema,
  type GetTaskResponse,
  PROTOCOL_REVISION,
  ScoreTaskRequestSchema,
  type ScoreTaskResponse,
  type Session as SessionMessage,
  WatchSessionRequestSchema,
} from "./protocol.js";
import { type History, historyOf } from "./history.js";
import { Link } from "./link.js";
import { EVALUATION_OPTIONS, type EvaluationOptions, SESSION_OPTIONS, type SessionOptions, evaluationRequest, sessionRequest } from "./options.js";
import { Patience } from "./patience.js";
import { PLACEMENT_OPTIONS, type PlacementOptions, type Placements, numPositionsOf, placementsOf, placementsRequest, positionsOf } from "./placements.js";
import type { Positions } from "./plain.js";
import { type Call, callOptions, checkArguments, checkMessage, checkOptions, envIdsOf, int32s, isTexts } from "./requests.js";
import { Session } from "./session.js";
import { type ClosableTransport, guarded } from "./transport.js";
import { checkVersions } from "./versions.js";
import { type WatchEvent, watched } from "./watching.js";

/** Options of a transport. */
export interface TransportOptions {
  /** Address of the server, such as `http://127.0.0.1:50451`. */
  readonly baseUrl: string;
  /** Functions that wrap every call. */
  readonly interceptors: Interceptor[];
  /** Maximum size of a message from the server in bytes, after decompression. */
  readonly readMaxBytes: number;
}

/** Makes the transport of a connection: `grpc` of `tetrion/node`, `grpcWeb` of `tetrion/web`, or your own function. */
export type TransportFactory = (options: TransportOptions) => ClosableTransport;

/** Options of `connect`. */
export interface ConnectOptions {
  /** Makes the transport that carries the calls. */
  readonly transport: TransportFactory;
  /** The token that the server expects. */
  readonly token?: string | undefined;
  /**
   * Maximum size of a message from the server in bytes; 4 MiB by default. A server sends larger messages only if a request sets a
   * larger `maxResponseBytes`.
   */
  readonly maxResponseBytes?: number;
  /**
   * Seconds to wait for a server that went away; 60 by default. Calls without an answer are made again, except evaluations and
   * watched sessions; a call that changes a session is done once. A server that has never answered is given up at once.
   */
  readonly patience?: number;
  /**
   * Whether to use the server even if it does not know all of the protocol that this package uses; false by default. It refuses what
   * it does not know.
   */
  readonly anyVersion?: boolean;
  /** Called with a warning, once, if the server plays by another `rulesVersion` than this package is made for; `console.warn` by default. */
  readonly onWarning?: (message: string) => void;
}

/** Names of the options of `evaluateAll` and `estimateAll`, except `signal` and `trials`. */
const GATHERED_OPTIONS = EVALUATION_OPTIONS.filter((option) => option !== "includeRecordings" && option !== "lossEstimation");

/** Seconds to wait for a server that went away. */
const DEFAULT_PATIENCE = 60;

/** Maximum size of an answer, unless the request sets another one. */
const DEFAULT_RESPONSE_BYTES = 4 << 20;

/**
 * Creates a client of a server. It connects with the first call, which fails with the reason `REVISION_TOO_OLD` if the server does
 * not know all of the protocol that this package uses, unless `anyVersion` is set.
 *
 * @param address `HOST:PORT`, or a URL with `http://` or `https://`, without a path.
 * @throws TypeError if the address or an option cannot be used.
 */
export function connect(address: string, options: ConnectOptions): Client {
  checkOptions(options, ["transport", "token", "maxResponseBytes", "patience", "anyVersion", "onWarning"]);
  const { transport, token, maxResponseBytes = DEFAULT_RESPONSE_BYTES, patience = DEFAULT_PATIENCE, anyVersion = false, onWarning = console.warn } = options;
  const origin = originOf(address);
  if (origin === undefined) {
    throw new TypeError(`the address is ${JSON.stringify(address)}, expected HOST:PORT, or http:// or https:// before it`);
  }
  if (!Number.isInteger(maxResponseBytes) || maxResponseBytes < 1 || maxResponseBytes > 0xffffffff) {
    throw new TypeError(`maxResponseBytes is ${maxResponseBytes}, expected an integer from 1 to ${0xffffffff}`);
  }
  if (!(Number.isFinite(patience) && patience >= 0)) {
    throw new TypeError(`patience is ${patience}, expected seconds, 0 or more`);
  }
  if (typeof anyVersion !== "boolean") {
    throw new TypeError(`anyVersion is ${JSON.stringify(anyVersion)}, expected true or false`);
  }
  if (typeof onWarning !== "function") {
    throw new TypeError(`onWarning is ${String(onWarning)}, expected a function that takes a message`);
  }
  if (typeof transport !== "function") {
    throw new TypeError(`transport is ${String(transport)}, expected grpc of tetrion/node, grpcWeb of tetrion/web, or a function like them`);
  }
  // Without the token in it: an error may end up in a log.
  if (token !== undefined && !(typeof token === "string" && /^[ -~]*$/.test(token))) {
    throw new TypeError("token is not a string of printable ASCII characters, as headers carry them");
  }
  const identify: Interceptor = (next) => (request) => {
    if (token !== undefined) {
      request.header.set("authorization", `Bearer ${token}`);
    }
    return next(request);
  };
  const guardedTransport = guarded(transport({ baseUrl: origin, interceptors: [identify], readMaxBytes: maxResponseBytes }));
  return new Client(address, guardedTransport, patience, anyVersion ? 0 : PROTOCOL_REVISION, onWarning);
}

/** Options of `catalog`. */
export interface CatalogOptions extends CallOptions {
  /** Width of the playfield for which feature sets list their columns; 10 by default. */
  readonly width?: number;
}

/** Options of `watchSession`. */
export interface WatchOptions extends CallOptions {
  /** The environments to watch; undefined means all, or as many as the server allows, an empty list none. */
  readonly envIds?: readonly number[] | undefined;
  /** Maximum number of frames per second; 20 by default. */
  readonly maxFramesPerSecond?: number | undefined;
}

/** A client of one server. Every failed call throws a `TetrionError`. */
export class Client {
  /** Generated client of the environment service. */
  readonly environments: GeneratedClient<typeof EnvironmentService>;
  /** Generated client of the evaluation service. */
  readonly evaluations: GeneratedClient<typeof EvaluationService>;
  private readonly patience: Patience;
  private isChecked = false;

  /** Use `connect` instead, which adds tokens and checks. */
  constructor(
    private readonly address: string,
    private readonly transport: Required<ClosableTransport>,
    patience: number,
    private readonly minRevision: number,
    private readonly onWarning: (message: string) => void,
  ) {
    this.patience = new Patience(patience);
    this.environments = createClient(EnvironmentService, transport);
    this.evaluations = createClient(EvaluationService, transport);
  }

  /** Description of the server: its versions, and its limits, which are those of this client and may change. */
  async serverInfo(options?: CallOptions): Promise<GetServerInfoResponse> {
    const call = callOptions(options);
    const info = await this.patience.repeat(() => this.environments.getServerInfo({}, call), call.signal);
    const warning = checkVersions(this.address, info, this.minRevision);
    if (warning !== undefined && !this.isChecked) {
      this.onWarning(warning);
    }
    this.isChecked = true;
    return info;
  }

  /** Asks the server for its versions, before the first call. */
  private async checkServer(call: Call): Promise<void> {
    if (!this.isChecked) {
      await this.serverInfo(call);
    }
  }

  /** Names that the server knows: presets, pieces, features, fields and policies. */
  async catalog(options: CatalogOptions = {}): Promise<GetCatalogResponse> {
    const call = callOptions(options, ["width"]);
    const { width = 0 } = options;
    const request = { width };
    checkMessage(GetCatalogRequestSchema, request);
    return await this.repeat(() => this.environments.getCatalog(request, call), call);
  }

  /** A policy of the server with every default filled in: a controller with its weights. `evaluate` takes it as it is. */
  async getPolicy(name: string, options?: CallOptions): Promise<GetPolicyResponse> {
    const call = callOptions(options);
    checkArguments(GetPolicyRequestSchema, { name });
    return await this.repeat(() => this.environments.getPolicy({ name }, call), call);
  }

  /** A task whose best possible score is known. `RestoreState` takes its `state` as a snapshot. */
  async getTask(split: string, index: number, options?: CallOptions): Promise<GetTaskResponse> {
    const call = callOptions(options);
    checkArguments(GetTaskRequestSchema, { split, index });
    return await this.repeat(() => this.environments.getTask({ split, index }, call), call);
  }

  /** The score of a task: of the actions from its start on, as numbers or as names that `step` reads, or of a formula. */
  async scoreTask(split: string, index: number, answer: Int32Array | readonly number[] | readonly string[] | string, options?: CallOptions): Promise<ScoreTaskResponse> {
    const call = callOptions(options);
    const answered = () => {
      if (typeof answer === "string") {
        return { formula: { text: answer } };
      }
      return isTexts(answer) ? { textActions: [...answer] } : { actions: [...int32s("answer", answer, "an array of actions, or a formula")] };
    };
    const request = { split, index, ...answered() };
    checkArguments(ScoreTaskRequestSchema, request);
    return await this.repeat(() => this.environments.scoreTask(request, call), call);
  }

  /** Creates a session. Episodes begin with `reset`. Seeds are bigints: `{ numEnvs: 256, seed: 1n }`. */
  async createSession(options: SessionOptions = {}): Promise<Session> {
    const call = callOptions(options, SESSION_OPTIONS);
    const request = { ...sessionRequest(options, this.minRevision), requestId: randomId() };
    const session = this.opened((await this.repeat(() => this.environments.createSession(request, call), call)).session);
    agree("number of environments", session.numEnvs, options.numEnvs ?? 1);
    const { observationSpecs, infoSpecs } = session.description;
    for (const [kind, wanted, specs] of [["observations", options.observations, observationSpecs], ["infos", options.infos, infoSpecs]] as const) {
      if (wanted !== undefined) {
        agree(kind, String(specs.map(({ name }) => name)), String(wanted));
      }
    }
    return session;
  }

  private async repeat<Answer>(send: () => Promise<Answer>, call: Call): Promise<Answer> {
    await this.checkServer(call);
    return await this.patience.repeat(send, call.signal);
  }

  /** Returns an existing session by its name, and renews its lease. */
  async getSession(name: string, options?: CallOptions): Promise<Session> {
    const call = callOptions(options);
    checkArguments(GetSessionRequestSchema, { name });
    const session = this.opened((await this.repeat(() => this.environments.getSession({ name }, call), call)).session);
    agree("session", session.name, name);
    return session;
  }

  private opened(session: SessionMessage | undefined): Session {
    if (session === undefined) {
      throw unreadable("it has no session");
    }
    return new Session(new Link(this.environments, this.patience, session.name, session.sequenceNumber, this.minRevision), session);
  }

  /** Lists the sessions of this caller, the oldest first. Renews no lease. */
  async *listSessions(options?: CallOptions): AsyncGenerator<SessionMessage> {
    const call = callOptions(options);
    let pageToken = "";
    do {
      const page = await this.repeat(() => this.environments.listSessions({ pageToken }, call), call);
      yield* page.sessions;
      if (page.nextPageToken !== "" && page.nextPageToken === pageToken) {
        throw unreadable("its next page is the same page");
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }

  /** Ends a session by its name. A session that has already ended is no error. */
  async deleteSession(name: string, options?: CallOptions): Promise<void> {
    const call = callOptions(options);
    checkArguments(DeleteSessionRequestSchema, { name });
    await this.repeat(() => this.environments.deleteSession({ name, allowMissing: true }, call), call);
  }

  /** Lists every placement of the given positions. Needs no session. */
  async enumeratePlacements(positions: Positions, options: PlacementOptions = {}): Promise<Placements> {
    const call = callOptions(options, PLACEMENT_OPTIONS);
    const value = positionsOf(positions);
    const request = { ...placementsRequest({ case: "positions", value }, options), minRevision: this.minRevision };
    const answer = await this.repeat(() => this.environments.enumeratePlacements(request, call), call);
    return placementsOf(answer, numPositionsOf(value), options);
  }

  /** Watches a session while other clients step it: `started`, then frames with the newest state of some environments. */
  async *watchSession(name: string, options: WatchOptions = {}): AsyncGenerator<WatchEvent> {
    const call = callOptions(options, ["envIds", "maxFramesPerSecond"]);
    const { envIds, maxFramesPerSecond } = options;
    const request = { session: name, ...envIdsOf(envIds), ...(maxFramesPerSecond !== undefined && { maxFramesPerSecond }) };
    checkArguments(WatchSessionRequestSchema, request);
    await this.checkServer(call);
    yield* watched(request, this.environments.watchSession(request, call));
  }

  /** The learning curve of a session: its finished episodes, thinned to at most 256 points. Renews no lease. */
  async getHistory(name: string, options?: CallOptions): Promise<History> {
    const call = callOptions(options);
    checkMessage(GetHistoryRequestSchema, { session: name });
    return historyOf(await this.repeat(() => this.environments.getHistory({ session: name }, call), call));
  }

  /** Plays games and waits for all of them. */
  async evaluateAll(options: Omit<EvaluationOptions, "includeRecordings" | "lossEstimation"> = {}): Promise<Evaluation> {
    const call = callOptions(options, GATHERED_OPTIONS);
    const request = evaluationRequest(options, this.minRevision);
    await this.checkServer(call);
    return await gathered(evaluated(request, this.evaluations.evaluatePolicies(request, call)));
  }

  /** Estimates how long games last instead of playing them, with so many trials at each height, and waits for all estimates. */
  async estimateAll(options: Omit<EvaluationOptions, "includeRecordings" | "lossEstimation"> & { readonly trials: number }): Promise<Estimation> {
    const call = callOptions(options, ["trials", ...GATHERED_OPTIONS]);
    const { trials } = options;
    const request = evaluationRequest({ ...options, lossEstimation: { trials } }, this.minRevision);
    await this.checkServer(call);
    return await gatheredEstimates(evaluated(request, this.evaluations.evaluatePolicies(request, call)));
  }

  /** Plays games and yields events: `started`, then `results` (or `estimates`) and `progress`, then the `summary`. */
  async *evaluate(options: EvaluationOptions = {}): AsyncGenerator<EvaluationEvent> {
    const call = callOptions(options, EVALUATION_OPTIONS);
    const request = evaluationRequest(options, this.minRevision);
    await this.checkServer(call);
    yield* evaluated(request, this.evaluations.evaluatePolicies(request, call));
  }

  /** Ends all calls and the connection. Later calls fail. Sessions stay until they are closed or their lease runs out. */
  close(): void {
    this.transport.close();
  }

  /** Closes the client, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

/** A random name for a request. Pages without TLS have no `crypto.randomUUID`. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Origin of a server from `HOST:PORT` or a URL; undefined if the text is neither, or has a path or a user. */
function originOf(address: unknown): string | undefined {
  try {
    const text = String(address);
    const url = new URL(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
    const isServer = typeof address === "string" && ["http:", "https:"].includes(url.protocol) && url.href === `${url.origin}/`;
    return isServer ? url.origin : undefined;
  } catch {
    return undefined;
  }
}
