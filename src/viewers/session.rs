//! The screen of `tetrion watch --session`. Another thread adds frames; the viewer can pause and go back.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;

use super::history::{FrameHistory, LinkState, TimedFrame};
use super::{Palette, ScreenPlayer, Show, TerminalProgram};
use crate::text::numbers::{count, grouped};
use tetrion_client::{EpisodePhase, WatchedEnv, WatchedEpisode, WatchedSession};
use tetrion_core::engine::Rules;

/// Number of frames that a page key skips.
const PAGE: u64 = 100;

const KEYS: [&str; 8] = [
    "space pause",
    "left/right frame",
    "q quit",
    "tab next envs",
    "end newest",
    "1-9 how many, 0 all",
    "home oldest",
    "pgup/pgdn 100 frames",
];

/// The screen of a watched session: live, paused, or going through past frames.
#[derive(Debug)]
pub struct SessionViewer {
    session: WatchedSession,
    kept: Arc<Mutex<FrameHistory>>,
    palette: Palette,
    /// Number of the shown frame; `None` for the newest.
    at: Option<u64>,
    is_paused: bool,
    /// Time of the replay, during replays of past frames.
    time: Duration,
    /// Index of the first environment on the screen, and the most to show.
    first: usize,
    most: Option<usize>,
    /// Number of environments in the last drawing.
    shown: Cell<usize>,
}

impl SessionViewer {
    /// A viewer of these frames.
    pub fn new(
        session: WatchedSession,
        kept: Arc<Mutex<FrameHistory>>,
        palette: Palette,
        is_paused: bool,
    ) -> SessionViewer {
        let at = is_paused.then_some(0);
        let shown = Cell::new(1);
        SessionViewer {
            session,
            kept,
            palette,
            at,
            is_paused,
            time: Duration::ZERO,
            first: 0,
            most: None,
            shown,
        }
    }

    fn kept(&self) -> MutexGuard<'_, FrameHistory> {
        self.kept.lock().expect("a lock that is not poisoned")
    }

    /// Number of the shown frame.
    pub fn number(&self) -> u64 {
        let kept = self.kept();
        self.at.map_or(kept.newest(), |at| at.max(kept.oldest()))
    }

    /// Pauses at the frame with this number, or at the nearest that is still kept.
    fn stop_at(&mut self, number: u64) {
        let kept = self.kept();
        let number = number.clamp(kept.oldest(), kept.newest());
        drop(kept);
        (self.at, self.is_paused) = (Some(number), true);
    }

    /// Pauses, or resumes from the shown frame at the original speed.
    fn pause(&mut self) {
        let number = self.number();
        if !self.is_paused {
            return self.stop_at(number);
        }
        let kept = self.kept();
        let (is_newest, time) = (number == kept.newest(), kept.get(number).at);
        drop(kept);
        self.is_paused = false;
        (self.at, self.time) = if is_newest { (None, time) } else { (Some(number), time) };
    }

    /// Shows the next or the previous environments.
    fn turn(&mut self, forward: bool) {
        let (all, shown) = (self.session.env_ids.len(), self.shown.get().max(1));
        self.first = match forward {
            true if self.first + shown >= all => 0,
            true => self.first + shown,
            false if self.first == 0 => (all - 1) / shown * shown,
            false => self.first.saturating_sub(shown),
        };
    }

    /// The state as text, the most important part first. `envs` are on the screen.
    fn words(
        &self,
        kept: &FrameHistory,
        shown: &TimedFrame,
        envs: &[WatchedEnv],
        columns: usize,
    ) -> Vec<String> {
        let cut = |words: String| words.chars().take(columns).collect();
        let link = match &kept.link {
            LinkState::Up => String::new(),
            LinkState::Down(reason) => cut(format!("{reason}; trying again")),
            LinkState::Over(reason) => cut(reason.clone()),
        };
        let newest = kept.get(kept.newest());
        let behind = (newest.at.saturating_sub(shown.at)).as_secs_f64();
        let state = match (self.at, self.is_paused, &kept.link) {
            (None, _, LinkState::Up) => "live".to_owned(),
            (None, _, _) => String::new(),
            (_, true, _) => "paused".to_owned(),
            (_, false, _) => "replay".to_owned(),
        };
        let ago =
            if self.at.is_some() && behind > 0.0 { format!("{behind:.1} s back") } else { String::new() };
        let call = format!("call {}", grouped(shown.frame.sequence_number as f64));
        let which = match envs {
            [] | [_] => String::new(),
            envs => format!(
                "environments {} to {} of {}",
                envs[0].env_id,
                envs[envs.len() - 1].env_id,
                grouped(self.session.num_envs.into())
            ),
        };
        let mut words = vec![link, state, ago, call, which];
        if let [env] = envs {
            words.push(format!("episode {}", grouped(env.episode as f64)));
            words.push(format!("return {}", grouped(env.scene.score)));
            words.extend(env.last_episode.map(|WatchedEpisode { lines, pieces, .. }| {
                format!("last episode {}, {}", count(lines, "line"), count(pieces, "piece"))
            }));
        }
        words
    }

    /// The last state of the session as lines of text, with the reason if the call has ended.
    pub fn report(&self) -> String {
        let kept = self.kept();
        let frame = &kept.get(kept.newest()).frame;
        let WatchedSession { name, label, rules: Rules { width, height, .. }, .. } = &self.session;
        let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
        let mut text =
            format!("{name}{label} on {width} x {height}, call {}\n", grouped(frame.sequence_number as f64));
        for env in &frame.envs {
            let tetrion_toolkit::recording::Scene { lines, pieces, score, .. } = env.scene;
            text += &format!(
                "env {}: episode {}, {}, {}, return {score}{}\n",
                env.env_id,
                env.episode,
                count(lines, "line"),
                count(pieces, "piece"),
                match phase(env).as_str() {
                    "" => String::new(),
                    phase => format!(", {phase}"),
                }
            );
        }
        if let LinkState::Over(reason) | LinkState::Down(reason) = &kept.link {
            text += &format!("{reason}\n");
        }
        text
    }
}

