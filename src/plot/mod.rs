//! Charts of what was learned: as SVG for a folder, as text for a terminal.
//!
//! A [`Chart`] or a [`BarChart`] is data, and a drawing of it is a function of that data alone: [`Chart::to_svg`],
//! [`Chart::to_text`]. Both share their axes, so a person sees the same curve in both places. Scores of a search grow
//! over orders of magnitude; when they do, the vertical axis counts in powers of ten, and what lies below its lowest
//! tick (a zero, say) is drawn on that tick.

mod axis;
mod bars;
mod svg;
mod text;

use axis::Axis;
pub use bars::{Bar, BarChart};
use serde_json::{Value, json};

use tetrion_toolkit::optimizers::Generation;

/// Lines over one pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Content of the chart, in a few words.
    pub title: String,
    /// Unit of the horizontal axis.
    pub x_label: String,
    /// Unit of the vertical axis.
    pub y_label: String,
    /// The most important first: it is drawn on top of the others.
    pub lines: Vec<Line>,
    /// Weights of each generation, for a page. Drawings leave them out.
    pub weights: Option<WeightCurves>,
}

/// Weights over generations: the means and the standard deviations of each feature's weight, one row per generation.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightCurves {
    pub features: Vec<String>,
    /// Means, first by generation, then by feature.
    pub means: Vec<Vec<f64>>,
    /// Standard deviations, indexed like `means`.
    pub deviations: Vec<Vec<f64>>,
}

/// Most rows of weights that a page gets.
const MAX_WEIGHT_ROWS: usize = 300;

/// A line of a chart, with its name in the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub name: String,
    /// Points from left to right. Points with a NaN are left out.
    pub points: Vec<Point>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// An interval around `y`, low and high. Charts in text leave it out.
    pub band: Option<[f64; 2]>,
}

/// The learning curve of a search over its number of complete generations. `incumbents` are measurements, on separate
/// games, of the search's result after so many generations, with their intervals; some generations may have none.
pub fn learning_curve(title: &str, unit: &str, generations: &[Generation], incumbents: &[Point]) -> Chart {
    let line = |name: &str, point: fn(&Generation) -> (f64, Option<[f64; 2]>)| Line {
        name: name.to_owned(),
        points: generations
            .iter()
            .map(|generation| {
                let (y, band) = point(generation);
                Point { x: f64::from(generation.generation + 1), y, band }
            })
            .collect(),
    };
    let mut lines = vec![
        line("best candidate", |g| (g.best_score, None)),
        line("all candidates, mean and deviation", |g| {
            (g.mean_score, Some([g.mean_score - g.std_score, g.mean_score + g.std_score]))
        }),
    ];
    if !incumbents.is_empty() {
        let name = "result so far, 95 % interval".to_owned();
        lines.insert(0, Line { name, points: incumbents.to_vec() });
    }
    Chart {
        title: title.to_owned(),
        x_label: "generation".to_owned(),
        y_label: unit.to_owned(),
        lines,
        weights: None,
    }
}

impl WeightCurves {
    /// At most [`MAX_WEIGHT_ROWS`] generations, evenly spaced and the last one included.
    fn to_json(&self) -> Value {
        let every = self.means.len().div_ceil(MAX_WEIGHT_ROWS).max(1);
        let thinned = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let mut kept: Vec<Vec<f64>> = rows.iter().rev().step_by(every).cloned().collect();
            kept.reverse();
            kept
        };
        json!({
            "features": self.features,
            "means": thinned(&self.means),
            "deviations": thinned(&self.deviations),
        })
    }
}

impl Line {
    fn finite_points(&self) -> impl Iterator<Item = Point> + Clone {
        self.points.iter().copied().filter(|point| point.x.is_finite() && point.y.is_finite())
    }
}

impl Chart {
    /// The chart with no band below `least`, the smallest possible score. A mean less its deviation can be smaller.
    pub fn with_bands_from(mut self, least: f64) -> Chart {
        for point in self.lines.iter_mut().flat_map(|line| &mut line.points) {
            // An unknown edge, NaN, stays unknown.
            point.band = point.band.map(|band| band.map(|edge| if edge < least { least } else { edge }));
        }
        self
    }

    /// The chart for a page: points as `[x, y]`, or `[x, y, low, high]` with an interval. NaN becomes null.
    pub fn to_json(&self) -> Value {
        let point = |point: &Point| match point.band {
            Some([low, high]) => json!([point.x, point.y, low, high]),
            None => json!([point.x, point.y]),
        };
        let line = |line: &Line| {
            let points: Vec<Value> = line.points.iter().map(point).collect();
            json!({"name": line.name, "points": points})
        };
        let lines: Vec<Value> = self.lines.iter().map(line).collect();
        let mut chart =
            json!({"title": self.title, "x_label": self.x_label, "y_label": self.y_label, "lines": lines});
        if let Some(weights) = &self.weights {
            chart["weights"] = weights.to_json();
        }
        chart
    }

    /// The two axes, with about this many ticks; `None` if there is nothing to draw.
    fn axes(&self, num_x_ticks: usize, num_y_ticks: usize) -> Option<(Axis, Axis)> {
        let points = || self.lines.iter().flat_map(Line::finite_points);
        let x = Axis::tight(points().map(|point| point.x), num_x_ticks)?;
        let y = Axis::rounded(points().map(|point| point.y), num_y_ticks)?;
        Some((x, y))
    }
}
