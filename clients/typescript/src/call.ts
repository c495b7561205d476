// Options that all calls share.

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}
