//! A playfield on the screen, in a frame.
//!
//! Cells are square: twice as many columns as lines or, on a screen that is too low for that, one column of half a line.

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::widgets::{Block, Widget};

use super::palette::{Palette, ScreenCell};
use tetrion_toolkit::recording::{Cell, Scene, SceneCells};

/// The size of a cell; small screens have smaller cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellSize {
    /// This many lines, and twice as many columns.
    Wide(u16),
    /// One column of half a line.
    Half,
}

impl CellSize {
    /// Columns and lines of a playfield with its frame.
    pub fn of_board(self, width: u8, height: u8) -> Size {
        let (width, height) = (u16::from(width), u16::from(height));
        match self {
            CellSize::Wide(lines) => Size::new(2 * lines * width + 2, lines * height + 2),
            CellSize::Half => Size::new(width + 2, height.div_ceil(2) + 2),
        }
    }
}

/// A playfield with everything drawn on it.
#[derive(Clone, Copy, Debug)]
pub struct Board<'a> {
    pub scene: &'a Scene,
    /// Number of rows to show, from the lowest.
    pub rows: u8,
    /// Cells of the hinted placement.
    pub hint: Option<SceneCells>,
    pub name: &'a str,
    pub cells: CellSize,
    pub palette: Palette,
}

impl Board<'_> {
    /// Columns for the name on a board of this width.
    pub fn name_width(board: u16) -> usize {
        board.saturating_sub(4).into()
    }

    /// Content of a cell. Row 0 is the lowest.
    fn cell(&self, row: u8, column: u8) -> ScreenCell {
        let is_of = |cells: &[(u8, u8)]| cells.contains(&(row, column));
        let scene = self.scene;
        if let Some(current) = &scene.current {
            if is_of(&current.cells) {
                return ScreenCell::Current(current.piece);
            }
            if self.hint.is_some_and(|cells| is_of(&cells)) {
                return ScreenCell::Hint;
            }
            if scene.ghost.is_some_and(|cells| is_of(&cells)) {
                return ScreenCell::Ghost(current.piece);
            }
        }
        match scene.cells.get(row, column) {
            Cell::Empty => ScreenCell::Empty,
            Cell::Of(piece) if is_of(&scene.last) => ScreenCell::Last(piece),
            Cell::Of(piece) => ScreenCell::Landed(Some(piece)),
            Cell::Given => ScreenCell::Landed(None),
        }
    }
}

impl Widget for Board<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (palette, width, height) = (self.palette, self.scene.cells.width(), self.rows);
        let size = self.cells.of_board(width, height);
        let area = Rect { width: size.width, height: size.height, ..area }.intersection(buffer.area);
        let name: String = self.name.chars().take(Board::name_width(size.width)).collect();
        let frame = Block::bordered().border_set(palette.frame()).border_style(palette.label());
        let frame = frame.title(ratatui::text::Span::styled(format!(" {name} "), palette.strong()));
        let inner = frame.inner(area);
        frame.render(area, buffer);
        for row in 0..height {
            for column in 0..width {
                let (across, down) = (u16::from(column), u16::from(height - 1 - row));
                match self.cells {
                    CellSize::Wide(lines) => {
                        let cell = self.cell(row, column);
                        for line in 0..lines {
                            let (text, style) = palette.wide(cell, lines, line);
                            let (x, y) = (inner.x + 2 * lines * across, inner.y + lines * down + line);
                            buffer.set_string(x, y, text, style);
                        }
                    }
                    CellSize::Half if down.is_multiple_of(2) => {
                        let lower = if row == 0 { ScreenCell::Empty } else { self.cell(row - 1, column) };
                        let (text, style) = palette.half(self.cell(row, column), lower);
                        buffer.set_string(inner.x + across, inner.y + down / 2, text, style);
                    }
                    CellSize::Half => {}
                }
            }
        }
        // Waiting garbage appears as a bar on the frame, as high as its number of lines.
        let waiting: u16 = self.scene.garbage.iter().map(|&lines| u16::from(lines)).sum();
        let bar = match self.cells {
            CellSize::Wide(lines) => lines * waiting,
            CellSize::Half => waiting.div_ceil(2),
        };
        let (text, style) = palette.alarm();
        for line in (inner.top()..inner.bottom()).rev().take(bar.into()) {
            buffer.set_string(area.x, line, text, style);
        }
    }
}
