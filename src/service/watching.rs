//! WatchSession: frames of a session for a caller that only reads.
//!
//! A frame is made only when it is due and the connection asks for it. The connection of a slow reader asks less often,
//! so frames are skipped and never queued. Making a frame locks the session for some microseconds, at most
//! [`MAX_FRAMES_PER_SECOND`](tetrion_protocol::limits::MAX_FRAMES_PER_SECOND) times per second, and only if something has
//! changed.
//!
//! Between two frames this file does not hold the session, so it can end as if no caller watched. The next frame then
//! reports the reason.
//!
//! A caller that has not read its last frame for [`ServerLimits::max_unread_time`](super::limits::ServerLimits::max_unread_time)
//! loses its place to the next caller that finds none free. Its stream ends with an error when the connection asks for
//! more.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use metrics::Counter;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_stream::Stream;
use tonic::Status;

use tetrion_core::pool::Party;
use tetrion_protocol::pb::watch_session_response::Event;
use tetrion_protocol::{duration, pb, watching};

use super::answers::Answers;
use super::caller::{Caller, CallerLimits};
use super::refusal::Refusal;
use super::sessions::SessionStore;
use super::watched::Watch;

/// Time without a change after which a frame is sent anyway, so that a viewer knows that the server is alive.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// The messages of one call: `started`, and then frames.
pub struct Frames {
    next: Next,
}

/// A viewer, and its next frame or the reason why it has none.
type ShownFrame = (Box<WatchingCaller>, Result<pb::WatchFrame, Refusal>);

/// The next action of the stream.
enum Next {
    Start(Box<WatchingCaller>, Box<pb::WatchStarted>),
    Wait(Pin<Box<dyn Future<Output = ShownFrame> + Send>>),
    Frame(Box<WatchingCaller>),
    /// Nothing, because the stream has failed.
    Nothing,
}

/// A caller that watches a session, between two frames.
struct WatchingCaller {
    store: Arc<SessionStore>,
    caller: Caller,
    answers: Answers,
    counter: Counter,
    session: String,
    watch: Arc<Watch>,
    /// Most bytes per frame.
    frame_bytes: u64,
    ticks: Interval,
    started: Instant,
    /// The state in the last frame, and the time of that frame.
    shown: Option<(u64, Instant)>,
}

impl Frames {
    /// Starts watching for a caller.
    ///
    /// # Errors
    /// If the request is wrong, the session does not exist, or the limit on watches is reached.
    pub async fn begin(
        store: Arc<SessionStore>,
        (caller, party, limits): (Caller, &Party, CallerLimits),
        answers: Answers,
        counter: Counter,
        request: pb::WatchSessionRequest,
    ) -> Result<Frames, Refusal> {
        let session = store.look(&caller, "session", &request.session)?;
        let max_frames_per_second = watching::decode_rate(request.max_frames_per_second)?;
        let env_ids = watching::decode_envs(request.envs.as_ref(), session.num_envs())?;
        let place = store.take_watch(party, &caller, limits, &answers)?;
        let watch = session.call(|state| state.watch(env_ids, place)).await?;
        let started = pb::WatchStarted {
            session: Some(store.summary(&session)),
            env_ids: watch.env_ids.clone(),
            max_frames_per_second,
        };
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / max_frames_per_second);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let frame_bytes = watching::frame_bytes(watch.env_ids.len(), session.costs().cells());
        drop(session);
        let viewer = WatchingCaller {
            store,
            caller,
            answers,
            counter,
            session: request.session,
            watch,
            frame_bytes,
            ticks,
            started: Instant::now(),
            shown: None,
        };
        Ok(Frames { next: Next::Start(Box::new(viewer), Box::new(started)) })
    }
}

impl WatchingCaller {
    /// Waits until a frame is due, then makes it.
    async fn frame(&mut self) -> Result<pb::WatchFrame, Refusal> {
        loop {
            let place = &self.watch.place;
            if place.lost.is_cancelled() {
                return Err(Refusal::AnswerUnread(place.max_unread()));
            }
            self.ticks.tick().await;
            let session = self.store.look(&self.caller, "session", &self.session)?;
            let (now, sequence_number) = (Instant::now(), session.sequence_number());
            if self.shown.is_some_and(|(shown, at)| shown == sequence_number && now - at < SIGN_OF_LIFE) {
                continue;
            }
            // If unread answers leave no room for this frame, there may be room for a later one.
            let Ok(room) = self.answers.room(self.frame_bytes) else { continue };
            let env_ids = &self.watch.env_ids;
            let (sequence_number, envs) =
                session.call(|state| Ok((state.sequence_number(), state.frame(env_ids)))).await?;
            room.keep();
            self.shown = Some((sequence_number, now));
            self.counter.increment(1);
            return Ok(pb::WatchFrame {
                sequence_number,
                elapsed: duration::encode(now - self.started),
                envs,
            });
        }
    }
}

impl Stream for Frames {
    type Item = Result<pb::WatchSessionResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let event = match std::mem::replace(&mut self.next, Next::Nothing) {
                Next::Start(viewer, started) => {
                    self.next = Next::Frame(viewer);
                    Event::Started(*started)
                }
                Next::Frame(mut viewer) => {
                    self.next = Next::Wait(Box::pin(async move {
                        let frame = viewer.frame().await;
                        (viewer, frame)
                    }));
                    continue;
                }
                Next::Wait(mut waiting) => match waiting.as_mut().poll(cx) {
                    Poll::Pending => {
                        self.next = Next::Wait(waiting);
                        return Poll::Pending;
                    }
                    Poll::Ready((viewer, Ok(frame))) => {
                        self.next = Next::Frame(viewer);
                        Event::Frame(frame)
                    }
                    Poll::Ready((_, Err(refusal))) => return Poll::Ready(Some(Err(refusal.into()))),
                },
                Next::Nothing => return Poll::Ready(None),
            };
            return Poll::Ready(Some(Ok(pb::WatchSessionResponse { event: Some(event) })));
        }
    }
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames").finish_non_exhaustive()
    }
}
