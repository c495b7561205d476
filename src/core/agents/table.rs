//! Agents and their decisions, and the table of agents other than linear controllers, for the protocol, the command
//! line and the catalog.

use super::worth::Worth;
use super::{
    AgentRng, BeamAgent, ExpectationAgent, FormulaAgent, Kernel, LinearAgent, LookaheadAgent, MonteCarlo,
    Search, Sight, Thought, ValueFunction, random,
};
use crate::engine::{ActionModel, Key, Placement, Rules};
use crate::features::FeatureSet;
use crate::features::kernel::{ScoredPlacement, TerminalValue};
use crate::values;

/// Any agent that can play an episode.
#[derive(Clone, Debug)]
pub enum Agent {
    /// A weight vector over a feature set.
    Linear(LinearAgent),
    /// A formula that is no weighted sum.
    Formula(FormulaAgent),
    /// Weights or a formula with lookahead over shown pieces.
    Lookahead(LookaheadAgent),
    /// Weights or a formula with an expectation over the next pieces.
    Expectation(ExpectationAgent),
    /// Weights or a formula with a beam search over the known pieces.
    Beam(BeamAgent),
    /// Plays every placement to the end at random.
    MonteCarlo(MonteCarlo),
    /// Chooses every placement with equal probability.
    Random,
    /// Chooses one of four quarter turns, then a column.
    RandomSurvey,
    /// Chooses the first orientation at the left wall.
    Dummy,
    /// Chooses the placement with the largest exact value; only under rules whose [values](crate::values) are known.
    Optimal,
    /// Presses keys; only for rules with key presses.
    Keys(KeyAgent),
}

/// An agent's value of each placement of a piece, and its choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The placements that the agent considers, in ascending action order, each with its value: the score for a greedy
    /// agent, else the value that the search computes. The agent ignores all other placements of the piece.
    pub values: Vec<ScoredPlacement>,
    /// The placement that the agent plays: the first one with the largest value. If no value is finite, the agent's
    /// search decides.
    pub choice: Placement,
}

/// An agent that presses keys one after another, instead of choosing placements.
#[derive(Clone, Copy, Debug)]
pub enum KeyAgent {
    /// Presses every key with equal probability.
    Random,
}

/// An agent's decision about a piece.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    Place(Placement),
    /// Let this agent press the keys.
    Press(KeyAgent),
}

/// One row of the table of agents.
#[derive(Clone, Debug)]
pub struct AgentRow {
    /// Name on the wire and on the command line.
    pub name: &'static str,
    /// The agent's way of choosing, in one sentence.
    pub description: &'static str,
    /// Document or project that describes the agent.
    pub source: &'static str,
    /// The agent with its default parameters.
    pub agent: Agent,
}

const NOTEBOOK: &str = "Tetris AI survey notebook";
const LEIDEN: &str = "report with Monte-Carlo and heuristic agents, Leiden";

/// Every agent that is not a linear controller. Named controllers have a separate table.
pub static AGENTS: &[AgentRow] = &[
    AgentRow {
        name: "monte_carlo",
        description: "Plays every placement to the end at random. The most lines in total win, then the most pieces, then the first placement.",
        source: LEIDEN,
        agent: Agent::MonteCarlo(MonteCarlo::new(MonteCarlo::DEFAULT_PLAYOUTS)),
    },
    AgentRow {
        name: "monte_carlo_coded",
        description: "Like monte_carlo, but a new record of lines leaves the record of pieces unchanged, a slip of the report's program.",
        source: LEIDEN,
        agent: Agent::MonteCarlo(MonteCarlo::as_coded(MonteCarlo::DEFAULT_PLAYOUTS)),
    },
    AgentRow {
        name: "random",
        description: "Every existing placement with equal probability.",
        source: LEIDEN,
        agent: Agent::Random,
    },
    AgentRow {
        name: "random_survey",
        description: "One of four quarter turns, then one of the columns where that shape fits.",
        source: NOTEBOOK,
        agent: Agent::RandomSurvey,
    },
    AgentRow {
        name: "random_keys",
        description: "Every available key with equal probability; only for rules with key presses.",
        source: "course notebook",
        agent: Agent::Keys(KeyAgent::Random),
    },
    AgentRow {
        name: "dummy",
        description: "The first orientation at the left wall or, if that does not exist, the first placement.",
        source: NOTEBOOK,
        agent: Agent::Dummy,
    },
    AgentRow {
        name: "optimal",
        description: "The placement with the largest exact value, the first of equals; only on playfields with exact values.",
        source: "this project, by value iteration",
        agent: Agent::Optimal,
    },
];

