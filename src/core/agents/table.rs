//! The table of agents, for the protocol, the command line and the catalogue: descriptions, constructors and
//! decisions.

use std::sync::Arc;

use super::worth::Worth;
use super::{
    AgentRng, ControllerError, Expectation, ExpectationAgent, Kernel, LinearAgent, LookaheadAgent,
    ModelShape, MonteCarlo, Play, Search, Sight, Thought, WeightError, random,
};
use crate::engine::{ActionModel, Key, Placement, Rules};
use crate::features::FeatureSet;

/// Any agent that can play an episode.
#[derive(Clone, Debug)]
pub enum Agent {
    /// A weight vector over a feature set.
    Linear(LinearAgent),
    /// A weight vector with a look at the next pieces.
    Lookahead(LookaheadAgent),
    /// A weight vector with an expectation over the next pieces.
    Expectation(ExpectationAgent),
    /// Every placement played to the end at random.
    MonteCarlo(MonteCarlo),
    /// Every placement with equal probability.
    Random,
    /// One of four quarter turns, then a column.
    RandomSurvey,
    /// The first orientation at the left wall.
    Dummy,
    /// An agent that presses keys; for rules with key presses only.
    Keys(KeyAgent),
}

/// An agent that presses keys, one after the other, instead of choosing placements.
#[derive(Clone, Copy, Debug)]
pub enum KeyAgent {
    /// Every key with equal probability.
    Random,
}

/// Decision of an agent about a piece.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// Make this placement.
    Place(Placement),
    /// Let this agent press the keys.
    Press(KeyAgent),
}

/// One row of the table of agents.
#[derive(Clone, Copy, Debug)]
pub struct AgentRow {
    /// Name on the wire and on the command line.
    pub name: &'static str,
    /// How the agent chooses, in one sentence.
    pub description: &'static str,
    /// Source of the agent.
    pub source: &'static str,
    /// Parameters that the agent takes; others are refused.
    pub parameters: &'static [Parameter],
    /// Builds the agent.
    pub build: fn(Parameters) -> Result<Agent, AgentError>,
}

/// The parameters of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The features of the weights.
    Features,
    /// A signed weight per feature, then the parameters of the model.
    Weights,
    /// A network over the features.
    Mlp,
    /// Tables over patterns of the afterstate.
    NTuple,
    /// Optional tables of a network.
    MlpTables,
    /// Number of next pieces considered.
    Lookahead,
    /// Expectation over the next pieces.
    Expectation,
    /// Score of a placement that ends the game.
    TerminalValue,
    /// Games played per placement.
    Playouts,
}

/// The parameters of an agent, with every default filled in; unused ones are ignored.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Columns of the playfield.
    pub width: u8,
    /// [`Parameter::Features`], if present.
    pub features: Option<FeatureSet>,
    /// [`Parameter::Weights`].
    pub weights: Vec<f64>,
    /// [`Parameter::Mlp`] with its [`Parameter::MlpTables`], or [`Parameter::NTuple`], if there is a model.
    pub model: Option<Arc<ModelShape>>,
    /// [`Parameter::Lookahead`], [`Parameter::Expectation`] and [`Parameter::TerminalValue`].
    pub play: Play,
    /// [`Parameter::Playouts`], at least 1.
    pub playouts: u32,
}

/// Why parameters do not make an agent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AgentError {
    /// A required parameter is missing.
    #[error("{} is missing", .0.name())]
    Missing(Parameter),
    /// The weights are wrong.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// The controller cannot play.
    #[error(transparent)]
    Controller(#[from] ControllerError),
}

/// Parameters of the named controllers.
pub const CONTROLLER_PARAMETERS: &[Parameter] =
    &[Parameter::Lookahead, Parameter::Expectation, Parameter::TerminalValue];

const NOTEBOOK: &str = "Tetris AI survey notebook";
const LEIDEN: &str = "report with Monte-Carlo and heuristic agents, Leiden";

