// What every call takes.

/** What any call takes. */
export interface CallOptions {
  /** Ends the call early. */
  readonly signal?: AbortSignal;
}
