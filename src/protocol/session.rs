//! The configuration and the lease of a session, to and from the wire.

use std::time::Duration;

use tetrion_core::engine::check_points;
use tetrion_core::env::{EnvConfig, Field, Role, Seeding};

pub use tetrion_core::env::{AutoresetMode, InvalidActionPolicy};
use tetrion_toolkit::optimum;

use super::error::{DecodeError, InField};
use super::limits::{
    DEFAULT_RESPONSE_BYTES, DEFAULT_TTL, MAX_ENVS_PER_SESSION, MAX_RESPONSE_BYTES, MAX_TTL, check_name,
};
use super::rules::ResolvedRules;
use super::{duration, features, fields, pb, revision, seeding};

/// A session's configuration with every default filled in.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The preset of the rules.
    pub preset: &'static str,
    pub env: EnvConfig,
    /// The observations, in the order of an answer's tensors.
    pub observations: Vec<Field>,
    /// The infos, in the order of an answer's tensors.
    pub infos: Vec<Field>,
    /// The session seed; `None` if the environments have their own seeds or explicit pieces.
    pub seed: Option<u64>,
    /// The form of the action masks in answers; `None` for no masks.
    pub action_mask: Option<MaskFormat>,
    /// Largest answer in bytes that the client accepts.
    pub max_response_bytes: u32,
    /// Whether each environment remembers the origins of its cells.
    pub keep_colors: bool,
    /// A name for people; empty for none.
    pub label: String,
    /// Whether a person looks at the session where it was created.
    pub interactive: bool,
}

/// A form of action masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskFormat {
    /// One byte per action, 0 or 1.
    Bytes,
    /// One bit per action, the lowest bit first.
    Bits,
}

/// Reads a configuration; calls `draw_seed` if the request has no seed.
///
/// The seeding is returned separately, because it is used only once and can be as large as the request.
///
/// # Errors
/// [`DecodeError`] with the fields of `SessionConfig`.
pub fn decode(
    message: &pb::SessionConfig,
    draw_seed: impl FnOnce() -> u64,
) -> Result<(SessionConfig, Seeding), DecodeError> {
    revision::check(message.min_revision)?;
    check_label(&message.label)?;
    let num_envs = message.num_envs.max(1);
    if num_envs > MAX_ENVS_PER_SESSION {
        let problem = format!("is {num_envs}, expected at most {MAX_ENVS_PER_SESSION}");
        return Err(DecodeError::field("num_envs", problem));
    }
    let ResolvedRules { preset, rules } = match &message.rules {
        Some(rules) => rules.try_into().in_field("rules")?,
        None => ResolvedRules::default(),
    };
    let mut env = EnvConfig {
        rules,
        num_envs,
        autoreset_mode: decode_autoreset_mode(message.autoreset_mode)?,
        invalid_action_policy: decode_invalid_actions(
            message.invalid_action_policy,
            message.invalid_action_reward,
        )?,
        max_episode_steps: message.max_episode_steps,
        features: features::decode(message.features.as_ref(), &rules).in_field("features")?,
        values: None,
    };
    let observations =
        fields::decode(message.observation_fields.as_ref(), "observation_fields", Role::Observation, &env)?;
    if let (Some(i), None) = (observations.iter().position(|field| *field == Field::Features), &env.features)
    {
        let problem = "features is listed, but no features are selected";
        return Err(DecodeError::field(format!("observation_fields.names[{i}]"), problem));
    }
    let infos = fields::decode(message.info_fields.as_ref(), "info_fields", Role::Info, &env)?;
    if let Some(i) = infos.iter().position(|field| *field == Field::Regret) {
        let values = optimum::values(&rules).map_err(|error| {
            DecodeError::field(format!("info_fields.names[{i}]"), format!("regret: {error}"))
        })?;
        env.values = Some(values);
    }
    let max_response_bytes = response_bytes(message.max_response_bytes, DEFAULT_RESPONSE_BYTES)?;
    let seeding = match &message.seeding {
        Some(message) => seeding::decode(message, num_envs, &rules).in_field("seeding")?,
        None => Seeding::Seed(draw_seed()),
    };
    let seed = match seeding {
        Seeding::Seed(seed) => Some(seed),
        Seeding::Seeds(_) | Seeding::PieceSequences(_) => None,
    };
    let action_mask = decode_mask_format(message.action_mask_format)?;
    let config = SessionConfig {
        preset,
        env,
        observations,
        infos,
        seed,
        action_mask,
        max_response_bytes,
        keep_colors: message.keep_colors,
        label: message.label.clone(),
        interactive: message.interactive,
    };
    Ok((config, seeding))
}

impl From<&SessionConfig> for pb::SessionConfig {
    fn from(config: &SessionConfig) -> pb::SessionConfig {
        let EnvConfig {
            rules,
            num_envs,
            autoreset_mode,
            invalid_action_policy,
            max_episode_steps,
            features,
            values: _,
        } = &config.env;
        pb::SessionConfig {
            num_envs: *num_envs,
            rules: Some((&ResolvedRules { preset: config.preset, rules: *rules }).into()),
            observation_fields: Some(fields::encode(&config.observations)),
            info_fields: Some(fields::encode(&config.infos)),
            features: features.as_ref().map(features::encode),
            autoreset_mode: pb::AutoresetMode::from(*autoreset_mode).into(),
            invalid_action_policy: pb::InvalidActionPolicy::from(*invalid_action_policy).into(),
            invalid_action_reward: invalid_action_reward(*invalid_action_policy),
            seeding: config.seed.map(seeding::from_seed),
            max_episode_steps: *max_episode_steps,
            action_mask_format: encode_mask_format(config.action_mask).into(),
            max_response_bytes: config.max_response_bytes,
            min_revision: 0,
            keep_colors: config.keep_colors,
            label: config.label.clone(),
            interactive: config.interactive,
        }
    }
}

