//! Everything that decides the results of a run, as `config.toml` stores it.

use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::rounds::{GamePlan, GameSeeds, Purpose};
use super::unit::Unit;
use super::weights::{MeasuredScore, RunSeeds, WEIGHTS_FORMAT, Weights};
use crate::input::UsageError;
use crate::text::numbers::count;
use tetrion_client::{Client, EvaluationRequest, Features, Policy, RulesChoice, Seeds, Started};
use tetrion_core::engine::rng::{Tag, word};
use tetrion_protocol::files::WeightPolicy;
use tetrion_toolkit::optimizers::{Config, seed_text};

/// Number of last generations whose results and best candidates become finalists.
pub const LAST_GENERATIONS: usize = 5;
/// Most finalists: the results and the best candidates, and two means of results.
pub const NUM_CHOICES: usize = 2 * LAST_GENERATIONS + 2;

/// Everything that decides the results of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings<M = Config> {
    /// Seed of all draws, for weights and for pieces.
    #[serde(with = "seed_text")]
    pub seed: u64,
    pub generations: u32,
    /// Games per candidate at the first look, or concurrent games when learning from every step.
    pub games: u32,
    /// Whether all candidates of a look play the same pieces.
    pub game_seeds: GameSeeds,
    /// Games per candidate at the second look; 0 for none.
    pub second_games: u32,
    /// Games after each generation that score the current result.
    pub check_games: u32,
    /// Games of the final score; half as many choose the winner before it.
    pub final_games: u32,
    /// Most pieces per game, longer games are cut; 0 for the server's limit.
    pub max_pieces: u64,
    /// Most steps per game, longer games are cut; 0 for the server's limit. A step is a key if the rules have keys.
    pub max_steps: u64,
    /// Trials per estimate of a game's length; 0 to play games to their end.
    pub loss_trials: u32,
    /// Unit of the candidates' scores.
    pub score_by: Unit,
    /// Version of the rules, required of every game.
    pub rules_version: String,
    /// Names of the features, one per weight.
    pub feature_names: Vec<String>,
    /// The rules of the games, with the size of the playfield.
    pub rules: RulesChoice,
    /// The candidates, without weights.
    pub policy: WeightPolicy,
    /// Settings of the search or of the learner.
    pub optimizer: M,
}

impl<M> Settings<M> {
    /// Asks a server for a single step of one of the run's games, to see whether it would play them. Returns the rules
    /// that it plays.
    ///
    /// # Errors
    /// If the server refuses, or a number exceeds a limit of the server.
    pub async fn check_with(&self, client: &Client, policy: Policy) -> Result<Started, TrainError> {
        let limits = client.server_info().await?.limits;
        at_most("check_games", self.check_games.into(), limits.max_games)?;
        at_most("final_games", self.final_games.into(), limits.max_games)?;
        at_most("max_pieces", self.max_pieces, limits.max_pieces)?;
        at_most("max_steps", self.max_steps, limits.max_steps)?;
        let request = EvaluationRequest {
            policies: vec![policy],
            max_steps: 1,
            ..self.request(Vec::new(), Seeds::Common { seed: self.seed, count: 1 })
        };
        Ok(client.evaluate_all(&request, |_| {}).await?.started)
    }

    /// Checks that generations made under other settings would be equal under these.
    ///
    /// # Errors
    /// The first setting that differs.
    pub fn check_same(&self, others: &Settings<M>) -> Result<(), TrainError>
    where
        M: Clone + Serialize,
    {
        let table = |settings: &Settings<M>| toml::Table::try_from(settings);
        let tables = (table(&self.of_a_generation()), table(&others.of_a_generation()));
        let (Ok(ours), Ok(theirs)) = tables else {
            return Err(TrainError::Settings("they do not form a TOML table".to_owned()));
        };
        let differs = ours.iter().find(|(name, value)| theirs.get(*name) != Some(value));
        if let Some((name, value)) = differs {
            let other = theirs.get(name).map_or("nothing".to_owned(), toml::Value::to_string);
            let problem = format!("it was made with {name} = {other}, the settings say {value}");
            return Err(TrainError::Settings(problem));
        }
        Ok(())
    }

    /// The settings that determine the generations: all but their number.
    pub fn of_a_generation(&self) -> Settings<M>
    where
        M: Clone,
    {
        Settings { generations: 0, ..self.clone() }
    }

    /// Sets the run's number of generations, as if it had started with that number. `recorded` generations have been
    /// played.
    ///
    /// # Errors
    /// If more generations have been played.
    pub fn lengthen(&mut self, generations: u32, recorded: u64) -> Result<(), TrainError> {
        if recorded > u64::from(generations) {
            let recorded = count(recorded, "generation");
            let problem = format!("the run has {recorded} already, which is more than {generations}");
            return Err(TrainError::Settings(problem));
        }
        self.generations = generations;
        Ok(())
    }

    /// Seed from which the game seeds for a purpose are drawn.
    pub fn games_seed(&self, purpose: Purpose) -> u64 {
        purpose.games_seed(self.seed)
    }

