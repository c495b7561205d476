//! The messages of the protocol, in both directions, with its extensions `randomizer` and `move_info`.
//!
//! Field by field as the specification has them; what they mean for a game is up to others. A message of an unknown type is
//! none, and fields that are unknown are passed over, as the specification asks for.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::engine::{Odds, Spin, Tetromino};

/// What a front end says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FrontEndMessage {
    /// Which game it is. The bot answers that it is ready, or why it cannot play.
    Rules(RulesMessage),
    /// The position to begin from.
    Start(Box<Start>),
    /// A move is wanted, now.
    Suggest,
    /// This move was made.
    Play {
        /// Which.
        #[serde(rename = "move")]
        played: Move,
    },
    /// One piece more is known at the end of the queue.
    NewPiece {
        /// Which.
        piece: Letter,
    },
    /// The game is over, or put aside.
    Stop,
    /// The bot is to end.
    Quit,
}

/// What a bot says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BotMessage {
    /// Who it is: its first words.
    Info(Info),
    /// It can play by these rules.
    Ready,
    /// It cannot play.
    Error {
        /// Why: `unsupported_rules`.
        reason: String,
    },
    /// The moves that it wishes to make.
    Suggestion(Suggestion),
}

/// A message of either direction.
pub trait Message: DeserializeOwned {
    /// The types that there are.
    const TYPES: &'static [&'static str];
}

impl Message for FrontEndMessage {
    const TYPES: &'static [&'static str] =
        &["rules", "start", "suggest", "play", "new_piece", "stop", "quit"];
}

impl Message for BotMessage {
    const TYPES: &'static [&'static str] = &["info", "ready", "error", "suggestion"];
}

/// Who a bot is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// What it is called.
    pub name: String,
    /// Which version of it this is.
    pub version: String,
    /// Who made it.
    pub author: String,
    /// The extensions that it knows.
    pub features: Vec<String>,
}

/// The rules, as far as the protocol has words for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesMessage {
    /// How pieces are dealt, by the name that [`RandomizerState`] has for it; unknown if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomizer: Option<String>,
}

/// A position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The piece that is held.
    #[serde(deserialize_with = "Option::deserialize")] // it may be null, and must be there
    pub hold: Option<Letter>,
    /// The current piece and those after it.
    pub queue: Vec<Letter>,
    /// How many of the last pieces cleared something, one after the other.
    pub combo: u32,
    /// Whether the last clear was difficult.
    pub back_to_back: bool,
    /// 40 rows of 10 cells, the lowest first.
    pub board: Vec<Vec<Option<Cell>>>,
    /// What is known of the pieces after the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomizer: Option<RandomizerState>,
}

/// The state of the randomizer behind the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RandomizerState {
    /// Every piece with the same chance.
    Uniform,
    /// Bags of all seven.
    SevenBag {
        /// What is left in the open bag; all seven where a new one begins.
        bag_state: Vec<Letter>,
    },
    /// Bags of something else.
    GeneralBag {
        /// What is left in the open bag.
        current_bag: PieceCounts,
        /// What every bag begins with.
        filled_bag: PieceCounts,
    },
    /// Nothing is known.
    #[serde(other)]
    Unknown,
}

/// How often each piece is in a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "UPPERCASE")]
#[allow(missing_docs)] // a letter says all there is to say
pub struct PieceCounts {
    pub i: u32,
    pub o: u32,
    pub t: u32,
    pub l: u32,
    pub j: u32,
    pub s: u32,
    pub z: u32,
}

/// The moves that a bot wishes to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The one that it likes best first. Without any, it gives up.
    pub moves: Vec<Move>,
    /// How it came to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_info: Option<MoveInfo>,
}

/// How a bot came to its moves: numbers that each bot counts in its own way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MoveInfo {
    /// Nodes of its tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Number>,
    /// Nodes a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nps: Option<Number>,
    /// How many pieces it looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Number>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

/// A move: where a piece comes to rest, and what it counts as. That it was held follows from which piece it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Where.
    pub location: Location,
    /// What it counts as.
    #[serde(with = "SpinName")]
    pub spin: Spin,
}

/// Where a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Which piece.
    #[serde(rename = "type")]
    pub piece: Letter,
    /// How it is turned.
    pub orientation: Orientation,
    /// The column of its centre.
    pub x: i64,
    /// The row of its centre.
    pub y: i64,
}

/// How a piece is turned: clockwise from how it appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the four directions
pub enum Orientation {
    North = 0,
    East = 1,
    South = 2,
    West = 3,
}

/// The names of spins.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Spin", rename_all = "snake_case")]
enum SpinName {
    None,
    Mini,
    Full,
}

