//! A session on a server, in the messages of the protocol: its name, the number of its last call, and the way to make it
//! again.
//!
//! Calls that change the session are numbered, and the server keeps its last numbered answer. So a call whose answer was
//! lost is simply made again: the server repeats the answer without performing the call twice. A session that was lost
//! with its server is made again from its journal, with another name and other numbers on the server. This file
//! translates them, so a caller notices only a pause.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use tokio::task::AbortHandle;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};
use tonic::{Response, Status};

use super::call::{answer, patiently, request};
use super::journal::{Change, Journal};
use super::message::{Answered, Asked, RESTORE_STATE, SAVE_STATE};
use crate::connection::LinkedServer;
use crate::patience::{CallSettings, Patience};
use crate::{Client, ClientError, Link};
use tetrion_protocol::pb;
use tetrion_protocol::positions;

/// Most calls of a session: a server that counts further lies.
const MAX_CALLS: u64 = 1 << 62;

/// A session on a server, for one caller.
#[derive(Debug)]
pub struct HeldSession {
    server: LinkedServer,
    settings: CallSettings,
    description: pb::Session,
    /// Number of the last call that changed the session, including calls that a stream has sent ahead.
    number: u64,
    /// Difference between our numbers and the server's, after the session was made again.
    offset: i64,
    journal: Option<Journal>,
    /// A call that changes the session whose wait was left early.
    left: Option<Asked>,
    /// Calls that changed the session, for a caller who listens.
    heard: Option<Vec<(Asked, Answered)>>,
    /// The long calls of its streams.
    exchanges: Vec<AbortHandle>,
}

