//! Sessions: the Rust client makes their calls, repeats them and makes lost sessions again.
//!
//! Steps of all environments need no message of Python: a plain array of actions goes in, and the tensors of the answer
//! go into a block of memory that numpy arrays view. In this process, such steps and resets take a shorter way to the
//! engine, without messages at all. For other calls, Python writes the requests.
//!
//! The surprising decision: a session is either called directly or held by the client, and both count the same calls. The
//! last number is in `number`, and the client takes it from there.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use std::{mem, process};

use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::session::{Answered, Asked, ENUMERATE_PLACEMENTS, HeldSession, KINDS, STEP};
use tetrion::client::{CallSettings, Client, ClientError, OnLoss};
use tetrion::protocol::{pb, tensor};
use tetrion::service::direct::{Direct, FinalRows};
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::block::{Block, read_actions, read_ids};
use super::call::{Metadata, decoded, message, metadata_of, refused, seconds};
use super::columns::{BlockColumn, BlockColumns, FinalParts, OtherRows, ShownAnswer};
use super::executor::Executor;
use super::failure::{Failed, described, raised, unfit};
use super::placements::{ReadPlacements, listed};
use super::way::{Way, way};

/// Work from which on releasing the GIL pays.
const LONG: Duration = Duration::from_micros(20);

/// Size of a block from which on releasing the GIL while it is filled pays.
const LARGE: usize = 1 << 16;

/// The kind of a call, the encoded request and the encoded answer.
type EncodedCall<'py> = (&'static str, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// An exception of Python's own while a call waited.
type Raised = Arc<std::sync::Mutex<Option<PyErr>>>;

/// A session on a server or in this process.
#[pyclass(frozen, name = "Session", module = "tetrion._native")]
pub(crate) struct PySession {
    /// `None` only while this value is dropped.
    held: Mutex<Option<HeldSession>>,
    /// The short way, if the session is in this process.
    direct: RwLock<Option<Direct>>,
    is_long: bool,
    /// `None` if memory cannot hold such tensors.
    columns: Option<BlockColumns>,
    /// Size of a block for all environments.
    whole_bytes: usize,
    /// The last sequence number that this caller knows. The call itself updates it, so no signal can come in between.
    number: AtomicU64,
    /// Whether Python listens to the calls that change the session.
    is_heard: AtomicBool,
    /// Whether Python must make every call as a message, which finds out what is wrong with the connection.
    is_released: AtomicBool,
    pub(crate) executor: Executor,
    disconnected: CancellationToken,
    raised: Raised,
    process: u32,
}

impl PySession {
    fn new(py: Python<'_>, held: HeldSession, way: Way, raised: Raised) -> PyResult<PySession> {
        // Without the GIL, which the call that holds the session's lock may need.
        let direct = py.detach(|| way.direct(held.name()).transpose().map_err(|status| refused(*status)))?;
        let columns = BlockColumns::of(held.description());
        Ok(PySession {
            number: held.number().into(),
            is_long: direct.as_ref().is_some_and(|direct| direct.work() > LONG),
            direct: RwLock::new(direct),
            held: Mutex::new(Some(held)),
            whole_bytes: columns.as_ref().map_or(0, |columns| columns.layout(columns.num_envs).num_bytes),
            columns,
            is_heard: false.into(),
            is_released: false.into(),
            executor: way.executor,
            disconnected: way.closed,
            raised,
            process: process::id(),
        })
    }

    /// The tensors of the session's answers.
    ///
    /// # Errors
    /// `ValueError` if memory cannot hold them.
    pub(crate) fn columns(&self) -> PyResult<&BlockColumns> {
        self.columns.as_ref().ok_or_else(|| PyValueError::new_err("no block can have such tensors"))
    }

