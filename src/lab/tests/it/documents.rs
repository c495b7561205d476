//! The documents' statements about the experiments are true.

use std::fs;

use tetrion::benchmark::{CLASSES, SEED};
use tetrion::text::numbers::grouped;
use tetrion_lab::reproduce::experiments::{ComparedFigure, experiments};
use tetrion_lab::reproduce::verdict::Reference;

use crate::root;

#[test]
fn the_table_of_reproduced_figures_has_the_figures_of_the_experiments() {
    let document = fs::read_to_string(root().join("docs/results.md")).unwrap();
    let table = document.lines().skip_while(|line| !line.starts_with("| command |"));
    let rows: Vec<Vec<&str>> = table
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 30);
    let all = experiments();
    let (mut command, mut label) = ("", "");
    for row in rows {
        let [cell, row_label, number, document, since, _ours, games, verdict] = row[..] else {
            panic!("{row:?}")
        };
        (command, label) = (
            if cell.is_empty() { command } else { cell },
            if row_label.is_empty() { label } else { row_label },
        );
        let quick = command.contains("--quick");
        let found = all
            .iter()
            .find(|experiment| command.trim_matches('`').split(' ').nth(1) == Some(experiment.name));
        let found = found.and_then(|experiment| experiment.rows.iter().find(|row| row.label(quick) == label));
        let found = found.unwrap_or_else(|| panic!("{command} has no row {label}"));
        let same = |figure: &&ComparedFigure| {
            let unit = figure.quantity.unit();
            let text = |said: Option<Reference>| said.map_or(String::new(), |said| said.text(unit));
            figure.quantity.name() == number
                && text(figure.document) == document
                && text(figure.since) == since
        };
        assert!(found.figures.iter().any(|figure| same(&figure)), "{command}, {label}: {row:?}");
        let expected = if quick { found.quick_games } else { found.games };
        assert_eq!(games, grouped(expected.into()), "{command}, {label}");
        let known = ["agrees", "differs", "document wrong: ", "too few ", "cut before it can tell", "-"];
        assert!(known.iter().any(|known| verdict.starts_with(known)), "{command}, {label}: {verdict}");
    }
}

/// The program accepts every command in a document; `...`, `NAME` and the like stand for something else.
#[test]
fn the_program_takes_every_command_in_a_document() {
    let mut count = 0;
    let known = ["reproduce", "benchmark"];
    for name in ["README", "docs/results", "docs/rules", "docs/README"] {
        let text = fs::read_to_string(root().join(name).with_extension("md")).unwrap();
        let commands = text.split("tetrion-lab ").skip(1).map(|rest| {
            rest.split(['`', '\n', '#', '|', '&', ';', '>']).next().unwrap().split_whitespace().collect()
        });
        for words in commands.filter(|words: &Vec<&str>| words.len() > 1 && known.contains(&words[0])) {
            count += 1;
            let parsed = tetrion_lab::command().try_get_matches_from(["tetrion-lab"].iter().chain(&words));
            assert!(parsed.is_ok(), "{name}.md: tetrion-lab {}: {}", words.join(" "), parsed.unwrap_err());
        }
    }
    assert!(count >= 10, "only {count} commands were found");
}

/// The table on the benchmark's page lists the classes.
#[test]
fn the_table_of_classes_is_that_of_the_code() {
    let document = fs::read_to_string(root().join("docs/results.md")).unwrap();
    for class in &CLASSES {
        let row = format!(
            "| `{}` | {} | {} | {} | {} | {} pieces |\n",
            class.name,
            class.about,
            class.size(),
            class.preview,
            grouped(class.games.into()),
            grouped(class.max_pieces as f64)
        );
        assert!(document.contains(&row), "docs/results.md has no row {row}");
    }
    assert!(document.contains(&format!("DrawnSeeds({SEED}, n)")));
}
