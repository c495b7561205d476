//! What can be seen of environments: one table of fields, with their types, shapes and bounds under given rules.
//!
//! It knows no environment; [`observe`](super::observe) writes the fields of those.

use crate::engine::{ActionModel, Rules};

use super::EnvConfig;

/// Numbers of [`Field::PieceState`].
pub(super) const PIECE_STATE: usize = 8;

/// The type of the numbers of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // their names say it
pub enum DataType {
    Uint8,
    Int8,
    Uint16,
    Int32,
    Uint32,
    Uint64,
    Float32,
    Float64,
    /// One byte, 0 or 1.
    Bool,
}

/// What a caller can see of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The cells of the playfield, one byte each, the lowest row first.
    Board,
    /// The rows of the playfield from the lowest, one integer each.
    BoardBits,
    /// The number of the current piece.
    Current,
    /// The numbers of the next pieces.
    Queue,
    /// The number of the piece that is held.
    Held,
    /// The height of each column.
    Heights,
    /// The features of the last landing; of the playfield at the start of an episode, with 0 for those of a landing.
    Features,
    /// The cells of the falling piece that lie in the playfield, one byte each, the lowest row first.
    Falling,
    /// Row and column of the four cells of the falling piece.
    FallingCells,
    /// What the cells of a piece that keys steer do not say.
    PieceState,
    /// The lines of garbage that wait.
    Garbage,
    /// Which actions exist.
    ActionMask,
    /// Lines cleared in this episode.
    Lines,
    /// Pieces landed in this episode.
    Pieces,
    /// Steps taken in this episode.
    Length,
    /// Sum of the rewards of this episode.
    EpisodeReturn,
    /// The seed of this episode.
    Seed,
    /// Whether the last step's action did not exist.
    InvalidAction,
    /// Steps of this episode whose action did not exist.
    InvalidActions,
    /// The row in which the last piece came to rest.
    LandingRow,
    /// What the last landing counted as.
    Spin,
    /// Lines sent in this episode.
    Attack,
    /// Pieces that cleared lines one after the other, up to now.
    Combo,
    /// Whether the last clear was difficult.
    BackToBack,
    /// Rows of garbage that have risen in this episode.
    GarbageRows,
}

/// What is true of a field whatever the rules are.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// The field.
    pub field: Field,
    /// Its name on the wire.
    pub name: &'static str,
    /// Element type and shape for one environment, in words.
    pub layout: &'static str,
    /// Meaning and unit, in a sentence.
    pub description: &'static str,
}

