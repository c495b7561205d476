//! What runs on a terminal: it draws, and reacts to keys and to time.

use std::ops::ControlFlow;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;

/// A program on a terminal.
pub trait Program {
    /// Draws the screen; the buffer is empty and as large as the terminal.
    fn draw(&self, buffer: &mut Buffer);

    /// Reacts to a key; `Break` ends the program.
    fn press(&mut self, key: KeyCode) -> ControlFlow<()>;

    /// Lets time pass.
    fn pass(&mut self, time: Duration);
}