    /// A block of this session with so many rows, before anything is done.
    ///
    /// # Errors
    /// `ValueError` if it is another one.
    pub(crate) fn own<'a>(&self, block: &'a Block, rows: usize) -> PyResult<&'a Block> {
        let is_whole = rows == self.columns()?.num_envs;
        let len = if is_whole { self.whole_bytes } else { self.columns()?.layout(rows).num_bytes };
        if (block.rows, block.len) == (rows, len) {
            Ok(block)
        } else {
            Err(PyValueError::new_err("the block is another session's"))
        }
    }

    /// The client's session, with the number of the last call.
    pub(crate) async fn held(&self) -> Locked<'_> {
        self.locked(self.held.lock().await)
    }

    /// The client's session, unless another thread has it.
    pub(crate) fn try_held(&self) -> Option<Locked<'_>> {
        self.held.try_lock().ok().map(|held| self.locked(held))
    }

    fn locked<'a>(&'a self, mut held: MutexGuard<'a, Option<HeldSession>>) -> Locked<'a> {
        let before = self.number.load(Relaxed);
        if let Some(held) = &mut *held {
            held.set_number(before);
        }
        Locked { held, before, session: self }
    }

    /// What a job gets from the client's session.
    fn with<T: Send>(&self, py: Python<'_>, job: impl FnOnce(&mut HeldSession) -> T) -> PyResult<T> {
        match self.try_held() {
            Some(mut held) => Ok(job(held.get())),
            None => Ok(job(self.executor.wait(py, self.held())?.get())),
        }
    }

    /// Waits for a call, at most until the connection is closed.
    ///
    /// # Errors
    /// The exception for a failed call, or that of a signal handler.
    pub(crate) fn wait<T: Send>(
        &self,
        py: Python<'_>,
        call: impl Future<Output = Result<T, ClientError>> + Send,
    ) -> PyResult<T> {
        waited(py, &self.executor, &self.disconnected, &self.raised, call)
    }

    /// Steps environments the short way into a block. Returns whether it did; if the step is refused, the long way says why.
    pub(crate) fn step_directly(&self, py: Python<'_>, block: &Block, actions: &[i32]) -> PyResult<bool> {
        let done = block.fill(|bytes| self.step_into(py, actions, bytes).ok_or(()))?;
        let Some(Ok(finals)) = done else { return Ok(false) };
        match &finals {
            Some(finals) => self.columns()?.write_finals(py, block, &FinalParts::of(finals))?,
            None => block.forget_finals(),
        }
        Ok(true)
    }

    /// Steps all environments the short way, like [`PySession::step_directly`].
    pub(crate) fn step_into(
        &self,
        py: Python<'_>,
        actions: &[i32],
        bytes: &mut Vec<u8>,
    ) -> Option<Option<FinalRows>> {
        self.directly(|direct| {
            self.run(py, |may_wait| self.numbered(|number| direct.step(actions, number, bytes, may_wait)))
        })
    }

    /// Starts episodes in these environments the short way, from one seed each or without seeds the next ones.
    pub(crate) fn reset_into(
        &self,
        py: Python<'_>,
        rows: (Option<&[u64]>, Option<&[u32]>),
        bytes: &mut Vec<u8>,
    ) -> Option<()> {
        self.directly(|direct| {
            self.run(py, |may_wait| self.numbered(|number| direct.reset(rows, number, bytes, may_wait)))
        })
    }

    /// Lists placements the short way. `None` if there is none, or the call is refused or takes long.
    pub(crate) fn enumerate(
        &self,
        py: Python<'_>,
        request: &pb::EnumeratePlacementsRequest,
    ) -> Option<pb::EnumeratePlacementsResponse> {
        self.directly(|direct| py.detach(|| direct.enumerate(request.clone())))
    }

    /// Makes a call the short way. `None` if there is none, or the call is refused.
    fn directly<T>(&self, call: impl FnOnce(&Direct) -> Option<Result<T, Status>>) -> Option<T> {
        if self.is_heard.load(Relaxed) || !self.is_open() {
            return None;
        }
        call(self.direct.try_read().ok()?.as_ref()?)?.ok()
    }

    /// Runs a job. Releases the GIL if the job is long or must wait for another call, which may need the GIL. The
    /// argument tells the job whether it may wait. If it may not but would have to, it returns `None`.
    fn run<T: Send>(&self, py: Python<'_>, mut job: impl FnMut(bool) -> Option<T> + Send) -> Option<T> {
        if !self.is_long
            && let Some(done) = job(false)
        {
            return Some(done);
        }
        py.detach(|| job(true))
    }

    /// Makes a call with the next number. The number counts if the call was performed.
    fn numbered<T>(&self, call: impl FnOnce(u64) -> Option<Result<T, Status>>) -> Option<Result<T, Status>> {
        let next = self.number.load(Relaxed) + 1;
        let done = call(next)?;
        if done.is_ok() {
            self.number.store(next, Relaxed);
        }
        Some(done)
    }

    /// Whether Python listens to the calls.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_heard.load(Relaxed)
    }

    /// Whether Python need not make every call as a message.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_released.load(Relaxed)
    }

    /// The actions in an array, if it is a plain one of integers with one per environment.
    pub(crate) fn actions(&self, actions: &Bound<'_, PyAny>) -> Option<Vec<i32>> {
        self.is_open().then(|| read_actions(actions, self.columns.as_ref()?.num_envs))?
    }

    /// Copies the answer to a step, a reset or a restore into a block of this session. Returns the numbers of actions that
    /// were sent as text.
    ///
    /// # Errors
    /// `AnswerError` if the answer has other tensors than the session's specs announce.
    pub(crate) fn fill<'py>(
        &self,
        py: Python<'py>,
        block: &Block,
        answered: &Answered,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (columns, rows) = (self.columns()?, block.rows);
        let write = |answer: &ShownAnswer<'_>| {
            let parts = columns.parts(answer, rows).map_err(unfit)?;
            block.fill_with(|bytes| columns.write(&parts, rows, bytes))
        };
        let fill = || {
            if *answered.kind != STEP {
                // A restore has an answer with the fields of a reset.
                let answer: pb::ResetResponse = decoded(&answered.message)?;
                write(&ShownAnswer::of_reset(&answer))?;
                return Ok(None);
            }
            let answer: pb::StepResponse = answered.decode().map_err(raised)?;
            write(&ShownAnswer::of_step(&answer))?;
            Ok::<_, PyErr>(Some(answer))
        };
        let stepped = if block.len < LARGE { fill() } else { py.detach(fill) }?;
        match stepped.as_ref().and_then(|answer| answer.final_batch.as_ref()) {
            Some(finals) => {
                let finals = columns.finals(finals, rows).map_err(unfit)?;
                columns.write_finals(py, block, &finals)?;
            }
            None => block.forget_finals(),
        }
        let actions = stepped.as_ref().and_then(|answer| answer.actions.as_ref()).map(|actions| {
            let column = BlockColumn::new("actions", pb::DataType::Int32, &[]).expect("four bytes a row");
            let data = column.data(Some(actions), rows).map_err(unfit)?;
            Ok(PyBytes::new(py, data))
        });
        actions.transpose()
    }
}

