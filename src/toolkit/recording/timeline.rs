//! A game that can be stepped through in both directions, in bounded memory.

use tetrion_core::engine::ActionRefused;

use super::course::Course;

/// The largest number of checkpoints. Each takes about two kilobytes.
const MAX_CHECKPOINTS: usize = 512;

/// A game at some step, and copies of it at earlier steps.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    course: Course,
    /// The game at every multiple of `spacing` that it has reached, starting at step 0.
    checkpoints: Vec<Course>,
    spacing: usize,
}

impl Timeline {
    /// A timeline that begins with the game as it is now.
    pub fn new(course: Course) -> Timeline {
        Timeline { checkpoints: vec![course.clone()], course, spacing: 16 }
    }

    /// The game at the current step.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// Plays [a turn](Course::play_turn), and keeps a copy of the game now and then.
    pub fn play(&mut self, turn: [u16; 2]) -> Result<[Option<u8>; 2], (usize, ActionRefused)> {
        let lines = self.course.play_turn(turn)?;
        if self.course.steps() == (self.checkpoints.len() * self.spacing) as u64 {
            if self.checkpoints.len() == MAX_CHECKPOINTS {
                // Drops every other checkpoint. This step is also a multiple of twice the spacing.
                let mut keep = [false, true].into_iter().cycle();
                self.checkpoints.retain(|_| !keep.next().is_some_and(|odd| odd));
                self.spacing *= 2;
            }
            self.checkpoints.push(self.course.clone());
        }
        Ok(lines)
    }

    /// Goes to a step that has already been reached by the turns that `turn` gives for each step.
    pub fn seek(&mut self, step: usize, turn: impl Fn(usize) -> [u16; 2]) {
        let checkpoint = (step / self.spacing).min(self.checkpoints.len() - 1);
        let here = self.course.steps() as usize;
        if step < here || here < checkpoint * self.spacing {
            self.course = self.checkpoints[checkpoint].clone();
        }
        for step in self.course.steps() as usize..step {
            self.play(turn(step)).expect("these actions have been played");
        }
    }

    /// Drops the checkpoints after this step, because another game may follow.
    pub fn forget_future(&mut self) {
        self.checkpoints.truncate(1 + self.course.steps() as usize / self.spacing);
    }
}
