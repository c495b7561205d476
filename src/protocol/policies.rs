//! Policies: the way a caller wants games played, to and from the wire, and the agents that they become.

use std::sync::Arc;

use prost::Message as _;

use tetrion_core::agents::{
    AGENTS, Agent, AgentRow, CONTROLLERS, Controller, FormulaAgent, LinearAgent, ModelShape, WeightError,
    expected_weights,
};
pub use tetrion_core::agents::{MonteCarlo, Play, PlayChoice, TerminalValue};
use tetrion_core::engine::Rules;
use tetrion_core::features::FeatureSet;
use tetrion_core::formula::{self, Formula};
use tetrion_core::names;
use tetrion_toolkit::optimum;

use super::error::{DecodeError, Fault, InField};
use super::features::Features;
use super::limits::{MAX_MODEL_WORK, MAX_PLAYOUTS, MAX_POLICIES, MAX_REQUEST_PARAMETERS, check_name};
use super::pb;
use super::pb::policy::Kind as Message;
use super::tensor::{self, DimSize};
use super::{features, models, search};

/// One policy, or one per row of weights: who plays, and how it chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub kind: PolicyKind,
    /// The player's way of choosing, if it scores placements.
    pub play: PlayChoice,
}

/// The player of a policy.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyKind {
    /// A controller or another agent, by name.
    Named(String),
    Weights(WeightRows),
    /// Random games for each placement.
    MonteCarlo(MonteCarlo),
    /// A formula that scores placements, as text.
    Formula(String),
}

/// Rows of weights for the same features, each with the parameters of its model.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightRows {
    /// The features of the weights.
    pub features: Features,
    /// Signed weights, one per feature, then the parameters of the model. All rows have the same length.
    pub rows: Vec<Vec<f64>>,
    /// Model whose output is added to the weighted sums.
    pub model: Option<ModelShape>,
}

impl Policy {
    /// The controller or agent with this name, with its default way of playing.
    pub fn named(name: &str) -> Policy {
        Policy { kind: PolicyKind::Named(name.to_owned()), play: PlayChoice::default() }
    }

    /// Number of policies: rows of weights, or 1.
    pub fn num_rows(&self) -> usize {
        match &self.kind {
            PolicyKind::Weights(weights) => weights.rows.len(),
            PolicyKind::Named(_) | PolicyKind::MonteCarlo(_) | PolicyKind::Formula(_) => 1,
        }
    }

    /// The agents under these rules, one per row, as a server would play them.
    ///
    /// # Errors
    /// [`DecodeError`] with the fields of `Policy`: an unknown name, wrong weights, a setting that does not apply or is
    /// out of range, or rules that the policy cannot play.
    pub fn agents(self, rules: &Rules) -> Result<Vec<Agent>, DecodeError> {
        if let Some(search) = &self.play.search {
            search::check(search, rules).in_field("search")?;
        }
        match self.kind {
            PolicyKind::Named(name) => Ok(vec![named_agent(&name, self.play, rules)?]),
            PolicyKind::MonteCarlo(agent) => Ok(vec![monte_carlo_agent(agent, self.play)?]),
            PolicyKind::Formula(text) => Ok(vec![formula_agent(&text, self.play, rules)?]),
            PolicyKind::Weights(WeightRows { features, rows, model }) => {
                let builder = || {
                    let set = features.resolve(rules).in_field("features")?;
                    if let Some(model) = &model {
                        models::check(model, set.len(), rules)?;
                    }
                    Ok(Builder { set, model: model.map(Arc::new), play: self.play.or(Play::default()) })
                };
                let builder = builder().in_field("weights")?;
                let build = |weights| {
                    let agent = builder.build(weights);
                    let agent =
                        agent.map_err(|error| DecodeError::field("weights.weights", error.to_string()))?;
                    check_work(&agent, rules, "weights").map(|()| agent)
                };
                rows.into_iter().map(build).collect()
            }
        }
    }

    /// The policy as a message.
    pub fn encode(&self) -> pb::Policy {
        let kind = match &self.kind {
            PolicyKind::Named(name) => Message::Name(name.clone()),
            PolicyKind::Weights(weights) => Message::Weights(weights.encode()),
            PolicyKind::MonteCarlo(agent) => Message::MonteCarlo(encode_monte_carlo(*agent)),
            PolicyKind::Formula(text) => Message::Formula(pb::Formula { text: text.clone() }),
        };
        pb::Policy { kind: Some(kind), ..encode_play(self.play) }
    }
}

