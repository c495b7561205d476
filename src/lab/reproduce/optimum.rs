//! The experiment `optimum`: compares every controller with the best possible player, on playfields that can be solved.
//!
//! The lines per game are computed, not sampled (see [`tetrion::optimum`]), then sampled as a check: each controller plays
//! games through the server as in every other experiment, and the mean must agree with the exact value. The best player
//! plays no games here: a test compares the means of the agent `optimal`.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value as Json, json};

use super::args::ReproduceArgs;
use super::forms::{Forms, ReportTable};
use super::verdict::{Cuts, Origin, OverallVerdict, Printed, Reference};
use tetrion::agents::{Agent, CONTROLLERS, Controller, Expectation, Kernel, PlayChoice, Search};
use tetrion::cli::options::Size;
use tetrion::cli::output::say;
use tetrion::cli::progress::{GamesProgress, WorkProgress, rows_left};
use tetrion::client::{Client, EvaluationRequest, Policy, RulesChoice, Seeds};
use tetrion::engine::Rules;
use tetrion::optimum::{ExpectedLines, MAX_AFTERSTATES, Pick, Process, SolutionProgress};
use tetrion::pool::Pool;
use tetrion::summary::Statistics;
use tetrion::text::numbers::{count, grouped, time};

/// Name on the command line.
pub const NAME: &str = "optimum";
pub const TITLE: &str = "every controller and the best player on small playfields, computed exactly";
pub const SOURCE: &str = "value iteration; no published table is known";

/// The playfields, ordered by number of cells.
pub const SIZES: [Size; 7] = [
    Size { width: 4, height: 4 },
    Size { width: 4, height: 5 },
    Size { width: 5, height: 4 },
    Size { width: 4, height: 6 },
    Size { width: 6, height: 4 },
    Size { width: 5, height: 5 },
    Size { width: 4, height: 7 },
];
/// Number of playfields in a quick look.
const QUICK_SIZES: usize = 3;

/// Games that check a row.
const GAMES: u32 = 10_000;
const QUICK_GAMES: u32 = 1_000;

/// A player whose value can be computed exactly.
#[derive(Clone, Copy, Debug)]
enum SolvedPlayer {
    Optimum,
    /// A controller with a search.
    Controller(&'static Controller, Search),
    Random,
}

/// Controllers that appear twice: with their own search, and with expectation.
const WEIGHING: [&str; 2] = ["dellacherie", "dt-10"];

/// A player on a playfield.
#[derive(Clone, Copy, Debug)]
struct OptimumRow {
    size: Size,
    player: SolvedPlayer,
}

/// A row with its exact value, and the games that check it.
#[derive(Clone, Debug)]
struct SolvedRow {
    row: OptimumRow,
    exact: Exact,
    /// Value of the best player on this playfield.
    optimum: f64,
    played: Option<Played>,
}

/// Exact lines per game, and the size of the computation.
#[derive(Clone, Copy, Debug)]
struct Exact {
    value: ExpectedLines,
    afterstates: usize,
    sweeps: u32,
}

/// Values computed from every placement on a playfield.
#[derive(Clone, Copy, Debug)]
struct SolvedSize {
    size: Size,
    optimum: Exact,
    random: Exact,
}

/// Results of the games that check a row.
#[derive(Clone, Debug)]
struct Played {
    games: usize,
    statistics: Statistics,
    judgement: OverallVerdict,
}

/// The report of the experiment.
#[derive(Clone, Debug)]
pub struct OptimumReport {
    rows: Vec<SolvedRow>,
    quick: bool,
    seed: u64,
}

impl SolvedPlayer {
    fn name(self) -> String {
        match self {
            SolvedPlayer::Optimum => "optimum".to_owned(),
            SolvedPlayer::Controller(controller, search) if search == controller.play.search => {
                controller.name.to_owned()
            }
            SolvedPlayer::Controller(controller, _) => format!("{} + expectation", controller.name),
            SolvedPlayer::Random => "random".to_owned(),
        }
    }

