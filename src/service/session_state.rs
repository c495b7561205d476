//! The state of a session: its environments, its sequence numbers, and the answers made from both.
//!
//! Everything here is synchronous and runs under the session's lock.

use std::ops::Range;
use std::sync::Arc;

use prost::{Message, Name};

use tetrion_core::env::{AutoresetMode, EnvBatch, Seeding, StepOutcome};
use tetrion_core::features::FeatureSet;
use tetrion_core::placements::{self, Options, Position};
use tetrion_protocol::positions::Positions;
use tetrion_protocol::session::SessionConfig;
use tetrion_protocol::{DecodeError, InField, envs, features, fields, pb, positions, seeding};
use tetrion_toolkit::recording::Cells;

use super::answers::Answers;
use super::budget::{Budget, Share};
use super::changing::{Beginning, Rooms, States};
use super::costs::Costs;
use super::history::History;
use super::judging::GameView;
use super::layout::{ANSWER_OVERHEAD, AnswerLayout, FinalRows};
use super::memory::Memory;
use super::places::CallPlace;
use super::refusal::Refusal;
use super::reserved::{List, Reserved};
use super::sequence::Sequence;
use super::watched::{Watch, Watched};

/// The mutable part of a session.
#[derive(Debug)]
pub(super) struct SessionState {
    batch: EnvBatch,
    sequence: Sequence,
    layout: AnswerLayout,
    max_response_bytes: u32,
    memory: Memory,
    watched: Watched,
    history: History,
    /// Outcome of the last call that filled a block, kept to reuse its memory.
    outcome: StepOutcome,
}

impl SessionState {
    /// Creates the environments with memory from this budget, without starting episodes.
    pub fn new(
        config: SessionConfig,
        mut seeding: Seeding,
        memory: &Arc<Budget>,
    ) -> Result<SessionState, Refusal> {
        let mut memory = Memory::new(memory, &config)?;
        memory.share_all("config.seeding.piece_sequences", &mut seeding)?;
        let batch = EnvBatch::new(config.env.clone(), &seeding)?;
        SessionState::of(&config, batch, (Sequence::default(), History::new()), memory)
    }

    /// The state of a restored session, from its environments, numbers, history and memory.
    pub fn of(
        config: &SessionConfig,
        batch: EnvBatch,
        (sequence, history): (Sequence, History),
        memory: Memory,
    ) -> Result<SessionState, Refusal> {
        let layout = AnswerLayout::new(config, &batch);
        let max_response_bytes = config.max_response_bytes;
        let max_rows = layout.max_rows(config.env.autoreset_mode, max_response_bytes);
        if u64::from(config.env.num_envs) > max_rows {
            return Err(Refusal::ResponseTooLarge { max_rows, max_bytes: max_response_bytes });
        }
        let watched = Watched::new(&batch, config.keep_colors);
        let outcome = StepOutcome::default();
        Ok(SessionState { batch, sequence, layout, max_response_bytes, memory, watched, history, outcome })
    }

    /// Rough time of the session's calls.
    pub fn costs(&self) -> Costs {
        let config = self.batch.config();
        let rules = config.rules;
        let cells = u64::from(rules.width) * u64::from(rules.height);
        let coloring = if self.watched.keeps_all() { 40 } else { 0 };
        // In SAME_STEP an ended episode is observed twice, which is rare.
        // A step checks that the placement exists.
        let finding = if rules.names_spots() {
            placements::nanoseconds_of_one(&rules, 1, None, Options::default())
        } else {
            0
        };
        let step = 60 + cells / 16 + self.layout.nanoseconds(config) + coloring + finding;
        Costs { num_envs: config.num_envs, step, rules }
    }

    /// Adds facts about the environments to a summary of the session.
    pub fn describe(&self, summary: pb::Session) -> pb::Session {
        let rules = &self.batch.config().rules;
        pb::Session {
            observation_specs: self.layout.observation_specs(&self.batch),
            action_spec: Some(fields::action_spec(rules)),
            action_digits: fields::digits(rules.action_digits()),
            info_specs: self.layout.info_specs(&self.batch),
            feature_columns: self.features().map(features::encode_columns),
            ..summary
        }
    }

    /// Sequence number of the last mutating call.
    pub fn sequence_number(&self) -> u64 {
        self.sequence.last()
    }

