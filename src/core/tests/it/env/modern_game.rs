//! A game of modern Tetris, written a second time: pieces that turn and are kicked, that can be held, and rows above the
//! visible field. It presses keys and shares no code with the library.

use std::collections::BTreeSet;

use tetrion_core::engine::{AttackTable, ClearPoints, NamedChoice, Reach, Rules, TopOut};

use tetrion_twins::{TwinGarbage, TwinGround, TwinMovement, TwinPlayfield, placements};

/// A game, slowly: the pieces are a list of letters, of which those that are placed or held have gone.
pub(super) struct Game {
    pub rules: Rules,
    pub playfield: TwinPlayfield,
    pub pieces: String,
    pub held: Option<char>,
    pub lines: usize,
    /// Lines sent, pieces that cleared something up to now, and whether the last clear was difficult.
    pub attack: u64,
    pub clears: usize,
    pub was_difficult: bool,
    /// The seed of the episode, and the garbage if there is any.
    pub seed: u64,
    pub garbage: Option<TwinGarbage>,
}

/// What a clear is worth in points and in lines sent, by the tables of the players' wikis.
fn worth(
    (lines, spin, is_perfect): (usize, &str, bool),
    (clears, is_back_to_back): (usize, bool),
    table: AttackTable,
) -> (f64, u64) {
    let (points, sent) = match (spin, lines) {
        (_, 0) => {
            return (
                if spin == "none" {
                    0.0
                } else if spin == "mini" {
                    100.0
                } else {
                    400.0
                },
                0,
            );
        }
        ("none", 1) => (100.0, 0),
        ("none", 2) => (300.0, 1),
        ("none", 3) => (500.0, 2),
        ("none", _) => (800.0, 4),
        ("mini", 1) => (200.0, 0),
        ("mini", _) => (400.0, 1),
        (_, 1) => (800.0, 2),
        (_, 2) => (1200.0, 4),
        _ => (1600.0, 6),
    };
    let perfect = match lines {
        _ if !is_perfect => 0.0,
        1 => 800.0,
        2 => 1200.0,
        3 => 1800.0,
        _ if is_back_to_back => 3200.0,
        _ => 2000.0,
    };
    let combos = match table {
        AttackTable::None => "0",
        AttackTable::Jstris => "0 0 1 1 1 2 2 3 3 4 4 4 5",
        AttackTable::ColdClear => "0 0 1 1 2 2 3 3 4 4 4 5",
        other => panic!("{other:?} is compared with another engine, not with this twin"),
    };
    let combos: Vec<u64> = combos.split(' ').map(|number| number.parse().unwrap()).collect();
    let combo = *combos.get(clears).unwrap_or(combos.last().unwrap());
    let factor = if is_back_to_back { 1.5 } else { 1.0 };
    let sent = match table {
        AttackTable::None => 0,
        _ if is_perfect => 10,
        _ => sent + u64::from(is_back_to_back) + combo,
    };
    (points * factor + 50.0 * clears as f64 + perfect, sent)
}

