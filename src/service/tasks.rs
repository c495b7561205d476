//! GetTask and ScoreTask.

use std::time::Duration;

use tetrion_protocol::pb;
use tetrion_protocol::tasks::{Scored, decode, decode_scored, encode, encode_score};
use tetrion_toolkit::tasks::FormulaScore;

use super::calls::CallLane;
use super::costs::NANOSECONDS_PER_COST;
use super::refusal::Refusal;
use super::tables;

/// Rough time to generate a task.
const GENERATING: Duration = Duration::from_millis(50);

/// Answers GetTask: generates the task on the pool, after its exact values are computed.
pub(super) async fn get(
    request: pb::GetTaskRequest,
    lane: &CallLane,
) -> Result<pb::GetTaskResponse, Refusal> {
    tables::ready_for_task(lane, request.index).await?;
    lane.run(GENERATING, move || Ok(encode(&decode(&request.split, request.index)?))).await
}

/// The score of actions or of a formula.
pub(super) async fn score(
    request: pb::ScoreTaskRequest,
    lane: &CallLane,
) -> Result<pb::ScoreTaskResponse, Refusal> {
    tables::ready_for_task(lane, request.index).await?;
    match lane.run(GENERATING, move || Ok(decode_scored(&request)?)).await? {
        Scored::Actions(score) => Ok(score),
        Scored::Formula(task, agent) => {
            let nanoseconds = NANOSECONDS_PER_COST * task.num_pieces() * agent.cost(&task.rules);
            lane.check(Duration::from_nanos(nanoseconds)).map_err(|error| error.in_field("formula"))?;
            let mut score = FormulaScore::new(*task, *agent);
            lane.run_slices(move || score.advance().then(|| Ok(encode_score(&score)))).await
        }
    }
}
