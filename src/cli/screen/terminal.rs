//! The owner of the terminal: opens its screen, reads its keys, and puts it back however the program ends.
//!
//! Only one thing may write to a terminal at a time, so nothing is logged and no progress is shown meanwhile.

use std::io::{IsTerminal, stdin, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use ratatui::DefaultTerminal;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use ratatui::crossterm::style::force_color_output;

use crate::cli::interrupt::{INTERRUPTED, Interrupt};
use crate::cli::options::UsageError;

/// How long a picture stays at least, unless a key is pressed.
const FRAME: Duration = Duration::from_millis(33);

/// What is shown on a terminal.
pub trait Program {
    /// Draws the screen; the buffer is empty and as large as the terminal.
    fn draw(&self, buffer: &mut Buffer);

    /// A key was pressed; `Break` ends the program.
    fn press(&mut self, key: KeyCode) -> ControlFlow<()>;

    /// Time has passed.
    fn pass(&mut self, time: Duration);
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// By a key of its own.
    Quit,
    /// By Ctrl-C or SIGTERM: the exit code for it.
    Interrupted(u8),
}

impl From<Left> for ExitCode {
    fn from(left: Left) -> ExitCode {
        match left {
            Left::Quit => ExitCode::SUCCESS,
            Left::Interrupted(code) => ExitCode::from(code),
        }
    }
}

/// Checks that a person is there.
///
/// # Errors
/// [`UsageError`] if stdin or stdout is no terminal, or one that can move no cursor.
pub fn check() -> Result<(), UsageError> {
    let streams = [("stdin", stdin().is_terminal()), ("stdout", stdout().is_terminal())];
    if let Some((stream, _)) = streams.into_iter().find(|(_, is_terminal)| !is_terminal) {
        return Err(UsageError(format!("this needs a terminal, and {stream} is none")));
    }
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        return Err(UsageError("this needs a terminal whose cursor moves, and TERM is dumb".to_owned()));
    }
    Ok(())
}

/// Runs a program until it ends. A panic, too, puts the terminal back before it is reported.
///
/// # Errors
/// As [`check`], and when the terminal cannot be read or written.
pub fn run(program: &mut impl Program) -> anyhow::Result<Left> {
    check()?;
    let interrupt = Interrupt::watch_with_sigterm()?;
    let mut screen = Screen::open()?;
    let mut last = Instant::now();
    loop {
        let draw = |frame: &mut ratatui::Frame<'_>| program.draw(frame.buffer_mut());
        screen.0.draw(draw).context("cannot write to the terminal")?;
        if let ControlFlow::Break(left) = read_keys(program, &interrupt)? {
            return Ok(left);
        }
        let now = Instant::now();
        program.pass(now - last);
        last = now;
    }
}

/// Waits for a key or the end of a frame, and hands over all keys that wait.
fn read_keys(program: &mut impl Program, interrupt: &Interrupt) -> anyhow::Result<ControlFlow<Left>> {
    let mut wait = FRAME;
    while poll(wait).context("cannot read from the terminal")? {
        wait = Duration::ZERO;
        let Event::Key(key) = read().context("cannot read from the terminal")? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        if is_interrupt(&key) {
            return Ok(ControlFlow::Break(Left::Interrupted(INTERRUPTED)));
        }
        if program.press(key.code).is_break() {
            return Ok(ControlFlow::Break(Left::Quit));
        }
    }
    Ok(match interrupt.exit_code() {
        Some(code) => ControlFlow::Break(Left::Interrupted(code)),
        None => ControlFlow::Continue(()),
    })
}

/// Ctrl-C is a key like any other here.
fn is_interrupt(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// A screen of its own, which goes when this is dropped.
struct Screen(DefaultTerminal);

impl Screen {
    fn open() -> anyhow::Result<Screen> {
        // The palette has heeded NO_COLOR, or a flag has overruled it.
        force_color_output(true);
        let opened = ratatui::try_init().context("cannot open a screen on this terminal");
        if opened.is_err() {
            let _ = ratatui::try_restore();
        }
        Ok(Screen(opened?))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nothing to be done about a terminal that has gone.
        let _ = ratatui::try_restore();
    }
}
