// Which servers this package is made for.
//
// The protocol only grows, and every addition raises its revision: a server of a lower revision than this package does not know all
// of its fields, and is refused. The rules version decides whether equal seeds and actions give the same game: the package uses a
// server with another one, and warns the caller.

import { tooOld } from "./errors.js";
import type { GetServerInfoResponse } from "./protocol.js";

/** Version of this package. */
export const VERSION = "0.1.0";

/** Version of the rules that this package is made for. */
export const RULES_VERSION = "tetrion-rules-1";

/**
 * Compares the versions of a server with those that this package expects.
 *
 * @returns A warning for the caller if the server plays by other rules.
 * @throws TetrionError if the server's revision is lower than `minRevision`.
 */
export function checkVersions(address: string, { serverVersion, protocolRevision, rulesVersion }: GetServerInfoResponse, minRevision: number): string | undefined {
  if (protocolRevision < minRevision) {
    const server = `the server at ${address} is Tetrion ${serverVersion} with protocol_revision ${protocolRevision}`;
    throw tooOld(`${server}, and this package, Tetrion ${VERSION}, needs ${minRevision}; use a newer server`, protocolRevision, minRevision);
  }
  if (rulesVersion !== RULES_VERSION) {
    return `the server at ${address} has the rules version ${rulesVersion}, and this package is made for ${RULES_VERSION}: equal seeds and actions may give other games`;
  }
  return undefined;
}
