// Failed calls as values: the server's refusal, read once and named, or the client's own.
//
// Knows the error details of gRPC (`google.rpc`), and no call. The table of reasons is at the head of
// environment_service.proto. A refused call has changed nothing on the server.

import { Code, ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RequestInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** A field of a request, and what is wrong with it. */
export interface Violation {
  /** Its path as TypeScript spells it, such as `config.numEnvs`. */
  readonly field: string;
  /** What was expected of it. */
  readonly description: string;
}

/** A call that failed: Connect's error with `code` and `rawMessage`, a reason and the fields at fault. */
export class TetrionError extends ConnectError {
  /**
   * The server's reason, such as `ILLEGAL_ACTION`; `INVALID_FIELD` too for an argument that no request can hold, and
   * `INVALID_ANSWER` for an answer that does not fit its request. Empty if the transport failed.
   */
  readonly reason: string;
  /** Numbers and names that belong to the reason, such as `{env_ids: "3,17"}`. */
  readonly info: Readonly<Record<string, string>>;
  /** The fields at fault. */
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
    // The client's own are spelled as their caller did.
    const spelled = error.details.some((detail) => "desc" in detail) ? (path: string) => path : inCamelCase;
    this.violations = fields.map(({ field, description }) => ({ field: spelled(field), description }));
    this.requestId = request?.requestId ?? "";
  }

  /** The first field at fault; empty if there is none. */
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

/** An argument that no request can hold, and what was expected. Nothing was sent. */
export function invalid(field: string, problem: string): TetrionError {
  const violation = { field, description: problem };
  return described(`${field} ${problem}`, Code.InvalidArgument, "INVALID_FIELD", [violation]);
}

/** An answer that does not fit its request. */
export function unreadable(problem: string): TetrionError {
  return described(`cannot read the server's answer: ${problem}`, Code.Internal, "INVALID_ANSWER");
}

function described(message: string, code: Code, reason: string, fieldViolations: Violation[] = []): TetrionError {
  const info = { desc: ErrorInfoSchema, value: { reason, domain: "tetrion" } };
  const fields = { desc: BadRequestSchema, value: { fieldViolations } };
  return TetrionError.of(new ConnectError(message, code, undefined, [info, fields]));
}

function inCamelCase(path: string): string {
  return path.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
