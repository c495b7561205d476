//! What a model shows: every field, cell by cell from its definition.

use tetrion_core::env::Field;

use super::{Model, Source, Stage};
use tetrion_twins::{LANDING_FEATURES, NotebookPiece, TETROMINOES, TwinGarbage, feature, playfield_feature};

impl Model {
    /// Row from below and column of each cell of the falling piece.
    fn falling_cells(&self) -> impl Iterator<Item = (usize, usize)> {
        let top = i32::from(self.rules.height) - 1;
        let cells = self.falling.iter().flat_map(NotebookPiece::cells);
        cells.map(move |(x, y)| ((top - y) as usize, x as usize))
    }

    /// The bytes of a field.
    pub fn see(&self, field: Field) -> Vec<u8> {
        let (width, height) = (usize::from(self.rules.width), usize::from(self.rules.height));
        let started = self.stage != Stage::NotStarted;
        match field {
            Field::Board => self.playfield.rows.iter().flatten().map(|&full| u8::from(full)).collect(),
            Field::BoardBits => {
                let mut bytes = Vec::new();
                for row in &self.playfield.rows {
                    let mut bits = 0u32;
                    for (column, &full) in row.iter().enumerate() {
                        bits += u32::from(full) << column;
                    }
                    bytes.extend(&bits.to_le_bytes()[..if width > 16 { 4 } else { 2 }]);
                }
                bytes
            }
            Field::Current => vec![number(self.piece(0))],
            Field::Queue => (1..=self.rules.preview.into()).map(|ahead| number(self.piece(ahead))).collect(),
            // No piece can be held, and clears are worth their lines: modern.rs has the other games.
            Field::Held => vec![number(None)],
            Field::PieceState => vec![0; 8],
            Field::Garbage => self.garbage.as_ref().map_or(vec![], TwinGarbage::waiting),
            Field::GarbageRows => {
                (self.garbage.as_ref().map_or(0, |garbage| garbage.holes.len()) as u64).to_le_bytes().into()
            }
            Field::Spin | Field::BackToBack => vec![0],
            Field::Combo | Field::BackToBackCount => vec![0; 4],
            Field::Counts => {
                [0, 0, self.pieces as i32].iter().flat_map(|count| count.to_le_bytes()).collect()
            }
            // Nothing is cancelled, so what arrived waits or has risen.
            Field::Received => {
                let of = |garbage: &TwinGarbage| {
                    garbage.waiting().iter().map(|&lines| u64::from(lines)).sum::<u64>()
                        + garbage.holes.len() as u64
                };
                self.garbage.as_ref().map_or(0, of).to_le_bytes().into()
            }
            Field::Sent | Field::Cancelled | Field::Surge => vec![0; 8],
            // Without an opponent, a game can only be lost.
            Field::Won => vec![if [2, 3].contains(&self.end) { 255 } else { 0 }],
            Field::End => vec![self.end],
            Field::Attack => vec![0; 8],
            // The games of the model have no table of values.
            Field::Regret => (if self.last_landing.is_none() { 0.0 } else { f64::NAN }).to_le_bytes().into(),
            Field::Heights => (0..width)
                .map(|column| {
                    (0..height).filter(|&row| self.playfield.is_full(row, column)).max().map_or(0, |r| r + 1)
                })
                .map(|height| height as u8)
                .collect(),
            Field::Features => {
                let value = |name: &String| match &self.last_landing {
                    Some((before, landing)) => feature(name, before, landing),
                    None if LANDING_FEATURES.contains(&name.as_str()) => 0.0,
                    None => {
                        playfield_feature(name.strip_suffix("_preclear").unwrap_or(name), &self.playfield)
                    }
                };
                self.features.iter().flat_map(|name| (value(name) as f32).to_le_bytes()).collect()
            }
            Field::ActionMask => {
                let allowed = self.allowed_actions();
                (0..self.num_actions()).map(|action| u8::from(allowed.contains(&(action as i32)))).collect()
            }
            Field::Falling => {
                let mut cells = vec![0; width * height];
                for (row, column) in self.falling_cells().filter(|&(row, _)| row < height) {
                    cells[row * width + column] = 1;
                }
                cells
            }
            Field::FallingCells => {
                let mut cells: Vec<(usize, usize)> = self.falling_cells().collect();
                cells.sort();
                match cells.as_slice() {
                    [] => vec![255; 8],
                    cells => cells.iter().flat_map(|&(row, column)| [row as u8, column as u8]).collect(),
                }
            }
            Field::Lines => self.lines.to_le_bytes().into(),
            Field::Pieces => self.pieces.to_le_bytes().into(),
            Field::Steps => self.steps.to_le_bytes().into(),
            Field::EpisodeReturn => self.episode_return.to_le_bytes().into(),
            Field::Seed => match self.source {
                Source::Seed { episode_seed, .. } if started => episode_seed.to_le_bytes().into(),
                _ => vec![0; 8],
            },
            Field::InvalidAction => vec![u8::from(self.invalid.last() == Some(&true))],
            Field::LandingRow => {
                vec![self.last_landing.as_ref().map_or(-1, |(_, landing)| landing.row as i8) as u8]
            }
            Field::InvalidActions => {
                (self.invalid.iter().filter(|&&invalid| invalid).count() as u64).to_le_bytes().into()
            }
        }
    }
}

fn number(piece: Option<char>) -> u8 {
    piece.map_or(-1i8, |letter| TETROMINOES.find(letter).unwrap() as i8) as u8
}
