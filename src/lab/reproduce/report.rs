//! The report of an experiment: its rows as a table for people, as Markdown and as JSON.

use serde_json::{Value, json};

use super::experiments::{ComparedFigure, Experiment, ExperimentRow, Quantity};
use super::forms::{Forms, ReportTable};
use super::search::SearchStep;
use super::verdict::{Accepted, Cuts, OverallVerdict, Printed, Reference, Verdict, balances, share_interval};
use tetrion::cli::evaluate;
use tetrion::client::{EstimatedGame, PlayedGame};
use tetrion::summary::Statistics;
use tetrion::text::numbers::{count, grouped};

/// The results of a row's games.
#[derive(Clone, Debug)]
pub struct PlayedRow {
    /// The games of the row's player, or of the search's result.
    pub games: Vec<PlayedGame>,
    /// The estimates of the row's player, instead of games.
    pub estimates: Vec<EstimatedGame>,
    /// Results after each generation of a search.
    pub steps: Vec<SearchStep>,
}

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentReport {
    pub experiment: Experiment,
    pub rows: Vec<RowReport>,
    /// Whether this is a quick look.
    pub quick: bool,
    /// The seed of all games and searches.
    pub seed: u64,
}

/// The report on a row.
#[derive(Clone, Debug)]
pub struct RowReport {
    label: String,
    games: u64,
    cut: u64,
    figures: Vec<FigureReport>,
    notes: Vec<String>,
}

/// A figure with its verdict.
#[derive(Clone, Debug)]
struct FigureReport {
    figure: ComparedFigure,
    /// Whether our games were cut, or our estimates saw no loss, so that whole games would have more.
    is_lower_bound: bool,
    /// Our number; `None` if a quick look ended before it.
    ours: Option<Ours>,
    document: Option<Verdict>,
    since: Option<Verdict>,
    judgement: OverallVerdict,
    /// What the verdict compared, if the 95 % interval does not show it.
    compared: Vec<String>,
}

/// Our number with its spread.
#[derive(Clone, Copy, Debug)]
struct Ours {
    value: f64,
    std: Option<f64>,
    ci95: Option<(f64, f64)>,
}

impl RowReport {
    /// Judges the figures of a row.
    pub fn of(row: &ExperimentRow, played: &PlayedRow, quick: bool) -> RowReport {
        let games = (played.games.len() + played.estimates.len()) as u64;
        let cut = played.games.iter().filter(|game| game.is_truncated()).count()
            + played.estimates.iter().filter(|one| one.estimate.lasts_longer).count();
        let cut = cut as u64;
        // Games cut at the document's own limit count as whole. No document cuts estimates.
        let is_shortened = cut > 0 && (row.max_pieces(quick) != row.cut || row.loss_trials > 0);
        let cuts = Cuts { estimated: row.loss_trials > 0, early: is_shortened, cut };
        let figures = row.figures.iter().map(|figure| {
            let numbers = measure(figure.quantity, played);
            let ours = Ours::of(figure.quantity, &numbers);
            let numbers = if cuts.estimated { around_per_loss(&numbers) } else { numbers };
            let judge = |said: Option<Reference>| match said? {
                _ if numbers.is_empty() && figure.quantity.is_of_search() => None,
                _ if row.is_another_search(quick) && !figure.quantity.is_after() => Some(Verdict::Cut),
                said => Some(said.compare(&numbers, cuts)),
            };
            let (document, since) = (judge(figure.document), judge(figure.since));
            let compared = |name, said: Option<Reference>, verdict| {
                compared(name, &said?, verdict?, said?.accepted(&numbers, cuts)?, ours?.ci95)
            };
            let compared = [
                compared("document", figure.document, document),
                compared("later figure", figure.since, since),
            ];
            FigureReport {
                ours,
                compared: compared.into_iter().flatten().collect(),
                judgement: OverallVerdict::of(document, since, figure.wrong.is_some()),
                is_lower_bound: is_shortened && !figure.quantity.is_of_search(),
                figure: figure.clone(),
                document,
                since,
            }
        });
        let figures = figures.collect();
        RowReport {
            label: row.label(quick),
            games,
            cut,
            figures,
            notes: notes(row, played, cut, is_shortened),
        }
    }

