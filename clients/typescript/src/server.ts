// A server: what it is, its sessions, its evaluations.
//
// Knows addresses and tokens, and no transport: Node and browsers bring theirs (`node.ts`, `web.ts`).

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client, type Interceptor, type Transport, createClient } from "@connectrpc/connect";

import type { CallOptions } from "./call.js";
import { refusing } from "./errors.js";
import {
  CreateSessionRequestSchema,
  EnvironmentService,
  type GetServerInfoResponse,
  type PositionsSchema,
  type SessionConfigSchema,
  type Session as SessionMessage,
  type WatchSessionRequestSchema,
  type WatchSessionResponse,
} from "./gen/tetrion/v1/environment_service_pb.js";
import {
  type EvaluatePoliciesRequestSchema,
  type EvaluatePoliciesResponse,
  EvaluationService,
} from "./gen/tetrion/v1/evaluation_service_pb.js";
import { type PlacementOptions, type Placements, placementsOf, placementsRequest } from "./placements.js";
import { Session } from "./session.js";

/** What a transport needs to know. */
export interface TransportOptions {
  /** Such as `http://127.0.0.1:50451`. */
  readonly baseUrl: string;
  /** What happens around every call. */
  readonly interceptors: Interceptor[];
}

/** Makes the transport of a connection: `grpc` of `tetrion/node`, `grpcWeb` of `tetrion/web`, or one of your own. */
export type TransportFactory = (options: TransportOptions) => Transport;

/** How to connect. */
export interface ConnectOptions {
  /** How calls travel. */
  readonly transport: TransportFactory;
  /** The token that the server expects. */
  readonly token?: string | undefined;
}

/** What a session takes besides its configuration. */
export interface SessionOptions extends CallOptions {
  /** How many seconds the session lives without calls; the server's default, if it is absent. */
  readonly ttl?: number;
}

/**
 * A server. No call is made before the first one that is asked for.
 *
 * @param address `HOST:PORT`, or a URL with `http://` or `https://`.
 * @throws TypeError if the address is none.
 */
export function connect(address: string, { transport, token }: ConnectOptions): Server {
  const url = new URL(/^https?:\/\//.test(address) ? address : `http://${address}`);
  const identify: Interceptor = (next) => (request) => {
    if (token !== undefined) {
      request.header.set("authorization", `Bearer ${token}`);
    }
    return next(request);
  };
  return new Server(refusing(transport({ baseUrl: url.origin, interceptors: [identify] })));
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
    return await this.environments.getServerInfo({ width }, options);
  }

  /** A new session. No episode begins before `reset`. Seeds are bigints: `{numEnvs: 256, seed: 1n}`. */
  async session(config: MessageInitShape<typeof SessionConfigSchema> = {}, options: SessionOptions = {}): Promise<Session> {
    const { ttl, ...call } = options;
    const request = create(CreateSessionRequestSchema, { config });
    if (ttl !== undefined) {
      const seconds = Math.trunc(ttl);
      request.ttl = { $typeName: "google.protobuf.Duration", seconds: BigInt(seconds), nanos: Math.round((ttl - seconds) * 1e9) };
    }
    const { session } = await this.environments.createSession(request, call);
    return new Session(this.environments, session!);
  }

  /** A session that exists already, by its name. Renews its lease. */
  async open(name: string, options?: CallOptions): Promise<Session> {
    const { session } = await this.environments.getSession({ name }, options);
    return new Session(this.environments, session!);
  }

  /** The sessions of this caller, the oldest first. Renews no lease. */
  async *sessions(options?: CallOptions): AsyncGenerator<SessionMessage> {
    let pageToken = "";
    do {
      const page = await this.environments.listSessions({ pageToken }, options);
      yield* page.sessions;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }

  /** Every placement of positions that are sent along; needs no session. */
  async placements(positions: MessageInitShape<typeof PositionsSchema>, options: PlacementOptions = {}): Promise<Placements> {
    const { signal } = options;
    const request = placementsRequest({ case: "positions", value: positions }, options);
    return placementsOf(await this.environments.enumeratePlacements(request, signal && { signal }));
  }

  /** Shows a session while others step it: `started`, then the newest state of some environments, again and again. */
  async *watch(
    request: MessageInitShape<typeof WatchSessionRequestSchema>,
    options?: CallOptions,
  ): AsyncGenerator<Exclude<WatchSessionResponse["event"], { case: undefined }>> {
    for await (const { event } of this.environments.watchSession(request, options)) {
      if (event.case !== undefined) {
        yield event;
      }
    }
  }

  /** Plays games and yields what comes of them: `started`, `results` and `progress` as they come, the `summary`. */
  async *evaluate(
    request: MessageInitShape<typeof EvaluatePoliciesRequestSchema>,
    options?: CallOptions,
  ): AsyncGenerator<Exclude<EvaluatePoliciesResponse["event"], { case: undefined }>> {
    for await (const { event } of this.evaluations.evaluatePolicies(request, options)) {
      if (event.case !== undefined) {
        yield event;
      }
    }
  }
}
