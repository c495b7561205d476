//! Reports the server's state to the program that started it, if it asks for that, as systemd does with `Type=notify`.
//!
//! `NOTIFY_SOCKET` names a socket, and each state is one datagram to it. So `systemctl start` waits until the server
//! serves, and fails if it cannot. There is no reply, and a server whose datagram is lost keeps serving.
//!
//! The crate sd-notify 0.5 does not support abstract socket names (`@name`), which containers use.

/// A state of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServingState {
    /// The server listens, and has restored the previous server's sessions.
    Ready,
    /// The server drains: open calls finish, then the process ends.
    Stopping,
}

/// Sends the state, if `NOTIFY_SOCKET` is set.
pub(super) fn notify(state: ServingState) {
    #[cfg(unix)]
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty())
        && let Err(error) = send(state, &socket)
    {
        tracing::warn!(%error, ?state, "cannot notify NOTIFY_SOCKET; serving anyway");
    }
    #[cfg(not(unix))]
    let _ = state;
}

#[cfg(unix)]
fn send(state: ServingState, socket: &std::ffi::OsStr) -> std::io::Result<()> {
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let message: &[u8] = match state {
        ServingState::Ready => b"READY=1",
        ServingState::Stopping => b"STOPPING=1",
    };
    let address = match std::os::unix::ffi::OsStrExt::as_bytes(socket).strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(message, &address)?;
    Ok(())
}
