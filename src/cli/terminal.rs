//! The owner of the terminal: opens a screen, reads keys, and restores the terminal however the program ends.
//!
//! Only one thread may write to a terminal at a time, so nothing logs or shows progress in the meantime. Texts from
//! servers and files may be on the screen. Only this file removes the characters that a terminal would obey.

use std::io::{self, IsTerminal, stdin, stdout};
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::Context;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::force_color_output;
use ratatui::crossterm::terminal::EnterAlternateScreen;
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, TerminalOptions, Viewport};

use super::interrupt::{HUNG_UP, INTERRUPTED, Interrupt};
use crate::input::UsageError;
use crate::text::escapes::is_obeyed;
use crate::viewers::TerminalProgram;

/// Time between two frames, unless a key is pressed.
const FRAME: Duration = Duration::from_millis(33);
/// Largest screen in columns and rows; a larger terminal shows it in its corner. Some terminals report 65,535 of both,
/// which would take hundreds of gigabytes.
const MAX_SIZE: (u16, u16) = (1_000, 500);

/// The reason why a program left the screen, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By a key of the program.
    Quit,
    /// By Ctrl-C, SIGTERM or SIGHUP, or because the terminal has closed; with the exit code.
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
/// If the terminal cannot be read or written, unless it has closed.
pub fn run(program: &mut impl TerminalProgram) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::watch_every_end()?;
    let end = || interrupt.exit_code().or_else(|| is_closed().then_some(HUNG_UP)).map(Exit::Interrupted);
    let ended = run_until(program, end);
    // Errors after the end of the terminal follow from it.
    end().map_or(ended, Ok)
}

/// Runs a program until it ends, or until `end` says how.
fn run_until(program: &mut impl TerminalProgram, end: impl Fn() -> Option<Exit>) -> anyhow::Result<Exit> {
    let mut screen = Screen::open()?;
    let events = events()?;
    let mut last = Instant::now();
    loop {
        if let Some(exit) = end() {
            return Ok(exit);
        }
        screen.draw(program).context("cannot write to the terminal")?;
        let mut wait = FRAME;
        while let Ok(event) = events.recv_timeout(wait) {
            wait = Duration::ZERO;
            let Event::Key(key) = event.context("cannot read from the terminal")? else { continue };
            match Wish::from_key(&key) {
                Wish::Press(code) if program.press(code).is_break() => return Ok(Exit::Quit),
                Wish::Interrupt => return Ok(Exit::Interrupted(INTERRUPTED)),
                Wish::Suspend => {
                    drop(screen);
                    suspend();
                    screen = Screen::open()?;
                    // No time has passed for the program.
                    last = Instant::now();
                }
                Wish::Press(_) | Wish::Nothing => {}
            }
        }
        let now = Instant::now();
        program.pass(now - last);
        last = now;
    }
}

/// Reads the events of the terminal on a separate thread: once the terminal has closed, crossterm neither returns nor
/// fails, but reads forever.
fn events() -> anyhow::Result<Receiver<io::Result<Event>>> {
    let (sender, events) = mpsc::channel();
    let forward = move || {
        loop {
            let event = read();
            let is_last = event.is_err();
            if sender.send(event).is_err() || is_last {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("terminal".to_owned()).spawn(forward);
    thread.context("cannot read from the terminal")?;
    Ok(events)
}

/// Whether the terminal has closed. Its signal may not come, for example under `nohup`.
#[cfg(unix)]
fn is_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut terminal, Some(&at_once)).is_ok() && terminal[0].revents().contains(PollFlags::HUP)
}

#[cfg(not(unix))]
fn is_closed() -> bool {
    false
}

/// Stops the processes of this job until the shell continues them, like Ctrl-Z outside of raw mode.
fn suspend() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, kill_current_process_group};
        // Without a shell to continue them, the system ignores this.
        let _ = kill_current_process_group(Signal::TSTP);
    }
}

/// What a key asks for.
enum Wish {
    /// Ctrl-C, which ends the program.
    Interrupt,
    /// Ctrl-Z: the shell, for a while.
    Suspend,
    /// A key of the program.
    Press(KeyCode),
    /// The end of a key press, or a combination without a meaning.
    Nothing,
}

impl Wish {
    /// In raw mode, Ctrl-C and Ctrl-Z arrive as keys. Shift is part of a letter.
    fn from_key(key: &KeyEvent) -> Wish {
        let modifiers = key.modifiers.difference(KeyModifiers::SHIFT);
        match (key.code, modifiers) {
            _ if key.kind == KeyEventKind::Release => Wish::Nothing,
            (KeyCode::Char('c'), KeyModifiers::CONTROL) => Wish::Interrupt,
            (KeyCode::Char('z'), KeyModifiers::CONTROL) => Wish::Suspend,
            (code, KeyModifiers::NONE) => Wish::Press(code),
            _ => Wish::Nothing,
        }
    }
}

/// An alternate screen, closed when this value is dropped.
struct Screen {
    /// Never dropped: it would panic on a closed terminal, where its message cannot be written either.
    terminal: ManuallyDrop<DefaultTerminal>,
    /// The part of the terminal to draw on, at most [`MAX_SIZE`].
    area: Rect,
}

impl Screen {
    fn open() -> anyhow::Result<Screen> {
        // The palette has already obeyed NO_COLOR, unless a flag overrides it.
        force_color_output(true);
        let area = Rect::ZERO;
        let open = || -> io::Result<Screen> {
            let options = TerminalOptions { viewport: Viewport::Fixed(area) };
            let terminal = ManuallyDrop::new(ratatui::try_init_with_options(options)?);
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
    fn draw(&mut self, program: &impl TerminalProgram) -> io::Result<()> {
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
        let _ = self.terminal.show_cursor();
        let _ = ratatui::try_restore();
    }
}
