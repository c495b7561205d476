//! Pixels of a small palette.

use super::colours::{ColourScheme, Ink, Rgb};
use super::draw::Mark;
use super::font;
use super::layout::Layout;

/// A picture, one number of an [`Ink`] a pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

/// The part of a picture that differs from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedArea {
    /// Pixels to the left of the part.
    pub x: u32,
    /// Pixels above the part.
    pub y: u32,
    /// Pixels across, at least 1.
    pub width: u32,
    /// Pixels down, at least 1.
    pub height: u32,
}

impl Canvas {
    /// Paints marks, one over the other.
    pub fn painted(layout: &Layout, marks: &[Mark]) -> Canvas {
        let (width, height) = (layout.width, layout.height);
        let mut canvas = Canvas { width, height, pixels: vec![0; (width * height) as usize] };
        marks.iter().for_each(|mark| canvas.paint(mark));
        canvas
    }

    /// Pixels across the whole picture.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels down the whole picture.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The numbers of the [inks](Ink::index), row by row from the top.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Appends red, green and blue of each pixel, row by row from the top, in the colours of a scheme.
    pub fn write_rgb(&self, scheme: ColourScheme, out: &mut Vec<u8>) {
        let palette: Vec<Rgb> = Ink::all().map(|ink| scheme.rgb(ink)).collect();
        let start = out.len();
        out.resize(start + 3 * self.pixels.len(), 0);
        for (pixel, &ink) in out[start..].as_chunks_mut().0.iter_mut().zip(&self.pixels) {
            *pixel = palette[usize::from(ink)];
        }
    }

    /// The smallest part outside of which two pictures of the same size are equal; none if they are.
    pub fn difference(&self, other: &Canvas) -> Option<ChangedArea> {
        let differs = |y: &u32| self.row(*y) != other.row(*y);
        let top = (0..self.height).find(differs)?;
        let bottom = (0..self.height).rfind(differs)?;
        let columns = (top..=bottom).filter(differs).map(|y| {
            let (ours, theirs) = (self.row(y), other.row(y));
            let differs = |x: &usize| ours[*x] != theirs[*x];
            let (mut all, mut again) = (0..ours.len(), 0..ours.len());
            (all.find(differs).expect("one of them"), again.rfind(differs).expect("one of them"))
        });
        let (left, right) =
            columns.fold((usize::MAX, 0), |(left, right), (first, last)| (left.min(first), right.max(last)));
        let (x, width) = (left as u32, (right - left + 1) as u32);
        Some(ChangedArea { x, y: top, width, height: bottom - top + 1 })
    }

    /// The ink numbers of a part, row by row from the top.
    pub fn cut(&self, part: ChangedArea) -> Vec<u8> {
        let row = |y: u32| &self.row(y)[part.x as usize..(part.x + part.width) as usize];
        (part.y..part.y + part.height).flat_map(row).copied().collect()
    }

    fn row(&self, y: u32) -> &[u8] {
        let start = (y * self.width) as usize;
        &self.pixels[start..start + self.width as usize]
    }

    fn paint(&mut self, mark: &Mark) {
        match *mark {
            Mark::Area { x, y, width, height, ink } => self.fill(x, y, width, height, ink),
            Mark::Block { x, y, size, hue } => {
                // The grid shows between cells.
                let (edge, body) = ((size / 8).max(1), size - 1);
                self.fill(x + 1, y + 1, body, body, Ink::Body(hue));
                if size >= 6 {
                    self.fill(x + 1, y + 1, body, edge, Ink::Light(hue));
                    self.fill(x + 1, y + 1, edge, body, Ink::Light(hue));
                    self.fill(x + 1, y + size - edge, body, edge, Ink::Dark(hue));
                    self.fill(x + size - edge, y + 1, edge, body, Ink::Dark(hue));
                }
            }
            Mark::Ring { x, y, size, ink } => {
                let (edge, body) = ((size / 12).max(1), size - 1);
                self.fill(x + 1, y + 1, body, edge, ink);
                self.fill(x + 1, y + 1, edge, body, ink);
                self.fill(x + 1, y + size - edge, body, edge, ink);
                self.fill(x + size - edge, y + 1, edge, body, ink);
            }
            Mark::Words { x, y, dot, ink, ref text } => {
                for (n, character) in (0..).zip(text.chars()) {
                    self.letter(x + n * font::ADVANCE * dot, y, dot, ink, character);
                }
            }
        }
    }

    fn letter(&mut self, x: u32, y: u32, dot: u32, ink: Ink, character: char) {
        for (row, bits) in (0..).zip(font::rows(character)) {
            for column in (0..5).filter(|column| bits >> (4 - column) & 1 == 1) {
                self.fill(x + column * dot, y + row * dot, dot, dot, ink);
            }
        }
    }

    /// Fills an area; what sticks out is cut off.
    fn fill(&mut self, x: u32, y: u32, width: u32, height: u32, ink: Ink) {
        let right = (x + width).min(self.width);
        for y in y..(y + height).min(self.height) {
            let row = (y * self.width) as usize;
            if x < right {
                self.pixels[row + x as usize..row + right as usize].fill(ink.index());
            }
        }
    }
}
