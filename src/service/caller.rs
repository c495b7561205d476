//! Callers: the owners of sessions, who share the server's resources.

use std::sync::Arc;

use tonic::Extensions;

use tetrion_core::pool::Party;

use super::refusal::Scope;

/// The caller of a call, identified by the name of its token. Without named tokens, all calls have the same caller.
///
/// The layer around the calls stores it in the extensions of a request with a named token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caller(Option<Arc<str>>);

impl Caller {
    /// The caller whose token has this name.
    pub fn named(name: &str) -> Caller {
        Caller(Some(name.into()))
    }

    /// The caller of the request with these extensions.
    pub fn of(extensions: &Extensions) -> Caller {
        extensions.get().cloned().unwrap_or_default()
    }

    /// The party for fair sharing: the caller if its token has a name, else its connection.
    pub fn party(self, connection: Party) -> Party {
        self.0.map_or(connection, Party::Token)
    }

    /// The scope in errors about a limit of this caller.
    pub(super) fn scope(&self) -> Scope {
        self.0.as_ref().map_or(Scope::Connection, |name| Scope::Token(name.clone()))
    }

    /// The name of the token; empty if the server has no named tokens.
    pub fn name(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Limits of one caller. Where one is `None`, only the server's own limits apply.
///
/// Like [`Caller`], they are in the extensions of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerLimits {
    pub max_sessions: Option<u32>,
    /// Most environments, in all sessions of the caller.
    pub max_envs: Option<u32>,
    pub max_evaluations: Option<u32>,
    /// Most concurrent calls that watch sessions.
    pub max_watches: Option<u32>,
}

impl CallerLimits {
    /// The limits of the caller of the request with these extensions.
    pub fn of(extensions: &Extensions) -> CallerLimits {
        extensions.get().copied().unwrap_or_default()
    }
}

/// The party that shares threads and places with others: the caller if the server has named tokens, else the
/// connection.
pub(super) fn party_of(extensions: &Extensions) -> Party {
    Caller::of(extensions).party(extensions.get().cloned().unwrap_or_default())
}
