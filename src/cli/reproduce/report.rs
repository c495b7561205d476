//! What is printed of an experiment: the same rows as a table for people, as Markdown and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Outcome;
use super::experiments::{Experiment, Figure, Quantity, Row};
use super::verdict::{Said, Verdict, balances};
use crate::cli::evaluate::interval;
use crate::cli::numbers::grouped;
use crate::client::Game;
use crate::summary::Statistics;

/// An experiment that was played.
#[derive(Clone, Debug)]
pub struct Report {
    /// The experiment.
    pub experiment: Experiment,
    /// Its rows, as far as they were played.
    pub rows: Vec<RowReport>,
    /// Whether it was only a quick look.
    pub quick: bool,
    /// What everything was drawn from.
    pub seed: u64,
}

/// A row that was played.
#[derive(Clone, Debug)]
pub struct RowReport {
    label: String,
    games: u64,
    cut: u64,
    figures: Vec<FigureReport>,
    /// Sentences below the table.
    notes: Vec<String>,
}

/// A figure and what became of it.
#[derive(Clone, Debug)]
struct FigureReport {
    figure: Figure,
    /// Ours; absent where a quick look ended before.
    ours: Option<Statistics>,
    against_document: Option<Verdict>,
    against_known: Option<Verdict>,
}

impl RowReport {
    /// Judges the figures of a row.
    pub fn of(row: &Row, outcome: &Outcome, quick: bool) -> RowReport {
        let games = outcome.games.len() as u64;
        let cut = outcome.games.iter().filter(|game| game.truncated).count() as u64;
        // Games that are cut where their document cuts them are whole.
        let shortened = cut > 0 && row.max_pieces(quick) != row.cut;
        let figures = row.figures.iter().map(|figure| {
            let ours = measure(figure.quantity, outcome);
            let num_games = if matches!(figure.quantity, Quantity::After(_)) { 30 } else { games };
            // How many games are lost in a shorter time is another question.
            let is_comparable = !(shortened && figure.quantity == Quantity::Lost);
            let judge = |said: Option<Said>| {
                let ours = ours.as_ref().filter(|_| is_comparable)?;
                Some(said?.compare(ours, num_games, shortened))
            };
            let (against_document, against_known) = (judge(figure.document), judge(figure.known));
            FigureReport { figure: figure.clone(), ours, against_document, against_known }
        });
        let figures = figures.collect();
        RowReport { label: row.label.clone(), games, cut, figures, notes: notes(row, outcome, cut) }
    }

    /// What came out, in a line.
    pub fn to_line(&self) -> String {
        let figures = self.figures.iter().filter_map(|figure| {
            let ours = figure.ours.as_ref()?;
            let name = figure.figure.quantity.name();
            Some(format!("{name} {} ({}), {}", number(ours.mean), interval(ours), figure.verdict()))
        });
        format!("{}: {}", self.label, figures.collect::<Vec<_>>().join("; "))
    }
}

/// A number of an outcome.
fn measure(quantity: Quantity, outcome: &Outcome) -> Option<Statistics> {
    let of_games = |number: fn(&Game) -> f64| Statistics::of(outcome.games.iter().map(number));
    match quantity {
        Quantity::Lines => of_games(|game| game.lines as f64),
        Quantity::Pieces => of_games(|game| game.pieces as f64),
        Quantity::PiecesBefore => of_games(|game| (game.pieces - u64::from(!game.truncated)) as f64),
        Quantity::Points => of_games(|game| game.score),
        Quantity::Lost => of_games(|game| f64::from(u8::from(!game.truncated))),
        Quantity::BestSeen => {
            let best = outcome.steps.iter().map(|step| step.best).fold(f64::NEG_INFINITY, f64::max);
            Statistics::of(std::iter::once(best)).filter(|_| !outcome.steps.is_empty())
        }
        Quantity::After(generation) => outcome.steps.get(generation as usize - 1)?.lines,
    }
}

fn notes(row: &Row, outcome: &Outcome, cut: u64) -> Vec<String> {
    let mut notes = Vec::new();
    let (Some(width), Some(height)) = (row.rules.width, row.rules.height) else { return notes };
    if row.balances {
        let left = |game: &Game| 4.0 * game.pieces as f64 - f64::from(width) * game.lines as f64;
        let fits = |game: &&Game| (0.0..=f64::from(width * height)).contains(&left(game));
        let balanced = outcome.games.iter().filter(fits).count();
        let mean = outcome.games.iter().map(left).sum::<f64>() / outcome.games.len().max(1) as f64;
        notes.push(match balanced == outcome.games.len() {
            true => format!("cells balance in every game; {mean:.1} are left at its end"),
            false => format!("cells balance in {balanced} of {} games only", outcome.games.len()),
        });
        let said = |quantity| row.figures.iter().find(|figure| figure.quantity == quantity)?.document;
        if let (Some(lines), Some(pieces)) = (said(Quantity::Lines), said(Quantity::Pieces))
            && !balances(width, height, lines.value, pieces.value)
        {
            notes.push("the document's lines and pieces cannot be true together".to_owned());
        }
    }
    if cut > 0 {
        notes.push(format!("{cut} of {} games were cut", outcome.games.len()));
    }
    for (generation, step) in (1..).zip(&outcome.steps) {
        // All of a short search, and the ends of a long one.
        if outcome.steps.len() <= 20 || generation % 10 == 0 || generation == 1 {
            notes.push(format!(
                "generation {generation}: best {}, average {}, deviation {}",
                grouped(step.best),
                grouped(step.mean),
                grouped(step.std)
            ));
        }
    }
    notes
}

