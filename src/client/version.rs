//! Which servers this client supports.
//!
//! `tetrion.v1` only grows, and every addition raises the `protocol_revision`: the client refuses a server of a lower
//! revision than its own, which does not know all of its fields. `rules_version` says whether equal seeds and actions
//! give the same game; the client accepts a server with other rules, and warns the caller.

use super::error::ClientError;
use super::info::ServerInfo;
use tetrion_core::engine::RULES_VERSION;

/// Checks the facts that a server reports; returns a warning for the caller if its rules differ.
pub(super) fn check(
    address: &str,
    info: &ServerInfo,
    min_revision: u32,
) -> Result<Option<String>, ClientError> {
    let ServerInfo { server_version, rules_version, protocol_revision, .. } = info;
    if *protocol_revision < min_revision {
        return Err(ClientError::Revision {
            address: address.to_owned(),
            version: server_version.clone(),
            got: *protocol_revision,
            expected: min_revision,
        });
    }
    Ok((rules_version != RULES_VERSION).then(|| {
        format!(
            "the server at {address} has the rules version {rules_version}, and this client is made for {RULES_VERSION}: equal \
             seeds and actions may give other games"
        )
    }))
}
