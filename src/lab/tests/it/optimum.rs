//! `tetrion-lab reproduce optimum`: played games agree with exact values, and the table is the one in the documents.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tetrion::engine::Rules;
use tetrion::optimum::{MAX_AFTERSTATES, Pick, Process};
use tetrion::pool::Pool;

use crate::{lab, root};

/// Rows per playfield: all controllers except `bdu`, the one that needs a next piece and those for modern Tetris; two of them
/// with expectation too; the best player and the random one.
const PLAYERS: usize = 23;

#[track_caller]
fn printed(args: &[&str]) -> String {
    let output = lab(&["reproduce", "optimum", "--quick"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn played_games_agree_with_the_exact_values() {
    let args = ["--row", "4x4", "--games", "3000", "--json"];
    let report: Json = serde_json::from_str(&printed(&args)).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), PLAYERS);
    let process = Process::of_every_placement(&Rules::simplified(4, 4), MAX_AFTERSTATES, |_| {}).unwrap();
    let best = process.solve(Pick::Best, &Pool::new(2).unwrap(), |_| {}).of_game();
    for row in rows {
        let number = |field: &str| row[field].as_f64().unwrap();
        assert!(number("low") <= number("lines") && number("lines") <= number("high"), "{row}");
        assert!((number("of_optimum") - number("lines") / best.lines).abs() < 1e-12, "{row}");
        let (games, verdict) = (number("games"), row["verdict"].as_str().unwrap());
        if row["player"] == "optimum" {
            assert_eq!((number("lines"), games, verdict), (best.lines, 0.0, "none"));
        } else {
            assert_eq!((games, verdict), (3000.0, "agrees"), "{row}");
        }
    }
}

#[test]
fn the_table_is_the_one_in_the_documents_and_can_be_kept() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("optimum");
    let _ = fs::remove_dir_all(&folder);
    let args = ["--row", "4x4", "--games", "500", "--markdown", "--write", folder.to_str().unwrap()];
    let markdown = printed(&args);
    assert_eq!(fs::read_to_string(folder.join("optimum.md")).unwrap(), markdown);
    let kept = fs::read_to_string(folder.join("optimum.json")).unwrap();
    let kept: Json = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["rows"].as_array().unwrap().len(), PLAYERS);
    assert!(markdown.starts_with("### optimum: every controller and the best player"), "{markdown}");
    assert!(markdown.contains("- 4x4: lines per game\n  - optimum 7.0669"), "{markdown}");
    assert!(markdown.contains("500 games each: 22 of 22 players agree with their exact value"), "{markdown}");
    // The first column of the whole table has the same players and lines in the same order.
    let cells = |text: &str| {
        let table = text.lines().skip_while(|line| !line.starts_with("| player |")).skip(2);
        let table = table.take_while(|line| line.starts_with('|'));
        let first_two =
            |line: &str| line.split('|').skip(1).take(2).map(|cell| cell.trim().to_owned()).collect();
        table.map(first_two).collect::<Vec<Vec<String>>>()
    };
    let document = root().join("docs/results.md");
    assert_eq!(cells(&fs::read_to_string(document).unwrap()), cells(&markdown));
}

#[test]
fn rows_of_the_table_are_chosen_by_name() {
    let text = printed(&["--row", "random", "--games", "200"]);
    let line = text.lines().find(|line| line.starts_with("random")).unwrap();
    assert_eq!(line.matches('%').count(), 3, "three playfields make a quick look: {text}");
    let output = lab(&["reproduce", "optimum", "--row", "9x9"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("no row of optimum has \"9x9\" in its name"), "{stderr}");
    assert!(stderr.contains("4x7 random"), "{stderr}");
}
