//! Learning curves of searches, for the run folder and for people.

use super::record::Record;
use super::settings::Settings;
use crate::plot::{Chart, Point, learning_curve};

/// The learning curve of a search, for the run folder and for the terminal.
pub fn curve(settings: &Settings, records: &[Record]) -> Chart {
    let generations: Vec<_> = records.iter().map(|record| record.generation.clone()).collect();
    let point = |record: &Record| Point {
        x: f64::from(record.generation.generation),
        y: record.check.mean,
        band: Some([record.check.ci95_low, record.check.ci95_high]),
    };
    let checks: Vec<Point> = records.iter().map(point).collect();
    learning_curve(&title(settings), &format!("{} per game", settings.score_by.name()), &generations, &checks)
}

/// Title of a learning curve.
pub fn title<M>(settings: &Settings<M>) -> String {
    let Settings { width, height, seed, .. } = settings;
    format!("{} on {width} x {height}, seed {seed}", settings.features_title())
}
