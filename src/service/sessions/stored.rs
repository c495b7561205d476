//! Sessions between two servers: the server that shuts down writes them, and the next one restores them.
//!
//! A restored session keeps its name, its lease, its environments, its numbers and the answer that its client may ask
//! for again. The lease is paused in the meantime.
//!
//! # Format
//! All numbers are little-endian.
//!
//! ```text
//! magic      8 bytes, "TTRNSESS"
//! format     u16, 1
//! sessions   each as u64 length, u64 XXH3 of the bytes, and the bytes: a message `WrittenSession`
//! end        u64 2^64 - 1, u64 how many sessions there were
//! ```
//!
//! If the file is truncated or has a damaged byte, the server restores the undamaged sessions and reports the others.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use prost::{Message, Oneof};
use xxhash_rust::xxh3::xxh3_64;

use super::session::{LeasedSession, RequestId, SessionId, nanoseconds};
use super::{Caller, SessionStore};
use crate::budget::Budget;
use crate::history::{History, WrittenHistory};
use crate::memory::Memory;
use crate::refusal::Refusal;
use crate::sequence::{Sequence, WrittenSequence};
use crate::session_state::SessionState;
use tetrion_core::engine::{Piece, PieceSequence, Rules};
use tetrion_core::env::{EnvBatch, EnvSlot, EnvState, SharedSequences};
use tetrion_protocol::session::SessionConfig;
use tetrion_protocol::{DecodeError, colors, pb, seeding, session};

const MAGIC: [u8; 8] = *b"TTRNSESS";
const FORMAT: u16 = 1;
const END: u64 = u64::MAX;

/// Most bytes of a written session, per byte of the memory for all sessions. A session takes about as much of both. A
/// longer one has a false length and is not read.
const MAX_BYTES_PER_MEMORY: u64 = 4;

/// Outcome of writing a server's sessions.
#[derive(Debug, Default)]
pub struct PutAway {
    /// Number of sessions in the file.
    pub sessions: u32,
    pub num_bytes: u64,
    /// Number of sessions that could not be written.
    pub lost: u32,
    /// The reason why the first lost session could not be written.
    pub error: Option<io::Error>,
}

/// Outcome of restoring the previous server's sessions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TakenUp {
    pub sessions: u32,
    /// The reasons why parts of the file could not be restored; empty if everything was.
    pub problems: Vec<String>,
}

/// A session in written form.
#[derive(Clone, PartialEq, Message)]
struct WrittenSession {
    /// Id of the session, 16 bytes.
    #[prost(bytes = "vec", tag = "1")]
    id: Vec<u8>,
    /// Name of the owner's token; empty for the caller without one.
    #[prost(string, tag = "2")]
    owner: String,
    #[prost(uint64, tag = "3")]
    serial: u64,
    #[prost(message, optional, tag = "4")]
    request: Option<WrittenRequest>,
    #[prost(uint64, tag = "5")]
    ttl_nanoseconds: u64,
    /// Remaining time of the lease.
    #[prost(uint64, tag = "6")]
    left_nanoseconds: u64,
    #[prost(message, optional, tag = "7")]
    made: Option<prost_types::Timestamp>,
    #[prost(message, optional, tag = "8")]
    config: Option<pb::SessionConfig>,
    #[prost(message, optional, tag = "9")]
    numbers: Option<WrittenSequence>,
    /// Explicit sequences of the environments.
    #[prost(message, repeated, tag = "10")]
    sequences: Vec<WrittenPieces>,
    #[prost(message, repeated, tag = "11")]
    envs: Vec<WrittenEnv>,
    #[prost(message, optional, tag = "12")]
    history: Option<WrittenHistory>,
}

