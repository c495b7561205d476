//! Settings: named tensors, the one table of them, and the configuration that they make.
//!
//! They are the fields of `SessionConfig` and `Rules` that make sense for one environment. The reader writes them into
//! exactly those messages, so every bound and every default is that of a session.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{
    ActionModel, AttackTable, ClearPoints, HalfTurns, NamedChoice, OrientationTable, Piece, PieceSet,
    Randomizer, Reach, RotationSystem, SpinRule, TopOut,
};
use crate::env::Seeding;
use crate::names;

use super::super::error::{DecodeError, Fault, InField};
use super::super::limits::check_name;
use super::super::session::{self, SessionConfig};
use super::super::{pb, rules, sequences};
use super::{pb as dm, tensor};

/// A setting of a world.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Element type and shape, in words.
    pub takes: &'static str,
    description: Description,
    /// Whether Reset and ResetWorld take it too.
    pub at_reset: bool,
    put: Put,
}

/// Writes the value of a setting into a draft.
type Put = fn(&dm::Tensor, &mut Draft) -> Result<(), DecodeError>;

/// What is said of a setting.
#[derive(Clone, Copy, Debug)]
enum Description {
    Words(&'static str),
    /// A choice of the rules: the names of its values.
    Choice(fn() -> Vec<&'static str>),
}
use Description::Words;

impl Setting {
    /// Its meaning and its default, in a sentence.
    pub fn description(&self) -> String {
        match self.description {
            Words(words) => words.to_owned(),
            Description::Choice(names) => {
                let names: Vec<String> = names().iter().map(|name| format!("`{name}`")).collect();
                let (last, others) = names.split_last().expect("a choice has values");
                format!("{} or {last}; the preset's", others.join(", "))
            }
        }
    }
}

/// The messages that settings are written into.
#[derive(Default)]
struct Draft {
    config: pb::SessionConfig,
    rules: pb::Rules,
    ttl: Option<prost_types::Duration>,
}

/// The configuration of a world.
#[derive(Debug)]
pub struct WorldConfig {
    /// Its session: one environment, no autoreset; actions that do not exist end the episode unless a setting says
    /// otherwise.
    pub session: SessionConfig,
    /// Where its pieces come from.
    pub seeding: Seeding,
    /// How long it stays without calls.
    pub ttl: Duration,
}

/// The episode that a reset asks for instead of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dealt {
    /// Episode 0 of a seed.
    Seed(u64),
    /// Explicit pieces.
    Pieces(Arc<[Piece]>),
}

/// Every setting.
pub static SETTINGS: [Setting; 34] = [
    Setting {
        name: "preset",
        takes: "STRING",
        description: Words("the rules that the others change; `simplified`"),
        at_reset: false,
        put: |tensor, draft| put(tensor::name(tensor), |preset| draft.rules.preset = preset.to_owned()),
    },
    Setting {
        name: "width",
        takes: "an integer",
        description: Words("columns; the preset's"),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |width| draft.rules.width = Some(width)),
    },
    Setting {
        name: "height",
        takes: "an integer",
        description: Words("rows; the preset's"),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |height| draft.rules.height = Some(height)),
    },
    Setting {
        name: "rows_above",
        takes: "an integer",
        description: Words(
            "how many of the rows lie above the visible field; all but the preset's visible ones",
        ),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |rows| draft.rules.rows_above = Some(rows)),
    },
    Setting {
        name: "preview",
        takes: "an integer",
        description: Words("next pieces shown; the preset's"),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |preview| draft.rules.preview = Some(preview)),
    },
    Setting {
        name: "piece_set",
        takes: "STRING",
        description: Words("the set of pieces by name, or drawings such as `A=X./XX B=XX`; the preset's"),
        at_reset: false,
        put: |tensor, draft| put(tensor::text(tensor), |set| draft.rules.piece_set = set.to_owned()),
    },
    rules_choice::<Randomizer>(|tensor, draft| {
        put(choice::<Randomizer>(tensor), |number| draft.rules.randomizer = Some(number))
    }),
    rules_choice::<ActionModel>(|tensor, draft| {
        put(choice::<ActionModel>(tensor), |number| draft.rules.action_model = Some(number))
    }),
    rules_choice::<TopOut>(|tensor, draft| {
        put(choice::<TopOut>(tensor), |number| draft.rules.top_out = Some(number))
    }),
    rules_choice::<OrientationTable>(|tensor, draft| {
        put(choice::<OrientationTable>(tensor), |number| draft.rules.orientation_table = Some(number))
    }),
    rules_choice::<Reach>(|tensor, draft| {
        put(choice::<Reach>(tensor), |number| draft.rules.reach = Some(number))
    }),
    rules_choice::<RotationSystem>(|tensor, draft| {
        put(choice::<RotationSystem>(tensor), |number| draft.rules.rotation = Some(number))
    }),
    rules_choice::<HalfTurns>(|tensor, draft| {
        put(choice::<HalfTurns>(tensor), |number| draft.rules.half_turns = Some(number))
    }),
    rules_choice::<SpinRule>(|tensor, draft| {
        put(choice::<SpinRule>(tensor), |number| draft.rules.spins = Some(number))
    }),
    Setting {
        name: "spawn_row",
        takes: "an integer",
        description: Words(
            "where pieces turn on their way: the row in which they appear; the highest visible one, or one higher",
        ),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |row| draft.rules.spawn_row = Some(row)),
    },
    Setting {
        name: "hold",
        takes: "an integer",
        description: Words("1 if the current piece can be held, else 0; the preset's"),
        at_reset: false,
        put: |tensor, draft| {
            let hold = match tensor::integer::<u32>(tensor)? {
                0 => false,
                1 => true,
                other => return Err(DecodeError::field("", format!("is {other}, expected 0 or 1"))),
            };
            draft.rules.hold = Some(hold);
            Ok(())
        },
    },
    Setting {
        name: "scoring.piece",
        takes: "a number",
        description: Words("points for a piece; the preset's"),
        at_reset: false,
        put: |tensor, draft| {
            put(tensor::number(tensor), |points| {
                draft.rules.scoring.get_or_insert_default().piece = Some(points)
            })
        },
    },
    Setting {
        name: "scoring.lines",
        takes: "numbers [4]",
        description: Words("points for 1, 2, 3 and 4 lines at once; the preset's"),
        at_reset: false,
        put: |tensor, draft| {
            put(tensor::number_row(tensor, 4), |points| {
                draft.rules.scoring.get_or_insert_default().lines = points
            })
        },
    },
    Setting {
        name: "scoring.game_end",
        takes: "a number",
        description: Words("points for the end of a game; the preset's"),
        at_reset: false,
        put: |tensor, draft| {
            put(tensor::number(tensor), |points| {
                draft.rules.scoring.get_or_insert_default().game_end = Some(points)
            })
        },
    },
    rules_choice::<ClearPoints>(|tensor, draft| {
        put(choice::<ClearPoints>(tensor), |number| draft.rules.clear_points = Some(number))
    }),
    rules_choice::<AttackTable>(|tensor, draft| {
        put(choice::<AttackTable>(tensor), |number| draft.rules.attack = Some(number))
    }),
    Setting {
        name: "gravity",
        takes: "an integer",
        description: Words("where keys steer pieces: steps in the air after which one falls by a row; 60"),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |steps| draft.rules.gravity = Some(steps)),
    },
    Setting {
        name: "lock_delay",
        takes: "an integer",
        description: Words("where keys steer pieces: steps on the ground after which one locks; 30"),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |steps| draft.rules.lock_delay = Some(steps)),
    },
    Setting {
        name: "lock_resets",
        takes: "an integer",
        description: Words("where keys steer pieces: how often that delay begins anew; 15"),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |times| draft.rules.lock_resets = Some(times)),
    },
    Setting {
        name: "garbage.lines_per_piece",
        takes: "a number",
        description: Words("rows of garbage that rise a piece, on average, at most 4; 0, none"),
        at_reset: false,
        put: |tensor, draft| {
            put(tensor::number(tensor), |lines| {
                draft.rules.garbage.get_or_insert_default().lines_per_piece = Some(lines)
            })
        },
    },
    Setting {
        name: "garbage.hole_moves",
        takes: "a number",
        description: Words(
            "the chance that the hole of a row is in another column than the one before; 0.05",
        ),
        at_reset: false,
        put: |tensor, draft| {
            put(tensor::number(tensor), |chance| {
                draft.rules.garbage.get_or_insert_default().hole_moves = Some(chance)
            })
        },
    },
    Setting {
        name: "garbage.delay",
        takes: "an integer",
        description: Words("how many more pieces land before dealt lines may rise, 0 to 7; 1"),
        at_reset: false,
        put: |tensor, draft| {
            put(tensor::integer(tensor), |pieces| {
                draft.rules.garbage.get_or_insert_default().delay = Some(pieces)
            })
        },
    },
    Setting {
        name: "features",
        takes: "STRING, or STRING [n]",
        description: Words(
            "a feature set by name, or a list of features: makes the observation `features`; none",
        ),
        at_reset: false,
        put: |tensor, draft| {
            let names = tensor::texts(tensor)?.to_vec();
            let selection = draft.config.features.get_or_insert_default();
            // A bare name is that of a set; a list of one feature is a row.
            match (tensor.shape.is_empty(), names) {
                (true, mut names) => selection.set = names.swap_remove(0),
                (false, names) => selection.features = names,
            }
            Ok(())
        },
    },
    Setting {
        name: "max_episode_steps",
        takes: "an integer",
        description: Words("episodes are interrupted after this many steps; 0, no limit"),
        at_reset: false,
        put: |tensor, draft| put(tensor::integer(tensor), |steps| draft.config.max_episode_steps = steps),
    },
    Setting {
        name: "invalid_action_policy",
        takes: "STRING",
        description: Words(
            "what an action does that does not exist: `terminate` the episode, `ignore` it, or `reject` the step; \
             `terminate`",
        ),
        at_reset: false,
        put: |tensor, draft| {
            put(invalid_action_policy(tensor), |policy| draft.config.set_invalid_action_policy(policy))
        },
    },
    Setting {
        name: "invalid_action_reward",
        takes: "a number",
        description: Words("the reward of an action that is ignored; 0"),
        at_reset: false,
        put: |tensor, draft| {
            put(tensor::number(tensor), |reward| draft.config.invalid_action_reward = reward)
        },
    },
    Setting {
        name: "ttl_seconds",
        takes: "a number",
        description: Words("how long the world stays without calls, at most a day; 600"),
        at_reset: false,
        put: |tensor, draft| {
            let seconds = tensor::number(tensor)?;
            let ttl = Duration::try_from_secs_f64(seconds).ok();
            let ttl = ttl.and_then(|ttl| prost_types::Duration::try_from(ttl).ok());
            draft.ttl = Some(ttl.ok_or_else(|| DecodeError::field("", format!("is {seconds}")))?);
            Ok(())
        },
    },
    Setting {
        name: "seed",
        takes: "an integer",
        description: Words(
            "0 to 2^64 - 1, the seed of the environment, of which every episode gets its own; drawn by the server",
        ),
        at_reset: true,
        put: |tensor, draft| put(tensor::integer(tensor), |seed| draft.config.env_seeds = vec![seed]),
    },
    Setting {
        name: "pieces",
        takes: "STRING",
        description: Words(
            "explicit pieces as letters IOTZSJL, dealt in every episode, in place of a seed; none",
        ),
        at_reset: true,
        put: |tensor, draft| {
            put(tensor::text(tensor), |pieces| draft.config.piece_sequences = vec![pieces.to_owned()])
        },
    },
];

