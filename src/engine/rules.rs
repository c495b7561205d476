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

/// Changes whenever equal seeds and equal actions could give another game.
pub const RULES_VERSION: &str = "tetrion-rules-1";

/// The narrowest and the widest playfield, in columns.
pub const WIDTHS: std::ops::RangeInclusive<u8> = 4..=32;
/// The lowest and the highest playfield, in rows.
pub const HEIGHTS: std::ops::RangeInclusive<u8> = 4..=40;
/// The most next pieces that can be shown.
pub const MAX_PREVIEW: u8 = 6;

choice! {
    /// What one step of a game is.
    pub enum ActionModel: "action_model" {
        /// One step is one piece: an orientation and a column.
        Placement = 1, "placement";
        /// One step is one key press, with gravity: idle, left, right, rotate left, rotate right, drop; and more under reach srs.
        Keypress = 2, "keypress";
    }
}

choice! {
    /// The rule that ends a game.
    pub enum TopOut: "top_out" {
        /// A landed cell lies at or above the height; tested before clearing, and then nothing clears.
        Overflow = 1, "overflow";
        /// The next tetromino overlaps the playfield where it appears; known when it does, not when the one before it lands.
        SpawnBlocked = 2, "spawn_blocked";
        /// After clearing, a cell of the top row is full.
        TopRow = 3, "top_row";
        /// After clearing, a cell of the third row from the top is full: the three top rows lie above the field.
        AboveField = 4, "above_field";
        /// A piece comes to rest wholly above the visible field.
        LockOut = 5, "lock_out";
    }
}

choice! {
    /// Which way of numbering the orientations a rule set follows; the shapes are the same seven everywhere.
    pub enum OrientationTable: "orientation_table" {
        /// The drawings of the research literature, then quarter turns counter-clockwise.
        Literature = 1, "literature";
        /// As created, turned right, turned left, half a turn.
        Lab = 2, "lab";
        /// Lying, T pointing down, then quarter turns counter-clockwise; the order of the survey's arrays.
        Survey = 3, "survey";
        /// Lying, T, J and L pointing down, then quarter turns counter-clockwise.
        Leiden = 4, "leiden";
        /// As modern Tetris makes pieces appear, then quarter turns clockwise.
        Guideline = 5, "guideline";
    }
}

choice! {
    /// Where a piece may come down.
    pub enum Reach: "reach" {
        /// Straight down from above the wall: every orientation fits over every column.
        StraightDrop = 1, "straight_drop";
        /// From where the shape appears sideways along the top, one free column at a time, then down.
        SidewaysWalk = 2, "sideways_walk";
        /// Wherever it can rest that it comes to from where it appears by steps sideways, turns with kicks, and down.
        Srs = 3, "srs";
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
    /// Once, when the rules end the game.
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
    /// How many of them lie above the visible field: 0 except under [`Reach::Srs`].
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
    /// How a quarter turn is kicked, under [`Reach::Srs`].
    pub rotation: RotationSystem,
    /// Whether there are turns by 180 degrees under [`Reach::Srs`], and how they are kicked.
    pub half_turns: HalfTurns,
    /// Which turns into place are told apart, under [`Reach::Srs`].
    pub spins: SpinRule,
    /// The row in which the anchor of a piece appears under [`Reach::Srs`], and nowhere else; none for the highest visible row,
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
    pub attack: AttackTable,
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
    rotation: RotationSystem::None,
    half_turns: HalfTurns::Off,
    spins: SpinRule::Off,
    spawn_row: None,
    hold: false,
    scoring: Scoring::LINES,
    clear_points: ClearPoints::Lines,
    attack: AttackTable::Off,
    preview: 0,
    timing: None,
    garbage: None,
};

/// Every rule set with a name, the default first.
pub static PRESETS: [Preset; 7] = [
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
            reach: Reach::Srs,
            rotation: RotationSystem::Srs,
            spins: SpinRule::TSpins,
            hold: true,
            clear_points: ClearPoints::Guideline,
            attack: AttackTable::Jstris,
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
];

/// Why rules cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// A width outside [`WIDTHS`].
    #[error("width is {0}, expected {min}..={max}", min = WIDTHS.start(), max = WIDTHS.end())]
    Width(u32),
    /// A height outside [`HEIGHTS`].
    #[error("height is {0}, expected {min}..={max}", min = HEIGHTS.start(), max = HEIGHTS.end())]
    Height(u32),
    /// More rows above the visible field than leave it [`HEIGHTS`]' least.
    #[error("rows_above is {rows_above}, expected at most {most}: height {height} less {least} visible rows", most = .height - HEIGHTS.start(), least = HEIGHTS.start())]
    RowsAbove {
        /// What was given.
        rows_above: u32,
        /// All rows.
        height: u8,
    },
    /// A spawn row from which pieces could come to rest where no placement has a number.
    #[error(
        "spawn_row is {spawn_row}, expected 0..={most}: at most 3 rows above the {visible} visible ones, and 1 above all"
    )]
    SpawnRow {
        /// What was given.
        spawn_row: u32,
        /// The highest one.
        most: u8,
        /// Visible rows.
        visible: u8,
    },
    /// A preview over [`MAX_PREVIEW`].
    #[error("preview is {0}, expected 0..={MAX_PREVIEW}")]
    Preview(u32),
    /// A piece that is too wide for the playfield in all of its orientations.
    #[error("piece {letter:?} of the set has no orientation of at most {width} columns, expected one")]
    TooWide {
        /// The letter of the piece.
        letter: char,
        /// The columns of the playfield.
        width: u8,
    },
    /// Points that are not a finite number, or too large for a double to add up exactly enough.
    #[error("{field} is {value}, expected a finite number of at most 1e15 in size")]
    Points {
        /// Which points.
        field: &'static str,
        /// What they were.
        value: f64,
    },
    /// A part of [`Timing`] that is out of range, or missing, or where no time passes.
    #[error("{field} is {value}, expected {expected}")]
    Timing {
        /// Which part.
        field: &'static str,
        /// What was given.
        value: u32,
        /// What may be given.
        expected: &'static str,
    },
    /// A part of [`Garbage`] that is out of range.
    #[error("{field} is {value}, expected {expected}")]
    Garbage {
        /// Which part.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What may be given.
        expected: &'static str,
    },
    /// Two choices that cannot go together.
    #[error("{0}")]
    Contradiction(&'static str),
}

