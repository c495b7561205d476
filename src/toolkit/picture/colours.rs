//! The colours of pieces, and of the other parts of a picture.

use crate::recording::Cell;
use tetrion_core::engine::{Piece, Tetromino};

/// A colour as red, green and blue.
pub type Rgb = [u8; 3];

/// Seven colours for the tetrominoes; in other sets they repeat from the eighth piece on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourScheme {
    /// The colours that pieces have had since 2001: cyan, yellow, purple, red, green, blue, orange.
    #[default]
    Usual,
    /// Seven colours for people with any kind of colour blindness, from Okabe and Ito (2008), "Color Universal
    /// Design".
    ColourBlind,
}

/// Named colour of a part of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ink {
    /// The area around everything else.
    Background,
    Empty,
    /// The lines between empty cells.
    Grid,
    /// The frame of the playfield.
    Frame,
    /// Words that name something.
    Label,
    /// Words and numbers that matter.
    Value,
    /// Around the cells of the last piece; rows that are about to go.
    Bright,
    /// The body of a full cell.
    Body(Hue),
    /// The upper edge of a full cell.
    Light(Hue),
    /// The lower edge of a full cell.
    Dark(Hue),
}

/// Source of a full cell, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hue {
    /// A piece, by its number.
    Piece(u8),
    /// Not a piece: the initial position, or garbage.
    Given,
}

impl Hue {
    /// Hue of a cell, if it is full.
    pub fn of(cell: Cell) -> Option<Hue> {
        match cell {
            Cell::Empty => None,
            Cell::Of(piece) => Some(piece.into()),
            Cell::Given => Some(Hue::Given),
        }
    }

    /// Every hue, in the order of their numbers.
    fn all() -> impl Iterator<Item = Hue> {
        Tetromino::ALL.into_iter().map(Hue::from).chain([Hue::Given])
    }

    /// Number of the hue's colour.
    pub(super) fn index(self) -> usize {
        match self {
            Hue::Piece(number) => usize::from(number) % Tetromino::ALL.len(),
            Hue::Given => Tetromino::ALL.len(),
        }
    }
}

impl From<Piece> for Hue {
    fn from(piece: Piece) -> Hue {
        Hue::Piece(piece.number())
    }
}

const PLAIN: [Ink; 7] =
    [Ink::Background, Ink::Empty, Ink::Grid, Ink::Frame, Ink::Label, Ink::Value, Ink::Bright];

impl Ink {
    /// All inks, in the order of their [numbers](Ink::index).
    pub fn all() -> impl Iterator<Item = Ink> {
        let of_hue = |hue| [Ink::Body(hue), Ink::Light(hue), Ink::Dark(hue)];
        PLAIN.into_iter().chain(Hue::all().flat_map(of_hue))
    }

    /// Number of the ink in pictures with a palette.
    pub fn index(self) -> u8 {
        let of_hue = |hue: Hue, part| PLAIN.len() + 3 * hue.index() + part;
        let index = match self {
            Ink::Background => 0,
            Ink::Empty => 1,
            Ink::Grid => 2,
            Ink::Frame => 3,
            Ink::Label => 4,
            Ink::Value => 5,
            Ink::Bright => 6,
            Ink::Body(hue) => of_hue(hue, 0),
            Ink::Light(hue) => of_hue(hue, 1),
            Ink::Dark(hue) => of_hue(hue, 2),
        };
        index as u8
    }
}

impl ColourScheme {
    /// The colour of a full cell.
    pub fn of(self, hue: Hue) -> Rgb {
        let colours: [Rgb; 7] = match self {
            ColourScheme::Usual => [
                [0x2f, 0xc6, 0xe0],
                [0xf2, 0xcf, 0x3c],
                [0xa9, 0x5b, 0xd6],
                [0xe2, 0x48, 0x4d],
                [0x53, 0xb9, 0x4f],
                [0x3f, 0x6f, 0xe0],
                [0xee, 0x8c, 0x2f],
            ],
            ColourScheme::ColourBlind => [
                [0x56, 0xb4, 0xe9],
                [0xf0, 0xe4, 0x42],
                [0xcc, 0x79, 0xa7],
                [0xd5, 0x5e, 0x00],
                [0x00, 0x9e, 0x73],
                [0x00, 0x72, 0xb2],
                [0xe6, 0x9f, 0x00],
            ],
        };
        match hue {
            Hue::Piece(_) => colours[hue.index()],
            Hue::Given => [0x8a, 0x90, 0x9c],
        }
    }

    /// The colour of an ink.
    pub fn rgb(self, ink: Ink) -> Rgb {
        match ink {
            Ink::Background => [0x1b, 0x1e, 0x26],
            Ink::Empty => [0x11, 0x13, 0x19],
            Ink::Grid => [0x1f, 0x23, 0x2d],
            Ink::Frame => [0x5a, 0x63, 0x75],
            Ink::Label => [0x8d, 0x96, 0xa8],
            Ink::Value => [0xf0, 0xf2, 0xf6],
            Ink::Bright => [0xff, 0xff, 0xff],
            Ink::Body(hue) => self.of(hue),
            Ink::Light(hue) => self.of(hue).map(|part| part + (255 - part) / 3),
            Ink::Dark(hue) => self.of(hue).map(|part| part - part / 3),
        }
    }
}
