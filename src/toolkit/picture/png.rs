//! A picture as PNG.

use std::io::Write;

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

use super::canvas::Canvas;
use super::colours::{ColourScheme, Ink};

/// Writes a picture.
///
/// # Errors
/// The errors of the writer.
pub fn write_png(out: impl Write, canvas: &Canvas, scheme: ColourScheme) -> Result<(), EncodingError> {
    let mut encoder = Encoder::new(out, canvas.width(), canvas.height());
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    encoder.set_palette(Ink::all().flat_map(|ink| scheme.rgb(ink)).collect::<Vec<u8>>());
    let mut writer = encoder.write_header()?;
    writer.write_image_data(canvas.pixels())?;
    writer.finish()
}
