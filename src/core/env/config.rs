//! The configuration that all environments of a batch share, and its choices.

use crate::engine::{EpisodeEnd, Rules};
use crate::features::FeatureSet;
use crate::values::Values;

/// Handling of environments whose episode has ended. Names and meanings are Gymnasium's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AutoresetMode {
    /// The next step ignores the row's action, unchecked, and starts a new episode. It returns the first observation,
    /// reward 0 and both flags false.
    #[default]
    NextStep,
    /// The step that ends an episode also starts the next one. Observations, mask and infos belong to the new episode,
    /// reward and flags to the old one, and [`StepOutcome::finals`](super::StepOutcome::finals) holds the old episode's
    /// last state. A row can still have ended only after a restore; it then behaves like under `NextStep`.
    SameStep,
    /// The caller resets. Stepping the row before that is refused.
    Disabled,
}

/// Handling of an action that is in range but not in the mask. Every policy refuses an action that is out of range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum InvalidActionPolicy {
    /// Refuses the whole call, which then changes nothing.
    #[default]
    Reject,
    /// Terminates the row's episode: the playfield and the pieces stay, the step counts but no piece does, and the
    /// reward is that of the end of a game.
    Terminate,
    /// Continues the row's episode: the playfield and the pieces stay, and the step counts but no piece does.
    Ignore {
        /// Reward for such a step.
        reward: f64,
    },
}

impl InvalidActionPolicy {
    /// The reward for an invalid action that is not refused, and the end of the episode if the action ends it.
    pub fn consequence(self, rules: &Rules) -> (f64, Option<EpisodeEnd>) {
        match self {
            InvalidActionPolicy::Ignore { reward } => (reward, None),
            InvalidActionPolicy::Reject | InvalidActionPolicy::Terminate => {
                (rules.scoring.game_end, Some(EpisodeEnd::InvalidAction))
            }
        }
    }
}

/// The configuration that all environments of a batch share.
#[derive(Clone, Debug)]
pub struct EnvConfig {
    pub rules: Rules,
    /// Number of environments, at least 1.
    pub num_envs: u32,
    pub autoreset_mode: AutoresetMode,
    /// Handling of actions outside the mask.
    pub invalid_action_policy: InvalidActionPolicy,
    /// Steps after which episodes are truncated; 0 for no limit.
    pub max_episode_steps: u64,
    /// The features for [`Field::Features`](super::Field::Features), resolved for the width of the rules.
    pub features: Option<FeatureSet>,
    /// The exact values for [`Field::Regret`](super::Field::Regret), of the size of the rules. Without them it is NaN.
    pub values: Option<&'static Values>,
}

impl Default for EnvConfig {
    fn default() -> EnvConfig {
        EnvConfig {
            rules: Rules::default(),
            num_envs: 1,
            autoreset_mode: AutoresetMode::default(),
            invalid_action_policy: InvalidActionPolicy::default(),
            max_episode_steps: 0,
            features: None,
            values: None,
        }
    }
}