impl AgentRow {
    /// The agent with this name.
    pub fn named(name: &str) -> Option<&'static AgentRow> {
        AGENTS.iter().find(|row| row.name == name)
    }
}

/// Rough time of a choice on a fast path, in pieces that a kernel plays alone.
const FAST: u64 = 4;
/// Rough time of a choice by the features' functions, in pieces that a kernel plays alone.
const PLAIN: u64 = 32;
/// Rough number of a model's multiplications in the time of one piece of a kernel.
const MODEL_WORK: u64 = 2048;
/// Rough cost of a formula in the time of one piece of a kernel.
const FORMULA_WORK: u64 = 512;
/// Rough number of pieces of random playouts in the time of one piece of a kernel.
const PLAYOUT_PIECES: u64 = 8;

/// Rough number of placements of the pieces that can be placed.
pub fn rough_placements(rules: &Rules) -> u64 {
    let of_a_piece = if rules.names_spots() { 5 } else { 3 } * u64::from(rules.width);
    of_a_piece * (1 + u64::from(rules.hold))
}

impl Agent {
    /// Creates an agent that scores placements and has this search.
    pub fn searching(values: impl Into<ValueFunction>, search: Search) -> Agent {
        match (search, values.into()) {
            (Search::Greedy, ValueFunction::Weights(agent)) => Agent::Linear(agent),
            (Search::Greedy, ValueFunction::Formula(agent)) => Agent::Formula(agent),
            (Search::Lookahead { pieces }, values) => Agent::Lookahead(LookaheadAgent::new(values, pieces)),
            (Search::Expectation(expectation), values) => {
                Agent::Expectation(ExpectationAgent::new(values, expectation))
            }
            (Search::Beam(beam), values) => Agent::Beam(BeamAgent::new(values, beam)),
        }
    }

    /// The search of an agent that scores placements; `None` for other agents.
    pub fn search(&self) -> Option<Search> {
        match self {
            Agent::Linear(_) | Agent::Formula(_) => Some(Search::Greedy),
            Agent::Lookahead(agent) => Some(Search::Lookahead { pieces: agent.pieces() }),
            Agent::Expectation(agent) => Some(Search::Expectation(*agent.expectation())),
            Agent::Beam(agent) => Some(Search::Beam(*agent.beam())),
            Agent::MonteCarlo(_)
            | Agent::Random
            | Agent::RandomSurvey
            | Agent::Dummy
            | Agent::Optimal
            | Agent::Keys(_) => None,
        }
    }

    /// Continues thinking, for one placement or to the end. Returns the decision when it is made; the thought is then
    /// used up.
    ///
    /// # Panics
    /// If the piece cannot enter the playfield, or exact values are needed and not known.
    pub fn think(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
        rng: &mut AgentRng,
    ) -> Option<Decision> {
        let placement = match self {
            Agent::Linear(agent) => agent.choose_of_hand(kernel, sight).placement,
            Agent::Formula(agent) => agent.choose_of_hand(kernel, sight).placement,
            Agent::Lookahead(agent) => {
                thought.weigh(sight, |placement| Worth::Score(agent.value(kernel, sight, placement)))?
            }
            Agent::Expectation(agent) => agent.weigh(kernel, sight, thought)?,
            Agent::Beam(agent) => agent.grow(kernel, sight, thought)?,
            Agent::MonteCarlo(agent) => agent.weigh(kernel, sight, thought, rng)?,
            Agent::Random => random::placement(sight, rng),
            Agent::RandomSurvey => random::survey(sight, rng),
            Agent::Dummy => random::dummy(sight),
            Agent::Optimal => optimal(sight),
            Agent::Keys(agent) => return Some(Decision::Press(*agent)),
        };
        Some(Decision::Place(placement))
    }

    /// Thinks to the end.
    ///
    /// # Panics
    /// If the piece cannot enter the playfield.
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

