//! The rules as data: one value drives the one engine, and the presets are rows of one table.

use std::borrow::Cow;

use super::choice::choice;
use super::clears::{AttackTable, Chain, ClearPoints};
use super::garbage::Garbage;
use super::key::Key;
use super::piece::Piece;
use super::pieces::PieceSet;

use super::randomizer::{Dealer, Randomizer};
use super::rotation::{HalfTurns, RotationSystem};
use super::shape::{Shape, Shapes};
use super::spin::SpinRule;
use super::tetromino::{CANONICAL, GUIDELINE, LAB, LEIDEN, SURVEY};
use super::timing::Timing;

mod changes;
mod check;
mod error;
mod fields;

pub use changes::Changes;
pub use check::check_points;
pub use error::RulesError;
pub use fields::{FieldKind, FieldValue, RULES_FIELDS, RulesField};

/// The version of the rules. It changes whenever equal seeds and equal actions could lead to a different game.
pub const RULES_VERSION: &str = "tetrion-rules-1";

/// The allowed widths of a playfield, in columns.
pub const WIDTHS: std::ops::RangeInclusive<u8> = 4..=32;
/// The allowed heights of a playfield, in rows.
pub const HEIGHTS: std::ops::RangeInclusive<u8> = 4..=40;
/// The largest preview: how many next pieces a game can show.
pub const MAX_PREVIEW: u8 = 6;
/// The largest absolute value of points. Sums of such numbers are exact enough in `f64`.
pub const MAX_POINTS: f64 = 1e15;

choice! {
    /// The meaning of one step of a game.
    pub enum ActionModel: "action_model" {
        /// One step places one piece.
        Placement = 1, "placement";
        /// One step is one key press, with gravity.
        Keypress = 2, "keypress";
    }
}

choice! {
    /// The rule that ends a game.
    pub enum TopOut: "top_out" {
        /// A piece lands partly above the playfield; full lines do not clear then.
        Overflow = 1, "overflow";
        /// The next piece overlaps filled cells where it appears.
        SpawnBlocked = 2, "spawn_blocked";
        /// A cell of the top row is filled after clearing.
        TopRow = 3, "top_row";
        /// A cell of the third row from the top is filled after clearing.
        AboveField = 4, "above_field";
        /// A piece locks wholly above the visible field.
        LockOut = 5, "lock_out";
        /// Nothing: the stack sinks until the five top rows are empty; each row costs game_end points.
        Sink = 6, "sink";
    }
}

impl TopOut {
    /// Number of rows at the top that lie above the field under [`TopOut::Sink`]. No piece is higher.
    pub(crate) const ROWS_ABOVE_SINKING: u8 = 5;
}

choice! {
    /// The numbering of orientations. All tables hold the same seven shapes.
    pub enum OrientationTable: "orientation_table" {
        /// Drawings of the research literature, then counter-clockwise turns.
        Literature = 1, "literature";
        /// As created, turned right, turned left, turned by 180 degrees.
        Lab = 2, "lab";
        /// Lying, T pointing down, then counter-clockwise turns.
        Survey = 3, "survey";
        /// Lying, T, J and L pointing down, then counter-clockwise turns.
        Leiden = 4, "leiden";
        /// As pieces appear in modern Tetris, then clockwise turns.
        Guideline = 5, "guideline";
    }
}

choice! {
    /// The places that a piece can reach.
    pub enum Reach: "reach" {
        /// Straight drops from above the playfield, in every orientation and column.
        StraightDrop = 1, "straight_drop";
        /// Moves along the top through free columns, then a straight drop.
        SidewaysWalk = 2, "sideways_walk";
        /// All places that moves, turns with kicks and soft drops reach, tucks and spins included.
        Moves = 3, "moves";
    }
}

/// Points, as doubles. Lines and pieces are counted separately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scoring {
    /// Points for every piece that lands.
    pub piece: f64,
    /// Points for clearing 1, 2, 3 and 4 lines at once. Five or more lines (from a drawn position) score like four in
    /// games of tetrominoes. In games of [other pieces](Rules::pieces) each line beyond four adds the difference
    /// between three and four.
    pub lines: [f64; 4],
    /// Points when the rules end the game, given once. [`TopOut::Sink`] never ends a game; it gives them for every row
    /// that sinks.
    pub game_end: f64,
}