    /// Sequence numbers of the mutating calls.
    pub fn numbers(&self) -> &Sequence {
        &self.sequence
    }

    /// The session's learning curve: all finished episodes, in rows.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The columns of the session's feature selection.
    pub fn features(&self) -> Option<&FeatureSet> {
        self.batch.config().features.as_ref()
    }

    /// Largest answer that the session's client accepts.
    pub fn max_response_bytes(&self) -> u32 {
        self.max_response_bytes
    }

    /// The tensors of every answer.
    pub fn layout(&self) -> &AnswerLayout {
        &self.layout
    }

    /// The numbers of these environments; `None` means all.
    pub fn env_ids(&self, env_ids: Option<&[u32]>, answers: &Answers) -> Result<List<u32>, Refusal> {
        List::collect(answers, self.named(env_ids))
    }

    /// The environments of the session.
    pub fn batch(&self) -> &EnvBatch {
        &self.batch
    }

    /// The environments that viewers watch, with the origins of their cells.
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Gives restored environments the origins of their cells.
    pub fn restore_colors(&mut self, colors: &[Option<Cells>]) {
        self.watched.follow_restore(&self.batch, None, colors);
    }

    /// Reserves the memory of a call that changes these environments, with this sequence number.
    pub fn rooms(&self, env_ids: Option<&[u32]>, number: u64, answers: &Answers) -> Result<Rooms, Refusal> {
        let max_bytes = self.max_answer_bytes(env_ids);
        Ok(Rooms {
            _work: answers.room(self.outcome_bytes(env_ids))?,
            answer: answers.room(max_bytes)?,
            kept: self.room_to_keep(number, max_bytes)?,
            all: env_ids.is_none(),
            env_ids: self.env_ids(env_ids, answers)?,
        })
    }

    /// Reads and checks a Reset.
    pub fn read_reset(
        &mut self,
        request: &pb::ResetRequest,
        answers: &Answers,
    ) -> Result<Beginning, Refusal> {
        let SessionState { batch, memory, .. } = self;
        let env_ids = envs::decode(request.envs.as_ref());
        let (rows, rules) = (num_rows(batch, env_ids), &batch.config().rules);
        if request.swap_sides && !rules.is_match() {
            let problem = "is true, expected false: the rules have 1 player";
            return Err(DecodeError::field("swap_sides", problem).into());
        }
        let decode = |message| {
            let decode = || seeding::decode(message, rows, rules).in_field("seeding");
            Reserved::make(answers, seeding::decoded_bytes(message), decode)
        };
        let mut seeding = request.seeding.as_ref().map(decode).transpose()?;
        if let Some(seeding) = &mut seeding {
            memory.share_all("seeding.piece_sequences", seeding)?;
        }
        batch.check_reset(env_ids, seeding.as_deref())?;
        Ok(Beginning::Episodes(seeding, request.swap_sides))
    }

    /// Reads and checks the positions of a RestoreState, and the origins of their cells.
    pub fn read_states(
        &mut self,
        request: &pb::RestoreStateRequest,
        answers: &Answers,
    ) -> Result<Reserved<States>, Refusal> {
        let SessionState { batch, memory, .. } = self;
        let message = request.positions.as_ref().ok_or_else(|| DecodeError::missing("positions"))?;
        let rules = &batch.config().rules;
        let bytes = positions::decoded_bytes(message) + positions::colors_bytes(message);
        let decode = || -> Result<_, DecodeError> {
            let (_, positions) = positions::decode(message, Some(rules))?;
            Ok(States { positions, colors: positions::decode_colors(message, rules)? })
        };
        let mut states = Reserved::make(answers, bytes, || decode().in_field("positions"))?;
        if let Positions::States(states) = &mut states.positions {
            for state in states {
                if let Some(sequence) = state.sequence() {
                    let copy = memory.share("positions.snapshots.states", sequence)?;
                    state.share_sequence(copy);
                }
            }
        }
        batch.check_restore(envs::decode(request.envs.as_ref()), states.restored())?;
        Ok(states)
    }