/// Checks that a number can be points.
///
/// # Errors
/// [`RulesError::Points`] with the name of the field if not.
pub fn check_points(field: &'static str, value: f64) -> Result<(), RulesError> {
    if value.is_finite() && value.abs() <= 1e15 { Ok(()) } else { Err(RulesError::Points { field, value }) }
}

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

    /// Checks that these rules can be played.
    ///
    /// # Errors
    /// The first field that is out of range, or two choices that contradict each other.
    pub fn check(&self) -> Result<(), RulesError> {
        if !WIDTHS.contains(&self.width) {
            return Err(RulesError::Width(self.width.into()));
        }
        if !HEIGHTS.contains(&self.height) {
            return Err(RulesError::Height(self.height.into()));
        }
        if self.rows_above > self.height - HEIGHTS.start() {
            return Err(RulesError::RowsAbove { rows_above: self.rows_above.into(), height: self.height });
        }
        if let Some(spawn_row) = self.spawn_row {
            self.check_spawn_row(spawn_row.into())?;
        }
        if self.preview > MAX_PREVIEW {
            return Err(RulesError::Preview(self.preview.into()));
        }
        if let Some(piece) = self.pieces.too_wide(self.width) {
            return Err(RulesError::TooWide { letter: self.pieces.letter(piece), width: self.width });
        }
        let points = [
            ("scoring.piece", self.scoring.piece),
            ("scoring.lines[0]", self.scoring.lines[0]),
            ("scoring.lines[1]", self.scoring.lines[1]),
            ("scoring.lines[2]", self.scoring.lines[2]),
            ("scoring.lines[3]", self.scoring.lines[3]),
            ("scoring.game_end", self.scoring.game_end),
        ];
        for (field, value) in points {
            check_points(field, value)?;
        }
        if let Some(field) = self.timing.and_then(Timing::zero) {
            return Err(RulesError::Timing { field, value: 0, expected: Timing::STEPS });
        }
        if let Some((field, value, expected)) = self.garbage.and_then(Garbage::out_of_range) {
            return Err(RulesError::Garbage { field, value, expected });
        }
        self.check_together().map_err(RulesError::Contradiction)
    }

    /// Checks that a piece that appears in this row and is dropped comes to rest where its placement has a number.
    ///
    /// # Errors
    /// [`RulesError::SpawnRow`] if it might not.
    pub fn check_spawn_row(&self, spawn_row: u32) -> Result<(), RulesError> {
        let (most, visible) = (self.spot_rows() - 1, self.visible_rows());
        if spawn_row <= most.into() { Ok(()) } else { Err(RulesError::SpawnRow { spawn_row, most, visible }) }
    }

    /// Checks the choices that need the seven tetrominoes.
    fn check_pieces(&self) -> Result<(), &'static str> {
        if self.pieces.is_tetrominoes() {
            return Ok(());
        }
        if self.action_model == ActionModel::Keypress {
            return Err(
                "pieces other than the tetrominoes need the placement action model: they do not turn on their way",
            );
        }
        if self.reach == Reach::Srs {
            return Err(
                "pieces other than the tetrominoes need reach straight_drop or sideways_walk: they do not turn on their way",
            );
        }
        if self.orientations != OrientationTable::Literature {
            return Err("pieces other than the tetrominoes need the literature's orientation table");
        }
        if !matches!(self.randomizer, Randomizer::Uniform | Randomizer::Bag7) {
            return Err("pieces other than the tetrominoes need randomizer uniform or bag7");
        }
        if self.clear_points != ClearPoints::Lines || self.attack != AttackTable::Off {
            return Err("pieces other than the tetrominoes need clear_points lines and attack off");
        }
        Ok(())
    }

    /// Checks the choices that need one another.
    fn check_together(&self) -> Result<(), &'static str> {
        self.check_pieces()?;
        if self.action_model == ActionModel::Keypress && !self.steers() {
            if self.reach != Reach::SidewaysWalk {
                return Err("the keypress action model needs reach by walking sideways, or reach srs");
            }
            if self.orientations != OrientationTable::Lab {
                return Err("the keypress action model needs the lab's orientation table, or reach srs");
            }
            if self.hold {
                return Err("the keypress action model has a key to hold a piece under reach srs only");
            }
        }
        Timing::check(self.timing, self.steers())?;
        if self.hold && self.preview == 0 {
            return Err("hold needs a preview of at least 1: while no piece is held, the next one is placed");
        }
        if self.clear_points == ClearPoints::Attack && self.attack == AttackTable::Off {
            return Err("clear_points attack needs a table of attack");
        }
        if self.reach == Reach::Srs {
            if self.orientations != OrientationTable::Guideline {
                return Err("reach srs needs the guideline's orientation table");
            }
            if self.top_out == TopOut::LockOut && self.rows_above < 3 {
                return Err(
                    "top-out lock_out needs rows_above of at least 3: a piece may rest partly above the field",
                );
            }
            return Ok(());
        }
        let turns = (self.rotation, self.half_turns, self.spins);
        if turns != (RotationSystem::None, HalfTurns::Off, SpinRule::Off) {
            return Err("rotation, half_turns and spins need reach srs");
        }
        if self.rows_above != 0 {
            return Err("rows_above needs reach srs");
        }
        if self.spawn_row.is_some() {
            return Err("spawn_row needs reach srs");
        }
        if self.top_out == TopOut::LockOut {
            return Err("top-out lock_out needs reach srs");
        }
        Ok(())
    }

    /// A dealer of these rules at the beginning of the episode with this seed.
    pub fn dealer(&self, seed: u64) -> Dealer {
        Dealer::of_set(&self.pieces, self.randomizer, seed)
    }

    /// How many rows are seen: all but those above the field.
    #[inline]
    pub const fn visible_rows(&self) -> u8 {
        self.height - self.rows_above
    }

    /// Whether what a clear is worth depends on the clears before it, and a game must know of these.
    #[inline]
    pub const fn keeps_chain(&self) -> bool {
        !matches!((self.clear_points, self.attack), (ClearPoints::Lines, AttackTable::Off))
    }

    /// Whether a point is a line, so that points say nothing more.
    pub fn points_are_lines(&self) -> bool {
        self.scoring == Scoring::LINES && self.clear_points == ClearPoints::Lines
    }

    /// Whether keys steer pieces as in modern Tetris: with kicks, soft drops and a lock delay.
    #[inline]
    pub const fn steers(&self) -> bool {
        matches!((self.action_model, self.reach), (ActionModel::Keypress, Reach::Srs))
    }

    /// Whether a placement names the spot where it comes to rest, because an orientation and a column do not say it.
    #[inline]
    pub const fn names_spots(&self) -> bool {
        matches!(self.reach, Reach::Srs)
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
        if matches!(self.spins, SpinRule::Off) { 1 } else { 3 }
    }

    /// The reward of one landing.
    pub fn reward(&self, lines: u8, terminal: bool) -> f64 {
        let Scoring { piece, game_end, .. } = self.scoring;
        piece + self.points_for(lines) + if terminal { game_end } else { 0.0 }
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
        if self.steers() { &Key::ALL } else { Key::ALL.split_at(6).0 }
    }

    /// The numbers that placements of one piece take: four orientations a column, times the spots of each if they name them.
    pub const fn num_placements(&self) -> u32 {
        let plain = 4 * self.width as u32;
        if self.names_spots() { plain * self.spot_rows() as u32 * self.spin_labels() as u32 } else { plain }
    }
}
