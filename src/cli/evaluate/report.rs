//! The output of an evaluation: a table for people, a JSON object for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::args::EvaluateArgs;
use crate::client::Evaluated;
use crate::summary::{LinesPerLoss, PerPiece, Statistics};
use crate::text::numbers::{count, grouped, short};
use crate::trainer::rules::{changes, in_words};
use crate::trainer::score::{Score, statistics_to_json};

/// Length of the longest bar, in cells.
const BAR: usize = 24;

/// Differences between a contestant's games and the first contestant's, game by game on the same pieces.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Name of the contestant.
    pub name: String,
    /// Difference in lines.
    pub lines: Statistics,
    /// Difference in points.
    pub points: Statistics,
}

/// The results as a JSON object.
pub fn to_json(
    args: &EvaluateArgs,
    scores: &[Score],
    differences: &[Difference],
    first: &Evaluated,
) -> Value {
    let difference = |Difference { name, lines, points }: &Difference| {
        json!({
            "name": name,
            "baseline": scores[0].name,
            "num_games": args.games,
            "lines": statistics_to_json(lines),
            "score": statistics_to_json(points),
        })
    };
    let started = &first.started;
    json!({
        "rules": started.preset,
        "rules_changes": changes(&started.preset, &started.rules),
        "rules_version": started.rules_version,
        "width": started.rules.width,
        "height": started.rules.height,
        "seed": args.seed.to_string(),
        "max_pieces": started.max_pieces,
        "max_steps": started.max_steps,
        "loss_trials": started.loss_trials,
        "results": scores.iter().map(Score::to_json).collect::<Vec<_>>(),
        "paired_differences": differences.iter().map(difference).collect::<Vec<_>>(),
    })
}

/// The results as a table.
pub fn to_text(
    args: &EvaluateArgs,
    scores: &[Score],
    differences: &[Difference],
    first: &Evaluated,
    bars: bool,
) -> String {
    let rules = &first.started.rules;
    let longest = |names: &mut dyn Iterator<Item = &String>| names.map(|name| name.chars().count()).max();
    let column = longest(&mut scores.iter().map(|score| &score.name)).unwrap_or(0).max(10);
    let what = match first.started.loss_trials {
        0 => format!("{} each", count(args.games.into(), "game")),
        trials => format!("{} each, of {trials} trials per height,", count(args.games.into(), "estimate")),
    };
    let mut text = format!(
        "{what} on {} x {}, rules {}, seed {}\n\n{:column$} {:>11} {:>21} {:>11} {:>12} {:>9}\n",
        rules.width,
        rules.height,
        in_words(&first.started.preset, rules),
        args.seed,
        "controller",
        "mean lines",
        "95 % interval",
        "std",
        "mean pieces",
        "pieces/s"
    );
    let best = scores.iter().map(|score| score.lines.mean).fold(0.0, f64::max);
    for score in scores {
        let std = score.lines.spread.map_or("-".to_owned(), |spread| grouped(spread.std));
        let _ = write!(
            text,
            "{:column$} {:>11} {:>21} {std:>11} {:>12} {:>9}",
            score.name,
            number(score.lines.mean),
            interval(&score.lines),
            number(score.pieces.mean),
            short(score.pieces_per_second)
        );
        if bars && best > 0.0 {
            let _ = write!(text, "  {}", bar(score.lines.mean / best));
        }
        if score.truncated > 0 && rules.end_games() {
            let _ = match score.lines_per_loss() {
                Some(estimate) => {
                    let were = if score.truncated == 1 { "was" } else { "were" };
                    let (cut, estimate) = (count(score.truncated, "game"), in_words_per_loss(&estimate));
                    write!(text, "  a lower bound: {cut} {were} cut; {estimate}")
                }
                None => {
                    let cut = grouped(score.truncated as f64);
                    write!(text, "  a lower bound: no loss in {cut} of the estimates")
                }
            };
        }
        text.push('\n');
    }
    if !rules.points_are_lines() {
        append_points(&mut text, scores, column);
    }
    if !differences.is_empty() {
        let mut append = |what: &str, of: fn(&Difference) -> &Statistics| {
            let _ = writeln!(text, "\nmore {what} than {} per game, on the same pieces", scores[0].name);
            for difference in differences {
                let (name, more) = (&difference.name, of(difference));
                let _ = writeln!(text, "{name:column$} {:>11} {:>21}", number(more.mean), interval(more));
            }
        };
        append("lines", |difference| &difference.lines);
        if !rules.points_are_lines() {
            append("points", |difference| &difference.points);
        }
    }
    text
}

/// Appends the table of points, for rules with points for more than lines.
fn append_points(text: &mut String, scores: &[Score], column: usize) {
    let _ = writeln!(
        text,
        "\n{:column$} {:>11} {:>21} {:>16} {:>18} {:>15} {:>18}",
        "",
        "mean points",
        "95 % interval",
        "points per piece",
        "95 % interval",
        "lines per piece",
        "95 % interval"
    );
    for score in scores {
        let per_piece = |number: Option<PerPiece>| match number {
            Some(PerPiece { mean, ci95: Some((low, high)) }) => {
                (rate(mean), format!("{} to {}", rate(low), rate(high)))
            }
            Some(PerPiece { mean, ci95: None }) => (rate(mean), "one game".to_owned()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let (points, of_points) = per_piece(score.points_per_piece);
        let (lines, of_lines) = per_piece(score.lines_per_piece);
        let _ = writeln!(
            text,
            "{:column$} {:>11} {:>21} {points:>16} {of_points:>18} {lines:>15} {of_lines:>18}",
            score.name,
            number(score.points.mean),
            interval(&score.points),
        );
    }
}

/// An estimate of lines per loss from cut games, as text.
fn in_words_per_loss(estimate: &LinesPerLoss) -> String {
    match (estimate.estimate, estimate.at_most) {
        (Some(lines), Some(most)) => format!(
            "about {} lines per loss (95 % {} to {})",
            number(lines),
            number(estimate.at_least),
            number(most)
        ),
        _ => format!("over {} lines per loss (95 %)", number(estimate.at_least)),
    }
}

/// Formats a number: large ones without decimals.
pub fn number(number: f64) -> String {
    if number.abs() >= 100.0 {
        grouped(number)
    } else if number.abs() < 0.005 {
        "0.00".to_owned() // never -0.00
    } else {
        format!("{number:.2}")
    }
}

/// Formats a number per piece, with three decimals if it is small.
fn rate(rate: f64) -> String {
    if rate.abs() < 10.0 { format!("{rate:.3}") } else { number(rate) }
}

/// Formats a 95 % interval.
pub fn interval(statistics: &Statistics) -> String {
    match statistics.spread {
        Some(spread) => format!("{} to {}", number(spread.ci95.0), number(spread.ci95.1)),
        None => "one game".to_owned(),
    }
}

/// A bar of the given share of the longest, precise to an eighth of a cell.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * BAR) as f64).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
