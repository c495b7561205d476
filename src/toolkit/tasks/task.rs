//! A task by its number.

use super::formula::FormulaTask;
use super::generate::generate;
use super::play::PlayTask;
use super::prompt;
use super::suite::{Group, NUM_TASKS, Split, kind_of};
use crate::optimum::OptimumError;
use tetrion_core::engine::Rules;

/// What a task asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Play(Box<PlayTask>),
    Formula(Box<FormulaTask>),
}

/// A task of the suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub split: Split,
    /// Number in the split, from 0.
    pub index: u32,
    pub group: Group,
    /// 1, 2 or 3: the larger, the more pieces and cells.
    pub difficulty: u8,
    /// What the task asks for.
    pub content: Content,
}

/// The reason why there is no task.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaskError {
    /// The index is too large.
    #[error("is {index}, expected at most {}", NUM_TASKS - 1)]
    Index { index: u32 },
    /// The exact values are missing.
    #[error(transparent)]
    Optimum(#[from] OptimumError),
}

impl Task {
    /// A task of the suite.
    ///
    /// # Errors
    /// [`TaskError`] for an index beyond the last task.
    pub fn new(split: Split, index: u32) -> Result<Task, TaskError> {
        if index >= NUM_TASKS {
            return Err(TaskError::Index { index });
        }
        let (group, difficulty) = kind_of(index);
        let content = match group {
            Group::Formula => Content::Formula(Box::new(FormulaTask::new(split, index, difficulty))),
            _ => Content::Play(Box::new(generate(split, index, group, difficulty)?)),
        };
        Ok(Task { split, index, group, difficulty, content })
    }

    /// The task in words, for a language model.
    pub fn prompt(&self) -> String {
        match &self.content {
            Content::Play(task) => prompt::of_play(task),
            Content::Formula(task) => prompt::of_formula(task),
        }
    }

    /// The rules of the games.
    pub fn rules(&self) -> &Rules {
        match &self.content {
            Content::Play(task) => &task.rules,
            Content::Formula(task) => &task.rules,
        }
    }
}
