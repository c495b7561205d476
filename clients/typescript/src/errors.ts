// Refusals as values: what the server says about a call that failed, read once and named.
//
// Knows the error details of gRPC (`google.rpc`), and no call. The table of reasons is at the head of
// environment_service.proto. A refused call has changed nothing on the server.

import { Code, ConnectError, type Transport } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RequestInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** A field of a request, and what is wrong with it. */
export interface Violation {
  /** Its path, such as `config.rules.width`. */
  readonly field: string;
  /** What was expected of it. */
  readonly description: string;
}

/** A call that failed: Connect's error with `code` and `rawMessage`, and what this server adds. */
export class TetrionError extends ConnectError {
  /** The server's reason, such as `ILLEGAL_ACTION`; empty if the transport failed. */
  readonly reason: string;
  /** Numbers and names that belong to the reason, such as `{env_ids: "3,17"}`. */
  readonly info: Readonly<Record<string, string>>;
  /** The fields that the server objects to. */
  readonly violations: readonly Violation[];
  /** The id of the call in the server's log; empty if no server answered. */
  readonly requestId: string;

  private constructor(error: ConnectError) {
    super(error.rawMessage, error.code, error.metadata, undefined, error.cause);
    this.name = "TetrionError";
    this.details = error.details;
    const [info] = error.findDetails(ErrorInfoSchema);
    const [request] = error.findDetails(RequestInfoSchema);
    const fields = error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations);
    this.reason = info?.reason ?? "";
    this.info = info?.metadata ?? {};
    this.violations = fields.map(({ field, description }) => ({ field, description }));
    this.requestId = request?.requestId ?? "";
  }

  /** The first field that the server objects to; empty if it names none. */
  get field(): string {
    return this.violations[0]?.field ?? "";
  }

  /** The code by its name in gRPC, such as `INVALID_ARGUMENT`. */
  get codeName(): string {
    return Code[this.code].replace(/(?<!^)([A-Z])/g, "_$1").toUpperCase();
  }

  /** Without this, every error of Connect would pass for one of these. */
  static override [Symbol.hasInstance](value: unknown): value is TetrionError {
    return typeof value === "object" && value !== null && TetrionError.prototype.isPrototypeOf(value);
  }

  /** Anything that was thrown, as one of these. */
  static of(thrown: unknown): TetrionError {
    return thrown instanceof TetrionError ? thrown : new TetrionError(ConnectError.from(thrown));
  }
}

/** A transport that throws a `TetrionError` whenever the other one throws, be it the server's refusal, a lost connection or a signal. */
export function refusing({ unary, stream }: Transport): Transport {
  return {
    unary: (...call) => unary(...call).catch(refuse),
    stream: async (...call) => {
      const response = await stream(...call).catch(refuse);
      return { ...response, message: messages(response.message) };
    },
  };
}

async function* messages<T>(received: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* received;
  } catch (thrown) {
    refuse(thrown);
  }
}

function refuse(thrown: unknown): never {
  throw TetrionError.of(thrown);
}