    /// The result as a line.
    pub fn to_line(&self) -> String {
        let figures = self.figures.iter().filter_map(|figure| {
            let name = figure.figure.quantity.name();
            let ours = figure.ours?;
            Some(format!("{name} {} ({}), {}", number(ours.value), figure.interval(), figure.verdict()))
        });
        format!("{}: {}", self.label, figures.collect::<Vec<_>>().join("; "))
    }
}

/// The samples of a number from a played row.
fn measure(quantity: Quantity, played: &PlayedRow) -> Vec<f64> {
    let of_games = |number: fn(&PlayedGame) -> f64| played.games.iter().map(number).collect();
    match quantity {
        Quantity::Lines => of_games(|game| game.lines as f64),
        Quantity::EstimatedLines => {
            let lines = |one: &EstimatedGame| one.estimate.lines_per_piece / one.estimate.loss_rate;
            played.estimates.iter().map(lines).collect()
        }
        Quantity::Pieces => of_games(|game| game.pieces as f64),
        Quantity::PiecesBefore => of_games(|game| (game.pieces - u64::from(!game.is_truncated())) as f64),
        Quantity::Points | Quantity::BestPoints(_) => of_games(|game| game.score),
        Quantity::Lost => of_games(|game| f64::from(u8::from(!game.is_truncated()))),
        Quantity::BestSeen => {
            played.steps.iter().map(|step| step.best).reduce(f64::max).into_iter().collect()
        }
        Quantity::LastAverage => played.steps.last().map(|step| step.mean).into_iter().collect(),
        Quantity::After(generation) => {
            played.steps.get(generation as usize - 1).map_or(Vec::new(), |step| step.lines.clone())
        }
    }
}

/// Numbers with the mean and, to the first order, the spread of these numbers per loss.
fn around_per_loss(numbers: &[f64]) -> Vec<f64> {
    let mean = numbers.len() as f64 / numbers.iter().map(|number| 1.0 / number).sum::<f64>();
    numbers.iter().map(|number| mean * (2.0 - mean / number)).collect()
}

/// What a verdict compared, if the 95 % interval of our number does not show it.
fn compared(
    name: &str,
    said: &Reference,
    verdict: Verdict,
    accepted: Accepted,
    ci95: Option<(f64, f64)>,
) -> Option<String> {
    let Accepted { low, high, .. } = accepted;
    let (least, most) = said.range();
    let is_reached = ci95.is_some_and(|(low, high)| least <= high && low <= most);
    let is_clear = verdict == Verdict::Agrees && is_reached || verdict == Verdict::Cut;
    if is_clear || !(low.is_finite() && high.is_finite()) {
        return None;
    }
    let place = if verdict == Verdict::Differs { "outside" } else { "within" };
    let what = match said.printed {
        Printed::Mean { .. } | Printed::Interval { .. } => "three standard errors".to_owned(),
        Printed::Share { .. } => "the shares that fit".to_owned(),
        Printed::BestOf { games: 1, .. } => "our single games".to_owned(),
        Printed::BestOf { games, .. } => format!("the best of {games} of our games"),
        Printed::Words { .. } => "the middle half of our games".to_owned(),
        Printed::Factor { .. } => "its factor and three standard errors".to_owned(),
    };
    let text = |end: f64| if end.fract() == 0.0 { grouped(end) } else { number(end) };
    Some(format!("{name} {place} {what}, {} to {}", text(low), text(high)))
}

