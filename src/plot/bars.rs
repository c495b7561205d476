//! Bars with intervals, one below the other: as SVG for a file, as text for a terminal. Both have the axis of the
//! [charts](super::Chart) of lines.

use std::fmt::Write;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::svg::{COLOURS, GRID, INK, Page, PlotError, drawn, font};
use super::text::horizontal_axis;
use crate::text::escapes::{visible, without_middle};

/// Bars from zero.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// Content of the chart, in a few words. Charts in text leave it out.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// From the top down.
    pub bars: Vec<Bar>,
}

/// A bar with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    pub value: f64,
    /// An interval around the value, low and high.
    pub interval: Option<[f64; 2]>,
}

/// Columns per tick of the axis in text.
const TICK_COLUMNS: usize = 12;
/// Pixels of a bar with its gap, of everything else, and across.
const BAR_HEIGHT: u32 = 34;
const FRAME_HEIGHT: u32 = 110;
const WIDTH: u32 = 900;
/// Most characters of a name in pixels.
const MAX_NAME: usize = 48;

impl BarChart {
    /// The axis of the values, with about this many ticks; `None` without bars.
    fn axis(&self, num_ticks: usize) -> Option<Axis> {
        let ends = self.bars.iter().filter_map(|bar| bar.interval);
        // Only the outermost ends: an interval close to zero asks for no powers of ten.
        let (low, high) = ends.fold((0.0_f64, 0.0_f64), |all, ends| (all.0.min(ends[0]), all.1.max(ends[1])));
        let values = self.bars.iter().flat_map(|bar| [bar.value, low, high]);
        Axis::rounded(values, num_ticks)
    }

    /// Draws the chart `columns` wide, at least 30; ends with a newline. A name of more than half the columns gets a
    /// separate line, as do all others then.
    pub fn to_text(&self, columns: usize) -> String {
        let columns = columns.max(30);
        let Some(axis) = self.axis(columns / TICK_COLUMNS) else { return String::new() };
        let names: Vec<_> = self.bars.iter().map(|bar| visible(&bar.name)).collect();
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let margin = if longest <= columns / 2 { longest } else { 0 };
        let room = columns - margin - 2;
        let mut text = format!("{:margin$}  {}\n", "", self.unit);
        for (bar, name) in self.bars.iter().zip(names) {
            let separator = if margin == 0 { "\n" } else { " " };
            let _ = writeln!(text, "{name:margin$}{separator}│{}", bar.cells(&axis, room));
        }
        let (line, numbers) = horizontal_axis(&axis, room);
        let _ = writeln!(text, "{:margin$} └{line}\n{:margin$}  {numbers}", "", "");
        text
    }

    /// Draws the chart, 900 pixels wide.
    pub fn to_svg(&self) -> String {
        drawn((WIDTH, FRAME_HEIGHT + BAR_HEIGHT * self.bars.len() as u32), |page| self.draw_on(page))
    }

    fn draw_on(&self, page: &Page<'_>) -> Result<(), PlotError> {
        page.fill(&WHITE)?;
        let Some(axis) = self.axis(8) else { return Ok(()) };
        let names: Vec<_> = self.bars.iter().map(|bar| without_middle(&bar.name, MAX_NAME)).collect();
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let below_title = page.margin(10, 0, 0, 0).titled(&self.title, font(16))?;
        let mut chart = ChartBuilder::on(&below_title)
            .margin(14)
            .margin_right(28)
            .x_label_area_size(44)
            .y_label_area_size(16 + 8 * longest as u32)
            .build_cartesian_2d(axis.clone(), self.bars.len() as f64..0.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(0)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(font(14))
            .axis_desc_style(font(15))
            .x_desc(&self.unit)
            .draw()?;
        let zero = axis.low.max(0.0);
        for (at, (bar, name)) in self.bars.iter().zip(names).enumerate() {
            let across = |share: f64| at as f64 + share;
            let rectangle = [(zero, across(0.2)), (bar.value, across(0.8))];
            chart.draw_series([Rectangle::new(rectangle, COLOURS[0].filled())])?;
            if let Some([low, high]) = bar.interval {
                let line = |from, to| PathElement::new([from, to], INK.stroke_width(2));
                let end = |value| line((value, across(0.35)), (value, across(0.65)));
                let middle = line((low, across(0.5)), (high, across(0.5)));
                chart.draw_series([middle, end(low), end(high)])?;
            }
            let (x, y) = chart.plotting_area().map_coordinate(&(axis.low, across(0.5)));
            let style = font(14).pos(Pos::new(HPos::Right, VPos::Center));
            page.draw(&Text::new(name, (x - 8, y), style))?;
        }
        page.present()
    }
}

impl Bar {
    /// The bar as characters: full from zero to the value, with the interval over it.
    fn cells(&self, axis: &Axis, columns: usize) -> String {
        let cell = |value: f64| (axis.position(value) * (columns - 1) as f64).round() as usize;
        let (zero, value) = (cell(0.0), cell(self.value));
        let [low, high] = self.interval.map_or([value; 2], |ends| ends.map(cell));
        let letter = |at: usize| match at {
            _ if low < high && at == low => '├',
            _ if low < high && at == high => '┤',
            _ if low < at && at < high => {
                if at == value {
                    '┼'
                } else {
                    '─'
                }
            }
            _ if at < zero.max(value) && at >= zero.min(value) => '█',
            _ => ' ',
        };
        (0..columns).map(letter).collect::<String>().trim_end().to_owned()
    }
}