    /// Whether the agent gives every placement a value, so that [`Agent::judge`] works.
    pub fn scores_placements(&self) -> bool {
        self.search().is_some()
    }

    /// Like [`Agent::think`], but returns the values of the placements too.
    ///
    /// # Panics
    /// If the piece cannot enter the playfield, or the agent [scores no placements](Agent::scores_placements).
    pub fn judge(&self, kernel: Kernel, sight: &Sight<'_>, thought: &mut Thought) -> Option<Judgement> {
        assert!(self.scores_placements(), "an agent that scores placements");
        let scores = self.scores_at_once(kernel, sight);
        if let Some(choice) = scores.as_deref().and_then(first_best) {
            return Some(Judgement { values: scores.unwrap_or_default(), choice });
        }
        // An agent that scores placements draws nothing.
        let Decision::Place(choice) = self.think(kernel, sight, thought, &mut AgentRng::new(0))? else {
            unreachable!("it presses no keys")
        };
        let values = scores.unwrap_or_else(|| thought.scores());
        Some(Judgement { values, choice })
    }

    /// The scores of an agent that thinks only once.
    fn scores_at_once(&self, kernel: Kernel, sight: &Sight<'_>) -> Option<Vec<ScoredPlacement>> {
        match self {
            Agent::Linear(agent) => {
                Some(agent.scores_of_hand(kernel, sight.rules, sight.playfield, sight.hand()))
            }
            Agent::Formula(agent) => Some(agent.scores_of_hand(kernel, sight)),
            _ => None,
        }
    }

    /// Rough number of calls of [`Agent::think`] for one choice.
    pub fn num_thoughts(&self, rules: &Rules) -> u64 {
        match self {
            Agent::Lookahead(_) => rough_placements(rules),
            Agent::MonteCarlo(agent) => agent.calls() * rough_placements(rules),
            Agent::Expectation(agent) => {
                u64::from(agent.expectation().placements).min(rough_placements(rules))
            }
            Agent::Beam(agent) => agent.num_steps(rules),
            _ => 1,
        }
    }

    /// Thinks to the end. Returns the chosen placement, followed by the other evaluated ones, best first. The list is
    /// empty if the agent presses keys.
    ///
    /// # Panics
    /// If the piece cannot enter the playfield.
    pub fn preferences(&self, kernel: Kernel, sight: &Sight<'_>, rng: &mut AgentRng) -> Vec<Placement> {
        let mut thought = Thought::default();
        let decision = self.think_to_the_end(kernel, sight, &mut thought, rng);
        let Decision::Place(chosen) = decision else { return Vec::new() };
        let ranked = self.scores_at_once(kernel, sight).map_or_else(|| thought.ranked(), ranked);
        let others = ranked.into_iter().filter(|placement| *placement != chosen);
        std::iter::once(chosen).chain(others).collect()
    }

    /// The weights that score the agent's placements, if any.
    pub fn controller(&self) -> Option<&LinearAgent> {
        match self {
            Agent::Linear(agent) => Some(agent),
            Agent::Lookahead(agent) => agent.values().weights(),
            Agent::Expectation(agent) => agent.values().weights(),
            Agent::Beam(agent) => agent.values().weights(),
            _ => None,
        }
    }

    /// The formula that scores the agent's placements, if any.
    pub fn formula(&self) -> Option<&FormulaAgent> {
        match self {
            Agent::Formula(agent) => Some(agent),
            Agent::Lookahead(agent) => agent.values().formula(),
            Agent::Expectation(agent) => agent.values().formula(),
            Agent::Beam(agent) => agent.values().formula(),
            _ => None,
        }
    }

    /// The features of an agent that scores placements.
    pub fn features(&self) -> Option<&FeatureSet> {
        let of_formula = || self.formula().map(|agent| agent.program().set());
        self.controller().map(LinearAgent::set).or_else(of_formula)
    }

    /// Score of a placement that ends the game, for an agent that scores placements.
    pub fn terminal_value(&self) -> Option<TerminalValue> {
        match self {
            Agent::Linear(agent) => Some(agent.terminal_value()),
            Agent::Formula(agent) => Some(agent.terminal_value()),
            Agent::Lookahead(agent) => Some(agent.values().terminal_value()),
            Agent::Expectation(agent) => Some(agent.values().terminal_value()),
            Agent::Beam(agent) => Some(agent.values().terminal_value()),
            _ => None,
        }
    }