impl HeldSession {
    /// Makes a session on the client's first server. Every `snapshot_every` calls that change it, snapshots are taken,
    /// from which it is made again if it is lost with its server; 0 for none.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn create(
        client: &Client,
        mut creation: pb::CreateSessionRequest,
        snapshot_every: u32,
    ) -> Result<HeldSession, ClientError> {
        let (server, settings) = (&client.servers[0], &client.settings);
        creation.request_id = request_id();
        let made = patiently(settings, async || {
            let message = request(server, settings, creation.clone());
            answer(server, settings, server.environments().create_session(message)).await
        })
        .await?;
        let session = made.session.ok_or_else(|| missing("session"))?;
        let num_envs =
            |config: &Option<pb::SessionConfig>| config.as_ref().map_or(0, |config| config.num_envs);
        let (got, expected) = (num_envs(&session.config), num_envs(&creation.config).max(1));
        if got != expected {
            return Err(ClientError::Answer(format!(
                "the session has {got} environments, expected {expected}"
            )));
        }
        let journal = (snapshot_every > 0).then(|| Journal::new(creation, &session, snapshot_every));
        Ok(HeldSession { journal, ..HeldSession::existing(client, session)? })
    }

    /// A session that exists, as the client's first server describes it. If it is lost, it is gone.
    ///
    /// # Errors
    /// If no session has such a description.
    pub fn existing(client: &Client, description: pb::Session) -> Result<HeldSession, ClientError> {
        let (server, settings) = (client.servers[0].clone(), client.settings.clone());
        let number = checked_number(description.sequence_number)?;
        let mut held = HeldSession {
            server,
            settings,
            description,
            number,
            offset: 0,
            journal: None,
            left: None,
            heard: None,
            exchanges: Vec::new(),
        };
        held.set_metadata(client.servers[0].metadata.clone())?;
        Ok(held)
    }

    /// The server's description: the configuration with every default, and the specs.
    pub fn description(&self) -> &pb::Session {
        &self.description
    }

    /// The name on the server, which gives access to the session, and changes if it is made again.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Number of the last call that changed the session, including those that a stream has sent ahead.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Goes on from this number, which another caller has reached.
    pub fn set_number(&mut self, number: u64) {
        self.number = number;
    }

    /// Waits from now on as long for a server that went away.
    pub fn set_patience(&mut self, patience: Duration) {
        self.settings.patience = patience;
    }

    /// What every call sends from now on besides its message.
    ///
    /// # Errors
    /// If the session has a name that cannot be sent.
    pub fn set_metadata(&mut self, metadata: MetadataMap) -> Result<(), ClientError> {
        let name: Result<MetadataValue<Ascii>, _> = self.name().parse();
        let name = name.map_err(|_| ClientError::Answer(format!("{:?} names no session", self.name())))?;
        self.server.metadata = metadata;
        self.server.metadata.insert("x-session", name);
        Ok(())
    }

    /// Whether the session can be made again.
    pub(super) fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// Ends every call, and lets go of the connection. Later calls fail.
    pub fn disconnect(&mut self) {
        self.exchanges.drain(..).for_each(|exchange| exchange.abort());
        self.server.link = Link::closed();
    }

    /// Begins or ends to note the calls that change the session, for [`HeldSession::take_heard`].
    pub fn listen(&mut self, listens: bool) {
        self.heard = listens.then(|| self.heard.take().unwrap_or_default());
    }

    /// The calls that changed the session since the last time, in order, with their answers; none unless
    /// [`HeldSession::listen`] was called.
    pub fn take_heard(&mut self) -> Vec<(Asked, Answered)> {
        self.heard.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Makes a call, and snapshots if they are due. If the wait is left early, the next call finishes this one first.
    ///
    /// # Errors
    /// If the server refuses, or has not answered for as long as the client is patient.
    pub async fn call(&mut self, asked: Asked) -> Result<Answered, ClientError> {
        self.finish().await?;
        if !asked.is_numbered() {
            return self.ask(&asked, 0).await;
        }
        self.left = Some(asked.clone());
        let answered = self.ask(&asked, self.number + 1).await;
        self.left = None;
        let answered = answered?;
        self.count(asked, &answered).await;
        Ok(answered)
    }

    /// Whether no call waits to be finished.
    pub(super) fn is_idle(&self) -> bool {
        self.left.is_none()
    }

    /// Finishes a call whose wait was left early.
    pub(super) async fn finish(&mut self) -> Result<(), ClientError> {
        let Some(asked) = self.left.clone() else { return Ok(()) };
        let answered = self.ask(&asked, self.number + 1).await;
        if let Err(error @ ClientError::Lost { .. }) = answered {
            return Err(error);
        }
        self.left = None;
        if let Ok(answered) = answered {
            self.count(asked, &answered).await;
        }
        Ok(())
    }

    /// Counts a call that has changed the session, and takes snapshots if they are due.
    async fn count(&mut self, asked: Asked, answered: &Answered) {
        self.number += 1;
        if self.note(self.number, asked, answered) {
            let saved = self.ask(&snapshots(), 0).await;
            self.keep_snapshots(saved);
        }
    }

    /// Draws environments.
    ///
    /// # Errors
    /// As for [`HeldSession::call`].
    pub async fn render(
        &mut self,
        mut message: pb::RenderRequest,
    ) -> Result<pb::RenderResponse, ClientError> {
        let mut patience = Patience::new();
        loop {
            message.session.clone_from(&self.description.name);
            let mut client = self.server.environments();
            match self.answer(client.render(self.request(message.clone()))).await {
                Err(error) => self.recover(error, &mut patience).await?,
                drawn => return drawn,
            }
        }
    }

    /// Lists placements of positions that the session does not have.
    ///
    /// # Errors
    /// As for [`HeldSession::call`].
    pub async fn enumerate_positions(
        &mut self,
        message: pb::EnumeratePlacementsRequest,
    ) -> Result<pb::EnumeratePlacementsResponse, ClientError> {
        let mut patience = Patience::new();
        loop {
            let mut client = self.server.environments();
            match self.answer(client.enumerate_placements(self.request(message.clone()))).await {
                Err(error) => self.recover(error, &mut patience).await?,
                listed => return listed,
            }
        }
    }

    /// Reads the session from the server, which renews its lease, and goes on from the server's number. If another
    /// caller has changed the session, it cannot be made again any more.
    ///
    /// # Errors
    /// As for [`HeldSession::call`]; or if the answer is about another session.
    pub async fn renew(&mut self) -> Result<(), ClientError> {
        self.finish().await?;
        let mut patience = Patience::new();
        let answered = loop {
            let message = pb::GetSessionRequest { name: self.name().to_owned() };
            let mut client = self.server.environments();
            match self.answer(client.get_session(self.request(message))).await {
                Err(error) => self.recover(error, &mut patience).await?,
                Ok(answered) => break answered,
            }
        };
        let session = answered.session.ok_or_else(|| missing("session"))?;
        if session.name != self.name() {
            let problem = format!("it is about the session {:?}, not about {:?}", session.name, self.name());
            return Err(ClientError::Answer(problem));
        }
        self.check_same(&session)?;
        let number = session.sequence_number;
        self.description = session;
        if self.number != self.number_here(number) {
            // Our calls alone do not lead to the session's current state.
            (self.journal, self.offset, self.number) = (None, 0, number);
        }
        Ok(())
    }

    /// Ends the session for good, in one attempt. A session that has already ended is not an error.
    ///
    /// # Errors
    /// If the server refuses or does not answer.
    pub async fn delete(&mut self) -> Result<(), ClientError> {
        self.journal = None;
        self.delete_named(self.name().to_owned()).await
    }

    /// Ends a session of this caller, in one attempt.
    pub(super) async fn delete_named(&self, name: String) -> Result<(), ClientError> {
        let message = self.request(pb::DeleteSessionRequest { name, allow_missing: true });
        self.answer(self.server.environments().delete_session(message)).await.map(drop)
    }

    fn request<Q>(&self, message: Q) -> tonic::Request<Q> {
        request(&self.server, &self.settings, message)
    }

    async fn answer<A>(
        &self,
        call: impl Future<Output = Result<Response<A>, Status>>,
    ) -> Result<A, ClientError> {
        answer(&self.server, &self.settings, call).await
    }

    /// Makes a call until it is answered; `number` is 0 unless it changes the session.
    async fn ask(&mut self, asked: &Asked, number: u64) -> Result<Answered, ClientError> {
        let mut patience = Patience::new();
        loop {
            match self.ask_once(asked, number).await {
                Err(error) => self.recover(error, &mut patience).await?,
                Ok(answered) => return self.renumbered(answered, number),
            }
        }
    }

    async fn ask_once(&self, asked: &Asked, number: u64) -> Result<Answered, ClientError> {
        let addressed = asked.addressed(self.name(), self.number_there(number));
        let answered = self.answer(asked.call(self.server.link.clone(), self.request(addressed))).await?;
        Ok(Answered { kind: asked.kind, message: answered })
    }

    /// Waits after a failed call if it may be made again, and makes the session again if it was lost.
    async fn recover(&mut self, error: ClientError, patience: &mut Patience) -> Result<(), ClientError> {
        let is_lost = error.is_session_lost() && self.has_journal();
        if !is_lost && !error.is_gone() {
            return Err(error);
        }
        patience.after(error, &self.settings).await?;
        if is_lost { self.make_again(patience).await } else { Ok(()) }
    }

    /// Makes the session again in the state after the last answered call. It must have a journal.
    ///
    /// # Errors
    /// If the server refuses, plays by another version of the rules, or has not answered for as long as the client is
    /// patient. Then the session is as it was.
    pub(super) async fn make_again(&mut self, patience: &mut Patience) -> Result<(), ClientError> {
        loop {
            match self.made_again().await {
                Err(error) if error.is_gone() || error.is_session_lost() => {
                    patience.after(error, &self.settings).await?;
                }
                Err(error) => return Err(error),
                Ok((description, offset)) => {
                    (self.description, self.offset) = (description, offset);
                    return self.set_metadata(self.server.metadata.clone());
                }
            }
        }
    }

    /// Another session in the same state: its description, and the difference between our numbers and its own.
    async fn made_again(&self) -> Result<(pb::Session, i64), ClientError> {
        let journal = self.journal.as_ref().expect("it has a journal");
        let creation = pb::CreateSessionRequest { request_id: request_id(), ..journal.creation().clone() };
        let mut client = self.server.environments();
        let made = self.answer(client.create_session(self.request(creation))).await?;
        let description = made.session.ok_or_else(|| missing("session"))?;
        let (got, expected) = (&description.rules_version, &self.description.rules_version);
        if got != expected {
            return Err(ClientError::OtherRules { got: got.clone(), expected: expected.clone() });
        }
        self.check_same(&description)?;
        let client = Client {
            servers: vec![self.server.clone()],
            settings: self.settings.clone(),
            warnings: Vec::new(),
        };
        let mut again = HeldSession::existing(&client, description)?;
        let (number, states) = journal.snapshots();
        if !states.is_empty() {
            let positions = Some(positions::from_snapshots(states.to_vec()));
            let restore = pb::RestoreStateRequest { positions, ..Default::default() };
            let restored = again.ask_once(&Asked::new(&RESTORE_STATE, &restore), 0).await?;
            again.offset = number as i64 - checked_number(restored.number()?)? as i64;
        }
        for Change { number, asked } in journal.changes() {
            again.ask_once(asked, *number).await?;
        }
        Ok((again.description, again.offset))
    }

    /// Compares a description with that of this session.
    fn check_same(&self, other: &pb::Session) -> Result<(), ClientError> {
        let ours = &self.description;
        let num_envs = |session: &pb::Session| session.config.as_ref().map_or(0, |config| config.num_envs);
        let is_same = num_envs(ours) == num_envs(other)
            && ours.observation_specs == other.observation_specs
            && ours.info_specs == other.info_specs
            && ours.action_spec == other.action_spec;
        if !is_same {
            let problem = format!("the session {} has other environments than {} had", other.name, ours.name);
            return Err(ClientError::Answer(problem));
        }
        checked_number(other.sequence_number).map(drop)
    }

    /// A message of a stream with a request to this session.
    pub(super) fn streamed(&self, asked: &Asked, number: u64) -> Bytes {
        asked.in_stream(&asked.addressed(self.name(), self.number_there(number)))
    }

    /// An answer with our number instead of the server's. `number` is 0 unless its call changes the session.
    ///
    /// # Errors
    /// If it answers another call than the one with this number.
    pub(super) fn renumbered(&self, answered: Answered, number: u64) -> Result<Answered, ClientError> {
        let (there, expected) = (answered.number()?, self.number_there(number));
        if number > 0 && there != expected {
            let problem = format!("the answer to call {expected} is one to call {there}");
            return Err(ClientError::Answer(problem));
        }
        let here = self.number_here(checked_number(there)?);
        Ok(if here == there { answered } else { answered.with_number(here) })
    }

    fn number_there(&self, number: u64) -> u64 {
        number.saturating_add_signed(-self.offset)
    }

    /// A server that has lost calls which it had answered counts from below 0 in our numbers.
    fn number_here(&self, number: u64) -> u64 {
        number.saturating_add_signed(self.offset)
    }

    /// Notes an answered call that changed the session. Returns whether snapshots are due: true only once, until
    /// [`HeldSession::keep_snapshots`].
    pub(super) fn note(&mut self, number: u64, asked: Asked, answered: &Answered) -> bool {
        if let Some(heard) = &mut self.heard {
            heard.push((asked.clone(), answered.clone()));
        }
        self.journal.as_mut().is_some_and(|journal| journal.add(Change { number, asked }))
    }

    /// Keeps snapshots that were due; after an error they are due again later.
    pub(super) fn keep_snapshots(&mut self, saved: Result<Answered, ClientError>) {
        let Some(journal) = &mut self.journal else { return };
        match saved.and_then(|saved| saved.decode::<pb::SaveStateResponse>()) {
            // With a larger number, another caller has changed the session.
            Ok(saved) if saved.sequence_number <= self.number => {
                journal.keep(saved.states, saved.sequence_number);
            }
            _ => journal.give_up(),
        }
    }

    pub(super) fn server(&self) -> &LinkedServer {
        &self.server
    }

    pub(super) fn settings(&self) -> &CallSettings {
        &self.settings
    }

    /// Takes part in the end of the connection.
    pub(super) fn own(&mut self, exchange: AbortHandle) {
        self.exchanges.retain(|exchange| !exchange.is_finished());
        self.exchanges.push(exchange);
    }
}

/// The request for snapshots of all environments.
pub(super) fn snapshots() -> Asked {
    Asked::new(&SAVE_STATE, &pb::SaveStateRequest::default())
}

fn checked_number(number: u64) -> Result<u64, ClientError> {
    match number {
        0..=MAX_CALLS => Ok(number),
        _ => Err(ClientError::Answer(format!("the session has the sequence number {number}"))),
    }
}

/// An id of a request, so that a repeated call finds what the lost one made.
fn request_id() -> String {
    let mut id = [0; 16];
    getrandom::fill(&mut id).expect("the operating system has randomness");
    format!("{:032x}", u128::from_le_bytes(id))
}

pub(super) fn missing(field: &str) -> ClientError {
    ClientError::Answer(format!("it has no {field}"))
}
