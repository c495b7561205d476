//! The policies of an evaluation: the rows of a weight matrix, and named agents with their parameters.

use std::sync::Arc;

use crate::agents::{
    AGENTS, Agent, AgentError, AgentRow, CONTROLLER_PARAMETERS, CONTROLLERS, Controller, LINEAR, LinearAgent,
    ModelShape, MonteCarlo, Parameter, Parameters, TerminalPolicy, WeightError, expected_weights,
};
use crate::engine::Rules;
use crate::features::FeatureSet;
use crate::names;

use super::error::{DecodeError, Fault, InField};
use super::limits::{
    MAX_LOOKAHEAD, MAX_MODEL_WORK, MAX_PLAYOUTS, MAX_POLICIES, MAX_REQUEST_PARAMETERS, check_name,
};
use super::pb;
use super::tensor::{self, Dim, Element};
use super::{expectation, features, models};

/// The policies of a request, and how the answer reports them.
pub(super) struct Policies {
    pub all: Vec<Agent>,
    /// The columns of the matrix.
    pub features: Option<FeatureSet>,
    /// How the rows of the matrix score placements that end the game.
    pub terminal: pb::TerminalScore,
    /// Model that the matrix adds to its weighted sums.
    pub model: Option<Arc<ModelShape>>,
    /// The agents with all their parameters filled in.
    pub named: Vec<pb::Agent>,
    /// Parameters of all models.
    num_parameters: u64,
}

impl Policies {
    pub fn decode(request: &pb::EvaluatePoliciesRequest, rules: &Rules) -> Result<Policies, DecodeError> {
        let mut policies = Policies {
            all: Vec::new(),
            features: None,
            terminal: pb::TerminalScore::Unspecified,
            model: None,
            named: Vec::new(),
            num_parameters: 0,
        };
        if request.agents.len() > MAX_POLICIES as usize {
            let problem = format!("has {} agents, expected at most {MAX_POLICIES}", request.agents.len());
            return Err(DecodeError::field("agents", problem));
        }
        if let Some(matrix) = &request.weights {
            policies
                .add_matrix(matrix, rules, MAX_POLICIES as usize - request.agents.len())
                .in_field("weights")?;
            // All rows take the same.
            check_work(&policies.all[0], rules).in_field("weights")?;
        }
        for (i, agent) in request.agents.iter().enumerate() {
            let (agent, echo) = decode_agent(agent, rules).in_item("agents", i)?;
            policies.count_parameters(&agent).in_item("agents", i)?;
            check_work(&agent, rules).in_item("agents", i)?;
            policies.all.push(agent);
            policies.named.push(echo);
        }
        if policies.all.is_empty() {
            return Err(DecodeError::field(
                "agents",
                "is empty and there is no weight matrix, expected a policy",
            ));
        }
        Ok(policies)
    }

    fn add_matrix(
        &mut self,
        matrix: &pb::WeightMatrix,
        rules: &Rules,
        room: usize,
    ) -> Result<(), DecodeError> {
        let set = features::decode(matrix.features.as_ref(), rules).in_field("features")?;
        let set = set.ok_or_else(|| DecodeError::missing("features"))?;
        let terminal = decode_terminal(matrix.terminal)?.unwrap_or(TerminalPolicy::Avoid);
        check_lookahead(matrix.lookahead, rules)?;
        let expectation = expectation::decode(matrix.expectation.as_ref(), rules, matrix.lookahead)?;
        let model = models::decode(matrix.mlp.as_ref(), matrix.n_tuple.as_ref(), set.len(), rules)?;
        let weights = matrix.weights.as_ref().ok_or_else(|| DecodeError::missing("weights"))?;
        let build = |weights: Vec<f64>| {
            let agent = LinearAgent::with_model(set.clone(), model.clone(), weights, terminal)?;
            Ok(Agent::linear(agent, matrix.lookahead, expectation))
        };
        let parameters = model.as_ref().map_or(0, |model| model.num_parameters(set.len()));
        check_columns(weights, set.len(), parameters).in_field("weights")?;
        let columns = set.len() + parameters;
        if weights.dtype() == pb::DataType::Float32 {
            self.add_rows::<f32>(weights, columns, room, build).in_field("weights")?;
        } else {
            self.add_rows::<f64>(weights, columns, room, build).in_field("weights")?;
        }
        self.features = Some(set);
        self.terminal = encode_terminal(terminal);
        self.model = model;
        Ok(())
    }

