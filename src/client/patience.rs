//! How calls are made: their deadline, and how long to wait for a server that went away.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::ClientError;

/// The pause after the first loss of a call; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Decides at each loss of a call on a session whether to wait for the server. The flag says whether it is the call's first
/// loss.
pub type OnLoss = Arc<dyn Fn(&ClientError, bool) -> bool + Send + Sync>;

/// How calls are made.
#[derive(Clone)]
#[non_exhaustive]
pub struct CallSettings {
    /// How long to keep trying while no server answers.
    pub patience: Duration,
    /// How long the answer to a call may take; `None` for ever. Evaluations and streams have no limit.
    pub timeout: Option<Duration>,
    /// Who decides whether to wait; without one, a call waits as long as `patience`.
    pub on_loss: Option<OnLoss>,
}

impl CallSettings {
    /// Calls whose answers may take half a minute.
    pub fn new(patience: Duration) -> CallSettings {
        CallSettings { patience, timeout: Some(Duration::from_secs(30)), on_loss: None }
    }
}

impl fmt::Debug for CallSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallSettings { patience, timeout, on_loss: _ } = self;
        f.debug_struct("CallSettings")
            .field("patience", patience)
            .field("timeout", timeout)
            .finish_non_exhaustive()
    }
}

/// How long one call has waited for a server that went away.
#[derive(Debug)]
pub(super) struct Patience {
    /// `None` before the first loss.
    deadline: Option<Instant>,
    pause: Duration,
}

impl Patience {
    /// The clock starts at the first loss, not now.
    pub(super) fn new() -> Patience {
        Patience { deadline: None, pause: FIRST_PAUSE }
    }

    /// Waits after a loss, each time a little longer.
    ///
    /// # Errors
    /// The error given, if the patience has run out or `on_loss` does not want to wait.
    pub(super) async fn after(
        &mut self,
        error: ClientError,
        settings: &CallSettings,
    ) -> Result<(), ClientError> {
        let (now, is_first) = (Instant::now(), self.deadline.is_none());
        let deadline = *self.deadline.get_or_insert(now + settings.patience);
        let waits = |on_loss: &OnLoss| on_loss(&error, is_first);
        if now >= deadline || !settings.on_loss.as_ref().is_none_or(waits) {
            return Err(error);
        }
        tokio::time::sleep(self.pause.min(deadline - now)).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
