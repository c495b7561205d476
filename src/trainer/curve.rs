//! Learning curves of searches, for the run folder and for people.

use super::record::Record;
use super::settings::Settings;
use crate::plot::{Chart, Point, WeightCurves, learning_curve};

/// The learning curve of a search, for the run folder and for the terminal.
pub fn curve(settings: &Settings, records: &[Record]) -> Chart {
    let generations: Vec<_> = records.iter().map(|record| record.generation.clone()).collect();
    let point = |record: &Record| Point {
        x: f64::from(record.generation.generation + 1),
        y: record.check.mean,
        band: Some([record.check.ci95_low, record.check.ci95_high]),
    };
    let checks: Vec<Point> = records.iter().map(point).collect();
    let unit = format!("{} per game", settings.score_by.name());
    let chart = learning_curve(&title(settings), &unit, &generations, &checks);
    // A model has more weights than features.
    let is_linear =
        generations.iter().all(|generation| generation.mean.len() == settings.feature_names.len());
    let weights = is_linear.then(|| WeightCurves {
        features: settings.feature_names.clone(),
        means: generations.iter().map(|generation| generation.mean.clone()).collect(),
        deviations: generations.iter().map(|generation| generation.std.clone()).collect(),
    });
    Chart { weights, ..chart.with_bands_from(settings.score_by.least()) }
}

/// Title of a learning curve.
pub fn title<M>(settings: &Settings<M>) -> String {
    let (features, (width, height)) = (settings.features_title(), settings.size());
    format!("{features} on {width} x {height}, seed {}", settings.seed)
}
