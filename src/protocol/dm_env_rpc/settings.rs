//! Settings: named tensors, the table of all settings, and the configuration that they define.
//!
//! Settings are the fields of `SessionConfig` and `Rules` that make sense for one environment. The reader writes them
//! into these messages, so sessions and worlds share every bound and default.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;
use std::time::Duration;

use tetrion_core::engine::{FieldKind, FieldValue, PieceSet, RULES_FIELDS, RulesField};
use tetrion_core::env::Seeding;
use tetrion_core::names;

use super::super::error::{DecodeError, Fault, InField};
use super::super::features::Features;
use super::super::limits::check_name;
use super::super::rules::{self, RulesChoice};
use super::super::session::{self, SessionConfig};
use super::super::{pb, seeding};
use super::{pb as dm, tensor};

/// A setting of a world.
#[derive(Clone, Debug)]
pub struct Setting {
    pub name: &'static str,
    /// Element type and shape, as text.
    pub takes: &'static str,
    /// Meaning and default, in a sentence.
    pub description: Cow<'static, str>,
    /// Whether Reset and ResetWorld take it too.
    pub at_reset: bool,
    put: Put,
}

/// Destination of a setting's value.
#[derive(Clone, Copy, Debug)]
enum Put {
    /// A field of the rules.
    Rules(&'static RulesField),
    /// A draft, which the function changes.
    Draft(fn(&dm::Tensor, &mut Draft) -> Result<(), DecodeError>),
}

impl Setting {
    /// The setting for a field of the rules.
    fn of_rules(field: &'static RulesField) -> Setting {
        let takes = match field.kind {
            FieldKind::Count { .. } | FieldKind::Flag { .. } => "an integer",
            FieldKind::Number { .. } => "a number",
            FieldKind::Numbers { .. } => "numbers [4]",
            FieldKind::Choice { .. } | FieldKind::Pieces { .. } => "STRING",
        };
        let expects = match field.kind {
            FieldKind::Flag { .. } => "0 or 1".to_owned(),
            _ => field.expects(),
        };
        let description = format!("{}: {expects}; {}", field.about, field.default);
        Setting {
            name: field.name,
            takes,
            description: description.into(),
            at_reset: false,
            put: Put::Rules(field),
        }
    }
}

/// The messages that settings are written into.
#[derive(Default)]
struct Draft {
    config: pb::SessionConfig,
    rules: RulesChoice,
    ttl: Option<prost_types::Duration>,
    seed: Option<u64>,
    pieces: Option<String>,
}

impl Draft {
    /// The source of the pieces, a seed or letters; `None` if the settings name neither.
    fn seeding(&self) -> Result<Option<pb::Seeding>, DecodeError> {
        match (self.seed, &self.pieces) {
            (None, None) => Ok(None),
            (Some(seed), None) => Ok(Some(seeding::from_seeds(vec![seed]))),
            (None, Some(pieces)) => Ok(Some(seeding::from_sequences(vec![pieces.clone()]))),
            (Some(_), Some(_)) => {
                Err(DecodeError::field("seed", "is given together with pieces, expected one of the two"))
            }
        }
    }
}

/// The configuration of a world.
#[derive(Debug)]
pub struct WorldConfig {
    /// Session of the world: one environment, no autoreset. Actions that do not exist end the episode unless a setting
    /// says otherwise.
    pub session: SessionConfig,
    /// Source of the world's pieces.
    pub seeding: Seeding,
    /// Longest time between two calls before the world is removed.
    pub ttl: Duration,
}

/// Every setting: the preset, the fields of the rules, then the others.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let preset = Setting {
        name: "preset",
        takes: "STRING",
        description: Cow::Borrowed("the rules that the others change; `simplified`"),
        at_reset: false,
        put: Put::Draft(|tensor, draft| {
            put(tensor::name(tensor), |preset| draft.rules.preset = preset.to_owned())
        }),
    };
    let rules = RULES_FIELDS.iter().map(Setting::of_rules);
    [preset].into_iter().chain(rules).chain(OTHERS).collect()
});

