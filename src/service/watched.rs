//! The environments of a session that callers watch, with the piece that each cell came from.
//!
//! An environment's playfield distinguishes only full and empty cells. While at least one caller watches it, and always
//! in a session that keeps colors, the call that lands a piece also colours its cells here. This takes tens of
//! nanoseconds per step and watched environment, and nothing for the others. Messages for viewers are made later, when
//! they are due.
//!
//! A caller that stops watching drops its [`Watch`] on any thread; the next step or watch notices.

use std::sync::{Arc, Weak};

use tetrion_core::engine::{EpisodeEnd, LandedPiece, Rules};
use tetrion_core::env::{
    AutoresetMode, EnvBatch, EpisodeIndex, EpisodePhase, EpisodeStatistics, StepOutcome,
};
use tetrion_protocol::limits::MAX_WATCHES_PER_SESSION;
use tetrion_protocol::{pb, watching};
use tetrion_toolkit::recording::{Cell, Cells};

use super::budget::Share;
use super::places::CallPlace;
use super::refusal::{Refusal, Scope};

/// The environments that one caller watches, as long as it holds this value.
#[derive(Debug)]
pub(super) struct Watch {
    pub env_ids: Vec<u32>,
    /// The caller's place among all watches.
    pub place: CallPlace,
    /// Memory of the watched environments.
    _memory: Share,
}

/// The watches of a session.
#[derive(Debug)]
pub(super) struct Watched {
    watches: Vec<Weak<Watch>>,
    /// Whether all environments are watched as long as the session lives.
    keeps_all: bool,
    /// Watched environments in ascending order.
    envs: Vec<TrackedEnv>,
}

#[derive(Debug)]
struct TrackedEnv {
    env_id: u32,
    episode: EpisodeIndex,
    /// Pieces landed in the environment.
    pieces: u64,
    phase: EpisodePhase,
    cells: Cells,
    last_episode: Option<pb::WatchedEpisode>,
}

impl Watched {
    /// Most bytes for watching this many environments.
    pub fn memory_bytes(num_envs: u32, rules: &Rules) -> u64 {
        let cells = u64::from(rules.width) * u64::from(rules.height) * size_of::<Cell>() as u64;
        u64::from(num_envs) * (size_of::<TrackedEnv>() as u64 + cells)
    }

    /// The watches of a new session, whose environments remember the origins of their cells if it `keeps_all`.
    pub fn new(batch: &EnvBatch, keeps_all: bool) -> Watched {
        let env_ids = 0..if keeps_all { batch.config().num_envs } else { 0 };
        let envs = env_ids.map(|env_id| TrackedEnv::new(batch, env_id)).collect();
        Watched { watches: Vec::new(), keeps_all, envs }
    }

    /// Whether all environments remember the origins of their cells.
    pub fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    /// The origins of the cells of an environment; without the piece that left it, a full cell has none.
    pub fn cells(&self, batch: &EnvBatch, env_id: u32) -> Cells {
        self.kept(env_id).cloned().unwrap_or_else(|| Cells::given(&batch.playfield(env_id)))
    }

    /// The origins of the cells of an environment, in a session that keeps them.
    pub fn kept(&self, env_id: u32) -> Option<&Cells> {
        self.keeps_all.then(|| &self.envs[env_id as usize].cells)
    }

    /// Starts watching environments in reserved memory. All of them must exist.
    ///
    /// # Errors
    /// [`Refusal::WatchLimit`] if too many callers already watch this session.
    pub fn begin(
        &mut self,
        batch: &EnvBatch,
        env_ids: Vec<u32>,
        place: CallPlace,
        memory: Share,
    ) -> Result<Arc<Watch>, Refusal> {
        self.forget_unwatched();
        if self.watches.len() >= MAX_WATCHES_PER_SESSION as usize && !self.makes_room() {
            return Err(Refusal::WatchLimit { scope: Scope::Session, limit: MAX_WATCHES_PER_SESSION });
        }
        for &env_id in &env_ids {
            if let Err(place) = self.envs.binary_search_by_key(&env_id, |env| env.env_id) {
                self.envs.insert(place, TrackedEnv::new(batch, env_id));
            }
        }
        let watch = Arc::new(Watch { env_ids, place, _memory: memory });
        self.watches.push(Arc::downgrade(&watch));
        Ok(watch)
    }

    /// Updates the cells after a step of these environments; `None` means all.
    #[inline]
    pub fn follow_step(&mut self, batch: &EnvBatch, env_ids: Option<&[u32]>, outcome: &StepOutcome) {
        if self.follows() {
            self.follow(batch, env_ids, Some(outcome));
        }
    }

    /// Updates the cells after a reset of these environments; `None` means all.
    pub fn follow_reset(&mut self, batch: &EnvBatch, env_ids: Option<&[u32]>) {
        if self.follows() {
            self.follow(batch, env_ids, None);
        }
    }

    /// Follows a call that has restored these environments, with the origins of the cells of each, or of all, if known.
    pub fn follow_restore(&mut self, batch: &EnvBatch, env_ids: Option<&[u32]>, colors: &[Option<Cells>]) {
        if !self.follows() {
            return;
        }
        let keeps_all = self.keeps_all;
        self.each(env_ids, |row, env| {
            match colors.get(if colors.len() > 1 { row as usize } else { 0 }) {
                Some(Some(cells)) => env.cells = cells.clone(),
                _ if keeps_all => env.cells = Cells::given(&batch.playfield(env.env_id)),
                // A viewer's guess: most cells are where they were.
                _ => {}
            }
        });
        self.follow(batch, env_ids, None);
    }

