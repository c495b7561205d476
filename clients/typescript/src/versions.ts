// Which servers this package is made for.
//
// The protocol only grows, and every addition raises its revision: a server of a lower revision than this package does not know all
// of its fields, and is refused.

import { tooOld } from "./errors.js";
import { type GetServerInfoResponse, PROTOCOL_REVISION } from "./protocol.js";

/** Version of this package. */
export const VERSION = "0.1.0";

/**
 * Compares the revision of a server with that of this package.
 *
 * @throws TetrionError if the server's revision is lower.
 */
export function checkRevision(address: string, { serverVersion, protocolRevision }: GetServerInfoResponse): void {
  if (protocolRevision < PROTOCOL_REVISION) {
    const server = `the server at ${address} is Tetrion ${serverVersion} with protocol_revision ${protocolRevision}`;
    throw tooOld(`${server}, and this package, Tetrion ${VERSION}, needs ${PROTOCOL_REVISION}; use a newer server`, protocolRevision, PROTOCOL_REVISION);
  }
}
