//! Pictures of scenes that no session holds any more.

use prost::Message;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::picture::{Canvas, ColourScheme, Ink, Layout, Moment, draw};
use tetrion::protocol::rules::ResolvedRules;
use tetrion::protocol::{pb, watching};

/// A picture: red, green and blue of each pixel, its height, and its width.
pub(crate) type Picture<'py> = (Bound<'py, PyBytes>, u32, u32);

/// The colours of a palette, by its number in messages.
pub(crate) fn scheme(palette: i32) -> ColourScheme {
    match pb::Palette::try_from(palette) {
        Ok(pb::Palette::ColorBlind) => ColourScheme::ColourBlind,
        _ => ColourScheme::Usual,
    }
}

/// The environments of a `WatchFrame` side by side, in rows of `columns`, each with its caption.
///
/// # Errors
/// `ValueError` if the frame is not one of these rules.
#[pyfunction]
pub(crate) fn watched_picture<'py>(
    py: Python<'py>,
    rules: &[u8],
    frame: &[u8],
    captions: Vec<String>,
    cell: u32,
    palette: i32,
    columns: u32,
) -> PyResult<Picture<'py>> {
    let wrong = |error: &dyn std::error::Error| PyValueError::new_err(error.to_string());
    let rules = pb::Rules::decode(rules).map_err(|error| wrong(&error))?;
    let rules = ResolvedRules::try_from(&rules).map_err(|error| wrong(&error))?.rules;
    let frame = pb::WatchFrame::decode(frame).map_err(|error| wrong(&error))?;
    let read = |(env, words)| {
        let env = watching::decode_env(env, &rules);
        env.map(|env| Moment { words, ..Moment::standing(env.scene, &rules) })
    };
    let moments = frame
        .envs
        .iter()
        .zip(captions)
        .map(read)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| wrong(&error))?;
    let layout = Layout::standing(&rules, cell, true);
    let columns = columns.clamp(1, moments.len().max(1) as u32) as usize;
    let rows = moments.len().div_ceil(columns);
    let (width, height) = (layout.width as usize, layout.height as usize);
    let scheme = scheme(palette);
    let pixels = py.detach(|| {
        let background = scheme.rgb(Ink::Background);
        let mut pixels = background.repeat(columns * width * rows * height);
        let mut picture = Vec::with_capacity(3 * width * height);
        for (place, moment) in moments.iter().enumerate() {
            picture.clear();
            Canvas::painted(&layout, &draw(&layout, moment)).write_rgb(scheme, &mut picture);
            let (top, left) = (place / columns * height, place % columns * width);
            for (y, row) in picture.chunks_exact(3 * width).enumerate() {
                let start = 3 * ((top + y) * columns * width + left);
                pixels[start..start + row.len()].copy_from_slice(row);
            }
        }
        pixels
    });
    Ok((PyBytes::new(py, &pixels), (rows * height) as u32, (columns * width) as u32))
}
