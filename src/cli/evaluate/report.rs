//! The output of an evaluation: a table for people, a JSON object for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::args::EvaluateArgs;
use crate::plot::{Bar, BarChart};
use crate::text::numbers::{count, grouped, short};
use crate::trainer::rules::{changes, in_words};
use crate::trainer::score::{Score, statistics_to_json};
use tetrion_client::Evaluated;
use tetrion_core::summary::{LinesPerLoss, PerPiece, Statistics};

/// Least width of the column of names.
const LEAST_NAME: usize = 10;

/// Differences between a contestant's games and the first contestant's, game by game on the same pieces.
#[derive(Clone, Debug)]
pub struct ContestantDifference {
    pub name: String,
    pub lines: Statistics,
    pub points: Statistics,
}

/// The results as a JSON object.
pub fn to_json(
    args: &EvaluateArgs,
    scores: &[Score],
    differences: &[ContestantDifference],
    first: &Evaluated,
) -> Value {
    let difference = |ContestantDifference { name, lines, points }: &ContestantDifference| {
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

/// The results as tables, as wide as the terminal if there is one.
pub fn to_text(
    args: &EvaluateArgs,
    scores: &[Score],
    differences: &[ContestantDifference],
    first: &Evaluated,
    terminal: Option<usize>,
) -> String {
    let rules = &first.started.rules;
    let mut text = format!("{}\n\n", title(args, first));
    let row = |score: &Score| ContestantRow {
        name: score.name.clone(),
        cells: vec![
            number(score.lines.mean),
            interval(&score.lines),
            score.lines.spread.map_or("-".to_owned(), |spread| grouped(spread.std)),
            number(score.pieces.mean),
            short(score.pieces_per_second),
        ],
        note: if rules.end_games() { lower_bound(score) } else { String::new() },
    };
    let heads =
        [("mean lines", 11), ("95 % interval", 21), ("std", 11), ("mean pieces", 12), ("pieces/s", 9)];
    append_table(&mut text, "controller", &heads, &scores.iter().map(row).collect::<Vec<_>>(), terminal);
    if !rules.points_are_lines() {
        append_points(&mut text, scores, terminal);
    }
    if !differences.is_empty() {
        let mut append = |what: &str, of: fn(&ContestantDifference) -> &Statistics| {
            let _ = writeln!(text, "\nmore {what} than {} per game, on the same pieces", scores[0].name);
            let row = |difference| ContestantRow {
                cells: vec![number(of(difference).mean), interval(of(difference))],
                ..ContestantRow::new(&difference.name)
            };
            let rows: Vec<ContestantRow> = differences.iter().map(row).collect();
            append_table(&mut text, "", &[("", 11), ("", 21)], &rows, terminal);
        };
        append("lines", |difference| &difference.lines);
        if !rules.points_are_lines() {
            append("points", |difference| &difference.points);
        }
    }
    text
}

/// A bar per contestant: its mean points, where they are more than lines, else its mean lines.
pub fn bar_chart(args: &EvaluateArgs, scores: &[Score], first: &Evaluated) -> BarChart {
    let are_lines = first.started.rules.points_are_lines();
    let bar = |score: &Score| {
        let Statistics { mean, spread, .. } = if are_lines { score.lines } else { score.points };
        Bar { name: score.name.clone(), value: mean, interval: spread.map(|spread| spread.ci95.into()) }
    };
    BarChart {
        title: title(args, first),
        unit: format!("{} per game, with 95 % intervals", if are_lines { "lines" } else { "points" }),
        bars: scores.iter().map(bar).collect(),
    }
}

/// The games and their rules, in words.
fn title(args: &EvaluateArgs, first: &Evaluated) -> String {
    let started = &first.started;
    let what = match started.loss_trials {
        0 => format!("{} each", count(args.games.into(), "game")),
        trials => format!("{} each, of {trials} trials per height,", count(args.games.into(), "estimate")),
    };
    let (width, height) = (started.rules.width, started.rules.height);
    let rules = in_words(&started.preset, &started.rules);
    format!("{what} on {width} x {height}, rules {rules}, seed {}", args.seed)
}

/// Appends the table of points, for rules with points for more than lines.
fn append_points(text: &mut String, scores: &[Score], terminal: Option<usize>) {
    let per_piece = |number: Option<PerPiece>| match number {
        Some(PerPiece { mean, ci95: Some((low, high)) }) => {
            [rate(mean), format!("{} to {}", rate(low), rate(high))]
        }
        Some(PerPiece { mean, ci95: None }) => [rate(mean), "one game".to_owned()],
        None => ["-".to_owned(), "-".to_owned()],
    };
    let row = |score: &Score| {
        let points = [number(score.points.mean), interval(&score.points)];
        let others = [score.points_per_piece, score.lines_per_piece].map(per_piece);
        ContestantRow {
            cells: points.into_iter().chain(others.into_iter().flatten()).collect(),
            ..ContestantRow::new(&score.name)
        }
    };
    let heads = [
        ("mean points", 11),
        ("95 % interval", 21),
        ("points per piece", 16),
        ("95 % interval", 18),
        ("lines per piece", 15),
        ("95 % interval", 18),
    ];
    text.push('\n');
    append_table(text, "", &heads, &scores.iter().map(row).collect::<Vec<_>>(), terminal);
}

/// A line of the table: a contestant and its numbers.
struct ContestantRow {
    name: String,
    cells: Vec<String>,
    note: String,
}

impl ContestantRow {
    fn new(name: &str) -> ContestantRow {
        ContestantRow { name: name.to_owned(), cells: Vec::new(), note: String::new() }
    }
}

/// Appends a table with these columns: their heads and widths. On a narrow terminal, long names get separate lines, and
/// the last columns follow in separate tables.
fn append_table(
    text: &mut String,
    head: &str,
    columns: &[(&str, usize)],
    rows: &[ContestantRow],
    terminal: Option<usize>,
) {
    let room = terminal.unwrap_or(usize::MAX);
    let width = |columns: &[(&str, usize)]| columns.iter().map(|(_, width)| 1 + width).sum::<usize>();
    let longest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(LEAST_NAME);
    let name_width = if longest + width(columns) <= room { longest } else { LEAST_NAME };
    let fitting = (1..=columns.len()).rev().find(|n| name_width + width(&columns[..*n]) <= room).unwrap_or(1);
    let (shown, others) = columns.split_at(fitting);
    if columns.iter().any(|(head, _)| !head.is_empty()) {
        append_line(text, head, name_width, shown.iter().map(|(head, width)| (*head, *width)));
        text.push('\n');
    }
    let used = name_width + width(shown) + 2;
    for row in rows {
        let cells = row.cells.iter().zip(shown).map(|(cell, (_, width))| (cell.as_str(), *width));
        append_line(text, &row.name, name_width, cells);
        if !row.note.is_empty() {
            let fits = used + row.note.chars().count() <= room;
            let _ = write!(text, "{}  {}", if fits { "" } else { "\n" }, row.note);
        }
        text.push('\n');
    }
    if !others.is_empty() {
        text.push('\n');
        let rest = |row: &ContestantRow| row.cells[fitting..].to_vec();
        let rows: Vec<ContestantRow> = rows
            .iter()
            .map(|row| ContestantRow { cells: rest(row), ..ContestantRow::new(&row.name) })
            .collect();
        append_table(text, head, others, &rows, terminal);
    }
}

/// Appends a name and cells with their widths. A name that is too long gets a separate line.
fn append_line<'a>(
    text: &mut String,
    name: &str,
    name_width: usize,
    cells: impl Iterator<Item = (&'a str, usize)>,
) {
    let is_long = name.chars().count() > name_width;
    if is_long {
        let _ = writeln!(text, "{name}");
    }
    let _ = write!(text, "{:name_width$}", if is_long { "" } else { name });
    for (cell, width) in cells {
        let _ = write!(text, " {cell:>width$}");
    }
}

/// A note on games that were cut; empty without such games.
fn lower_bound(score: &Score) -> String {
    match score.lines_per_loss() {
        _ if score.truncated == 0 => String::new(),
        Some(estimate) => {
            let were = if score.truncated == 1 { "was" } else { "were" };
            let (cut, estimate) = (count(score.truncated, "game"), in_words_per_loss(&estimate));
            format!("a lower bound: {cut} {were} cut; {estimate}")
        }
        None => {
            let cut = grouped(score.truncated as f64);
            format!("a lower bound: no loss in {cut} of the estimates")
        }
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
