//! Drawings of a session's environments: their sizes, and how they are made.

use tetrion_core::engine::Rules;
use tetrion_core::env::EnvBatch;
use tetrion_core::placements;
use tetrion_core::render::{self, View};
use tetrion_protocol::rendering::{Drawing, TextFormat};
use tetrion_protocol::{pb, tensor};
use tetrion_toolkit::picture::{Canvas, ColourScheme, Layout, Moment, draw, text};
use tetrion_toolkit::prompts::{self, Detail};
use tetrion_toolkit::recording::Scene;

use super::layout::TENSOR_OVERHEAD;
use super::watched::Watched;

/// Most bytes of the drawing of one environment in an answer, except for prompts.
pub(super) fn row_bytes(drawing: &Drawing, rules: &Rules) -> u64 {
    match drawing {
        // Each text has a tag and a length before it.
        Drawing::Text(TextFormat::Plain(format)) => {
            render::max_bytes(*format, rules.width, rules.height) as u64 + 4
        }
        Drawing::Text(TextFormat::Letters | TextFormat::Ansi(_)) => text::max_bytes(rules) as u64 + 4,
        // At least this. Lists of actions differ much in length, so texts are counted one by one as well.
        Drawing::Text(TextFormat::Prompt(_)) => 60,
        Drawing::Rgb { cell, .. } => 3 * num_pixels(*cell, rules) + TENSOR_OVERHEAD,
    }
}

/// Rough time of drawing one environment.
pub(super) fn nanoseconds(drawing: &Drawing, rules: &Rules) -> u64 {
    let cells = u64::from(rules.width) * u64::from(rules.height);
    match drawing {
        Drawing::Text(TextFormat::Plain(_)) => 500 + 4 * cells,
        Drawing::Text(TextFormat::Letters | TextFormat::Ansi(_)) => 2_000 + 60 * cells,
        Drawing::Text(TextFormat::Prompt(Detail::Board)) => 500 + 4 * cells,
        Drawing::Text(TextFormat::Prompt(_)) => 500 + 4 * cells + nanoseconds_of_actions(rules),
        Drawing::Rgb { cell, .. } => 10_000 + num_pixels(*cell, rules),
    }
}

/// Rough time of listing the legal actions of one environment as text, or of reading an action.
pub(super) fn nanoseconds_of_actions(rules: &Rules) -> u64 {
    // Each action is written in up to four ways.
    let naming = 1_000 * u64::from(rules.width) * if rules.names_spots() { 20 } else { 4 };
    placements::nanoseconds(rules, 1, None, placements::Options::default()) + naming
}

fn num_pixels(cell: u32, rules: &Rules) -> u64 {
    let Layout { width, height, .. } = Layout::standing(rules, cell, false);
    u64::from(width) * u64::from(height)
}

/// Draws an environment as text.
pub(super) fn text(format: TextFormat, batch: &EnvBatch, env_id: u32, watched: &Watched) -> String {
    let rules = &batch.config().rules;
    let scheme = match format {
        TextFormat::Letters => None,
        TextFormat::Ansi(scheme) => Some(scheme),
        TextFormat::Plain(format) => {
            let (playfield, statistics) = (batch.playfield(env_id), batch.statistics(env_id));
            let view = View {
                playfield: &playfield,
                falling: batch.falling(env_id),
                lines: statistics.lines,
                num_pieces: statistics.pieces,
                ended: batch.has_ended(env_id),
            };
            return render::render(format, &view);
        }
        TextFormat::Prompt(detail) => {
            return prompts::observation(detail, &prompts::ObservedState::new(batch, env_id));
        }
    };
    text::standing(&moment(batch, env_id, watched), rules, scheme)
}

fn moment(batch: &EnvBatch, env_id: u32, watched: &Watched) -> Moment {
    let scene = Scene::from_env(batch, env_id, watched.cells(batch, env_id));
    Moment::standing(scene, &batch.config().rules)
}

/// Paints environments as pixels, one after the other.
#[derive(Debug)]
pub(super) struct Painter {
    layout: Layout,
    scheme: ColourScheme,
    rows: u32,
    pixels: Vec<u8>,
}

impl Painter {
    /// For this many environments, in memory that has been reserved.
    pub fn new(cell: u32, scheme: ColourScheme, rules: &Rules, rows: u32) -> Painter {
        let layout = Layout::standing(rules, cell, false);
        let pixels = Vec::with_capacity(3 * rows as usize * num_pixels(cell, rules) as usize);
        Painter { layout, scheme, rows, pixels }
    }

    /// Appends the picture of an environment to the pixels.
    pub fn paint(&mut self, batch: &EnvBatch, env_id: u32, watched: &Watched) {
        let marks = draw(&self.layout, &moment(batch, env_id, watched));
        Canvas::painted(&self.layout, &marks).write_rgb(self.scheme, &mut self.pixels);
    }

    /// All pictures, uint8 [B, height, width, 3].
    pub fn finish(self) -> pb::Tensor {
        let Painter { layout, rows, pixels, .. } = self;
        tensor::from_bytes(pb::DataType::Uint8, vec![rows, layout.height, layout.width, 3], pixels)
    }
}
