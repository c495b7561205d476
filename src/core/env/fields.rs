//! The fields in which environments can be observed, in one table, with their types, shapes and bounds under given
//! rules.
//!
//! A row of [`FIELDS`] defines a field, except for its bytes, which [`observe`](super::observe) writes. This module
//! knows no environment.

use crate::engine::{ActionModel, Rules};
use crate::values;

use super::{EnvConfig, InvalidActionPolicy};

/// Number of entries of [`Field::PieceState`].
pub(super) const PIECE_STATE: usize = 8;

/// Type of a field's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    /// One byte, 0 or 1.
    Bool,
    Int8,
    Uint8,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Float64,
}

/// The purpose of a field, which decides in which list of a session it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The agent observes the field.
    Observation,
    /// The field tells which actions exist.
    Mask,
    /// The field informs the caller about the episode so far.
    Info,
}

/// A condition that rules must meet.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Whether rules meet the condition.
    pub are_met: fn(&Rules) -> bool,
    /// End of an error message that starts with the field's name.
    pub refusal: &'static str,
}

/// A field, independent of the rules.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// The field that the row defines.
    pub field: Field,
    /// Name in requests, answers and the catalog.
    pub name: &'static str,
    /// Meaning and unit, in one sentence.
    pub description: &'static str,
    /// Type of the numbers; [`DataType::Uint32`] for [`Field::BoardBits`] of more than 16 columns.
    pub dtype: DataType,
    /// Dimensions for one environment; empty for a single number.
    pub dims: &'static [Dim],
    pub kind: Kind,
    pub role: Role,
    /// Condition for the field to exist; `None` if it exists under all rules.
    pub needs: Option<Needs>,
    /// Whether callers who list no fields get this one, if the rules have it.
    pub is_default: fn(&EnvConfig) -> bool,
    /// Smallest and largest possible number, if bounded.
    bounds: fn(&EnvConfig) -> FieldBounds,
}

type FieldBounds = (Option<f64>, Option<f64>);

/// Kind of a field's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Amounts, positions or measurements, which can be compared.
    Number,
    /// Names as numbers; -1 for none.
    Category,
    /// 0 or 1, for no or yes.
    Flag,
}

/// A dimension of a field. Its size may depend on the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    Height,
    Width,
    /// Next pieces that the rules show.
    Preview,
    /// Columns of the selected features.
    Features,
    /// Number of pieces until newly sent garbage has risen.
    Garbage,
    Actions,
    /// A fixed size, with a text that explains it.
    Fixed(&'static str, u32),
}

impl Dim {
    /// Name of the dimension; if its size is a field of the rules, the name of that field.
    pub fn name(self) -> &'static str {
        match self {
            Dim::Height => "height",
            Dim::Width => "width",
            Dim::Preview => "preview",
            Dim::Features => "num_features",
            Dim::Garbage => "garbage.delay_pieces + 1",
            Dim::Actions => "num_actions",
            Dim::Fixed(name, _) => name,
        }
    }

    fn size(self, config: &EnvConfig) -> u32 {
        let rules = &config.rules;
        match self {
            Dim::Height => rules.height.into(),
            Dim::Width => rules.width.into(),
            Dim::Preview => rules.preview.into(),
            Dim::Features => config.features.as_ref().map_or(0, |set| set.len() as u32),
            Dim::Garbage => rules.garbage.map_or(0, |garbage| u32::from(garbage.delay_pieces) + 1),
            Dim::Actions => rules.num_actions(),
            Dim::Fixed(_, size) => size,
        }
    }
}

/// Defines [`FIELDS`] and, from the names in its rows, [`Field`].
macro_rules! fields {
    ($(FieldInfo { field: Field::$field:ident, name: $name:literal, description: $description:literal, $($rest:tt)* },)*) => {
        /// A field in which an environment can be observed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Field {
            $(#[doc = $description] $field,)*
        }

        /// Every field: observations, the mask, and infos.
        pub static FIELDS: [FieldInfo; [$(Field::$field),*].len()] = [$(FieldInfo {
            field: Field::$field,
            name: $name,
            description: $description,
            $($rest)*
        },)*];
    };
}