    /// The policy of a request; the best player has none.
    fn policy(self) -> Policy {
        match self {
            SolvedPlayer::Controller(controller, search) => {
                let play = PlayChoice { search: Some(search), ..PlayChoice::default() };
                Policy { play, ..Policy::named(controller.name) }
            }
            SolvedPlayer::Optimum | SolvedPlayer::Random => Policy::named(&self.name()),
        }
    }
}

/// All players. Each appears in the rows of the playfields that it can play.
fn players() -> impl Iterator<Item = SolvedPlayer> {
    // No next piece is shown here, so controllers that need one are left out.
    let of_one_piece = |controller: &&Controller| controller.play.search.pieces_shown() == 0;
    // Controllers for modern Tetris need spins and hold, which these rules lack.
    let of_drops =
        |controller: &&Controller| Rules::preset(controller.preset).is_some_and(|rules| !rules.names_spots());
    let controllers = CONTROLLERS
        .iter()
        .filter(of_drops)
        .filter(of_one_piece)
        .map(|controller| SolvedPlayer::Controller(controller, controller.play.search));
    let weighing = CONTROLLERS
        .iter()
        .filter(|controller| WEIGHING.contains(&controller.name))
        .map(|controller| SolvedPlayer::Controller(controller, Search::Expectation(Expectation::default())));
    [SolvedPlayer::Optimum].into_iter().chain(controllers).chain(weighing).chain([SolvedPlayer::Random])
}

impl OptimumRow {
    fn label(&self) -> String {
        format!("{} {}", self.size, self.player.name())
    }

    fn rules(&self) -> Rules {
        Rules::simplified(self.size.width, self.size.height)
    }
}

fn rows(quick: bool) -> Vec<OptimumRow> {
    let sizes = if quick { &SIZES[..QUICK_SIZES] } else { &SIZES[..] };
    let every = sizes.iter().flat_map(|&size| players().map(move |player| OptimumRow { size, player }));
    every
        .filter(|row| match row.player {
            SolvedPlayer::Controller(controller, _) => controller.features(row.size.width).is_ok(),
            SolvedPlayer::Optimum | SolvedPlayer::Random => true,
        })
        .collect()
}

/// Computes the chosen rows, and plays their check games.
///
/// # Errors
/// For an unknown row, a refusal of the server, or a file that cannot be written.
pub async fn solve(args: &ReproduceArgs, client: &Client) -> anyhow::Result<OptimumReport> {
    let all = rows(args.quick);
    let rows = args.chosen(NAME, &all, OptimumRow::label)?;
    let pool = Pool::new(0)?;
    let mut report = OptimumReport { rows: Vec::new(), quick: args.quick, seed: args.seed };
    let (start, mut last_size) = (Instant::now(), None);
    for (number, &&row) in rows.iter().enumerate() {
        let left = rows_left(start.elapsed(), number, rows.len());
        let label = format!("{NAME} {} ({} of {}{left})", row.label(), number + 1, rows.len());
        let of_size = match last_size.filter(|last: &SolvedSize| last.size == row.size) {
            Some(known) => known,
            None => {
                in_background(&pool, &label, move |pool, progress| solve_size(row, pool, progress)).await?
            }
        };
        last_size = Some(of_size);
        let exact = match row.player {
            SolvedPlayer::Optimum => of_size.optimum,
            SolvedPlayer::Random => of_size.random,
            SolvedPlayer::Controller(controller, search) => {
                let agent = Agent::searching(controller.agent(row.size.width)?, search);
                let solve = move |pool: &Pool, progress: &mut WorkProgress| {
                    let watch = |found| show_found(progress, found);
                    let process = Process::of_agent(&row.rules(), &agent, Kernel::best(), watch)?;
                    Ok(Exact::of(&process, Pick::Best, pool, progress))
                };
                in_background(&pool, &label, solve).await?
            }
        };
        let played = match row.player {
            SolvedPlayer::Optimum => None,
            _ => Some(play(args, client, row, exact, &label).await?),
        };
        let done = SolvedRow { row, exact, optimum: of_size.optimum.value.lines, played };
        if number + 1 < rows.len() {
            say(format_args!("{NAME} {}", done.to_line()));
        }
        report.rows.push(done);
        if let Some(folder) = &args.write {
            report.forms().keep(folder, NAME)?;
        }
    }
    Ok(report)
}

/// Computes on a separate thread, so that Ctrl-C still works.
async fn in_background<T: Send + 'static>(
    pool: &Arc<Pool>,
    label: &str,
    work: impl FnOnce(&Pool, &mut WorkProgress) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let (pool, mut progress) = (pool.clone(), WorkProgress::new(label));
    let done = tokio::task::spawn_blocking(move || work(&pool, &mut progress)).await;
    done.context("the computation failed")?.with_context(|| format!("cannot solve {label}"))
}

