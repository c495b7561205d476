//! One game of a bot, from its first word to its end. The game is ours: the bot is told of it, and asked.
//!
//! As the specification has it, the first move that can be made is made, of those that a bot suggests. A move can be made if it
//! is one of our placements: these cells, reached in this way, and with the label that it says.

use std::time::{Duration, Instant};

use crate::engine::{Odds, Placement, Randomizer, Rules, Tetromino};
use crate::recording::{Course, Ending, Recorder, Recording};

use super::faults::{End, Fault};
use super::lines::{SHOWN, shown};
use super::messages::{
    BotMessage, FrontEndMessage, Info, Letter, Message, Move, RandomizerState, RulesMessage, Start,
    Suggestion, read, write,
};
use super::process::{BotProcess, Broken};
use super::{HEIGHT, WIDTH};

/// A game that a bot has played.
#[derive(Clone, Debug, PartialEq)]
pub struct HostedGame {
    /// Which, from 0.
    pub game: u32,
    /// The seed of the episode that it is.
    pub seed: u64,
    /// Who played, if it said so.
    pub bot: Option<Info>,
    /// How it ended.
    pub end: End,
    /// Lines sent.
    pub attack: u64,
    /// Moves that were suggested before one that could be made.
    pub passed_over: u64,
    /// What was played.
    pub recording: Recording,
}

/// What a bot is given to play, and how long it may take.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    /// Pieces after which the game is over.
    pub max_pieces: u64,
    /// How long it may think before it is asked for a move.
    pub think: Duration,
    /// How long it may take for each answer.
    pub patience: Duration,
    /// Whether all games are to stop.
    pub is_stopped: &'a dyn Fn() -> bool,
}

/// A game under way.
pub(super) struct Table<'a> {
    pub recorder: Recorder,
    pub bot: Option<Info>,
    pub passed_over: u64,
    pub process: BotProcess,
    pub terms: Terms<'a>,
}

impl Table<'_> {
    /// Plays the game.
    pub fn play(&mut self, landed: &dyn Fn()) -> Result<End, Broken> {
        self.introduce()?;
        self.tell(&FrontEndMessage::Start(Box::new(position(self.recorder.course()))))?;
        let end = self.go_on(landed);
        // A bot that is gone need not hear it.
        let _ = self.tell(&FrontEndMessage::Stop);
        end
    }

    /// Lets the bot say who it is, and whether it can play.
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
            if course.end() == Some(Ending::ToppedOut) {
                return Ok(End::ToppedOut);
            }
            if course.outcome().pieces >= self.terms.max_pieces || course.end().is_some() {
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

    /// The first of these moves that can be made.
    fn choose(&mut self, moves: &[Move]) -> Result<(Move, Placement), Fault> {
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
            None => Fault::GaveUp,
            Some((played, why)) => {
                Fault::IllegalMove { played: played.to_string(), why, others: moves.len() - 1 }
            }
        })
    }

    /// Makes a move, and tells the bot of it in its own words, and of the pieces that are seen now.
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

    /// Lets the bot think.
    fn wait(&self) -> Result<(), Broken> {
        let until = Instant::now() + self.terms.think;
        loop {
            if (self.terms.is_stopped)() {
                return Err(Broken::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn tell(&self, message: &FrontEndMessage) -> Result<(), Fault> {
        self.process.tell(write(message))
    }

    /// The next message of the bot. Those of unknown types are passed over, but take of its time.
    fn hear(&mut self, expected: &'static str) -> Result<BotMessage, Broken> {
        let Terms { patience, is_stopped, .. } = self.terms;
        let deadline = Instant::now() + patience;
        loop {
            let line = self.process.hear(expected, deadline, patience, is_stopped)?;
            let is_blank = line.trim().is_empty();
            match read::<BotMessage>(&line) {
                Ok(Some(BotMessage::Error { reason })) => {
                    return Err(Fault::Refused(shown(&reason, SHOWN)).into());
                }
                Ok(Some(message)) => return Ok(message),
                Err(why) if !is_blank => {
                    let (line, why) = (shown(&line, SHOWN), shown(&why.to_string(), 2 * SHOWN));
                    return Err(Fault::NotAMessage { line, why }.into());
                }
                Ok(None) | Err(_) => {}
            }
            // A bot that chatters on and on says nothing.
            if is_stopped() {
                return Err(Broken::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(Fault::Silent { expected, waited: patience }.into());
            }
        }
    }
}

fn out_of_turn(message: &BotMessage, expected: &'static str) -> Fault {
    let [info, ready, error, suggestion] = BotMessage::TYPES else { unreachable!("the types of messages") };
    let said = match message {
        BotMessage::Info(_) => info,
        BotMessage::Ready => ready,
        BotMessage::Error { .. } => error,
        BotMessage::Suggestion(_) => suggestion,
    };
    Fault::OutOfTurn { said, expected }
}

/// Who a bot is, in words that can be shown.
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
    course.piece().into_iter().chain(course.next())
}

/// A game at its beginning, as bots are told of it.
fn position(course: &Course) -> Start {
    let board = vec![vec![None; WIDTH.into()]; HEIGHT.into()];
    Start {
        hold: course.held().map(Letter),
        queue: queue(course).map(Letter).collect(),
        combo: 0,
        back_to_back: false,
        board,
        randomizer: Some(randomizer_state(course.rules(), course.odds())),
    }
}

/// The protocol's name of how pieces are dealt.
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