    /// Seed from which the pieces of a generation that learns from every step are drawn.
    pub fn lessons_seed(&self, generation: u32) -> u64 {
        word(self.seed, Tag::Game, 4 * u64::from(generation) + 11)
    }

    /// Seeds of the games for a purpose, if all candidates share them: the check of a result, the choice and the score.
    pub fn shared_seeds(&self, purpose: Purpose) -> Seeds {
        let count = match purpose {
            Purpose::Choice => self.choice_games(),
            Purpose::Score => self.final_games,
            Purpose::First(_) | Purpose::Second(_) | Purpose::Check(_) => self.check_games,
        };
        Seeds::Common { seed: self.games_seed(purpose), count }
    }

    fn choice_games(&self) -> u32 {
        self.final_games.div_ceil(2)
    }

    /// A request for the games of some candidates.
    pub fn request(&self, candidates: Vec<Vec<f64>>, seeds: Seeds) -> EvaluationRequest {
        EvaluationRequest {
            rules: self.rules.clone(),
            rules_version: self.rules_version.clone(),
            max_pieces: self.max_pieces,
            max_steps: self.max_steps,
            loss_trials: self.loss_trials,
            ..EvaluationRequest::new(vec![self.policy.with_rows(candidates)], seeds)
        }
    }

    /// Name of the features, for people and for folders.
    pub fn features_title(&self) -> &str {
        match &self.policy.features {
            Features::Set { name, .. } => name,
            Features::List(_) => "custom",
        }
    }

    /// Columns and rows of the playfield.
    pub fn size(&self) -> (u32, u32) {
        let count = |name| self.rules.changes.count(name).unwrap_or_default();
        (count("width"), count("height"))
    }

    /// The contents of `weights.json` for a row of weights and parameters, and its score in games for a purpose.
    pub fn weights(
        &self,
        row: Vec<f64>,
        started: &Started,
        score: MeasuredScore,
        purpose: Purpose,
    ) -> Weights {
        Weights {
            format: WEIGHTS_FORMAT,
            feature_names: self.feature_names.clone(),
            policy: WeightPolicy { row, ..self.policy.clone() },
            rules: RulesChoice { preset: started.preset.clone(), changes: started.rules.fields() },
            rules_version: started.rules_version.clone(),
            seeds: RunSeeds { training: self.seed, evaluation: self.games_seed(purpose) },
            generation: match purpose {
                Purpose::Check(generation) => Some(generation + 1),
                _ => None,
            },
            score: Some(score),
        }
    }
}

impl Settings {
    /// Checks that a server would play the run's games.
    ///
    /// # Errors
    /// If the server refuses, or a number exceeds a limit of the server.
    pub async fn check(&self, client: &Client) -> Result<(), TrainError> {
        let limits = client.server_info().await?.limits;
        let population = match &self.optimizer {
            Config::Cem(config) => config.population,
            Config::Genetic(config) => config.individuals,
        };
        let games = |candidates: u64, games: u32| candidates * u64::from(games);
        let (first, second) =
            (games(population.into(), self.games), games(self.num_second(), self.second_games));
        at_most("candidates of a generation (population)", population.into(), limits.max_policies.into())?;
        at_most("games of a generation (population times games)", first, limits.max_games)?;
        at_most("games of a second look (4 times games each)", second, limits.max_games)?;
        let choice = games(NUM_CHOICES as u64, self.choice_games());
        at_most("games of the last choice (6 times final_games)", choice, limits.max_games)?;
        let row = vec![0.0; self.feature_names.len()];
        self.check_with(client, self.policy.with_rows(vec![row])).await.map(drop)
    }

    /// Number of candidates at the second look.
    fn num_second(&self) -> u64 {
        match &self.optimizer {
            Config::Cem(config) => config.num_second_looks() as u64,
            Config::Genetic(_) => 0,
        }
    }

    /// Sets the run's number of generations, as if it had started with that number. `recorded` generations have been
    /// played.
    ///
    /// # Errors
    /// If more generations have been played, or a run of the new length would have played other generations.
    pub fn extend(&mut self, generations: u32, recorded: u64) -> Result<(), TrainError> {
        if recorded <= u64::from(generations) && self.optimizer.is_made_for(self.generations) {
            return Err(TrainError::Settings(format!(
                "the noise of this run ends with its {}, so one of {generations} is another run from the \
                 start: begin a new one with --generations {generations}",
                count(self.generations.into(), "generation")
            )));
        }
        self.lengthen(generations, recorded)
    }

    /// The games of a generation.
    pub fn game_plan(&self) -> GamePlan {
        let Settings { seed, game_seeds, games, second_games, check_games, .. } = *self;
        GamePlan {
            seed,
            game_seeds,
            games,
            second_games,
            check_games,
            num_elites: self.optimizer.num_elites(),
        }
    }
}

fn at_most(what: &str, number: u64, limit: u64) -> Result<(), UsageError> {
    match number > limit {
        true => Err(UsageError(format!("{what}: {number}, expected at most {limit} on this server"))),
        false => Ok(()),
    }
}
