//! The screen of `tetrion replay`: a recorded game, forward and back.

use std::ops::ControlFlow;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;

use super::pace::Pace;
use super::{Palette, ScreenPlayer, Show, TerminalProgram};
use crate::text::numbers::grouped;
use tetrion_toolkit::recording::{Recording, Replay};

/// Number of steps that a page key skips.
const PAGE: usize = 100;

const KEYS: [&str; 6] = [
    "space pause",
    "left/right step",
    "up/down speed",
    "q quit",
    "home/end first/last",
    "pgup/pgdn 100 steps",
];

/// A recorded game at some step.
#[derive(Debug)]
pub struct ReplayViewer<'a> {
    replay: &'a mut Replay,
    pace: Pace,
    is_paused: bool,
    palette: Palette,
}

impl<'a> ReplayViewer<'a> {
    /// Shows a replay from its current step on.
    pub fn new(replay: &'a mut Replay, palette: Palette) -> ReplayViewer<'a> {
        let pace = Pace::new(None, &replay.recording().setup.rules);
        ReplayViewer { replay, pace, is_paused: false, palette }
    }

    /// Pauses at a step, or at the last one.
    fn stop_at(&mut self, step: usize) {
        self.is_paused = true;
        self.replay.seek(step);
    }

    fn is_over(&self) -> bool {
        self.replay.step() == self.replay.num_steps()
    }
}

impl TerminalProgram for ReplayViewer<'_> {
    fn draw(&self, buffer: &mut Buffer) {
        let Recording { setup, player, origin, opponent, .. } = self.replay.recording();
        let names = [Some(player), opponent.as_ref().map(|side| &side.player)];
        let scenes = [Some(self.replay.scene()), self.replay.opponent_scene()];
        let notes: Vec<String> = (self.replay.course().sides())
            .map(|side| match side.end() {
                Some(end) => end.to_string(),
                None if setup.rules.is_match() => format!("sent {}", side.statistics().sent),
                None => String::new(),
            })
            .collect();
        let seats = (names.into_iter().zip(scenes)).zip(&notes).filter_map(|((name, scene), note)| {
            Some(ScreenPlayer { name: name?, scene: scene?, hint: None, note })
        });
        let state = match (self.is_over(), self.is_paused) {
            (true, _) => "over".to_owned(),
            (_, true) => "paused".to_owned(),
            _ => self.pace.in_words(),
        };
        let (step, steps) = (self.replay.step() as f64, self.replay.num_steps() as f64);
        let truth = match self.replay.difference() {
            None => "as recorded".to_owned(),
            Some(difference) => format!("not as recorded: {difference}"),
        };
        let words =
            vec![format!("step {} of {}", grouped(step), grouped(steps)), state, truth, origin.clone()];
        Show {
            seats: seats.collect(),
            rules: &setup.rules,
            reasons: None,
            words,
            keys: &KEYS,
            palette: self.palette,
        }
        .render(buffer);
    }

    fn press(&mut self, key: KeyCode) -> ControlFlow<()> {
        let step = self.replay.step();
        match key {
            // Not Escape, which also starts the codes of arrow keys and may arrive separately over a slow line.
            KeyCode::Char('q') => return ControlFlow::Break(()),
            KeyCode::Char(' ' | 'p') if self.is_over() => {
                self.replay.seek(0);
                self.is_paused = false;
            }
            KeyCode::Char(' ' | 'p') => self.is_paused = !self.is_paused,
            KeyCode::Right => self.stop_at(step + 1),
            KeyCode::Left => self.stop_at(step.saturating_sub(1)),
            KeyCode::PageDown => self.stop_at(step + PAGE),
            KeyCode::PageUp => self.stop_at(step.saturating_sub(PAGE)),
            KeyCode::Home => self.stop_at(0),
            KeyCode::End => self.stop_at(usize::MAX),
            KeyCode::Up | KeyCode::Char('+') => self.pace.change(true),
            KeyCode::Down | KeyCode::Char('-') => self.pace.change(false),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pass(&mut self, time: Duration) {
        if self.is_paused {
            return self.pace.restart();
        }
        let steps = self.pace.pass(time) as usize;
        self.replay.seek(self.replay.step().saturating_add(steps));
    }
}