    /// Restarts some rows of a call that has been checked.
    pub fn restart(&mut self, rooms: &Rooms, rows: Range<usize>, beginning: &Beginning) {
        let SessionState { batch, watched, .. } = self;
        let (all, restarted) = (rooms.named(&(0..rooms.env_ids.len())), rooms.named(&rows));
        match beginning {
            Beginning::Episodes(seeding, swap_sides) => {
                batch.reset_checked(all, rows, seeding.as_deref());
                if *swap_sides {
                    batch.swap_sides(restarted);
                }
                watched.follow_reset(batch, restarted);
            }
            Beginning::States(states, reseed) => {
                let States { colors, .. } = &**states;
                let colors = if colors.len() > 1 { &colors[rows.clone()] } else { colors };
                batch.restore_checked(all, rows, states.restored(), *reseed);
                watched.follow_restore(batch, restarted, colors);
            }
        }
    }

    /// Releases the sequences of pieces that nothing uses any more.
    pub fn settle(&mut self) {
        self.memory.settle();
    }

    /// Counts a step of this many environments, before the first of them is performed.
    pub fn begin_step(&mut self, rows: usize) {
        self.history.begin_step(rows);
    }

    /// Performs the actions of these environments, which have been checked.
    pub fn step_checked(&mut self, actions: &[i32], env_ids: Option<&[u32]>) -> StepOutcome {
        let mut outcome = StepOutcome::default();
        self.batch.step_checked(actions, env_ids, &mut outcome);
        self.watched.follow_step(&self.batch, env_ids, &outcome);
        self.history.follow_step(&self.batch, env_ids, &outcome);
        outcome
    }