fn solve_size(row: OptimumRow, pool: &Pool, progress: &mut WorkProgress) -> anyhow::Result<SolvedSize> {
    let watch = |found| show_found(progress, found);
    let process = Process::of_every_placement(&row.rules(), MAX_AFTERSTATES, watch)?;
    let optimum = Exact::of(&process, Pick::Best, pool, progress);
    let random = Exact::of(&process, Pick::Even, pool, progress);
    Ok(SolvedSize { size: row.size, optimum, random })
}

fn show_found(progress: &mut WorkProgress, found: usize) {
    progress.show(&[format!("{} afterstates found", grouped(found as f64))]);
}

impl Exact {
    fn of(process: &Process, pick: Pick, pool: &Pool, progress: &mut WorkProgress) -> Exact {
        let (start, mut first) = (Instant::now(), None);
        let solution = process.solve(pick, pool, |SolutionProgress { number, error, wanted }| {
            let mut words = vec![format!("sweep {number}")];
            // Without a bound there is no estimate of the time left.
            if error.is_finite() {
                let before: f64 = *first.get_or_insert(error);
                let left = (error / wanted).ln() / (before / error).ln();
                if left.is_finite() && left > 0.0 {
                    words.push(format!("{} left", time(start.elapsed().mul_f64(left))));
                }
                words.push(format!("known to {error:.0e} lines"));
            }
            progress.show(&words);
        });
        Exact { value: solution.of_game(), afterstates: process.num_afterstates(), sweeps: solution.sweeps() }
    }
}

/// Plays the games that check a row.
async fn play(
    args: &ReproduceArgs,
    client: &Client,
    row: OptimumRow,
    exact: Exact,
    label: &str,
) -> anyhow::Result<Played> {
    let games = args.games.unwrap_or(if args.quick { QUICK_GAMES } else { GAMES });
    let seeds = Seeds::Common { seed: args.seed, count: games };
    let mut request = EvaluationRequest::new(vec![row.player.policy()], seeds);
    request.rules = RulesChoice::of_size(row.size.width.into(), row.size.height.into());
    let mut progress = GamesProgress::new(label);
    let evaluated = client.evaluate_all(&request, |now| progress.show(now)).await;
    let evaluated = evaluated.with_context(|| format!("cannot play {label}"))?;
    let lines: Vec<f64> = evaluated.games(0).iter().map(|game| game.lines as f64).collect();
    let statistics = Statistics::of(lines.iter().copied()).context("no games were played")?;
    let ExpectedLines { lines: value, low, high } = exact.value;
    let said = Reference { printed: Printed::Interval { value, low, high }, origin: Origin::Rerun };
    let judgement = OverallVerdict::of(None, Some(said.compare(&lines, Cuts::default())), false);
    Ok(Played { games: lines.len(), statistics, judgement })
}

impl Played {
    fn to_text(&self) -> String {
        let games = count(self.games as u64, "game");
        let spread = self.statistics.spread.map(|spread| spread.ci95);
        let interval = spread.map_or(String::new(), |(low, high)| format!(" ({low:.4} to {high:.4})"));
        let verdict = self.judgement.text("game");
        format!("{:.4}{interval} in {games}, {verdict}", self.statistics.mean)
    }
}

impl SolvedRow {
    /// Share of the best player's lines.
    fn share(&self) -> f64 {
        self.exact.value.lines / self.optimum
    }

    /// The result as a line.
    fn to_line(&self) -> String {
        let played =
            self.played.as_ref().map_or(String::new(), |played| format!(", played {}", played.to_text()));
        format!("{}: {} lines exactly{played}", self.row.label(), self.cell())
    }

