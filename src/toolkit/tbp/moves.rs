//! Moves of the protocol and our placements: the same cells, named in two ways.
//!
//! The protocol names the centre of a piece, the cell that stays in place when the piece turns without a kick, and
//! one of four orientations. We name the lower left corner and one of the distinct shapes. So several moves are one
//! placement: an S after a half turn covers the cells of an S one row further up.

use tetrion_core::engine::{
    Hand, Placement, Playfield, Resting, Rules, Shape, Spin, SpinRule, Spot, Tetromino, comes_to_rest,
};

use super::messages::{Letter, Location, Move, Orientation};

/// Why a move is illegal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalMove {
    /// The piece is neither the current one nor the one from hold.
    #[error("{piece} is not there to be placed, expected {current}{}", other.map_or(String::new(), |other| format!(", or {other} from hold")))]
    NotInHand {
        piece: Tetromino,
        current: Tetromino,
        /// The piece that is placed if the current one is held.
        other: Option<Tetromino>,
    },
    /// The piece leaves the board.
    #[error("it leaves the board")]
    Outside,
    /// The cells of the piece are taken.
    #[error("its cells are taken")]
    Taken,
    /// The piece does not come to rest there, or cannot get there.
    #[error("it does not come to rest there on any way")]
    Unreachable,
    /// The placement has another spin label.
    #[error("there it counts as {}, not as {}", spins(.found), spin_name(*.said))]
    Spin {
        /// Label that the move has.
        said: Spin,
        /// Labels of the placements with these cells.
        found: Vec<Spin>,
    },
}

/// A move as text, such as `T south 4,1 (full)`.
impl std::fmt::Display for Move {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Location { piece: Letter(piece), orientation, x, y } = self.location;
        let spin = match self.spin {
            Spin::None => String::new(),
            spin => format!(" ({})", spin_name(spin)),
        };
        write!(f, "{piece} {} {x},{y}{spin}", orientation.name())
    }
}

fn spin_name(spin: Spin) -> &'static str {
    match spin {
        Spin::None => "none",
        Spin::Mini => "mini",
        Spin::Full => "full",
    }
}

fn spins(spins: &[Spin]) -> String {
    spins.iter().map(|spin| spin_name(*spin)).collect::<Vec<_>>().join(" or ")
}

/// Whether the rules tell spins apart as the protocol does.
pub(super) fn has_known_spins(rules: &Rules) -> bool {
    matches!(rules.spin_rule, SpinRule::TSpins | SpinRule::TSpinsStrict)
}

impl Orientation {
    const ALL: [Orientation; 4] =
        [Orientation::North, Orientation::East, Orientation::South, Orientation::West];

    fn name(self) -> &'static str {
        ["north", "east", "south", "west"][self as usize]
    }
}

impl Move {
    /// The move for a placement of a piece.
    ///
    /// # Panics
    /// If the piece has no such placement.
    pub fn of(rules: &Rules, playfield: &Playfield, piece: Tetromino, placement: Placement) -> Move {
        let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
        let location = Location {
            piece: Letter(piece),
            orientation: Orientation::ALL[usize::from(placement.orientation)],
            x: i64::from(placement.column + shape.anchor_column),
            y: i64::from(row + shape.anchor_row),
        };
        Move { location, spin: placement.spin() }
    }

    /// The shape, and the row and the column of its lower left corner; `None` if it leaves a wall or the floor, or
    /// lies wholly above a board of this many rows.
    pub fn corner(&self, width: u8, height: u8) -> Option<(&'static Shape, u8, u8)> {
        let Location { piece: Letter(piece), orientation, x, y } = self.location;
        let turned = Resting { orientation: orientation as u8, column: 0, row: 0, spin: Spin::None };
        let shape = turned.shape(piece);
        let column =
            x.checked_sub(shape.anchor_column.into()).and_then(|column| u8::try_from(column).ok())?;
        let row = y.checked_sub(shape.anchor_row.into()).and_then(|row| u8::try_from(row).ok())?;
        let is_inside = u32::from(column) + u32::from(shape.width) <= width.into() && row < height;
        is_inside.then_some((shape, row, column))
    }

    /// The legal placement with this move's piece, cells and spin. Where the rules know spins that bots do not, the spin
    /// need not be equal; the largest one counts then.
    ///
    /// # Errors
    /// [`IllegalMove`] if there is none.
    pub fn placement(
        &self,
        rules: &Rules,
        playfield: &Playfield,
        hand: &Hand,
        placements: &[(Tetromino, Placement)],
    ) -> Result<Placement, IllegalMove> {
        let Letter(piece) = self.location.piece;
        let Hand { current, other } = *hand;
        if piece != current && other != Some(piece) {
            return Err(IllegalMove::NotInHand { piece, current, other });
        }
        let (shape, row, column) = self.corner(rules.width, rules.height).ok_or(IllegalMove::Outside)?;
        if !playfield.is_free(shape, row, column) {
            return Err(IllegalMove::Taken);
        }
        let orientation = self.location.orientation as u8 % rules.shapes(piece).len() as u8;
        let place = |placement: &Placement| {
            let Placement { orientation, column, spot, hold } = *placement;
            (orientation, column, spot.map(|spot: Spot| spot.row), hold)
        };
        // Which piece it is says whether the current one is held.
        let wanted = (orientation, column, Some(row), piece != current);
        let found =
            || placements.iter().map(|(_, placement)| *placement).filter(|found| place(found) == wanted);
        let spins: Vec<Spin> = found().map(Placement::spin).collect();
        match found().find(|placement| placement.spin() == self.spin) {
            Some(placement) => Ok(placement),
            None if spins.is_empty() => Err(IllegalMove::Unreachable),
            None if !has_known_spins(rules) => {
                Ok(found().max_by_key(|placement| placement.spin() as u8).expect("there are spins"))
            }
            None => Err(IllegalMove::Spin { said: self.spin, found: spins }),
        }
    }
}