    #[inline]
    fn follows(&self) -> bool {
        self.keeps_all || !self.watches.is_empty()
    }

    fn follow(&mut self, batch: &EnvBatch, env_ids: Option<&[u32]>, outcome: Option<&StepOutcome>) {
        self.forget_unwatched();
        self.each(env_ids, |row, env| env.follow(batch, outcome.map(|outcome| (outcome, row))));
    }

    /// Calls a function with each watched environment among these, and with its row in the call.
    fn each(&mut self, env_ids: Option<&[u32]>, mut each: impl FnMut(u32, &mut TrackedEnv)) {
        match env_ids {
            None => self.envs.iter_mut().for_each(|env| each(env.env_id, env)),
            Some(env_ids) => {
                for (row, env_id) in (0..).zip(env_ids) {
                    if let Ok(place) = self.envs.binary_search_by_key(env_id, |env| env.env_id) {
                        each(row, &mut self.envs[place]);
                    }
                }
            }
        }
    }

    /// Current state of the given environments, in this order. All of them must be watched.
    pub fn frame(&self, batch: &EnvBatch, env_ids: &[u32]) -> Vec<pb::WatchedEnv> {
        let shown = |env_id: &u32| {
            let place = self.envs.binary_search_by_key(env_id, |env| env.env_id).ok()?;
            let TrackedEnv { env_id, cells, last_episode, .. } = &self.envs[place];
            Some(watching::encode_env(batch, *env_id, cells, last_episode.as_ref()))
        };
        env_ids.iter().filter_map(shown).collect()
    }

    /// Frees the place of the caller that has left its last frame unread for longest, if that is too long.
    fn makes_room(&mut self) -> bool {
        let watches: Vec<Arc<Watch>> = self.watches.iter().filter_map(Weak::upgrade).collect();
        let overdue = watches.iter().filter_map(|watch| Some((watch.place.overdue()?, watch)));
        let Some((_, longest)) = overdue.min_by_key(|(since, _)| *since) else { return false };
        longest.place.lose();
        self.forget_unwatched();
        true
    }

    /// Forgets the environments that no caller watches any more.
    fn forget_unwatched(&mut self) {
        let goes_on =
            |watch: &Weak<Watch>| watch.upgrade().is_some_and(|watch| !watch.place.lost.is_cancelled());
        if self.watches.iter().all(goes_on) {
            return;
        }
        self.watches.retain(goes_on);
        if self.keeps_all {
            return;
        }
        let watches: Vec<Arc<Watch>> = self.watches.iter().filter_map(Weak::upgrade).collect();
        self.envs.retain(|env| watches.iter().any(|watch| watch.env_ids.contains(&env.env_id)));
    }
}

impl TrackedEnv {
    fn new(batch: &EnvBatch, env_id: u32) -> TrackedEnv {
        let mut env = TrackedEnv {
            env_id,
            episode: batch.episode(env_id),
            pieces: batch.statistics(env_id).pieces,
            phase: batch.phase(env_id),
            cells: Cells::given(&batch.playfield(env_id)),
            last_episode: None,
        };
        env.note_end(batch);
        env
    }

    /// Follows a call: a step with its outcome and the environment's row, or another one.
    fn follow(&mut self, batch: &EnvBatch, stepped: Option<(&StepOutcome, u32)>) {
        let (env_id, pieces) = (self.env_id, batch.statistics(self.env_id).pieces);
        let episode = batch.episode(env_id);
        let goes_on = stepped.is_some() && episode == self.episode && self.phase == EpisodePhase::Running;
        if goes_on && pieces == self.pieces + 1 {
            let LandedPiece { piece, cells, cleared_rows } =
                batch.last_landing(env_id).expect("a piece has landed");
            self.cells.land(piece, &cells, cleared_rows);
            self.cells.rise(&batch.playfield(env_id), batch.incoming(env_id).just_risen);
        } else if !goes_on || pieces != self.pieces {
            if let Some(stepped) = stepped {
                self.note_final(batch, stepped);
            }
            self.cells.agree(&batch.playfield(env_id));
        }
        (self.episode, self.pieces) = (episode, pieces);
        let before = std::mem::replace(&mut self.phase, batch.phase(env_id));
        if self.phase != before {
            self.note_end(batch);
        }
    }

    /// Notes an ended episode whose final state still shows.
    fn note_end(&mut self, batch: &EnvBatch) {
        if let Some(end) = self.phase.end() {
            self.note(self.episode, batch.statistics(self.env_id), end);
        }
    }

    /// Notes an episode that ended in a step that also started the next one.
    fn note_final(&mut self, batch: &EnvBatch, (outcome, row): (&StepOutcome, u32)) {
        if batch.config().autoreset_mode != AutoresetMode::SameStep {
            return;
        }
        if let Some((statistics, end)) = outcome.finals.ended(row) {
            self.note(self.episode, statistics, end);
        }
    }

    fn note(&mut self, episode: EpisodeIndex, statistics: EpisodeStatistics, end: EpisodeEnd) {
        let EpisodeStatistics { lines, pieces, steps, episode_return } = statistics;
        let (episode, end) = (episode.index, pb::EpisodeEnd::from(Some(end)).into());
        self.last_episode = Some(pb::WatchedEpisode { episode, lines, pieces, steps, episode_return, end });
    }
}