/// Reads the settings of a new world; calls `draw_seed` if they have no seed.
///
/// # Errors
/// [`DecodeError`] with the path `settings.NAME`; [`Fault::UnknownName`] for a name of no setting.
pub fn decode(
    settings: &HashMap<String, dm::Tensor>,
    draw_seed: impl FnOnce() -> u64,
) -> Result<WorldConfig, DecodeError> {
    let read = || {
        let Draft { mut config, rules, ttl } = draft(settings, |_| true)?;
        config.rules = Some(rules);
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

/// Reads the settings of a reset of a game with these pieces.
///
/// # Errors
/// As [`decode`]; most settings are for new worlds only.
pub fn decode_reset(
    settings: &HashMap<String, dm::Tensor>,
    pieces: &PieceSet,
) -> Result<Option<Dealt>, DecodeError> {
    let read = || {
        let Draft { config, .. } = draft(settings, |setting| setting.at_reset)?;
        match (config.env_seeds.as_slice(), config.piece_sequences.as_slice()) {
            ([], []) => Ok(None),
            ([seed], []) => Ok(Some(Dealt::Seed(*seed))),
            ([], sequences) => {
                let mut sequences = sequences::decode(pieces, sequences, 1).map_err(by_setting)?;
                Ok(Some(Dealt::Pieces(sequences.swap_remove(0))))
            }
            _ => Err(DecodeError::field("seed", "is given beside pieces, expected one of the two")),
        }
    };
    read().in_field("settings")
}

/// Reads the settings of a join, of which there are none.
///
/// # Errors
/// As [`decode`].
pub fn decode_join(settings: &HashMap<String, dm::Tensor>) -> Result<(), DecodeError> {
    draft(settings, |_| false).in_field("settings").map(drop)
}

/// Writes settings into a draft, in the order of their names.
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
                None => format!("no setting is called {name:?}; joining takes none"),
                Some(_) => names::unknown("setting", name, known.map(|setting| setting.name)),
            };
            return Err(DecodeError::invalid(Fault::UnknownName, "", problem));
        };
        (setting.put)(tensor, &mut draft).in_field(name)?;
    }
    Ok(draft)
}

