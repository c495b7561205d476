//! The policies of an evaluation: the rows of a weight matrix, and named agents with their parameters.

use std::sync::Arc;

use crate::agents::{
    AGENTS, Agent, AgentError, AgentRow, CONTROLLER_PARAMETERS, CONTROLLERS, Controller, LINEAR, LinearAgent,
    ModelShape, MonteCarlo, Parameter, Parameters, Search, WeightError, expected_weights,
};
pub use crate::agents::{Play, PlayChoice, TerminalValue};
use crate::engine::Rules;
use crate::features::FeatureSet;
use crate::names;

use super::error::{DecodeError, Fault, InField};
use super::features::Features;
use super::limits::{MAX_MODEL_WORK, MAX_PLAYOUTS, MAX_POLICIES, MAX_REQUEST_PARAMETERS, check_name};
use super::pb;
use super::search::{self, encode_search};
use super::tensor::{self, Dim, Element};
use super::{features, models};

/// A named agent or controller, with the parameters that a caller chose; the others are its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedPolicy {
    /// Name of the agent or controller.
    pub name: String,
    /// Random games per placement, for agents that play them.
    pub playouts: Option<u32>,
    /// How a controller plays.
    pub play: PlayChoice,
}

/// Controllers as rows of weights over the same features.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedPolicies {
    /// The features of the weights.
    pub features: Features,
    /// One signed weight per feature, then the parameters of the model; all rows of one length.
    pub rows: Vec<Vec<f64>>,
    /// Model that is added to the weighted sums.
    pub model: Option<ModelShape>,
    /// How the controllers play.
    pub play: Play,
}

impl NamedPolicy {
    /// The policy of a name, with its own parameters.
    pub fn new(name: &str) -> NamedPolicy {
        NamedPolicy { name: name.to_owned(), ..NamedPolicy::default() }
    }

    /// The agent that plays under these rules.
    ///
    /// # Errors
    /// [`DecodeError`] with the fields of `Agent`: an unknown name, one that needs weights, a parameter that the agent does
    /// not take or that is out of range, or rules that it cannot play.
    pub fn agent(&self, rules: &Rules) -> Result<Agent, DecodeError> {
        let found = Named::find(&self.name)?;
        self.refuse_what_is_not_taken(&found)?;
        if let Some(needed) =
            found.row.parameters.iter().find(|parameter| parameter.default_value().is_empty())
            && found.controller.is_none()
        {
            return Err(DecodeError::missing(needed.name()));
        }
        if let Some(search) = &self.play.search {
            search::check(search, rules)?;
        }
        found.build(self.parameters(&found, rules)?, rules)
    }

    /// The policy as a message.
    pub fn encode(&self) -> pb::Agent {
        let (lookahead, expectation) = self.play.search.map_or((None, None), |search| {
            let (lookahead, expectation) = encode_search(search);
            (Some(lookahead).filter(|_| expectation.is_none()), expectation)
        });
        pb::Agent {
            name: self.name.clone(),
            playouts: self.playouts,
            lookahead,
            expectation,
            terminal_value: self
                .play
                .terminal_value
                .map_or(pb::TerminalValue::Unspecified, encode_terminal_value)
                .into(),
            ..Default::default()
        }
    }

    /// Reads the name and the parameters that named agents take, and checks the search.
    fn decode(message: &pb::Agent, rules: &Rules) -> Result<NamedPolicy, DecodeError> {
        let search = search::decode_search(message.lookahead, message.expectation.as_ref(), rules)?;
        let play = PlayChoice { terminal_value: decode_terminal_value(message.terminal_value)?, search };
        Ok(NamedPolicy { name: message.name.clone(), playouts: message.playouts, play })
    }

    fn refuse_what_is_not_taken(&self, found: &Named) -> Result<(), DecodeError> {
        let search = match self.play.search {
            None => None,
            Some(Search::Greedy | Search::Lookahead(_)) => Some(Parameter::Lookahead),
            Some(Search::Expectation(_)) => Some(Parameter::Expectation),
        };
        let terminal_value = self.play.terminal_value.map(|_| Parameter::TerminalValue);
        let playouts = self.playouts.map(|_| Parameter::Playouts);
        found.check_taken(&self.name, [playouts, search, terminal_value].into_iter().flatten())
    }

