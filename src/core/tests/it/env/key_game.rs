//! A game of modern Tetris key by key, written a second time: it turns drawings by charts, counts the steps of each piece in
//! plain numbers and shares no code with the library.

use tetrion_core::engine::{HalfTurns, Rules, Timing};

use super::modern_game::Game;
use tetrion_twins::{TwinGround, TwinPiece};

pub(super) const KEYS: [&str; 10] = [
    "idle",
    "left",
    "right",
    "turn_left",
    "turn_right",
    "hard_drop",
    "soft_drop",
    "sonic_drop",
    "turn_half",
    "hold",
];

/// A game of keys, slowly.
pub(super) struct KeyGame {
    pub game: Game,
    pub piece: TwinPiece,
    pub is_swapped: bool,
    pub in_air: u32,
    pub on_ground: u32,
    pub resets: u32,
    pub lifts: u32,
    pub lowest: i32,
}

impl KeyGame {
    pub fn new(rules: Rules, seed: u64, pieces: String) -> KeyGame {
        let game = Game::new(rules, seed, pieces);
        let piece = TwinGround::new(&game.playfield, game.movement(), game.current()).appears().unwrap();
        let mut game = KeyGame {
            game,
            piece,
            is_swapped: false,
            in_air: 0,
            on_ground: 0,
            resets: 0,
            lifts: 0,
            lowest: 0,
        };
        game.appear(false);
        game
    }

    pub fn ground(&self) -> TwinGround<'_> {
        TwinGround::new(&self.game.playfield, self.game.movement(), self.game.current())
    }

    pub fn cells(&self) -> Vec<(i32, i32)> {
        self.ground().resting(self.piece).0
    }

    pub fn appear(&mut self, is_swapped: bool) {
        self.piece = self.ground().appears().expect("a piece that is not blocked");
        self.is_swapped = is_swapped;
        (self.in_air, self.on_ground, self.resets, self.lifts) = (0, 0, 0, 0);
        self.lowest = self.cells()[0].0;
    }

    /// The piece that comes if this one is held.
    pub fn other(&self) -> Option<char> {
        let other = self.game.held.or(self.game.pieces.chars().nth(1))?;
        let can_be = self.game.rules.hold && !self.is_swapped && !self.game.is_blocked(other);
        can_be.then_some(other)
    }

    pub fn mask(&self) -> Vec<u8> {
        let has_half = self.game.rules.half_turns != HalfTurns::None;
        let mut mask = vec![1; 8];
        mask.extend([u8::from(has_half), u8::from(self.other().is_some())]);
        mask
    }

    /// Presses a key that exists; returns the points, whether the game is over, and the label of a landing.
    pub fn press(&mut self, key: &str) -> (f64, bool, Option<&'static str>) {
        let Timing { fall_delay, lock_delay, lock_resets } = self.game.rules.timing.unwrap();
        if key == "hold" {
            let held = self.game.pieces.remove(0);
            if let Some(back) = self.game.held.replace(held) {
                self.game.pieces.insert(0, back);
            }
            self.appear(true);
            return (0.0, false, None);
        }
        let ground = self.ground();
        let before = self.piece;
        let was_on_ground = ground.moved(before, 0, -1).is_none();
        let most = if self.lifts < 15 { i32::MAX } else { 0 };
        let turned = |quarters| match before.tetromino {
            'O' => None,
            _ => ground.turned_up_to(before, quarters, most),
        };
        let mut piece = match key {
            "turn_left" => turned(3),
            "turn_right" => turned(1),
            "turn_half" => turned(2),
            "idle" => None,
            key => {
                Some(ground.pressed(before, key)).filter(|after| (after.x, after.y) != (before.x, before.y))
            }
        };
        let is_moved = piece.is_some();
        let piece = piece.take().unwrap_or(before);
        // The box of a piece stays where it is unless a kick moves it.
        let is_lifted = piece.y > before.y;
        let is_lower = piece.y < before.y && key.ends_with("drop");
        let is_locked = key == "hard_drop";
        let fallen = ground.moved(piece, 0, -1).filter(|_| !is_locked);
        let in_air = if is_lower { 0 } else { self.in_air } + u32::from(fallen.is_some());
        let falls = in_air >= u32::from(fall_delay);
        let piece = fallen.filter(|_| falls).unwrap_or(piece);
        let is_on_ground = ground.moved(piece, 0, -1).is_none();
        let (cells, label) = ground.resting(piece);
        self.piece = piece;
        self.in_air = if falls { 0 } else { in_air };
        self.lifts += u32::from(is_lifted);
        let is_step = is_moved && !key.ends_with("drop");
        if is_step && was_on_ground && self.resets < lock_resets.into() {
            (self.resets, self.on_ground) = (self.resets + 1, 0);
        }
        if cells[0].0 < self.lowest {
            self.lowest = cells[0].0;
            (self.resets, self.on_ground, self.lifts) = (0, 0, 0);
        }
        self.on_ground += u32::from(is_on_ground && !is_locked);
        if !is_locked && (!is_on_ground || self.on_ground < lock_delay.into()) {
            return (0.0, false, None);
        }
        let (points, is_over) = self.game.place(&(cells, label, false));
        if !is_over {
            self.appear(false);
        }
        (points, is_over, Some(label))
    }

    /// What the library says of the piece.
    pub fn state(&self) -> [u32; 8] {
        let Timing { fall_delay, lock_delay, lock_resets } = self.game.rules.timing.unwrap();
        [
            self.piece.turns as u32,
            self.ground().arrival(&self.piece),
            u32::from(fall_delay) - self.in_air,
            u32::from(lock_delay) - self.on_ground,
            u32::from(lock_resets) - self.resets,
            15 - self.lifts,
            self.lowest as u32,
            self.is_swapped.into(),
        ]
    }
}
