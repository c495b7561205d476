//! A chart as SVG: lines, with their intervals as shades behind them.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::axis::{Axis, label};
use super::{Chart, Line};

const WIDTH: u32 = 900;
const HEIGHT: u32 = 540;

/// Colours that most people can distinguish (Okabe and Ito 2008): blue, vermilion, green, purple.
pub(super) const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
pub(super) const INK: RGBColor = RGBColor(60, 60, 60);
pub(super) const GRID: RGBColor = RGBColor(225, 225, 225);
/// Colours that would glare or disappear on a dark page, with their replacements in dark mode.
const DARK: [(RGBColor, RGBColor); 4] = [
    (WHITE, RGBColor(13, 17, 23)),
    (INK, RGBColor(201, 209, 217)),
    (GRID, RGBColor(48, 54, 61)),
    (COLOURS[0], RGBColor(86, 180, 233)),
];

impl Chart {
    /// Draws the chart, 900 x 540.
    pub fn to_svg(&self) -> String {
        drawn((WIDTH, HEIGHT), |page| self.draw_on(page))
    }

    fn draw_on(&self, page: &Page<'_>) -> Result<(), PlotError> {
        page.fill(&WHITE)?;
        let Some((x, y)) = self.axes(8, 6) else {
            page.draw(&Text::new(format!("{}: nothing to show yet", self.title), (30, 30), font(20)))?;
            return Ok(());
        };
        let widest = y.ticks.iter().map(|&tick| label(tick).len() as u32).max().unwrap_or(1);
        let below_title = page.margin(10, 0, 0, 0).titled(&self.title, font(20))?;
        let mut chart = ChartBuilder::on(&below_title)
            .margin(14)
            .margin_right(28)
            .x_label_area_size(44)
            .y_label_area_size(34 + 8 * widest)
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(font(14))
            .axis_desc_style(font(15))
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .draw()?;

        let coloured = || self.lines.iter().zip(COLOURS.into_iter().cycle());
        for (line, colour) in coloured() {
            chart.draw_series(band(line).map(|outline| Polygon::new(outline, colour.mix(0.15))))?;
        }
        // The first line on top, and first in the legend: so the legend is filled before, with nothing to see.
        for (line, colour) in coloured() {
            chart
                .draw_series(std::iter::empty::<Circle<(f64, f64), i32>>())?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(3)));
        }
        for (line, colour) in coloured().collect::<Vec<_>>().into_iter().rev() {
            let points: Vec<(f64, f64)> = line.finite_points().map(|point| (point.x, point.y)).collect();
            match points[..] {
                [point] => chart.draw_series([Circle::new(point, 3, colour.filled())])?,
                _ => chart.draw_series([PathElement::new(points, colour.stroke_width(2))])?,
            };
        }
        // What is learned rises to the right and stays there: below its end there is room.
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .margin(12)
            .legend_area_size(30)
            .background_style(WHITE.mix(0.85))
            .label_font(font(14))
            .draw()?;
        page.present()
    }
}

/// A drawing of this width and height, for light and dark pages.
pub(super) fn drawn(size: (u32, u32), draw: impl FnOnce(&Page<'_>) -> Result<(), PlotError>) -> String {
    let mut svg = String::new();
    let page = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    draw(&page).expect("writing to a string does not fail");
    drop(page);
    let start = svg.find('>').map_or(0, |end| end + 1);
    svg.insert_str(start, &dark_style());
    svg
}

pub(super) fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// A style for viewers in dark mode. It overrides the colours of the elements, which are attributes.
fn dark_style() -> String {
    let rules = DARK.map(|(light, dark)| {
        let [light, dark] = [light, dark].map(|RGBColor(r, g, b)| format!("#{r:02X}{g:02X}{b:02X}"));
        format!(r#"[fill="{light}"] {{ fill: {dark} }} [stroke="{light}"] {{ stroke: {dark} }}"#)
    });
    format!("\n<style>\n@media (prefers-color-scheme: dark) {{\n{}\n}}\n</style>", rules.join("\n"))
}

pub(super) type Page<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
pub(super) type PlotError = DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>;

/// The outline of a line's intervals: along the high ends, back along the low ones. None for fewer than two.
fn band(line: &Line) -> impl Iterator<Item = Vec<(f64, f64)>> {
    let ends = |end: usize| {
        line.finite_points()
            .filter_map(move |point| point.band.map(|band| (point.x, band[end])))
            .filter(|(_, y)| y.is_finite())
    };
    let high: Vec<(f64, f64)> = ends(1).collect();
    let low: Vec<(f64, f64)> = ends(0).collect();
    let enough = high.len() >= 2 && low.len() == high.len();
    enough.then(|| high.into_iter().chain(low.into_iter().rev()).collect()).into_iter()
}

/// An axis in the form that plotters needs.
impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (self.position(*value) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        label(*value)
    }
}
