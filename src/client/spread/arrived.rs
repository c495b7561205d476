//! What has arrived of an evaluation: games, or estimates of how long they last.

use super::news::EvaluationNews;
use super::progress::ProgressCounts;
use tetrion_core::rollout::{EstimatedGame, GameOrder, PlayedGame};
use tetrion_core::summary::{EstimateTable, GameTable, summarize, summarize_estimates};
use tetrion_protocol::pb;
use tetrion_protocol::pb::evaluate_policies_response::Event as Message;
use tetrion_protocol::results::{encode_estimate_summary, encode_estimates, encode_results, encode_summary};

/// What has arrived, in any order.
#[derive(Debug)]
pub(super) enum ArrivedResults {
    Games(Vec<PlayedGame>),
    Estimates(Vec<EstimatedGame>),
}

/// What has come of an evaluation: games, or estimates of how long they last.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcomes {
    /// The games of each policy, in the order of their seeds and episodes.
    Games(Vec<Vec<PlayedGame>>),
    /// The estimates of each policy, in the order of their seeds and episodes.
    Estimates(Vec<Vec<EstimatedGame>>),
}

/// A game or an estimate, which has its place among all.
pub(super) trait ArrivingResult: Copy {
    /// The event that brings such results, in the protocol's word.
    const EVENT: &'static str;

    /// The indices of the policy, the seed and the episode, and the place.
    fn key(&mut self) -> ((u32, u32, u32), &mut u64);

    /// What it adds to the progress.
    fn counts(&self) -> ProgressCounts;

    /// The results of this kind; none in an evaluation of the other one.
    fn among(arrived: &mut ArrivedResults) -> Option<&mut Vec<Self>>;

    fn news(results: Vec<Self>) -> EvaluationNews;
}

impl ArrivingResult for PlayedGame {
    const EVENT: &'static str = "results";

    fn key(&mut self) -> ((u32, u32, u32), &mut u64) {
        ((self.policy, self.seed_index, self.episode), &mut self.game)
    }

    fn counts(&self) -> ProgressCounts {
        ProgressCounts { games: 1, pieces: self.pieces, lines: self.lines }
    }

    fn among(arrived: &mut ArrivedResults) -> Option<&mut Vec<PlayedGame>> {
        if let ArrivedResults::Games(games) = arrived { Some(games) } else { None }
    }

    fn news(games: Vec<PlayedGame>) -> EvaluationNews {
        EvaluationNews::Games(games)
    }
}

impl ArrivingResult for EstimatedGame {
    const EVENT: &'static str = "estimates";

    fn key(&mut self) -> ((u32, u32, u32), &mut u64) {
        ((self.policy, self.seed_index, self.episode), &mut self.game)
    }

    /// An estimate does not tell how much was played for it.
    fn counts(&self) -> ProgressCounts {
        ProgressCounts { games: 1, pieces: 0, lines: 0 }
    }

    fn among(arrived: &mut ArrivedResults) -> Option<&mut Vec<EstimatedGame>> {
        if let ArrivedResults::Estimates(estimates) = arrived { Some(estimates) } else { None }
    }

    fn news(estimates: Vec<EstimatedGame>) -> EvaluationNews {
        EvaluationNews::Estimates(estimates)
    }
}

impl ArrivedResults {
    /// The event that brings such results.
    pub(super) fn event(&self) -> &'static str {
        match self {
            ArrivedResults::Games(_) => PlayedGame::EVENT,
            ArrivedResults::Estimates(_) => EstimatedGame::EVENT,
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            ArrivedResults::Games(games) => games.len() as u64,
            ArrivedResults::Estimates(estimates) => estimates.len() as u64,
        }
    }

    /// The message of all results, in order.
    pub(super) fn message(&self) -> Message {
        match self {
            ArrivedResults::Games(games) => Message::Results(encode_results(&in_order(games.clone()))),
            ArrivedResults::Estimates(some) => Message::Estimates(encode_estimates(&in_order(some.clone()))),
        }
    }

    /// The summary of complete results, computed like a server's.
    pub(super) fn summary(&self, order: GameOrder<'_>, baseline: Option<u32>) -> pb::EvaluationSummary {
        match self {
            ArrivedResults::Games(games) => {
                let mut table = GameTable::new(order.num_games());
                games.iter().for_each(|game| table.record(game));
                let (policies, differences) = summarize(order, &table, baseline);
                encode_summary(&policies, &differences)
            }
            ArrivedResults::Estimates(estimates) => {
                let mut table = EstimateTable::new(order.num_games());
                estimates.iter().for_each(|estimate| table.record(estimate));
                encode_estimate_summary(&summarize_estimates(order, &table))
            }
        }
    }

    /// The policies in a summary of such results, with their numbers of games or estimates.
    pub(super) fn summed(&self, summary: &pb::EvaluationSummary) -> Vec<(u32, u64)> {
        match self {
            ArrivedResults::Games(_) => {
                summary.policies.iter().map(|of| (of.policy_index, of.num_games)).collect()
            }
            ArrivedResults::Estimates(_) => {
                summary.estimates.iter().map(|of| (of.policy_index, of.num_estimates)).collect()
            }
        }
    }

    /// Complete results, policy by policy.
    pub(super) fn into_outcomes(self, order: GameOrder<'_>) -> Outcomes {
        match self {
            ArrivedResults::Games(games) => Outcomes::Games(by_policy(in_order(games), order)),
            ArrivedResults::Estimates(estimates) => {
                Outcomes::Estimates(by_policy(in_order(estimates), order))
            }
        }
    }
}

fn in_order<T: ArrivingResult>(mut results: Vec<T>) -> Vec<T> {
    results.sort_unstable_by_key(|result| *result.clone().key().1);
    results
}

fn by_policy<T>(results: Vec<T>, order: GameOrder<'_>) -> Vec<Vec<T>> {
    let mut results = results.into_iter();
    (0..order.num_policies).map(|policy| results.by_ref().take(order.games(policy).len()).collect()).collect()
}