/// The agent that a named controller is, once its features and weights are filled in.
pub const LINEAR: AgentRow = AgentRow {
    name: "linear",
    description: "The placement with the largest sum of weight times feature, the first of equals.",
    source: "Bertsekas and Tsitsiklis 1996; Thiery and Scherrer 2009",
    parameters: &[Parameter::Features, Parameter::Weights, Parameter::Lookahead, Parameter::TerminalValue],
    build: |given| {
        let features = given.features.ok_or(AgentError::Missing(Parameter::Features))?;
        let agent = LinearAgent::with_model(features, given.model, given.weights, given.play.terminal_value)?;
        Ok(Agent::linear(agent, given.play.search))
    },
};

/// A weight vector with an expectation over the next pieces.
const EXPECTATION: AgentRow = AgentRow {
    name: "expectation",
    description: "The placement with the largest terms of its own plus the best score that the next piece can reach, \
                  the exact mean of that over the seven where the next piece is hidden.",
    source: "chance nodes: Michie 1966, Ballard 1983; the terms are this project's",
    parameters: &[Parameter::Features, Parameter::Weights, Parameter::Expectation, Parameter::TerminalValue],
    build: |given| {
        let search = match given.play.search {
            Search::Greedy => Search::Expectation(Expectation::DEFAULT),
            search => search,
        };
        (LINEAR.build)(Parameters { play: Play { search, ..given.play }, ..given })
    },
};

/// A weight vector and a network over the same features.
const MLP: AgentRow = AgentRow {
    name: "mlp",
    description: "The placement with the largest sum of weight times feature, plus the output of a multilayer \
                  perceptron over the features, which may look up tables by patterns of the afterstate too.",
    source: "Bertsekas and Tsitsiklis 1996; what the server computes, and in which order, is this project's",
    parameters: &[
        Parameter::Features,
        Parameter::Weights,
        Parameter::Mlp,
        Parameter::MlpTables,
        Parameter::Lookahead,
        Parameter::Expectation,
        Parameter::TerminalValue,
    ],
    build: |given| match given.model.as_deref() {
        Some(ModelShape::Mlp(_)) => (LINEAR.build)(given),
        _ => Err(AgentError::Missing(Parameter::Mlp)),
    },
};

/// A weight vector and tables over afterstates.
const N_TUPLE: AgentRow = AgentRow {
    name: "n_tuple",
    description: "The placement with the largest sum of weight times feature, plus an entry of a table for each pattern \
                  of the afterstate.",
    source: "Bledsoe and Browning 1959; Jaskowski et al. 2015 for SZ-Tetris",
    parameters: &[
        Parameter::Features,
        Parameter::Weights,
        Parameter::NTuple,
        Parameter::Lookahead,
        Parameter::Expectation,
        Parameter::TerminalValue,
    ],
    build: |given| match given.model.as_deref() {
        Some(ModelShape::NTuple(_)) => (LINEAR.build)(given),
        _ => Err(AgentError::Missing(Parameter::NTuple)),
    },
};

/// Every agent; the named linear controllers have a separate table.
pub static AGENTS: &[AgentRow] = &[
    LINEAR,
    EXPECTATION,
    MLP,
    N_TUPLE,
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
        description: "Every key that can be pressed with the same chance; rules of key presses only.",
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
    /// The agent with this name.
    pub fn named(name: &str) -> Option<&'static AgentRow> {
        AGENTS.iter().find(|row| row.name == name)
    }
}

