//! Tasks, to and from the wire.

use tetrion_core::agents::Agent;
use tetrion_core::values::Stakes;
use tetrion_toolkit::tasks::{
    Content, FormulaScore, FormulaTask, NUM_TASKS, SUITE, Split, Task, TaskCourse, TaskError,
};

use super::error::{DecodeError, Fault};
use super::limits::check_name;
use super::pb;
use super::policies::{Policy, PolicyKind};
use super::rules::ResolvedRules;
use tetrion_core::names;

/// Reads the number of a task, and generates the task.
///
/// # Errors
/// For an unknown split, or a number beyond the last task.
pub fn decode(split: &str, index: u32) -> Result<Task, DecodeError> {
    check_name("split", split)?;
    if split.is_empty() {
        return Err(DecodeError::missing("split"));
    }
    let Some(known) = Split::ALL.into_iter().find(|known| known.name() == split) else {
        let problem = names::unknown("split", split, Split::ALL.into_iter().map(Split::name));
        return Err(DecodeError::invalid(Fault::UnknownName, "split", problem));
    };
    Task::new(known, index).map_err(|error: TaskError| DecodeError::field("index", error.to_string()))
}

/// A task as a message.
pub fn encode(task: &Task) -> pb::GetTaskResponse {
    let described = pb::GetTaskResponse {
        suite: SUITE.to_owned(),
        split: task.split.name().to_owned(),
        index: task.index,
        num_tasks: NUM_TASKS,
        group: task.group.name().to_owned(),
        difficulty: task.difficulty.into(),
        prompt: task.prompt(),
        rules: Some((&ResolvedRules::from(*task.rules())).into()),
        ..Default::default()
    };
    match &task.content {
        Content::Play(play) => pb::GetTaskResponse {
            state: play.start.state(&play.rules).to_bytes().into(),
            num_pieces: play.start.pieces.len() as u32,
            oracle_actions: play
                .oracle
                .iter()
                .map(|placement| placement.action(&play.rules) as i32)
                .collect(),
            floor_first: play.floor_first,
            floor_random: play.floor_random,
            ..described
        },
        Content::Formula(formula) => pb::GetTaskResponse { oracle_formula: formula.oracle(), ..described },
    }
}

/// The content of a ScoreTask request.
#[derive(Debug)]
pub enum Scored {
    /// Actions, which are scored already.
    Actions(pb::ScoreTaskResponse),
    /// A formula, whose games remain to be played.
    Formula(Box<FormulaTask>, Box<Agent>),
}

/// Reads what is to be scored; scores actions at once.
///
/// # Errors
/// For an unknown task, an illegal action, an invalid formula, or the one instead of the other.
pub fn decode_scored(request: &pb::ScoreTaskRequest) -> Result<Scored, DecodeError> {
    let task = decode(&request.split, request.index)?;
    match (task.content, &request.formula) {
        (Content::Play(_), Some(_)) => {
            Err(DecodeError::field("formula", "is given for a task that is played; send actions"))
        }
        (Content::Play(play), None) => {
            let mut course = TaskCourse::new(&play);
            let (numbers, texts) = (&request.actions, &request.text_actions);
            if !numbers.is_empty() && !texts.is_empty() {
                let problem = "is given together with actions, expected one of the two";
                return Err(DecodeError::field("text_actions", problem));
            }
            for (i, &action) in numbers.iter().enumerate() {
                let played = course.act(action);
                played.map_err(|error| DecodeError::field(format!("actions[{i}]"), error.to_string()))?;
            }
            for (i, text) in texts.iter().enumerate() {
                course
                    .act_by_text(text)
                    .map_err(|error| DecodeError::field(format!("text_actions[{i}]"), error.to_string()))?;
            }
            Ok(Scored::Actions(pb::ScoreTaskResponse {
                score: course.score(),
                done: course.is_over(),
                lines: course.lines().into(),
                pieces: course.num_placed() as u64,
                regrets: course.stakes().iter().map(Stakes::regret).collect(),
                spreads: course.stakes().iter().map(Stakes::spread).collect(),
            }))
        }
        (Content::Formula(_), _) if !request.actions.is_empty() || !request.text_actions.is_empty() => {
            let field = if request.actions.is_empty() { "text_actions" } else { "actions" };
            Err(DecodeError::field(field, "are given for a task that asks for a formula; send a formula"))
        }
        (Content::Formula(_), None) => Err(DecodeError::missing("formula")),
        (Content::Formula(task), Some(formula)) => {
            let policy = Policy { kind: PolicyKind::Formula(formula.text.clone()), play: Default::default() };
            let agent = policy.agents(&task.rules)?.pop().expect("an agent per formula");
            Ok(Scored::Formula(task, Box::new(agent)))
        }
    }
}

/// The score of a formula as a message.
pub fn encode_score(score: &FormulaScore) -> pb::ScoreTaskResponse {
    pb::ScoreTaskResponse {
        score: score.score(),
        done: true,
        lines: score.lines(),
        pieces: score.pieces(),
        ..Default::default()
    }
}
