//! `--sweep`: a contestant per value of one setting, of a search or of the agents that play random games.

use std::str::FromStr;

use crate::input::UsageError;
use crate::players::{Contender, monte_carlo};
use tetrion_client::{Policy, PolicyKind};
use tetrion_core::agents::{AgentRow, Controller, MonteCarlo, PlayChoice, unknown_setting};
use tetrion_protocol::limits::MAX_PLAYOUTS;

/// The setting of the agents that play random games.
const PLAYOUTS: &str = "playouts";

/// A setting and its values, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingSweep {
    setting: String,
    values: Vec<String>,
}

impl FromStr for SettingSweep {
    type Err = String;

    fn from_str(text: &str) -> Result<SettingSweep, String> {
        let (setting, values) =
            text.split_once('=').ok_or("expected a setting and its values, such as playouts=10,50,300")?;
        Ok(SettingSweep {
            setting: setting.to_owned(),
            values: values.split(',').map(str::to_owned).collect(),
        })
    }
}

/// One way in which a contender plays.
pub struct PlayVariant {
    pub choice: PlayChoice,
    playouts: Option<u32>,
    /// The swept setting with its value; `None` if the contender has no such setting.
    swept: Option<String>,
}

impl PlayVariant {
    /// Name in results of a contender with this name.
    pub fn title(&self, name: &str) -> String {
        self.swept.as_ref().map_or(name.to_owned(), |swept| format!("{name} {swept}"))
    }

    /// The policy of a contender that a user called `player`.
    pub fn policy(&self, contender: &Contender, player: &str) -> Policy {
        match (self.playouts, monte_carlo(player)) {
            (Some(playouts), Some(agent)) => {
                let with = if agent.is_as_coded() { MonteCarlo::as_coded } else { MonteCarlo::new };
                Policy { kind: PolicyKind::MonteCarlo(with(playouts)), play: PlayChoice::default() }
            }
            _ => contender.policy(self.choice),
        }
    }
}

/// The ways in which a contender plays: as the flags say, or once per value of --sweep if it has the setting.
///
/// # Errors
/// [`UsageError`] for a value that the setting cannot have.
pub fn variants(
    sweep: Option<&SettingSweep>,
    contender: &Contender,
    choice: PlayChoice,
    playouts: Option<u32>,
) -> Result<Vec<PlayVariant>, UsageError> {
    let has_setting = |sweep: &&SettingSweep| settings(contender, choice).1.contains(&sweep.setting.as_str());
    let Some(SettingSweep { setting, values }) = sweep.filter(has_setting) else {
        return Ok(vec![PlayVariant { choice, playouts, swept: None }]);
    };
    let variant = |value: &String| {
        let swept = Some(format!("{setting}={value}"));
        if setting == PLAYOUTS {
            let number = value.parse().ok().filter(|number| (1..=MAX_PLAYOUTS).contains(number));
            let playouts = number.ok_or(format!("{PLAYOUTS}: is {value:?}, expected 1 to {MAX_PLAYOUTS}"))?;
            return Ok(PlayVariant { choice, playouts: Some(playouts), swept });
        }
        // The last value of a setting counts.
        let search = choice.or(contender.play()).search;
        let search = format!("{search},{setting}={value}").parse()?;
        Ok(PlayVariant { choice: PlayChoice { search: Some(search), ..choice }, playouts, swept })
    };
    let all: Result<_, String> = values.iter().map(variant).collect();
    all.map_err(|problem| UsageError(format!("--sweep {problem}")))
}

/// Checks that one of the contenders has the swept setting. Leaves unknown names to the server, which suggests others.
///
/// # Errors
/// [`UsageError`] with the settings of the first contender.
pub fn check_sweep(
    sweep: Option<&SettingSweep>,
    contenders: &[Contender],
    choice: PlayChoice,
) -> Result<(), UsageError> {
    let is_unknown = |contender: &Contender| match contender {
        Contender::Named(name) => AgentRow::named(name).is_none() && Controller::named(name).is_err(),
        _ => false,
    };
    let (Some(SettingSweep { setting, .. }), Some(first)) = (sweep, contenders.first()) else {
        return Ok(());
    };
    let of = |contender| settings(contender, choice);
    if contenders.iter().any(|contender| is_unknown(contender) || of(contender).1.contains(&setting.as_str()))
    {
        return Ok(());
    }
    let (owner, known) = of(first);
    let mut problem = format!("--sweep: {}", unknown_setting(&owner, setting, &known));
    if owner == "greedy" {
        problem += "; choose a search with settings, such as --search beam";
    }
    Err(UsageError(problem))
}

/// The owner of the settings that a contender has, an agent or a method of search, and their names.
fn settings(contender: &Contender, choice: PlayChoice) -> (String, Vec<&'static str>) {
    match contender {
        Contender::Named(name) if Controller::named(name).is_err() => {
            (name.clone(), monte_carlo(name).map_or(Vec::new(), |_| vec![PLAYOUTS]))
        }
        contender => {
            let (method, names) = choice.or(contender.play()).search.settings();
            (method.to_owned(), names)
        }
    }
}