impl Ours {
    /// Our number to print, usually the mean.
    fn of(quantity: Quantity, numbers: &[f64]) -> Option<Ours> {
        let statistics = match quantity {
            // Each line takes the same number of pieces.
            Quantity::EstimatedLines => Statistics::per_loss(numbers.iter().map(|lines| (1.0, 1.0 / lines))),
            _ => Statistics::of(numbers.iter().copied()),
        }?;
        let (mean, spread) = (statistics.mean, statistics.spread);
        let (std, ci95) = (spread.map(|spread| spread.std), spread.map(|spread| spread.ci95));
        match quantity {
            Quantity::Lost => {
                let lost = numbers.iter().filter(|number| **number != 0.0).count();
                Some(Ours { value: mean, std, ci95: Some(share_interval(lost as u64, numbers.len() as u64)) })
            }
            Quantity::BestPoints(games) => {
                let mut numbers = numbers.to_vec();
                numbers.sort_by(f64::total_cmp);
                // All of n games are below a number with probability p if one game is below it with the n-th root of p.
                let best = |probability: f64| {
                    let share = probability.powf(1.0 / f64::from(games));
                    numbers[((share * numbers.len() as f64).ceil() as usize).clamp(1, numbers.len()) - 1]
                };
                Some(Ours { value: best(0.5), std: None, ci95: Some((best(0.025), best(0.975))) })
            }
            _ => Some(Ours { value: mean, std, ci95 }),
        }
    }
}