fields![
    FieldInfo {
        field: Field::Board,
        name: "board",
        description: "1 where a cell is full; row 0 is the lowest",
        dtype: DataType::Uint8,
        dims: &[Dim::Height, Dim::Width],
        kind: Kind::Flag,
        role: Role::Observation,
        needs: None,
        is_default: |_| true,
        bounds: flag,
    },
    FieldInfo {
        field: Field::BoardBits,
        name: "board_bits",
        description: "one integer per row, the lowest first; bit c is column c",
        dtype: DataType::Uint16,
        dims: &[Dim::Height],
        kind: Kind::Number,
        role: Role::Observation,
        needs: None,
        is_default: |_| false,
        bounds: |config| within(0, (1i64 << config.rules.width) - 1),
    },
    FieldInfo {
        field: Field::Current,
        name: "current",
        description: "number of the current piece in I O T Z S J L, or in another set of pieces; -1 for none",
        dtype: DataType::Int8,
        dims: &[],
        kind: Kind::Category,
        role: Role::Observation,
        needs: None,
        is_default: |_| true,
        bounds: piece,
    },
    FieldInfo {
        field: Field::Queue,
        name: "queue",
        description: "numbers of the next pieces in I O T Z S J L, or in another set of pieces; -1 past the end of a sequence",
        dtype: DataType::Int8,
        dims: &[Dim::Preview],
        kind: Kind::Category,
        role: Role::Observation,
        needs: None,
        is_default: |config| config.rules.preview > 0,
        bounds: piece,
    },
    FieldInfo {
        field: Field::Held,
        name: "held",
        description: "with hold only: number of the held piece in I O T Z S J L, or in another set of pieces; -1 for none",
        dtype: DataType::Int8,
        dims: &[],
        kind: Kind::Category,
        role: Role::Observation,
        needs: Some(HOLD),
        is_default: |_| true,
        bounds: piece,
    },
    FieldInfo {
        field: Field::Heights,
        name: "heights",
        description: "for each column the row of its highest full cell, plus 1; 0 if it is empty",
        dtype: DataType::Uint8,
        dims: &[Dim::Width],
        kind: Kind::Number,
        role: Role::Observation,
        needs: None,
        is_default: |_| false,
        bounds: |config| within(0, config.rules.height.into()),
    },
    FieldInfo {
        field: Field::Features,
        name: "features",
        description: "the features of the last landing; at the start of an episode those of the playfield, with 0 for those \
                      of a landing",
        dtype: DataType::Float32,
        dims: &[Dim::Features],
        kind: Kind::Number,
        role: Role::Observation,
        needs: None,
        is_default: |config| config.features.is_some(),
        bounds: unbounded,
    },
    FieldInfo {
        field: Field::Falling,
        name: "falling",
        description: "with key presses only: 1 in the cells of the falling piece that lie in the playfield",
        dtype: DataType::Uint8,
        dims: &[Dim::Height, Dim::Width],
        kind: Kind::Flag,
        role: Role::Observation,
        needs: Some(KEYS),
        is_default: |_| true,
        bounds: flag,
    },
    FieldInfo {
        field: Field::FallingCells,
        name: "falling_cells",
        description: "with key presses only: row and column of the four cells of the falling piece, by row, then by column; \
                      rows of height and above lie above the playfield; all -1 where there is no piece",
        dtype: DataType::Int8,
        dims: &[Dim::Fixed("4", 4), Dim::Fixed("2", 2)],
        kind: Kind::Number,
        role: Role::Observation,
        needs: Some(KEYS),
        is_default: |_| false,
        bounds: |config| {
            // An upright piece whose anchor is its lowest cell reaches three rows above the top row. In modern Tetris,
            // kicks may have lifted it.
            let above = if config.rules.steers() { 6 } else { 2 };
            within(-1, (config.rules.height + above).max(config.rules.width - 1).into())
        },
    },
    FieldInfo {
        field: Field::PieceState,
        name: "piece_state",
        description: "with key presses under reach moves only: quarter turns of the falling piece; 0 if it was moved last, 1 if it \
                      was turned, 2 if by a kick that makes a T-spin full; steps in the air until it falls; steps on the \
                      ground until it locks; how often its delay can begin anew; how often kicks can lift it; the lowest row \
                      that it has been in; 1 if the piece before it was held for it",
        dtype: DataType::Uint8,
        dims: &[Dim::Fixed("8", PIECE_STATE as u32)],
        kind: Kind::Number,
        role: Role::Observation,
        needs: Some(STEERED),
        is_default: |_| true,
        bounds: |_| within(0, 255),
    },
    FieldInfo {
        field: Field::Garbage,
        name: "garbage",
        description: "with garbage only: lines that wait; element k has those that may rise when the k-th piece from now lands, \
                      the current one being the 0th",
        dtype: DataType::Uint8,
        dims: &[Dim::Garbage],
        kind: Kind::Number,
        role: Role::Observation,
        needs: Some(GARBAGE),
        is_default: |_| true,
        bounds: |config| within(0, config.rules.height.into()),
    },
    FieldInfo {
        field: Field::Counts,
        name: "counts",
        description: "with clear_points or attack_table only: consecutive pieces, up to the last one, that cleared lines; difficult \
                      clears in succession; pieces landed in this episode",
        dtype: DataType::Int32,
        dims: &[Dim::Fixed("3", 3)],
        kind: Kind::Number,
        role: Role::Observation,
        needs: Some(CHAINS),
        is_default: is_match,
        bounds: count,
    },
    FieldInfo {
        field: Field::ActionMask,
        name: "action_mask",
        description: "true for the distinct placements that exist, and for every key that can be pressed; for an episode that \
                      has ended, for action 0 only",
        dtype: DataType::Bool,
        dims: &[Dim::Actions],
        kind: Kind::Flag,
        role: Role::Mask,
        needs: None,
        is_default: |_| true,
        bounds: flag,
    },
    FieldInfo {
        field: Field::Lines,
        name: "lines",
        description: "lines cleared in this episode",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: None,
        is_default: |_| true,
        bounds: count,
    },
    FieldInfo {
        field: Field::Pieces,
        name: "pieces",
        description: "pieces landed in this episode",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: None,
        is_default: |_| true,
        bounds: count,
    },
    FieldInfo {
        field: Field::Steps,
        name: "steps",
        description: "steps taken in this episode",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: None,
        is_default: |_| true,
        bounds: count,
    },
    FieldInfo {
        field: Field::EpisodeReturn,
        name: "episode_return",
        description: "sum of the rewards of this episode, before rounding",
        dtype: DataType::Float64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: None,
        is_default: |_| true,
        bounds: unbounded,
    },
    FieldInfo {
        field: Field::Seed,
        name: "seed",
        description: "the seed of this episode; 0 for an explicit piece sequence",
        dtype: DataType::Uint64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: None,
        is_default: |_| true,
        bounds: count,
    },
    FieldInfo {
        field: Field::End,
        name: "end",
        description: "why the episode has ended: 1 not ended, 2 topped out, 3 an action that did not exist, 4 the limit of steps, \
                      6 out of pieces, 7 won, 8 drawn",
        dtype: DataType::Uint8,
        dims: &[],
        kind: Kind::Category,
        role: Role::Info,
        needs: None,
        is_default: |_| true,
        bounds: |config| within(1, if config.rules.is_match() { 8 } else { 6 }),
    },
    FieldInfo {
        field: Field::InvalidAction,
        name: "invalid_action",
        description: "whether the last step's action did not exist, and the invalid-action policy ended the episode or ignored it",
        dtype: DataType::Bool,
        dims: &[],
        kind: Kind::Flag,
        role: Role::Info,
        needs: None,
        is_default: can_be_invalid,
        bounds: flag,
    },
    FieldInfo {
        field: Field::InvalidActions,
        name: "invalid_actions",
        description: "steps of this episode whose action did not exist",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: None,
        is_default: can_be_invalid,
        bounds: count,
    },
    FieldInfo {
        field: Field::LandingRow,
        name: "landing_row",
        description: "the row in which the lowest cell of the last piece came to rest, before full rows were cleared; -1 before \
                      the first landing of this episode",
        dtype: DataType::Int8,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: None,
        is_default: |_| false,
        bounds: |config| within(-1, config.rules.height.into()),
    },
    FieldInfo {
        field: Field::Attack,
        name: "attack",
        description: "with clear_points or attack_table only: lines sent in this episode, by attack_table",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(CHAINS),
        is_default: |_| true,
        bounds: count,
    },
    FieldInfo {
        field: Field::Combo,
        name: "combo",
        description: "with clear_points or attack_table only: number of consecutive pieces, up to the last one, that cleared lines",
        dtype: DataType::Int32,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(CHAINS),
        is_default: |_| true,
        bounds: count,
    },
    FieldInfo {
        field: Field::BackToBack,
        name: "back_to_back",
        description: "with clear_points or attack_table only: whether the last clear was of four lines or by a spin",
        dtype: DataType::Bool,
        dims: &[],
        kind: Kind::Flag,
        role: Role::Info,
        needs: Some(CHAINS),
        is_default: |_| true,
        bounds: flag,
    },
    FieldInfo {
        field: Field::Spin,
        name: "spin",
        description: "with spins only: label of the last landing, 0 no spin, 1 mini, 2 full",
        dtype: DataType::Uint8,
        dims: &[],
        kind: Kind::Category,
        role: Role::Info,
        needs: Some(SPINS),
        is_default: |_| true,
        bounds: |_| within(0, 2),
    },
    FieldInfo {
        field: Field::GarbageRows,
        name: "garbage_rows",
        description: "with garbage only: rows of garbage that have risen in this episode",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(GARBAGE),
        is_default: |_| true,
        bounds: count,
    },
    FieldInfo {
        field: Field::BackToBackCount,
        name: "back_to_back_count",
        description: "with clear_points or attack_table only: number of difficult clears in succession, up to the last clear",
        dtype: DataType::Int32,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(CHAINS),
        is_default: is_match,
        bounds: count,
    },
    FieldInfo {
        field: Field::Sent,
        name: "sent",
        description: "with garbage only: lines that left in this episode, after they cancelled waiting ones",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(GARBAGE),
        is_default: is_match,
        bounds: count,
    },
    FieldInfo {
        field: Field::Received,
        name: "received",
        description: "with garbage only: lines that arrived in this episode, to wait",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(GARBAGE),
        is_default: is_match,
        bounds: count,
    },
    FieldInfo {
        field: Field::Cancelled,
        name: "cancelled",
        description: "with garbage only: waiting lines that were cancelled in this episode",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(GARBAGE),
        is_default: is_match,
        bounds: count,
    },
    FieldInfo {
        field: Field::Surge,
        name: "surge",
        description: "with garbage only: lines of this episode that broken back-to-back chains sent",
        dtype: DataType::Int64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(GARBAGE),
        is_default: is_match,
        bounds: count,
    },
    FieldInfo {
        field: Field::Won,
        name: "won",
        description: "with players 2 only: 1 if this episode was won, -1 if it was lost, 0 while it goes on, after a draw, and if a \
                      limit cut it",
        dtype: DataType::Int8,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(MATCH),
        is_default: is_match,
        bounds: |_| within(-1, 1),
    },
    FieldInfo {
        field: Field::Regret,
        name: "regret",
        description: "lines that the last placement is expected to cost against the best one, for a player that sees only the \
                      current piece; 0 before the first landing, NaN if it is not known. Only on playfields with exact values",
        dtype: DataType::Float64,
        dims: &[],
        kind: Kind::Number,
        role: Role::Info,
        needs: Some(FEW_CELLS),
        is_default: |_| false,
        bounds: unbounded,
    },
];