    /// Counts a performed call, and keeps its answer if it has a number.
    pub fn complete<Q: Message, A: Message + Name + Clone + 'static>(
        &mut self,
        number: u64,
        request: &Q,
        kept: Option<Share>,
        answer: &A,
    ) {
        self.sequence.complete(number, request, answer);
        self.keep(kept, number, answer);
    }

    /// Steps all environments as a Step does, and writes the tensors of the answer into `block`. A refused
    /// call leaves the block unchanged. Returns the last states of ended episodes.
    pub fn step_into(
        &mut self,
        actions: &[i32],
        number: u64,
        block: &mut Vec<u8>,
    ) -> Result<Option<FinalRows>, Refusal> {
        let SessionState { batch, sequence, layout, memory, watched, history, outcome, .. } = self;
        sequence.run_once(number, |_| {
            batch.step_into(actions, None, outcome)?;
            watched.follow_step(batch, None, outcome);
            history.begin_step(actions.len());
            history.follow_step(batch, None, outcome);
            Ok(())
        })?;
        memory.keep(None);
        layout.write(batch, None, outcome, block);
        Ok(layout.finals(batch, &outcome.finals))
    }

    /// Resets these environments as a Reset does, optionally with seeds, and fills a block. Its rewards and
    /// flags are zeros.
    pub fn reset_into(
        &mut self,
        seeds: Option<&[u64]>,
        env_ids: Option<&[u32]>,
        number: u64,
        block: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let SessionState { batch, sequence, memory, watched, .. } = self;
        let seeding = seeds.map(|seeds| Seeding::Seeds(seeds.to_vec()));
        sequence.run_once(number, |_| {
            batch.reset(env_ids, seeding.as_ref())?;
            watched.follow_reset(batch, env_ids);
            Ok(())
        })?;
        memory.keep(None);
        memory.settle();
        self.observe_into(env_ids, block);
        Ok(())
    }

    /// Fills a block with what these environments show. Its rewards and flags are zeros.
    pub fn observe_into(&mut self, env_ids: Option<&[u32]>, block: &mut Vec<u8>) {
        let rows = self.num_rows(env_ids) as usize;
        let SessionState { batch, layout, outcome, .. } = self;
        let (rewards, terminated, truncated) = (vec![0.0; rows], vec![false; rows], vec![false; rows]);
        *outcome = StepOutcome { rewards, terminated, truncated, ..StepOutcome::default() };
        layout.write(batch, env_ids, outcome, block);
    }

    /// Starts watching the given environments, in the caller's place.
    pub fn watch(&mut self, env_ids: Vec<u32>, place: CallPlace) -> Result<Arc<Watch>, Refusal> {
        self.batch.check_env_ids(&env_ids)?;
        let bytes = Watched::memory_bytes(env_ids.len() as u32, &self.batch.config().rules);
        let memory = self.memory.room_to_watch(bytes)?;
        self.watched.begin(&self.batch, env_ids, place, memory)
    }

    /// Current state of watched environments.
    pub fn frame(&self, env_ids: &[u32]) -> Vec<pb::WatchedEnv> {
        self.watched.frame(&self.batch, env_ids)
    }

    /// The current pieces and playfields of environments.
    pub fn positions(&self, env_ids: Option<&[u32]>, answers: &Answers) -> Result<List<Position>, Refusal> {
        self.batch.check(env_ids)?;
        let position = |env_id| Position {
            chain: self.batch.chain(env_id),
            falling: self.batch.falling(env_id),
            ..Position::of(self.batch.playfield(env_id), self.batch.hand(env_id))
                .with_garbage(self.batch.incoming(env_id))
        };
        List::collect(answers, self.named(env_ids).map(position))
    }

    /// What a policy sees of environments, whose numbers must be valid, in addition to [`SessionState::positions`].
    pub fn views(&self, env_ids: Option<&[u32]>, answers: &Answers) -> Result<List<GameView>, Refusal> {
        let view = |env_id| {
            let statistics = self.batch.statistics(env_id);
            GameView {
                next: self.batch.pieces(env_id).into_iter().skip(1).collect(),
                held: self.batch.held(env_id),
                odds: self.batch.odds(env_id),
                lines: statistics.lines,
                pieces: statistics.pieces,
                incoming: self.batch.incoming(env_id),
            }
        };
        List::collect(answers, self.named(env_ids).map(view))
    }

    /// Number of these environments; `None` means all.
    pub fn num_rows(&self, env_ids: Option<&[u32]>) -> u32 {
        num_rows(&self.batch, env_ids)
    }

    /// The numbers of these environments; `None` means all.
    fn named(&self, env_ids: Option<&[u32]>) -> impl ExactSizeIterator<Item = u32> {
        let rows = num_rows(&self.batch, env_ids);
        (0..rows).map(move |row| env_ids.map_or(row, |env_ids| env_ids[row as usize]))
    }

    /// Reserves memory to keep the answer to a numbered call that has not been performed yet.
    pub fn room_to_keep(&self, number: u64, max_bytes: u64) -> Result<Option<Share>, Refusal> {
        let is_next = number == self.sequence_number() + 1;
        is_next.then(|| self.memory.room_to_keep(max_bytes)).transpose()
    }

    /// Keeps the answer of a performed numbered call, in its reserved memory.
    fn keep(&mut self, kept: Option<Share>, number: u64, answer: &impl Message) {
        // A repeated request has reserved nothing, because its answer is kept already.
        if number == 0 || kept.is_some() {
            self.memory.keep(kept.map(|room| (room, answer.encoded_len() as u64)));
        }
    }

    /// Most bytes of the answer to a step, a reset or a restore of these environments.
    pub fn max_answer_bytes(&self, env_ids: Option<&[u32]>) -> u64 {
        // A list that is longer than the session contains duplicates, and is refused.
        let rows = num_rows(&self.batch, env_ids).min(self.batch.config().num_envs);
        self.layout.max_bytes(self.batch.config().autoreset_mode, rows.into())
    }

    /// Most bytes of the outcome of a step of these environments: a reward, two flags and an action per row, and the
    /// last states of episodes that are followed by the next one at once.
    pub fn outcome_bytes(&self, env_ids: Option<&[u32]>) -> u64 {
        let config = self.batch.config();
        let rows = num_rows(&self.batch, env_ids).min(config.num_envs);
        let last_state = match config.autoreset_mode {
            AutoresetMode::SameStep => EnvBatch::env_bytes(&config.rules) as u64,
            AutoresetMode::NextStep | AutoresetMode::Disabled => 0,
        };
        u64::from(rows) * (last_state + 10)
    }

    /// Most bytes of an answer with `rows` rows. Refuses one that could be too large.
    pub fn check_size(&self, rows: u64, row_bytes: u64) -> Result<u64, Refusal> {
        let max_bytes = self.max_response_bytes;
        let max_rows = u64::from(max_bytes).saturating_sub(ANSWER_OVERHEAD) / row_bytes;
        if rows > max_rows {
            return Err(Refusal::ResponseTooLarge { max_rows, max_bytes });
        }
        Ok(rows * row_bytes + ANSWER_OVERHEAD)
    }
}

fn num_rows(batch: &EnvBatch, env_ids: Option<&[u32]>) -> u32 {
    env_ids.map_or(batch.config().num_envs, |env_ids| env_ids.len() as u32)
}