    /// Adds a policy for each row. Rows become doubles one at a time: all at once would take twice the request.
    fn add_rows<T: Element + Into<f64>>(
        &mut self,
        tensor: &pb::Tensor,
        columns: usize,
        room: usize,
        build: impl Fn(Vec<f64>) -> Result<Agent, WeightError>,
    ) -> Result<(), DecodeError> {
        let weights = tensor::decode::<T>(tensor, &[Dim::Any, Dim::Exactly(columns as u32)])?.elements;
        let rows = weights.len() / columns;
        if rows == 0 {
            return Err(DecodeError::invalid(Fault::Tensor, "", "has no rows, expected at least one"));
        }
        if rows > room {
            let problem = format!("has {rows} rows, expected at most {room} beside the agents");
            return Err(DecodeError::field("", problem));
        }
        for (row, weights) in weights.chunks_exact(columns).enumerate() {
            let agent = build(weights.iter().map(|&weight| weight.into()).collect())
                .map_err(|error| DecodeError::invalid(Fault::Tensor, "", format!("row {row}: {error}")))?;
            self.count_parameters(&agent)?;
            self.all.push(agent);
        }
        Ok(())
    }

    /// Counts the parameters of a policy's model.
    fn count_parameters(&mut self, agent: &Agent) -> Result<(), DecodeError> {
        let model = agent.controller().and_then(LinearAgent::model);
        self.num_parameters += model.map_or(0, |model| model.parameters().len() as u64);
        if self.num_parameters <= MAX_REQUEST_PARAMETERS.into() {
            return Ok(());
        }
        let problem = format!(
            "brings the request to {} parameters of models, expected at most {MAX_REQUEST_PARAMETERS}",
            self.num_parameters
        );
        Err(DecodeError::field("", problem))
    }
}

/// Refuses a model that is too large for what its agent evaluates.
fn check_work(agent: &Agent, rules: &Rules) -> Result<(), DecodeError> {
    let work = agent.cost(rules);
    if work <= MAX_MODEL_WORK || agent.controller().and_then(LinearAgent::model).is_none() {
        return Ok(());
    }
    let problem = format!(
        "takes the time of {work} pieces to weigh one placement, expected at most {MAX_MODEL_WORK}: look at fewer \
         placements or pieces, or take a smaller model"
    );
    Err(DecodeError::field("", problem))
}

/// Refuses a matrix with a model and a wrong number of columns, and explains the number.
fn check_columns(weights: &pb::Tensor, features: usize, parameters: usize) -> Result<(), DecodeError> {
    let columns = features + parameters;
    let problem = match weights.shape[..] {
        _ if parameters == 0 => return Ok(()),
        [_, given] if given as usize != columns => format!("has {given} columns"),
        [] if !weights.values.len().is_multiple_of(columns) => format!("has {} values", weights.values.len()),
        _ => return Ok(()),
    };
    let problem = format!("{problem}, expected {}", expected_weights(features, parameters));
    Err(DecodeError::invalid(Fault::Tensor, "", problem))
}

/// Reads an agent; also returns its message with every parameter filled in.
fn decode_agent(message: &pb::Agent, rules: &Rules) -> Result<(Agent, pb::Agent), DecodeError> {
    let name = message.name.as_str();
    check_name("name", name)?;
    check_name("label", &message.label)?;
    if name.is_empty() {
        return Err(DecodeError::missing("name"));
    }
    let (row, taken, controller) = match (AgentRow::named(name), Controller::named(name)) {
        (Some(row), _) => (row, row.parameters, None),
        (None, Ok(controller)) => (&LINEAR, CONTROLLER_PARAMETERS, Some(controller)),
        (None, Err(_)) => return Err(unknown(name)),
    };
    refuse_what_is_not_taken(message, taken)?;
    let parameters = decode_parameters(message, rules, controller)?;
    let mut echo = pb::Agent { name: name.to_owned(), label: message.label.clone(), ..Default::default() };
    for parameter in row.parameters {
        match parameter {
            Parameter::Features => echo.features = parameters.features.as_ref().map(features::encode),
            Parameter::Weights => echo.weights.clone_from(&parameters.weights),
            Parameter::Mlp | Parameter::NTuple | Parameter::MlpTables => {
                if let Some(model) = &parameters.model {
                    (echo.mlp, echo.n_tuple) = models::encode(model);
                }
            }
            Parameter::Lookahead => echo.lookahead = Some(parameters.lookahead),
            Parameter::Expectation => {
                echo.expectation = parameters.expectation.as_ref().map(expectation::encode)
            }
            Parameter::Terminal => echo.terminal = encode_terminal(parameters.terminal).into(),
            Parameter::Playouts => echo.playouts = Some(parameters.playouts),
        }
    }
    let agent = (row.build)(parameters).map_err(|error| match error {
        AgentError::Missing(parameter) => DecodeError::missing(parameter.name()),
        AgentError::Weights(error) => DecodeError::field("weights", error.to_string()),
        AgentError::Controller(error) => DecodeError::field("name", error.to_string()),
    })?;
    if let Agent::Expectation(agent) = &agent {
        echo.expectation = Some(expectation::encode(agent.expectation()));
    }
    if !agent.plays(rules) {
        let problem = format!("{name} presses keys: the rules have placements");
        return Err(DecodeError::field("name", problem));
    }
    Ok((agent, echo))
}

