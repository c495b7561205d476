//! Listing placements: the placements of a greedy game's positions with a feature matrix, by straight drops and under the
//! `guideline` rules; and placements reachable with kicks, listed and counted.

use super::games::guideline;
use tetrion_core::agents::{Controller, Kernel, Sight};
use tetrion_core::engine::{Chain, Hand, Movement, Paths, Playfield, Resting, Rules, Tetromino, place};
use tetrion_core::features::FeatureSet;
use tetrion_core::features::kernel::Extractor;
use tetrion_core::placements::{Options, Placements, Position, enumerate, enumerate_on, num_rows};

/// Positions of a game, with the 8 features of `bcts8`.
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
        let mut dealer = rules.dealer(1);
        let mut playfield = Playfield::empty(rules.width, rules.height);
        let mut next = || {
            let piece = dealer.deal().expect("a seed deals for ever");
            let position =
                Position { playfield, hand: Some(Hand::only(piece)), chain: Chain::default(), falling: None };
            let placement = agent.choose(Kernel::best(), &rules, &playfield, piece).placement;
            place(&rules, &mut playfield, piece, placement);
            position
        };
        let positions = (0..num_positions).map(|_| next()).collect();
        let set = FeatureSet::named("bcts8", rules.width).expect("a set");
        let extractor = Extractor::new(Some(&set)).expect("features that the kernels know");
        Listing { rules, positions, extractor }
    }

    /// Number of placements of all positions.
    pub fn num_rows(&self) -> u32 {
        self.positions.iter().map(|position| num_rows(&self.rules, position)).sum()
    }

    /// Lists all placements of all positions once, with the lanes of a kernel.
    pub fn list(&self, kernel: Kernel) -> Placements {
        enumerate_on(kernel, &self.rules, &self.positions, &self.extractor, Options::default())
    }
}

/// Positions under the `guideline` rules, with the 30 features of `modern30`.
#[derive(Debug)]
pub struct ModernListing {
    rules: Rules,
    positions: Vec<Position>,
    set: FeatureSet,
}

impl ModernListing {
    /// The first positions of a game of `tetrion-guideline`.
    pub fn new(num_positions: usize) -> ModernListing {
        let rules = guideline();
        let controller = Controller::named("tetrion-guideline").expect("a controller");
        let agent = controller.agent(rules.width).expect("it plays this size");
        let mut dealer = rules.dealer(1);
        let mut deal = || dealer.deal().expect("a seed deals for ever");
        let (mut playfield, mut held) = (Playfield::empty(rules.width, rules.height), None);
        let (mut piece, mut next) = (deal(), deal());
        let mut positions = Vec::new();
        for _ in 0..num_positions {
            let shown = [next];
            let odds = rules.dealer(1).odds();
            let sight = Sight {
                rules: &rules,
                playfield: &playfield,
                piece,
                next: &shown,
                held,
                odds,
                lines: 0,
                pieces: 0,
            };
            let hand = sight.hand();
            let placement = agent.choose_of_hand(Kernel::best(), &sight).placement;
            positions.push(Position { playfield, hand: Some(hand), chain: Chain::default(), falling: None });
            let placed = hand.piece(placement).expect("a placement of the hand");
            if placement.hold && held.replace(piece).is_none() {
                next = deal();
            }
            if place(&rules, &mut playfield, placed, placement).terminal {
                playfield = Playfield::empty(rules.width, rules.height);
            }
            (piece, next) = (next, deal());
        }
        let set = FeatureSet::named(controller.feature_set, rules.width).expect("a set");
        ModernListing { rules, positions, set }
    }

    /// Lists all placements of all positions once, with their features.
    pub fn list(&self) -> Placements {
        enumerate(&self.rules, &self.positions, Some(&self.set), Options::default())
    }
}

/// Positions of a greedy game, for placements with kicks and soft drops.
#[derive(Debug)]
pub struct Reaching {
    movement: Movement,
    positions: Vec<(Playfield, Tetromino)>,
    list: Vec<Resting>,
}

impl Reaching {
    /// The first positions of a game.
    pub fn new(num_positions: usize) -> Reaching {
        let piece =
            |position: Position| (position.playfield, position.hand.expect("it has been dealt").current);
        let positions = Listing::new(num_positions).positions.into_iter().map(piece).collect();
        Reaching { movement: Movement::default(), positions, list: Vec::new() }
    }

    /// Lists the placements; returns their number.
    pub fn list(&mut self) -> u64 {
        let mut all = 0;
        for (playfield, piece) in &self.positions {
            self.list.clear();
            self.movement.append(playfield, *piece, &mut self.list);
            all += self.list.len();
        }
        all as u64
    }

    /// Finds the fewest keys to each placement; returns the number of placements.
    pub fn find_keys(&mut self) -> u64 {
        let mut all = 0;
        for (playfield, piece) in &self.positions {
            self.list.clear();
            self.movement.append(playfield, *piece, &mut self.list);
            let paths = Paths::towards(&self.movement, playfield, *piece, &self.list);
            all += self.list.iter().filter_map(|placement| paths.to(*placement)).count();
        }
        all as u64
    }

    /// Counts the reachable placements of all positions, without listing them. Returns their sum.
    pub fn count(&self) -> u64 {
        let count = |(playfield, piece): &(Playfield, Tetromino)| self.movement.count(playfield, *piece);
        self.positions.iter().map(|position| u64::from(count(position))).sum()
    }
}
