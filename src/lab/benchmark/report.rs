//! A result of the benchmark for people: a line, a table and a note on how to cite it.

use tetrion::benchmark::{BenchmarkResult, Class, NAME, SEED, Source, Summary};
use tetrion::cli::evaluate::{interval, number};
use tetrion::summary::LinesPerLoss;
use tetrion::text::numbers::{count, grouped};
use xxhash_rust::xxh3::xxh3_64;

/// Lines per game with their interval, as in "5,033 (4,935 to 5,131)".
fn lines(summary: &Summary) -> String {
    format!("{} ({})", number(summary.lines.mean), interval(&summary.lines))
}

/// Lines per lost game with their interval; without cut games, the mean says as much.
fn per_loss(summary: &Summary) -> String {
    let LinesPerLoss { estimate, at_least, at_most } = summary.lines_per_loss;
    match (estimate, at_most) {
        _ if summary.num_cut == 0 => "-".to_owned(),
        (Some(lines), Some(most)) => format!("{} ({} to {})", number(lines), number(at_least), number(most)),
        _ => format!("over {}", number(at_least)),
    }
}

/// The result as a Markdown table with one row.
pub fn table(result: &BenchmarkResult, class: &Class) -> String {
    let summary = Summary::of(class, &result.games);
    let BenchmarkResult { benchmark, class: name, player, program, command, .. } = result;
    format!(
        "| player | benchmark | class | playfield | lines per game (95 %) | games | cut | lines per loss (95 %) | program |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n\
         | {} | {benchmark} | {name} | {} | {} | {} | {} | {} | {program} |\n\n{}\n",
        code(&player.name),
        class.size(),
        lines(&summary),
        grouped(summary.num_games as f64),
        grouped(summary.num_cut as f64),
        per_loss(&summary),
        code(command),
    )
}

/// A text as code in Markdown: between more backticks than it has in a row, and with spaces if it begins or ends with
/// one.
fn code(text: &str) -> String {
    let runs = text.split(|letter| letter != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A paragraph for a paper, and a BibTeX entry.
pub fn citation(result: &BenchmarkResult, class: &Class, year: &str) -> String {
    let summary = Summary::of(class, &result.games);
    let BenchmarkResult { player, program, command, .. } = result;
    let pieces = match class.preview {
        0 => "the current piece".to_owned(),
        shown => format!("the current piece and {}", count(shown.into(), "next piece")),
    };
    let games = count(summary.num_games, "game");
    let check = match player.source {
        Source::Recordings => "all games are recorded",
        _ => "the player is in the folder and plays its games again",
    };
    let rules = tetrion::engine::RULES_VERSION;
    format!(
        "# How to cite this result\n\n\
         {} clears {} lines per game in {NAME}, class {} (95 % interval of the mean, 1.96 standard errors).\n\
         The class plays {games} on {} with seed {SEED}, under the rules `simplified` of {rules}; the player sees {pieces}.\n\
         Games are cut after {} pieces; {} reached the cut.\n\
         `tetrion verify FOLDER` checks the result from this folder: {check}.\n\n\
         ```bibtex\n\
         @misc{{{},\n  \
           title = {{{{Tetrion}}: {NAME}, class {}}},\n  \
           author = {{{{Tetrion contributors}}}},\n  \
           year = {{{year}}},\n  \
           note = {{{program}, rules {rules}. Command: \\texttt{{{}}}}}\n\
         }}\n\
         ```\n",
        code(&player.name),
        lines(&summary),
        class.name,
        class.size(),
        grouped(class.max_pieces as f64),
        count(summary.num_cut, "game"),
        key(result),
        class.name,
        latex(command),
    )
}

/// The key of a result in BibTeX. The number at its end follows from the whole result.
fn key(result: &BenchmarkResult) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let words = format!("{NAME}_{}_{}", result.class, result.player.name);
    let words: String = words.chars().map(plain).collect();
    format!("{words}_{:08x}", xxh3_64(result.to_json().as_bytes()) as u32)
}

/// A text with the special characters of LaTeX and BibTeX replaced. BibTeX counts braces, even after a backslash.
fn latex(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '_' | '%' | '#' | '&' | '$' => format!("\\{letter}"),
        '{' => "\\textbraceleft{}".to_owned(),
        '}' => "\\textbraceright{}".to_owned(),
        '`' => "\\textasciigrave{}".to_owned(),
        '\'' => "\\textquotesingle{}".to_owned(),
        '\\' => "\\textbackslash{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        letter => letter.to_string(),
    };
    text.chars().map(escaped).collect()
}
