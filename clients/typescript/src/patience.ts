// Patience with a server that went away: a call without an answer is made again until the server answers or the time is up.
//
// Only calls that can be repeated come here: they change nothing, or their requests are numbered or named.

import { Code } from "@connectrpc/connect";

import { TetrionError } from "./errors.js";

/** Milliseconds of the first and of the longest pause between two attempts. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [20, 1000];

/** How long the calls of a client wait for a server that went away. A server that has never answered is not waited for. */
export class Patience {
  private hasAnswered = false;

  constructor(private readonly seconds: number) {}

  /** Makes a call, again if no server answered. */
  async repeat<Answer>(call: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    const waiting = this.begin();
    for (;;) {
      try {
        const answer = await call();
        this.hasAnswered = true;
        return answer;
      } catch (thrown) {
        const error = TetrionError.of(thrown);
        this.hasAnswered ||= error.requestId !== "";
        await waiting.wait(error, signal);
      }
    }
  }

  /** Begins to wait, at the first failure. */
  begin(): Waiting {
    return new Waiting(() => (this.hasAnswered ? this.seconds : 0));
  }
}

/** The wait of one call for a server that went away. */
export class Waiting {
  private deadline: number | undefined;
  private pause = FIRST_PAUSE;

  constructor(private readonly seconds: () => number) {}

  /** Waits before another attempt, a little longer each time. Throws the error if another attempt cannot help, or if the time is up. */
  async wait(error: TetrionError, signal?: AbortSignal): Promise<void> {
    const now = performance.now();
    this.deadline ??= now + 1000 * this.seconds();
    if (!isLost(error) || now >= this.deadline || signal?.aborted) {
      throw error;
    }
    await sleep(Math.min(this.pause, this.deadline - now), signal);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }
}

/** Whether no server answered a call, or one that is shutting down, so that making it again may help. */
export function isLost({ code, reason, requestId }: TetrionError): boolean {
  return reason === "DRAINING" || (reason === "" && requestId === "" && [Code.Unavailable, Code.Aborted, Code.Unknown, Code.Internal].includes(code));
}

/** Waits, or until the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });
}
