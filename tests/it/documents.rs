//! The documents say what the code says, and their links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;
use tetrion::cli::numbers::grouped;
use tetrion::cli::reproduce::experiments::{ComparedFigure, experiments};
use tetrion::cli::reproduce::verdict::Said;
use tetrion::wire::FILE_DESCRIPTOR_SET;
use tetrion::wire::dm_env_rpc::settings::SETTINGS;

use crate::evaluate::tetrion;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// The section of a document under a heading.
fn section(document: &str, heading: &str) -> String {
    let text = read(document);
    let section = text.split_once(&format!("\n{heading}\n"));
    section.unwrap_or_else(|| panic!("{document} has no {heading}")).1.to_owned()
}

/// The names in the first column of the first table of a text.
fn first_column(text: &str) -> Vec<String> {
    let rows =
        text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let first = |row: &str| row.split('|').nth(1).unwrap().trim().trim_matches('`').to_owned();
    rows.skip(2).map(first).collect()
}

#[test]
fn the_catalogue_is_what_the_program_writes() {
    let output = tetrion(&["catalogue"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let written = String::from_utf8(output.stdout).unwrap();
    let kept = read("docs/catalogue.md");
    let different = written.lines().zip(kept.lines()).find(|(written, kept)| written != kept);
    assert!(
        written == kept,
        "docs/catalogue.md is not what the program writes: `cargo run -- catalogue > docs/catalogue.md`. \
         The first difference: {different:?}"
    );
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
    assert_eq!(first_column(&section("docs/protocol.md", "## Calls")), calls);
}

#[test]
fn the_table_of_limits_has_the_defaults_of_the_flags() {
    let help = tetrion(&["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let section = section("docs/protocol.md", "## What clients can make a server hold");
    let flags = first_column(&section);
    assert!(flags.len() > 10);
    for flag in flags {
        let row = section.lines().find(|line| line.starts_with(&format!("| `{flag}` |"))).unwrap();
        let default = row.split('|').nth(2).unwrap().trim().split(' ').next().unwrap();
        let (_, of_flag) = help.split_once(&format!("{flag} <")).unwrap_or_else(|| panic!("no flag {flag}"));
        let (_, of_flag) = of_flag.split_once("[default: ").unwrap();
        let of_flag = of_flag.split([' ', ']']).next().unwrap();
        assert_eq!(of_flag, default, "{flag}");
    }
}

#[test]
fn the_table_of_settings_is_that_of_the_code() {
    let section = section("docs/dm_env_rpc.md", "## Settings");
    for setting in &SETTINGS {
        let also = if setting.at_reset { " (also at a reset)" } else { "" };
        let row = format!("| `{}` | {} | {}{also} |", setting.name, setting.takes, setting.description());
        assert!(section.contains(&row), "docs/dm_env_rpc.md has no row {row}");
    }
    assert_eq!(first_column(&section).len(), SETTINGS.len());
}

#[test]
fn the_table_of_reproduced_figures_has_the_figures_of_the_experiments() {
    let document = read("docs/reproduced.md");
    let table = document.lines().skip_while(|line| !line.starts_with('|'));
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
    let program = read("clients/python/examples/raw_stubs.py");
    let shown = format!("```python\n{program}```\n");
    assert!(read("docs/stubs.md").contains(&shown), "clients/python/examples/raw_stubs.py");
}

/// The documents for people, relative to the root.
fn documents() -> Vec<String> {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut documents: Vec<String> =
        pages.map(|path| format!("docs/{}", path.file_name().unwrap().to_str().unwrap())).collect();
    let others = ["README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG", "clients/python/README"];
    documents.extend(others.map(|name| format!("{name}.md")));
    documents
}

/// The lines of a text that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors of a document, made from its headings as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    headings.map(anchor).collect()
}

/// Where the links of a document lead, those to other sites aside.
fn links(text: &str) -> Vec<String> {
    let lines: Vec<&str> = prose(text).collect();
    let links = lines.iter().flat_map(|line| line.split("](").skip(1));
    let targets = links.map(|link| link.split(')').next().unwrap().to_owned());
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    let mut num_links = 0;
    for document in documents() {
        let path = root().join(&document);
        let text = read(&document);
        for link in links(&text) {
            num_links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target: PathBuf =
                if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let leads = if anchor.is_empty() {
                target.exists()
            } else {
                fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor))
            };
            if !leads {
                wrong.push(format!("{document}: {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
    assert!(num_links > 50, "only {num_links} links were found");
}

#[test]
fn the_readme_leads_to_every_other_document() {
    let links = links(&read("README.md"));
    for document in documents() {
        assert!(document == "README.md" || links.contains(&document), "README.md has no link to {document}");
    }
}

/// Files move; what the documents call them must follow.
#[test]
fn every_file_named_in_a_document_exists() {
    let folders = ["src/", "tests/", "docs/", "proto/", "deploy/", "benches/", "fuzz/", "clients/", ".ci/"];
    let mut wrong = Vec::new();
    for document in documents() {
        let text = read(&document);
        let lines: Vec<&str> = prose(&text).collect();
        let names = lines.iter().flat_map(|line| line.split('`').skip(1).step_by(2));
        for name in names.filter(|name| folders.iter().any(|folder| name.starts_with(folder))) {
            let is_pattern = name.contains(['*', '<', ' ']);
            if !is_pattern && !root().join(name).exists() {
                wrong.push(format!("{document}: {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "files that do not exist:\n{}", wrong.join("\n"));
}
