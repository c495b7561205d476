//! Modern Tetris, slowly: a piece is a drawing in a box, a turn turns the drawing, and the kicks are those of the charts
//! that players use, where columns count to the right and rows upwards.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::playfield::TwinPlayfield;

/// Which of the charts hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwinMovement {
    /// "no_kicks", "srs" or "srs_plus".
    pub rotation_system: &'static str,
    /// "none", "tetrio" or "cobra".
    pub half_turns: &'static str,
    /// "none", "t_spins", "t_spins_strict", "all_spins", "all_mini", "all_mini_plus" or "immobile".
    pub spin_rule: &'static str,
    /// Where the middle of a piece appears.
    pub spawn_row: i32,
    /// How many rows higher it may appear.
    pub spawn_lift: i32,
}

/// A piece somewhere: the lower left corner of its box, quarter turns clockwise, and what came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TwinPiece {
    /// A letter of `TETROMINOES`.
    pub tetromino: char,
    /// Quarter turns clockwise.
    pub turns: usize,
    /// Column of the corner of the box.
    pub x: i32,
    /// Row of the corner of the box.
    pub y: i32,
    /// The kick of the turn that came last, counted from 1, and the quarter turns before it; nothing if the last move was no
    /// turn.
    pub last_turn: Option<(usize, usize)>,
}

/// The cells of a resting piece as (row, column), sorted, and "none", "mini" or "full".
pub type TwinResting = (Vec<(i32, i32)>, &'static str);

/// Box drawings of the pieces as they appear.
fn drawn(tetromino: char) -> &'static str {
    match tetromino {
        'I' => "..../XXXX/..../....",
        'O' => "XX/XX",
        'T' => ".X./XXX/...",
        'L' => "..X/XXX/...",
        'J' => "X../XXX/...",
        'S' => ".XX/XX./...",
        'Z' => "XX./.XX/...",
        other => panic!("{other} is not a tetromino"),
    }
}

/// The charts: the turn, then the places that are tried.
const CHART_JLSTZ: &str = "
    0>1: 0,0 -1,0 -1,1 0,-2 -1,-2
    1>0: 0,0 1,0 1,-1 0,2 1,2
    1>2: 0,0 1,0 1,-1 0,2 1,2
    2>1: 0,0 -1,0 -1,1 0,-2 -1,-2
    2>3: 0,0 1,0 1,1 0,-2 1,-2
    3>2: 0,0 -1,0 -1,-1 0,2 -1,2
    3>0: 0,0 -1,0 -1,-1 0,2 -1,2
    0>3: 0,0 1,0 1,1 0,-2 1,-2";
const CHART_I: &str = "
    0>1: 0,0 -2,0 1,0 -2,-1 1,2
    1>0: 0,0 2,0 -1,0 2,1 -1,-2
    1>2: 0,0 -1,0 2,0 -1,2 2,-1
    2>1: 0,0 1,0 -2,0 1,-2 -2,1
    2>3: 0,0 2,0 -1,0 2,1 -1,-2
    3>2: 0,0 -2,0 1,0 -2,-1 1,2
    3>0: 0,0 1,0 -2,0 1,-2 -2,1
    0>3: 0,0 -1,0 2,0 -1,2 2,-1";
const CHART_I_PLUS: &str = "
    0>1: 0,0 1,0 -2,0 -2,-1 1,2
    1>0: 0,0 -1,0 2,0 -1,-2 2,1
    1>2: 0,0 -1,0 2,0 -1,2 2,-1
    2>1: 0,0 -2,0 1,0 -2,1 1,-2
    2>3: 0,0 2,0 -1,0 2,1 -1,-2
    3>2: 0,0 1,0 -2,0 1,2 -2,-1
    3>0: 0,0 1,0 -2,0 1,-2 -2,1
    0>3: 0,0 -1,0 2,0 2,-1 -1,2";
const CHART_HALF: &str = "
    0>2: 0,0 0,1 1,1 -1,1 1,0 -1,0
    2>0: 0,0 0,-1 -1,-1 1,-1 -1,0 1,0
    1>3: 0,0 1,0 1,2 1,1 0,2 0,1
    3>1: 0,0 -1,0 -1,2 -1,1 0,2 0,1";
const CHART_HALF_I_TETRIO: &str = "
    0>2: 0,0 0,1
    2>0: 0,0 0,-1
    1>3: 0,0 1,0
    3>1: 0,0 -1,0";

