//! The columns of placements, and the policy whose values a request wants.
//!
//! The service weighs and writes answers by [`COLUMNS`]; the client asks for columns and reads them by it. The core
//! knows which columns cost time ([`Options`]), but neither their names nor their tensors.

use tetrion_core::agents::Agent;
use tetrion_core::engine::{ActionModel, MAX_KEYS, Rules};
use tetrion_core::placements::{Options, Placements, bytes_per_cell_row};
use tetrion_toolkit::optimum;

use super::error::{DecodeError, Fault, InField};
use super::policies::decode_scoring;
use super::tensor::DimSize;
use super::{pb, tensor};

use Extent::{Cells, Features, Height, Keys, Place, PositionEnds, Positions, RowEnds, Rows};
use Numbers::{Boards, Bool, Float32, Float64, Int8, Int32, Offsets, Uint8};
use Presence::{Always, Asked, Under, WithFeatures, WithPolicy};

/// A row of the table. The tensor has the same name in the answer and in the core's list.
macro_rules! column {
    ($name:ident: $numbers:ident $extents:tt, $presence:expr) => {
        PlacementColumn {
            name: stringify!($name),
            numbers: $numbers(|listed| &mut listed.$name),
            extents: &$extents,
            presence: $presence,
            field: |answer| &mut answer.$name,
        }
    };
}

/// Every tensor of the answer, in the order of its fields.
pub static COLUMNS: &[PlacementColumn] = &[
    column!(row_offsets: Offsets[PositionEnds], Always),
    column!(actions: Int32[Rows], Always),
    column!(placements: Int32[Rows], Always),
    column!(features: Float32[Rows, Features], WithFeatures),
    column!(rewards: Float32[Rows], Always),
    column!(lines: Uint8[Rows], Always),
    column!(terminated: Bool[Rows], Always),
    column!(afterstates: Boards[Rows, Height], Asked(|request| &mut request.include_afterstates)),
    column!(position_features: Float32[Positions, Features], Asked(|request| &mut request.include_position_features)),
    column!(anchors: Int8[Rows, Place], Asked(|request| &mut request.include_anchors)),
    column!(cells: Int8[Rows, Cells, Place], Asked(|request| &mut request.include_cells)),
    column!(preclear_boards: Boards[Rows, Height], Asked(|request| &mut request.include_preclear_boards)),
    column!(spins: Uint8[Rows], Under(|rules| rules.spin_labels() > 1)),
    column!(holds: Bool[Rows], Under(|rules| rules.hold)),
    column!(attacks: Uint8[Rows], Under(Rules::keeps_chain)),
    column!(key_offsets: Offsets[RowEnds], Asked(|request| &mut request.include_keys)),
    column!(keys: Uint8[Keys], Asked(|request| &mut request.include_keys)),
    column!(optimal_values: Float64[Rows], Asked(|request| &mut request.include_optimal_values)),
    column!(policy_values: Float64[Rows], WithPolicy),
    column!(policy_choices: Int32[Positions], WithPolicy),
];

/// A tensor of the answer.
#[derive(Debug)]
pub struct PlacementColumn {
    pub name: &'static str,
    numbers: Numbers,
    extents: &'static [Extent],
    pub presence: Presence,
    pub field: fn(&mut pb::EnumeratePlacementsResponse) -> &mut Option<pb::Tensor>,
}

/// The answers that have a column.
#[derive(Clone, Copy, Debug)]
pub enum Presence {
    Always,
    WithFeatures,
    WithPolicy,
    /// Answers under such rules.
    Under(fn(&Rules) -> bool),
    /// Answers to requests with this flag.
    Asked(fn(&mut pb::EnumeratePlacementsRequest) -> &mut bool),
}

/// Element type of a column, with access to its numbers.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    Bool(fn(&mut Placements) -> &mut Vec<bool>),
    Int8(fn(&mut Placements) -> &mut Vec<i8>),
    Uint8(fn(&mut Placements) -> &mut Vec<u8>),
    Int32(fn(&mut Placements) -> &mut Vec<i32>),
    /// `int32` in the answer.
    Offsets(fn(&mut Placements) -> &mut Vec<u32>),
    Float32(fn(&mut Placements) -> &mut Vec<f32>),
    Float64(fn(&mut Placements) -> &mut Vec<f64>),
    /// Bytes of `uint16`, or of `uint32` for wide playfields, which the answer takes without a copy.
    Boards(fn(&mut Placements) -> &mut Vec<u8>),
}