/// Fills in the defaults; for a named controller, its features and weights too.
fn decode_parameters(
    message: &pb::Agent,
    rules: &Rules,
    controller: Option<&Controller>,
) -> Result<Parameters, DecodeError> {
    let lookahead = message.lookahead.unwrap_or(0);
    check_lookahead(lookahead, rules)?;
    let mut expectation = expectation::decode(message.expectation.as_ref(), rules, lookahead)?;
    if let (None, None, Some(own)) =
        (expectation, message.lookahead, controller.and_then(|controller| controller.expectation))
    {
        if own.pieces_shown() > rules.preview {
            let problem = format!(
                "{} takes {} pieces after the current one into account, expected rules that show at least {} of them",
                message.name,
                own.pieces,
                own.pieces_shown()
            );
            return Err(DecodeError::field("name", problem));
        }
        expectation = Some(own);
    }
    let terminal = decode_terminal(message.terminal)?;
    let (features, weights, default_terminal) = match controller {
        None => {
            let set = features::decode(message.features.as_ref(), rules).in_field("features")?;
            (set, message.weights.clone(), TerminalPolicy::Avoid)
        }
        Some(controller) => {
            let set = controller.features(rules.width);
            let set = set.map_err(|error| DecodeError::field("name", error.to_string()))?;
            set.check_pieces(&rules.pieces)
                .map_err(|error| DecodeError::field("name", format!("{}: {error}", controller.name)))?;
            (Some(set), controller.weights.to_vec(), controller.terminal)
        }
    };
    let num_features = features.as_ref().map_or(0, FeatureSet::len);
    Ok(Parameters {
        width: rules.width,
        features,
        weights,
        model: models::decode(message.mlp.as_ref(), message.n_tuple.as_ref(), num_features, rules)?,
        lookahead,
        expectation,
        terminal: terminal.unwrap_or(default_terminal),
        playouts: decode_playouts(message.playouts)?,
    })
}

fn unknown(name: &str) -> DecodeError {
    let agents = AGENTS.iter().map(|row| row.name);
    let known = agents.chain(CONTROLLERS.iter().map(|controller| controller.name));
    DecodeError::invalid(Fault::UnknownName, "name", names::unknown("agent or controller", name, known))
}

fn refuse_what_is_not_taken(message: &pb::Agent, taken: &[Parameter]) -> Result<(), DecodeError> {
    let given = [
        (Parameter::Playouts, message.playouts.is_some()),
        (Parameter::Lookahead, message.lookahead.is_some()),
        (Parameter::Expectation, message.expectation.is_some()),
        (Parameter::Terminal, message.terminal != pb::TerminalScore::Unspecified as i32),
        (Parameter::Features, message.features.is_some()),
        (Parameter::Weights, !message.weights.is_empty()),
        (Parameter::Mlp, message.mlp.is_some()),
        (Parameter::NTuple, message.n_tuple.is_some()),
    ];
    let taken = |name| taken.iter().any(|parameter| parameter.name() == name);
    match given.iter().find(|(parameter, given)| *given && !taken(parameter.name())) {
        Some((parameter, _)) => {
            let problem = format!("is not a parameter of the agent {}", message.name);
            Err(DecodeError::field(parameter.name(), problem))
        }
        None => Ok(()),
    }
}

fn decode_playouts(playouts: Option<u32>) -> Result<u32, DecodeError> {
    match playouts.unwrap_or(MonteCarlo::DEFAULT_PLAYOUTS) {
        playouts if (1..=MAX_PLAYOUTS).contains(&playouts) => Ok(playouts),
        playouts => {
            Err(DecodeError::field("playouts", format!("is {playouts}, expected 1 to {MAX_PLAYOUTS}")))
        }
    }
}

fn check_lookahead(lookahead: u32, rules: &Rules) -> Result<(), DecodeError> {
    let wrong = |problem: String| Err(DecodeError::field("lookahead", problem));
    if lookahead > MAX_LOOKAHEAD {
        return wrong(format!("is {lookahead}, expected at most {MAX_LOOKAHEAD}"));
    }
    if lookahead > rules.preview.into() {
        return wrong(format!("is {lookahead}, expected at most the {} next pieces shown", rules.preview));
    }
    Ok(())
}

fn decode_terminal(number: i32) -> Result<Option<TerminalPolicy>, DecodeError> {
    match pb::TerminalScore::try_from(number) {
        Ok(pb::TerminalScore::Unspecified) => Ok(None),
        Ok(pb::TerminalScore::Avoid) => Ok(Some(TerminalPolicy::Avoid)),
        Ok(pb::TerminalScore::Score) => Ok(Some(TerminalPolicy::Score)),
        Err(_) => Err(DecodeError::without_a_meaning("terminal", number)),
    }
}

/// The message value for the score of a placement that ends the game.
pub fn encode_terminal(terminal: TerminalPolicy) -> pb::TerminalScore {
    match terminal {
        TerminalPolicy::Avoid => pb::TerminalScore::Avoid,
        TerminalPolicy::Score => pb::TerminalScore::Score,
    }
}