/// Where a placement leads: the sorted cells, what it counts as, and whether the current piece is held for it.
pub(super) type Way = (Vec<(i32, i32)>, &'static str, bool);

impl Game {
    pub fn new(rules: Rules, seed: u64, pieces: String) -> Game {
        Game {
            rules,
            playfield: TwinPlayfield::empty(rules.width.into(), rules.height.into()),
            pieces,
            held: None,
            lines: 0,
            attack: 0,
            clears: 0,
            was_difficult: false,
            seed,
            garbage: rules.garbage.map(|garbage| {
                TwinGarbage::new(garbage.lines_per_piece, garbage.hole_move_chance, garbage.delay_pieces)
            }),
        }
    }

    pub fn current(&self) -> char {
        self.pieces.chars().next().unwrap()
    }

    pub fn movement(&self) -> TwinMovement {
        let Rules { height, rows_above, rotation_system, half_turns, spin_rule, spawn_row, top_out, .. } =
            self.rules;
        let usual = i32::from(height - rows_above) - 1;
        TwinMovement {
            rotation_system: rotation_system.name(),
            half_turns: half_turns.name(),
            spin_rule: spin_rule.name(),
            spawn_row: spawn_row.map_or(usual, i32::from),
            spawn_lift: if spawn_row.is_some() || top_out == TopOut::SpawnBlocked { 0 } else { 1 },
        }
    }

    pub fn is_blocked(&self, piece: char) -> bool {
        if self.rules.reach == Reach::Moves {
            TwinGround::new(&self.playfield, self.movement(), piece).appears().is_none()
        } else {
            placements(&self.playfield, piece).is_empty()
        }
    }

    fn ways_of(&self, piece: char, hold: bool) -> Vec<Way> {
        if self.rules.reach == Reach::Moves {
            let ground = TwinGround::new(&self.playfield, self.movement(), piece);
            return ground.all_resting().into_iter().map(|(cells, spin)| (cells, spin, hold)).collect();
        }
        let all = placements(&self.playfield, piece);
        let cells = |placement: &tetrion_twins::TwinPlacement| {
            let landing = tetrion_twins::land(&self.playfield, placement);
            let mut cells: Vec<(i32, i32)> =
                landing.cells.iter().map(|&(row, column)| (row as i32, column as i32)).collect();
            cells.sort_unstable();
            cells
        };
        all.iter().map(|placement| (cells(placement), "none", hold)).collect()
    }

    /// The piece that is placed if the current one is held.
    pub fn other(&self) -> Option<char> {
        let other = match self.held {
            _ if !self.rules.hold => None,
            Some(held) => Some(held).filter(|held| *held != self.current()),
            None => self.pieces.chars().nth(1),
        };
        other.filter(|other| !self.is_blocked(*other))
    }

    /// Every placement of the current piece, and with hold of the other one.
    pub fn ways(&self) -> BTreeSet<Way> {
        let current = self.ways_of(self.current(), false);
        let others = self.other().map_or(vec![], |other| self.ways_of(other, true));
        // Only rows that rise push a stack so high that a placement has no number there.
        let Rules { height, rows_above, reach, .. } = self.rules;
        let rows = i32::from((height + 1).min(height - rows_above + 4));
        let is_numbered = |way: &Way| reach != Reach::Moves || way.0[0].0 < rows;
        current.into_iter().chain(others).filter(is_numbered).collect()
    }

    /// Makes a placement; returns its points and whether it ends the game.
    pub fn place(&mut self, way: &Way) -> (f64, bool) {
        let (lines, mut is_over) = self.lock(way);
        let is_perfect = self.playfield.rows.iter().all(|row| !row.contains(&true));
        let is_difficult = lines > 0 && (way.1 != "none" || lines >= 4);
        let before = (self.clears, is_difficult && self.was_difficult);
        let (points, sent) = worth((lines, way.1, lines > 0 && is_perfect), before, self.rules.attack_table);
        self.attack += sent;
        self.clears = if lines > 0 { self.clears + 1 } else { 0 };
        if lines > 0 {
            self.was_difficult = is_difficult;
        }
        let points = match self.rules.clear_points {
            ClearPoints::Lines => lines as f64,
            ClearPoints::Guideline => points,
            ClearPoints::Attack => sent as f64,
            other => panic!("{other:?} is for matches"),
        };
        if let (Some(garbage), false) = (&mut self.garbage, is_over) {
            is_over = garbage.follow(&mut self.playfield, self.seed, lines, sent);
        }
        (points, is_over || self.is_blocked(self.current()))
    }

    /// Fills cells, and takes full rows away; returns how many, and whether that ends the game.
    pub fn lock(&mut self, (cells, _, hold): &Way) -> (usize, bool) {
        let current = self.pieces.remove(0);
        if *hold && self.held.replace(current).is_none() {
            self.pieces.remove(0);
        }
        let (width, height) = (usize::from(self.rules.width), usize::from(self.rules.height));
        for &(row, column) in cells {
            if (row as usize) < height {
                self.playfield.rows[row as usize][column as usize] = true;
            }
        }
        let is_over = match self.rules.top_out {
            TopOut::LockOut => {
                cells.iter().all(|(row, _)| *row >= i32::from(self.rules.height - self.rules.rows_above))
            }
            TopOut::Overflow => cells.iter().any(|(row, _)| *row >= height as i32),
            _ => false,
        };
        if is_over && self.rules.top_out == TopOut::Overflow {
            return (0, true);
        }
        let before = self.playfield.rows.len();
        self.playfield.rows.retain(|row| row.contains(&false));
        let lines = before - self.playfield.rows.len();
        self.playfield.rows.resize(height, vec![false; width]);
        self.lines += lines;
        (lines, is_over)
    }
}