    /// The result as a table cell.
    fn cell(&self) -> String {
        let lines = self.exact.value.lines;
        match self.row.player {
            SolvedPlayer::Optimum => format!("{lines:.4}"),
            _ => format!("{lines:.4} ({:.1} %)", 100.0 * self.share()),
        }
    }

    fn to_json(&self) -> Json {
        let SolvedRow { row, exact, played, .. } = self;
        let spread = played.as_ref().and_then(|played| played.statistics.spread);
        json!({
            "row": row.label(),
            "width": row.size.width,
            "height": row.size.height,
            "player": row.player.name(),
            "afterstates": exact.afterstates,
            "lines": exact.value.lines,
            "low": exact.value.low,
            "high": exact.value.high,
            "of_optimum": self.share(),
            "games": played.as_ref().map_or(0, |played| played.games),
            "played": played.as_ref().map(|played| played.statistics.mean),
            "std": spread.map(|spread| spread.std),
            "ci95": spread.map(|spread| spread.ci95),
            "verdict": played.as_ref().map_or(OverallVerdict::None, |played| played.judgement).word(),
        })
    }
}

impl OptimumReport {
    /// The report in all output forms.
    pub fn forms(&self) -> Forms {
        let sizes: Vec<Size> =
            SIZES.into_iter().filter(|size| self.of_size(*size).next().is_some()).collect();
        let quick = if self.quick { ", a quick look" } else { "" };
        let row = |player: SolvedPlayer| {
            let cell = |size: &Size| {
                let found = self.of_size(*size).find(|done| done.row.player.name() == player.name());
                found.map(SolvedRow::cell)
            };
            let cells: Vec<Option<String>> = sizes.iter().map(cell).collect();
            let shown = cells.iter().any(Option::is_some);
            let cells = cells.into_iter().map(|cell| cell.unwrap_or("-".to_owned()));
            shown.then(|| std::iter::once(player.name().to_owned()).chain(cells).collect())
        };
        let table = ReportTable {
            head: format!("{NAME}: {TITLE} ({SOURCE}); seed {}{quick}", self.seed),
            headings: ["player".to_owned()].into_iter().chain(sizes.iter().map(Size::to_string)).collect(),
            rows: players().filter_map(row).collect(),
            numbers: 1..1 + sizes.len(),
            notes: sizes.iter().flat_map(|size| self.notes(*size)).collect(),
        };
        let json = json!({
            "experiment": NAME,
            "title": TITLE,
            "source": SOURCE,
            "quick": self.quick,
            "seed": self.seed.to_string(),
            "rows": self.rows.iter().map(SolvedRow::to_json).collect::<Vec<_>>(),
        });
        Forms { text: table.to_text(), markdown: table.to_markdown(), json }
    }

    fn of_size(&self, size: Size) -> impl Iterator<Item = &SolvedRow> {
        self.rows.iter().filter(move |done| done.row.size == size)
    }

    fn notes(&self, size: Size) -> Vec<String> {
        let mut notes = vec![format!("{size}: lines per game")];
        for done in self.of_size(size) {
            let Exact { value: ExpectedLines { lines, high, .. }, afterstates, sweeps } = done.exact;
            if matches!(done.row.player, SolvedPlayer::Optimum) {
                let afterstates = grouped(afterstates as f64);
                let known = format!("{lines:.9}, known to {:.0e}", high - lines);
                notes.push(format!("  optimum {known}: {afterstates} afterstates, {sweeps} sweeps"));
            }
        }
        let played: Vec<_> =
            self.of_size(size).filter_map(|done| Some((done.row.player, done.played.as_ref()?))).collect();
        let agree = played.iter().filter(|(_, played)| played.judgement == OverallVerdict::Agrees).count();
        if let [(_, first), ..] = played[..] {
            let games = count(first.games as u64, "game");
            notes.push(format!(
                "  played, {games} each: {agree} of {} players agree with their exact value",
                played.len()
            ));
        }
        let others = played.iter().filter(|(_, played)| played.judgement != OverallVerdict::Agrees);
        notes.extend(
            others.map(|(player, played)| format!("  {}: played {}", player.name(), played.to_text())),
        );
        notes
    }
}
