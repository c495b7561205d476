//! The players that a user names: an agent, a controller, a training run, a file of weights or a formula.

use std::path::Path;

use super::named::{agent, formula_policy, named_policy, title, title_of_weights};
use super::pilot::Pilot;
use super::player::Player;
use crate::input::{UsageError, read_utf8};
use crate::text::escapes::without_middle;
use crate::text::similar::differing_parts;
use crate::trainer::trained_weights::{self, TrainedWeights};
use crate::trainer::weights::{Weights, plain_numbers, read_text};
use tetrion_core::agents::{Controller, Play, PlayChoice};
use tetrion_core::engine::Rules;
use tetrion_protocol::features::Features;
use tetrion_protocol::limits::MAX_FORMULA_BYTES;
use tetrion_protocol::policies::{Policy, PolicyKind, WeightRows};
use tetrion_protocol::rules::RulesChoice;
use tetrion_toolkit::recording::Setup;

/// A player before its game.
#[derive(Clone, Debug)]
pub enum Contender {
    /// An agent or a controller, by name.
    Named(String),
    /// A training run or a file of weights.
    Run(Box<Run>),
    /// A formula, with the name of its file or its text as a name.
    Formula { name: String, text: String },
    /// Plain numbers, with the path of their file as a name.
    Numbers { name: String, weights: WeightRows },
}

/// Ending of the name of a file with a formula.
const FORMULA: &str = ".formula";
/// Most characters of a formula that is its own name.
const MAX_NAME: usize = 200;
/// Most characters of a formula with others whose common parts are names too.
const MAX_COMPARED_NAME: usize = 40;

/// A training run or a file of weights, with its current result.
#[derive(Clone, Debug)]
pub struct Run {
    /// The weights that play this game.
    weights: TrainedWeights,
    /// Newer weights for the next game, if the run has progressed.
    newer: Option<TrainedWeights>,
}

impl Run {
    /// Name of a player with these weights: the name of the folder or the file.
    pub fn name(&self) -> &str {
        self.weights.name()
    }

    /// The weights with everything else in their file.
    pub fn weights(&self) -> &Weights {
        self.weights.weights()
    }
}

