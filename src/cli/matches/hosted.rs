//! Matches with bots of the Tetris Bot Protocol, which are played here: a bot is a process on this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;

use super::pair::PlayedPair;
use crate::cli::output::say;
use crate::players::{Contender, Pilot};
use tetrion_client::PlayedGame;
use tetrion_core::agents::PlayChoice;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{EpisodeEnd, Rules};
use tetrion_toolkit::recording::{Course, Outcome, Pieces, Recorder, Recording, Setup};
use tetrion_toolkit::tbp::messages::Move;
use tetrion_toolkit::tbp::{BotCommand, BotLimits, BotSeat, Broken, in_parallel, num_new};

/// Prefix of a bot among the players.
const BOT: &str = "tbp:";
/// Most time of a bot's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Work of one of our players between two looks at whether the matches are stopped.
const WORK: u64 = 1 << 16;

/// The program of a bot, if a player's name is one: `tbp:PROGRAM ARGUMENTS`.
pub fn bot_command(player: &str) -> Option<BotCommand> {
    let mut words = player.strip_prefix(BOT)?.split_whitespace().map(Into::into);
    Some(BotCommand { path: words.next()?, args: words.collect() })
}

/// A player of matches that are played here.
#[derive(Clone, Debug)]
pub enum HostedPlayer {
    Contender(Contender),
    Bot(BotCommand),
}

/// The matches of two players.
#[derive(Clone, Debug)]
pub struct HostedMatches {
    pub players: [HostedPlayer; 2],
    pub names: [String; 2],
    pub choice: PlayChoice,
    pub rules: Rules,
    pub max_pieces: u64,
    /// Pairs played in parallel.
    pub jobs: u32,
    /// Time that a bot may think about each move.
    pub think: Duration,
}

/// Stops matches when it is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl HostedMatches {
    /// Plays a pair of matches for each seed. Calls `played` with the number of finished pairs.
    ///
    /// # Errors
    /// If a program cannot be started, or a player cannot play under the rules.
    pub async fn play(
        self,
        seeds: &[u64],
        played: impl FnMut(usize) + Send + 'static,
    ) -> anyhow::Result<Vec<PlayedPair>> {
        let stop = StopOnDrop(Arc::default());
        let (is_stopped, seeds) = (stop.0.clone(), seeds.to_vec());
        let pairs = tokio::task::spawn_blocking(move || {
            let pair = |number: u32| self.pair(number, seeds[number as usize], &is_stopped);
            in_parallel(seeds.len() as u32, self.jobs, &is_stopped, pair, played)
        });
        let pairs = pairs.await?;
        drop(stop);
        pairs
    }

    /// Both matches of a seed; `None` if they were stopped.
    fn pair(&self, number: u32, seed: u64, is_stopped: &AtomicBool) -> anyhow::Result<Option<PlayedPair>> {
        let (mut games, mut recordings) = (Vec::new(), Vec::new());
        for side in [0, 1] {
            let Some((recording, ends)) = self.play_match(seed, side, is_stopped)? else { return Ok(None) };
            let theirs = &recording.opponent.as_ref().expect("a match").outcome;
            let Outcome { pieces, lines, score, .. } = *[&recording.outcome, theirs][side];
            games.push(PlayedGame {
                game: u64::from(2 * number) + side as u64,
                policy: 0,
                seed_index: number,
                episode: side as u32,
                seed,
                lines,
                pieces,
                steps: pieces,
                score,
                end: ends[side],
            });
            recordings.push(recording);
        }
        let games = games.try_into().expect("two matches");
        Ok(Some(PlayedPair { seed, games, recordings }))
    }

    /// A match in which the first player has this side: its recording, and how it has ended for each side. `None` if it was
    /// stopped. The recording's origin names a fault, at which the recording ends.
    fn play_match(
        &self,
        seed: u64,
        side: usize,
        is_stopped: &AtomicBool,
    ) -> anyhow::Result<Option<(Recording, MatchEnds)>> {
        let limits = BotLimits { think: self.think, patience: PATIENCE, is_stopped };
        let mut seats = Vec::new();
        for at in [0, 1] {
            seats.push(match &self.players[(at + side) % 2] {
                HostedPlayer::Bot(program) => {
                    let bot = BotSeat::start(program, limits);
                    let bot = bot.with_context(|| format!("cannot start {:?}", program.path))?;
                    MatchSeat::Bot(Box::new(bot), None)
                }
                HostedPlayer::Contender(contender) => {
                    let seed = word(seed, Tag::Side, at as u64);
                    MatchSeat::Pilot(Box::new(contender.pilot(&self.rules, self.choice, seed)?))
                }
            });
        }
        let mut recorder = Recorder::new(Setup::new(self.rules, Pieces::Seed(seed)))?;
        let fault = match self.turns(&mut recorder, &mut seats, is_stopped) {
            Ok(()) => None,
            Err((_, Broken::Stopped)) => return Ok(None),
            Err((loser, Broken::By(fault))) => {
                let name = &self.names[(loser + side) % 2];
                say(format_args!("{name} loses the match with seed {seed}: {fault}"));
                Some((loser, fault))
            }
        };
        for (at, seat) in seats.into_iter().enumerate() {
            if let MatchSeat::Bot(bot, _) = seat {
                let own = fault.as_ref().filter(|(loser, _)| *loser == at);
                bot.leave(own.is_none_or(|(_, fault)| fault.could_go_on()));
            }
        }
        let mut recording = recorder.recording("", "");
        let theirs = recording.opponent.as_ref().expect("a match").outcome.end;
        let ends = match fault {
            Some((loser, _)) => {
                recording.origin = format!("side {loser} lost by a fault");
                let mut ends = [None; 2];
                ends[loser] = Some(EpisodeEnd::InvalidAction);
                EpisodeEnd::of_match(ends)
            }
            None => [recording.outcome.end, theirs].map(|end| end.or(Some(EpisodeEnd::PieceLimit))),
        };
        Ok(Some((recording, ends)))
    }

    /// Plays a match to its end. A bot's fault comes with its side.
    fn turns(
        &self,
        recorder: &mut Recorder,
        seats: &mut [MatchSeat<'_>],
        is_stopped: &AtomicBool,
    ) -> Result<(), (usize, Broken)> {
        let at_side = |side: usize| move |broken| (side, broken);
        for (side, seat) in seats.iter_mut().enumerate() {
            seat.enter(&self.rules).map_err(at_side(side))?;
        }
        while recorder.course().end().is_none() && recorder.course().outcome().pieces < self.max_pieces {
            let course = recorder.course();
            // All bots think at the same time.
            for (side, seat) in seats.iter().enumerate() {
                seat.prepare(course.side(side)).map_err(at_side(side))?;
            }
            let bots = || seats.iter().enumerate().filter_map(|(side, seat)| Some((side, seat.bot()?)));
            for (side, bot) in bots().take(1) {
                bot.wait().map_err(at_side(side))?;
            }
            for (side, bot) in bots() {
                bot.ask().map_err(at_side(side))?;
            }
            let mut turn = [0; 2];
            for (side, seat) in seats.iter_mut().enumerate() {
                turn[side] = seat.choose(course.side(side), is_stopped).map_err(at_side(side))?;
            }
            recorder.play_turn(turn).expect("both actions exist");
            for (side, seat) in seats.iter_mut().enumerate() {
                seat.landed(recorder.course().side(side)).map_err(at_side(side))?;
            }
        }
        Ok(())
    }
}

