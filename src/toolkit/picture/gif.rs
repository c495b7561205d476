//! Animations as GIF: each picture contains only the part that changes, and in that part only the pixels that change.
//! The others are transparent, in long runs that take few bytes.

use std::borrow::Cow;
use std::io::Write;

use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};

use super::canvas::{Canvas, ChangedArea};
use super::colours::{ColourScheme, Ink};
use super::layout::Layout;

/// Writes pictures of one size, one after the other, in an endless loop.
pub struct GifWriter<W: Write> {
    encoder: Encoder<W>,
    shown: Option<Canvas>,
}

impl<W: Write> std::fmt::Debug for GifWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GifWriter").finish_non_exhaustive()
    }
}

impl<W: Write> GifWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn new(out: W, layout: &Layout, scheme: ColourScheme) -> Result<GifWriter<W>, EncodingError> {
        let colours = Ink::all().flat_map(|ink| scheme.rgb(ink)).chain([0; 3]); // the last one is never seen
        let colours: Vec<u8> = colours.collect();
        let mut encoder = Encoder::new(out, layout.width as u16, layout.height as u16, &colours)?;
        encoder.set_repeat(Repeat::Infinite)?;
        Ok(GifWriter { encoder, shown: None })
    }

    /// Adds a picture, shown for this many hundredths of a second.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn add(&mut self, canvas: Canvas, hundredths: u16) -> Result<(), EncodingError> {
        let whole = ChangedArea { x: 0, y: 0, width: canvas.width(), height: canvas.height() };
        let part = match &self.shown {
            None => whole,
            // A picture that changes nothing takes its time all the same: one pixel.
            Some(shown) => canvas.difference(shown).unwrap_or(ChangedArea { width: 1, height: 1, ..whole }),
        };
        let mut pixels = canvas.cut(part);
        if let Some(shown) = &self.shown {
            let transparent = Ink::all().count() as u8;
            for (pixel, before) in pixels.iter_mut().zip(shown.cut(part)) {
                if *pixel == before {
                    *pixel = transparent;
                }
            }
        }
        self.encoder.write_frame(&Frame {
            delay: hundredths,
            dispose: DisposalMethod::Keep,
            left: part.x as u16,
            top: part.y as u16,
            width: part.width as u16,
            height: part.height as u16,
            transparent: Some(Ink::all().count() as u8),
            buffer: Cow::Owned(pixels),
            ..Frame::default()
        })?;
        self.shown = Some(canvas);
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn finish(self) -> Result<(), EncodingError> {
        Ok(self.encoder.into_inner()?.flush()?)
    }
}
