//! One game of a bot, from its first message to its end. The host runs the game, informs the bot and requests moves.
//!
//! As in the specification, the first legal move of a suggestion is made. A move is legal if it is one of our
//! placements: these cells, reached in this way, with this spin label.

use std::time::{Duration, Instant};

use crate::recording::{Course, Recorder, Recording};
use tetrion_core::engine::{EpisodeEnd, Odds, Placement, Randomizer, Rules, Tetromino};

use super::faults::{BotFault, End};
use super::lines::{SHOWN, shown};
use super::messages::{
    BotMessage, FrontEndMessage, Info, Letter, Message, Move, RandomizerState, RulesMessage, StartMessage,
    Suggestion, read, write,
};
use super::process::{BotProcess, Broken};
use super::{HEIGHT, WIDTH};

/// A finished game of a bot.
#[derive(Clone, Debug, PartialEq)]
pub struct HostedGame {
    /// Number of the game, from 0.
    pub game: u32,
    /// Seed of the game's episode.
    pub seed: u64,
    /// The bot's description of itself, if it sent one.
    pub bot: Option<Info>,
    pub end: End,
    /// Lines that the bot sent.
    pub attack: u64,
    /// Suggested moves that were skipped as illegal.
    pub passed_over: u64,
    pub recording: Recording,
}

/// Limits of a game and of the bot's time.
#[derive(Clone, Copy)]
pub(super) struct BotLimits<'a> {
    /// Pieces after which the game ends.
    pub max_pieces: u64,
    /// Time that the bot may think before each request for a move.
    pub think: Duration,
    /// Most time of each answer.
    pub patience: Duration,
    /// Whether all games must stop.
    pub is_stopped: &'a dyn Fn() -> bool,
}

/// A game and the bot that plays it.
pub(super) struct BotGame<'a> {
    pub recorder: Recorder,
    pub bot: Option<Info>,
    pub passed_over: u64,
    pub process: BotProcess,
    pub limits: BotLimits<'a>,
}