const KEYS: Needs = Needs {
    are_met: |rules| rules.action_model == ActionModel::Keypress,
    refusal: "needs key presses, but a step of these rules is a placement",
};
const STEERED: Needs = Needs {
    are_met: Rules::steers,
    refusal: "needs key presses under reach moves, but these rules have none",
};
const HOLD: Needs =
    Needs { are_met: |rules| rules.hold, refusal: "needs rules with hold, but these have none" };
const GARBAGE: Needs = Needs {
    are_met: |rules| rules.garbage.is_some(),
    refusal: "needs rules with garbage, but these have none",
};
const SPINS: Needs = Needs {
    are_met: |rules| rules.spin_labels() > 1,
    refusal: "needs rules that distinguish spins, but these do not",
};
const MATCH: Needs =
    Needs { are_met: Rules::is_match, refusal: "needs rules with players 2, but these have one player" };
const FEW_CELLS: Needs = Needs {
    are_met: |rules| {
        let cells = u32::from(rules.width) * u32::from(rules.height);
        rules.action_model == ActionModel::Placement && cells <= values::MAX_CELLS
    },
    refusal: "needs placements on a playfield of at most 32 cells, whose exact values can be computed",
};
const CHAINS: Needs = Needs {
    are_met: Rules::keeps_chain,
    refusal: "needs rules with clear_points or attack_table, but these have neither",
};