/// The settings that are not fields of the rules.
const OTHERS: [Setting; 8] = [
    Setting {
        name: "features",
        takes: "STRING, or STRING [n]",
        description: Cow::Borrowed(
            "a feature set by name, or a list of features: makes the observation `features`; none",
        ),
        at_reset: false,
        put: Put::Draft(|tensor, draft| {
            let names = tensor::texts(tensor)?.to_vec();
            // A scalar is the name of a set; a row, even of one text, is a list of features.
            let features = match (tensor.shape.is_empty(), names) {
                (true, mut names) => Features::Set { name: names.swap_remove(0), version: String::new() },
                (false, names) => Features::List(names),
            };
            draft.config.features = Some(features.encode());
            Ok(())
        }),
    },
    Setting {
        name: "max_episode_steps",
        takes: "an integer",
        description: Cow::Borrowed("episodes are interrupted after this many steps; 0, no limit"),
        at_reset: false,
        put: Put::Draft(|tensor, draft| {
            put(tensor::integer(tensor), |steps| draft.config.max_episode_steps = steps)
        }),
    },
    Setting {
        name: "invalid_action_policy",
        takes: "STRING",
        description: Cow::Borrowed(
            "policy for invalid actions: `terminate` the episode, `ignore` the action, or `reject` the step; \
             `terminate`",
        ),
        at_reset: false,
        put: Put::Draft(|tensor, draft| {
            put(invalid_action_policy(tensor), |policy| draft.config.set_invalid_action_policy(policy))
        }),
    },
    Setting {
        name: "invalid_action_reward",
        takes: "a number",
        description: Cow::Borrowed("the reward of an action that is ignored; 0"),
        at_reset: false,
        put: Put::Draft(|tensor, draft| {
            put(tensor::number(tensor), |reward| draft.config.invalid_action_reward = reward)
        }),
    },
    Setting {
        name: "label",
        takes: "STRING",
        description: Cow::Borrowed("a name for people, at most 128 bytes; none"),
        at_reset: false,
        put: Put::Draft(|tensor, draft| {
            put(tensor::text(tensor), |label| draft.config.label = label.to_owned())
        }),
    },
    Setting {
        name: "ttl_seconds",
        takes: "a number",
        description: Cow::Borrowed("how long the world stays without calls, at most a day; 600"),
        at_reset: false,
        put: Put::Draft(|tensor, draft| {
            let seconds = tensor::number(tensor)?;
            let ttl = Duration::try_from_secs_f64(seconds).ok();
            let ttl = ttl.and_then(|ttl| prost_types::Duration::try_from(ttl).ok());
            draft.ttl = Some(ttl.ok_or_else(|| DecodeError::field("", format!("is {seconds}")))?);
            Ok(())
        }),
    },
    Setting {
        name: "seed",
        takes: "an integer",
        description: Cow::Borrowed(
            "0 to 2^64 - 1, the seed of the environment, of which every episode gets its own; drawn by the server",
        ),
        at_reset: true,
        put: Put::Draft(|tensor, draft| put(tensor::integer(tensor), |seed| draft.seed = Some(seed))),
    },
    Setting {
        name: "pieces",
        takes: "STRING",
        description: Cow::Borrowed(
            "explicit pieces as letters IOTZSJL, dealt in every episode instead of random ones; none",
        ),
        at_reset: true,
        put: Put::Draft(|tensor, draft| {
            put(tensor::text(tensor), |pieces| draft.pieces = Some(pieces.to_owned()))
        }),
    },
];

/// Reads the settings of a new world; calls `draw_seed` if they have no seed.
///
/// # Errors
/// [`DecodeError`] with the path `settings.NAME`; [`Fault::UnknownName`] for an unknown setting.
pub fn decode(
    settings: &HashMap<String, dm::Tensor>,
    draw_seed: impl FnOnce() -> u64,
) -> Result<WorldConfig, DecodeError> {
    let read = || {
        let draft = draft(settings, |_| true)?;
        let seeding = draft.seeding()?;
        let Draft { mut config, rules, ttl, .. } = draft;
        config.seeding = seeding;
        config.rules = Some((&rules).into());
        config.autoreset_mode = pb::AutoresetMode::Disabled.into();
        if config.invalid_action_policy() == pb::InvalidActionPolicy::Unspecified {
            config.set_invalid_action_policy(pb::InvalidActionPolicy::Terminate);
        }
        let (session, seeding) = session::decode(&config, draw_seed).map_err(by_setting)?;
        let ttl = session::decode_ttl(ttl.as_ref()).map_err(by_setting)?;
        Ok(WorldConfig { session, seeding, ttl })
    };
    read().in_field("settings")
}