impl WeightRows {
    fn encode(&self) -> pb::Weights {
        let (mlp, n_tuple) = self.model.as_ref().map_or((None, None), models::encode);
        let shape = vec![self.rows.len() as u32, self.rows.first().map_or(0, Vec::len) as u32];
        pb::Weights {
            features: Some(self.features.encode()),
            weights: Some(tensor::encode(shape, &self.rows.concat())),
            mlp,
            n_tuple,
        }
    }
}

/// A policy without a kind.
pub(super) fn encode_play(PlayChoice { terminal_value, search }: PlayChoice) -> pb::Policy {
    let terminal_value = terminal_value.map_or(pb::TerminalValue::Unspecified, encode_terminal_value);
    pb::Policy {
        search: search.map(search::encode),
        terminal_value: terminal_value.into(),
        ..Default::default()
    }
}

/// The message for random games per placement.
pub fn encode_monte_carlo(agent: MonteCarlo) -> pb::MonteCarlo {
    pb::MonteCarlo { playouts: agent.playouts(), as_coded: agent.is_as_coded() }
}

/// The message value for the value of a game-ending placement.
pub fn encode_terminal_value(terminal_value: TerminalValue) -> pb::TerminalValue {
    match terminal_value {
        TerminalValue::Avoid => pb::TerminalValue::Avoid,
        TerminalValue::Score => pb::TerminalValue::Score,
    }
}

/// The agent of a message that must be a single policy and score placements.
///
/// # Errors
/// [`DecodeError`] with the fields of `Policy`.
pub fn decode_scoring(message: &pb::Policy, rules: &Rules) -> Result<Agent, DecodeError> {
    let agent = decode_single(message, rules)?;
    if agent.scores_placements() {
        return Ok(agent);
    }
    let (field, name) = match &message.kind {
        Some(Message::Name(name)) => ("name", name.as_str()),
        _ => ("monte_carlo", "monte_carlo"),
    };
    let problem = format!("{name} scores no placements; expected a controller, weights or a formula");
    Err(DecodeError::field(field, problem))
}

/// Reads a policy that is a single one.
///
/// # Errors
/// [`DecodeError`] with the fields of `Policy`, also for several rows of weights.
pub(super) fn decode_single(message: &pb::Policy, rules: &Rules) -> Result<Agent, DecodeError> {
    if let Some(Message::Weights(pb::Weights { weights: Some(weights), .. })) = &message.kind
        && let [rows, _] = weights.shape[..]
        && rows > 1
    {
        return Err(DecodeError::field("weights.weights", format!("has {rows} rows, expected one")));
    }
    let mut policies = Policies::default();
    policies.read_next(message, rules)?;
    Ok(policies.all.swap_remove(0))
}

/// The agent with this name.
fn named_agent(name: &str, play: PlayChoice, rules: &Rules) -> Result<Agent, DecodeError> {
    check_name("name", name)?;
    if name.is_empty() {
        return Err(DecodeError::missing("name"));
    }
    let wrong = |problem: String| DecodeError::field("name", problem);
    if let Some(row) = AgentRow::named(name) {
        refuse_play(name, play)?;
        if !row.agent.plays(rules) {
            return Err(wrong(format!("{name} presses keys: the rules have placements")));
        }
        if matches!(row.agent, Agent::Optimal) {
            optimum::values(rules).map_err(|error| wrong(format!("{name}: {error}")))?;
        }
        return Ok(row.agent.clone());
    }
    let Ok(controller) = Controller::named(name) else { return Err(unknown(name)) };
    let own = controller.play;
    if play.search.is_none() && own.search.pieces_shown() > rules.preview.into() {
        let (least, shown) = (own.search.pieces_shown(), rules.preview);
        return Err(wrong(format!(
            "{name} needs rules that show at least {least} of the next pieces, these show {shown}"
        )));
    }
    let set = controller.features(rules.width).map_err(|error| wrong(error.to_string()))?;
    set.check_pieces(&rules.pieces).map_err(|error| wrong(format!("{name}: {error}")))?;
    let builder = Builder { set, model: None, play: play.or(own) };
    builder.build(controller.weights.to_vec()).map_err(|error| wrong(error.to_string()))
}