impl Parameter {
    /// Name of the field in the protocol's `Agent`.
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::Features => "features",
            Parameter::Weights => "weights",
            Parameter::Mlp => "mlp",
            Parameter::NTuple | Parameter::MlpTables => "n_tuple",
            Parameter::Lookahead => "lookahead",
            Parameter::Expectation => "expectation",
            Parameter::TerminalValue => "terminal_value",
            Parameter::Playouts => "playouts",
        }
    }

    /// Meaning of the parameter, in one sentence.
    pub const fn description(self) -> &'static str {
        match self {
            Parameter::Features => "What the weights mean.",
            Parameter::Weights => "A signed weight for each feature, then the parameters of the model.",
            Parameter::Mlp => "The shape of a network over the features.",
            Parameter::NTuple => "Tuples, each a pattern of the afterstate with a table.",
            Parameter::MlpTables => {
                "For mlp: tuples whose entries are rows of numbers, which the first hidden layer adds to its sums."
            }
            Parameter::Lookahead => {
                "How many of the next pieces are taken into account, as far as the rules show them."
            }
            Parameter::Expectation => {
                "How to weigh what the next pieces can reach; hidden pieces count by their exact mean."
            }
            Parameter::TerminalValue => "What a placement that ends the game is worth.",
            Parameter::Playouts => "Games played at random for each placement.",
        }
    }

    /// Default value; empty if the caller must give one.
    pub fn default_value(self) -> String {
        match self {
            Parameter::Features | Parameter::Weights | Parameter::Mlp | Parameter::NTuple => String::new(),
            Parameter::Lookahead => "0".to_owned(),
            // Messages; their fields have the defaults.
            Parameter::Expectation | Parameter::MlpTables => "none".to_owned(),
            Parameter::TerminalValue => "TERMINAL_VALUE_AVOID".to_owned(),
            Parameter::Playouts => MonteCarlo::DEFAULT_PLAYOUTS.to_string(),
        }
    }
}

/// Rough time of a choice on a fast path, in pieces of a kernel's own loop.
const FAST: u64 = 4;
/// Rough time of a choice by the features' functions, in pieces of a kernel's own loop.
const PLAIN: u64 = 32;
/// Rough number of multiplications of a model that take as long as one piece of a kernel.
const MODEL_WORK: u64 = 2048;
/// Rough number of pieces of a random playout that take as long as one piece of a kernel.
const PLAYOUT_PIECES: u64 = 8;

impl Agent {
    /// A linear controller with this search.
    pub fn linear(agent: LinearAgent, search: Search) -> Agent {
        match search {
            Search::Greedy => Agent::Linear(agent),
            Search::Lookahead(pieces) => Agent::Lookahead(LookaheadAgent::new(agent, pieces)),
            Search::Expectation(expectation) => Agent::Expectation(ExpectationAgent::new(agent, expectation)),
        }
    }

    /// The search of a linear controller; `None` for other agents.
    pub fn search(&self) -> Option<Search> {
        match self {
            Agent::Linear(_) => Some(Search::Greedy),
            Agent::Lookahead(agent) => Some(Search::Lookahead(agent.pieces())),
            Agent::Expectation(agent) => Some(Search::Expectation(*agent.expectation())),
            Agent::MonteCarlo(_) | Agent::Random | Agent::RandomSurvey | Agent::Dummy | Agent::Keys(_) => {
                None
            }
        }
    }

    /// Continues thinking, for one placement or to the end; `Some` when the agent has decided, after which the
    /// thought is spent.
    ///
    /// # Panics
    /// If the piece cannot come into play.
    pub fn think(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
        rng: &mut AgentRng,
    ) -> Option<Decision> {
        let placement = match self {
            Agent::Linear(agent) => agent.choose_of_hand(kernel, sight).placement,
            Agent::Lookahead(agent) => {
                thought.weigh(sight, |placement| Worth::Score(agent.value(kernel, sight, placement)))?
            }
            Agent::Expectation(agent) => agent.weigh(kernel, sight, thought)?,
            Agent::MonteCarlo(agent) => thought
                .weigh(sight, |placement| agent.weigh(kernel, &sight.placing(placement), placement, rng))?,
            Agent::Random => random::placement(sight, rng),
            Agent::RandomSurvey => random::survey(sight, rng),
            Agent::Dummy => random::dummy(sight),
            Agent::Keys(agent) => return Some(Decision::Press(*agent)),
        };
        Some(Decision::Place(placement))
    }

