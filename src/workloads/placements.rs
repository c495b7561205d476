//! Every placement of the positions of a greedy game, with its features as a row of a matrix.

use crate::agents::{Controller, Kernel};
use crate::engine::{Dealer, Playfield, Rules, place};
use crate::features::FeatureSet;
use crate::features::kernel::Extractor;
use crate::placements::{Options, Placements, Position, enumerate_on, num_rows};

/// Positions, and the 8 features of `bcts8`.
#[derive(Debug)]
pub struct Listing {
    rules: Rules,
    positions: Vec<Position>,
    extractor: Extractor,
}

impl Listing {
    /// The first positions of a game.
    pub fn new(num_positions: usize) -> Listing {
        let rules = Rules::default();
        let agent = Controller::named("bcts").and_then(|bcts| bcts.agent(rules.width)).expect("a controller");
        let mut dealer = Dealer::seeded(rules.randomizer, 1);
        let mut playfield = Playfield::empty(rules.width, rules.height);
        let mut next = || {
            let piece = dealer.deal().expect("a seed deals for ever");
            let position = Position { playfield, piece: Some(piece), falling: None };
            let placement = agent.choose(Kernel::best(), &rules, &playfield, piece).placement;
            place(&rules, &mut playfield, piece, placement);
            position
        };
        let positions = (0..num_positions).map(|_| next()).collect();
        let set = FeatureSet::named("bcts8", rules.width).expect("a set");
        let extractor = Extractor::new(Some(&set)).expect("features that the kernels know");
        Listing { rules, positions, extractor }
    }

    /// How many placements there are.
    pub fn num_rows(&self) -> u32 {
        self.positions.iter().map(|position| num_rows(&self.rules, position)).sum()
    }

    /// Lists them.
    pub fn list(&self, kernel: Kernel) -> Placements {
        enumerate_on(kernel, &self.rules, &self.positions, &self.extractor, Options::default())
    }
}