fn kicks(movement: &TwinMovement, tetromino: char, from: usize, to: usize) -> Vec<(i32, i32)> {
    let is_half = (from + 2) % 4 == to;
    let chart = match (is_half, tetromino) {
        (_, 'O') => return if is_half && movement.half_turns == "none" { vec![] } else { vec![(0, 0)] },
        (true, _) if movement.half_turns == "none" => return vec![],
        (true, 'I') if movement.half_turns == "tetrio" => CHART_HALF_I_TETRIO,
        (true, _) => CHART_HALF,
        (false, 'I') if movement.rotation_system == "srs_plus" => CHART_I_PLUS,
        (false, 'I') => CHART_I,
        (false, _) => CHART_JLSTZ,
    };
    let head = format!("{from}>{to}:");
    let row = chart.lines().find_map(|line| line.trim().strip_prefix(&head)).expect("a row for each turn");
    let number = |text: &str| text.parse::<i32>().expect("a number");
    let mut all: Vec<(i32, i32)> = row
        .split_whitespace()
        .map(|pair| {
            let (x, y) = pair.split_once(',').expect("a pair");
            (number(x), number(y))
        })
        .collect();
    if movement.rotation_system == "no_kicks" {
        all.truncate(1);
    }
    all
}

/// A playfield to move on, with what does not change between two moves looked up once.
#[derive(Debug)]
pub struct TwinGround<'a> {
    playfield: &'a TwinPlayfield,
    movement: TwinMovement,
    tetromino: char,
    /// By quarter turns, the full cells of the box as (column, row) from its lower left corner.
    boxes: Vec<Vec<(i32, i32)>>,
    /// By quarter turns before and after.
    kicks: Vec<Vec<Vec<(i32, i32)>>>,
}

impl<'a> TwinGround<'a> {
    pub fn new(playfield: &'a TwinPlayfield, movement: TwinMovement, tetromino: char) -> TwinGround<'a> {
        let mut rows: Vec<Vec<char>> = drawn(tetromino).split('/').map(|row| row.chars().collect()).collect();
        let size = rows.len();
        let mut boxes = Vec::new();
        for _ in 0..4 {
            let mut cells = Vec::new();
            for (from_top, row) in rows.iter().enumerate() {
                for (x, letter) in row.iter().enumerate() {
                    if *letter == 'X' {
                        cells.push((x as i32, (size - 1 - from_top) as i32));
                    }
                }
            }
            boxes.push(cells);
            // Turned clockwise, the first column read upwards is the first row.
            rows = (0..size).map(|x| (0..size).rev().map(|y| rows[y][x]).collect()).collect();
        }
        let to = |from| (0..4).map(move |to| (from, to));
        let kicks = (0..4)
            .map(|from| {
                to(from)
                    .map(|(from, to)| if from == to { vec![] } else { kicks(&movement, tetromino, from, to) })
                    .collect()
            })
            .collect();
        TwinGround { playfield, movement, tetromino, boxes, kicks }
    }

    fn is_full(&self, x: i32, y: i32) -> bool {
        x < 0
            || y < 0
            || x >= self.playfield.width() as i32
            || y < self.playfield.height() as i32 && self.playfield.rows[y as usize][x as usize]
    }

    fn fits(&self, piece: &TwinPiece) -> bool {
        self.boxes[piece.turns].iter().all(|(x, y)| !self.is_full(piece.x + x, piece.y + y))
    }

    /// The piece as it appears, unless it is blocked.
    pub fn appears(&self) -> Option<TwinPiece> {
        // The middle of the box: for I the second cell of its row, for O the lower left one.
        let (x, y) = match self.tetromino {
            'I' => (1, 2),
            'O' => (0, 0),
            _ => (1, 1),
        };
        let column = (self.playfield.width() as i32 - 1) / 2;
        (0..=self.movement.spawn_lift)
            .map(|lift| TwinPiece {
                tetromino: self.tetromino,
                turns: 0,
                x: column - x,
                y: self.movement.spawn_row + lift - y,
                last_turn: None,
            })
            .find(|piece| self.fits(piece))
    }

    /// One step or one turn, if it can be made.
    pub fn moved(&self, piece: TwinPiece, x: i32, y: i32) -> Option<TwinPiece> {
        let moved = TwinPiece { x: piece.x + x, y: piece.y + y, last_turn: None, ..piece };
        self.fits(&moved).then_some(moved)
    }

    fn turned(&self, piece: TwinPiece, quarters: usize) -> Option<TwinPiece> {
        self.turned_up_to(piece, quarters, i32::MAX)
    }

    /// A turn whose kick goes at most so many rows up.
    pub fn turned_up_to(&self, piece: TwinPiece, quarters: usize, most: i32) -> Option<TwinPiece> {
        let turns = (piece.turns + quarters) % 4;
        let tried = self.kicks[piece.turns][turns].iter().enumerate();
        tried
            .filter(|(_, (_, y))| *y <= most)
            .map(|(n, (x, y))| TwinPiece {
                turns,
                x: piece.x + x,
                y: piece.y + y,
                last_turn: Some((n + 1, piece.turns)),
                ..piece
            })
            .find(|turned| self.fits(turned))
    }

    fn as_far_as_it_goes(&self, mut piece: TwinPiece, x: i32, y: i32) -> TwinPiece {
        while let Some(moved) = self.moved(piece, x, y) {
            piece = moved;
        }
        piece
    }

    /// Presses a key; one that can do nothing leaves the piece as it is.
    pub fn pressed(&self, piece: TwinPiece, key: &str) -> TwinPiece {
        let pressed = match key {
            "left" => self.moved(piece, -1, 0),
            "right" => self.moved(piece, 1, 0),
            "soft_drop" => self.moved(piece, 0, -1),
            "turn_right" => self.turned(piece, 1),
            "turn_half" => self.turned(piece, 2),
            "turn_left" => self.turned(piece, 3),
            "far_left" => Some(self.as_far_as_it_goes(piece, -1, 0)),
            "far_right" => Some(self.as_far_as_it_goes(piece, 1, 0)),
            "sonic_drop" | "hard_drop" => Some(self.as_far_as_it_goes(piece, 0, -1)),
            other => panic!("there is no key {other}"),
        };
        pressed.unwrap_or(piece)
    }

    /// The cells of a piece and what it counts as where it is.
    pub fn resting(&self, piece: TwinPiece) -> TwinResting {
        let mut cells: Vec<(i32, i32)> =
            self.boxes[piece.turns].iter().map(|(x, y)| (piece.y + y, piece.x + x)).collect();
        cells.sort_unstable();
        (cells, self.spin(&piece))
    }

    fn spin(&self, piece: &TwinPiece) -> &'static str {
        if piece.last_turn.is_none() {
            return "none";
        }
        if self.movement.spin_rule == "none" || self.tetromino == 'O' {
            return "none";
        }
        let is_stuck = [(-1, 0), (1, 0), (0, 1)].iter().all(|(x, y)| self.moved(*piece, *x, *y).is_none());
        let if_stuck = match (self.movement.spin_rule, self.tetromino) {
            _ if !is_stuck => "none",
            ("immobile", _) => "full",
            ("all_spins", other) if other != 'T' => "full",
            ("all_mini", other) if other != 'T' => "mini",
            ("all_mini_plus", _) => "mini",
            _ => "none",
        };
        if self.tetromino != 'T' || self.movement.spin_rule == "immobile" {
            return if_stuck;
        }
        let corner = |x: i32, y: i32| self.is_full(piece.x + x, piece.y + y);
        let (upper_left, upper_right) = (corner(0, 2), corner(2, 2));
        let (lower_left, lower_right) = (corner(0, 0), corner(2, 0));
        let front = match piece.turns {
            0 => upper_left && upper_right,
            1 => upper_right && lower_right,
            2 => lower_left && lower_right,
            _ => upper_left && lower_left,
        };
        let num_full =
            [upper_left, upper_right, lower_left, lower_right].iter().filter(|full| **full).count();
        if num_full < 3 {
            if_stuck
        } else if front || self.is_far_kick(piece) {
            "full"
        } else {
            "mini"
        }
    }

