//! The table of agents: what the protocol, the command line and the catalogue say about them.

use super::{
    Agent, ControllerError, KeyAgent, LinearAgent, MonteCarlo, TerminalPolicy, WeightError, flat_stacking,
};
use crate::features::FeatureSet;

/// One row of the table of agents.
#[derive(Clone, Copy, Debug)]
pub struct AgentRow {
    /// Its name on the wire and on the command line.
    pub name: &'static str,
    /// How it chooses, in a sentence.
    pub description: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The parameters it takes; any other is refused.
    pub parameters: &'static [Parameter],
    /// Makes it of them.
    pub build: fn(Parameters) -> Result<Agent, AgentError>,
}

/// The parameters of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// What the weights mean.
    Features,
    /// A signed weight for each feature.
    Weights,
    /// How many next pieces are taken into account.
    Lookahead,
    /// What a placement that ends the game is worth.
    Terminal,
    /// Games played for each placement.
    Playouts,
}

/// The parameters of an agent, with every default filled in; those that it does not take do nothing.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Columns of the playfield.
    pub width: u8,
    /// [`Parameter::Features`], if there are any.
    pub features: Option<FeatureSet>,
    /// [`Parameter::Weights`].
    pub weights: Vec<f64>,
    /// [`Parameter::Lookahead`].
    pub lookahead: u32,
    /// [`Parameter::Terminal`].
    pub terminal: TerminalPolicy,
    /// [`Parameter::Playouts`], at least 1.
    pub playouts: u32,
}

/// Why parameters do not make an agent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AgentError {
    /// The agent cannot do without it.
    #[error("{} is missing", .0.name())]
    Missing(Parameter),
    /// Its weights are wrong.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// It is a controller that cannot play.
    #[error(transparent)]
    Controller(#[from] ControllerError),
}

/// What the controllers with a name take.
pub const CONTROLLER_PARAMETERS: &[Parameter] = &[Parameter::Lookahead, Parameter::Terminal];

const NOTEBOOK: &str = "Tetris AI survey notebook";
const LEIDEN: &str = "report with Monte-Carlo and heuristic agents, Leiden";

/// The agent that a controller with a name is, once its features and weights are filled in.
pub const LINEAR: AgentRow = AgentRow {
    name: "linear",
    description: "The placement with the largest sum of weight times feature, the first of equals.",
    source: "Bertsekas and Tsitsiklis 1996; Thiery and Scherrer 2009",
    parameters: &[Parameter::Features, Parameter::Weights, Parameter::Lookahead, Parameter::Terminal],
    build: |given| {
        let features = given.features.ok_or(AgentError::Missing(Parameter::Features))?;
        let agent = LinearAgent::new(features, given.weights, given.terminal)?;
        Ok(Agent::linear(agent, given.lookahead))
    },
};

/// Every agent; the linear controllers with a name are in a table of their own.
pub static AGENTS: &[AgentRow] = &[
    LINEAR,
    AgentRow {
        name: "flat_stacking",
        description: "Lines cleared, height reached, holes and shafts weighed; the controller flat-stacking.",
        source: LEIDEN,
        parameters: &[],
        build: |given| Ok(Agent::Linear(flat_stacking(given.width)?)),
    },
    AgentRow {
        name: "monte_carlo",
        description: "Every placement played to the end at random: more lines in all win, then more pieces, then the first.",
        source: LEIDEN,
        parameters: &[Parameter::Playouts],
        build: |given| Ok(Agent::MonteCarlo(MonteCarlo::new(given.playouts))),
    },
    AgentRow {
        name: "monte_carlo_coded",
        description: "As monte_carlo, but a new record of lines leaves the record of pieces as it was, the report's program's slip.",
        source: LEIDEN,
        parameters: &[Parameter::Playouts],
        build: |given| Ok(Agent::MonteCarlo(MonteCarlo::as_coded(given.playouts))),
    },
    AgentRow {
        name: "random",
        description: "Every placement that exists with the same chance.",
        source: LEIDEN,
        parameters: &[],
        build: |_| Ok(Agent::Random),
    },
    AgentRow {
        name: "random_survey",
        description: "One of four quarter turns, then one of the columns where that shape fits.",
        source: NOTEBOOK,
        parameters: &[],
        build: |_| Ok(Agent::RandomSurvey),
    },
    AgentRow {
        name: "random_keys",
        description: "Every key with the same chance; rules of key presses only.",
        source: "course notebook",
        parameters: &[],
        build: |_| Ok(Agent::Keys(KeyAgent::Random)),
    },
    AgentRow {
        name: "dummy",
        description: "The first orientation at the left wall; where that does not exist, the first placement.",
        source: NOTEBOOK,
        parameters: &[],
        build: |_| Ok(Agent::Dummy),
    },
];

impl AgentRow {
    /// The agent of that name.
    pub fn named(name: &str) -> Option<&'static AgentRow> {
        AGENTS.iter().find(|row| row.name == name)
    }
}

impl Parameter {
    /// The field of the protocol's `Agent`.
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::Features => "features",
            Parameter::Weights => "weights",
            Parameter::Lookahead => "lookahead",
            Parameter::Terminal => "terminal",
            Parameter::Playouts => "playouts",
        }
    }

    /// Its meaning, in a sentence.
    pub const fn description(self) -> &'static str {
        match self {
            Parameter::Features => "What the weights mean.",
            Parameter::Weights => "A signed weight for each feature.",
            Parameter::Lookahead => {
                "How many of the next pieces are taken into account, as far as the rules show them."
            }
            Parameter::Terminal => "What a placement that ends the game is worth.",
            Parameter::Playouts => "Games played at random for each placement.",
        }
    }

    /// Its default value; empty where the caller must give one.
    pub fn default_value(self) -> String {
        match self {
            Parameter::Features | Parameter::Weights => String::new(),
            Parameter::Lookahead => "0".to_owned(),
            Parameter::Terminal => "TERMINAL_SCORE_AVOID".to_owned(),
            Parameter::Playouts => MonteCarlo::DEFAULT_PLAYOUTS.to_string(),
        }
    }
}
