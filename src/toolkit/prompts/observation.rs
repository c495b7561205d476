//! Observations in the format `text-1`.

use std::fmt::Write;

use tetrion_core::engine::{Piece, Placement, Rules};
use tetrion_core::env::EnvBatch;
use tetrion_core::features::FeatureSet;
use tetrion_core::placements::{Options, Placements, Position, enumerate};

use super::action::Choices;

/// How much an observation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The playfield, the pieces and the counters.
    Board,
    /// Also the shapes of the current piece, and all legal actions.
    Actions,
    /// Also the lines, holes, height and bumpiness after each placement, or that it ends the game.
    Consequences,
    /// Two lines of at most a few dozen words: pieces, column heights and holes instead of rows, and the range of
    /// columns of each orientation instead of a list.
    Short,
}

/// The state of an environment that an observation shows.
#[derive(Clone, Debug)]
pub struct ObservedState {
    rules: Rules,
    position: Position,
    /// The current piece and the preview.
    pieces: Vec<Piece>,
    held: Option<Piece>,
    /// Queued garbage; empty if the rules have none.
    garbage: Vec<u8>,
    lines: u64,
    num_pieces: u64,
}

impl ObservedState {
    /// The state of an environment.
    ///
    /// # Panics
    /// When the environment does not exist or no episode has started in it.
    pub fn new(batch: &EnvBatch, env_id: u32) -> ObservedState {
        let rules = batch.config().rules;
        let statistics = batch.statistics(env_id);
        ObservedState {
            rules,
            position: Position {
                chain: batch.chain(env_id),
                falling: batch.falling(env_id),
                ..Position::of(batch.playfield(env_id), batch.hand(env_id))
                    .with_garbage(batch.incoming(env_id))
            },
            pieces: batch.pieces(env_id),
            held: batch.held(env_id),
            garbage: batch.incoming(env_id).seen(&rules).collect(),
            lines: statistics.lines,
            num_pieces: statistics.pieces,
        }
    }

    /// The rules of the environment's batch.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The legal actions, in the order in which an observation lists them.
    pub fn choices(&self) -> Choices {
        Choices::new(&self.rules, &self.position, self.held, self.pieces.get(1).copied())
    }

    /// The pieces in words: current, next and held. After the end of an episode there is no current piece.
    fn pieces(&self) -> String {
        let letter = |piece: Option<&Piece>| {
            piece.map_or_else(|| "none".to_owned(), |piece| self.rules.pieces.letter(*piece).to_string())
        };
        let current = self.pieces.first().filter(|_| self.position.hand.is_some());
        let mut words = format!("current {}", letter(current));
        if self.rules.preview > 0 {
            let next: String =
                self.pieces.iter().skip(1).map(|piece| self.rules.pieces.letter(*piece)).collect();
            let _ = write!(words, ", next {}", if next.is_empty() { "none" } else { &next });
        }
        if self.rules.hold {
            let _ = write!(words, ", held {}", letter(self.held.as_ref()));
        }
        words
    }

    fn garbage(&self) -> String {
        self.garbage.iter().map(|lines| format!(" {lines}")).collect()
    }
}

/// An observation of a state.
pub fn observation(detail: Detail, state: &ObservedState) -> String {
    if detail == Detail::Short {
        return short(state);
    }
    let mut text = board(state);
    if detail == Detail::Board || state.position.hand.is_none() {
        return text;
    }
    let ObservedState { rules, position, .. } = state;
    let choices = state.choices();
    match &choices {
        Choices::Placements(all) => {
            write_shapes(rules, all, &mut text);
            text.push_str("\nactions: letter orientation@leftmost-rightmost column");
        }
        Choices::Keys(_) => text.push_str("\nactions: letter key"),
    }
    let shown = match (detail, &choices) {
        (Detail::Consequences, Choices::Placements(_)) => Some(consequences(rules, position)),
        _ => None,
    };
    for n in 0..choices.len() {
        let _ = write!(text, "\n{}", choices.entry(rules, n));
        if let Some(shown) = &shown {
            write_consequences(shown, n, &mut text);
        }
    }
    text
}

