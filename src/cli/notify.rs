//! What a server tells the program that started it, where that asks for it: systemd does, with `Type=notify`.
//!
//! So `systemctl start` waits until the server serves, and fails if it cannot. No answer comes back, and a server whose word is
//! lost serves all the same.

/// A state of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It listens, and has the sessions of the previous server.
    Ready,
    /// It drains.
    Stopping,
}

/// Tells the state to the socket that `NOTIFY_SOCKET` names, if that is set.
pub(super) fn notify(state: State) {
    #[cfg(unix)]
    {
        use sd_notify::NotifyState;
        let word = match state {
            State::Ready => NotifyState::Ready,
            State::Stopping => NotifyState::Stopping,
        };
        if let Err(error) = sd_notify::notify(&[word]) {
            tracing::warn!(%error, ?state, "NOTIFY_SOCKET cannot be told; serving all the same");
        }
    }
    #[cfg(not(unix))]
    let _ = state;
}
