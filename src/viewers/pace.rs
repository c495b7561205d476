//! The speed of games on a terminal, which keys change.

use std::time::Duration;

use crate::text::numbers::count;
use tetrion_core::engine::{ActionModel, Rules};

/// Speeds in steps per second, among which the keys choose.
const SPEEDS: [u32; 16] =
    [1, 2, 4, 8, 12, 25, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000];

/// Steps that become due as time passes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Steps per second.
    speed: u32,
    /// Time since the last step, as a fraction of a step.
    due: f64,
}

impl Pace {
    /// A speed in steps per second; `None` for the usual speed of these rules.
    pub fn new(speed: Option<u32>, rules: &Rules) -> Pace {
        let usual = if rules.action_model == ActionModel::Keypress { 12 } else { 4 };
        Pace { speed: speed.unwrap_or(usual), due: 0.0 }
    }

    /// Takes the next speed of the list, or the one before.
    pub fn change(&mut self, faster: bool) {
        let next = if faster {
            SPEEDS.into_iter().find(|speed| *speed > self.speed)
        } else {
            SPEEDS.into_iter().rev().find(|speed| *speed < self.speed)
        };
        self.speed = next.unwrap_or(self.speed);
    }

    /// Forgets the part of a step that has passed.
    pub fn restart(&mut self) {
        self.due = 0.0;
    }

    /// Number of whole steps that are due after this much more time.
    pub fn pass(&mut self, time: Duration) -> u64 {
        self.due += time.as_secs_f64() * f64::from(self.speed);
        let steps = self.due.floor();
        self.due -= steps;
        steps as u64
    }

    /// `4 steps/s`.
    pub fn in_words(&self) -> String {
        format!("{}/s", count(self.speed.into(), "step"))
    }
}
