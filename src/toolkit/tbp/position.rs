//! The position that a front end describes to a bot, move by move.
//!
//! A front end decides what happens in its game. So every move of an available piece is made if its cells are free,
//! whether or not our rules have a path there.

use std::collections::VecDeque;

use tetrion_core::engine::{Chain, Clear, Odds, Playfield, Rules, Tetromino, lock};

use super::messages::{Letter, Location, Move, PieceCounts, RandomizerState, StartMessage};
use super::{HEIGHT, WIDTH};

/// A game from a bot's point of view.
#[derive(Clone, Debug)]
pub(super) struct BotPosition {
    pub held: Option<Tetromino>,
    /// The current piece and those after it.
    pub queue: VecDeque<Tetromino>,
    pub playfield: Playfield,
    /// Lines cleared since the initial position.
    pub lines: u64,
    /// Pieces placed since the initial position.
    pub pieces: u64,
    /// The recent clears.
    pub chain: Chain,
    dealing: Dealing,
}

/// Knowledge about the pieces after the queue.
#[derive(Clone, Copy, Debug)]
enum Dealing {
    Unknown,
    Bags { current: PieceCounts, filled: PieceCounts },
}

/// Most pieces in a queue: no front end shows this many, but one may deal on and on without a move.
const MAX_QUEUE: usize = 10_000;

impl BotPosition {
    /// The position of a message, on a playfield of these rules.
    ///
    /// # Errors
    /// The expected value in place of the given one.
    pub fn new(start: StartMessage, rules: &Rules) -> Result<BotPosition, String> {
        let StartMessage { hold, queue, board, randomizer, combo, back_to_back } = start;
        if board.len() != usize::from(HEIGHT) {
            return Err(format!("board has {} rows, expected {HEIGHT}", board.len()));
        }
        let mut rows = Vec::new();
        for (n, row) in board.iter().enumerate() {
            if row.len() != usize::from(WIDTH) {
                return Err(format!("board[{n}] has {} cells, expected {WIDTH}", row.len()));
            }
            let cells = row.iter().enumerate().filter(|(_, cell)| cell.is_some());
            rows.push(cells.fold(0u32, |row, (column, _)| row | 1 << column));
        }
        let above = rows.split_off(rules.height.into());
        if let Some(n) = above.iter().position(|row| *row != 0) {
            let (row, height) = (n + usize::from(rules.height), rules.height);
            return Err(format!(
                "board[{row}] has cells, expected none above the {height} rows of this bot's rules"
            ));
        }
        let dealing = Dealing::of(randomizer)?;
        let mut position = BotPosition {
            held: hold.map(|Letter(piece)| piece),
            queue: VecDeque::new(),
            playfield: Playfield::from_rows(rules.width, rules.height, rows),
            lines: 0,
            pieces: 0,
            chain: Chain { clears: combo.try_into().unwrap_or(u16::MAX), back_to_back: back_to_back.into() },
            dealing,
        };
        queue.into_iter().try_for_each(|Letter(piece)| position.append(piece))?;
        Ok(position)
    }

    fn append(&mut self, piece: Tetromino) -> Result<(), String> {
        if self.queue.len() == MAX_QUEUE {
            return Err(format!("the queue has {MAX_QUEUE} pieces already"));
        }
        self.queue.push_back(piece);
        Ok(())
    }

    /// Adds one more piece to the queue.
    ///
    /// # Errors
    /// If no bag of the randomizer contains it, or the queue is full.
    pub fn deal(&mut self, piece: Tetromino) -> Result<(), String> {
        self.append(piece)?;
        self.dealing.deal(piece)
    }

    /// Makes a move.
    ///
    /// # Errors
    /// If its piece is not available or its cells are not free. The position is then unusable.
    pub fn play(&mut self, played: &Move, rules: &Rules) -> Result<(), String> {
        let Location { piece: Letter(piece), .. } = played.location;
        let (current, next) = (self.queue.front().copied(), self.queue.get(1).copied());
        if current == Some(piece) {
            self.queue.pop_front();
        } else if self.held == Some(piece) && current.is_some() {
            self.held = self.queue.pop_front();
        } else if self.held.is_none() && next == Some(piece) {
            self.held = self.queue.pop_front();
            self.queue.pop_front();
        } else {
            let all = [current, self.held.or(next)].into_iter().flatten().map(|piece| piece.to_string());
            let all: Vec<String> = all.collect();
            let expected = if all.is_empty() { "a queue".to_owned() } else { all.join(" or ") };
            return Err(format!("{piece} is not there to be placed, expected {expected}"));
        }
        let corner = played.corner(rules.width, rules.height);
        let (shape, row, column) = corner.ok_or_else(|| format!("{played} leaves the board"))?;
        if !self.playfield.is_free(shape, row, column) {
            return Err(format!("the cells of {played} are taken, expected free ones"));
        }
        self.pieces += 1;
        let lines = lock(rules, &mut self.playfield, shape, row, column).lines;
        self.lines += u64::from(lines);
        let is_perfect = lines > 0 && self.playfield.occupied_rows() == 0;
        let clear = Clear { lines, spin: played.spin, is_perfect, has_garbage: false };
        (self.chain, _) = self.chain.then(rules.attack_table, 1.0, clear);
        Ok(())
    }

    /// Odds of each piece to follow this many pieces of the queue.
    pub fn odds_after(&self, pieces: usize) -> Odds {
        match (self.queue.get(pieces), &self.dealing) {
            (Some(piece), _) => Odds::certain(*piece),
            (None, Dealing::Unknown) => Odds::EVEN,
            (None, Dealing::Bags { current, .. }) => current.odds().unwrap_or(Odds::EVEN),
        }
    }
}

impl Dealing {
    fn of(randomizer: Option<RandomizerState>) -> Result<Dealing, String> {
        let bags =
            |current: PieceCounts, filled: PieceCounts, name: &str| match (current.odds(), filled.odds()) {
                (Some(_), Some(_)) => Ok(Dealing::Bags { current, filled }),
                _ => Err(format!("randomizer: {name} is empty, expected at least one piece")),
            };
        match randomizer {
            None | Some(RandomizerState::Uniform | RandomizerState::Unknown) => Ok(Dealing::Unknown),
            Some(RandomizerState::SevenBag { bag_state }) => {
                let mut current = PieceCounts::default();
                bag_state.iter().for_each(|Letter(piece)| *current.of_mut(*piece) = 1);
                bags(current, PieceCounts::ONE_EACH, "bag_state")
            }
            Some(RandomizerState::GeneralBag { current_bag, filled_bag }) => {
                bags(current_bag, filled_bag, "a bag")
            }
        }
    }

    fn deal(&mut self, piece: Tetromino) -> Result<(), String> {
        let Dealing::Bags { current, filled } = self else { return Ok(()) };
        let count = current.of_mut(piece);
        if *count == 0 {
            *self = Dealing::Unknown;
            return Err(format!("{piece} is not in the bag; what comes next is unknown from here on"));
        }
        *count -= 1;
        if current.odds().is_none() {
            *current = *filled;
        }
        Ok(())
    }
}