#[derive(Clone, PartialEq, Message)]
struct WrittenRequest {
    #[prost(string, tag = "1")]
    name: String,
    /// Digest of the request, 16 bytes.
    #[prost(bytes = "vec", tag = "2")]
    digest: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct WrittenPieces {
    /// One byte per piece.
    #[prost(bytes = "vec", tag = "1")]
    pieces: Vec<u8>,
    /// Columns of the first holes in garbage.
    #[prost(bytes = "vec", tag = "2")]
    holes: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct WrittenEnv {
    #[prost(oneof = "WrittenSlot", tags = "1, 2, 3")]
    slot: Option<WrittenSlot>,
    /// The origins of its cells, in a session that keeps them.
    #[prost(bytes, tag = "4")]
    colors: Vec<u8>,
}

#[derive(Clone, PartialEq, Oneof)]
enum WrittenSlot {
    /// A snapshot that refers to the session's sequences.
    #[prost(bytes, tag = "1")]
    Begun(Vec<u8>),
    /// Seed of an environment in which no episode has started.
    #[prost(uint64, tag = "2")]
    Seeded(u64),
    /// Index of the sequence of an environment in which no episode has started.
    #[prost(uint32, tag = "3")]
    Sequenced(u32),
}

impl SessionStore {
    /// Writes every session, oldest first. From then on the store refuses calls on them, as the server is shutting
    /// down: a step that is not written must not be performed.
    ///
    /// If `out` has no room for a session, the session is lost, and writing continues with the next one. In every case
    /// the written data form a complete file.
    ///
    /// # Errors
    /// If `out` has no room for a file without sessions.
    pub async fn put_away(&self, out: &mut (impl Write + Seek)) -> io::Result<PutAway> {
        let head = [&MAGIC[..], &FORMAT.to_le_bytes()].concat();
        let end = |sessions: u32| [END.to_le_bytes(), u64::from(sessions).to_le_bytes()].concat();
        out.write_all(&[head.clone(), end(0)].concat())?;
        let mut done = PutAway { num_bytes: head.len() as u64, ..PutAway::default() };
        let now = self.clock.elapsed();
        let mut sessions: Vec<Arc<LeasedSession>> = self.read().sessions.values().cloned().collect();
        sessions.retain(|session| session.expires.load(Ordering::Relaxed) > nanoseconds(now));
        sessions.sort_unstable_by_key(|session| session.serial);
        // Before locking any session: calls that wait for a lock are then refused, so only the running call must end
        // first.
        sessions.iter().for_each(|session| session.put_away.store(true, Ordering::Release));
        for session in sessions {
            let mut record = vec![0; 16];
            {
                let state = session.state.lock().await;
                if session.ended.load(Ordering::Acquire) {
                    continue;
                }
                session.written(&state, now).encode(&mut record).expect("a vector has room");
            }
            let content = &record[16..];
            let (length, checksum) = (content.len() as u64, xxh3_64(content));
            record[..8].copy_from_slice(&length.to_le_bytes());
            record[8..16].copy_from_slice(&checksum.to_le_bytes());
            record.extend(end(done.sessions + 1));
            let mut write = |bytes: &[u8]| {
                out.seek(SeekFrom::Start(done.num_bytes))?;
                out.write_all(bytes)
            };
            match write(&record) {
                Ok(()) => {
                    done.num_bytes += 16 + length;
                    done.sessions += 1;
                }
                Err(error) => {
                    done.lost += 1;
                    done.error.get_or_insert(error);
                    // There was room for the end mark. If there is none any more, the file is truncated after the last
                    // session.
                    let _ = write(&end(done.sessions));
                }
            }
        }
        done.num_bytes += 16;
        Ok(done)
    }

    /// Restores the sessions of `input`, which has `num_bytes`, within the limits of this store.
    ///
    /// # Errors
    /// The errors of `input`. Mistakes in its content become problems instead, and do not stop the other sessions.
    pub fn take_up(&self, input: &mut impl Read, num_bytes: u64) -> io::Result<TakenUp> {
        let most = MAX_BYTES_PER_MEMORY.saturating_mul(self.memory.limit()).saturating_add(1 << 20);
        let mut input = Bytes { input, left: num_bytes };
        let mut taken = TakenUp::default();
        let whole = self.take_up_all(&mut input, most, &mut taken)?;
        if let Err(problem) = whole {
            taken.problems.push(problem);
        }
        Ok(taken)
    }

    fn take_up_all<R: Read>(
        &self,
        input: &mut Bytes<'_, R>,
        most: u64,
        taken: &mut TakenUp,
    ) -> io::Result<Result<(), String>> {
        let cut = || Err("the file is truncated".to_owned());
        match input.array::<10>()? {
            None => return Ok(cut()),
            Some(head) if head[..8] != MAGIC => return Ok(Err("the file holds no sessions".to_owned())),
            Some(head) if head[8..] != FORMAT.to_le_bytes() => {
                let format = u16::from_le_bytes([head[8], head[9]]);
                return Ok(Err(format!("the file has format {format}, expected {FORMAT}")));
            }
            Some(_) => {}
        }
        let mut found = 0u64;
        loop {
            let Some(length) = input.u64()? else { return Ok(cut()) };
            if length == END {
                return Ok(match input.u64()? {
                    None => cut(),
                    Some(count) if count != found => {
                        Err(format!("the file holds {found} sessions, expected {count}"))
                    }
                    Some(_) if input.left > 0 => Err("there is data after the end of the file".to_owned()),
                    Some(_) => Ok(()),
                });
            }
            let Some(checksum) = input.u64()? else { return Ok(cut()) };
            found += 1;
            if length > most {
                return Ok(Err(format!(
                    "session {found} of the file has {length} bytes, expected at most {most}; it and the rest of the file are \
                     not read"
                )));
            }
            let Some(content) = input.take(length)? else { return Ok(cut()) };
            if xxh3_64(&content) != checksum {
                // Its length may be the damaged part, so the start of the next session is unknown.
                return Ok(Err(format!(
                    "session {found} of the file is damaged, and the rest cannot be read"
                )));
            }
            match self.take_up_one(&content) {
                Ok(()) => taken.sessions += 1,
                Err(problem) => taken.problems.push(format!("session {found} of the file: {problem}")),
            }
        }
    }

    fn take_up_one(&self, content: &[u8]) -> Result<(), String> {
        let written = WrittenSession::decode(content).map_err(|error| error.to_string())?;
        let (session, config) = (written.id()?, written.config()?);
        let state = written.state(&config, &self.memory)?;
        let now = self.clock.elapsed();
        let num_envs = config.env.num_envs;
        let WrittenSession { owner, serial, ttl_nanoseconds, left_nanoseconds, made, .. } = written;
        let ttl = Duration::from_nanos(ttl_nanoseconds);
        let left = Duration::from_nanos(left_nanoseconds).min(ttl);
        let session = Arc::new(LeasedSession {
            id: session,
            owner: if owner.is_empty() { Caller::default() } else { Caller::named(&owner) },
            serial,
            request: written.request.map(RequestId::try_from).transpose()?,
            num_envs,
            ttl,
            made: made.and_then(|made| SystemTime::try_from(made).ok()).ok_or("it has no creation time")?,
            expires: AtomicU64::new(nanoseconds(now + left)),
            ended: AtomicBool::new(false),
            put_away: AtomicBool::new(false),
            sequence_number: AtomicU64::new(state.sequence_number()),
            config: (&config).into(),
            costs: state.costs(),
            state: Arc::new(tokio::sync::Mutex::new(state)),
        });
        let mut table = self.write();
        if table.sessions.contains_key(&session.id) {
            return Err(format!("{} exists already", session.name()));
        }
        self.check_own_room(&table, num_envs).map_err(|refusal| refusal.to_string())?;
        table.take(&session.owner, num_envs);
        table.insert(session);
        Ok(())
    }
}

impl LeasedSession {
    fn written(&self, state: &SessionState, now: Duration) -> WrittenSession {
        let mut sequences = SharedSequences::default();
        let batch = state.batch();
        let envs = (0..self.num_envs).map(|env_id| {
            let slot = match batch.slot(env_id) {
                EnvSlot::Begun(state) => WrittenSlot::Begun(state.to_bytes_sharing(&mut sequences)),
                EnvSlot::Seeded(seed) => WrittenSlot::Seeded(seed),
                EnvSlot::Sequenced(sequence) => WrittenSlot::Sequenced(sequences.number(&sequence)),
            };
            let cells = state.watched().kept(env_id);
            let colors =
                cells.map(|cells| colors::encode(cells, &batch.config().rules.pieces)).unwrap_or_default();
            WrittenEnv { slot: Some(slot), colors }
        });
        let envs = envs.collect();
        let written = |sequence: &Arc<PieceSequence>| WrittenPieces {
            pieces: sequence.pieces.iter().map(|&piece| piece.number()).collect(),
            holes: sequence.holes.clone(),
        };
        WrittenSession {
            id: self.id.to_le_bytes().to_vec(),
            owner: self.owner.name().to_owned(),
            serial: self.serial,
            request: self.request.as_ref().map(|RequestId { name, digest }| WrittenRequest {
                name: name.clone(),
                digest: digest.to_le_bytes().to_vec(),
            }),
            ttl_nanoseconds: nanoseconds(self.ttl),
            left_nanoseconds: self.expires.load(Ordering::Relaxed).saturating_sub(nanoseconds(now)),
            made: Some(self.made.into()),
            config: Some(self.config.clone()),
            numbers: Some(state.numbers().write()),
            sequences: sequences.as_slice().iter().map(written).collect(),
            envs,
            history: Some(state.history().write()),
        }
    }
}

impl WrittenSession {
    fn id(&self) -> Result<SessionId, String> {
        number(&self.id).ok_or("it has no name".to_owned())
    }

    fn config(&self) -> Result<SessionConfig, String> {
        let message = self.config.as_ref().ok_or("it has no configuration")?;
        // Each environment stores its seed; the session's seed is only for summaries.
        let seed = message.seeding.as_ref().and_then(seeding::session_seed);
        let (config, _) = session::decode(message, || 0).map_err(|error| error.to_string())?;
        Ok(SessionConfig { seed, ..config })
    }

    /// Creates the state. The bytes are not needed afterwards.
    fn state(&self, config: &SessionConfig, memory: &Arc<Budget>) -> Result<SessionState, String> {
        let text = |refusal: Refusal| refusal.to_string();
        let mut memory = Memory::new(memory, config).map_err(text)?;
        let mut sequences = self
            .sequences
            .iter()
            .map(|sequence| decode_sequence(sequence, &config.env.rules).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        for sequence in &mut sequences {
            *sequence = memory.share("sequences", sequence).map_err(text)?;
        }
        let sequences = SharedSequences::new(sequences);
        if self.envs.len() != config.env.num_envs as usize {
            return Err(format!("it has {} of {} environments", self.envs.len(), config.env.num_envs));
        }
        let slots = self.envs.iter().map(|env| match &env.slot {
            Some(WrittenSlot::Begun(bytes)) => {
                let state =
                    EnvState::from_bytes_sharing(bytes, &sequences).map_err(|error| error.to_string())?;
                Ok(EnvSlot::Begun(Box::new(state)))
            }
            Some(WrittenSlot::Seeded(seed)) => Ok(EnvSlot::Seeded(*seed)),
            Some(WrittenSlot::Sequenced(number)) => {
                let sequence = sequences.get(*number).ok_or("a sequence is missing")?;
                Ok(EnvSlot::Sequenced(sequence.clone()))
            }
            None => Err("an environment is missing".to_owned()),
        });
        let slots = slots.collect::<Result<Vec<_>, String>>()?;
        let batch = EnvBatch::from_slots(config.env.clone(), slots).map_err(|error| error.to_string())?;
        let numbers = self.numbers.clone().and_then(Sequence::read).ok_or("its numbers are damaged")?;
        let history = self.history.as_ref().and_then(History::read).ok_or("its history is damaged")?;
        if let Some(answer) = self.numbers.as_ref().and_then(|numbers| numbers.answer.as_ref()) {
            let bytes = answer.bytes.len() as u64;
            memory.keep(Some((memory.room_to_keep(bytes).map_err(text)?, bytes)));
        }
        let mut state = SessionState::of(config, batch, (numbers, history), memory).map_err(text)?;
        if config.keep_colors {
            let read = |env: &WrittenEnv| colors::decode("colors", &env.colors, &config.env.rules).map(Some);
            let colors: Result<Vec<_>, DecodeError> = self.envs.iter().map(read).collect();
            state.restore_colors(&colors.map_err(|error| error.to_string())?);
        }
        Ok(state)
    }
}

impl TryFrom<WrittenRequest> for RequestId {
    type Error = String;

    fn try_from(WrittenRequest { name, digest }: WrittenRequest) -> Result<RequestId, String> {
        let digest = number(&digest).ok_or("the digest of its request is damaged")?;
        Ok(RequestId { name, digest })
    }
}

fn number(bytes: &[u8]) -> Option<u128> {
    bytes.try_into().ok().map(u128::from_le_bytes)
}

/// Reads a sequence. Snapshots and the environments check the columns of its holes.
fn decode_sequence(written: &WrittenPieces, rules: &Rules) -> Result<PieceSequence, String> {
    if written.pieces.is_empty() {
        return Err("a sequence is empty".to_owned());
    }
    let pieces = written.pieces.iter().map(|&piece| rules.pieces.piece(piece));
    let pieces = pieces.collect::<Option<Arc<[Piece]>>>().ok_or("there is an unknown piece")?;
    Ok(PieceSequence { pieces, holes: written.holes.clone() })
}

/// A reader for a file of known length. A false length in the file allocates no more memory than the file has bytes.
struct Bytes<'a, R> {
    input: &'a mut R,
    left: u64,
}

impl<R: Read> Bytes<'_, R> {
    /// The next `length` bytes; `None` if fewer are left.
    fn take(&mut self, length: u64) -> io::Result<Option<Vec<u8>>> {
        if length > self.left {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        self.left -= length;
        // The file may have become shorter in the meantime.
        Ok((bytes.len() as u64 == length).then_some(bytes))
    }

    fn array<const L: usize>(&mut self) -> io::Result<Option<[u8; L]>> {
        Ok(self.take(L as u64)?.map(|bytes| bytes.try_into().expect("as long as was taken")))
    }

    fn u64(&mut self) -> io::Result<Option<u64>> {
        Ok(self.array()?.map(u64::from_le_bytes))
    }
}