impl Scoring {
    /// One point per line: the score of the literature.
    pub const LINES: Scoring = Scoring { piece: 0.0, lines: [1.0, 2.0, 3.0, 4.0], game_end: 0.0 };
}

/// The rules of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Columns, within [`WIDTHS`].
    pub width: u8,
    /// Rows, within [`HEIGHTS`]. Includes the rows above the visible field.
    pub height: u8,
    /// Number of rows above the visible field: 0 except under [`Reach::Moves`].
    pub rows_above: u8,
    pub pieces: PieceSet,
    /// The way in which pieces are dealt.
    pub randomizer: Randomizer,
    /// The meaning of a step.
    pub action_model: ActionModel,
    /// The rule that ends a game.
    pub top_out: TopOut,
    pub orientations: OrientationTable,
    /// The places that a piece can reach.
    pub reach: Reach,
    /// The kicks of quarter turns, under [`Reach::Moves`].
    pub rotation_system: RotationSystem,
    /// Whether pieces can turn by 180 degrees under [`Reach::Moves`], and the kicks of these turns.
    pub half_turns: HalfTurns,
    /// The turns that count as spins, under [`Reach::Moves`].
    pub spin_rule: SpinRule,
    /// The only row in which the anchor of a piece appears under [`Reach::Moves`]. `None` means the highest visible
    /// row, or one row higher if that is blocked and the rules do not [end the game](TopOut::SpawnBlocked) for it.
    pub spawn_row: Option<u8>,
    /// Whether the player may hold a piece. A player who holds places the held piece, or the next one if no piece is
    /// held yet, and the current piece becomes the held one.
    pub hold: bool,
    /// The points for pieces, lines and the end of a game.
    pub scoring: Scoring,
    /// The points for clears: the `scoring`, or another table.
    pub clear_points: ClearPoints,
    /// The number of lines that clears send, if the game counts attack.
    pub attack_table: AttackTable,
    /// Number of next pieces shown, 0..=[`MAX_PREVIEW`].
    pub preview: u8,
    /// The passing of time in games whose keys [steer](Rules::steers) pieces; `None` in all others.
    pub timing: Option<Timing>,
    /// The garbage rows that rise from below; `None` without garbage.
    pub garbage: Option<Garbage>,
    /// Number of players: 1, or 2 who send each other garbage in a [match](super::Match).
    pub players: u8,
    /// Whether a piece that is blocked after a clear appears higher, in the first row where it is free.
    pub clutch: bool,
    /// Whether the current piece may appear higher: set by [`Rules::after`] for one piece, false in the rules of a game.
    pub lifts: bool,
}

/// A rule set with a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The preset's name on the wire and on the command line.
    pub name: &'static str,
    /// The preset's origin, in a sentence.
    pub source: &'static str,
    /// The rules at the preset's own size. Callers may change the size.
    pub rules: Rules,
}

const SIMPLIFIED: Rules = Rules {
    width: 10,
    height: 20,
    pieces: PieceSet::TETROMINOES,
    randomizer: Randomizer::Uniform,
    action_model: ActionModel::Placement,
    top_out: TopOut::Overflow,
    orientations: OrientationTable::Literature,
    reach: Reach::StraightDrop,
    rows_above: 0,
    rotation_system: RotationSystem::NoKicks,
    half_turns: HalfTurns::None,
    spin_rule: SpinRule::None,
    spawn_row: None,
    hold: false,
    scoring: Scoring::LINES,
    clear_points: ClearPoints::Lines,
    attack_table: AttackTable::None,
    preview: 0,
    timing: None,
    garbage: None,
    players: 1,
    clutch: false,
    lifts: false,
};

const MODERN: Rules = Rules {
    height: 40,
    rows_above: 20,
    randomizer: Randomizer::Bag7,
    top_out: TopOut::LockOut,
    orientations: OrientationTable::Guideline,
    reach: Reach::Moves,
    rotation_system: RotationSystem::Srs,
    spin_rule: SpinRule::TSpins,
    hold: true,
    clear_points: ClearPoints::Guideline,
    attack_table: AttackTable::Jstris,
    preview: 5,
    ..SIMPLIFIED
};