/// A dimension of a column. Ends are one more than what they separate.
#[derive(Clone, Copy, Debug)]
enum Extent {
    Positions,
    PositionEnds,
    Rows,
    RowEnds,
    /// The keys of all rows together.
    Keys,
    Features,
    /// Cells of the largest piece.
    Cells,
    Height,
    /// Row and column of a cell.
    Place,
}

/// Sizes of the dimensions of an answer.
#[derive(Clone, Copy, Debug)]
pub struct PlacementSizes<'a> {
    pub rules: &'a Rules,
    pub positions: u32,
    pub rows: u32,
    pub keys: u32,
    pub features: u32,
}

impl PlacementSizes<'_> {
    fn of(&self, extent: Extent) -> u32 {
        match extent {
            Positions => self.positions,
            PositionEnds => self.positions + 1,
            Rows => self.rows,
            RowEnds => self.rows + 1,
            Keys => self.keys,
            Features => self.features,
            Cells => self.rules.pieces.max_cells().into(),
            Height => self.rules.height.into(),
            Place => 2,
        }
    }
}

impl PlacementColumn {
    /// Takes the numbers from a list.
    pub fn encode(&self, sizes: &PlacementSizes<'_>, listed: &mut Placements) -> pb::Tensor {
        let shape = self.extents.iter().map(|&extent| sizes.of(extent)).collect();
        match self.numbers {
            Bool(numbers) => tensor::encode_bools(shape, numbers(listed)),
            Int8(numbers) => tensor::encode(shape, numbers(listed)),
            Uint8(numbers) => tensor::encode(shape, numbers(listed)),
            Int32(numbers) => tensor::encode(shape, numbers(listed)),
            Offsets(numbers) => tensor::encode_offsets(numbers(listed)),
            Float32(numbers) => tensor::encode(shape, numbers(listed)),
            Float64(numbers) => tensor::encode(shape, numbers(listed)),
            Boards(bytes) => tensor::cell_rows(sizes.rules.width, shape, std::mem::take(bytes(listed))),
        }
    }

    /// The element types that an answer can have.
    fn dtypes(&self) -> &'static [pb::DataType] {
        match self.numbers {
            Bool(_) => &[pb::DataType::Bool],
            Int8(_) => &[pb::DataType::Int8],
            Uint8(_) => &[pb::DataType::Uint8],
            Int32(_) | Offsets(_) => &[pb::DataType::Int32],
            Float32(_) => &[pb::DataType::Float32],
            Float64(_) => &[pb::DataType::Float64],
            Boards(_) => &[pb::DataType::Uint16, pb::DataType::Uint32],
        }
    }

    /// Most bytes of the numbers: per position, per row, and in addition to both.
    pub fn weigh(&self, sizes: &PlacementSizes<'_>) -> [u64; 3] {
        let element = match self.numbers {
            Bool(_) | Int8(_) | Uint8(_) => 1,
            Int32(_) | Offsets(_) | Float32(_) => 4,
            Float64(_) => 8,
            Boards(_) => bytes_per_cell_row(sizes.rules.width) as u64,
        };
        let entry: u64 = self.extents[1..].iter().map(|&extent| u64::from(sizes.of(extent))).product();
        let entry = entry * element;
        match self.extents[0] {
            Positions | PositionEnds => [entry, 0, 0],
            RowEnds => [0, entry, entry],
            Keys => [0, MAX_KEYS as u64 * entry, 0],
            _ => [0, entry, 0],
        }
    }
}