/// Every field: observations, infos, and the mask.
pub static FIELDS: [FieldInfo; 25] = [
    FieldInfo {
        field: Field::Board,
        name: "board",
        layout: "uint8 [height, width]",
        description: "1 where a cell is full; row 0 is the lowest",
    },
    FieldInfo {
        field: Field::BoardBits,
        name: "board_bits",
        layout: "uint16 [height], uint32 where the width is above 16",
        description: "one integer a row, the lowest first; bit c is column c",
    },
    FieldInfo {
        field: Field::Current,
        name: "current",
        layout: "int8",
        description: "the current piece as its number in I O T Z S J L, or in another set of pieces, or -1 where there is none",
    },
    FieldInfo {
        field: Field::Queue,
        name: "queue",
        layout: "int8 [preview]",
        description: "the next pieces as their numbers in I O T Z S J L, or in another set of pieces, -1 past the end of a sequence",
    },
    FieldInfo {
        field: Field::Held,
        name: "held",
        layout: "int8",
        description: "where a piece can be held only: the held piece as its number in I O T Z S J L, or in another set of pieces, -1 while none is",
    },
    FieldInfo {
        field: Field::Heights,
        name: "heights",
        layout: "uint8 [width]",
        description: "for each column the row of its highest full cell, plus 1; 0 if it is empty",
    },
    FieldInfo {
        field: Field::Features,
        name: "features",
        layout: "float32 [F]",
        description: "the features of the last landing; at the start of an episode those of the playfield, with 0 for those \
                      of a landing",
    },
    FieldInfo {
        field: Field::Falling,
        name: "falling",
        layout: "uint8 [height, width]",
        description: "with key presses only: 1 in the cells of the falling piece that lie in the playfield",
    },
    FieldInfo {
        field: Field::FallingCells,
        name: "falling_cells",
        layout: "int8 [4, 2]",
        description: "with key presses only: row and column of the four cells of the falling piece, by row, then by column; \
                      rows of height and above lie above the playfield; all -1 where there is no piece",
    },
    FieldInfo {
        field: Field::PieceState,
        name: "piece_state",
        layout: "uint8 [8]",
        description: "with key presses under reach srs only: quarter turns of the falling piece; 0 if it was moved last, 1 if it \
                      was turned, 2 if by a kick that makes a T-spin full; steps in the air until it falls; steps on the \
                      ground until it locks; how often its delay can begin anew; how often kicks can lift it; the lowest row \
                      that it has been in; 1 if the piece before it was held for it",
    },
    FieldInfo {
        field: Field::Garbage,
        name: "garbage",
        layout: "uint8 [delay + 1]",
        description: "with garbage only: lines that wait; element k has those that may rise when the k-th piece from now lands, \
                      the current one being the 0th",
    },
    FieldInfo {
        field: Field::ActionMask,
        name: "action_mask",
        layout: "bool [A] for A actions: 4 * width, more with hold or reach srs; 6 with key presses, 10 under reach srs",
        description: "true for the distinct placements that exist, and for every key that can be pressed; for an episode that \
                      has ended, for action 0 only",
    },
    FieldInfo {
        field: Field::Lines,
        name: "lines",
        layout: "uint64",
        description: "lines cleared in this episode",
    },
    FieldInfo {
        field: Field::Pieces,
        name: "pieces",
        layout: "uint64",
        description: "pieces landed in this episode",
    },
    FieldInfo {
        field: Field::Length,
        name: "length",
        layout: "uint64",
        description: "steps taken in this episode",
    },
    FieldInfo {
        field: Field::EpisodeReturn,
        name: "episode_return",
        layout: "float64",
        description: "sum of the rewards of this episode, before rounding",
    },
    FieldInfo {
        field: Field::Seed,
        name: "seed",
        layout: "uint64",
        description: "the seed of this episode; 0 for an explicit piece sequence",
    },
    FieldInfo {
        field: Field::InvalidAction,
        name: "invalid_action",
        layout: "bool",
        description: "the last step's action did not exist, and the invalid-action policy ended the episode or ignored it",
    },
    FieldInfo {
        field: Field::InvalidActions,
        name: "invalid_actions",
        layout: "uint64",
        description: "steps of this episode whose action did not exist",
    },
    FieldInfo {
        field: Field::LandingRow,
        name: "landing_row",
        layout: "int8",
        description: "the row in which the lowest cell of the last piece came to rest, before full rows were cleared; -1 before \
                      the first landing of this episode",
    },
    FieldInfo {
        field: Field::Spin,
        name: "spin",
        layout: "uint8",
        description: "where spins are told apart only: what the last landing counted as, 0 no spin, 1 mini, 2 full",
    },
    FieldInfo {
        field: Field::Attack,
        name: "attack",
        layout: "uint64",
        description: "with clear_points or attack only: lines sent in this episode, by the table of attack",
    },
    FieldInfo {
        field: Field::Combo,
        name: "combo",
        layout: "uint16",
        description: "with clear_points or attack only: how many of the last pieces cleared lines, one after the other",
    },
    FieldInfo {
        field: Field::BackToBack,
        name: "back_to_back",
        layout: "bool",
        description: "with clear_points or attack only: whether the last clear was of four lines or by a spin",
    },
    FieldInfo {
        field: Field::GarbageRows,
        name: "garbage_rows",
        layout: "uint64",
        description: "with garbage only: rows of garbage that have risen in this episode",
    },
];

/// A field under given rules, for one environment; a batch puts a dimension before the shape.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSpec {
    /// Its name on the wire.
    pub name: &'static str,
    /// The type of its numbers.
    pub dtype: DataType,
    /// Empty for a single number.
    pub shape: Vec<u32>,
    /// The smallest number that can occur, where there is a bound.
    pub low: Option<f64>,
    /// The largest number that can occur, where there is a bound.
    pub high: Option<f64>,
    /// Meaning and unit, in a sentence.
    pub description: &'static str,
}

