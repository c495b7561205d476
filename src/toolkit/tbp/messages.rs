//! The messages of the protocol, in both directions, with its extensions `randomizer` and `move_info`.
//!
//! The fields follow the specification; other files give them a meaning for games. As the specification requires,
//! messages of unknown types and unknown fields are ignored.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use tetrion_core::engine::{Odds, Spin, Tetromino};

/// A message from a front end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FrontEndMessage {
    /// The rules of the game. The bot answers that it is ready, or why it cannot play.
    Rules(RulesMessage),
    Start(Box<StartMessage>),
    /// A request for a move, now.
    Suggest,
    Play {
        #[serde(rename = "move")]
        played: Move,
    },
    /// One more piece is known at the end of the queue.
    NewPiece {
        piece: Letter,
    },
    /// The game is over, or interrupted.
    Stop,
    Quit,
}

/// A message from a bot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BotMessage {
    /// The bot's description of itself: its first message.
    Info(Info),
    /// The bot can play under these rules.
    Ready,
    Error {
        /// The reason, such as `unsupported_rules`.
        reason: String,
    },
    /// The moves that the bot wants to make.
    Suggestion(Suggestion),
}

/// A message of either direction.
pub trait Message: DeserializeOwned {
    /// Names of the types in this direction; a message of any other type is ignored.
    const TYPES: &'static [&'static str];
}

impl Message for FrontEndMessage {
    const TYPES: &'static [&'static str] =
        &["rules", "start", "suggest", "play", "new_piece", "stop", "quit"];
}

impl Message for BotMessage {
    const TYPES: &'static [&'static str] = &["info", "ready", "error", "suggestion"];
}

/// A bot's description of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    pub name: String,
    pub version: String,
    pub author: String,
    /// Extensions that the bot supports.
    pub features: Vec<String>,
}

/// The rules, as far as the protocol can express them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesMessage {
    /// The randomizer by its name in [`RandomizerState`]; unknown if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomizer: Option<String>,
}

/// A position from which a bot plays on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartMessage {
    #[serde(deserialize_with = "Option::deserialize")] // it may be null, and must be there
    pub hold: Option<Letter>,
    /// The current piece and those after it.
    pub queue: Vec<Letter>,
    /// Number of consecutive pieces, up to the last, that cleared lines.
    pub combo: u32,
    /// Whether the last clear was difficult.
    pub back_to_back: bool,
    /// 40 rows of 10 cells, the lowest first.
    pub board: Vec<Vec<Option<BoardCell>>>,
    /// State of the randomizer after the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomizer: Option<RandomizerState>,
}

/// The state of the randomizer after the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RandomizerState {
    /// Every piece with equal probability.
    Uniform,
    /// Bags with all seven pieces.
    SevenBag {
        /// The rest of the open bag; all seven if a new one starts.
        bag_state: Vec<Letter>,
    },
    /// Bags with any number of each piece.
    GeneralBag {
        /// The rest of the open bag.
        current_bag: PieceCounts,
        /// Content of every new bag.
        filled_bag: PieceCounts,
    },
    #[serde(other)]
    Unknown,
}

/// Number of each piece in a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "UPPERCASE")]
pub struct PieceCounts {
    pub i: u32,
    pub o: u32,
    pub t: u32,
    pub l: u32,
    pub j: u32,
    pub s: u32,
    pub z: u32,
}

/// The moves that a bot wants to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The preferred move first. Without moves, the bot gives up.
    pub moves: Vec<Move>,
    /// Statistics of the bot's search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_info: Option<MoveInfo>,
}

/// Statistics of a bot's search, which each bot counts in its own way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MoveInfo {
    /// Nodes of the search tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Number>,
    /// Nodes that the search visits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nps: Option<Number>,
    /// Number of pieces that the search looked ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

/// A move: where a piece comes to rest, and its spin label. Which piece it is shows whether hold was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    pub location: Location,
    #[serde(with = "SpinName")]
    pub spin: Spin,
}

/// The place in which a piece is at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    #[serde(rename = "type")]
    pub piece: Letter,
    pub orientation: Orientation,
    /// Column of the piece's centre.
    pub x: i64,
    /// Row of the piece's centre.
    pub y: i64,
}

/// Orientation of a piece: clockwise from how it appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orientation {
    North = 0,
    East = 1,
    South = 2,
    West = 3,
}

/// The protocol's names of spins, for serde.
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

/// Source of a full cell of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "char")]
pub enum BoardCell {
    Piece(Tetromino),
    Garbage,
}

/// Why a line is not a message.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// The line is not JSON.
    #[error("it is not JSON: {0}")]
    Json(serde_json::Error),
    /// The message has no type.
    #[error("it has no type, expected an object whose \"type\" is one of {}", .0.join(", "))]
    NoType(&'static [&'static str]),
    /// A field is absent or wrong.
    #[error("{kind}: {error}")]
    Field { kind: String, error: serde_json::Error },
}

/// Reads a line; `None` if it is a message of a type that is unknown here, which is to be ignored.
///
/// ```
/// use tetrion_toolkit::tbp::messages::{BotMessage, FrontEndMessage, read};
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

/// Writes a message as a line.
pub fn write(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("texts and numbers can be written") + "\n"
}

impl PieceCounts {
    /// A bag with one piece of each kind.
    pub const ONE_EACH: PieceCounts = PieceCounts { i: 1, o: 1, t: 1, l: 1, j: 1, s: 1, z: 1 };

    /// The odds of the next draw; `None` if there is nothing to draw.
    pub fn odds(&self) -> Option<Odds> {
        let PieceCounts { i, o, t, l, j, s, z } = *self;
        let counts = [i, o, t, z, s, j, l];
        (counts != [0; 7]).then(|| Odds::of_counts(counts))
    }

    /// Number of a kind of piece in the bag.
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

impl TryFrom<String> for BoardCell {
    type Error = String;

    fn try_from(text: String) -> Result<BoardCell, String> {
        if text == "G" {
            return Ok(BoardCell::Garbage);
        }
        let piece = Letter::try_from(text.clone()).map(|Letter(piece)| BoardCell::Piece(piece));
        piece.map_err(|_| format!("{text:?} is no cell, expected null or one of I O T L J S Z G"))
    }
}

impl From<BoardCell> for char {
    fn from(cell: BoardCell) -> char {
        match cell {
            BoardCell::Piece(piece) => piece.letter(),
            BoardCell::Garbage => 'G',
        }
    }
}
