//! What all environments of a batch have in common, and its choices.

use crate::engine::{EpisodeEnd, Rules};
use crate::features::FeatureSet;

/// What happens to an environment whose episode has ended. The names and meanings are Gymnasium's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AutoresetMode {
    /// The next step ignores the row's action, unchecked, and begins a new episode: its first observation, reward 0, both
    /// flags false.
    #[default]
    NextStep,
    /// The step that ends an episode begins the next one as well. Observations, mask and infos are the new episode's, reward
    /// and flags the old one's, and [`StepOutcome::finals`](super::StepOutcome::finals) has the old one's last state. Only after a restore can a row
    /// still have ended; it then behaves as in `NextStep`.
    SameStep,
    /// Nothing: the caller resets. Stepping the row before that is refused.
    Disabled,
}

/// What becomes of an action that is in range but not in the mask. Every policy refuses an action that is out of range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum InvalidActionPolicy {
    /// The whole call is refused.
    #[default]
    Reject,
    /// The row's episode is terminated: the playfield and the pieces stay, the step counts and no piece does, and the reward
    /// is that of the end of a game.
    Terminate,
    /// The row's episode goes on: the playfield and the pieces stay, the step counts and no piece does.
    Ignore {
        /// The points of such a step.
        reward: f64,
    },
}

impl InvalidActionPolicy {
    /// The points of an invalid action that was not refused, and the end of the episode if the action ends it.
    pub fn consequence(self, rules: &Rules) -> (f64, Option<EpisodeEnd>) {
        match self {
            InvalidActionPolicy::Ignore { reward } => (reward, None),
            InvalidActionPolicy::Reject | InvalidActionPolicy::Terminate => {
                (rules.scoring.game_end, Some(EpisodeEnd::InvalidAction))
            }
        }
    }
}

/// What all environments of a batch have in common.
#[derive(Clone, Debug)]
pub struct EnvConfig {
    /// The rules of the game.
    pub rules: Rules,
    /// How many environments, at least 1.
    pub num_envs: u32,
    /// What happens after the end of an episode.
    pub autoreset_mode: AutoresetMode,
    /// What becomes of actions outside the mask.
    pub invalid_action_policy: InvalidActionPolicy,
    /// Episodes are truncated after this many steps; 0 for no limit.
    pub max_episode_steps: u64,
    /// What [`Field::Features`](super::Field::Features) shows, spelled out for the width of the rules.
    pub features: Option<FeatureSet>,
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
        }
    }
}
