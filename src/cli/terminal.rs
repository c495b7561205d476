//! The owner of the terminal: opens its screen, reads its keys, and puts it back however the program ends.
//!
//! Only one thing may write to a terminal at a time, so nothing is logged and no progress is shown meanwhile. Texts of servers and
//! files may be on the screen: characters that a terminal would obey are left out of every cell, here and nowhere else.

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

/// How long a picture stays at least, unless a key is pressed.
const FRAME: Duration = Duration::from_millis(33);
/// The most columns and lines that are drawn, in the corner of a larger terminal: some say that they have 65,535 of either, which
/// would take hundreds of gigabytes.
const MOST: (u16, u16) = (1_000, 500);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// By a key of its own.
    Quit,
    /// By Ctrl-C, SIGTERM or SIGHUP: the exit code for it.
    Interrupted(u8),
}

impl Left {
    /// The exit code, once a report was printed, or could not be.
    ///
    /// # Errors
    /// If the report could not be printed; after a signal there may be no terminal to print to.
    pub fn exit_code(self, printed: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
        match self {
            Left::Quit => printed.map(|()| ExitCode::SUCCESS),
            Left::Interrupted(code) => Ok(ExitCode::from(code)),
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

/// Runs a program until it ends, on a terminal that was [checked](check). A panic, too, puts the terminal back before it is
/// reported.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn run(program: &mut impl Program) -> anyhow::Result<Left> {
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
struct Screen {
    terminal: DefaultTerminal,
    /// What is drawn on.
    area: Rect,
}

impl Screen {
    fn open() -> anyhow::Result<Screen> {
        // The palette has heeded NO_COLOR, or a flag has overruled it.
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

    /// Draws the program as large as the terminal is by now.
    fn draw(&mut self, program: &impl Program) -> io::Result<()> {
        let size = self.terminal.size()?;
        let area = Rect::new(0, 0, size.width.min(MOST.0), size.height.min(MOST.1));
        if area != self.area {
            self.terminal.resize(area)?;
            self.area = area;
        }
        self.terminal.draw(|frame| {
            program.draw(frame.buffer_mut());
            leave_out_what_is_obeyed(frame.buffer_mut());
        })?;
        Ok(())
    }
}

/// Takes the characters out of all cells that a terminal would obey.
fn leave_out_what_is_obeyed(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().contains(is_obeyed) {
            let shown: String = cell.symbol().chars().filter(|letter| !is_obeyed(*letter)).collect();
            cell.set_symbol(if shown.is_empty() { " " } else { &shown });
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nothing to be done about a terminal that has gone.
        let _ = ratatui::try_restore();
    }
}