impl BotGame<'_> {
    /// Plays the game from the first message to the last. Calls `landed` after every piece.
    pub fn play(&mut self, landed: &dyn Fn()) -> Result<End, Broken> {
        self.introduce()?;
        self.tell(&FrontEndMessage::Start(Box::new(position(self.recorder.course()))))?;
        let end = self.go_on(landed);
        // A bot that is gone need not hear it.
        let _ = self.tell(&FrontEndMessage::Stop);
        end
    }

    /// Lets the bot introduce itself, and checks whether it can play.
    fn introduce(&mut self) -> Result<(), Broken> {
        match self.hear("info")? {
            BotMessage::Info(info) => self.bot = Some(plain(info)),
            other => return Err(out_of_turn(&other, "info").into()),
        }
        let randomizer = Some(randomizer(self.recorder.course().rules()).to_owned());
        self.tell(&FrontEndMessage::Rules(RulesMessage { randomizer }))?;
        match self.hear("ready")? {
            BotMessage::Ready => Ok(()),
            other => Err(out_of_turn(&other, "ready").into()),
        }
    }

    fn go_on(&mut self, landed: &dyn Fn()) -> Result<End, Broken> {
        loop {
            let course = self.recorder.course();
            if course.end() == Some(EpisodeEnd::ToppedOut) {
                return Ok(End::ToppedOut);
            }
            if course.outcome().pieces >= self.limits.max_pieces || course.end().is_some() {
                return Ok(End::Complete);
            }
            self.wait()?;
            self.tell(&FrontEndMessage::Suggest)?;
            let Suggestion { moves, .. } = match self.hear("suggestion")? {
                BotMessage::Suggestion(suggestion) => suggestion,
                other => return Err(out_of_turn(&other, "suggestion").into()),
            };
            let (played, placement) = self.choose(&moves)?;
            self.make(played, placement)?;
            landed();
        }
    }

    /// The first legal move among these.
    fn choose(&mut self, moves: &[Move]) -> Result<(Move, Placement), BotFault> {
        let course = self.recorder.course();
        let (rules, playfield) = (course.rules(), course.playfield());
        let hand = course.hand().expect("a game that goes on");
        let placements = hand.placements(rules, playfield);
        let mut first = None;
        for (n, played) in moves.iter().enumerate() {
            match played.placement(rules, playfield, &hand, &placements) {
                Ok(placement) => {
                    self.passed_over += n as u64;
                    return Ok((*played, placement));
                }
                Err(why) => first = first.or(Some((played, why))),
            }
        }
        Err(match first {
            None => BotFault::GaveUp,
            Some((played, why)) => {
                BotFault::IllegalMove { played: played.to_string(), why, others: moves.len() - 1 }
            }
        })
    }

    /// Makes a move, and tells the bot the move in its own words and the new pieces.
    fn make(&mut self, played: Move, placement: Placement) -> Result<(), Broken> {
        let course = self.recorder.course();
        // While none is held, holding takes a piece more from the queue.
        let taken = 1 + usize::from(placement.hold && course.held().is_none());
        let action = placement.action(course.rules()) as u16;
        self.recorder.play(action).expect("a placement that exists");
        self.tell(&FrontEndMessage::Play { played })?;
        let seen: Vec<Tetromino> = queue(self.recorder.course()).collect();
        for piece in &seen[seen.len().saturating_sub(taken)..] {
            self.tell(&FrontEndMessage::NewPiece { piece: Letter(*piece) })?;
        }
        Ok(())
    }

    /// Gives the bot its time to think. Fails as soon as all games must stop.
    fn wait(&self) -> Result<(), Broken> {
        let until = Instant::now() + self.limits.think;
        loop {
            if (self.limits.is_stopped)() {
                return Err(Broken::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn tell(&self, message: &FrontEndMessage) -> Result<(), BotFault> {
        self.process.tell(write(message))
    }

    /// The next message of the bot. Messages of unknown types are skipped, but use up its time.
    fn hear(&mut self, expected: &'static str) -> Result<BotMessage, Broken> {
        let BotLimits { patience, is_stopped, .. } = self.limits;
        let deadline = Instant::now() + patience;
        loop {
            let line = self.process.hear(expected, deadline, patience, is_stopped)?;
            let is_blank = line.trim().is_empty();
            match read::<BotMessage>(&line) {
                Ok(Some(BotMessage::Error { reason })) => {
                    return Err(BotFault::Refused(shown(&reason, SHOWN)).into());
                }
                Ok(Some(message)) => return Ok(message),
                Err(why) if !is_blank => {
                    let (line, why) = (shown(&line, SHOWN), shown(&why.to_string(), 2 * SHOWN));
                    return Err(BotFault::NotAMessage { line, why }.into());
                }
                Ok(None) | Err(_) => {}
            }
            // A bot that chatters on and on says nothing.
            if is_stopped() {
                return Err(Broken::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(BotFault::Silent { expected, waited: patience }.into());
            }
        }
    }
}

fn out_of_turn(message: &BotMessage, expected: &'static str) -> BotFault {
    let [info, ready, error, suggestion] = BotMessage::TYPES else { unreachable!("the types of messages") };
    let said = match message {
        BotMessage::Info(_) => info,
        BotMessage::Ready => ready,
        BotMessage::Error { .. } => error,
        BotMessage::Suggestion(_) => suggestion,
    };
    BotFault::OutOfTurn { said, expected }
}

/// A bot's description of itself, made safe to print.
fn plain(info: Info) -> Info {
    let Info { name, version, author, features } = info;
    let plain = |text: String| shown(&text, SHOWN / 2);
    Info {
        name: plain(name),
        version: plain(version),
        author: plain(author),
        features: features.into_iter().take(16).map(plain).collect(),
    }
}

/// The current piece and those after it.
fn queue(course: &Course) -> impl Iterator<Item = Tetromino> {
    course.piece().into_iter().chain(course.preview())
}

/// The position of a game in the words of the protocol.
fn position(course: &Course) -> StartMessage {
    let board = vec![vec![None; WIDTH.into()]; HEIGHT.into()];
    StartMessage {
        hold: course.held().map(Letter),
        queue: queue(course).map(Letter).collect(),
        combo: 0,
        back_to_back: false,
        board,
        randomizer: Some(randomizer_state(course.rules(), course.odds())),
    }
}

/// The protocol's name for the randomizer.
fn randomizer(rules: &Rules) -> &'static str {
    match rules.randomizer {
        Randomizer::Uniform => "uniform",
        Randomizer::Bag7 => "seven_bag",
        Randomizer::Balanced | Randomizer::Nes => "unknown",
    }
}

fn randomizer_state(rules: &Rules, odds: Odds) -> RandomizerState {
    match rules.randomizer {
        Randomizer::Uniform => RandomizerState::Uniform,
        Randomizer::Bag7 => {
            let left = Tetromino::ALL.into_iter().filter(|piece| odds.of(*piece) > 0);
            RandomizerState::SevenBag { bag_state: left.map(Letter).collect() }
        }
        Randomizer::Balanced | Randomizer::Nes => RandomizerState::Unknown,
    }
}