/// Phase of an episode as text; empty while it runs.
fn phase(env: &WatchedEnv) -> String {
    match env.phase {
        EpisodePhase::NotStarted => "not begun".to_owned(),
        EpisodePhase::Running => String::new(),
        EpisodePhase::Ended(end) => end.to_string(),
    }
}

impl TerminalProgram for SessionViewer {
    fn draw(&self, buffer: &mut Buffer) {
        let rules = &self.session.rules;
        let kept = self.kept();
        let number = self.at.map_or(kept.newest(), |at| at.max(kept.oldest()));
        let shown = kept.get(number);
        let fitting = Show::most_seats(rules, self.palette, buffer.area);
        let count = self.most.map_or(fitting, |most| most.min(fitting));
        let envs = &shown.frame.envs[self.first.min(shown.frame.envs.len() - 1)..];
        let envs = &envs[..count.min(envs.len())];
        self.shown.set(envs.len());
        let names: Vec<String> = envs.iter().map(|env| format!("env {}", env.env_id)).collect();
        let notes: Vec<String> = envs
            .iter()
            .map(|env| match phase(env).as_str() {
                "" => format!("episode {}", env.episode),
                phase => phase.to_owned(),
            })
            .collect();
        let seats = envs.iter().zip(&names).zip(&notes).map(|((env, name), note)| ScreenPlayer {
            name,
            scene: env.scene.clone(),
            hint: None,
            note,
        });
        let words = self.words(&kept, shown, envs, usize::from(buffer.area.width));
        Show { seats: seats.collect(), rules, reasons: None, words, keys: &KEYS, palette: self.palette }
            .render(buffer);
    }

    fn press(&mut self, key: KeyCode) -> ControlFlow<()> {
        let number = self.number();
        match key {
            // Not Escape, which also starts the codes of arrow keys and may arrive separately over a slow line.
            KeyCode::Char('q') => return ControlFlow::Break(()),
            KeyCode::Char(' ' | 'p') => self.pause(),
            KeyCode::Left => self.stop_at(number.saturating_sub(1)),
            KeyCode::Right => self.stop_at(number + 1),
            KeyCode::PageUp => self.stop_at(number.saturating_sub(PAGE)),
            KeyCode::PageDown => self.stop_at(number + PAGE),
            KeyCode::Home => self.stop_at(0),
            KeyCode::End => (self.at, self.is_paused) = (None, false),
            KeyCode::Tab => self.turn(true),
            KeyCode::BackTab => self.turn(false),
            KeyCode::Char(digit @ '0'..='9') => {
                self.most = digit.to_digit(10).map(|digit| digit as usize).filter(|digit| *digit > 0);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pass(&mut self, time: Duration) {
        let Some(mut at) = self.at.filter(|_| !self.is_paused) else { return };
        self.time += time;
        let kept = self.kept();
        at = at.max(kept.oldest());
        while at < kept.newest() && kept.get(at + 1).at <= self.time {
            at += 1;
        }
        let at = (at < kept.newest()).then_some(at);
        drop(kept);
        self.at = at;
    }
}