/// A text with single spaces instead of line ends and longer gaps.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Contender {
    /// Finds the agent, controller, training run, file of weights or file with a formula that `name` names.
    ///
    /// # Errors
    /// [`UsageError`] for a folder without a run, or a file that holds no weights or cannot be read. An unknown name is
    /// an error of [`Contender::player`].
    pub fn new(name: &str) -> Result<Contender, UsageError> {
        if !trained_weights::is_place(name) {
            return Ok(Contender::Named(name.to_owned()));
        }
        if let Some(short) = name.strip_suffix(FORMULA) {
            let text = read_utf8(Path::new(name), MAX_FORMULA_BYTES.into());
            let text = text.map_err(|error| UsageError(format!("cannot read {name}: {error}")))?;
            let short = short.rsplit(std::path::is_separator).next().unwrap_or(short);
            return Ok(Contender::Formula { name: short.to_owned(), text });
        }
        Ok(Contender::Run(Box::new(Run { weights: TrainedWeights::read(Path::new(name))?, newer: None })))
    }

    /// The formulas that a flag gives. A text is its name; of several long ones, the part that differs.
    pub fn from_formulas(texts: &[String]) -> Vec<Contender> {
        let names: Vec<String> = texts.iter().map(|text| on_one_line(text)).collect();
        let names = differing_parts(&names, MAX_COMPARED_NAME).into_iter();
        let formula = |(name, text): (String, &String)| Contender::Formula {
            name: without_middle(&name, MAX_NAME).into_owned(),
            text: text.clone(),
        };
        names.zip(texts).map(formula).collect()
    }

    /// The plain numbers of a file, separated by spaces, commas, lines or brackets: weights of a feature set, or of
    /// features separated by commas.
    ///
    /// # Errors
    /// [`UsageError`] for a file that cannot be read, or holds other things.
    pub fn from_numbers(path: &Path, features: &str) -> Result<Contender, UsageError> {
        let name = path.display().to_string();
        let wrong = |problem: String| UsageError(format!("{name}: {problem}"));
        let text = read_text(path).map_err(|error| wrong(error.to_string()))?;
        if text.trim_start().starts_with('{') {
            return Err(wrong(
                "--weights is for plain numbers; name a weights.json without the flag".to_owned(),
            ));
        }
        let rows = vec![plain_numbers(&text).map_err(|error| wrong(error.0))?];
        let weights = WeightRows { features: Features::parse(features), rows, model: None };
        Ok(Contender::Numbers { name, weights })
    }

    /// Rules of the training run; `None` for other players.
    pub fn rules(&self) -> Option<&RulesChoice> {
        match self {
            Contender::Run(run) => Some(run.weights.rules()),
            _ => None,
        }
    }

    /// Way of playing, unless a caller chooses another.
    pub fn play(&self) -> Play {
        match self {
            Contender::Named(name) => Controller::named(name).map_or(Play::default(), |named| named.play),
            Contender::Run(run) => run.weights.play(),
            Contender::Formula { .. } | Contender::Numbers { .. } => Play::default(),
        }
    }

    /// Name in results of the contender that a user called `player`.
    pub fn name(&self, player: &str, choice: PlayChoice) -> String {
        match self {
            Contender::Named(_) => title(player, choice),
            Contender::Run(_) => title_of_weights(player, choice, self.play()),
            Contender::Formula { name, .. } | Contender::Numbers { name, .. } => {
                title_of_weights(name, choice, self.play())
            }
        }
    }

    /// The policy of a request.
    pub fn policy(&self, choice: PlayChoice) -> Policy {
        match self {
            Contender::Named(name) => named_policy(name, choice),
            Contender::Run(run) => run.weights.weights().policy(choice),
            Contender::Formula { text, .. } => formula_policy(text, choice),
            Contender::Numbers { weights, .. } => {
                Policy { kind: PolicyKind::Weights(weights.clone()), play: choice }
            }
        }
    }

    /// The player at the beginning of a game. The seed also determines its random choices.
    ///
    /// # Errors
    /// [`UsageError`] for an unknown name, or a player that cannot play under these rules.
    pub fn player(&self, setup: &Setup, choice: PlayChoice, seed: u64) -> Result<Player, UsageError> {
        Player::new(vec![self.pilot(&setup.rules, choice, seed)?], setup)
    }

    /// The pilot of a game under these rules, or of a side of a match. The seed determines its random choices.
    ///
    /// # Errors
    /// [`UsageError`] for an unknown name, or a player that cannot play under these rules.
    pub fn pilot(&self, rules: &Rules, choice: PlayChoice, seed: u64) -> Result<Pilot, UsageError> {
        let (name, agent) = match self {
            Contender::Named(name) => (title(name, choice), agent(name, choice, rules)?),
            Contender::Run(run) => {
                let weights = &run.weights;
                let name = title_of_weights(weights.name(), choice, weights.play());
                (name, weights.agent(rules, choice)?)
            }
            Contender::Formula { name, .. } | Contender::Numbers { name, .. } => {
                let agents = self.policy(choice).agents(rules);
                let agent = agents.map_err(|error| UsageError(error.to_string()))?.into_iter().next();
                (title_of_weights(name, choice, self.play()), agent.expect("one agent for a policy"))
            }
        };
        Ok(Pilot::new(name, agent, seed))
    }

    /// Progress of the training run in short; `None` without a run.
    pub fn stage(&self) -> Option<String> {
        match self {
            Contender::Run(run) => run.weights.stage().map(|stage| stage.to_string()),
            _ => None,
        }
    }

    /// Progress of the training run in full, with newer weights for the next game.
    pub fn stage_in_words(&self) -> Option<String> {
        let Contender::Run(run) = self else { return None };
        let newer = run.newer.as_ref().and_then(TrainedWeights::stage);
        let newer = newer.map_or(String::new(), |stage| format!("; next: {stage}"));
        Some(run.weights.stage_in_words()? + &newer)
    }

    /// Full name of the player with this name, with the progress of its run.
    pub fn title(&self, name: &str) -> String {
        self.stage().map_or(name.to_owned(), |stage| format!("{name}, {stage}"))
    }

    /// Reads newer weights if the training run has progressed.
    ///
    /// # Errors
    /// If the files can no longer be read, or their weights cannot play under these rules; the previous weights stay.
    pub fn look(&mut self, rules: &Rules, choice: PlayChoice) -> Result<(), UsageError> {
        let Contender::Run(run) = self else { return Ok(()) };
        let last = run.newer.as_ref().unwrap_or(&run.weights);
        if let Some(newer) = last.read_newer()? {
            newer.agent(rules, choice)?;
            run.newer = Some(newer);
        }
        Ok(())
    }

    /// Switches to the newer weights, if there are any.
    pub fn take_up(&mut self) {
        if let Contender::Run(run) = self
            && let Some(newer) = run.newer.take()
        {
            run.weights = newer;
        }
    }
}