    /// Fills in the defaults; for a named controller, its features and weights too.
    fn parameters(&self, found: &Named, rules: &Rules) -> Result<Parameters, DecodeError> {
        let own = found.controller.map_or(Play::default(), |controller| controller.play);
        let (features, weights) = match found.controller {
            None => (None, Vec::new()),
            Some(controller) => {
                let set = controller.features(rules.width);
                let set = set.map_err(|error| DecodeError::field("name", error.to_string()))?;
                set.check_pieces(&rules.pieces)
                    .map_err(|error| DecodeError::field("name", format!("{}: {error}", controller.name)))?;
                (Some(set), controller.weights.to_vec())
            }
        };
        if self.play.search.is_none() && own.search.pieces_shown() > rules.preview.into() {
            let problem = format!(
                "{} needs rules that show at least {} of the next pieces, these show {}",
                self.name,
                own.search.pieces_shown(),
                rules.preview
            );
            return Err(DecodeError::field("name", problem));
        }
        Ok(Parameters {
            width: rules.width,
            features,
            weights,
            model: None,
            play: self.play.or(own),
            playouts: decode_playouts(self.playouts)?,
        })
    }
}

impl WeightedPolicies {
    /// The agents that play under these rules, one per row.
    ///
    /// # Errors
    /// [`DecodeError`] with the fields of `WeightMatrix`.
    pub fn agents(self, rules: &Rules) -> Result<Vec<Agent>, DecodeError> {
        let set = self.features.resolve(rules).in_field("features")?;
        let set = set.ok_or_else(|| DecodeError::missing("features"))?;
        search::check(&self.play.search, rules)?;
        let (mlp, n_tuple) = self.model.as_ref().map_or((None, None), models::encode);
        let model = models::decode(mlp.as_ref(), n_tuple.as_ref(), set.len(), rules)?;
        let build = |weights| {
            let agent =
                LinearAgent::with_model(set.clone(), model.clone(), weights, self.play.terminal_value);
            let agent = agent.map_err(|error| DecodeError::field("weights", error.to_string()))?;
            let agent = Agent::linear(agent, self.play.search);
            check_work(&agent, rules).map(|()| agent)
        };
        self.rows.into_iter().map(build).collect()
    }

    /// The policies as a message.
    pub fn encode(&self) -> pb::WeightMatrix {
        let (mlp, n_tuple) = self.model.as_ref().map_or((None, None), models::encode);
        let shape = vec![self.rows.len() as u32, self.rows.first().map_or(0, Vec::len) as u32];
        let (lookahead, expectation) = encode_search(self.play.search);
        pb::WeightMatrix {
            features: Some(self.features.encode()),
            weights: Some(tensor::encode(shape, &self.rows.concat())),
            terminal_value: encode_terminal_value(self.play.terminal_value).into(),
            lookahead,
            expectation,
            mlp,
            n_tuple,
        }
    }
}

/// What a name stands for: a row of the table of agents, or a controller.
struct Named {
    row: &'static AgentRow,
    controller: Option<&'static Controller>,
}

impl Named {
    fn find(name: &str) -> Result<Named, DecodeError> {
        check_name("name", name)?;
        if name.is_empty() {
            return Err(DecodeError::missing("name"));
        }
        match (AgentRow::named(name), Controller::named(name)) {
            (Some(row), _) => Ok(Named { row, controller: None }),
            (None, Ok(controller)) => Ok(Named { row: &LINEAR, controller: Some(controller) }),
            (None, Err(_)) => Err(unknown(name)),
        }
    }

    /// Refuses the first parameter that the agent does not take.
    fn check_taken(&self, name: &str, mut given: impl Iterator<Item = Parameter>) -> Result<(), DecodeError> {
        let taken = if self.controller.is_some() { CONTROLLER_PARAMETERS } else { self.row.parameters };
        let takes = |given: &Parameter| taken.iter().any(|parameter| parameter.name() == given.name());
        match given.find(|parameter| !takes(parameter)) {
            Some(parameter) => {
                Err(DecodeError::field(parameter.name(), format!("is not a parameter of the agent {name}")))
            }
            None => Ok(()),
        }
    }

    fn build(&self, parameters: Parameters, rules: &Rules) -> Result<Agent, DecodeError> {
        let agent = (self.row.build)(parameters).map_err(|error| match error {
            AgentError::Missing(parameter) => DecodeError::missing(parameter.name()),
            AgentError::Weights(error) => DecodeError::field("weights", error.to_string()),
            AgentError::Controller(error) => DecodeError::field("name", error.to_string()),
        })?;
        if !agent.plays(rules) {
            let problem = format!("{} presses keys: the rules have placements", self.row.name);
            return Err(DecodeError::field("name", problem));
        }
        Ok(agent)
    }
}

