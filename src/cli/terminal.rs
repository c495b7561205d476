//! The owner of the terminal: opens a screen, reads keys, and restores the terminal however the program ends.
//!
//! Only one thread may write to a terminal at a time, so nothing logs or shows progress in the meantime. Texts from
//! servers and files may be on the screen. Only this file removes the characters that a terminal would obey.

use std::io::{self, IsTerminal, stdin, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::force_color_output;
use ratatui::crossterm::terminal::EnterAlternateScreen;
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, TerminalOptions, Viewport};

use super::interrupt::{INTERRUPTED, Interrupt};
use crate::input::UsageError;
use crate::text::escapes::is_obeyed;
use crate::viewers::Program;

/// Time between two frames, unless a key is pressed.
const FRAME: Duration = Duration::from_millis(33);
/// Largest screen in columns and rows; a larger terminal shows it in its corner. Some terminals report 65,535 of both,
/// which would take hundreds of gigabytes.
const MAX_SIZE: (u16, u16) = (1_000, 500);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By a key of the program.
    Quit,
    /// By Ctrl-C, SIGTERM or SIGHUP, with the exit code.
    Interrupted(u8),
}

impl Exit {
    /// The exit code, given the outcome of printing the report.
    ///
    /// # Errors
    /// If the report could not be printed. A signal's exit code takes precedence, because the terminal may be gone.
    pub fn exit_code(self, printed: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
        match self {
            Exit::Quit => printed.map(|()| ExitCode::SUCCESS),
            Exit::Interrupted(code) => Ok(ExitCode::from(code)),
        }
    }
}

/// Checks that a user sits at a capable terminal.
///
/// # Errors
/// [`UsageError`] if stdin or stdout is not a terminal, or the terminal cannot move its cursor.
pub fn check() -> Result<(), UsageError> {
    let streams = [("stdin", stdin().is_terminal()), ("stdout", stdout().is_terminal())];
    if let Some((stream, _)) = streams.into_iter().find(|(_, is_terminal)| !is_terminal) {
        return Err(UsageError(format!("this needs a terminal, but {stream} is not one")));
    }
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        return Err(UsageError("this needs a terminal with a movable cursor, but TERM is dumb".to_owned()));
    }
    Ok(())
}

/// Runs a program until it ends, on a terminal that [`check`] has accepted. Restores the terminal even after a panic,
/// before the panic is reported.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn run(program: &mut impl Program) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::watch_every_end()?;
    let mut screen = Screen::open()?;
    let mut last = Instant::now();
    loop {
        screen.draw(program).context("cannot write to the terminal")?;
        if let ControlFlow::Break(left) = read_keys(program, &interrupt)? {
            return Ok(left);
        }
        let now = Instant::now();
        program.pass(now - last);
        last = now;
    }
}

/// Waits for a key or the end of a frame, and passes all waiting keys to the program.
fn read_keys(program: &mut impl Program, interrupt: &Interrupt) -> anyhow::Result<ControlFlow<Exit>> {
    let mut wait = FRAME;
    while poll(wait).context("cannot read from the terminal")? {
        wait = Duration::ZERO;
        let Event::Key(key) = read().context("cannot read from the terminal")? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        if is_interrupt(&key) {
            return Ok(ControlFlow::Break(Exit::Interrupted(INTERRUPTED)));
        }
        if program.press(key.code).is_break() {
            return Ok(ControlFlow::Break(Exit::Quit));
        }
    }
    Ok(match interrupt.exit_code() {
        Some(code) => ControlFlow::Break(Exit::Interrupted(code)),
        None => ControlFlow::Continue(()),
    })
}

/// In raw mode, Ctrl-C arrives as a key.
fn is_interrupt(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// An alternate screen, closed when this value is dropped.
struct Screen {
    terminal: DefaultTerminal,
    /// Area to draw on.
    area: Rect,
}

impl Screen {
    fn open() -> anyhow::Result<Screen> {
        // The palette has already obeyed NO_COLOR, unless a flag overrides it.
        force_color_output(true);
        let area = Rect::ZERO;
        let open = || -> io::Result<Screen> {
            let options = TerminalOptions { viewport: Viewport::Fixed(area) };
            let terminal = ratatui::try_init_with_options(options)?;
            execute!(stdout(), EnterAlternateScreen)?;
            Ok(Screen { terminal, area })
        };
        let opened = open().context("cannot open a screen on this terminal");
        if opened.is_err() {
            let _ = ratatui::try_restore();
        }
        opened
    }

    /// Draws the program at the terminal's current size.
    fn draw(&mut self, program: &impl Program) -> io::Result<()> {
        let size = self.terminal.size()?;
        let area = Rect::new(0, 0, size.width.min(MAX_SIZE.0), size.height.min(MAX_SIZE.1));
        if area != self.area {
            self.terminal.resize(area)?;
            self.area = area;
        }
        self.terminal.draw(|frame| {
            program.draw(frame.buffer_mut());
            remove_obeyed_characters(frame.buffer_mut());
        })?;
        Ok(())
    }
}

/// Removes characters that a terminal would obey from all cells.
fn remove_obeyed_characters(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().contains(is_obeyed) {
            let shown: String = cell.symbol().chars().filter(|letter| !is_obeyed(*letter)).collect();
            cell.set_symbol(if shown.is_empty() { " " } else { &shown });
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // If the terminal is gone, nothing can be done.
        let _ = ratatui::try_restore();
    }
}
