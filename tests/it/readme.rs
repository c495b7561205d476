//! The tables of the README repeat the code, and say what it says.

use std::process::Command;

use prost::Message;
use tetrion::agents::{AGENTS, CONTROLLERS};
use tetrion::cli::numbers::grouped;
use tetrion::cli::reproduce::experiments::{Figure, experiments};
use tetrion::cli::reproduce::verdict::Said;
use tetrion::engine::PRESETS;
use tetrion::features::{FEATURE_SETS, FEATURES};
use tetrion::wire::FILE_DESCRIPTOR_SET;
use tetrion::wire::dm_env_rpc::settings::SETTINGS;

const README: &str = include_str!("../../README.md");

/// The names in the first column of the table under a heading.
fn table(heading: &str) -> Vec<String> {
    let (_, section) = README.split_once(&format!("\n{heading}\n")).expect("the heading is there");
    let rows =
        section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let first = |row: &str| row.split('|').nth(1).unwrap().trim().trim_matches('`').to_owned();
    rows.skip(2).map(first).collect()
}

#[test]
fn the_table_of_calls_is_that_of_the_protocol() {
    let descriptors = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let files = descriptors.file.iter().filter(|file| file.package() == "tetrion.v1");
    let calls: Vec<String> = files
        .flat_map(|file| &file.service)
        .flat_map(|service| &service.method)
        .map(|method| method.name().to_owned())
        .collect();
    assert_eq!(table("### Calls"), calls);
}

#[test]
fn the_tables_of_features_sets_controllers_and_presets_are_those_of_the_code() {
    let names: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
    assert_eq!(table("### Features"), names);
    let names: Vec<&str> = FEATURE_SETS.iter().map(|set| set.name).collect();
    assert_eq!(table("### Feature sets"), names);
    let names: Vec<&str> = CONTROLLERS.iter().map(|controller| controller.name).collect();
    assert_eq!(table("### Controllers"), names);
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    assert_eq!(table("### Presets"), names);
}

#[test]
fn the_table_of_agents_is_that_of_the_code_to_the_last_word() {
    for (name, row) in table("### Agents").iter().zip(AGENTS) {
        let parameters: Vec<&str> = row.parameters.iter().map(|parameter| parameter.name()).collect();
        let line = format!("| `{name}` | {} | {} |", parameters.join(", "), row.description);
        assert_eq!(name, row.name);
        assert!(README.lines().any(|other| other == line), "{line}");
    }
    assert_eq!(table("### Agents").len(), AGENTS.len());
}

#[test]
fn the_table_of_presets_is_that_of_the_code() {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    assert_eq!(table("### Presets"), names);
}

#[test]
fn the_table_of_limits_has_the_defaults_of_the_flags() {
    let help = Command::new(env!("CARGO_BIN_EXE_tetrion")).args(["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let heading = "### What clients can make a server hold";
    let (_, section) = README.split_once(&format!("\n{heading}\n")).unwrap();
    for flag in table(heading) {
        let row = section.lines().find(|line| line.starts_with(&format!("| `{flag}` |"))).unwrap();
        let default = row.split('|').nth(2).unwrap().trim().split(' ').next().unwrap();
        let (_, of_flag) = help.split_once(&format!("{flag} <")).unwrap_or_else(|| panic!("no flag {flag}"));
        let (_, of_flag) = of_flag.split_once("[default: ").unwrap();
        assert!(of_flag.starts_with(&format!("{default}]")), "{flag}: {default}");
    }
    assert!(table(heading).len() > 10);
}

#[test]
fn the_table_of_settings_is_that_of_the_code() {
    for setting in &SETTINGS {
        let also = if setting.at_reset { " (also at a reset)" } else { "" };
        let row = format!("| `{}` | {} | {}{also} |", setting.name, setting.takes, setting.description);
        assert!(README.contains(&row), "the README has no row {row}");
    }
    assert_eq!(table("### dm_env_rpc").len(), SETTINGS.len());
}

#[test]
fn the_table_of_reproduced_figures_has_the_figures_of_the_experiments() {
    let (_, section) = README.split_once("\n## Tables of documents and papers, reproduced\n").unwrap();
    let table = section.lines().skip_while(|line| !line.starts_with('|'));
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
        let same = |figure: &&Figure| {
            let unit = figure.quantity.unit();
            let text = |said: Option<Said>| said.map_or(String::new(), |said| said.text(unit));
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

#[test]
fn the_python_program_is_the_one_that_is_tested() {
    let program = include_str!("../../clients/python/examples/raw_stubs.py");
    assert!(README.contains(&format!("```python\n{program}```\n")), "clients/python/examples/raw_stubs.py");
}
