//! The rounds of a search: which games each one plays, and what comes of them. This file plays none, so a learner in another
//! language can.
//!
//! A generation is one or two looks at candidates, and a check of the result.

use serde::{Deserialize, Serialize};

use tetrion_client::Seeds;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_toolkit::optimizers::{Generation, Look, Optimizer, TellError};

/// The games that the candidates of a generation play.
///
/// If all play the same pieces, luck favours no candidate. If each plays separate pieces, luck is part of a candidate's
/// score, as in earlier published searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GameSeeds {
    /// All candidates play the same pieces.
    #[default]
    Common,
    /// Each candidate plays separate pieces, new ones in every generation.
    PerSlot,
}

/// The purpose of games. Each purpose has separate seeds, so games that chose a controller never score it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The first look at a generation.
    First(u32),
    /// The second look at the better part of a generation.
    Second(u32),
    /// The check of the current result after a generation.
    Check(u32),
    /// The choice among the finalists.
    Choice,
    /// The final score of the winner.
    Score,
}

impl Purpose {
    /// Seed from which the game seeds for this purpose are drawn, in a run with the given seed.
    pub fn games_seed(self, seed: u64) -> u64 {
        // Four numbers per generation. The fourth numbers of generations 0 and 1 go to the choice and the score; those
        // of the later generations go to the lessons.
        let number = match self {
            Purpose::First(generation) => 4 * u64::from(generation),
            Purpose::Second(generation) => 4 * u64::from(generation) + 1,
            Purpose::Check(generation) => 4 * u64::from(generation) + 2,
            Purpose::Choice => 3,
            Purpose::Score => 7,
        };
        word(seed, Tag::Game, number)
    }
}

/// How many times as many games a candidate plays at the second look.
pub const SECOND_LOOK: u32 = 4;

/// How many games a search plays, and with which pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GamePlan {
    /// Seed of the run, from which all pieces are drawn.
    pub seed: u64,
    /// Whether all candidates of a look play the same pieces.
    pub game_seeds: GameSeeds,
    /// Games per candidate at the first look.
    pub games: u32,
    /// Games per candidate at the second look.
    pub second_games: u32,
    /// Games that score the result of a generation.
    pub check_games: u32,
    /// Number of candidates whose mean score is reported as the elite's.
    pub num_elites: usize,
}

impl GamePlan {
    /// Seeds of the games that this many candidates play for a purpose.
    ///
    /// # Panics
    /// If the purpose is not part of a generation.
    pub fn seeds(&self, purpose: Purpose, num_candidates: usize) -> Seeds {
        let seed = purpose.games_seed(self.seed);
        let count = match purpose {
            Purpose::First(_) => self.games,
            Purpose::Second(_) => self.second_games,
            Purpose::Check(_) => return Seeds::Common { seed, count: self.check_games },
            Purpose::Choice | Purpose::Score => panic!("{purpose:?} is part of no generation"),
        };
        match self.game_seeds {
            GameSeeds::Common => Seeds::Common { seed, count },
            GameSeeds::PerSlot => {
                let row = |slot| {
                    let seed = word(seed, Tag::Game, slot);
                    (0..u64::from(count)).map(|game| word(seed, Tag::Game, game)).collect()
                };
                Seeds::PerPolicy((0..num_candidates as u64).map(row).collect())
            }
        }
    }
}

/// Where a search is in a generation. The optimizer, which it is passed, knows the candidates.
#[derive(Clone, Debug)]
pub struct Rounds {
    plan: GamePlan,
    /// The outcome of the looks; its result must still be checked.
    looked: Option<(Generation, f64)>,
    games: u64,
    pieces: u64,
}

/// Games to play: each candidate on its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRound {
    pub purpose: Purpose,
    pub candidates: Vec<Vec<f64>>,
    pub seeds: Seeds,
}

/// A generation whose result has been checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub generation: Generation,
    /// Mean score of the elite.
    pub elite_score: f64,
    /// Games played, including the check.
    pub games: u64,
    /// Pieces landed in these games.
    pub pieces: u64,
}

impl Rounds {
    /// The rounds of a search before those of a generation.
    pub fn new(plan: GamePlan) -> Rounds {
        Rounds { plan, looked: None, games: 0, pieces: 0 }
    }

    /// The games to play next; the same ones until [`Rounds::tell`] takes their outcome.
    pub fn ask(&self, optimizer: &dyn Optimizer) -> GameRound {
        let (purpose, candidates) = match &self.looked {
            Some((generation, _)) => {
                let result = optimizer.incumbent().expect("a generation is complete");
                (Purpose::Check(generation.generation), vec![result])
            }
            None => {
                let round = optimizer.ask();
                let purpose = match round.look {
                    Look::First => Purpose::First(round.generation),
                    Look::Second => Purpose::Second(round.generation),
                };
                (purpose, round.candidates)
            }
        };
        let seeds = self.plan.seeds(purpose, candidates.len());
        GameRound { purpose, candidates, seeds }
    }

    /// Takes the mean score of every candidate of the last [`Rounds::ask`], and the numbers of games and pieces that were
    /// played for it. Returns the generation if that was its check.
    ///
    /// # Errors
    /// If they are not one finite score per candidate. Nothing has changed then.
    pub fn tell(
        &mut self,
        optimizer: &mut dyn Optimizer,
        scores: Vec<f64>,
        games: u64,
        pieces: u64,
    ) -> Result<Option<Checked>, TellError> {
        if let Some((generation, elite_score)) = self.looked.take() {
            let (games, pieces) = (self.games + games, self.pieces + pieces);
            (self.games, self.pieces) = (0, 0);
            return Ok(Some(Checked { generation, elite_score, games, pieces }));
        }
        let told = optimizer.tell(&scores)?;
        self.looked = told.map(|generation| (generation, mean_of_best(scores, self.plan.num_elites)));
        (self.games, self.pieces) = (self.games + games, self.pieces + pieces);
        Ok(None)
    }
}

fn mean_of_best(mut scores: Vec<f64>, count: usize) -> f64 {
    scores.sort_by(|a, b| b.total_cmp(a));
    let best = &scores[..count.min(scores.len())];
    best.iter().sum::<f64>() / best.len() as f64
}
