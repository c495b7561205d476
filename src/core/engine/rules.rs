//! Rules are data: one value drives the one engine, and the presets are rows of one table.

use super::choice::choice;
use super::clears::{AttackTable, ClearPoints};
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
pub mod fields;

pub use changes::Changes;
pub use check::check_points;
pub use error::RulesError;
pub use fields::{FieldKind, FieldValue, RULES_FIELDS, RulesField};

/// Changes whenever equal seeds and equal actions could give another game.
pub const RULES_VERSION: &str = "tetrion-rules-1";

/// The narrowest and the widest playfield, in columns.
pub const WIDTHS: std::ops::RangeInclusive<u8> = 4..=32;
/// The lowest and the highest playfield, in rows.
pub const HEIGHTS: std::ops::RangeInclusive<u8> = 4..=40;
/// The most next pieces that can be shown.
pub const MAX_PREVIEW: u8 = 6;
/// The largest absolute value of points: doubles add up numbers of this size exactly enough.
pub const MAX_POINTS: f64 = 1e15;

choice! {
    /// What one step of a game is.
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
    /// How many rows at the top lie above the field under [`TopOut::Sink`]: no piece is higher.
    pub const ROWS_ABOVE_SINKING: u8 = 5;
}

choice! {
    /// Which way of numbering the orientations a rule set follows; the shapes are the same seven everywhere.
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
    /// Where a piece may come down.
    pub enum Reach: "reach" {
        /// Straight drops from above the playfield, in every orientation and column.
        StraightDrop = 1, "straight_drop";
        /// Moves along the top through free columns, then a straight drop.
        SidewaysWalk = 2, "sideways_walk";
        /// All places that moves, turns with kicks and soft drops reach, tucks and spins included.
        Moves = 3, "moves";
    }
}

/// Points, as doubles; lines and pieces are counted whatever the points are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scoring {
    /// For every piece that lands.
    pub piece: f64,
    /// For 1, 2, 3 and 4 lines cleared at once. Five and more (from a drawn position) count as four in games of tetrominoes; in
    /// games of [other pieces](Rules::pieces) each one beyond four counts what the fourth adds to three.
    pub lines: [f64; 4],
    /// Once, when the rules end the game; under [`TopOut::Sink`], where they do not, for every row that sinks.
    pub game_end: f64,
}

impl Scoring {
    /// One point a line: the literature's score.
    pub const LINES: Scoring = Scoring { piece: 0.0, lines: [1.0, 2.0, 3.0, 4.0], game_end: 0.0 };
}

/// The rules of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Columns, within [`WIDTHS`].
    pub width: u8,
    /// Rows, within [`HEIGHTS`]: all of them, those above the visible field included.
    pub height: u8,
    /// How many of them lie above the visible field: 0 except under [`Reach::Moves`].
    pub rows_above: u8,
    /// Which pieces there are.
    pub pieces: PieceSet,
    /// How pieces are dealt.
    pub randomizer: Randomizer,
    /// What a step is.
    pub action_model: ActionModel,
    /// What ends a game.
    pub top_out: TopOut,
    /// How orientations are numbered.
    pub orientations: OrientationTable,
    /// Where a piece may come down.
    pub reach: Reach,
    /// How a quarter turn is kicked, under [`Reach::Moves`].
    pub rotation_system: RotationSystem,
    /// Whether there are turns by 180 degrees under [`Reach::Moves`], and how they are kicked.
    pub half_turns: HalfTurns,
    /// Which turns into place are told apart, under [`Reach::Moves`].
    pub spin_rule: SpinRule,
    /// The row in which the anchor of a piece appears under [`Reach::Moves`], and nowhere else; none for the highest visible row,
    /// or one row higher where that is blocked.
    pub spawn_row: Option<u8>,
    /// Whether the player may hold a piece: place the held one, or the next one while none is held, in place of the current
    /// one, which is held then.
    pub hold: bool,
    /// The points for pieces, lines and the end of a game.
    pub scoring: Scoring,
    /// Which points clears make: those of `scoring`, or others in their place.
    pub clear_points: ClearPoints,
    /// Which lines clears send, if that is counted.
    pub attack_table: AttackTable,
    /// How many next pieces are shown, 0..=[`MAX_PREVIEW`].
    pub preview: u8,
    /// How time passes where keys [steer](Rules::steers) pieces; none elsewhere.
    pub timing: Option<Timing>,
    /// The rows that rise from below, if any do.
    pub garbage: Option<Garbage>,
}

/// A rule set with a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name on the wire and on the command line.
    pub name: &'static str,
    /// Where it comes from, in a sentence.
    pub source: &'static str,
    /// The rules at its own size; any of them may be resized.
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
};

/// Every rule set with a name, the default first.
pub static PRESETS: [Preset; 8] = [
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
        rules: Rules {
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
        },
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
];

impl Default for Rules {
    fn default() -> Rules {
        SIMPLIFIED
    }
}

impl Rules {
    /// The rules of a preset at its own size.
    pub fn preset(name: &str) -> Option<Rules> {
        PRESETS.iter().find(|preset| preset.name == name).map(|preset| preset.rules)
    }

