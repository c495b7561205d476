// The link to one session: its calls, one after the other, and the number of the last call that changed it.
//
// Calls that change a session are numbered, and the server keeps its last numbered answer. So a call whose answer was lost is sent
// again: the server answers it a second time, but does not do it a second time.

import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError } from "@connectrpc/connect";

import { agree } from "./answers.js";
import { TetrionError } from "./errors.js";
import type { EnvironmentService } from "./protocol.js";
import type { Patience } from "./patience.js";
import type { Call } from "./requests.js";

/** A call on environments, by the name of its method. */
export type Kind = "reset" | "step" | "render" | "enumeratePlacements" | "saveState" | "restoreState";
type Methods = (typeof EnvironmentService)["method"];
/** Request of a call, without the session's name. */
export type RequestOf<K extends Kind> = MessageInitShape<Methods[K]["input"]>;
/** Answer of a call. */
export type AnswerOf<K extends Kind> = MessageShape<Methods[K]["output"]>;

/** Calls that change a session, and so are numbered. */
export const NUMBERED: ReadonlySet<Kind> = new Set(["reset", "step", "restoreState"]);

/** The link to one session. */
export class Link {
  /** Whether the server may have done a call whose answer did not arrive, so that the number must be asked for. */
  isUnsure = false;
  private asking: Promise<void> | undefined;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    readonly environments: Client<typeof EnvironmentService>,
    readonly patience: Patience,
    /** `sessions/ID`. */
    readonly name: string,
    /** Number of the last call that changed the session. */
    public sequenceNumber: bigint,
    /** The revision of the protocol that requests rely on; 0 if any will do. */
    private readonly minRevision: number,
  ) {}

  /** Options of a call of this session for Connect. Proxies that spread sessions over servers read the header. */
  options(call: Call): Call & { headers: Record<string, string> } {
    return { ...call, headers: { "x-session": this.name } };
  }

  /**
   * Makes a call after the earlier ones, again if its answer was lost. The signal ends the wait. A call that changes the session and
   * has been sent still happens, so that the number of the next one is known.
   */
  async call<K extends Kind>(kind: K, request: RequestOf<K>, { signal }: Call): Promise<AnswerOf<K>> {
    const method = this.environments[kind] as (request: object, call: Call) => Promise<AnswerOf<K>>;
    const isNumbered = NUMBERED.has(kind);
    const options = this.options(signal === undefined || isNumbered ? {} : { signal });
    const send = (number: bigint) => this.patience.repeat(() => method(this.addressed(kind, request, number), options), signal);
    const answer = this.inTurn(signal, () => (isNumbered ? this.change(send as (number: bigint) => Promise<AnswerOf<K> & { sequenceNumber: bigint }>) : send(0n)));
    return await unlessAborted(answer, signal);
  }

  private async change<Answer extends { readonly sequenceNumber: bigint }>(send: (number: bigint) => Promise<Answer>): Promise<Answer> {
    if (this.isUnsure) {
      await this.settle();
    }
    const number = this.sequenceNumber + 1n;
    try {
      const answer = await send(number);
      agree("sequence number", answer.sequenceNumber, number);
      this.sequenceNumber = number;
      return answer;
    } catch (thrown) {
      this.isUnsure = !isRefusal(TetrionError.of(thrown));
      throw thrown;
    }
  }

  /** Asks the server for the number of the last call if it is unknown. */
  async settle(): Promise<void> {
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    await this.asking;
  }

  private async ask(): Promise<void> {
    const { session } = await this.patience.repeat(() => this.environments.getSession({ name: this.name }, this.options({})));
    this.sequenceNumber = session?.sequenceNumber ?? this.sequenceNumber;
    this.isUnsure = false;
  }

  /** A request with the session's name and the number of the call; 0 if it is not numbered. */
  addressed<K extends Kind>(kind: K, request: RequestOf<K>, number: bigint): object {
    if (kind === "enumeratePlacements") {
      const { source } = request as RequestOf<"enumeratePlacements">;
      return { ...request, minRevision: this.minRevision, source: { case: "sessionEnvs", value: { ...(source?.value as object), session: this.name } } };
    }
    return { ...request, session: this.name, ...(number > 0n && { sequenceNumber: number }) };
  }

  /** Runs a call when the earlier ones have ended, unless the signal is aborted by then. */
  private async inTurn<Answer>(signal: AbortSignal | undefined, call: () => Promise<Answer>): Promise<Answer> {
    const before = this.turn;
    let done: () => void = () => undefined;
    this.turn = new Promise<void>((resolve) => (done = resolve));
    try {
      await before;
      if (signal?.aborted) {
        throw aborted();
      }
      return await call();
    } finally {
      done();
    }
  }
}

/** Whether the server refused a call, so that it certainly did nothing. */
function isRefusal({ code, reason }: TetrionError): boolean {
  return reason !== "" && code !== Code.Internal;
}

function aborted(): TetrionError {
  return TetrionError.of(new ConnectError("the call was aborted", Code.Canceled));
}

/** Waits for a promise. Throws as soon as the signal is aborted. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) {
    return await promise;
  }
  let stop: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(aborted());
    if (signal.aborted) {
      stop();
    }
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