    /// Whether the agent draws random numbers. Otherwise its choice depends only on what it sees.
    pub fn draws(&self) -> bool {
        matches!(self, Agent::MonteCarlo(_) | Agent::Random | Agent::RandomSurvey | Agent::Keys(_))
    }

    /// Whether the agent's choices depend on how many lines or pieces the game has had.
    pub fn knows_counts(&self) -> bool {
        match self {
            Agent::Formula(agent) => agent.program().knows_counts(),
            Agent::Lookahead(agent) => agent.values().knows_counts(),
            Agent::Expectation(agent) => agent.values().knows_counts(),
            Agent::Beam(agent) => agent.values().knows_counts(),
            _ => false,
        }
    }

    /// Whether the agent can play under these rules. An agent that presses keys needs rules with keys.
    pub fn plays(&self, rules: &Rules) -> bool {
        !matches!(self, Agent::Keys(_)) || rules.action_model == ActionModel::Keypress
    }

    /// Rough time of one call of [`Agent::think`], in pieces that a linear controller places with a kernel.
    pub fn cost(&self, rules: &Rules) -> u64 {
        let placements = rough_placements(rules);
        let measuring = |is_fast: bool| if is_fast && !rules.names_spots() { FAST } else { PLAIN };
        let cost_of_weights = |agent: &LinearAgent| {
            let model = agent.model().map_or(0, |model| placements * model.work() / MODEL_WORK);
            model + measuring(agent.is_fast())
        };
        let cost_of_formula = |agent: &FormulaAgent| {
            placements * u64::from(agent.program().cost()) / FORMULA_WORK + measuring(agent.is_fast())
        };
        let cost_of = |values: &ValueFunction| match values {
            ValueFunction::Weights(agent) => cost_of_weights(agent),
            ValueFunction::Formula(agent) => cost_of_formula(agent),
        };
        match self {
            Agent::Linear(agent) => cost_of_weights(agent),
            Agent::Formula(agent) => cost_of_formula(agent),
            Agent::Lookahead(agent) => {
                // All but the last of the next pieces are tried at every placement.
                let branches = agent.pieces().saturating_sub(1);
                cost_of(agent.values()) * placements.saturating_pow(branches)
            }
            Agent::Expectation(agent) => {
                // A call weighs one of the first piece's placements.
                cost_of(agent.values()) * agent.work_of_a_piece(rules) / agent.placements_looked_at(rules)
            }
            // A call places a piece after every sequence of placements.
            Agent::Beam(agent) => cost_of(agent.values()) * agent.beam().places(),
            Agent::MonteCarlo(agent) => 1 + agent.estimated_pieces(rules) / PLAYOUT_PIECES,
            Agent::Optimal => PLAIN,
            Agent::Random | Agent::RandomSurvey | Agent::Dummy | Agent::Keys(_) => 1,
        }
    }
}

/// The placement with the largest exact value.
fn optimal(sight: &Sight<'_>) -> Placement {
    let Sight { rules, playfield, piece, .. } = *sight;
    let values = values::known(rules.width, rules.height).expect("a playfield whose values are known");
    values.best(rules, playfield, piece)
}

/// The first of the best placements; `None` if there is none, or none has a finite score.
fn first_best(scores: &[ScoredPlacement]) -> Option<Placement> {
    let larger =
        |best: ScoredPlacement, other: ScoredPlacement| if other.score > best.score { other } else { best };
    let best = scores.iter().copied().reduce(larger)?;
    (best.score > f64::NEG_INFINITY).then_some(best.placement)
}

/// Sorts placements, best first, and keeps the order of equals.
fn ranked(mut scores: Vec<ScoredPlacement>) -> Vec<Placement> {
    scores.sort_by(|one, other| other.score.total_cmp(&one.score));
    scores.into_iter().map(|choice| choice.placement).collect()
}

impl KeyAgent {
    /// Chooses the next key among the existing ones.
    pub fn press(self, keys: &[Key], rng: &mut AgentRng) -> Key {
        match self {
            KeyAgent::Random => random::key(keys, rng),
        }
    }
}