    /// `simplified` on a playfield of this size.
    pub fn simplified(width: u8, height: u8) -> Rules {
        Rules { width, height, ..SIMPLIFIED }
    }

    /// A dealer of these rules at the beginning of the episode with this seed.
    pub fn dealer(&self, seed: u64) -> Dealer {
        Dealer::of_set(&self.pieces, self.randomizer, seed)
    }

    /// Whether the rules end games: all do but those under which the stack sinks.
    pub fn end_games(&self) -> bool {
        self.top_out != TopOut::Sink
    }

    /// How many rows are seen: all but those above the field.
    #[inline]
    pub const fn visible_rows(&self) -> u8 {
        self.height - self.rows_above
    }

    /// Whether what a clear is worth depends on the clears before it, and a game must know of these.
    #[inline]
    pub const fn keeps_chain(&self) -> bool {
        !matches!((self.clear_points, self.attack_table), (ClearPoints::Lines, AttackTable::None))
    }

    /// Whether a point is a line, so that points say nothing more.
    pub fn points_are_lines(&self) -> bool {
        self.scoring == Scoring::LINES && self.clear_points == ClearPoints::Lines
    }

    /// Whether keys steer pieces as in modern Tetris: with kicks, soft drops and a lock delay.
    #[inline]
    pub const fn steers(&self) -> bool {
        matches!((self.action_model, self.reach), (ActionModel::Keypress, Reach::Moves))
    }

    /// Whether a placement names the spot where it comes to rest, because an orientation and a column do not say it.
    #[inline]
    pub const fn names_spots(&self) -> bool {
        matches!(self.reach, Reach::Moves)
    }

    /// Rows in which the lowest cell of a piece can come to rest, where placements name that row: those of the visible field
    /// and 4 more, as far as there are any, and the one on top of all.
    ///
    /// A game that ends when a piece rests wholly above the field has no stack that reaches higher, unless rows rise from below.
    /// On one that does, what lies higher is no placement; it would end such a game.
    #[inline]
    pub const fn spot_rows(&self) -> u8 {
        let (rows, most) = (self.visible_rows() + 4, self.height + 1);
        if rows < most { rows } else { most }
    }

    /// What placements count as, where they name it: 3 things, or 1 where spins are not told apart.
    #[inline]
    pub const fn spin_labels(&self) -> u8 {
        if matches!(self.spin_rule, SpinRule::None) { 1 } else { 3 }
    }

    /// The reward of one landing that clears so many lines and [loses](super::Landed::losses) the game so many times.
    pub fn reward(&self, lines: u8, losses: u8) -> f64 {
        let Scoring { piece, game_end, .. } = self.scoring;
        piece + self.points_for(lines) + if losses > 0 { f64::from(losses) * game_end } else { 0.0 }
    }

    /// The points for the lines of one landing.
    pub fn points_for(&self, lines: u8) -> f64 {
        let points = &self.scoring.lines;
        match lines {
            0 => 0.0,
            1..=4 => points[usize::from(lines) - 1],
            // Tetrominoes clear so many in a drawn position alone, which can hold rows that are already full.
            _ if self.pieces.is_tetrominoes() => points[3],
            _ => points[3] + f64::from(lines - 4) * (points[3] - points[2]),
        }
    }

    /// The distinct shapes of a piece under these rules; the index is the orientation.
    ///
    /// # Panics
    /// When there is no such piece.
    #[inline]
    pub fn shapes(&self, piece: Piece) -> &'static [Shape] {
        self.all_shapes(piece).as_slice()
    }

    /// The shape in which a piece appears: its first one, of those that are no wider than the playfield.
    ///
    /// # Panics
    /// When there is no such piece, or it is too wide, which no rules that can be played have.
    #[inline]
    pub(super) fn first_shape(&self, piece: Piece) -> &'static Shape {
        let shapes = self.shapes(piece);
        if self.pieces.is_tetrominoes() {
            return &shapes[0];
        }
        shapes.iter().find(|shape| shape.width <= self.width).expect("no piece is too wide")
    }

    /// The columns of these shapes, by orientation; more than any playfield has where there is no such orientation.
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

    /// The size of the action space, whether or not all of them exist: [`Rules::num_placements`], twice that where a piece can
    /// be held; or the keys.
    pub const fn num_actions(&self) -> u32 {
        match self.action_model {
            ActionModel::Placement if self.hold => 2 * self.num_placements(),
            ActionModel::Placement => self.num_placements(),
            ActionModel::Keypress => self.keys().len() as u32,
        }
    }

    /// The keys where a step is a key, by number: the first six, or all of them where they [steer](Rules::steers) pieces.
    #[inline]
    pub const fn keys(&self) -> &'static [Key] {
        if self.steers() { Key::STEERING } else { Key::FALLING }
    }

    /// The numbers that placements of one piece take: four orientations a column, times the spots of each if they name them.
    pub const fn num_placements(&self) -> u32 {
        let plain = 4 * self.width as u32;
        if self.names_spots() { plain * self.spot_rows() as u32 * self.spin_labels() as u32 } else { plain }
    }
}