/// A piece, by its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "char")]
pub struct Letter(pub Tetromino);

/// What a full cell of a board was filled by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "char")]
pub enum Cell {
    /// A piece.
    Piece(Tetromino),
    /// Garbage.
    Garbage,
}

/// A line that is no message.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(serde_json::Error),
    /// It has no type.
    #[error("it has no type, expected an object whose \"type\" is one of {}", .0.join(", "))]
    NoType(&'static [&'static str]),
    /// A field is absent or wrong.
    #[error("{kind}: {error}")]
    Field {
        /// The type of the message.
        kind: String,
        /// What is wrong.
        error: serde_json::Error,
    },
}

/// Reads a line; `None` if it is a message of a type that is unknown here, which is to be ignored.
///
/// ```
/// use tetrion_core::tbp::messages::{BotMessage, FrontEndMessage, read};
/// assert_eq!(read(r#"{"type": "suggest", "soon": true}"#).unwrap(), Some(FrontEndMessage::Suggest));
/// assert_eq!(read::<FrontEndMessage>(r#"{"type": "dance"}"#).unwrap(), None);
/// let error = read::<BotMessage>(r#"{"type": "suggestion"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "suggestion: missing field `moves`");
/// ```
///
/// # Errors
/// [`MessageError`] with what was expected.
pub fn read<M: Message>(line: &str) -> Result<Option<M>, MessageError> {
    let mut value: Value = serde_json::from_str(line).map_err(MessageError::Json)?;
    write_whole_numbers_plainly(&mut value);
    let Some(kind) = value.get("type").and_then(Value::as_str) else {
        return Err(MessageError::NoType(M::TYPES));
    };
    if !M::TYPES.contains(&kind) {
        return Ok(None);
    }
    let kind = kind.to_owned();
    serde_json::from_value(value).map(Some).map_err(|error| MessageError::Field { kind, error })
}

/// Turns `4.0` and `4e0` into `4`: JSON has one kind of number, and some languages write all of them with a fraction.
fn write_whole_numbers_plainly(value: &mut Value) {
    // From here on an f64 has gaps between whole numbers.
    const MOST: f64 = (1u64 << 53) as f64;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < MOST);
            if let Some(whole) = whole {
                *number = (whole as i64).into();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(write_whole_numbers_plainly),
        Value::Object(fields) => fields.values_mut().for_each(write_whole_numbers_plainly),
        _ => {}
    }
}

/// Writes a message: a line with its end.
pub fn write(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("texts and numbers can be written") + "\n"
}

impl PieceCounts {
    /// The bag of seven.
    pub const ONE_EACH: PieceCounts = PieceCounts { i: 1, o: 1, t: 1, l: 1, j: 1, s: 1, z: 1 };

    /// The odds of the next draw; `None` if there is nothing to draw.
    pub fn odds(&self) -> Option<Odds> {
        let PieceCounts { i, o, t, l, j, s, z } = *self;
        let counts = [i, o, t, z, s, j, l];
        (counts != [0; 7]).then(|| Odds::of_counts(counts))
    }

    /// How often a piece is in it.
    pub fn of_mut(&mut self, piece: Tetromino) -> &mut u32 {
        let PieceCounts { i, o, t, l, j, s, z } = self;
        let counts = [i, o, t, z, s, j, l];
        counts.into_iter().nth(piece.index()).expect("one of the seven")
    }
}

impl TryFrom<String> for Letter {
    type Error = String;

    fn try_from(text: String) -> Result<Letter, String> {
        let mut letters = text.chars();
        let piece = letters.next().filter(char::is_ascii_uppercase).and_then(Tetromino::from_letter);
        let piece = piece.filter(|_| letters.next().is_none());
        piece.map(Letter).ok_or_else(|| format!("{text:?} is no piece, expected one of I O T L J S Z"))
    }
}

impl From<Letter> for char {
    fn from(Letter(piece): Letter) -> char {
        piece.letter()
    }
}

impl TryFrom<String> for Cell {
    type Error = String;

    fn try_from(text: String) -> Result<Cell, String> {
        if text == "G" {
            return Ok(Cell::Garbage);
        }
        let piece = Letter::try_from(text.clone()).map(|Letter(piece)| Cell::Piece(piece));
        piece.map_err(|_| format!("{text:?} is no cell, expected null or one of I O T L J S Z G"))
    }
}

impl From<Cell> for char {
    fn from(cell: Cell) -> char {
        match cell {
            Cell::Piece(piece) => piece.letter(),
            Cell::Garbage => 'G',
        }
    }
}