/// How a match has ended for each side.
type MatchEnds = [Option<EpisodeEnd>; 2];

/// A side of a match.
enum MatchSeat<'a> {
    Pilot(Box<Pilot>),
    /// A bot and, if it goes on from a position that it knows, its last move and the number of new pieces.
    Bot(Box<BotSeat<'a>>, Option<(Move, usize)>),
}

impl MatchSeat<'_> {
    fn bot(&self) -> Option<&BotSeat<'_>> {
        match self {
            MatchSeat::Bot(bot, _) => Some(bot),
            MatchSeat::Pilot(_) => None,
        }
    }

    fn enter(&mut self, rules: &Rules) -> Result<(), Broken> {
        match self {
            MatchSeat::Pilot(_) => Ok(()),
            MatchSeat::Bot(bot, _) => bot.introduce(rules),
        }
    }

    /// Lets a bot begin from here, unless it knows the position.
    fn prepare(&self, course: &Course) -> Result<(), Broken> {
        match self {
            MatchSeat::Bot(bot, None) => bot.begin(course),
            MatchSeat::Bot(_, Some(_)) | MatchSeat::Pilot(_) => Ok(()),
        }
    }

    fn choose(&mut self, course: &Course, is_stopped: &AtomicBool) -> Result<u16, Broken> {
        match self {
            MatchSeat::Pilot(pilot) => loop {
                if let Some(action) = pilot.next_action(course, &mut { WORK }) {
                    return Ok(action);
                }
                if is_stopped.load(Ordering::Relaxed) {
                    return Err(Broken::Stopped);
                }
            },
            MatchSeat::Bot(bot, last) => {
                let (played, placement) = bot.answer(course)?;
                *last = Some((played, num_new(course, placement)));
                Ok(placement.action(course.rules()) as u16)
            }
        }
    }

    /// After a landing. The protocol cannot say that rows have risen, so the bot starts again from the new position.
    fn landed(&mut self, course: &Course) -> Result<(), Broken> {
        match self {
            MatchSeat::Pilot(pilot) => pilot.landed(),
            MatchSeat::Bot(bot, last) if course.incoming().just_risen > 0 => {
                bot.stop();
                *last = None;
            }
            MatchSeat::Bot(bot, last) => {
                let (played, num_new) = last.expect("it has chosen");
                bot.made(played, num_new, course)?;
            }
        }
        Ok(())
    }
}
