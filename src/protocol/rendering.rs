//! Render: the way to draw environments.

pub use tetrion_core::render::RenderFormat;
pub use tetrion_toolkit::picture::ColourScheme;
pub use tetrion_toolkit::prompts::Detail;

use tetrion_toolkit::picture::CELL_SIZES;

use super::error::DecodeError;
use super::pb;

/// Pixels of a cell's side if the request names no number.
const DEFAULT_CELL: u32 = 16;

/// A way to draw environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    Text(TextFormat),
    Rgb {
        /// Pixels of a cell's side.
        cell: u32,
        scheme: ColourScheme,
    },
}

/// A way to draw environments as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Characters for full and empty cells only.
    Plain(RenderFormat),
    /// The letters of the pieces.
    Letters,
    /// The colours of the pieces, for a terminal.
    Ansi(ColourScheme),
    /// An observation for a language model.
    Prompt(Detail),
}

impl From<Detail> for TextFormat {
    fn from(detail: Detail) -> TextFormat {
        TextFormat::Prompt(detail)
    }
}

impl From<RenderFormat> for TextFormat {
    fn from(format: RenderFormat) -> TextFormat {
        TextFormat::Plain(format)
    }
}

/// Reads how to draw.
///
/// # Errors
/// [`DecodeError`] with the fields of `RenderRequest`.
pub fn decode(request: &pb::RenderRequest) -> Result<Drawing, DecodeError> {
    let scheme = decode_palette(request.palette)?;
    let cell = request.cell_pixels;
    let text = match request.format() {
        pb::RenderFormat::Unspecified => {
            return Err(DecodeError::field("format", "is unspecified or unknown"));
        }
        pb::RenderFormat::Ascii => RenderFormat::Ascii.into(),
        pb::RenderFormat::Lab => RenderFormat::Lab.into(),
        pb::RenderFormat::Leiden => RenderFormat::Leiden.into(),
        pb::RenderFormat::Letters => TextFormat::Letters,
        pb::RenderFormat::Ansi => TextFormat::Ansi(scheme),
        pb::RenderFormat::PromptBoard => Detail::Board.into(),
        pb::RenderFormat::PromptActions => Detail::Actions.into(),
        pb::RenderFormat::PromptConsequences => Detail::Consequences.into(),
        pb::RenderFormat::PromptShort => Detail::Short.into(),
        pb::RenderFormat::Rgb => {
            return match cell {
                0 => Ok(Drawing::Rgb { cell: DEFAULT_CELL, scheme }),
                cell if CELL_SIZES.contains(&cell) => Ok(Drawing::Rgb { cell, scheme }),
                _ => {
                    let (low, high) = (CELL_SIZES.start(), CELL_SIZES.end());
                    let problem = format!("is {cell}, expected {low} to {high}, or 0 for {DEFAULT_CELL}");
                    Err(DecodeError::field("cell_pixels", problem))
                }
            };
        }
    };
    match cell {
        0 => Ok(Drawing::Text(text)),
        _ => {
            let problem = format!("is {cell}, expected 0 unless the format is RGB");
            Err(DecodeError::field("cell_pixels", problem))
        }
    }
}

fn decode_palette(palette: i32) -> Result<ColourScheme, DecodeError> {
    match pb::Palette::try_from(palette) {
        Ok(pb::Palette::Unspecified | pb::Palette::Usual) => Ok(ColourScheme::Usual),
        Ok(pb::Palette::ColorBlind) => Ok(ColourScheme::ColourBlind),
        Err(_) => Err(DecodeError::field("palette", format!("is {palette}, which is unknown"))),
    }
}

/// The request for a text.
pub fn text_request(session: String, envs: Option<pb::EnvIds>, format: TextFormat) -> pb::RenderRequest {
    let (format, palette) = match format {
        TextFormat::Plain(RenderFormat::Ascii) => (pb::RenderFormat::Ascii, None),
        TextFormat::Plain(RenderFormat::Lab) => (pb::RenderFormat::Lab, None),
        TextFormat::Plain(RenderFormat::Leiden) => (pb::RenderFormat::Leiden, None),
        TextFormat::Letters => (pb::RenderFormat::Letters, None),
        TextFormat::Prompt(Detail::Board) => (pb::RenderFormat::PromptBoard, None),
        TextFormat::Prompt(Detail::Actions) => (pb::RenderFormat::PromptActions, None),
        TextFormat::Prompt(Detail::Consequences) => (pb::RenderFormat::PromptConsequences, None),
        TextFormat::Prompt(Detail::Short) => (pb::RenderFormat::PromptShort, None),
        TextFormat::Ansi(ColourScheme::Usual) => (pb::RenderFormat::Ansi, Some(pb::Palette::Usual)),
        TextFormat::Ansi(ColourScheme::ColourBlind) => {
            (pb::RenderFormat::Ansi, Some(pb::Palette::ColorBlind))
        }
    };
    let palette = palette.unwrap_or_default().into();
    pb::RenderRequest { session, envs, format: format.into(), palette, cell_pixels: 0 }
}