/// Whether two environments play each other.
fn is_match(config: &EnvConfig) -> bool {
    config.rules.is_match()
}

/// Whether a step can have an action that does not exist.
fn can_be_invalid(config: &EnvConfig) -> bool {
    (config.rules.action_model == ActionModel::Placement || config.rules.steers())
        && config.invalid_action_policy != InvalidActionPolicy::Reject
}

fn unbounded(_: &EnvConfig) -> FieldBounds {
    (None, None)
}

fn within(low: i64, high: i64) -> FieldBounds {
    (Some(low as f64), Some(high as f64))
}

fn flag(_: &EnvConfig) -> FieldBounds {
    within(0, 1)
}

/// Bounds of a piece's number, where -1 means none.
fn piece(config: &EnvConfig) -> FieldBounds {
    within(-1, config.rules.pieces.len() as i64 - 1)
}

fn count(_: &EnvConfig) -> FieldBounds {
    (Some(0.0), None)
}

/// A field under given rules, for one environment. A batch adds a dimension before the shape.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSpec {
    pub name: &'static str,
    pub dtype: DataType,
    /// Shape for one environment; empty for a single number.
    pub shape: Vec<u32>,
    pub kind: Kind,
    /// Smallest possible number, if bounded.
    pub low: Option<f64>,
    /// Largest possible number, if bounded.
    pub high: Option<f64>,
    /// Meaning and unit, in one sentence.
    pub description: &'static str,
}