/// Checks a label, which terminals and pages show.
fn check_label(label: &str) -> Result<(), DecodeError> {
    check_name("label", label)?;
    match label.chars().find(|character| character.is_control()) {
        Some(character) => {
            Err(DecodeError::field("label", format!("has the control character {character:?}")))
        }
        None => Ok(()),
    }
}

/// Largest answer that a request allows; 0 selects the default.
///
/// # Errors
/// With the path `max_response_bytes` if it is over the limit.
pub fn response_bytes(wanted: u32, default: u32) -> Result<u32, DecodeError> {
    match wanted {
        0 => Ok(default),
        1..=MAX_RESPONSE_BYTES => Ok(wanted),
        _ => {
            let problem = format!("is {wanted}, expected at most {MAX_RESPONSE_BYTES}");
            Err(DecodeError::field("max_response_bytes", problem))
        }
    }
}

/// Reads the lease of a session.
///
/// # Errors
/// With the path `ttl` if it is too long or not above 0.
pub fn decode_ttl(ttl: Option<&prost_types::Duration>) -> Result<Duration, DecodeError> {
    let Some(ttl) = ttl else { return Ok(DEFAULT_TTL) };
    match duration::decode(ttl) {
        Some(ttl) if ttl > Duration::ZERO && ttl <= MAX_TTL => Ok(ttl),
        _ => {
            let (ttl, max) = (duration::written(ttl), MAX_TTL.as_secs());
            let problem = format!("is {ttl}, expected above 0 s and at most {max} s");
            Err(DecodeError::field("ttl", problem))
        }
    }
}

fn decode_mask_format(format: i32) -> Result<Option<MaskFormat>, DecodeError> {
    match pb::ActionMaskFormat::try_from(format) {
        Ok(pb::ActionMaskFormat::Unspecified | pb::ActionMaskFormat::None) => Ok(None),
        Ok(pb::ActionMaskFormat::Bytes) => Ok(Some(MaskFormat::Bytes)),
        Ok(pb::ActionMaskFormat::Bits) => Ok(Some(MaskFormat::Bits)),
        Err(_) => Err(DecodeError::field("action_mask_format", format!("is {format}, which is unknown"))),
    }
}

fn encode_mask_format(format: Option<MaskFormat>) -> pb::ActionMaskFormat {
    match format {
        None => pb::ActionMaskFormat::None,
        Some(MaskFormat::Bytes) => pb::ActionMaskFormat::Bytes,
        Some(MaskFormat::Bits) => pb::ActionMaskFormat::Bits,
    }
}

fn decode_autoreset_mode(mode: i32) -> Result<AutoresetMode, DecodeError> {
    match pb::AutoresetMode::try_from(mode) {
        Ok(pb::AutoresetMode::Unspecified | pb::AutoresetMode::NextStep) => Ok(AutoresetMode::NextStep),
        Ok(pb::AutoresetMode::SameStep) => Ok(AutoresetMode::SameStep),
        Ok(pb::AutoresetMode::Disabled) => Ok(AutoresetMode::Disabled),
        Err(_) => Err(DecodeError::field("autoreset_mode", format!("{mode} is unknown"))),
    }
}

impl From<AutoresetMode> for pb::AutoresetMode {
    fn from(mode: AutoresetMode) -> pb::AutoresetMode {
        match mode {
            AutoresetMode::NextStep => pb::AutoresetMode::NextStep,
            AutoresetMode::SameStep => pb::AutoresetMode::SameStep,
            AutoresetMode::Disabled => pb::AutoresetMode::Disabled,
        }
    }
}

/// Reads the number of an invalid-action policy, and its reward.
pub(super) fn decode_invalid_actions(policy: i32, reward: f64) -> Result<InvalidActionPolicy, DecodeError> {
    let policy = match pb::InvalidActionPolicy::try_from(policy) {
        Ok(pb::InvalidActionPolicy::Unspecified | pb::InvalidActionPolicy::Reject) => {
            InvalidActionPolicy::Reject
        }
        Ok(pb::InvalidActionPolicy::Terminate) => InvalidActionPolicy::Terminate,
        Ok(pb::InvalidActionPolicy::Ignore) => {
            check_points("invalid_action_reward", reward)?;
            return Ok(InvalidActionPolicy::Ignore { reward });
        }
        Err(_) => return Err(DecodeError::field("invalid_action_policy", format!("{policy} is unknown"))),
    };
    if reward != 0.0 {
        let problem = format!("is {reward}, expected 0 unless the invalid-action policy is IGNORE");
        return Err(DecodeError::field("invalid_action_reward", problem));
    }
    Ok(policy)
}

/// Reward for an ignored action under this policy.
pub fn invalid_action_reward(policy: InvalidActionPolicy) -> f64 {
    match policy {
        InvalidActionPolicy::Ignore { reward } => reward,
        InvalidActionPolicy::Reject | InvalidActionPolicy::Terminate => 0.0,
    }
}

impl From<InvalidActionPolicy> for pb::InvalidActionPolicy {
    fn from(policy: InvalidActionPolicy) -> pb::InvalidActionPolicy {
        match policy {
            InvalidActionPolicy::Reject => pb::InvalidActionPolicy::Reject,
            InvalidActionPolicy::Terminate => pb::InvalidActionPolicy::Terminate,
            InvalidActionPolicy::Ignore { .. } => pb::InvalidActionPolicy::Ignore,
        }
    }
}
