// A server: its description, its sessions and its evaluations.
//
// This file knows addresses and tokens, but no transport. Those are in `node.ts` and `web.ts`.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DurationSchema } from "@bufbuild/protobuf/wkt";
import { type Client, type Interceptor, type Transport, createClient } from "@connectrpc/connect";

import { agree } from "./answers.js";
import type { CallOptions } from "./call.js";
import { invalid, unreadable } from "./errors.js";
import { type EvaluationEvent, evaluated } from "./evaluation.js";
import {
  EnvironmentService,
  type GetServerInfoResponse,
  type PositionsSchema,
  type SessionConfigSchema,
  type Session as SessionMessage,
  WatchSessionRequestSchema,
} from "./gen/tetrion/v1/environment_service_pb.js";
import { EvaluatePoliciesRequestSchema, EvaluationService } from "./gen/tetrion/v1/evaluation_service_pb.js";
import { PLACEMENT_OPTIONS, type PlacementOptions, type Placements, numPositionsOf, placementsOf, placementsRequest } from "./placements.js";
import { callOptions, checkMessage, checkOptions } from "./requests.js";
import { Session } from "./session.js";
import { guarded } from "./transport.js";
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
export type TransportFactory = (options: TransportOptions) => Transport;

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
}

/** Maximum size of an answer, unless the request sets another one. */
const DEFAULT_RESPONSE_BYTES = 4 << 20;

/** Options of a new session besides its configuration. */
export interface SessionOptions extends CallOptions {
  /** Lifetime of the session without calls, in seconds; the server's default if absent. */
  readonly ttl?: number;
}

/**
 * Creates a client of a server. It connects with the first call.
 *
 * @param address `HOST:PORT`, or a URL with `http://` or `https://`, without a path.
 * @throws TypeError if the address, the transport or the token cannot be used.
 */
export function connect(address: string, options: ConnectOptions): Server {
  checkOptions(options, ["transport", "token", "maxResponseBytes"]);
  const { transport, token, maxResponseBytes = DEFAULT_RESPONSE_BYTES } = options;
  const origin = originOf(address);
  if (origin === undefined) {
    throw new TypeError(`the address is ${JSON.stringify(address)}, expected HOST:PORT, or http:// or https:// before it`);
  }
  if (!Number.isInteger(maxResponseBytes) || maxResponseBytes < 1 || maxResponseBytes > 0xffffffff) {
    throw new TypeError(`maxResponseBytes is ${maxResponseBytes}, expected an integer from 1 to ${0xffffffff}`);
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
  return new Server(guarded(transport({ baseUrl: origin, interceptors: [identify], readMaxBytes: maxResponseBytes })));
}

/** A server. Every failed call throws a `TetrionError`. */
export class Server {
  /** Generated client of the environment service. */
  readonly environments: Client<typeof EnvironmentService>;
  /** Generated client of the evaluation service. */
  readonly evaluations: Client<typeof EvaluationService>;

  /** Use `connect` instead, which adds tokens and checks. */
  constructor(transport: Transport) {
    this.environments = createClient(EnvironmentService, transport);
    this.evaluations = createClient(EvaluationService, transport);
  }

  /** Description of the server: its version, capabilities and limits. Feature sets list their columns for a playfield of this width. */
  async info(width = 10, options?: CallOptions): Promise<GetServerInfoResponse> {
    return await this.environments.getServerInfo({ width }, callOptions(options));
  }

  /** Creates a session. Episodes begin with `reset`. Seeds are bigints: `{numEnvs: 256, seed: 1n}`. */
  async session(config: MessageInitShape<typeof SessionConfigSchema> = {}, options: SessionOptions = {}): Promise<Session> {
    const call = callOptions(options, ["ttl"]);
    const { ttl } = options;
    const request = { config, ...(ttl !== undefined && { ttl: durationOf("ttl", ttl) }) };
    const session = this.opened((await this.environments.createSession(request, call)).session);
    agree("number of environments", session.numEnvs, config.numEnvs ?? 1);
    const { observationSpecs, infoSpecs } = session.description;
    for (const [kind, wanted, specs] of [["observations", config.observationFields, observationSpecs], ["infos", config.infoFields, infoSpecs]] as const) {
      if (wanted?.length) {
        agree(kind, String(specs.map(({ name }) => name)), String(wanted));
      }
    }
    return session;
  }

  /** Opens an existing session by its name, and renews its lease. */
  async open(name: string, options?: CallOptions): Promise<Session> {
    const session = this.opened((await this.environments.getSession({ name }, callOptions(options))).session);
    agree("session", session.name, name);
    return session;
  }

  private opened(session: SessionMessage | undefined): Session {
    if (session === undefined) {
      throw unreadable("it has no session");
    }
    return new Session(this.environments, session);
  }

  /** Sessions of this caller, the oldest first. Renews no lease. */
  async *sessions(options?: CallOptions): AsyncGenerator<SessionMessage> {
    let pageToken = "";
    do {
      const page = await this.environments.listSessions({ pageToken }, callOptions(options));
      yield* page.sessions;
      if (page.nextPageToken !== "" && page.nextPageToken === pageToken) {
        throw unreadable("its next page is the same page");
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }

  /** Every placement of the given positions. Needs no session. */
  async placements(positions: MessageInitShape<typeof PositionsSchema>, options: PlacementOptions = {}): Promise<Placements> {
    const call = callOptions(options, PLACEMENT_OPTIONS);
    const request = placementsRequest({ case: "positions", value: positions }, options);
    const answer = await this.environments.enumeratePlacements(request, call);
    return placementsOf(answer, numPositionsOf(positions), options);
  }

  /** Watches a session while other clients step it: `started`, then frames with the newest state of some environments. */
  async *watch(request: MessageInitShape<typeof WatchSessionRequestSchema>, options?: CallOptions): AsyncGenerator<WatchEvent> {
    checkMessage(WatchSessionRequestSchema, request);
    yield* watched(request, this.environments.watchSession(request, callOptions(options)));
  }

  /** Plays games and yields events: `started`, then `results` and `progress`, then the `summary`. */
  async *evaluate(request: MessageInitShape<typeof EvaluatePoliciesRequestSchema>, options?: CallOptions): AsyncGenerator<EvaluationEvent> {
    checkMessage(EvaluatePoliciesRequestSchema, request);
    yield* evaluated(request, this.evaluations.evaluatePolicies(request, callOptions(options)));
  }
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

/** Seconds as a `Duration`. */
function durationOf(name: string, seconds: number): MessageInitShape<typeof DurationSchema> {
  const nanos = typeof seconds === "number" ? Math.round(seconds * 1e9) : NaN;
  if (!Number.isSafeInteger(nanos)) {
    throw invalid(name, `is ${String(seconds)}, expected a number of seconds, at most 9007199`);
  }
  return { seconds: BigInt(Math.trunc(nanos / 1e9)), nanos: nanos % 1e9 };
}