/// Waits for a call, at most until the connection is closed. An exception that was raised meanwhile comes first.
fn waited<T: Send>(
    py: Python<'_>,
    executor: &Executor,
    disconnected: &CancellationToken,
    thrown: &Raised,
    call: impl Future<Output = Result<T, ClientError>> + Send,
) -> PyResult<T> {
    let done = executor.wait(py, async {
        tokio::select! {
            biased;
            () = disconnected.cancelled() => Err(Failed::disconnected()),
            done = call => done.map_err(Failed::from),
        }
    })?;
    match thrown.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => done.map_err(Failed::raised),
    }
}

/// The client's session while a thread has it. Its number is the last one when it is given back.
pub(crate) struct Locked<'a> {
    held: MutexGuard<'a, Option<HeldSession>>,
    /// The last number when it was taken.
    before: u64,
    session: &'a PySession,
}

impl Locked<'_> {
    pub(crate) fn get(&mut self) -> &mut HeldSession {
        self.held.as_mut().expect("the session is not being dropped")
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let Some(held) = &mut *self.held else { return };
        if held.number() != self.before {
            self.session.number.store(held.number(), Relaxed);
        }
        if self.session.disconnected.is_cancelled() {
            held.disconnect();
        }
    }
}

impl Drop for PySession {
    /// A forked child has none of the threads that the end of a connection would wake.
    fn drop(&mut self) {
        if self.process != process::id() {
            mem::forget(self.held.get_mut().take());
            mem::forget(self.direct.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// How Python wants calls to be made: metadata, the seconds that an answer may take, the seconds to wait for a lost server,
/// and a function of a loss, and whether it is the call's first, that returns whether to wait.
type HowToCall<'py> = (Metadata, f64, f64, Bound<'py, PyAny>);

/// A client of one caller, and where its function's exceptions go.
fn client(way: &Way, min_revision: u32, settings: HowToCall<'_>) -> PyResult<(Client, Raised)> {
    let (metadata, timeout, patience, waits) = settings;
    let raised = Raised::default();
    let mut settings = CallSettings::new(seconds(patience));
    settings.timeout = (timeout < 1e9).then(|| seconds(timeout));
    settings.on_loss = Some(on_loss(waits.unbind(), raised.clone()));
    let metadata = metadata_of(metadata).map_err(refused)?;
    Ok((Client::over([(String::new(), way.link.clone())], &metadata, min_revision, settings), raised))
}

fn on_loss(waits: Py<PyAny>, raised: Raised) -> OnLoss {
    Arc::new(move |error, is_first| {
        Python::attach(|py| {
            let failure = described(&Failed::from(error.clone()).status());
            let answer = waits.call1(py, (failure, is_first)).and_then(|waits| waits.extract::<bool>(py));
            answer.unwrap_or_else(|error| {
                *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                false
            })
        })
    })
}

#[pymethods]
impl PySession {
    /// Makes a session from an encoded request, over a `Channel` or `Services`. Every `snapshot_every` calls that change it,
    /// snapshots are taken, from which it is made again if it is lost; 0 for none. `is_patient` tells whether to wait for a
    /// server that is lost before it has made the session.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        to: &Bound<'_, PyAny>,
        request: &[u8],
        snapshot_every: u32,
        settings: HowToCall<'_>,
        is_patient: bool,
    ) -> PyResult<PySession> {
        let way = way(to)?;
        let creation = decoded::<pb::CreateSessionRequest>(request)?;
        let min_revision = creation.config.as_ref().map_or(0, |config| config.min_revision);
        let patience = seconds(settings.2);
        let settings = if is_patient { settings } else { (settings.0, settings.1, 0.0, settings.3) };
        let (client, thrown) = client(&way, min_revision, settings)?;
        // A session in this process cannot be lost.
        let snapshot_every = if way.is_inside() { 0 } else { snapshot_every };
        let made = HeldSession::create(&client, creation, snapshot_every);
        let mut held = waited(py, &way.executor, &way.closed, &thrown, made)?;
        held.set_patience(patience);
        PySession::new(py, held, way, thrown)
    }

    /// A session that exists, from its encoded description.
    #[staticmethod]
    fn existing(
        py: Python<'_>,
        to: &Bound<'_, PyAny>,
        description: &[u8],
        settings: HowToCall<'_>,
    ) -> PyResult<PySession> {
        let way = way(to)?;
        let (client, thrown) = client(&way, 0, settings)?;
        let held = HeldSession::existing(&client, decoded(description)?).map_err(raised)?;
        PySession::new(py, held, way, thrown)
    }

    /// The server's encoded description of the session.
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |held| message(py, held.description()).unbind()).map(|held| held.into_bound(py))
    }