    /// Thinks to the end.
    ///
    /// # Panics
    /// If the piece cannot come into play.
    pub fn decide(&self, kernel: Kernel, sight: &Sight<'_>, rng: &mut AgentRng) -> Decision {
        self.think_to_the_end(kernel, sight, &mut Thought::default(), rng)
    }

    fn think_to_the_end(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
        rng: &mut AgentRng,
    ) -> Decision {
        loop {
            if let Some(decision) = self.think(kernel, sight, thought, rng) {
                return decision;
            }
        }
    }

    /// Thinks to the end, and returns the chosen placement followed by the next best ones among those evaluated;
    /// nothing if the agent presses keys.
    ///
    /// # Panics
    /// If the piece cannot come into play.
    pub fn preferences(&self, kernel: Kernel, sight: &Sight<'_>, rng: &mut AgentRng) -> Vec<Placement> {
        let mut thought = Thought::default();
        let decision = self.think_to_the_end(kernel, sight, &mut thought, rng);
        let Decision::Place(chosen) = decision else { return Vec::new() };
        let ranked = match self {
            Agent::Linear(agent) => agent.ranked(kernel, sight),
            _ => thought.ranked(),
        };
        let others = ranked.into_iter().filter(|placement| *placement != chosen);
        std::iter::once(chosen).chain(others).collect()
    }

    /// The controller that scores the agent's placements, if it has one.
    pub fn controller(&self) -> Option<&LinearAgent> {
        match self {
            Agent::Linear(agent) => Some(agent),
            Agent::Lookahead(agent) => Some(agent.linear()),
            Agent::Expectation(agent) => Some(agent.linear()),
            Agent::MonteCarlo(_) | Agent::Random | Agent::RandomSurvey | Agent::Dummy | Agent::Keys(_) => {
                None
            }
        }
    }

    /// Whether the agent draws random numbers; otherwise its choice follows from what it sees.
    pub fn draws(&self) -> bool {
        matches!(self, Agent::MonteCarlo(_) | Agent::Random | Agent::RandomSurvey | Agent::Keys(_))
    }

    /// Whether the agent can play under these rules: an agent that presses keys needs keys.
    pub fn plays(&self, rules: &Rules) -> bool {
        !matches!(self, Agent::Keys(_)) || rules.action_model == ActionModel::Keypress
    }

    /// Rough time of one call of [`Agent::think`], in pieces that a linear controller places with a kernel.
    pub fn cost(&self, rules: &Rules) -> u64 {
        let of_a_piece = if rules.names_spots() { 5 } else { 3 } * u64::from(rules.width);
        let placements = of_a_piece * (1 + u64::from(rules.hold));
        let cost_of = |agent: &LinearAgent| {
            let model = agent.model().map_or(0, |model| placements * model.work() / MODEL_WORK);
            model + if agent.is_fast() && !rules.names_spots() { FAST } else { PLAIN }
        };
        match self {
            Agent::Linear(agent) => cost_of(agent),
            Agent::Lookahead(agent) => {
                // All but the last of the next pieces are placed wherever they can go.
                let branches = agent.pieces().saturating_sub(1);
                cost_of(agent.linear()) * placements.saturating_pow(branches)
            }
            Agent::Expectation(agent) => {
                // A call weighs one of the first piece's placements.
                cost_of(agent.linear()) * agent.work_of_a_piece(rules) / agent.placements_looked_at(rules)
            }
            Agent::MonteCarlo(agent) => 1 + agent.estimated_pieces(rules) / PLAYOUT_PIECES,
            Agent::Random | Agent::RandomSurvey | Agent::Dummy | Agent::Keys(_) => 1,
        }
    }
}

impl KeyAgent {
    /// The next key, among those that exist.
    pub fn press(self, keys: &[Key], rng: &mut AgentRng) -> Key {
        match self {
            KeyAgent::Random => random::key(keys, rng),
        }
    }
}