/// Checks the columns of an answer about so many positions against each other.
///
/// # Errors
/// If a column is missing that every answer has, or one has another type or other sizes.
pub fn check(answer: &mut pb::EnumeratePlacementsResponse, positions: u32) -> Result<(), DecodeError> {
    let count = |tensor: &Option<pb::Tensor>| {
        tensor.as_ref().and_then(|tensor| tensor.shape.first()).copied().unwrap_or(0)
    };
    let (rows, keys) = (count(&answer.actions), count(&answer.keys));
    let features = answer.feature_columns.as_ref().map_or(0, |columns| columns.names.len() as u32);
    for column in COLUMNS {
        let dim = |extent: &Extent| match extent {
            Positions => DimSize::Exactly(positions),
            PositionEnds => DimSize::Exactly(positions.saturating_add(1)),
            Rows => DimSize::Exactly(rows),
            RowEnds => DimSize::Exactly(rows.saturating_add(1)),
            Keys => DimSize::Exactly(keys),
            Features => DimSize::Exactly(features),
            Place => DimSize::Exactly(2),
            Cells | Height => DimSize::Any,
        };
        let dims: Vec<DimSize> = column.extents.iter().map(dim).collect();
        let tensor = (column.field)(answer).as_ref();
        if tensor.is_none() && !matches!(column.presence, Always) {
            continue;
        }
        let dtypes = column.dtypes();
        let dtype = dtypes.iter().find(|dtype| tensor.is_some_and(|tensor| tensor.dtype() == **dtype));
        let data = tensor::data_field(tensor, column.name, *dtype.unwrap_or(&dtypes[0]), &dims)?;
        if matches!(column.numbers, Offsets(_)) {
            let end = if matches!(column.extents[0], RowEnds) { keys } else { rows };
            let offsets = data.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes));
            let last = offsets.clone().next_back().map(i64::from);
            if !(offsets.clone().next() == Some(0) && offsets.is_sorted() && last == Some(end.into())) {
                let problem = format!("do not ascend from 0 to {end}");
                return Err(DecodeError::invalid(Fault::Tensor, column.name, problem));
            }
        }
    }
    Ok(())
}

/// The columns of the answer to a request.
pub fn wanted(
    request: &mut pb::EnumeratePlacementsRequest,
    rules: &Rules,
    has_features: bool,
) -> Vec<&'static PlacementColumn> {
    let mut is_wanted = |column: &&PlacementColumn| match column.presence {
        Always => true,
        WithFeatures => has_features,
        WithPolicy => request.policy.is_some(),
        Under(holds) => holds(rules),
        Asked(flag) => *flag(request),
    };
    COLUMNS.iter().filter(|column| is_wanted(column)).collect()
}

/// Asks for columns by their names.
///
/// # Errors
/// If a column does not exist, or no request can ask for it.
pub fn ask_for(request: &mut pb::EnumeratePlacementsRequest, names: &[String]) -> Result<(), DecodeError> {
    for name in names {
        let column = COLUMNS.iter().find(|column| column.name == name);
        let Some(PlacementColumn { presence: Asked(flag), .. }) = column else {
            let problem = format!("no request asks for a column called {name:?}");
            return Err(DecodeError::invalid(Fault::UnknownName, "columns", problem));
        };
        *flag(request) = true;
    }
    Ok(())
}

/// The columns that take the core's time. The first request for exact values of a size may take seconds, because it
/// computes them.
///
/// # Errors
/// If these rules have no keys to placements, or no exact values.
pub fn options(request: &pb::EnumeratePlacementsRequest, rules: &Rules) -> Result<Options, DecodeError> {
    if request.include_keys && !rules.names_spots() && rules.action_model != ActionModel::Keypress {
        let problem = "is true, but keys to placements exist only under REACH_MOVES or ACTION_MODEL_KEYPRESS";
        return Err(DecodeError::field("include_keys", problem));
    }
    let values = request.include_optimal_values.then(|| optimum::values(rules)).transpose();
    let optimal_values = values.map_err(|error| {
        DecodeError::field("include_optimal_values", format!("is true, but has no answer: {error}"))
    })?;
    Ok(Options {
        afterstates: request.include_afterstates,
        anchors: request.include_anchors,
        cells: request.include_cells,
        preclear_boards: request.include_preclear_boards,
        position_features: request.include_position_features,
        keys: request.include_keys,
        optimal_values,
    })
}

/// The policy whose values are wanted, if any.
///
/// # Errors
/// If it scores no placements, is not a single one, or only some placements are listed.
pub fn decode_policy(
    request: &pb::EnumeratePlacementsRequest,
    rules: &Rules,
) -> Result<Option<Agent>, DecodeError> {
    let Some(policy) = &request.policy else { return Ok(None) };
    if request.actions.is_some() {
        let problem = "is given with `actions`, but a policy chooses among all placements";
        return Err(DecodeError::field("policy", problem));
    }
    decode_scoring(policy, rules).in_field("policy").map(Some)
}
