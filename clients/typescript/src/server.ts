// A server: what it is, its sessions, its evaluations.
//
// Knows addresses and tokens, and no transport: Node and browsers bring theirs (`node.ts`, `web.ts`).

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

/** What a transport needs to know. */
export interface TransportOptions {
  /** Such as `http://127.0.0.1:50451`. */
  readonly baseUrl: string;
  /** What happens around every call. */
  readonly interceptors: Interceptor[];
  /** The most bytes of a message from the server, after decompression. */
  readonly readMaxBytes: number;
}

/** Makes the transport of a connection: `grpc` of `tetrion/node`, `grpcWeb` of `tetrion/web`, or one of your own. */
export type TransportFactory = (options: TransportOptions) => Transport;

/** How to connect. */
export interface ConnectOptions {
  /** How calls travel. */
  readonly transport: TransportFactory;
  /** The token that the server expects. */
  readonly token?: string | undefined;
  /**
   * The most bytes of a message that the server may send; 4 MiB, if it is absent. A server sends larger ones only where a request
   * sets its own `maxResponseBytes`.
   */
  readonly maxResponseBytes?: number;
}

/** The most that a server sends unless a request asks for more. */
const DEFAULT_RESPONSE_BYTES = 4 << 20;

/** What a session takes besides its configuration. */
export interface SessionOptions extends CallOptions {
  /** How many seconds the session lives without calls; the server's default, if it is absent. */
  readonly ttl?: number;
}

/**
 * A server. No call is made before the first one that is asked for.
 *
 * @param address `HOST:PORT`, or a URL with `http://` or `https://`, without a path.
 * @throws TypeError if the address is none.
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
  /** The calls on sessions as they are generated. */
  readonly environments: Client<typeof EnvironmentService>;
  /** The calls on evaluations as they are generated. */
  readonly evaluations: Client<typeof EvaluationService>;

  /** Prefer `connect`, which knows about tokens and errors. */
  constructor(transport: Transport) {
    this.environments = createClient(EnvironmentService, transport);
    this.evaluations = createClient(EvaluationService, transport);
  }

  /** What the server is, can do and allows; feature sets are written out for a playfield of `width` columns. */
  async info(width = 10, options?: CallOptions): Promise<GetServerInfoResponse> {
    return await this.environments.getServerInfo({ width }, callOptions(options));
  }

  /** A new session. No episode begins before `reset`. Seeds are bigints: `{numEnvs: 256, seed: 1n}`. */
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

  /** A session that exists already, by its name. Renews its lease. */
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

  /** The sessions of this caller, the oldest first. Renews no lease. */
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

  /** Every placement of positions that are sent along; needs no session. */
  async placements(positions: MessageInitShape<typeof PositionsSchema>, options: PlacementOptions = {}): Promise<Placements> {
    const call = callOptions(options, PLACEMENT_OPTIONS);
    const request = placementsRequest({ case: "positions", value: positions }, options);
    const answer = await this.environments.enumeratePlacements(request, call);
    return placementsOf(answer, numPositionsOf(positions), options);
  }

  /** Shows a session while others step it: `started`, then the newest state of some environments, again and again. */
  async *watch(request: MessageInitShape<typeof WatchSessionRequestSchema>, options?: CallOptions): AsyncGenerator<WatchEvent> {
    checkMessage(WatchSessionRequestSchema, request);
    yield* watched(request, this.environments.watchSession(request, callOptions(options)));
  }

  /** Plays games and yields what comes of them: `started`, `results` and `progress` as they come, the `summary`. */
  async *evaluate(request: MessageInitShape<typeof EvaluatePoliciesRequestSchema>, options?: CallOptions): AsyncGenerator<EvaluationEvent> {
    checkMessage(EvaluatePoliciesRequestSchema, request);
    yield* evaluated(request, this.evaluations.evaluatePolicies(request, callOptions(options)));
  }
}

/** What `HOST:PORT` or a URL says of a server; undefined if it says something else, or more. */
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

/** Seconds as a message. */
function durationOf(name: string, seconds: number): MessageInitShape<typeof DurationSchema> {
  const nanos = typeof seconds === "number" ? Math.round(seconds * 1e9) : NaN;
  if (!Number.isSafeInteger(nanos)) {
    throw invalid(name, `is ${String(seconds)}, expected a number of seconds, at most 9007199`);
  }
  return { seconds: BigInt(Math.trunc(nanos / 1e9)), nanos: nanos % 1e9 };
}
