//! What `tetrion match` says: a table for people, a JSON object for programs, and a line per pair.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::pair::PlayedPair;
use crate::text::numbers::count;
use crate::trainer::rules::{changes, in_words};
use tetrion_client::PlayedGame;
use tetrion_core::engine::{EpisodeEnd, Rules};
use tetrion_toolkit::ratings::{CrossTable, EloEstimate, MatchOutcome, Pentanomial, Sprt, SprtVerdict};

/// The test of `--sprt`, with error rates of 5 % each.
#[derive(Clone, Copy, Debug)]
pub struct SprtTest {
    lower: f64,
    higher: f64,
    pub sprt: Sprt,
}

/// Parses the two differences of `--sprt`.
///
/// # Errors
/// The expected form, or why they make no test.
pub fn sprt(text: &str) -> Result<SprtTest, String> {
    let numbers = text
        .split_once(',')
        .and_then(|(lower, higher)| Some((lower.trim().parse().ok()?, higher.trim().parse().ok()?)));
    let (lower, higher) = numbers.ok_or("expected two numbers such as 0,20")?;
    let sprt = Sprt::new(lower, higher, 0.05, 0.05).map_err(|error| error.to_string())?;
    Ok(SprtTest { lower, higher, sprt })
}

/// The rules under which matches were played.
pub struct PlayedRules {
    pub preset: String,
    pub rules: Rules,
    pub rules_version: String,
}

/// The settings of the matches.
#[derive(Clone, Copy, Debug)]
pub struct MatchSettings {
    pub seed: u64,
    pub max_pieces: u64,
    pub test: Option<SprtTest>,
}

/// All matches of two players.
pub struct Meeting {
    /// Numbers of the players.
    pub players: [usize; 2],
    pub pairs: Vec<PlayedPair>,
    pub verdict: Option<SprtVerdict>,
}

impl Meeting {
    fn pentanomial(&self) -> Pentanomial {
        let mut counts = Pentanomial::default();
        self.pairs.iter().for_each(|pair| counts.add(pair.outcomes()));
        counts
    }

    /// Matches that the first player has won, drawn and lost.
    fn results(&self) -> [usize; 3] {
        let all = || self.pairs.iter().flat_map(PlayedPair::outcomes);
        [MatchOutcome::Win, MatchOutcome::Draw, MatchOutcome::Loss]
            .map(|kind| all().filter(|outcome| *outcome == kind).count())
    }
}

/// A line of the file of `--out` for each pair.
pub fn lines(names: &[&str], meeting: &Meeting) -> Vec<String> {
    let [first, second] = meeting.players.map(|player| names[player]);
    let line = |PlayedPair { seed, games, .. }: &PlayedPair| {
        let games = games.iter().enumerate().map(|(side, game)| {
            let PlayedGame { lines, pieces, score, end, .. } = game;
            json!({"side": side, "end": EpisodeEnd::name(*end), "pieces": pieces, "lines": lines, "score": score})
        });
        let matches: Vec<Value> = games.collect();
        format!(
            "{}\n",
            json!({"first": first, "second": second, "seed": seed.to_string(), "matches": matches})
        )
    };
    meeting.pairs.iter().map(line).collect()
}

fn estimate(estimate: Option<EloEstimate>) -> Value {
    estimate.map_or(Value::Null, |EloEstimate { elo, ci95 }| json!({"elo": elo, "ci95": [ci95.0, ci95.1]}))
}