fn monte_carlo_agent(agent: MonteCarlo, play: PlayChoice) -> Result<Agent, DecodeError> {
    refuse_play("monte_carlo", play)?;
    let playouts = agent.playouts();
    if playouts > MAX_PLAYOUTS {
        let problem = format!("is {playouts}, expected 1 to {MAX_PLAYOUTS}");
        return Err(DecodeError::field("monte_carlo.playouts", problem));
    }
    Ok(Agent::MonteCarlo(agent))
}

fn formula_agent(text: &str, play: PlayChoice, rules: &Rules) -> Result<Agent, DecodeError> {
    if text.is_empty() {
        return Err(DecodeError::missing("formula.text"));
    }
    let wrong = |problem: String| DecodeError::field("formula.text", problem);
    let Play { terminal_value, search } = play.or(Play::default());
    let agent = match formula::compile(text, rules).map_err(|error| wrong(error.to_string()))? {
        Formula::Weights(set, weights) => {
            let agent = LinearAgent::new(set, weights, terminal_value);
            Agent::searching(agent.map_err(|error| wrong(error.to_string()))?, search)
        }
        Formula::Program(program) => Agent::searching(FormulaAgent::new(program, terminal_value), search),
    };
    check_work(&agent, rules, "formula").map(|()| agent)
}

/// Refuses settings that apply only to policies that score placements.
fn refuse_play(name: &str, play: PlayChoice) -> Result<(), DecodeError> {
    let field = match play {
        PlayChoice { search: Some(_), .. } => "search",
        PlayChoice { terminal_value: Some(_), .. } => "terminal_value",
        PlayChoice { search: None, terminal_value: None } => return Ok(()),
    };
    let problem = format!(
        "is given for {name}, which scores no placements; expected a controller, weights or a formula"
    );
    Err(DecodeError::field(field, problem))
}

/// The error for an unknown policy name.
pub fn unknown(name: &str) -> DecodeError {
    let agents = AGENTS.iter().map(|row| row.name);
    let known = CONTROLLERS.iter().map(|controller| controller.name).chain(agents);
    DecodeError::invalid(Fault::UnknownName, "name", names::unknown("policy", name, known))
}

/// Creates agents from rows of weights.
#[derive(Debug)]
struct Builder {
    set: FeatureSet,
    model: Option<Arc<ModelShape>>,
    play: Play,
}

impl Builder {
    fn build(&self, weights: Vec<f64>) -> Result<Agent, WeightError> {
        let Builder { set, model, play } = self;
        let agent = LinearAgent::with_model(set.clone(), model.clone(), weights, play.terminal_value)?;
        Ok(Agent::searching(agent, play.search))
    }

    fn num_parameters(&self) -> usize {
        self.model.as_ref().map_or(0, |model| model.num_parameters(self.set.len()))
    }
}

/// The policies of a request as far as they have been read, and their description in the answer.
#[derive(Debug, Default)]
pub(super) struct Policies {
    pub all: Vec<Agent>,
    pub entries: Vec<pb::EvaluatedPolicy>,
    /// Number of parameters of all models.
    num_parameters: u64,
    /// The weights of the next message, if some of their rows have been read.
    table: Option<WeightTable>,
}

/// Rows of weights, to read one by one: all doubles at once would take twice the memory of the request.
#[derive(Debug)]
struct WeightTable {
    builder: Builder,
    numbers: WeightNumbers,
    columns: usize,
    next: usize,
}

#[derive(Debug)]
enum WeightNumbers {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// Bytes of text that take as long to read as the fixed part of a policy.
pub const POLICY_BYTES: usize = 250;

impl Policies {
    /// Reads the next policies, about as many as take the time of `max_bytes` of text, which are at least 1. Rows of weights
    /// become one policy each. Returns whether there are more.
    pub fn read_some(
        &mut self,
        messages: &[pb::Policy],
        rules: &Rules,
        max_bytes: usize,
    ) -> Result<bool, DecodeError> {
        if messages.is_empty() {
            return Err(DecodeError::missing("policies"));
        }
        let mut bytes = 0;
        while bytes < max_bytes
            && let Some(message) = messages.get(self.entries.len())
        {
            bytes += POLICY_BYTES + self.read_next(message, rules).in_item("policies", self.entries.len())?;
        }
        Ok(self.entries.len() < messages.len())
    }

