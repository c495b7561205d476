//! News of an evaluation in progress.

use super::progress::EvaluationProgress;
use crate::ClientError;
use tetrion_core::rollout::{EstimatedGame, PlayedGame};
use tetrion_protocol::pb;

/// News of an evaluation in progress.
#[derive(Clone, Debug)]
pub enum EvaluationNews {
    /// A server has described what is played.
    Started(Box<pb::EvaluationStarted>),
    /// Games that have finished, in any order.
    Games(Vec<PlayedGame>),
    /// Estimates that have finished, in any order.
    Estimates(Vec<EstimatedGame>),
    Progress(EvaluationProgress),
    /// A call was lost; its missing games will be asked for again.
    Lost(ClientError),
}