    /// Whether a kick has brought a T there by which a spin is full.
    fn is_far_kick(&self, piece: &TwinPiece) -> bool {
        let Some((kick, turns_before)) = piece.last_turn else { return false };
        match self.movement.spin_rule {
            _ if piece.tetromino != 'T' => false,
            "none" | "immobile" => false,
            "t_spins_strict" | "all_mini" | "all_mini_plus" => {
                kick == 5 && [0, 2].contains(&turns_before) && [1, 3].contains(&piece.turns)
            }
            _ => kick >= 5,
        }
    }

    /// 0 for a piece that was moved last, 1 for one that was turned, 2 by a kick that makes a spin full.
    pub fn arrival(&self, piece: &TwinPiece) -> u32 {
        u32::from(piece.last_turn.is_some()) + u32::from(self.is_far_kick(piece))
    }

    /// Every placement that some sequence of keys leads to.
    pub fn all_resting(&self) -> BTreeSet<TwinResting> {
        let mut found = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut waiting = VecDeque::new();
        waiting.extend(self.appears());
        seen.extend(self.appears());
        while let Some(piece) = waiting.pop_front() {
            if self.moved(piece, 0, -1).is_none() {
                found.insert(self.resting(piece));
            }
            let moves = [(-1, 0), (1, 0), (0, -1)].map(|(x, y)| self.moved(piece, x, y));
            let turns = [1, 2, 3].map(|quarters| self.turned(piece, quarters));
            for next in moves.into_iter().chain(turns).flatten() {
                // What a turn was matters for spins alone.
                let last_turn = next.last_turn.filter(|_| self.movement.spin_rule != "none");
                let next = TwinPiece { last_turn, ..next };
                if seen.insert(next) {
                    waiting.push_back(next);
                }
            }
        }
        found
    }
}
