//! Rows whose player is the result of a search: a short search, without the files and second looks of `tetrion train`.

use anyhow::Context;

use super::experiments::{ExperimentRow, SearchPlan};
use tetrion::cli::progress::GamesProgress;
use tetrion::client::{
    Client, Evaluated, EvaluationRequest, Features, Play, PlayedGame, Policy, PolicyKind, Seeds,
    TerminalValue, WeightRows,
};
use tetrion::engine::rng::{Tag, word};

/// The results after one generation of a search.
#[derive(Clone, Debug)]
pub struct SearchStep {
    /// Best score of a candidate.
    pub best: f64,
    /// Mean score of all candidates.
    pub mean: f64,
    /// Standard deviation of the candidates' scores, with divisor n.
    pub std: f64,
    /// Lines of each game that checks the current result, on separate seeds; empty without such games.
    pub lines: Vec<f64>,
}

/// Searches for a player; reports the result after each generation.
pub async fn search(
    client: &Client,
    row: &ExperimentRow,
    plan: &SearchPlan,
    quick: bool,
    seed: u64,
    label: &str,
) -> anyhow::Result<(Policy, Vec<SearchStep>)> {
    let generations = plan.generations(quick);
    let catalog = client.catalog(row.rules.changes.count("width")).await?;
    let set = catalog.feature_sets.iter().find(|set| set.name == plan.features);
    let num_weights =
        set.with_context(|| format!("the server has no features {}", plan.features))?.columns.len();
    let config = plan.config(generations);
    let mut optimizer = config.start(num_weights as u32, seed)?;
    let mut steps = Vec::new();
    let players = |rows: Vec<Vec<f64>>, terminal_value: TerminalValue| {
        let features = Features::Set { name: plan.features.to_owned(), version: String::new() };
        let play = Play { terminal_value, ..Play::default() };
        Policy { kind: PolicyKind::Weights(WeightRows { features, rows, model: None }), play: play.into() }
    };
    let mut number = 0;
    while optimizer.generation() < generations {
        let round = optimizer.ask();
        let candidates = players(round.candidates, plan.candidates_terminal_value);
        let mut play = async |policy: Policy, num_games: u32, what: &str| -> anyhow::Result<Evaluated> {
            // Separate games for each generation and each purpose.
            let seed = word(seed, Tag::Game, number);
            number += 1;
            let seeds = Seeds::Common { seed, count: num_games };
            let mut request = EvaluationRequest::new(vec![policy], seeds);
            request.rules = row.rules.clone();
            request.max_pieces = row.max_pieces(quick);
            request.max_steps = row.max_steps;
            let what = format!("{label}, generation {} of {generations}, {what}", round.generation + 1);
            let mut progress = GamesProgress::new(&what);
            Ok(client.evaluate_all(&request, |now| progress.show(now)).await?)
        };
        let num_candidates = candidates.num_rows();
        let evaluated = play(candidates, 1, "candidates").await?;
        let score = |game: &PlayedGame| if plan.by_points { game.score } else { game.lines as f64 };
        let scores: Vec<f64> = (0..num_candidates).map(|policy| score(&evaluated.games(policy)[0])).collect();
        let generation = optimizer.tell(&scores)?.context("a search with one look per generation")?;
        let lines = match plan.check_games {
            0 => Vec::new(),
            games => {
                let incumbent = optimizer.incumbent().context("a generation is complete")?;
                let checked =
                    play(players(vec![incumbent], plan.result_terminal_value), games, "current result")
                        .await?;
                checked.games(0).iter().map(|game| game.lines as f64).collect()
            }
        };
        let (best, mean, std) = (generation.best_score, generation.mean_score, generation.std_score);
        steps.push(SearchStep { best, mean, std, lines });
    }
    let result = optimizer.incumbent().context("no generation was played")?;
    Ok((players(vec![result], plan.result_terminal_value), steps))
}
