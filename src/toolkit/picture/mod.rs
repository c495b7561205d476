//! Scenes as pictures: pixels, scalable drawings, characters.
//!
//! A picture is a list of [`Mark`]s: blocks, boxes, rings and words at places of a [`Layout`]. A [`Canvas`] paints them as
//! pixels of a small palette, which suits GIF and PNG; [`svg`] writes them as a drawing in which each mark appears and goes;
//! [`text`] writes scenes for a terminal.
//!
//! This module knows no files, no recordings' form, and no server.
//!
//! The surprising decision: where a step is a placement, the picture of a step shows the piece in its place before the rows
//! that it completed have gone. So one picture a piece shows all that happened: see [`moment()`].

mod canvas;
mod colours;
mod draw;
mod font;
mod gif;
mod layout;
mod moment;
mod png;
pub mod svg;
pub mod text;

pub use canvas::Canvas;
pub use colours::{ColourScheme, Ink};
pub use draw::{Mark, draw, points};
pub use gif::GifWriter;
pub use layout::{CELL_SIZES, Layout};
pub use moment::{Moment, moment};
pub use png::write_png;
