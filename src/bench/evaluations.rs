//! Whole games on many threads, played directly or requested over the network.

use std::sync::{Arc, Mutex, mpsc};

use super::games::controller;
use tetrion_core::agents::{Agent, Kernel, LinearAgent, TerminalValue};
use tetrion_core::engine::Rules;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::features::FeatureSet;
use tetrion_core::pool::{Party, Pool};
use tetrion_core::rollout::{Deal, Evaluation, NextGame, PlayedGame, spawn};

pub const SEED: u64 = 1;

/// A controller with a number of games on 10 x 20.
#[derive(Clone, Debug)]
pub struct Games {
    /// Feature set of the controller.
    pub set: &'static str,
    pub weights: &'static [f64],
    pub num_games: u32,
    pub max_pieces: u64,
}

impl Games {
    /// Games that reach this many pieces and hardly ever end earlier.
    pub fn long(num_games: u32, max_pieces: u64) -> Games {
        let bcts = controller("bcts");
        Games { set: bcts.feature_set, weights: bcts.weights, num_games, max_pieces }
    }

    /// Games of a bad controller, with some dozens of pieces each.
    pub fn short(num_games: u32) -> Games {
        Games { set: "height4", weights: &[0.1, 0.5, -0.3, -0.1], num_games, max_pieces: 1_000 }
    }

    /// Plays the games and collects the results; returns the number of pieces.
    pub fn play(&self, pool: &Arc<Pool>) -> u64 {
        let set = FeatureSet::named(self.set, 10).expect("a set");
        let agent = LinearAgent::new(set, self.weights.to_vec(), TerminalValue::Avoid)
            .expect("one weight per feature");
        let seeds = (0..u64::from(self.num_games)).map(|j| word(SEED, Tag::Game, j)).collect();
        let evaluation = Evaluation {
            rules: Rules::default(),
            policies: vec![Agent::Linear(agent)],
            deal: Deal::Common(seeds),
            episodes_per_seed: 1,
            pairs: None,
            max_pieces: self.max_pieces,
            max_steps: u64::MAX,
            loss_trials: 0,
            opponent: None,
            kernel: Kernel::best(),
        };
        let results = Arc::<Mutex<Vec<PlayedGame>>>::default();
        // The waiting thread wakes only at the end, when the sink is dropped.
        let (ending, ended) = mpsc::channel::<()>();
        let (kept, ending) = (results.clone(), Mutex::new(ending));
        let sink = move |result, next: NextGame| {
            let _ending = &ending;
            kept.lock().expect("no panics").push(result);
            next();
        };
        spawn(&pool.lane(Party::Own), Arc::new(evaluation), 0, Arc::default(), Arc::default(), sink);
        let _ = ended.recv();
        results.lock().expect("no panics").iter().map(|result| result.pieces).sum()
    }
}
