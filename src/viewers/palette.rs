//! The colours and characters of cells.
//!
//! The colours are among the 256 that practically every terminal supports, even over ssh.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use tetrion_core::engine::{Piece, Tetromino};

/// A colour scheme, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// Standard colours since 2001: cyan, yellow, purple, red, green, blue, orange.
    Usual,
    /// Seven colours that are safe for colour-blind people (Okabe and Ito 2008).
    ColourBlind,
    /// No colours, and no characters beyond ASCII.
    Ascii,
}

/// Content of a cell on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenCell {
    Empty,
    /// A landed cell, with its piece; `None` for a cell of the initial playfield or of garbage.
    Landed(Option<Piece>),
    /// A cell of the last landed piece.
    Last(Piece),
    /// A cell of the current piece.
    Current(Piece),
    /// A cell where the current piece would land.
    Ghost(Piece),
    /// A cell of the hinted placement.
    Hint,
}

impl Palette {
    /// The chosen palette. By default, the standard colours, or ASCII without colours.
    pub fn wanted(asked: Option<Palette>, is_without_colours: bool) -> Palette {
        asked.unwrap_or(if is_without_colours { Palette::Ascii } else { Palette::Usual })
    }

    /// Colour of a piece; the terminal's default without colours. From the eighth piece of a set on, the colours
    /// repeat.
    pub fn colour(self, piece: Piece) -> Color {
        let colours = match self {
            Palette::Usual => [44, 220, 134, 167, 71, 69, 208],
            Palette::ColourBlind => [74, 227, 175, 166, 36, 25, 178],
            Palette::Ascii => return Color::Reset,
        };
        Color::Indexed(colours[piece.index() % colours.len()])
    }

    /// The bar for waiting garbage.
    pub fn alarm(self) -> (&'static str, Style) {
        match self {
            Palette::Ascii => ("!", Style::new().add_modifier(Modifier::BOLD)),
            _ => ("█", Style::new().fg(self.colour(Tetromino::Z))),
        }
    }

    /// A line of a cell with this many lines and twice as many columns.
    pub fn wide(self, cell: ScreenCell, lines: u16, line: u16) -> (String, Style) {
        let (ends, style) = self.ends(cell);
        let between = usize::from(2 * lines - 2);
        let text = match ends.as_bytes() {
            // An empty cell has one dot.
            _ if cell == ScreenCell::Empty && line != lines / 2 => " ".repeat(between + 2),
            _ if cell == ScreenCell::Empty => {
                let before = usize::from(lines - 1);
                format!("{:before$}{ends}{:before$}", "", "")
            }
            [left, right] if left == right => ends[..1].repeat(between + 2),
            _ => format!("{}{:between$}{}", &ends[..1], "", &ends[1..]),
        };
        (text, style)
    }

    /// Both ends of a line of a cell.
    fn ends(self, cell: ScreenCell) -> (&'static str, Style) {
        let plain = Style::new();
        if self == Palette::Ascii {
            return match cell {
                ScreenCell::Empty => (" .", plain.add_modifier(Modifier::DIM)),
                ScreenCell::Landed(_) => ("[]", plain),
                ScreenCell::Last(_) => ("{}", plain),
                ScreenCell::Current(_) => ("##", plain.add_modifier(Modifier::BOLD)),
                ScreenCell::Ghost(_) => ("::", plain),
                ScreenCell::Hint => ("++", plain.add_modifier(Modifier::BOLD)),
            };
        }
        match cell {
            ScreenCell::Empty => (" ·", plain.fg(Color::Indexed(238))),
            ScreenCell::Landed(_) | ScreenCell::Current(_) => ("  ", plain.bg(self.full(cell))),
            ScreenCell::Last(_) => ("[]", plain.fg(Color::Indexed(16)).bg(self.full(cell))),
            ScreenCell::Ghost(piece) => ("[]", plain.fg(self.colour(piece))),
            ScreenCell::Hint => ("<>", plain.fg(self.full(cell)).add_modifier(Modifier::BOLD)),
        }
    }

    /// Two cells in one column, upper and lower, for palettes with colours.
    pub fn half(self, upper: ScreenCell, lower: ScreenCell) -> (&'static str, Style) {
        let plain = Style::new();
        match (upper, lower) {
            (ScreenCell::Empty, ScreenCell::Empty) => (" ", plain),
            (upper, ScreenCell::Empty) => ("▀", plain.fg(self.full(upper))),
            (ScreenCell::Empty, lower) => ("▄", plain.fg(self.full(lower))),
            (upper, lower) => ("▀", plain.fg(self.full(upper)).bg(self.full(lower))),
        }
    }

    /// Whether two cells fit into one column.
    pub fn has_halves(self) -> bool {
        self != Palette::Ascii
    }

    /// The colour of a non-empty cell.
    fn full(self, cell: ScreenCell) -> Color {
        match cell {
            ScreenCell::Last(piece) | ScreenCell::Current(piece) | ScreenCell::Landed(Some(piece)) => {
                self.colour(piece)
            }
            ScreenCell::Landed(None) => Color::Indexed(245),
            ScreenCell::Empty | ScreenCell::Ghost(_) => Color::Indexed(240),
            ScreenCell::Hint => Color::Indexed(231),
        }
    }

    /// Style of words that name something, less bright than values.
    pub fn label(self) -> Style {
        match self {
            Palette::Ascii => Style::new().add_modifier(Modifier::DIM),
            Palette::Usual | Palette::ColourBlind => Style::new().fg(Color::Indexed(245)),
        }
    }

    /// Style of important words and numbers.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Characters for the frame around a playfield.
    pub fn frame(self) -> border::Set<'static> {
        const ASCII: border::Set<'static> = border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        };
        match self {
            Palette::Ascii => ASCII,
            Palette::Usual | Palette::ColourBlind => border::PLAIN,
        }
    }

    /// Style of a heat cell, from 0, the worst, to 9, the best.
    pub fn heat(self, level: u8) -> Style {
        // From "viridis", whose brightness increases evenly.
        const LEVELS: [u8; 10] = [53, 54, 60, 61, 67, 73, 72, 77, 149, 226];
        match self {
            Palette::Ascii => Style::new(),
            Palette::Usual | Palette::ColourBlind => {
                let level = usize::from(level.min(9));
                let ink = if level >= 5 { 16 } else { 231 };
                Style::new().fg(Color::Indexed(ink)).bg(Color::Indexed(LEVELS[level]))
            }
        }
    }
}
