// Errors of failed calls, whether the server or the client refused them.
//
// This file knows the error details of gRPC (`google.rpc`), but no calls. The table of reasons is at the head of
// environment_service.proto. A refused call has changed nothing on the server.

import { Code, ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RequestInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** A field of a request with an invalid value. */
export interface Violation {
  /** Path of the field as TypeScript spells it, such as `config.numEnvs`. */
  readonly field: string;
  /** The problem, with the expected values. */
  readonly description: string;
}

/** Error of a failed call: Connect's error with `code` and `rawMessage`, plus a reason and the invalid fields. */
export class TetrionError extends ConnectError {
  /**
   * The server's reason, such as `ILLEGAL_ACTION`. The client's own errors have `INVALID_FIELD` if an argument cannot be sent,
   * `INVALID_ANSWER` if the answer does not fit the request, and `REVISION_TOO_OLD` if the server does not know all of the protocol
   * that this package uses. Empty if the transport failed.
   */
  readonly reason: string;
  /** Numbers and names that belong to the reason, such as `{env_ids: "3,17"}`. */
  readonly info: Readonly<Record<string, string>>;
  /** The invalid fields. */
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
    // Paths in the client's own errors are already in TypeScript's spelling.
    const spelled = error.details.some((detail) => "desc" in detail) ? (path: string) => path : inCamelCase;
    this.violations = fields.map(({ field, description }) => ({ field: spelled(field), description }));
    this.requestId = request?.requestId ?? "";
  }

  /** Path of the first invalid field; empty if no field is invalid. */
  get field(): string {
    return this.violations[0]?.field ?? "";
  }

  /** Name of the code in gRPC, such as `INVALID_ARGUMENT`. */
  get codeName(): string {
    return Code[this.code].replace(/(?<!^)([A-Z])/g, "_$1").toUpperCase();
  }

  /** Connect's own check would accept every `ConnectError`. */
  static override [Symbol.hasInstance](value: unknown): value is TetrionError {
    return typeof value === "object" && value !== null && TetrionError.prototype.isPrototypeOf(value);
  }

  /** Converts anything that was thrown into a `TetrionError`. */
  static of(thrown: unknown): TetrionError {
    return thrown instanceof TetrionError ? thrown : new TetrionError(ConnectError.from(thrown));
  }
}

/** Error for an argument that cannot be sent, with the expected values. */
export function invalid(field: string, problem: string): TetrionError {
  const violation = { field, description: problem };
  return described(`${field} ${problem}`, Code.InvalidArgument, "INVALID_FIELD", [violation]);
}

/** Error for an answer that does not fit its request. */
export function unreadable(problem: string): TetrionError {
  return described(`cannot read the server's answer: ${problem}`, Code.Internal, "INVALID_ANSWER");
}

/** Error for a server whose revision of the protocol is too low, with both revisions as the server itself would report them. */
export function tooOld(message: string, expected: number, got: number): TetrionError {
  return described(message, Code.FailedPrecondition, "REVISION_TOO_OLD", [], { expected: String(expected), got: String(got) });
}

function described(message: string, code: Code, reason: string, fieldViolations: Violation[] = [], metadata: Record<string, string> = {}): TetrionError {
  const info = { desc: ErrorInfoSchema, value: { reason, domain: "tetrion.dev", metadata } };
  const fields = { desc: BadRequestSchema, value: { fieldViolations } };
  return TetrionError.of(new ConnectError(message, code, undefined, [info, fields]));
}

function inCamelCase(path: string): string {
  return path.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