/// The results as a JSON object.
pub fn to_json(
    settings: &MatchSettings,
    names: &[&str],
    played: &PlayedRules,
    meetings: &[Meeting],
) -> Value {
    let test = |meeting: &Meeting, pairs: &Pentanomial| {
        let Some(SprtTest { lower, higher, sprt }) = settings.test else { return Value::Null };
        let verdict = match meeting.verdict {
            Some(SprtVerdict::AcceptsHigher) => "accepts_higher",
            Some(SprtVerdict::AcceptsLower) => "accepts_lower",
            _ => "goes_on",
        };
        let ratio = sprt.log_likelihood_ratio(pairs);
        let (low, high) = sprt.bounds();
        json!({"lower": lower, "higher": higher, "log_likelihood_ratio": ratio, "bounds": [low, high], "verdict": verdict})
    };
    let of_meeting = |meeting: &Meeting| {
        let pairs = meeting.pentanomial();
        let [won, drawn, lost] = meeting.results();
        json!({
            "first": names[meeting.players[0]],
            "second": names[meeting.players[1]],
            "pairs": pairs.num_pairs(),
            "pentanomial": pairs.counts,
            "won": won,
            "drawn": drawn,
            "lost": lost,
            "score": pairs.score(),
            "elo": estimate(pairs.elo()),
            "normalized_elo": estimate(pairs.normalized_elo()),
            "sprt": test(meeting, &pairs),
        })
    };
    let ratings = match ratings(names, meetings) {
        Ok(ratings) => ratings
            .iter()
            .map(|(name, elo, error)| json!({"name": name, "elo": elo, "standard_error": error}))
            .collect(),
        Err(problem) => json!(problem),
    };
    json!({
        "rules": played.preset,
        "rules_changes": changes(&played.preset, &played.rules),
        "rules_version": played.rules_version,
        "seed": settings.seed.to_string(),
        "max_pieces": settings.max_pieces,
        "meetings": meetings.iter().map(of_meeting).collect::<Vec<_>>(),
        "ratings": ratings,
    })
}

/// Players from the strongest on: name, Elo relative to the first player, and its standard error.
fn ratings<'a>(names: &[&'a str], meetings: &[Meeting]) -> Result<Vec<(&'a str, f64, f64)>, String> {
    let mut table = CrossTable::new(names.len() as u32);
    for meeting in meetings {
        let [first, second] = meeting.players.map(|player| player as u32);
        table.add(first, second, &meeting.pentanomial());
    }
    let ratings = table.ratings(0).map_err(|error| error.to_string())?;
    let mut rated: Vec<_> =
        names.iter().zip(ratings).map(|(name, rating)| (*name, rating.elo, rating.standard_error)).collect();
    rated.sort_by(|(_, one, _), (_, other, _)| other.total_cmp(one));
    Ok(rated)
}

/// The results for people.
pub fn to_text(
    settings: &MatchSettings,
    names: &[&str],
    played: &PlayedRules,
    meetings: &[Meeting],
) -> String {
    let mut text = format!("{}, seed {}\n", in_words(&played.preset, &played.rules), settings.seed);
    let elo = |estimate: Option<EloEstimate>| {
        estimate.map_or_else(String::new, |EloEstimate { elo, ci95 }| {
            format!("{elo:+.1}  [{:+.1}, {:+.1}]", ci95.0, ci95.1)
        })
    };
    for meeting in meetings {
        let [first, second] = meeting.players.map(|player| names[player]);
        let pairs = meeting.pentanomial();
        let [won, drawn, lost] = meeting.results();
        let score = 100.0 * pairs.score().unwrap_or(0.5);
        let _ = write!(
            text,
            "\n{first} against {second}: {}\n  won {won}, drawn {drawn}, lost {lost}; score {score:.1} %\n  pairs with 0, 1/2, 1, 3/2, 2 points: {}\n  Elo {}\n  normalized Elo {}\n",
            count(pairs.num_pairs(), "pair"),
            pairs.counts.map(|count| count.to_string()).join(" "),
            elo(pairs.elo()),
            elo(pairs.normalized_elo()),
        );
        if let (Some(SprtTest { lower, higher, sprt }), Some(verdict)) = (settings.test, meeting.verdict) {
            let said = match verdict {
                SprtVerdict::AcceptsHigher => {
                    format!("{first} is stronger by {higher} normalized Elo or more")
                }
                SprtVerdict::AcceptsLower => {
                    format!("{first} is stronger by no more than {lower} normalized Elo")
                }
                SprtVerdict::GoesOn => "undecided: more --pairs are needed".to_owned(),
            };
            let ((low, high), ratio) = (sprt.bounds(), sprt.log_likelihood_ratio(&pairs));
            let _ = writeln!(
                text,
                "  test of {lower} against {higher}: {said} ({ratio:.2} of {low:.2} to {high:.2})"
            );
        }
    }
    if names.len() > 2 {
        let _ = match ratings(names, meetings) {
            Ok(rated) => {
                let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
                let rows = rated.iter().map(|(name, elo, error)| {
                    format!("  {name:width$}  {elo:+8.1} +- {:.1}\n", 1.96 * error)
                });
                writeln!(text, "\nRatings in Elo, with {} at 0:\n{}", names[0], rows.collect::<String>())
            }
            Err(problem) => writeln!(text, "\nNo ratings: {problem}"),
        };
    }
    text
}
