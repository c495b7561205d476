//! Listing placements: the placements of a game's positions with a feature matrix; and placements reachable with kicks, listed
//! and counted.

use super::games::controller;
use tetrion_core::agents::{Kernel, Sight};
use tetrion_core::engine::{Live, Movement, Paths, Playfield, Resting, Rules, Tetromino};
use tetrion_core::features::FeatureSet;
use tetrion_core::placements::{Options, Position, enumerate_with};

/// Positions of a controller's game, with the features of the controller.
#[derive(Debug)]
pub struct Listing {
    rules: Rules,
    positions: Vec<Position>,
    set: FeatureSet,
}

impl Listing {
    /// The first positions of a game, and of the next one if it ends.
    pub fn new(rules: Rules, name: &str, num_positions: usize) -> Listing {
        let controller = controller(name);
        let agent = controller.agent(rules.width).expect("it plays this size");
        let mut games = (1..).map(|seed| Live::new(&rules, seed).expect("rules that can be played"));
        let mut game = games.next().expect("endless seeds");
        let mut positions = Vec::new();
        while positions.len() < num_positions {
            let Some(piece) = game.piece() else {
                game = games.next().expect("endless seeds");
                continue;
            };
            let next: Vec<_> = game.preview().collect();
            let (playfield, odds) = (*game.playfield(), game.odds());
            let sight =
                Sight { next: &next, held: game.held(), odds, ..Sight::of(&rules, &playfield, piece) };
            positions.push(Position::of(playfield, game.hand()));
            let choice = agent.choose_of_hand(Kernel::best(), &sight);
            game.place(choice.placement).expect("a placement of the hand");
        }
        let set = controller.features(rules.width).expect("a set of the table");
        Listing { rules, positions, set }
    }

    /// Lists all placements of all positions, with their features; returns their number.
    pub fn list(&self, kernel: Kernel) -> u64 {
        let all = enumerate_with(kernel, &self.rules, &self.positions, Some(&self.set), Options::default());
        all.actions.len() as u64
    }

    /// The positions with their current pieces, for placements with kicks and soft drops.
    pub fn reaching(&self) -> Reaching {
        let piece =
            |position: &Position| (position.playfield, position.hand.expect("it has been dealt").current);
        let positions = self.positions.iter().map(piece).collect();
        Reaching { movement: Movement::default(), positions, list: Vec::new() }
    }
}

/// Positions of a game, for placements with kicks and soft drops.
#[derive(Debug)]
pub struct Reaching {
    movement: Movement,
    positions: Vec<(Playfield, Tetromino)>,
    list: Vec<Resting>,
}

impl Reaching {
    /// Lists the placements, with the fewest keys to each if `with_keys`; returns their number.
    pub fn list(&mut self, with_keys: bool) -> u64 {
        let Reaching { movement, positions, list } = self;
        let mut all = 0;
        for (playfield, piece) in positions {
            list.clear();
            movement.append(playfield, *piece, list);
            all += if with_keys {
                let paths = Paths::towards(movement, playfield, *piece, list);
                list.iter().filter_map(|placement| paths.to(*placement)).count()
            } else {
                list.len()
            };
        }
        all as u64
    }

    /// Counts the reachable placements of all positions, without listing them. Returns their sum.
    pub fn count(&self) -> u64 {
        let count = |(playfield, piece): &(Playfield, Tetromino)| self.movement.count(playfield, *piece);
        self.positions.iter().map(|position| u64::from(count(position))).sum()
    }
}
