//! The named policies that GetCatalog lists and GetPolicy returns, from the tables of controllers and agents.

use tetrion_core::agents::{AGENTS, Agent, AgentRow, CONTROLLERS, Controller, Figure, Search};
use tetrion_core::engine::WIDTHS;
use tetrion_core::features::FeatureSet;
use tetrion_protocol::limits::check_name;
use tetrion_protocol::pb::policy::Kind;
use tetrion_protocol::policies::{encode_monte_carlo, encode_terminal_value, unknown};
use tetrion_protocol::{features, pb, search, tensor};

use super::refusal::Refusal;

/// Every named policy, controllers first.
pub(super) fn all() -> Vec<pb::PolicyInfo> {
    CONTROLLERS.iter().map(of_controller).chain(AGENTS.iter().map(of_agent)).collect()
}

/// A named policy with its weights.
pub(super) fn get(name: &str) -> Result<pb::GetPolicyResponse, Refusal> {
    check_name("name", name)?;
    let (info, kind) = match (Controller::named(name), AgentRow::named(name)) {
        (Ok(controller), _) => (of_controller(controller), Kind::Weights(weights(controller))),
        (Err(_), Some(row)) => (of_agent(row), kind(row)),
        (Err(_), None) => return Err(unknown(name).into()),
    };
    let policy = pb::Policy {
        label: name.to_owned(),
        kind: Some(kind),
        search: info.search,
        terminal_value: info.terminal_value,
    };
    Ok(pb::GetPolicyResponse { info: Some(info), policy: Some(policy) })
}

fn weights(controller: &Controller) -> pb::Weights {
    let set = features_at(controller.feature_set, controller.width);
    pb::Weights {
        features: Some(features::encode(&set)),
        weights: Some(tensor::encode(vec![set.len() as u32], controller.weights)),
        mlp: None,
        n_tuple: None,
    }
}

fn kind(row: &AgentRow) -> Kind {
    match row.agent {
        Agent::MonteCarlo(agent) => Kind::MonteCarlo(encode_monte_carlo(agent)),
        _ => Kind::Name(row.name.to_owned()),
    }
}

fn of_controller(controller: &Controller) -> pb::PolicyInfo {
    let set = controller.feature_set;
    let columns_change = features_at(set, *WIDTHS.start()).len() != features_at(set, *WIDTHS.end()).len();
    let description = match controller.play.search {
        Search::Greedy => "The placement with the largest sum of weight times feature, the first of equals.",
        Search::Lookahead { .. } => {
            "The placement with the largest sum of weight times feature, plus the best sum of the next pieces."
        }
        Search::Expectation(_) => {
            "The placement with the largest sum of its own terms and the best that the next piece can reach, or the exact \
             mean of that if the piece is hidden."
        }
        Search::Beam(_) => {
            "The first placement of the best sequence of placements of the known pieces, of many that are followed at once."
        }
    };
    pb::PolicyInfo {
        name: controller.name.to_owned(),
        description: description.to_owned(),
        source: controller.source.to_owned(),
        rules_preset: controller.preset.to_owned(),
        feature_set: set.to_owned(),
        feature_set_version: features_at(set, controller.width).version().to_string(),
        width: if columns_change { controller.width.into() } else { 0 },
        search: Some(search::encode(controller.play.search)),
        terminal_value: encode_terminal_value(controller.play.terminal_value).into(),
        parameters: vec!["search".to_owned(), "terminal_value".to_owned()],
        results: controller.figures.iter().flat_map(results).collect(),
    }
}

fn of_agent(row: &AgentRow) -> pb::PolicyInfo {
    let parameters = match row.agent {
        Agent::MonteCarlo(_) => vec!["monte_carlo.playouts".to_owned()],
        _ => vec![],
    };
    pb::PolicyInfo {
        name: row.name.to_owned(),
        description: row.description.to_owned(),
        source: row.source.to_owned(),
        parameters,
        ..Default::default()
    }
}

/// A set of the table at this width.
pub(super) fn features_at(set: &str, width: u8) -> FeatureSet {
    FeatureSet::named(set, width).expect("a set of the table at a width in range")
}

/// A controller's published results, and our measurements.
fn results(figure: &Figure) -> Vec<pb::ReportedResult> {
    let cut = match figure.max_steps {
        0 => String::new(),
        steps => format!(", games cut after {steps} key presses"),
    };
    let result =
        |mean_lines: f64, half_width: Option<f64>, num_games: u64, source: &str| pb::ReportedResult {
            rules_preset: figure.preset.to_owned(),
            width: figure.width.into(),
            height: figure.height.into(),
            mean_lines,
            half_width,
            num_games,
            source: format!("{source}{cut}"),
        };
    let published = figure.published.map(|mean| result(mean, None, 0, "published with the weights"));
    let measured = figure.measured.map(|measured| {
        let half_width = measured.interval.map(|(low, high)| (high - low) / 2.0);
        result(
            measured.mean,
            half_width,
            measured.games.into(),
            "measured by other programs of the research line",
        )
    });
    published.into_iter().chain(measured).collect()
}