    /// The name of the session on its server.
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |held| held.name().to_owned())
    }

    /// Whether steps and resets take the short way.
    #[getter]
    fn is_direct(&self) -> bool {
        !self.is_heard.load(Relaxed) && self.direct.try_read().is_ok_and(|direct| direct.is_some())
    }

    /// The last sequence number that this caller knows.
    #[getter]
    fn number(&self) -> u64 {
        self.number.load(Relaxed)
    }

    #[setter]
    fn set_number(&self, number: u64) {
        self.number.store(number, Relaxed);
    }

    /// Sends other metadata from now on.
    fn set_metadata(&self, py: Python<'_>, metadata: Metadata) -> PyResult<()> {
        let metadata = metadata_of(metadata).map_err(refused)?;
        self.with(py, |held| held.set_metadata(metadata))?.map_err(raised)
    }

    /// Begins or ends to note the calls that change the session, for `heard`. Steps then take the long way.
    fn listen(&self, py: Python<'_>, listens: bool) -> PyResult<()> {
        self.with(py, |held| held.listen(listens))?;
        self.is_heard.store(listens, Relaxed);
        Ok(())
    }

    /// The calls that changed the session since the last time, in order.
    fn heard<'py>(&self, py: Python<'py>) -> PyResult<Vec<EncodedCall<'py>>> {
        let heard = self.with(py, HeldSession::take_heard)?;
        let encoded = |(asked, answered): (Asked, Answered)| {
            (asked.kind.name, PyBytes::new(py, &asked.message), encoded_answer(py, &answered))
        };
        Ok(heard.into_iter().map(encoded).collect())
    }

    /// Offsets of the tensors in a block of so many rows: rewards, terminated, truncated, observations, infos and, if the
    /// session has them, masks.
    ///
    /// # Errors
    /// `ValueError` if memory cannot hold such tensors.
    fn places(&self, rows: usize) -> PyResult<Vec<usize>> {
        Ok(self.columns()?.layout(rows).starts)
    }

    /// Offsets in the block with the last states of episodes that ended in an answer of so many rows: flags, the numbers of
    /// the ended rows, the observations of these, and the infos of all rows.
    fn final_places(&self, rows: usize) -> PyResult<Vec<usize>> {
        Ok(self.columns()?.final_layout(rows).starts)
    }

    /// Makes an answer about all environments: see `BlockColumns::merge`. `looks` tells to look again at others in this process.
    fn merge(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        before: Option<&Bound<'_, Block>>,
        some: Vec<(Bound<'_, Block>, Bound<'_, PyAny>)>,
        looks: bool,
    ) -> PyResult<()> {
        let (some, others) = (parts(&some)?, others(before));
        if looks {
            self.merged(py, block.get(), others, &some)
        } else {
            self.columns()?.merge(block.get(), others, &some)
        }
    }

    /// Allocates a block for an answer of so many rows.
    fn block(&self, rows: usize) -> PyResult<Block> {
        Ok(Block::new(vec![0; self.columns()?.layout(rows).num_bytes], rows))
    }

    /// Steps all environments, with the answer in a block. Returns the number of episodes that have ended and were followed by
    /// the next ones; None if it did nothing.
    fn step(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        actions: &Bound<'_, PyAny>,
    ) -> PyResult<Option<usize>> {
        self.take(py, block, self.actions(actions).as_deref())
    }

    /// Starts episodes in these environments the short way, with the answer in a block: from one seed each or, without
    /// seeds, the next episodes. Returns whether it did.
    pub(crate) fn reset(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        seeds: Option<Vec<u64>>,
        env_ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        if !self.is_open() {
            return Ok(false);
        }
        let Ok(env_ids) = env_ids.map(read_ids).transpose() else { return Ok(false) };
        let block = self.own(block.get(), env_ids.as_ref().map_or(self.columns()?.num_envs, Vec::len))?;
        let rows = (seeds.as_deref(), env_ids.as_deref());
        let done = block.fill(|bytes| self.reset_into(py, rows, bytes).ok_or(()))?;
        block.forget_finals();
        Ok(matches!(done, Some(Ok(()))))
    }

    /// Starts episodes like `reset`, with an answer about all environments in the block: see `BlockColumns::merge`.
    pub(crate) fn reset_some(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        seeds: Option<Vec<u64>>,
        env_ids: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let (ids, mut bytes) = (read_ids(env_ids)?, Vec::new());
        if !self.is_open() || self.reset_into(py, (seeds.as_deref(), Some(&ids)), &mut bytes).is_none() {
            return Ok(false);
        }
        let part = Block::new(bytes, ids.len());
        self.merged(py, block.get(), OtherRows::Nothing, &[(&part, ids)]).map(|()| true)
    }

    /// Makes a call of this kind, a step, a reset or a restore, with an encoded request, and the answer in a block. Returns
    /// the numbers of actions that were sent as text.
    fn observe<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, Block>,
        kind: &str,
        request: &[u8],
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (block, asked) = (self.own(block.get(), block.get().rows)?, asked(kind, request)?);
        let answered = self.wait(py, async { self.held().await.get().call(asked).await })?;
        self.fill(py, block, &answered)
    }

    /// Makes a call of this kind with an encoded request. Returns the encoded answer.
    fn call<'py>(&self, py: Python<'py>, kind: &str, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let asked = asked(kind, request)?;
        let answered = self.wait(py, async { self.held().await.get().call(asked).await })?;
        Ok(encoded_answer(py, &answered))
    }

    /// Lists placements of so many environments, by an encoded request.
    fn placements(&self, py: Python<'_>, request: &[u8], positions: usize) -> PyResult<ReadPlacements> {
        let request: pb::EnumeratePlacementsRequest = decoded(request)?;
        let answer = match self.enumerate(py, &request) {
            Some(answer) => answer,
            None => {
                let asked = Asked::new(&ENUMERATE_PLACEMENTS, &request);
                let answered = self.wait(py, async { self.held().await.get().call(asked).await })?;
                answered.decode().map_err(raised)?
            }
        };
        listed(answer, positions)
    }

    /// Draws environments, by an encoded request. Returns the encoded answer.
    fn render<'py>(&self, py: Python<'py>, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let request = decoded(request)?;
        let drawn = self.wait(py, async { self.held().await.get().render(request).await })?;
        Ok(message(py, &drawn))
    }

    /// Renews the lease, and goes on from the server's number.
    fn renew(&self, py: Python<'_>) -> PyResult<()> {
        self.wait(py, async { self.held().await.get().renew().await })
    }

    /// Ends the session for good.
    fn delete(&self, py: Python<'_>) -> PyResult<()> {
        self.release();
        self.wait(py, async { self.held().await.get().delete().await })
    }

    /// Gives up the short way, and leaves every call to messages. Lets go of a closed connection.
    fn release(&self) {
        self.is_released.store(true, Relaxed);
        if self.process == process::id() {
            drop(self.try_held()); // whoever has it lets go of the connection later
        }
        if let Ok(mut direct) = self.direct.try_write() {
            let direct = direct.take();
            if self.process != process::id() {
                mem::forget(direct); // its lock may be held by a thread that a forked child does not have
            }
        }
    }
}

