//! One game of a bot, from its first message to its end. The host runs the game, informs the bot and requests moves.
//!
//! As in the specification, the first legal move of a suggestion is made. A move is legal if it is one of our
//! placements: these cells, reached in this way, with this spin label.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::recording::{Course, Recorder, Recording};
use tetrion_core::engine::{EpisodeEnd, Odds, Placement, Randomizer, Rules, Tetromino};

use super::faults::{BotFault, End};
use super::lines::{SHOWN, shown};
use super::messages::{
    BoardCell, BotMessage, FrontEndMessage, Info, Letter, Message, Move, RandomizerState, RulesMessage,
    StartMessage, Suggestion, read, write,
};
use super::process::{BotCommand, BotProcess, Broken};
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

/// Limits of a bot's time.
#[derive(Clone, Copy, Debug)]
pub struct BotLimits<'a> {
    /// Time that the bot may think before each request for a move.
    pub think: Duration,
    /// Most time of each answer.
    pub patience: Duration,
    /// Whether all games must stop.
    pub is_stopped: &'a AtomicBool,
}

/// A bot in a game that its host plays: alone, or on one side of a match.
#[derive(Debug)]
pub struct BotSeat<'a> {
    process: BotProcess,
    limits: BotLimits<'a>,
    /// The bot's description of itself, once it has sent one.
    pub bot: Option<Info>,
    /// Suggested moves that were skipped as illegal.
    pub passed_over: u64,
}