/// TETR.IO's league, at two pieces a second: what takes time there takes pieces here.
const TETRIO: Rules = Rules {
    rows_above: 18, // pieces appear above the 20 rows that players see
    top_out: TopOut::SpawnBlocked,
    rotation_system: RotationSystem::SrsPlus,
    half_turns: HalfTurns::Tetrio,
    spin_rule: SpinRule::AllMiniPlus,
    clear_points: ClearPoints::Attack,
    attack_table: AttackTable::Tetrio,
    garbage: Some(Garbage {
        hole_move_chance: 0.0,
        hole_change_chance: 1.0,
        hole_other_column: false,
        delay_pieces: 0,
        rows_per_piece: 8,
        most_waiting: u8::MAX,
        opening_pieces: 14,
        multiplier_growth: 0.008,
        multiplier_after: 180,
        meets_in_flight: true,
        ..Garbage::DEFAULT
    }),
    clutch: true,
    ..MODERN
};

/// All presets. The first is the default.
pub static PRESETS: [Preset; 12] = [
    Preset {
        name: "simplified",
        source: "simplified Tetris of the research literature (MDPTetris; Thiery and Scherrer 2009)",
        rules: SIMPLIFIED,
    },
    Preset {
        name: "lab",
        source: "course notebook: key presses with gravity",
        rules: Rules {
            action_model: ActionModel::Keypress,
            top_out: TopOut::TopRow,
            orientations: OrientationTable::Lab,
            reach: Reach::SidewaysWalk,
            ..SIMPLIFIED
        },
    },
    Preset {
        name: "survey",
        source: "Tetris AI survey notebook: straight drops, bags of seven",
        rules: Rules { randomizer: Randomizer::Bag7, orientations: OrientationTable::Survey, ..SIMPLIFIED },
    },
    Preset {
        name: "genetic",
        source: "genetic-algorithm write-up: the lab's moves by placement on 10 x 22, a point a piece and ten a line",
        rules: Rules {
            height: 22,
            top_out: TopOut::TopRow,
            orientations: OrientationTable::Lab,
            reach: Reach::SidewaysWalk,
            scoring: Scoring { piece: 1.0, lines: [10.0, 20.0, 30.0, 40.0], game_end: 0.0 },
            ..SIMPLIFIED
        },
    },
    Preset {
        name: "leiden",
        source: "report with Monte-Carlo and heuristic agents: the height includes three rows above the field",
        rules: Rules {
            height: 10,
            top_out: TopOut::AboveField,
            orientations: OrientationTable::Leiden,
            ..SIMPLIFIED
        },
    },
    Preset {
        name: "guideline",
        source: "the game people play: turns with kicks, hold, five pieces shown, 20 visible rows and 20 above them",
        rules: MODERN,
    },
    Preset {
        name: "nes",
        source: "Tetris for the NES (1989) by placement: its randomizer, its points at level 0, one piece shown; pieces walk along \
                 the top, as if tapping took no time",
        rules: Rules {
            randomizer: Randomizer::Nes,
            top_out: TopOut::SpawnBlocked,
            orientations: OrientationTable::Leiden,
            reach: Reach::SidewaysWalk,
            scoring: Scoring { piece: 0.0, lines: [40.0, 100.0, 300.0, 1200.0], game_end: 0.0 },
            preview: 1,
            ..SIMPLIFIED
        },
    },
    Preset {
        name: "melax",
        source: "Melax' reduced Tetris (1998): small pieces, six columns, two rows into which the stack sinks; points count the rows \
                 that sank in a game of 10,000 pieces",
        rules: Rules {
            width: 6,
            height: 2 + TopOut::ROWS_ABOVE_SINKING,
            pieces: PieceSet::MELAX,
            top_out: TopOut::Sink,
            scoring: Scoring { piece: 0.0, lines: [0.0; 4], game_end: -1.0 },
            ..SIMPLIFIED
        },
    },
    Preset {
        name: "tetrio",
        source: "TETR.IO's league since its second season, at two pieces a second (halp1/triangle): spins of all pieces, surges, \
                 garbage of opponents",
        rules: TETRIO,
    },
    Preset {
        name: "tetrio_season_1",
        source: "TETR.IO's league in its first season: T-spins, and back-to-back chains that add more the longer they are",
        rules: Rules {
            spin_rule: SpinRule::TSpinsStrict,
            attack_table: AttackTable::TetrioSeason1,
            garbage: match TETRIO.garbage {
                Some(garbage) => Some(Garbage { opening_pieces: 0, ..garbage }),
                None => None,
            },
            ..TETRIO
        },
    },
    Preset {
        name: "botris",
        source: "Botris, the arena of bots (libtris): pieces that cannot move spin; garbage waits until pieces clear nothing",
        rules: Rules {
            rotation_system: RotationSystem::Srs,
            half_turns: HalfTurns::None,
            spin_rule: SpinRule::Immobile,
            rows_above: 20,
            attack_table: AttackTable::Botris,
            garbage: Some(Garbage {
                hole_other_column: false,
                holes_when_sent: true,
                delay_skips_clears: true,
                most_waiting: u8::MAX,
                ..Garbage::DEFAULT
            }),
            clutch: false,
            ..TETRIO
        },
    },
    Preset {
        name: "versus_simple",
        source: "two players with the plainest attack: lines of a clear and T-spins, garbage that rises at once",
        rules: Rules {
            top_out: TopOut::SpawnBlocked,
            clear_points: ClearPoints::Attack,
            attack_table: AttackTable::Simple,
            garbage: Some(Garbage {
                hole_move_chance: 0.0,
                hole_change_chance: 1.0,
                hole_other_column: false,
                delay_pieces: 0,
                rises_after_clears: true,
                most_waiting: u8::MAX,
                ..Garbage::DEFAULT
            }),
            ..MODERN
        },
    },
];