fn put<T>(value: Result<T, DecodeError>, put: impl FnOnce(T)) -> Result<(), DecodeError> {
    value.map(put)
}

/// The setting for a choice of the rules.
const fn rules_choice<C: NamedChoice>(put: Put) -> Setting {
    Setting {
        name: C::FIELD,
        takes: "STRING",
        description: Description::Choice(|| C::names().collect()),
        at_reset: false,
        put,
    }
}

/// The number of a value of a choice by its name.
fn choice<C: NamedChoice>(tensor: &dm::Tensor) -> Result<i32, DecodeError> {
    let value = rules::by_name::<C>(tensor::name(tensor)?).map_err(unknown_name)?;
    Ok(value.number().into())
}

/// What to do with actions that do not exist: `reject` for `INVALID_ACTION_POLICY_REJECT`.
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

/// Names the setting instead of the field that it was written into.
fn by_setting(mut error: DecodeError) -> DecodeError {
    if let DecodeError::Invalid { field, .. } = &mut error {
        let name = field.strip_prefix("rules.").unwrap_or(field);
        *field = match name.split(['[', '.']).next() {
            Some("env_seeds") => "seed".to_owned(),
            Some("piece_sequences") => "pieces".to_owned(),
            Some("ttl") => "ttl_seconds".to_owned(),
            _ => name.to_owned(),
        };
    }
    error
}
