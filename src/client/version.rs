//! Which servers this client supports.
//!
//! The program's version says whether both sides read messages in the same way: versions with the same major number
//! do, and, while the major number is 0, versions with the same minor number. `rules_version` says whether equal
//! seeds and actions give the same game. The client refuses a server of an incompatible version; it accepts one with
//! other rules, and warns the caller.

use super::error::ClientError;
use super::info::ServerInfo;
use crate::engine::RULES_VERSION;

/// The version of this client.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether two versions of the program understand each other.
///
/// ```
/// use tetrion::client::is_compatible;
/// assert!(is_compatible("1.4.0", "1.0.2"));
/// assert!(!is_compatible("1.4.0", "2.0.0"));
/// assert!(is_compatible("0.1.0", "0.1.7"));
/// assert!(!is_compatible("0.1.0", "0.2.0"));
/// assert!(!is_compatible("0.1.0", "unknown"));
/// ```
pub fn is_compatible(ours: &str, theirs: &str) -> bool {
    let significant = |version: &str| {
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
        let major = numbers.next()??;
        let minor = numbers.next()??;
        Some((major, if major == 0 { minor } else { 0 }))
    };
    significant(ours).is_some() && significant(ours) == significant(theirs)
}

/// Checks the facts that a server reports; returns a warning for the caller if its rules differ.
pub(super) fn check(
    address: &str,
    info: &ServerInfo,
    any_version: bool,
) -> Result<Option<String>, ClientError> {
    let ServerInfo { server_version, rules_version, .. } = info;
    if !any_version && !is_compatible(VERSION, server_version) {
        let (address, server) = (address.to_owned(), server_version.clone());
        return Err(ClientError::Version { address, server, client: VERSION });
    }
    Ok((rules_version != RULES_VERSION).then(|| {
        format!(
            "the server at {address} has the rules version {rules_version}, and this client is made for {RULES_VERSION}: equal \
             seeds and actions may give other games"
        )
    }))
}