impl Default for Rules {
    fn default() -> Rules {
        SIMPLIFIED
    }
}

impl Rules {
    /// The rules of a preset at its own size.
    ///
    /// ```
    /// use tetrion_core::engine::Rules;
    ///
    /// let guideline = Rules::preset("guideline").unwrap();
    /// assert_eq!((guideline.width, guideline.preview, guideline.hold), (10, 5, true));
    /// ```
    pub fn preset(name: &str) -> Option<Rules> {
        PRESETS.iter().find(|preset| preset.name == name).map(|preset| preset.rules)
    }

    /// The `simplified` rules on a playfield of this size.
    pub fn simplified(width: u8, height: u8) -> Rules {
        Rules { width, height, ..SIMPLIFIED }
    }

    /// A dealer for these rules, at the start of the episode with this seed.
    pub fn dealer(&self, seed: u64) -> Dealer {
        Dealer::of_set(&self.pieces, self.randomizer, seed)
    }

    /// Whether these rules end games. Only [`TopOut::Sink`] does not.
    pub fn end_games(&self) -> bool {
        self.top_out != TopOut::Sink
    }

    /// Whether two players send each other garbage.
    #[inline]
    pub const fn is_match(&self) -> bool {
        self.players == 2
    }

    /// The rules for the next piece after these clears: under [`Rules::clutch`], where it appears depends on them.
    #[inline]
    pub fn after(&self, chain: Chain) -> Cow<'_, Rules> {
        let lifts = self.clutch && chain.clears > 0;
        if lifts == self.lifts { Cow::Borrowed(self) } else { Cow::Owned(Rules { lifts, ..*self }) }
    }

    /// Number of visible rows: all rows except those above the field.
    #[inline]
    pub const fn visible_rows(&self) -> u8 {
        self.height - self.rows_above
    }

    /// Whether the value of a clear depends on earlier clears, so that the game must keep a [`Chain`](super::Chain).
    #[inline]
    pub const fn keeps_chain(&self) -> bool {
        !matches!((self.clear_points, self.attack_table), (ClearPoints::Lines, AttackTable::None))
    }

    /// Whether points equal lines, so that points carry no extra information.
    pub fn points_are_lines(&self) -> bool {
        self.scoring == Scoring::LINES && self.clear_points == ClearPoints::Lines
    }

    /// Whether keys steer pieces as in modern Tetris: with kicks, soft drops and a lock delay.
    #[inline]
    pub const fn steers(&self) -> bool {
        matches!((self.action_model, self.reach), (ActionModel::Keypress, Reach::Moves))
    }

    /// Whether a placement includes the spot where the piece comes to rest, because orientation and column do not
    /// determine it.
    #[inline]
    pub const fn names_spots(&self) -> bool {
        matches!(self.reach, Reach::Moves)
    }

    /// Number of rows in which the lowest cell of a piece can come to rest, where placements name that row: the visible
    /// rows and four more, up to the row on top of the playfield; under [`clutch`](Rules::clutch), where pieces appear on every
    /// stack, all rows up to that one.
    ///
    /// If a piece that rests wholly above the field ends the game, no stack reaches higher, unless garbage rises from
    /// below. On a stack that does, resting places above these rows have no placement; they would end the game.
    #[inline]
    pub(crate) const fn spot_rows(&self) -> u8 {
        let (rows, most) = (self.visible_rows() + 4, self.height + 1);
        if rows < most && !self.clutch { rows } else { most }
    }

    /// Number of spin labels that placements distinguish: 3, or 1 if no turn counts as a spin.
    #[inline]
    pub const fn spin_labels(&self) -> u8 {
        if matches!(self.spin_rule, SpinRule::None) { 1 } else { 3 }
    }

    /// The reward of one landing that clears `lines` and [loses](super::Landed::losses) the game `losses` times.
    ///
    /// ```
    /// use tetrion_core::engine::Rules;
    ///
    /// assert_eq!(Rules::simplified(10, 20).reward(4, 0), 4.0);
    /// ```
    pub fn reward(&self, lines: u8, losses: u8) -> f64 {
        let Scoring { piece, game_end, .. } = self.scoring;
        piece + self.points_for(lines) + if losses > 0 { f64::from(losses) * game_end } else { 0.0 }
    }

    /// The points for the lines of one landing.
    pub(super) fn points_for(&self, lines: u8) -> f64 {
        let points = &self.scoring.lines;
        match lines {
            0 => 0.0,
            1..=4 => points[usize::from(lines) - 1],
            // Tetrominoes clear that many only in a drawn position, which can hold rows that are already full.
            _ if self.pieces.is_tetrominoes() => points[3],
            _ => points[3] + f64::from(lines - 4) * (points[3] - points[2]),
        }
    }

    /// The distinct shapes of a piece under these rules. The index is the orientation.
    ///
    /// # Panics
    /// When the set has no such piece.
    #[inline]
    pub fn shapes(&self, piece: Piece) -> &'static [Shape] {
        self.all_shapes(piece).as_slice()
    }

    /// The shape in which a piece appears: the first one that is no wider than the playfield.
    ///
    /// # Panics
    /// When the set has no such piece, or when the piece is too wide, which [`Rules::check`] rejects.
    #[inline]
    pub(super) fn first_shape(&self, piece: Piece) -> &'static Shape {
        let shapes = self.shapes(piece);
        if self.pieces.is_tetrominoes() {
            return &shapes[0];
        }
        shapes.iter().find(|shape| shape.width <= self.width).expect("no piece is too wide")
    }

    /// The widths of a piece's shapes, by orientation. A missing orientation has a width that no playfield has.
    #[inline]
    pub(super) fn shape_widths(&self, piece: Piece) -> [u8; 4] {
        self.all_shapes(piece).widths()
    }

    #[inline]
    fn all_shapes(&self, piece: Piece) -> &'static Shapes {
        if !self.pieces.is_tetrominoes() {
            return self.pieces.shapes(piece);
        }
        let table = match self.orientations {
            OrientationTable::Literature => &CANONICAL,
            OrientationTable::Lab => &LAB,
            OrientationTable::Survey => &SURVEY,
            OrientationTable::Leiden => &LEIDEN,
            OrientationTable::Guideline => &GUIDELINE,
        };
        &table[piece.index()]
    }

    /// The size of the action space, including actions that do not exist at the moment: [`Rules::num_placements`],
    /// twice that number with hold, or the number of keys.
    pub const fn num_actions(&self) -> u32 {
        match self.action_model {
            ActionModel::Placement if self.hold => 2 * self.num_placements(),
            ActionModel::Placement => self.num_placements(),
            ActionModel::Keypress => self.keys().len() as u32,
        }
    }

    /// The keys of a game whose steps are key presses, by number: the first six, or all keys if they
    /// [steer](Rules::steers) pieces.
    #[inline]
    pub const fn keys(&self) -> &'static [Key] {
        if self.steers() { Key::STEERING } else { Key::FALLING }
    }

    /// The number of placements of one piece: four orientations per column, times the spots of each if placements name
    /// spots.
    pub const fn num_placements(&self) -> u32 {
        let plain = 4 * self.width as u32;
        if self.names_spots() { plain * self.spot_rows() as u32 * self.spin_labels() as u32 } else { plain }
    }
}