impl Field {
    /// The fields with a role, in the order of the table.
    pub fn with_role(role: Role) -> impl Iterator<Item = Field> + Clone {
        FIELDS.iter().filter(move |info| info.role == role).map(|info| info.field)
    }

    /// The fields with a role that callers get if they list none.
    pub fn defaults(role: Role, config: &EnvConfig) -> impl Iterator<Item = Field> {
        Field::with_role(role).filter(|field| field.is_of(&config.rules) && (field.info().is_default)(config))
    }

    /// Whether the rules have the field.
    pub fn is_of(self, rules: &Rules) -> bool {
        self.info().needs.is_none_or(|needs| (needs.are_met)(rules))
    }

    /// The field's row of [`FIELDS`].
    pub fn info(self) -> &'static FieldInfo {
        &FIELDS[self as usize]
    }

    pub(super) fn spec(self, config: &EnvConfig) -> FieldSpec {
        let FieldInfo { name, description, dtype, dims, kind, bounds, .. } = *self.info();
        let is_wide = self == Field::BoardBits && config.rules.width > 16;
        let dtype = if is_wide { DataType::Uint32 } else { dtype };
        let shape = dims.iter().map(|dim| dim.size(config)).collect();
        let (low, high) = bounds(config);
        FieldSpec { name, dtype, shape, kind, low, high, description }
    }
}