fn notes(row: &ExperimentRow, played: &PlayedRow, cut: u64, is_lower_bound: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let size = |field| row.rules.changes.count(field);
    let (Some(width), Some(height)) = (size("width"), size("height")) else { return notes };
    if row.balances {
        let left = |game: &PlayedGame| 4.0 * game.pieces as f64 - f64::from(width) * game.lines as f64;
        let fits = |game: &&PlayedGame| (0.0..=f64::from(width * height)).contains(&left(game));
        let balanced = played.games.iter().filter(fits).count();
        let mean = played.games.iter().map(left).sum::<f64>() / played.games.len().max(1) as f64;
        notes.push(match balanced == played.games.len() {
            true => format!("cells balance in every game; {mean:.1} are left at its end"),
            false => {
                format!("cells balance in {balanced} of {} only", count(played.games.len() as u64, "game"))
            }
        });
        let said =
            |quantity| row.figures.iter().find(|figure| figure.quantity == quantity)?.document?.value();
        if let (Some(lines), Some(pieces)) = (said(Quantity::Lines), said(Quantity::Pieces))
            && !balances(width, height, lines, pieces)
        {
            notes.push("the document's lines and pieces cannot be true together".to_owned());
        }
    }
    if cut > 0 {
        let all = (played.games.len() + played.estimates.len()) as u64;
        let cut = match (row.loss_trials, cut) {
            (0, 1) => format!("1 of {} was cut", count(all, "game")),
            (0, cut) => format!("{cut} of {} were cut", count(all, "game")),
            (_, cut) => format!("no loss in {cut} of {}", count(all, "estimate")),
        };
        let bound = if is_lower_bound { ": the means are lower bounds" } else { "" };
        notes.push(format!("{cut}{bound}"));
    }
    for (generation, step) in (1..).zip(&played.steps) {
        // All generations of a short search, and every tenth of a long one.
        if played.steps.len() <= 20 || generation % 10 == 0 || generation == 1 {
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
    /// The verdict in words, with its reason and with what was compared if necessary.
    fn verdict(&self) -> String {
        let reasoned = self.reasoned_verdict();
        std::iter::once(&reasoned).chain(&self.compared).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    fn reasoned_verdict(&self) -> String {
        let unit = self.figure.quantity.unit();
        let verdict = match (self.judgement, self.figure.quantity) {
            (OverallVerdict::TooFew, Quantity::EstimatedLines) => "too few of their games to tell".to_owned(),
            (judgement, _) => judgement.text(unit),
        };
        let wrong = self.figure.wrong.filter(|_| self.judgement != OverallVerdict::None);
        match (self.judgement, wrong, self.document, self.since) {
            (OverallVerdict::DocumentWrong, Some(why), _, Some(_)) => {
                format!("{verdict}: {why}; agrees with later measurements")
            }
            (OverallVerdict::DocumentWrong, Some(why), ..) => format!("{verdict}: {why}"),
            (_, Some(why), ..) => format!("{verdict}; document wrong: {why}"),
            (OverallVerdict::Differs, _, Some(Verdict::Agrees), _) => {
                format!("{verdict} from later measurements, agrees with the document")
            }
            (OverallVerdict::Differs, _, Some(_), Some(Verdict::TooFew | Verdict::Cut)) => {
                format!("{verdict} from the document")
            }
            (OverallVerdict::Agrees, _, Some(Verdict::TooFew), Some(_)) => {
                format!("{verdict} with later measurements; too few {unit}s to judge the document")
            }
            (OverallVerdict::Agrees, _, Some(_), Some(Verdict::TooFew)) => {
                format!("{verdict} with the document; too few {unit}s to judge later measurements")
            }
            _ => verdict,
        }
    }

    fn interval(&self) -> String {
        match self.ours {
            // The spread of games that were cut shows nothing about whole games.
            Some(_) if self.is_lower_bound => "a lower bound".to_owned(),
            Some(Ours { ci95: Some((low, high)), .. }) => {
                format!("{} to {}", evaluate::number(low), evaluate::number(high))
            }
            Some(_) => format!("one {}", self.figure.quantity.unit()),
            None => "-".to_owned(),
        }
    }

    fn cells(&self, row: &RowReport, is_first: bool) -> [String; 7] {
        let said = |said: Option<Reference>| match said {
            Some(said) => said.text(self.figure.quantity.unit()),
            None => "-".to_owned(),
        };
        [
            if is_first { row.label.clone() } else { String::new() },
            self.figure.quantity.name(),
            said(self.figure.document),
            said(self.figure.since),
            self.ours.map_or("-".to_owned(), |ours| number(ours.value)),
            self.interval(),
            self.verdict(),
        ]
    }
}

const HEADINGS: [&str; 7] =
    ["row", "number", "document", "measured since", "ours", "95 % interval", "verdict"];

impl ExperimentReport {
    fn head(&self) -> String {
        let quick = if self.quick { ", a quick look" } else { "" };
        let Experiment { name, title, source, .. } = &self.experiment;
        format!("{name}: {title} ({source}); seed {}{quick}", self.seed)
    }

    /// The report in all output forms.
    pub fn forms(&self) -> Forms {
        let cells = |row: &RowReport| {
            let row_cells =
                row.figures.iter().enumerate().map(|(n, figure)| figure.cells(row, n == 0).into());
            row_cells.collect::<Vec<_>>()
        };
        let table = ReportTable {
            head: self.head(),
            headings: HEADINGS.map(str::to_owned).into(),
            rows: self.rows.iter().flat_map(cells).collect(),
            numbers: 2..6,
            notes: self.notes().collect(),
        };
        Forms { text: table.to_text(), markdown: table.to_markdown(), json: self.to_json() }
    }

    fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().flat_map(|row| {
            let games = format!("{}: {}", row.label, count(row.games, "game"));
            std::iter::once(games).chain(row.notes.iter().map(|note| format!("  {note}")))
        })
    }

    fn to_json(&self) -> Value {
        let figure = |figure: &FigureReport| {
            let ComparedFigure { quantity, document, since, .. } = &figure.figure;
            let text = |said: &Option<Reference>| said.map(|said| said.text(quantity.unit()));
            json!({
                "number": quantity.name(),
                "document": document.and_then(|said| said.value()),
                "document_origin": document.map(|said| said.origin.word()),
                "document_text": text(document),
                "measured_since": since.and_then(|said| said.value()),
                "measured_since_origin": since.map(|said| said.origin.word()),
                "measured_since_text": text(since),
                "ours": figure.ours.map(|ours| ours.value),
                "std": figure.ours.and_then(|ours| ours.std),
                "ci95": figure.ours.and_then(|ours| ours.ci95),
                "lower_bound": figure.is_lower_bound,
                "verdict": figure.judgement.word(),
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
            "seed": self.seed.to_string(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

/// Formats a number: whole if it is large, else with decimals.
fn number(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else if number.abs() < 100.0 {
        format!("{number:.2}")
    } else {
        grouped(number)
    }
}