fn board(state: &ObservedState) -> String {
    let ObservedState { rules, position, lines, num_pieces, .. } = state;
    let playfield = &position.playfield;
    let falling = position.falling.filter(|_| position.hand.is_some()).map(|piece| piece.cells());
    let legend = if falling.is_some() { ", @ falling piece" } else { "" };
    let mut text = format!(
        "text-1: # full, . empty{legend}, top row first; row 0 is the floor, column 0 is at the left"
    );
    for row in (0..rules.height).rev() {
        let _ = write!(text, "\n{row} ");
        text.extend((0..rules.width).map(|column| match falling {
            Some(cells) if cells.contains(&(row, column)) => '@',
            _ if playfield.is_full(row, column) => '#',
            _ => '.',
        }));
    }
    text.push_str("\ncolumns ");
    text.extend((0..rules.width).map(|column| char::from(b'0' + column % 10)));
    let _ = write!(text, "\n{}", state.pieces());
    if !state.garbage.is_empty() {
        let _ = write!(text, "\ngarbage{}", state.garbage());
    }
    let _ = write!(text, "\nlines {lines}, pieces {num_pieces}");
    if position.hand.is_none() {
        text.push_str("\nthe episode has ended");
    }
    text
}

/// One line for each piece that can be placed: its shape in each orientation.
fn write_shapes(rules: &Rules, placements: &[(Piece, Placement)], text: &mut String) {
    for same_piece in placements.chunk_by(|(a, _), (b, _)| a == b) {
        let piece = same_piece[0].0;
        let _ = write!(text, "\nshapes of {}:", rules.pieces.letter(piece));
        for (orientation, shape) in rules.shapes(piece).iter().enumerate() {
            let _ = write!(text, " {orientation} {}", shape.to_string().replace('X', "#"));
        }
    }
}

/// The features that consequences show.
const SHOWN: [&str; 3] = ["holes", "max_height", "bumpiness"];

fn consequences(rules: &Rules, position: &Position) -> Placements {
    let set = FeatureSet::custom(&SHOWN, rules.width).expect("features of every size");
    enumerate(rules, std::slice::from_ref(position), Some(&set), Options::default())
}

fn write_consequences(shown: &Placements, n: usize, text: &mut String) {
    if shown.terminated[n] {
        text.push_str(": ends the game");
        return;
    }
    let [holes, height, bumpiness] = [0, 1, 2].map(|column| shown.features[n * SHOWN.len() + column]);
    let lines = shown.lines[n];
    let _ = write!(text, ": lines {lines}, holes {holes}, height {height}, bumpiness {bumpiness}");
    if let Some(attack) = shown.attacks.get(n) {
        let _ = write!(text, ", sends {attack}");
    }
}

fn short(state: &ObservedState) -> String {
    let ObservedState { rules, position, lines, num_pieces, .. } = state;
    let playfield = &position.playfield;
    let mut text = format!("text-1 short: {}; lines {lines}, pieces {num_pieces}; heights", state.pieces());
    let height = |column: u8| {
        (0..rules.height).rev().find(|row| playfield.is_full(*row, column)).map_or(0, |row| row + 1)
    };
    for column in 0..rules.width {
        let _ = write!(text, " {}", height(column));
    }
    let mut holes = String::new();
    for column in 0..rules.width {
        for row in (0..height(column)).filter(|row| !playfield.is_full(*row, column)) {
            let _ = write!(holes, " {column}^{row}");
        }
    }
    let _ = write!(text, "; holes{}", if holes.is_empty() { " none" } else { &holes });
    if !state.garbage.is_empty() {
        let _ = write!(text, "; garbage{}", state.garbage());
    }
    let choices = state.choices();
    if choices.is_empty() {
        text.push_str("\nthe episode has ended");
        return text;
    }
    text.push_str("\nactions:");
    match &choices {
        Choices::Placements(all) if !rules.names_spots() => {
            let mut n = 0;
            while n < all.len() {
                // Neighbouring columns of one orientation.
                let follows = |n: usize| {
                    let [(_, before), (_, after)] = [all[n - 1], all[n]];
                    after.orientation == before.orientation
                        && after.hold == before.hold
                        && after.column == before.column + 1
                };
                let end = (n + 1..all.len()).find(|&n| !follows(n)).unwrap_or(all.len());
                let _ = write!(text, " {}", choices.name(rules, n, false));
                if end > n + 1 {
                    let _ = write!(text, "..{}", all[end - 1].1.column);
                }
                n = end;
            }
        }
        _ => text.extend((0..choices.len()).map(|n| format!(" {}", choices.name(rules, n, false)))),
    }
    text
}
