//! A pilot and all that it has chosen in a game, or on one side of a match.
//!
//! Past choices are stored: after a step back the game continues unchanged, and no choice is computed twice.

use super::pilot::Pilot;
use super::reasons::Reasons;
use tetrion_core::engine::Placement;
use tetrion_toolkit::recording::Course;

/// A pilot with its choices.
#[derive(Clone, Debug)]
pub struct ChosenActions {
    pilot: Pilot,
    /// All chosen actions, including actions after the current step.
    known: Vec<u16>,
    /// Chosen placement of each piece; `None` for an agent that just presses keys.
    targets: Vec<Option<Placement>>,
}

impl ChosenActions {
    /// A pilot before its first choice.
    pub fn new(pilot: Pilot) -> ChosenActions {
        ChosenActions { pilot, known: Vec::new(), targets: Vec::new() }
    }

    /// Name of the player, as screens and recordings show it.
    pub fn name(&self) -> &str {
        self.pilot.name()
    }

    /// All chosen actions, including the next one as soon as it is chosen.
    pub fn known(&self) -> &[u16] {
        &self.known
    }

    /// The action of this step, if it is chosen already.
    pub fn next_known(&self, course: &Course) -> Option<u16> {
        self.known.get(course.steps() as usize).copied()
    }

    /// Thinks until the action of this step is chosen or `work` is used up, and subtracts the work done. Returns the action if
    /// it is chosen.
    pub fn choose(&mut self, course: &Course, work: &mut u64) -> Option<u16> {
        if course.end().is_some() {
            return None;
        }
        if self.next_known(course).is_none() {
            let action = self.pilot.next_action(course, work);
            self.known.extend(action);
            if action.is_some() && self.targets.len() as u64 == course.outcome().pieces {
                self.targets.push(self.pilot.decided());
            }
        }
        self.next_known(course)
    }

    /// Starts thinking about the next piece, after one has landed for the first time.
    pub fn landed(&mut self) {
        self.pilot.landed();
    }

    /// Forgets what was chosen after this step, because the game may go on in another way.
    pub fn forget_after(&mut self, course: &Course) {
        self.known.truncate(course.steps() as usize + 1);
        self.targets.truncate(course.outcome().pieces as usize + 1);
        if self.next_known(course).is_none() {
            self.pilot.landed();
        }
    }

    /// Reasons for the chosen placement of the current piece, if weights or a formula chose it.
    pub fn reasons(&self, course: &Course) -> Option<Reasons> {
        let values = self.pilot.values()?;
        let target = (*self.targets.get(course.outcome().pieces as usize)?)?;
        // After keys have held a piece, the target is a placement of the current piece.
        let is_held = course.moving().is_some_and(|piece| piece.is_swapped());
        let target = if is_held { target.holding(false) } else { target };
        Reasons::of(self.name(), values, course, target)
    }
}
