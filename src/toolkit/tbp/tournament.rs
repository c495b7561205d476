//! Many games of a bot, each with a separate process, several at a time.
//!
//! The games are returned in order, whatever the order in which they ended: a bot that always gives equal answers
//! plays equal games, with any number at a time.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::recording::{Pieces, Recorder, Setup};
use tetrion_core::engine::Rules;
use tetrion_core::engine::rng::{Tag, word};

use super::faults::End;
use super::hosted::{BotGame, BotLimits, BotSeat, HostedGame};
use super::in_parallel::in_parallel;
use super::process::{BotCommand, Broken};

/// The games that a bot is to play, and its time limits.
#[derive(Clone, Debug)]
pub struct Hosting {
    pub program: BotCommand,
    /// Rules of the games, which [the protocol must be able to express](super::check_rules).
    pub rules: Rules,
    pub games: u32,
    /// The seed from which the seeds of the games are drawn, as in evaluations.
    pub seed: u64,
    /// Pieces after which a game ends.
    pub max_pieces: u64,
    /// Games played at a time, at least one.
    pub jobs: u32,
    /// Time that a bot may think before each request for a move.
    pub think: Duration,
    /// Most time of each answer.
    pub patience: Duration,
}

/// Progress of all games together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostingProgress {
    /// Games that have ended.
    pub games: u32,
    /// Pieces placed in all games.
    pub pieces: u64,
}

/// The program of the bot cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {program:?}: {error}")]
pub struct CannotStart {
    program: std::ffi::OsString,
    error: io::Error,
}

/// Plays all games, and returns them in order; only the finished ones if `report`, which is called several times per
/// second, returns false.
///
/// # Errors
/// [`CannotStart`] if the program cannot be started.
pub fn play(
    hosting: &Hosting,
    mut report: impl FnMut(HostingProgress) -> bool,
) -> Result<Vec<HostedGame>, CannotStart> {
    let (stop, pieces) = (AtomicBool::new(false), AtomicU64::new(0));
    let hall = Hall { hosting, stop: &stop, pieces: &pieces };
    let report = |games: usize| {
        let progress = HostingProgress { games: games as u32, pieces: pieces.load(Ordering::Relaxed) };
        if !report(progress) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let games = in_parallel(hosting.games, hosting.jobs, &stop, |game| hall.play_game(game), report);
    games.map_err(|error| CannotStart { program: hosting.program.path.clone(), error })
}

/// State shared by the playing threads.
#[derive(Clone, Copy)]
struct Hall<'a> {
    hosting: &'a Hosting,
    stop: &'a AtomicBool,
    pieces: &'a AtomicU64,
}

impl Hall<'_> {
    /// Plays a game; `None` if it was stopped.
    fn play_game(self, game: u32) -> io::Result<Option<HostedGame>> {
        let Hosting { program, rules, seed, max_pieces, think, patience, .. } = self.hosting;
        let seed = word(*seed, Tag::Game, game.into());
        let recorder = Recorder::new(Setup::new(*rules, Pieces::Seed(seed)));
        let mut table = BotGame {
            recorder: recorder.map_err(io::Error::other)?,
            seat: BotSeat::start(
                program,
                BotLimits { think: *think, patience: *patience, is_stopped: self.stop },
            )?,
            max_pieces: *max_pieces,
        };
        let end = match table.play(&|| _ = self.pieces.fetch_add(1, Ordering::Relaxed)) {
            Ok(end) => end,
            Err(Broken::By(fault)) => End::Lost(fault),
            Err(Broken::Stopped) => return Ok(None),
        };
        let BotGame { recorder, seat, .. } = table;
        let (bot, passed_over) = (seat.bot.clone(), seat.passed_over);
        let is_lost = matches!(&end, End::Lost(fault) if !fault.could_go_on());
        seat.leave(!is_lost);
        let player = bot.as_ref().map_or(String::new(), |bot| format!("{} {}", bot.name, bot.version));
        let recording =
            recorder.recording(player.trim(), &format!("game {game} with seed {}", self.hosting.seed));
        let attack = recorder.course().statistics().sent;
        Ok(Some(HostedGame { game, seed, bot, end, attack, passed_over, recording }))
    }
}
