//! The output of hosted games: a table for people, a JSON object for programs. It contains no times, so equal games
//! print equal output.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::text::numbers::{count, grouped};
use crate::trainer::rules::{changes, in_words};
use tetrion_core::engine::RULES_VERSION;
use tetrion_core::summary::{PerPiece, Statistics};
use tetrion_toolkit::tbp::messages::Info;
use tetrion_toolkit::tbp::{End, HostedGame, Hosting};

/// Most reasons for lost games that the table lists.
const MAX_REASONS: usize = 10;

/// The games and their statistics.
#[derive(Clone, Debug)]
pub struct HostingReport<'a> {
    hosting: &'a Hosting,
    preset: &'static str,
    games: &'a [HostedGame],
    attack: Option<PerPiece>,
    lines: Option<PerPiece>,
    pieces: Option<Statistics>,
    /// Number of games per kind of end.
    ends: BTreeMap<&'static str, u32>,
    /// Number of suggested moves that were impossible.
    passed_over: u64,
}

impl<'a> HostingReport<'a> {
    /// Reports these games, which may be fewer than requested.
    pub fn new(hosting: &'a Hosting, preset: &'static str, games: &'a [HostedGame]) -> HostingReport<'a> {
        let pieces = |game: &HostedGame| game.recording.outcome.pieces as f64;
        let mut ends = BTreeMap::new();
        games.iter().for_each(|game| *ends.entry(game.end.name()).or_insert(0) += 1);
        HostingReport {
            hosting,
            preset,
            games,
            attack: PerPiece::of(games.iter().map(|game| (game.attack as f64, pieces(game)))),
            lines: PerPiece::of(games.iter().map(|game| (game.recording.outcome.lines as f64, pieces(game)))),
            pieces: Statistics::of(games.iter().map(pieces)),
            ends,
            passed_over: games.iter().map(|game| game.passed_over).sum(),
        }
    }

    /// The bot's description of itself, from the first game that has one.
    fn bot(&self) -> Option<&Info> {
        self.games.iter().find_map(|game| game.bot.as_ref())
    }

    /// The report as a table.
    pub fn to_text(&self) -> String {
        let mut text = self.head();
        let _ = writeln!(text, "\n{:23} {:>9} {:>21}", "", "mean", "95 % interval");
        for (what, number) in [("lines sent per piece", self.attack), ("lines cleared per piece", self.lines)]
        {
            append_row(
                &mut text,
                what,
                number.map(|number| number.mean),
                number.and_then(|number| number.ci95),
                3,
            );
        }
        let spread = self.pieces.and_then(|pieces| pieces.spread);
        let mean = self.pieces.map(|pieces| pieces.mean);
        append_row(&mut text, "pieces per game", mean, spread.map(|spread| spread.ci95), 1);
        let ends: Vec<String> = self.ends.iter().map(|(end, games)| format!("{games} {end}")).collect();
        if !ends.is_empty() {
            let _ = writeln!(text, "\nends: {}", ends.join(", "));
        }
        if self.passed_over > 0 {
            let moves = grouped(self.passed_over as f64);
            let _ = writeln!(text, "impossible moves passed over: {moves}");
        }
        self.append_lost(&mut text);
        text
    }

    /// The heading: bot, games and rules.
    fn head(&self) -> String {
        let Hosting { program, rules, games, seed, max_pieces, think, .. } = self.hosting;
        let name = match self.bot() {
            Some(Info { name, version, .. }) if version.is_empty() => name.clone(),
            Some(Info { name, version, .. }) => format!("{name} ({version})"),
            None => program.path.to_string_lossy().into_owned(),
        };
        let games = match (self.games.len(), count((*games).into(), "game")) {
            (played, wanted) if played as u32 == self.hosting.games => wanted,
            (played, wanted) => format!("{} of {wanted}", grouped(played as f64)),
        };
        let think = match think.as_millis() {
            0 => String::new(),
            think => format!(", {think} ms to think"),
        };
        let (pieces, rules) = (count(*max_pieces, "piece"), in_words(self.preset, rules));
        format!("{name}: {games} of at most {pieces}, {rules}, seed {seed}{think}\n")
    }

    /// Appends the lost games with the reasons.
    fn append_lost(&self, text: &mut String) {
        let lost = self.lost();
        for (why, games) in lost.iter().take(MAX_REASONS) {
            let (game, piece) = (games[0].game, games[0].recording.outcome.pieces + 1);
            let others = match games.len() - 1 {
                0 => String::new(),
                1 => ", as was one more".to_owned(),
                others => format!(", as were {others} more"),
            };
            let _ = writeln!(text, "game {game} was lost at piece {piece}{others}: {why}");
        }
        if lost.len() > MAX_REASONS {
            let _ = writeln!(text, "and others for {} more reasons", lost.len() - MAX_REASONS);
        }
    }

    /// The lost games grouped by reason, in the order of each group's first game.
    fn lost(&self) -> Vec<(String, Vec<&HostedGame>)> {
        let mut lost: Vec<(String, Vec<&HostedGame>)> = Vec::new();
        for game in self.games {
            let End::Lost(fault) = &game.end else { continue };
            let why = fault.to_string();
            match lost.iter_mut().find(|(known, _)| *known == why) {
                Some((_, games)) => games.push(game),
                None => lost.push((why, vec![game])),
            }
        }
        lost
    }

    /// The report as a JSON object on one line.
    pub fn to_json(&self) -> String {
        let Hosting { program, rules, seed, max_pieces, think, patience, .. } = self.hosting;
        let words = std::iter::once(&program.path).chain(&program.args);
        let spread = self.pieces.and_then(|pieces| pieces.spread);
        let object = json!({
            "program": words.map(|word| word.to_string_lossy()).collect::<Vec<_>>(),
            "bot": self.bot().map(|Info { name, version, author, features }| {
                json!({"name": name, "version": version, "author": author, "features": features})
            }),
            "rules": self.preset,
            "rules_changes": changes(self.preset, rules),
            "rules_version": RULES_VERSION,
            "seed": seed.to_string(),
            "games": self.games.len(),
            "max_pieces": max_pieces,
            "think_ms": think.as_millis() as u64,
            "timeout_s": patience.as_secs_f64(),
            "attack_per_piece": self.attack.map(|attack| attack.mean),
            "attack_per_piece_ci95": self.attack.and_then(|attack| attack.ci95),
            "lines_per_piece": self.lines.map(|lines| lines.mean),
            "lines_per_piece_ci95": self.lines.and_then(|lines| lines.ci95),
            "mean_pieces": self.pieces.map(|pieces| pieces.mean),
            "pieces_ci95": spread.map(|spread| spread.ci95),
            "ends": self.ends,
            "passed_over": self.passed_over,
            "results": self.games.iter().map(game).collect::<Vec<_>>(),
        });
        format!("{object}\n")
    }
}

fn append_row(text: &mut String, what: &str, mean: Option<f64>, ci95: Option<(f64, f64)>, decimals: usize) {
    let mean = mean.map_or("-".to_owned(), |mean| format!("{mean:.decimals$}"));
    let interval =
        ci95.map_or("-".to_owned(), |(low, high)| format!("{low:.decimals$} to {high:.decimals$}"));
    let _ = writeln!(text, "{what:23} {mean:>9} {interval:>21}");
}

fn game(game: &HostedGame) -> Value {
    let outcome = &game.recording.outcome;
    let why = match &game.end {
        End::Lost(fault) => Some(fault.to_string()),
        End::Complete | End::ToppedOut => None,
    };
    json!({
        "game": game.game,
        "pieces": outcome.pieces,
        "lines": outcome.lines,
        "attack": game.attack,
        "end": game.end.name(),
        "why": why,
        "passed_over": game.passed_over,
    })
}