impl PySession {
    /// Makes an answer about all environments. In this process the others are looked at again, because callers
    /// may have changed the arrays of a block before.
    fn merged(
        &self,
        py: Python<'_>,
        block: &Block,
        others: OtherRows<'_>,
        some: &[(&Block, Vec<u32>)],
    ) -> PyResult<()> {
        let direct = self.direct.try_read().ok();
        let Some(direct) = direct.as_ref().and_then(|direct| direct.as_ref()) else {
            return self.columns()?.merge(block, others, some);
        };
        // An ended session leaves the block as it is.
        let mut observe = |bytes: &mut Vec<u8>| {
            let _ = py.detach(|| direct.observe(bytes));
        };
        self.columns()?.merge(block, OtherRows::Observed(&mut observe), some)
    }

    /// Performs one action per environment, with the answer in a block. Does nothing without actions.
    fn take(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        actions: Option<&[i32]>,
    ) -> PyResult<Option<usize>> {
        let Some(actions) = actions else { return Ok(None) };
        let block = self.own(block.get(), actions.len())?;
        if !self.step_directly(py, block, actions)? {
            let asked = step(actions);
            let answered = self.wait(py, async { self.held().await.get().call(asked).await })?;
            self.fill(py, block, &answered)?;
        }
        Ok(Some(block.num_ended()))
    }
}