    /// Reads a message, or a row of its weights. Returns the number of bytes.
    fn read_next(&mut self, message: &pb::Policy, rules: &Rules) -> Result<usize, DecodeError> {
        if let Some(table) = self.table.take() {
            return self.read_row(message, table, rules);
        }
        check_name("label", &message.label)?;
        let play = decode_play(message, rules)?;
        let (agent, kind) = match &message.kind {
            None => {
                let problem = "has no kind, expected name, weights, monte_carlo or formula";
                return Err(DecodeError::field("", problem));
            }
            Some(Message::Name(name)) => (named_agent(name, play, rules)?, Message::Name(name.clone())),
            Some(Message::MonteCarlo(message)) => {
                let agent = decode_monte_carlo(message);
                (monte_carlo_agent(agent, play)?, Message::MonteCarlo(encode_monte_carlo(agent)))
            }
            Some(Message::Formula(message)) => {
                (formula_agent(&message.text, play, rules)?, Message::Formula(pb::Formula::default()))
            }
            Some(Message::Weights(weights)) => {
                let table = WeightTable::decode(weights, play, rules).in_field("weights")?;
                return self.read_row(message, table, rules);
            }
        };
        self.push(agent)?;
        self.describe(message, kind, 1);
        Ok(message.encoded_len())
    }

    fn read_row(
        &mut self,
        message: &pb::Policy,
        mut table: WeightTable,
        rules: &Rules,
    ) -> Result<usize, DecodeError> {
        let agent = table.next_agent().in_field("weights.weights")?;
        // All rows take the same.
        if table.next == 1 {
            check_work(&agent, rules, "weights")?;
        }
        self.push(agent).in_field("weights.weights")?;
        let columns = table.columns;
        if table.next < table.num_rows() {
            self.table = Some(table);
        } else {
            self.describe(message, table.kind(), table.next as u32);
        }
        Ok(columns * size_of::<f64>())
    }

    /// Describes a message whose policies have been added.
    fn describe(&mut self, message: &pb::Policy, kind: Message, num_rows: u32) {
        let agent = self.all.last().expect("it has been added");
        let play = PlayChoice { search: agent.search(), terminal_value: agent.terminal_value() };
        let policy = pb::Policy { label: message.label.clone(), kind: Some(kind), ..encode_play(play) };
        self.entries.push(pb::EvaluatedPolicy { policy: Some(policy), num_rows });
    }

    /// Adds a policy, unless the request then has too many policies or parameters.
    fn push(&mut self, agent: Agent) -> Result<(), DecodeError> {
        if self.all.len() == MAX_POLICIES as usize {
            let problem = format!("brings the request to more than {MAX_POLICIES} policies");
            return Err(DecodeError::field("", problem));
        }
        let model = agent.controller().and_then(LinearAgent::model);
        self.num_parameters += model.map_or(0, |model| model.parameters().len() as u64);
        if self.num_parameters > MAX_REQUEST_PARAMETERS.into() {
            let problem = format!(
                "brings the request to {} parameters of models, expected at most {MAX_REQUEST_PARAMETERS}",
                self.num_parameters
            );
            return Err(DecodeError::field("", problem));
        }
        self.all.push(agent);
        Ok(())
    }
}

impl WeightTable {
    fn decode(message: &pb::Weights, play: PlayChoice, rules: &Rules) -> Result<WeightTable, DecodeError> {
        let set = features::decode(message.features.as_ref(), rules).in_field("features")?;
        let set = set.ok_or_else(|| DecodeError::missing("features"))?;
        let model = models::decode(message.mlp.as_ref(), message.n_tuple.as_ref(), set.len(), rules)?;
        let builder = Builder { set, model: model.map(Arc::new), play: play.or(Play::default()) };
        let weights = message.weights.as_ref().ok_or_else(|| DecodeError::missing("weights"))?;
        let columns = builder.set.len() + builder.num_parameters();
        let numbers = || {
            check_columns(weights, builder.set.len(), builder.num_parameters())?;
            let row = DimSize::Exactly(columns as u32);
            let dims = if weights.shape.len() == 1 { &[row][..] } else { &[DimSize::Any, row] };
            Ok(match weights.dtype() {
                pb::DataType::Float32 => WeightNumbers::Single(tensor::decode(weights, dims)?.elements),
                _ => WeightNumbers::Double(tensor::decode(weights, dims)?.elements),
            })
        };
        let table = WeightTable { numbers: numbers().in_field("weights")?, columns, next: 0, builder };
        if table.num_rows() == 0 {
            return Err(DecodeError::invalid(Fault::Tensor, "weights", "has no rows, expected at least one"));
        }
        Ok(table)
    }