impl Field {
    /// What an agent sees.
    pub const OBSERVATIONS: [Field; 11] = [
        Field::Board,
        Field::BoardBits,
        Field::Current,
        Field::Queue,
        Field::Held,
        Field::Heights,
        Field::Features,
        Field::Falling,
        Field::FallingCells,
        Field::PieceState,
        Field::Garbage,
    ];

    /// What the caller sees beside it.
    pub const INFOS: [Field; 13] = [
        Field::Lines,
        Field::Pieces,
        Field::Length,
        Field::EpisodeReturn,
        Field::Seed,
        Field::InvalidAction,
        Field::InvalidActions,
        Field::LandingRow,
        Field::Spin,
        Field::Attack,
        Field::Combo,
        Field::BackToBack,
        Field::GarbageRows,
    ];

    /// Whether it has anything to show under some rules.
    pub fn is_of(self, rules: &Rules) -> bool {
        match self {
            Field::Falling | Field::FallingCells => rules.action_model == ActionModel::Keypress,
            Field::PieceState => rules.steers(),
            Field::Held => rules.hold,
            Field::Garbage | Field::GarbageRows => rules.garbage.is_some(),
            Field::Spin => rules.spin_labels() > 1,
            Field::Attack | Field::Combo | Field::BackToBack => rules.keeps_chain(),
            _ => true,
        }
    }

    /// The field's row of [`FIELDS`].
    pub fn info(self) -> &'static FieldInfo {
        FIELDS.iter().find(|info| info.field == self).expect("every field has a row")
    }

    pub(super) fn spec(self, config: &EnvConfig) -> FieldSpec {
        use DataType::{Bool, Float32, Float64, Int8, Uint8, Uint16, Uint32, Uint64};
        let width = u32::from(config.rules.width);
        let height = u32::from(config.rules.height);
        let preview = u32::from(config.rules.preview);
        let last_piece = Some((config.rules.pieces.len() - 1) as f64);
        let (dtype, shape, low, high) = match self {
            Field::Board => (Uint8, vec![height, width], Some(0.0), Some(1.0)),
            Field::BoardBits => {
                let dtype = if width > 16 { Uint32 } else { Uint16 };
                (dtype, vec![height], Some(0.0), Some(((1u64 << width) - 1) as f64))
            }
            Field::Current | Field::Held => (Int8, vec![], Some(-1.0), last_piece),
            Field::Queue => (Int8, vec![preview], Some(-1.0), last_piece),
            Field::Heights => (Uint8, vec![width], Some(0.0), Some(f64::from(height))),
            Field::Features => {
                (Float32, vec![config.features.as_ref().map_or(0, |set| set.len() as u32)], None, None)
            }
            Field::Falling => (Uint8, vec![height, width], Some(0.0), Some(1.0)),
            Field::FallingCells => {
                // An upright piece whose anchor is its lowest cell reaches three rows above the top one.
                // In modern Tetris kicks may have lifted it.
                let above = if config.rules.steers() { 6 } else { 2 };
                (Int8, vec![4, 2], Some(-1.0), Some(f64::from((height + above).max(width - 1))))
            }
            Field::PieceState => (Uint8, vec![PIECE_STATE as u32], Some(0.0), Some(255.0)),
            Field::Garbage => {
                let places = config.rules.garbage.map_or(0, |garbage| u32::from(garbage.delay) + 1);
                (Uint8, vec![places], Some(0.0), Some(f64::from(height)))
            }
            Field::ActionMask => (Bool, vec![config.rules.num_actions()], Some(0.0), Some(1.0)),
            Field::Spin => (Uint8, vec![], Some(0.0), Some(2.0)),
            Field::Combo => (Uint16, vec![], Some(0.0), None),
            Field::BackToBack => (Bool, vec![], Some(0.0), Some(1.0)),
            Field::Lines
            | Field::Pieces
            | Field::Length
            | Field::Seed
            | Field::InvalidActions
            | Field::Attack
            | Field::GarbageRows => (Uint64, vec![], Some(0.0), None),
            Field::EpisodeReturn => (Float64, vec![], None, None),
            Field::InvalidAction => (Bool, vec![], Some(0.0), Some(1.0)),
            Field::LandingRow => (Int8, vec![], Some(-1.0), Some(f64::from(height))),
        };
        let FieldInfo { name, description, .. } = *self.info();
        FieldSpec { name, dtype, shape, low, high, description }
    }
}
