//! Requests to a session.

use std::time::Duration;

use tonic::Status;

use crate::{ClientError, Features, Policy, RulesChoice};
use tetrion_protocol::limits::MAX_RESPONSE_BYTES;
use tetrion_protocol::session::{AutoresetMode, InvalidActionPolicy, invalid_action_reward};
use tetrion_protocol::{DecodeError, pb, placements, positions, seeding, tensor};

/// The configuration of a new session; absent values are the server's defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRequest {
    pub rules: RulesChoice,
    /// Number of environments; 0 for one.
    pub num_envs: u32,
    /// Where the pieces come from; a seed drawn by the server if absent.
    pub seeding: Option<PieceSource>,
    /// What happens after the end of an episode.
    pub autoreset_mode: AutoresetMode,
    /// What happens to actions outside the mask.
    pub invalid_action_policy: InvalidActionPolicy,
    /// The observations, by their names in the server's list; `None` for the server's choice.
    pub observations: Option<Vec<String>>,
    /// The infos, by their names in the server's list; `None` for the server's choice.
    pub infos: Option<Vec<String>>,
    /// The columns of the observation `features`, and of placements.
    pub features: Option<Features>,
    /// Whether answers say which actions exist.
    pub action_mask: bool,
    /// Steps after which episodes are cut; 0 for no limit.
    pub max_episode_steps: u64,
    /// Whether each environment remembers the pieces of its cells, for drawings in colours.
    pub keep_colors: bool,
    /// A name for people; empty for none.
    pub label: String,
    /// Whether a person looks at the session where it was created, so that other viewers do not choose it by themselves.
    pub interactive: bool,
    /// How long the session stays without calls.
    pub ttl: Option<Duration>,
    /// Number of calls between two snapshots, from which the session is made again if its server is lost; 0 for none, so
    /// that it is lost with its server.
    pub snapshot_every: u32,
}

/// Where the pieces of the environments of a call come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceSource {
    /// One number, from which every environment of the session gets its seed.
    Seed(u64),
    /// One seed per environment of the call.
    Seeds(Vec<u64>),
    /// Seeds drawn from one number, one per environment of the call.
    Drawn {
        /// Number from which the server draws the seeds.
        seed: u64,
        count: u32,
    },
    /// Explicit pieces as letters, one text per environment of the call or one for all.
    PieceSequences(Vec<String>),
    /// Explicit pieces, with the columns of the holes in garbage.
    PiecesAndHoles {
        sequences: Vec<String>,
        /// Columns in the order in which lines get their holes, a list per text.
        hole_columns: Vec<Vec<u32>>,
    },
}

impl PieceSource {
    pub(super) fn encode(&self) -> pb::Seeding {
        match self.clone() {
            PieceSource::Seed(seed) => seeding::from_seed(seed),
            PieceSource::Seeds(seeds) => seeding::from_seeds(seeds),
            PieceSource::Drawn { seed, count } => seeding::from_drawn(seed, count),
            PieceSource::PieceSequences(sequences) => seeding::from_sequences(sequences),
            PieceSource::PiecesAndHoles { sequences, hole_columns } => {
                seeding::from_sequences_with_holes(sequences, hole_columns)
            }
        }
    }
}

/// Options for placements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacementsRequest {
    /// Selected features; `None` for the session's selection, if any.
    pub features: Option<Features>,
    /// Columns that answers have on request only, by the names of their fields, such as `cells` or `afterstates`.
    pub columns: Vec<String>,
    /// A policy that scores placements, whose values and choices to return.
    pub policy: Option<Policy>,
    /// The only placement to list for each position, by its action.
    pub actions: Option<Vec<i32>>,
}

/// Positions outside of sessions: playfields of one size, each with the piece to place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackedPositions {
    /// The playfields, one after the other: `height` rows each, the lowest first, with bit c of a row for column c.
    pub boards: Vec<u32>,
    pub height: u32,
    /// The piece of each playfield, as a number in I O T Z S J L.
    pub pieces: Vec<u8>,
}

impl PackedPositions {
    /// Playfields with this many rows, and a piece for each.
    pub fn new(boards: Vec<u32>, height: u32, pieces: Vec<u8>) -> PackedPositions {
        PackedPositions { boards, height, pieces }
    }

    pub(super) fn encode(&self, rules: &RulesChoice) -> pb::Positions {
        let PackedPositions { boards, height, pieces } = self;
        let count = pieces.len() as u32;
        let boards = if rules.changes.count("width").unwrap_or(0) > 16 {
            tensor::encode(vec![count, *height], boards)
        } else {
            let rows: Vec<u16> = boards.iter().map(|row| *row as u16).collect();
            tensor::encode(vec![count, *height], &rows)
        };
        let packed = pb::PackedPositions {
            boards: Some(boards),
            pieces: Some(tensor::encode(vec![count], pieces)),
            queues: None,
            held: None,
        };
        pb::Positions { rules: Some(rules.into()), ..positions::from_packed(packed) }
    }
}

impl PlacementsRequest {
    pub(super) fn encode(
        &self,
        source: pb::enumerate_placements_request::Source,
        min_revision: u32,
    ) -> Result<pb::EnumeratePlacementsRequest, ClientError> {
        let mut request = pb::EnumeratePlacementsRequest {
            source: Some(source),
            features: self.features.as_ref().map(Features::encode),
            policy: self.policy.as_ref().map(Policy::encode),
            actions: self.actions.as_ref().map(|actions| tensor::encode(vec![actions.len() as u32], actions)),
            max_response_bytes: MAX_RESPONSE_BYTES,
            min_revision,
            ..Default::default()
        };
        let unknown = |error: DecodeError| ClientError::Refused {
            reason: "UNKNOWN_NAME".to_owned(),
            message: error.to_string(),
            status: Box::new(Status::invalid_argument(error.to_string())),
        };
        placements::ask_for(&mut request, &self.columns).map_err(unknown)?;
        Ok(request)
    }
}

pub(super) fn encode(request: &SessionRequest) -> pb::SessionConfig {
    let mask_format = match request.action_mask {
        true => pb::ActionMaskFormat::Bits,
        false => pb::ActionMaskFormat::None,
    };
    pb::SessionConfig {
        num_envs: request.num_envs,
        rules: Some((&request.rules).into()),
        observation_fields: fields(&request.observations),
        info_fields: fields(&request.infos),
        features: request.features.as_ref().map(Features::encode),
        autoreset_mode: pb::AutoresetMode::from(request.autoreset_mode).into(),
        invalid_action_policy: pb::InvalidActionPolicy::from(request.invalid_action_policy).into(),
        invalid_action_reward: invalid_action_reward(request.invalid_action_policy),
        seeding: request.seeding.as_ref().map(PieceSource::encode),
        max_episode_steps: request.max_episode_steps,
        action_mask_format: mask_format.into(),
        max_response_bytes: MAX_RESPONSE_BYTES,
        keep_colors: request.keep_colors,
        label: request.label.clone(),
        interactive: request.interactive,
        ..Default::default()
    }
}

fn fields(names: &Option<Vec<String>>) -> Option<pb::FieldNames> {
    names.as_ref().map(|names| pb::FieldNames { names: names.clone() })
}
