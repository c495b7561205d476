//! The table of the reasons for a placement, and the scores of all placements as a heat map.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::palette::Palette;
use crate::players::Reasons;
use tetrion_core::engine::{Placement, Rules};

/// Fewest columns for this table.
pub const LEAST_WIDTH: u16 = 36;
/// Fewest lines for this table.
pub const LEAST_HEIGHT: u16 = 9;
/// Columns of the weight, the value and the product.
const NUMBERS: [usize; 3] = [8, 7, 8];

/// The reasons in the form of a table.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    pub reasons: &'a Reasons,
    pub rules: &'a Rules,
    /// The user's placement, for comparison.
    pub yours: Option<Placement>,
    pub palette: Palette,
}

/// Formats a number with a few digits.
fn number(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 99_999.5 => format!("{value:.1e}"),
        size if size >= 999.95 => format!("{value:.0}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    // Not "-0.000".
    if value == 0.0 { "0".to_owned() } else { text }
}

/// Formats the value of a feature. Most features are counts.
fn value(value: f64) -> String {
    let value = value + 0.0; // not "-0"
    if value.fract() == 0.0 && value.abs() < 99_999.5 { format!("{value:.0}") } else { number(value) }
}

impl Explained<'_> {
    /// Draws the reasons: the heat map if there is room, and as many terms as fit, the largest products first.
    pub fn render(&self, area: Rect, buffer: &mut Buffer) {
        let Explained { reasons, palette, .. } = *self;
        let orientations = self.orientations();
        // The heat map has an empty line, a title and a row per orientation. The table has three lines in addition to
        // its terms.
        let heat_height = 2 + orientations.len() as u16;
        let has_heat = area.height >= heat_height + 6;
        let table = if has_heat { area.height - heat_height } else { area.height };
        let mut y = area.y;
        let mut line = |text: &str, style: Style| {
            if y < area.bottom() {
                buffer.set_stringn(area.x, y, text, area.width.into(), style);
            }
            y += 1;
        };
        let is_weighted = reasons.terms.iter().any(|term| term.weight.is_some());
        let title = if is_weighted { "weight x feature" } else { "features" };
        line(&format!("{}: {title}", reasons.controller), palette.strong());
        let name_width = usize::from(area.width).saturating_sub(NUMBERS.iter().sum()).clamp(8, 24);
        let row = |name: &str, cells: [&str; 3]| {
            let name: String = name.chars().take(name_width).collect();
            let cells = cells.iter().zip(NUMBERS).map(|(cell, width)| format!("{cell:>width$}"));
            let cells: String = cells.collect();
            format!("{name:<name_width$}{cells}")
        };
        let head = if is_weighted { ["weight", "value", "product"] } else { ["", "value", ""] };
        line(&row("feature", head), palette.label());
        let mut terms: Vec<_> = reasons.terms.iter().collect();
        terms.sort_by(|one, other| other.product().abs().total_cmp(&one.product().abs()));
        let yours = self.yours.filter(|yours| *yours != reasons.placement);
        let room = usize::from(table).saturating_sub(4 + usize::from(yours.is_some()));
        let shown = if terms.len() <= room { room } else { room.saturating_sub(1) };
        for term in terms.iter().take(shown) {
            let product = if is_weighted { number(term.product()) } else { String::new() };
            let numbers = [term.weight.map_or_else(String::new, number), value(term.value), product];
            line(&row(&term.feature, [&numbers[0], &numbers[1], &numbers[2]]), Style::new());
        }
        if terms.len() > shown {
            let rest: f64 = terms[shown..].iter().map(|term| term.product()).sum();
            let name = format!("{} others", terms.len() - shown);
            let rest = if is_weighted { number(rest) } else { String::new() };
            line(&row(&name, ["", "", &rest]), Style::new());
        }
        line(&row("score", ["", "", &number(reasons.score)]), palette.strong());
        if let Some(next) = reasons.next_best() {
            line(&row("next best", ["", "", &number(next)]), palette.label());
        }
        if let Some(yours) = yours {
            let score = reasons.score_of(yours).map_or("lost".to_owned(), number);
            line(&row("yours", ["", "", &score]), palette.label());
        }
        if has_heat {
            let area = Rect { y: y + 1, height: area.bottom().saturating_sub(y + 1), ..area };
            self.render_heat(area, buffer, &orientations);
        }
    }

    /// The orientations in which the piece has placements.
    fn orientations(&self) -> Vec<u8> {
        let mut all: Vec<u8> =
            self.reasons.scores_of_piece().map(|(placement, _)| placement.orientation).collect();
        all.dedup();
        all
    }

    /// Draws the heat map, with a row per orientation and a cell per column, from 0, the worst, to 9, the best. Of
    /// several placements in a column, it shows the best or, if one of them is chosen, that one.
    fn render_heat(&self, area: Rect, buffer: &mut Buffer, orientations: &[u8]) {
        let Explained { reasons, rules, palette, .. } = *self;
        if area.height == 0 {
            return;
        }
        let title = match reasons.placement.hold {
            false => "every placement, 0 worst to 9 best",
            true => "with hold, 0 worst to 9 best",
        };
        let mut scores: Vec<_> = reasons.scores_of_piece().collect();
        scores.sort_by(|one, other| one.1.total_cmp(&other.1));
        scores.sort_by_key(|(placement, _)| *placement == reasons.placement);
        buffer.set_stringn(area.x, area.y, title, area.width.into(), palette.label());
        // Two columns per cell if they fit, after the number of the orientation.
        let cell = if area.width >= 2 + 2 * u16::from(rules.width) { 2 } else { 1 };
        for (y, &orientation) in (area.y + 1..area.bottom()).zip(orientations) {
            buffer.set_string(area.x, y, orientation.to_string(), palette.label());
            for (placement, score) in &scores {
                let x = 2 + cell * u16::from(placement.column);
                if placement.orientation != orientation || x + cell > area.width {
                    continue;
                }
                let level = reasons.level(*score);
                let text = format!("{level:>width$}", width = usize::from(cell));
                let chosen = *placement == reasons.placement;
                let style = palette.heat(level);
                let style =
                    if chosen { style.add_modifier(Modifier::BOLD | Modifier::REVERSED) } else { style };
                buffer.set_string(area.x + x, y, text, style);
            }
        }
    }
}
