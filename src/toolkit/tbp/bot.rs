//! A bot: one of our agents behind the bot side of the protocol.
//!
//! This file turns lines into answers. It reads no stream and prints nothing. For an invalid line it says what was
//! expected, for the author of the front end.

use tetrion_core::agents::{Agent, AgentRng, Kernel, Search, Sight};
use tetrion_core::engine::{Placement, Randomizer, Rules, Tetromino, is_blocked};

use super::lines::{SHOWN, shown};
use super::messages::{
    BotMessage, FrontEndMessage, Info, Letter, Move, MoveInfo, RulesMessage, Suggestion, read,
};
use super::position::BotPosition;

/// Most moves of a suggestion: the first is the choice, the others are for front ends with other rules.
const MAX_MOVES: usize = 10;
/// Extensions that the bot supports.
const FEATURES: [&str; 2] = ["randomizer", "move_info"];

/// Agent, rules and options of a bot.
#[derive(Clone, Debug)]
pub struct BotSetup {
    pub name: String,
    pub agent: Agent,
    /// Rules that the bot assumes, which [the protocol must be able to express](super::check_rules).
    pub rules: Rules,
    /// Seed of the agent's random numbers.
    pub seed: u64,
    /// Most moves of a suggestion, at least one.
    pub max_moves: usize,
}

/// The bot side of the protocol: a state machine that turns lines into replies.
#[derive(Clone, Debug)]
pub struct Bot {
    setup: BotSetup,
    kernel: Kernel,
    rng: AgentRng,
    position: Option<BotPosition>,
}

/// The reaction to one line of the front end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub answer: Option<BotMessage>,
    /// What was wrong with the line.
    pub complaint: Option<String>,
    /// Whether the bot must quit.
    pub quits: bool,
}

impl BotSetup {
    /// A setup with the default number of moves.
    pub fn new(name: String, agent: Agent, rules: Rules, seed: u64) -> BotSetup {
        BotSetup { name, agent, rules, seed, max_moves: MAX_MOVES }
    }
}

impl Bot {
    /// A bot without a position.
    pub fn new(setup: BotSetup) -> Bot {
        let rng = AgentRng::new(setup.seed);
        Bot { setup, kernel: Kernel::best(), rng, position: None }
    }

    /// First message of the bot.
    pub fn info(&self) -> BotMessage {
        BotMessage::Info(Info {
            name: format!("Tetrion {}", self.setup.name),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            author: "Tetrion".to_owned(),
            features: FEATURES.map(str::to_owned).to_vec(),
        })
    }

    /// Processes a line of the front end. For a wrong line, the reply says what was expected.
    pub fn hear(&mut self, line: &str) -> Reply {
        let message = match read::<FrontEndMessage>(line) {
            Ok(Some(message)) => message,
            Ok(None) => return Reply::default(),
            Err(_) if line.trim().is_empty() => return Reply::default(),
            Err(error) => return Reply::complaint(format!("{error}; ignored {:?}", shown(line, SHOWN))),
        };
        match message {
            FrontEndMessage::Rules(rules) => {
                self.adopt(&rules);
                Reply { answer: Some(BotMessage::Ready), ..Reply::default() }
            }
            FrontEndMessage::Start(start) => {
                let position = BotPosition::new(*start, &self.setup.rules);
                let complaint = position.as_ref().err().map(|error| format!("start: {error}"));
                self.position = position.ok();
                Reply { complaint, ..Reply::default() }
            }
            FrontEndMessage::Suggest => self.suggest(),
            FrontEndMessage::Play { played } => self.change("play", |position, rules| {
                position.play(&played, rules).map_err(|error| (error, true))
            }),
            FrontEndMessage::NewPiece { piece: Letter(piece) } => {
                self.change("new_piece", |position, _| position.deal(piece).map_err(|error| (error, false)))
            }
            FrontEndMessage::Stop => {
                self.position = None;
                Reply::default()
            }
            FrontEndMessage::Quit => Reply { quits: true, ..Reply::default() },
        }
    }