impl FigureReport {
    /// The verdict in words.
    fn verdict(&self) -> String {
        let wrong = self.figure.wrong.map(|why| format!("document wrong: {why}"));
        match (self.against_document, self.against_known, wrong) {
            (_, Some(Verdict::Differs), _) => "differs".to_owned(),
            (Some(Verdict::Differs), None, None) => "differs".to_owned(),
            (_, Some(Verdict::Cut), _) | (Some(Verdict::Cut), None, _) => "cut before it can tell".to_owned(),
            (_, Some(Verdict::Agrees), Some(wrong)) => format!("agrees; {wrong}"),
            (_, None, Some(wrong)) => wrong,
            (Some(Verdict::Differs), Some(Verdict::Agrees), None) => {
                "agrees with what was measured since; differs from the document".to_owned()
            }
            (Some(_), _, None) | (None, Some(_), None) => "agrees".to_owned(),
            (None, None, None) => "-".to_owned(),
        }
    }

    /// One word for programs.
    fn word(&self) -> &'static str {
        match (self.against_known.or(self.against_document), self.figure.wrong) {
            (Some(Verdict::Cut), _) => "cut",
            (Some(Verdict::Differs), None) => "differs",
            (Some(Verdict::Differs), Some(_)) if self.against_known.is_some() => "differs",
            (Some(_), Some(_)) => "document_wrong",
            (Some(Verdict::Agrees), None) => "agrees",
            (None, _) => "none",
        }
    }

    fn cells(&self, row: &RowReport, is_first: bool) -> [String; 7] {
        let ours = self.ours.as_ref();
        [
            if is_first { row.label.clone() } else { String::new() },
            self.figure.quantity.name(),
            said(self.figure.document),
            said(self.figure.known),
            ours.map_or("-".to_owned(), |ours| number(ours.mean)),
            ours.map_or("-".to_owned(), interval),
            self.verdict(),
        ]
    }
}

const HEADINGS: [&str; 7] =
    ["row", "number", "document", "measured since", "ours", "95 % interval", "verdict"];

impl Report {
    fn head(&self) -> String {
        let quick = if self.quick { ", a quick look" } else { "" };
        let Experiment { name, title, source, .. } = &self.experiment;
        format!("{name}: {title} ({source}); seed {}{quick}", self.seed)
    }

    fn table(&self) -> Vec<[String; 7]> {
        let cells = |row: &RowReport| {
            let row_cells = row.figures.iter().enumerate().map(|(n, figure)| figure.cells(row, n == 0));
            row_cells.collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(cells).collect()
    }

    fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().flat_map(|row| {
            let games = format!("{}: {} games", row.label, grouped(row.games as f64));
            std::iter::once(games).chain(row.notes.iter().map(|note| format!("  {note}")))
        })
    }

    /// A table for a terminal.
    pub fn to_text(&self) -> String {
        let table = self.table();
        let width = |column: usize| {
            let cells = table.iter().map(|cells| cells[column].chars().count());
            cells.chain([HEADINGS[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..7).map(width).collect();
        let mut text = self.head() + "\n\n";
        for cells in std::iter::once(&HEADINGS.map(str::to_owned)).chain(&table) {
            let mut line = String::new();
            for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                // Numbers to the right, words to the left.
                let _ = match column {
                    2..=5 => write!(line, "{cell:>width$}  "),
                    _ => write!(line, "{cell:width$}  "),
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text.push('\n');
        self.notes().for_each(|note| text += &(note + "\n"));
        text + "\n"
    }

    /// A table in Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text =
            format!("### {}\n\n| {} |\n|{}\n", self.head(), HEADINGS.join(" | "), " --- |".repeat(7));
        for cells in self.table() {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push('\n');
        for note in self.notes() {
            let indent = note.len() - note.trim_start().len();
            let _ = writeln!(text, "{}- {}", " ".repeat(indent), note.trim_start());
        }
        text + "\n"
    }

    /// One object.
    pub fn to_json(&self) -> Value {
        let said = |said: Option<Said>| said.map(|said| said.value);
        let figure = |figure: &FigureReport| {
            let ours = figure.ours.as_ref();
            json!({
                "number": figure.figure.quantity.name(),
                "document": said(figure.figure.document),
                "measured_since": said(figure.figure.known),
                "ours": ours.map(|ours| ours.mean),
                "std": ours.and_then(|ours| ours.spread).map(|spread| spread.std),
                "ci95": ours.and_then(|ours| ours.spread).map(|spread| spread.ci95),
                "verdict": figure.word(),
                "remark": figure.verdict(),
            })
        };
        let row = |row: &RowReport| {
            json!({
                "row": row.label,
                "games": row.games,
                "truncated_games": row.cut,
                "figures": row.figures.iter().map(figure).collect::<Vec<_>>(),
                "notes": row.notes,
            })
        };
        json!({
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "source": self.experiment.source,
            "quick": self.quick,
            "seed": self.seed,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

fn said(said: Option<Said>) -> String {
    said.map_or("-".to_owned(), |said| number(said.value))
}

/// Whole numbers, with decimals where whole numbers would say little.
fn number(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else if number.abs() < 100.0 {
        format!("{number:.2}")
    } else {
        grouped(number)
    }
}