    fn num_rows(&self) -> usize {
        let count = match &self.numbers {
            WeightNumbers::Single(numbers) => numbers.len(),
            WeightNumbers::Double(numbers) => numbers.len(),
        };
        count / self.columns
    }

    fn next_agent(&mut self) -> Result<Agent, DecodeError> {
        let (row, columns) = (self.next, self.next * self.columns..(self.next + 1) * self.columns);
        self.next += 1;
        let weights = match &self.numbers {
            WeightNumbers::Single(numbers) => numbers[columns].iter().map(|&weight| weight.into()).collect(),
            WeightNumbers::Double(numbers) => numbers[columns].to_vec(),
        };
        let wrong = |error| DecodeError::invalid(Fault::Tensor, "", format!("row {row}: {error}"));
        self.builder.build(weights).map_err(wrong)
    }

    /// The weights without their numbers.
    fn kind(&self) -> Message {
        let (mlp, n_tuple) = self.builder.model.as_deref().map_or((None, None), models::encode);
        let features = Some(features::encode(&self.builder.set));
        Message::Weights(pb::Weights { features, weights: None, mlp, n_tuple })
    }
}

/// Refuses a model or a formula that is too large for the number of evaluations per choice.
fn check_work(agent: &Agent, rules: &Rules, field: &str) -> Result<(), DecodeError> {
    let work = agent.cost(rules);
    let is_plain = agent.controller().is_some_and(|agent| agent.model().is_none());
    if work <= MAX_MODEL_WORK || is_plain {
        return Ok(());
    }
    let smaller = if field == "formula" { "shorter formula" } else { "smaller model" };
    let problem = format!(
        "takes the time of {work} pieces to score one placement, expected at most {MAX_MODEL_WORK}: look at fewer \
         placements or pieces, or take a {smaller}"
    );
    Err(DecodeError::field(field, problem))
}

/// Refuses a wrong number of columns for weights with a model, and explains the expected number.
fn check_columns(weights: &pb::Tensor, features: usize, parameters: usize) -> Result<(), DecodeError> {
    let columns = features + parameters;
    let problem = match weights.shape[..] {
        _ if parameters == 0 => return Ok(()),
        [given] | [_, given] if given as usize != columns => format!("has {given} columns"),
        [] if !weights.values.len().is_multiple_of(columns) => format!("has {} values", weights.values.len()),
        _ => return Ok(()),
    };
    let problem = format!("{problem}, expected {}", expected_weights(features, parameters));
    Err(DecodeError::invalid(Fault::Tensor, "", problem))
}

fn decode_monte_carlo(message: &pb::MonteCarlo) -> MonteCarlo {
    let playouts = if message.playouts == 0 { MonteCarlo::DEFAULT_PLAYOUTS } else { message.playouts };
    let agent = if message.as_coded { MonteCarlo::as_coded } else { MonteCarlo::new };
    agent(playouts)
}

/// Reads how a policy plays. What the message leaves out is `None`.
pub(super) fn decode_play(message: &pb::Policy, rules: &Rules) -> Result<PlayChoice, DecodeError> {
    let search = message.search.as_ref().map(|message| search::decode(message, rules)).transpose();
    let terminal_value = decode_terminal_value(message.terminal_value);
    Ok(PlayChoice { search: search.in_field("search")?, terminal_value: terminal_value? })
}

fn decode_terminal_value(number: i32) -> Result<Option<TerminalValue>, DecodeError> {
    match pb::TerminalValue::try_from(number) {
        Ok(pb::TerminalValue::Unspecified) => Ok(None),
        Ok(pb::TerminalValue::Avoid) => Ok(Some(TerminalValue::Avoid)),
        Ok(pb::TerminalValue::Score) => Ok(Some(TerminalValue::Score)),
        Err(_) => Err(DecodeError::without_a_meaning("terminal_value", number)),
    }
}
