//! The revision of the protocol, which tells how many additions to `tetrion.v1` a program knows.

use super::DecodeError;

/// The revision that this program implements. Every addition to `proto/tetrion/v1` raises it by 1, and the comment of
/// the addition says "since revision N".
pub const PROTOCOL_REVISION: u32 = 1;

/// Refuses a request that needs a higher revision.
///
/// # Errors
/// [`DecodeError::RevisionTooOld`] if this program does not implement `min_revision`.
pub fn check(min_revision: u32) -> Result<(), DecodeError> {
    if min_revision > PROTOCOL_REVISION {
        return Err(DecodeError::RevisionTooOld { expected: PROTOCOL_REVISION, got: min_revision });
    }
    Ok(())
}
