//! Programs on a terminal, which draw and react to keys and time.

use std::ops::ControlFlow;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;

/// A program on a terminal.
pub trait TerminalProgram {
    /// Draws the screen. The buffer is empty and as large as the terminal.
    fn draw(&self, buffer: &mut Buffer);

    /// Reacts to a key. `Break` ends the program.
    fn press(&mut self, key: KeyCode) -> ControlFlow<()>;

    /// Advances the program by this much time since the last call.
    fn pass(&mut self, time: Duration);
}
