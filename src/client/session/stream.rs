//! Steps over one long call.

use std::collections::VecDeque;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::{Session, Stepped};
use crate::ClientError;
use crate::connection::CALL_TIMEOUT;
use crate::error::{error, lost};
use tetrion_protocol::pb;
use tetrion_protocol::pb::step_stream_request::Request as Asked;
use tetrion_protocol::pb::step_stream_response::Response as Answered;

/// Steps that may be in progress on a stream at a time.
const IN_FLIGHT: usize = 64;

impl Session {
    /// Opens a stream for steps, several of which may be in progress at a time.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn stream(&mut self) -> Result<StepStream<'_>, ClientError> {
        let (requests, receiver) = mpsc::channel(IN_FLIGHT);
        let request = self.server.request(ReceiverStream::new(receiver));
        let answers = self.server.environments().step_stream(request).await;
        let answers = answers.map_err(|status| self.server.error(&status))?.into_inner();
        Ok(StepStream {
            next: self.sequence_number + 1,
            session: self,
            requests,
            answers,
            under_way: VecDeque::new(),
        })
    }
}

/// Steps over one long call.
///
/// Unlike single calls, a stream does not reconnect by itself. The client repeats single calls under their numbers,
/// and a server that has performed one returns its answer again; but the server keeps only the last answer, and a
/// stream may have 64 steps in progress. To recover the others, this type would have to take snapshots periodically
/// and remember every step since; a caller that steps ahead knows better when that is worth its time.
///
/// The server may or may not have performed the steps after the last answer. To recover, use [`Session::renew`],
/// which gets the number of the last performed step, [`Session::restore_state`] with snapshots of
/// [`Session::save_state`], and another stream.
#[derive(Debug)]
pub struct StepStream<'a> {
    session: &'a mut Session,
    next: u64,
    requests: mpsc::Sender<pb::StepStreamRequest>,
    answers: Streaming<pb::StepStreamResponse>,
    /// Numbers of the steps without an answer.
    under_way: VecDeque<u64>,
}

impl StepStream<'_> {
    /// Sends a step of these environments, `None` for all; waits while 64 are in progress.
    ///
    /// # Errors
    /// [`ClientError::Lost`] if the stream has ended.
    pub async fn send(&mut self, actions: &[i32], env_ids: Option<&[u32]>) -> Result<(), ClientError> {
        let step = self.session.step_request(actions, env_ids, self.next);
        let sent = self.requests.send(pb::StepStreamRequest { request: Some(Asked::Step(step)) }).await;
        sent.map_err(|_| self.lost("the stream has ended"))?;
        self.under_way.push_back(self.next);
        self.next += 1;
        Ok(())
    }

    /// The answer of the oldest step without one; `None` if all steps have theirs.
    ///
    /// # Errors
    /// If the server refuses, after which it also refuses the later steps because of their numbers; or
    /// [`ClientError::Lost`] if the stream broke, or no answer came in half a minute.
    pub async fn next(&mut self) -> Result<Option<Stepped>, ClientError> {
        if self.under_way.pop_front().is_none() {
            return Ok(None);
        }
        let Ok(answer) = tokio::time::timeout(CALL_TIMEOUT, self.answers.message()).await else {
            return Err(self.lost("no answer came in time"));
        };
        let answer = answer.map_err(|status| self.session.server.error(&status))?;
        match answer.and_then(|answer| answer.response) {
            Some(Answered::Step(step)) => {
                self.session.sequence_number = step.sequence_number;
                self.session.names.stepped(step).map(Some)
            }
            Some(Answered::Error(refused)) => {
                if self.under_way.is_empty() {
                    self.next = self.session.sequence_number + 1;
                }
                let details = prost::Message::encode_to_vec(&refused).into();
                let status = Status::with_details(refused.code.into(), refused.message, details);
                Err(error(&self.session.server.address, &status))
            }
            Some(_) => Err(ClientError::Answer("the answer of another call".to_owned())),
            None => Err(self.lost("the stream has ended")),
        }
    }

    fn lost(&self, message: &str) -> ClientError {
        lost(&self.session.server.address, message)
    }
}
