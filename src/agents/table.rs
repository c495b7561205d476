//! The table of agents: what the protocol, the command line and the catalogue say about them.

use super::MonteCarlo;

/// One row of the table of agents.
#[derive(Clone, Copy, Debug)]
pub struct AgentRow {
    /// Its name on the wire and on the command line.
    pub name: &'static str,
    /// Which it is.
    pub kind: AgentKind,
    /// How it chooses, in a sentence.
    pub description: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The parameters it takes; any other is refused.
    pub parameters: &'static [Parameter],
}

/// The agents, one a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // their rows describe them
pub enum AgentKind {
    Linear,
    FlatStacking,
    MonteCarlo,
    MonteCarloCoded,
    Random,
    RandomSurvey,
    RandomKeys,
    Dummy,
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

/// What the controllers with a name take.
pub const CONTROLLER_PARAMETERS: &[Parameter] = &[Parameter::Lookahead, Parameter::Terminal];

const NOTEBOOK: &str = "Tetris AI survey notebook";
const LEIDEN: &str = "report with Monte-Carlo and heuristic agents, Leiden";

/// Every agent; the linear controllers with a name are in a table of their own.
pub static AGENTS: &[AgentRow] = &[
    AgentRow {
        name: "linear",
        kind: AgentKind::Linear,
        description: "The placement with the largest sum of weight times feature, the first of equals.",
        source: "Bertsekas and Tsitsiklis 1996; Thiery and Scherrer 2009",
        parameters: &[Parameter::Features, Parameter::Weights, Parameter::Lookahead, Parameter::Terminal],
    },
    AgentRow {
        name: "flat_stacking",
        kind: AgentKind::FlatStacking,
        description: "Lines cleared, height reached, holes and shafts weighed; the controller flat-stacking.",
        source: LEIDEN,
        parameters: &[],
    },
    AgentRow {
        name: "monte_carlo",
        kind: AgentKind::MonteCarlo,
        description: "Every placement played to the end at random: more lines in all win, then more pieces, then the first.",
        source: LEIDEN,
        parameters: &[Parameter::Playouts],
    },
    AgentRow {
        name: "monte_carlo_coded",
        kind: AgentKind::MonteCarloCoded,
        description: "As monte_carlo, but a new record of lines leaves the record of pieces as it was, the report's program's slip.",
        source: LEIDEN,
        parameters: &[Parameter::Playouts],
    },
    AgentRow {
        name: "random",
        kind: AgentKind::Random,
        description: "Every placement that exists with the same chance.",
        source: LEIDEN,
        parameters: &[],
    },
    AgentRow {
        name: "random_survey",
        kind: AgentKind::RandomSurvey,
        description: "One of four quarter turns, then one of the columns where that shape fits.",
        source: NOTEBOOK,
        parameters: &[],
    },
    AgentRow {
        name: "random_keys",
        kind: AgentKind::RandomKeys,
        description: "Every key with the same chance; rules of key presses only.",
        source: "course notebook",
        parameters: &[],
    },
    AgentRow {
        name: "dummy",
        kind: AgentKind::Dummy,
        description: "The first orientation at the left wall; where that does not exist, the first placement.",
        source: NOTEBOOK,
        parameters: &[],
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