    /// Adopts the randomizer of a front end.
    fn adopt(&mut self, rules: &RulesMessage) {
        self.setup.rules.randomizer = match rules.randomizer.as_deref() {
            Some("seven_bag") => Randomizer::Bag7,
            _ => Randomizer::Uniform,
        };
    }

    /// Changes the position; an error says whether the position is lost.
    fn change(
        &mut self,
        message: &str,
        change: impl FnOnce(&mut BotPosition, &Rules) -> Result<(), (String, bool)>,
    ) -> Reply {
        let Some(position) = &mut self.position else { return Reply::complaint(before_start(message)) };
        match change(position, &self.setup.rules) {
            Ok(()) => Reply::default(),
            Err((error, is_lost)) => {
                let rest = if is_lost { "; the position is lost, expected start" } else { "" };
                if is_lost {
                    self.position = None;
                }
                Reply::complaint(format!("{message}: {error}{rest}"))
            }
        }
    }

    /// Suggests moves. Without a possible move the suggestion is empty, so that no front end waits.
    fn suggest(&mut self) -> Reply {
        let found = match &self.position {
            None => Err(before_start("suggest")),
            Some(position) => moves(&self.setup, self.kernel, position, &mut self.rng),
        };
        let (suggestion, complaint) = match found {
            Ok(suggestion) => (suggestion, None),
            Err(complaint) => (Suggestion::default(), Some(complaint)),
        };
        Reply { answer: Some(BotMessage::Suggestion(suggestion)), complaint, quits: false }
    }
}

impl Reply {
    fn complaint(complaint: String) -> Reply {
        Reply { complaint: Some(complaint), ..Reply::default() }
    }
}

fn before_start(message: &str) -> String {
    format!("{message}: there is no position, expected start before")
}

/// The moves of an agent in a position, the preferred one first.
fn moves(
    setup: &BotSetup,
    kernel: Kernel,
    position: &BotPosition,
    rng: &mut AgentRng,
) -> Result<Suggestion, String> {
    let BotSetup { agent, rules, max_moves, .. } = setup;
    let BotPosition { held, queue, playfield, lines, pieces, chain, .. } = position;
    let Some(&piece) = queue.front() else {
        return Err("suggest: the queue is empty, expected start or new_piece with a piece before".to_owned());
    };
    if is_blocked(rules, playfield, piece) {
        return Err(format!("suggest: {piece} is blocked where it appears"));
    }
    let next: Vec<Tetromino> = queue.iter().copied().skip(1).take(rules.preview.into()).collect();
    let odds = position.odds_after(1 + next.len());
    let (held, lines, pieces, chain) = (*held, *lines, *pieces, *chain);
    let next = next.as_slice();
    let sight = Sight { next, held, odds, lines, pieces, chain, ..Sight::of(rules, playfield, piece) };
    let placements = agent.preferences(kernel, &sight, rng);
    let hand = sight.hand();
    // That an equal piece is held first has no words in the protocol.
    let has_words = |placement: &Placement| !(placement.hold && hand.other == Some(piece));
    let to_move = |placement: &Placement| {
        let placed = hand.piece(*placement).expect("a piece in the hand");
        Move::of(rules, playfield, placed, *placement)
    };
    let moves = placements.iter().filter(|placement| has_words(placement)).take(*max_moves).map(to_move);
    let depth = match agent.search() {
        Some(Search::Lookahead { pieces }) => pieces,
        Some(Search::Expectation(expectation)) => expectation.pieces.into(),
        Some(Search::Beam(beam)) => u32::from(beam.pieces).min(next.len() as u32 + 1),
        Some(Search::Greedy) | None => 0,
    };
    let (nodes, depth) = (Some(placements.len().into()), Some((1 + depth).into()));
    let move_info = MoveInfo { nodes, depth, ..MoveInfo::default() };
    Ok(Suggestion { moves: moves.collect(), move_info: Some(move_info) })
}