/// Reads the settings of a reset. `pieces` are the pieces of the game.
///
/// # Errors
/// Returns the errors of [`decode`]; most settings are for new worlds only.
pub fn decode_reset(
    settings: &HashMap<String, dm::Tensor>,
    pieces: &PieceSet,
) -> Result<Option<Seeding>, DecodeError> {
    let read = || {
        let seeding = draft(settings, |setting| setting.at_reset)?.seeding()?;
        let decode = |seeding| seeding::decode(&seeding, 1, pieces).in_field("seeding").map_err(by_setting);
        seeding.map(decode).transpose()
    };
    read().in_field("settings")
}

/// Reads the settings of a join, which must be empty.
///
/// # Errors
/// Returns the errors of [`decode`].
pub fn decode_join(settings: &HashMap<String, dm::Tensor>) -> Result<(), DecodeError> {
    draft(settings, |_| false).in_field("settings").map(drop)
}

/// Writes settings to a draft, in the order of their names.
fn draft(
    settings: &HashMap<String, dm::Tensor>,
    taken: impl Fn(&Setting) -> bool,
) -> Result<Draft, DecodeError> {
    let mut draft = Draft::default();
    for (name, tensor) in settings.iter().collect::<BTreeMap<_, _>>() {
        check_name("", name)?;
        let known = SETTINGS.iter().filter(|setting| taken(setting));
        let Some(setting) = known.clone().find(|setting| setting.name == name) else {
            let problem = match known.clone().next() {
                None => format!("there is no setting {name:?}; joining takes no settings"),
                Some(_) => names::unknown("setting", name, known.map(|setting| setting.name)),
            };
            return Err(DecodeError::invalid(Fault::UnknownName, "", problem));
        };
        let written = match setting.put {
            Put::Draft(put) => put(tensor, &mut draft),
            Put::Rules(field) => put(rules_value(field, tensor), |value| {
                draft.rules.changes.set(field.name, value).expect("it is a field of the rules");
            }),
        };
        written.in_field(name)?;
    }
    Ok(draft)
}

fn put<T>(value: Result<T, DecodeError>, put: impl FnOnce(T)) -> Result<(), DecodeError> {
    value.map(put)
}

/// The value of a field of the rules.
fn rules_value(field: &RulesField, tensor: &dm::Tensor) -> Result<FieldValue, DecodeError> {
    match field.kind {
        FieldKind::Count { .. } => tensor::integer(tensor).map(FieldValue::Count),
        FieldKind::Number { .. } => tensor::number(tensor).map(FieldValue::Number),
        FieldKind::Numbers { .. } => {
            let numbers = tensor::number_row(tensor, 4)?;
            Ok(FieldValue::Numbers(numbers.try_into().expect("a row of four numbers")))
        }
        FieldKind::Flag { .. } => match tensor::integer::<u32>(tensor)? {
            0 => Ok(FieldValue::Flag(false)),
            1 => Ok(FieldValue::Flag(true)),
            other => Err(DecodeError::field("", format!("is {other}, expected 0 or 1"))),
        },
        FieldKind::Choice { .. } => rules::parse(field, tensor::name(tensor)?).map_err(unknown_name),
        FieldKind::Pieces { .. } => rules::pieces(tensor::text(tensor)?),
    }
}

/// The policy for actions that do not exist: `reject` for `INVALID_ACTION_POLICY_REJECT`.
fn invalid_action_policy(tensor: &dm::Tensor) -> Result<pb::InvalidActionPolicy, DecodeError> {
    const PREFIX: &str = "INVALID_ACTION_POLICY_";
    let name = tensor::name(tensor)?;
    let policy = pb::InvalidActionPolicy::from_str_name(&format!("{PREFIX}{}", name.to_uppercase()));
    policy.ok_or_else(|| {
        let policies = (1..).map_while(|number| pb::InvalidActionPolicy::try_from(number).ok());
        let known: Vec<_> =
            policies.map(|policy| policy.as_str_name().replace(PREFIX, "").to_lowercase()).collect();
        unknown_name(names::unknown("invalid action policy", name, known.iter().map(String::as_str)))
    })
}

fn unknown_name(problem: String) -> DecodeError {
    DecodeError::invalid(Fault::UnknownName, "", problem)
}

/// Replaces the field's path in an error by the name of the setting.
fn by_setting(mut error: DecodeError) -> DecodeError {
    if let DecodeError::Invalid { field, .. } = &mut error {
        let name = field.strip_prefix("rules.").unwrap_or(field);
        *field = match name.split(['[', '.']).next() {
            Some("seeding") => "pieces".to_owned(),
            Some("ttl") => "ttl_seconds".to_owned(),
            _ => name.to_owned(),
        };
    }
    error
}