impl<'a> BotSeat<'a> {
    /// Starts the bot's program.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(program: &BotCommand, limits: BotLimits<'a>) -> io::Result<BotSeat<'a>> {
        Ok(BotSeat { process: BotProcess::start(program)?, limits, bot: None, passed_over: 0 })
    }

    /// Lets the bot introduce itself, and checks whether it can play.
    ///
    /// # Errors
    /// [`Broken`], as from every call of the bot.
    pub fn introduce(&mut self, rules: &Rules) -> Result<(), Broken> {
        match self.hear("info")? {
            BotMessage::Info(info) => self.bot = Some(plain(info)),
            other => return Err(out_of_turn(&other, "info").into()),
        }
        self.tell(&FrontEndMessage::Rules(RulesMessage { randomizer: Some(randomizer(rules).to_owned()) }))?;
        match self.hear("ready")? {
            BotMessage::Ready => Ok(()),
            other => Err(out_of_turn(&other, "ready").into()),
        }
    }

    /// Lets the bot start from the position of a game.
    ///
    /// # Errors
    /// [`Broken`] if the bot does not listen.
    pub fn begin(&self, course: &Course) -> Result<(), Broken> {
        Ok(self.tell(&FrontEndMessage::Start(Box::new(position(course))))?)
    }

    /// Lets the bot stop thinking. A bot that is gone need not hear it.
    pub fn stop(&self) {
        let _ = self.tell(&FrontEndMessage::Stop);
    }

    /// The bot's move in a game that goes on, and the placement that it is.
    ///
    /// # Errors
    /// [`Broken`] if the bot has no legal move, or makes another fault.
    pub fn choose(&mut self, course: &Course) -> Result<(Move, Placement), Broken> {
        self.wait()?;
        self.ask()?;
        self.answer(course)
    }

    /// Asks the bot for its move.
    ///
    /// # Errors
    /// [`Broken`] if the bot does not listen.
    pub fn ask(&self) -> Result<(), Broken> {
        Ok(self.tell(&FrontEndMessage::Suggest)?)
    }

    /// The move of a bot that was [asked](BotSeat::ask), as of [`BotSeat::choose`].
    ///
    /// # Errors
    /// [`Broken`] if the bot has no legal move, or makes another fault.
    pub fn answer(&mut self, course: &Course) -> Result<(Move, Placement), Broken> {
        let Suggestion { moves, .. } = match self.hear("suggestion")? {
            BotMessage::Suggestion(suggestion) => suggestion,
            other => return Err(out_of_turn(&other, "suggestion").into()),
        };
        Ok(self.legal(course, &moves)?)
    }

    /// The first legal move among these.
    fn legal(&mut self, course: &Course, moves: &[Move]) -> Result<(Move, Placement), BotFault> {
        let (rules, playfield) = (course.player_rules(), course.playfield());
        let hand = course.hand().expect("a game that goes on");
        let placements = hand.placements(&rules, playfield);
        let mut first = None;
        for (n, played) in moves.iter().enumerate() {
            match played.placement(&rules, playfield, &hand, &placements) {
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

    /// Tells the bot its move, which has been made, and the pieces that have appeared after it.
    ///
    /// # Errors
    /// [`Broken`] if the bot does not listen.
    pub fn made(&self, played: Move, num_new: usize, course: &Course) -> Result<(), Broken> {
        self.tell(&FrontEndMessage::Play { played })?;
        let seen: Vec<Tetromino> = queue(course).collect();
        for piece in &seen[seen.len().saturating_sub(num_new)..] {
            self.tell(&FrontEndMessage::NewPiece { piece: Letter(*piece) })?;
        }
        Ok(())
    }

    /// Ends the bot: asks it to quit if its game could go on, else ends it at once.
    pub fn leave(self, could_go_on: bool) {
        if could_go_on {
            self.process.quit();
        }
    }

    /// Gives the bot its time to think.
    ///
    /// # Errors
    /// [`Broken::Stopped`] as soon as all games must stop.
    pub fn wait(&self) -> Result<(), Broken> {
        let until = Instant::now() + self.limits.think;
        loop {
            if self.limits.is_stopped.load(Ordering::Relaxed) {
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
            if is_stopped.load(Ordering::Relaxed) {
                return Err(Broken::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(BotFault::Silent { expected, waited: patience }.into());
            }
        }
    }
}

/// A game and the bot that plays it.
pub(super) struct BotGame<'a> {
    pub recorder: Recorder,
    pub seat: BotSeat<'a>,
    /// Pieces after which the game ends.
    pub max_pieces: u64,
}

impl BotGame<'_> {
    /// Plays the game from the first message to the last. Calls `landed` after every piece.
    pub fn play(&mut self, landed: &dyn Fn()) -> Result<End, Broken> {
        self.seat.introduce(self.recorder.course().rules())?;
        self.seat.begin(self.recorder.course())?;
        let end = self.go_on(landed);
        self.seat.stop();
        end
    }

    fn go_on(&mut self, landed: &dyn Fn()) -> Result<End, Broken> {
        loop {
            let course = self.recorder.course();
            if course.end() == Some(EpisodeEnd::ToppedOut) {
                return Ok(End::ToppedOut);
            }
            if course.outcome().pieces >= self.max_pieces || course.end().is_some() {
                return Ok(End::Complete);
            }
            let (played, placement) = self.seat.choose(course)?;
            let num_new = num_new(course, placement);
            let action = placement.action(course.rules()) as u16;
            self.recorder.play(action).expect("a placement that exists");
            self.seat.made(played, num_new, self.recorder.course())?;
            landed();
        }
    }
}

/// Number of pieces that appear after a placement: while none is held, holding takes a piece more from the queue.
pub fn num_new(course: &Course, placement: Placement) -> usize {
    1 + usize::from(placement.hold && course.held().is_none())
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
    let full = |row, column| course.playfield().is_full(row, column).then_some(BoardCell::Garbage);
    let board = (0..HEIGHT).map(|row| (0..WIDTH).map(|column| full(row, column)).collect()).collect();
    let chain = course.chain();
    StartMessage {
        hold: course.held().map(Letter),
        queue: queue(course).map(Letter).collect(),
        combo: chain.clears.into(),
        back_to_back: chain.back_to_back > 0,
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