/// The policies of a request, and how the answer reports them.
pub(super) struct Policies {
    pub all: Vec<Agent>,
    /// The columns of the matrix.
    pub features: Option<FeatureSet>,
    /// How the rows of the matrix score placements that end the game.
    pub terminal_value: pb::TerminalValue,
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
            terminal_value: pb::TerminalValue::Unspecified,
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
        let terminal_value = decode_terminal_value(matrix.terminal_value)?.unwrap_or(TerminalValue::Avoid);
        let lookahead = Some(matrix.lookahead);
        let search =
            search::decode_search(lookahead, matrix.expectation.as_ref(), rules)?.unwrap_or_default();
        let model = models::decode(matrix.mlp.as_ref(), matrix.n_tuple.as_ref(), set.len(), rules)?;
        let weights = matrix.weights.as_ref().ok_or_else(|| DecodeError::missing("weights"))?;
        let build = |weights: Vec<f64>| {
            let agent = LinearAgent::with_model(set.clone(), model.clone(), weights, terminal_value)?;
            Ok(Agent::linear(agent, search))
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
        self.terminal_value = encode_terminal_value(terminal_value);
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
            let problem = format!("has {rows} rows, expected at most {room} in addition to the agents");
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
        "takes the time of {work} pieces to score one placement, expected at most {MAX_MODEL_WORK}: look at fewer \
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
    let found = Named::find(&message.name)?;
    check_name("label", &message.label)?;
    let given = [
        (Parameter::Playouts, message.playouts.is_some()),
        (Parameter::Lookahead, message.lookahead.is_some()),
        (Parameter::Expectation, message.expectation.is_some()),
        (Parameter::TerminalValue, message.terminal_value != pb::TerminalValue::Unspecified as i32),
        (Parameter::Features, message.features.is_some()),
        (Parameter::Weights, !message.weights.is_empty()),
        (Parameter::Mlp, message.mlp.is_some()),
        (Parameter::NTuple, message.n_tuple.is_some()),
    ];
    let given = given.into_iter().filter_map(|(parameter, given)| given.then_some(parameter));
    found.check_taken(&message.name, given)?;
    let mut parameters = NamedPolicy::decode(message, rules)?.parameters(&found, rules)?;
    if found.controller.is_none() {
        parameters.features = features::decode(message.features.as_ref(), rules).in_field("features")?;
        parameters.weights.clone_from(&message.weights);
        let num_features = parameters.features.as_ref().map_or(0, FeatureSet::len);
        parameters.model =
            models::decode(message.mlp.as_ref(), message.n_tuple.as_ref(), num_features, rules)?;
    }
    let mut echo =
        pb::Agent { name: message.name.clone(), label: message.label.clone(), ..Default::default() };
    for parameter in found.row.parameters {
        match parameter {
            Parameter::Features => echo.features = parameters.features.as_ref().map(features::encode),
            Parameter::Weights => echo.weights.clone_from(&parameters.weights),
            Parameter::Mlp | Parameter::NTuple | Parameter::MlpTables => {
                if let Some(model) = &parameters.model {
                    (echo.mlp, echo.n_tuple) = models::encode(model);
                }
            }
            Parameter::Lookahead => echo.lookahead = Some(encode_search(parameters.play.search).0),
            Parameter::Expectation => {} // from the agent, which has a default
            Parameter::TerminalValue => {
                echo.terminal_value = encode_terminal_value(parameters.play.terminal_value).into()
            }
            Parameter::Playouts => echo.playouts = Some(parameters.playouts),
        }
    }
    let agent = found.build(parameters, rules)?;
    echo.expectation = agent.search().and_then(|search| encode_search(search).1);
    Ok((agent, echo))
}

fn unknown(name: &str) -> DecodeError {
    let agents = AGENTS.iter().map(|row| row.name);
    let known = agents.chain(CONTROLLERS.iter().map(|controller| controller.name));
    DecodeError::invalid(Fault::UnknownName, "name", names::unknown("agent or controller", name, known))
}

fn decode_playouts(playouts: Option<u32>) -> Result<u32, DecodeError> {
    match playouts.unwrap_or(MonteCarlo::DEFAULT_PLAYOUTS) {
        playouts if (1..=MAX_PLAYOUTS).contains(&playouts) => Ok(playouts),
        playouts => {
            Err(DecodeError::field("playouts", format!("is {playouts}, expected 1 to {MAX_PLAYOUTS}")))
        }
    }
}

fn decode_terminal_value(number: i32) -> Result<Option<TerminalValue>, DecodeError> {
    match pb::TerminalValue::try_from(number) {
        Ok(pb::TerminalValue::Unspecified) => Ok(None),
        Ok(pb::TerminalValue::Avoid) => Ok(Some(TerminalValue::Avoid)),
        Ok(pb::TerminalValue::Score) => Ok(Some(TerminalValue::Score)),
        Err(_) => Err(DecodeError::without_a_meaning("terminal_value", number)),
    }
}

/// The message value for the score of a placement that ends the game.
pub fn encode_terminal_value(terminal_value: TerminalValue) -> pb::TerminalValue {
    match terminal_value {
        TerminalValue::Avoid => pb::TerminalValue::Avoid,
        TerminalValue::Score => pb::TerminalValue::Score,
    }
}