/// Answers about some environments, and which these are.
pub(crate) fn parts<'a>(
    some: &'a [(Bound<'_, Block>, Bound<'_, PyAny>)],
) -> PyResult<Vec<(&'a Block, Vec<u32>)>> {
    some.iter().map(|(part, rows)| Ok((part.get(), read_ids(rows)?))).collect()
}

/// What the other environments show: what they showed before, if that is known.
pub(crate) fn others<'a>(before: Option<&'a Bound<'_, Block>>) -> OtherRows<'a> {
    before.map_or(OtherRows::Nothing, |before| OtherRows::As(before.get()))
}

/// A step of all environments.
pub(crate) fn step(actions: &[i32]) -> Asked {
    let actions = Some(tensor::encode(vec![actions.len() as u32], actions));
    Asked::new(&STEP, &pb::StepRequest { actions, ..Default::default() })
}

/// A call of this kind, with its encoded request.
pub(crate) fn asked(kind: &str, request: &[u8]) -> PyResult<Asked> {
    let known = KINDS.into_iter().find(|known| known.name == kind);
    let kind = known.ok_or_else(|| PyValueError::new_err(format!("a session has no call {kind:?}")))?;
    Ok(Asked { kind, message: Bytes::copy_from_slice(request) })
}

pub(crate) fn encoded_answer<'py>(py: Python<'py>, answered: &Answered) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &answered.message)
}
