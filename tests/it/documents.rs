//! The documents say what the code says, and their links lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use prost::Message;
use tetrion::cli::args;
use tetrion::engine::PRESETS;
use tetrion::protocol::FILE_DESCRIPTOR_SET;
use tetrion::service::ServerLimits;
use tetrion::service::limits::{LIMITS, LimitKind, ServerLimit};
use tetrion::service::metrics::METRICS;

use crate::evaluate::tetrion;
use crate::layering::{OPEN, WHOLE, sources, sources_in};
use crate::support::Command;

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
fn the_catalog_is_what_the_program_writes() {
    let output = tetrion(&["catalog"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let written = String::from_utf8(output.stdout).unwrap();
    let kept = read("docs/catalog.md");
    let different = written.lines().zip(kept.lines()).find(|(written, kept)| written != kept);
    assert!(
        written == kept,
        "docs/catalog.md is not what the program writes: `cargo run -- catalog > docs/catalog.md`. \
         The first difference: {different:?}"
    );
}

#[test]
fn the_catalog_in_json_has_the_rows_of_the_page() {
    let output = tetrion(&["catalog", "--json"]).output().unwrap();
    let catalog: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (key, title) in [
        ("rules_presets", "Presets"),
        ("rules_fields", "Fields of the rules"),
        ("piece_sets", "Piece sets"),
        ("agents", "Agents"),
        ("controllers", "Controllers"),
        ("feature_sets", "Feature sets"),
        ("features", "Features"),
    ] {
        let rows = catalog[key].as_array().unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert_eq!(names, first_column(&section("docs/catalog.md", &format!("## {title}"))), "{key}");
    }
    assert_eq!(catalog["rules_presets"][1]["rules"]["action_model"], "keypress");
    assert_eq!(catalog["rules_fields"][5]["choices"][0]["name"], "uniform");
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

/// The row of a limit in the table of limits.
fn row_of(limit: &ServerLimit) -> String {
    let unit = match limit.kind {
        LimitKind::Memory(..) => " MiB",
        LimitKind::Time(..) => " s",
        LimitKind::Count(..) | LimitKind::Half(..) => "",
    };
    let ServerLimit { about, beyond, .. } = limit;
    format!("| `--{}` | {}{unit} | {about} | {beyond} |\n", limit.flag(), limit.value(ServerLimits::DEFAULT))
}

#[test]
fn the_table_of_limits_has_the_rows_of_the_code() {
    const PAGE: &str = "docs/protocol.md";
    const HEAD: &str = "| flag | default | limits | beyond it |\n| --- | --- | --- | --- |\n";
    let kept = read(PAGE);
    let (before, table) = kept.split_once(HEAD).unwrap();
    let (_, after) = table.split_once("\n\n").unwrap();
    let rows: String = LIMITS.iter().map(row_of).collect();
    let written = format!("{before}{HEAD}{rows}\n{after}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(root().join(PAGE), &written).unwrap();
    }
    let different = written.lines().zip(kept.lines()).find(|(written, kept)| written != kept);
    assert!(written == kept, "{PAGE}: {different:?}; UPDATE_GOLDEN=1 writes it");
}

#[test]
fn every_list_of_presets_is_complete() {
    for (file, from, to) in [
        ("proto/tetrion/v1/rules.proto", "The preset to start from.", "string preset = 1;"),
        ("clients/python/README.md", "- `rules` is a preset's name", ")"),
    ] {
        let text = read(file);
        let (_, list) = text.split_once(from).unwrap_or_else(|| panic!("{file} has no {from:?}"));
        let (list, _) = list.split_once(to).unwrap_or_else(|| panic!("{file} has no {to:?} after {from:?}"));
        let words: BTreeSet<&str> = list.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        for preset in PRESETS {
            assert!(words.contains(preset.name), "the list of presets in {file} lacks {}", preset.name);
        }
    }
}

/// The documents for people, relative to the root.
pub(crate) fn documents() -> Vec<String> {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut documents: Vec<String> =
        pages.map(|path| format!("docs/{}", path.file_name().unwrap().to_str().unwrap())).collect();
    let others = ["README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG"];
    documents.extend(others.map(|name| format!("{name}.md")));
    documents.extend(
        ["dm_env_rpc", "openenv", "python", "typescript"].map(|client| format!("clients/{client}/README.md")),
    );
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

/// The README has a few links, one of them to the list of all documents.
#[test]
fn the_list_of_documents_is_complete() {
    const LIST: &str = "docs/README.md";
    assert!(links(&read("README.md")).iter().any(|link| link == LIST), "README.md has no link to {LIST}");
    let links = links(&read(LIST));
    for document in documents() {
        let from_there = document.strip_prefix("docs/").map_or(format!("../{document}"), str::to_owned);
        let is_above = ["README.md", LIST].contains(&document.as_str());
        assert!(is_above || links.contains(&from_there), "{LIST} has no link to {document}");
    }
}

/// Files move; what the documents call them must follow.
#[test]
fn every_file_named_in_a_document_exists() {
    let folders = ["src/", "tests/", "docs/", "proto/", "deploy/", "examples/", "fuzz/", "clients/", ".ci/"];
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

/// The code of a text, with the numbers of its lines.
struct Code {
    number: usize,
    text: String,
    /// A line of a block, to be pasted, and not a few words in a sentence.
    is_block: bool,
}

/// The code of a text: the lines of its blocks, long ones joined, and its spans.
fn code(text: &str) -> Vec<Code> {
    let mut code = Vec::new();
    let (mut is_block, mut unfinished) = (false, String::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            let line = line.trim().trim_start_matches("$ ");
            match line.strip_suffix('\\') {
                Some(part) => unfinished.push_str(part),
                None => code.push(Code { number, text: std::mem::take(&mut unfinished) + line, is_block }),
            }
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            code.extend(spans.map(|span| Code { number, text: span.to_owned(), is_block }));
        }
    }
    code
}

/// The words of the commands in a line of shell, as a shell would hand them to programs.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut letters = line.chars().peekable();
    while let Some(&letter) = letters.peek() {
        match letter {
            ' ' => drop(letters.next()),
            '#' => break,
            '|' | ';' | '&' | '(' | ')' => {
                letters.next();
                commands.push(Vec::new());
            }
            _ => {
                let (mut word, mut quote) = (String::new(), None);
                while let Some(&letter) = letters.peek() {
                    match quote {
                        Some(open) if letter == open => quote = None,
                        None if letter == '\'' || letter == '"' => quote = Some(letter),
                        None if " |;&()".contains(letter) => break,
                        _ => word.push(letter),
                    }
                    letters.next();
                }
                commands.last_mut().unwrap().push(word);
            }
        }
    }
    commands
}

/// The arguments of a command if it runs this program: after variables, by its name or its path, or as a Python module.
fn arguments(command: &[String]) -> Option<&[String]> {
    let is_variable = |word: &String| word.starts_with("TETRION_") && word.contains('=');
    let command = &command[command.iter().take_while(|word| is_variable(word)).count()..];
    let program = command.first()?;
    if program == "python" && command.get(1..3) == Some(&["-m".to_owned(), "tetrion".to_owned()]) {
        return Some(&command[3..]);
    }
    (program == "tetrion" || program.ends_with("/tetrion")).then(|| &command[1..])
}

/// A block is pasted as it stands. A sentence may leave arguments out, and `...` says that there is more.
#[test]
fn the_program_takes_every_command_in_a_document() {
    let program = args::command();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for document in documents() {
        for Code { number, text, is_block } in code(&read(&document)) {
            for command in commands(&text) {
                let Some(arguments) = arguments(&command) else { continue };
                // What the server prints, and the name alone.
                if arguments.first().is_none_or(|first| first == "listening") {
                    continue;
                }
                count += 1;
                let end = arguments.iter().position(|word| word.starts_with(['>', '<']) || word == "...");
                let words = &arguments[..end.unwrap_or(arguments.len())];
                let parsed = program
                    .clone()
                    .try_get_matches_from(["tetrion"].into_iter().chain(words.iter().map(String::as_str)));
                let is_taken = parsed.as_ref().map_or_else(
                    |error| match error.kind() {
                        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
                        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => false,
                        _ => !is_block,
                    },
                    |_| true,
                );
                if !is_taken {
                    wrong.push(format!("{document}:{number}: {text}: {}", parsed.unwrap_err()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "only {count} commands were found");
}

/// The words of a text that begin with `start`: letters, digits and underscores.
fn words<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !is_letter(c)).filter(move |word| word.starts_with(start) && word.len() > start.len())
}

#[test]
fn every_variable_and_every_key_of_a_file_is_a_flag() {
    let program = args::command();
    let forms = |command| -> Vec<&clap::Command> {
        std::iter::once(command).chain(clap::Command::get_subcommands(command)).collect()
    };
    let flags = program.get_subcommands().flat_map(forms).flat_map(clap::Command::get_arguments);
    let mut variables: BTreeSet<&str> =
        flags.filter_map(|flag| flag.get_env()).map(|variable| variable.to_str().unwrap()).collect();
    // Of the program itself, of the Python package and the clients' tests, of the build of that package, and of OpenEnv's.
    variables.extend(["TETRION_CONFIG", "TETRION_SERVER", "TETRION_BINARY", "TETRION_THREADS"]);
    variables.extend(["TETRION_NATIVE", "TETRION_WHEEL_PLATFORM", "TETRION_WHEEL_URL"]);
    variables.extend(["TETRION_OPENENV_ENVIRONMENTS", "TETRION_OPENENV_IDLE_TIMEOUT"]);
    variables.extend(["TETRION_OPENENV_ALLOW_HOST", "TETRION_OPENENV_ALLOW_ORIGIN"]);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for document in documents() {
        let text = read(&document);
        let unknown = words(&text, "TETRION_").filter(|word| !variables.contains(word));
        wrong.extend(unknown.map(|word| format!("{document}: {word}")));
        for block in text.split("```toml\n").skip(1) {
            let file: toml::Table = block.split("```").next().unwrap().parse().unwrap();
            for (name, options) in &file {
                let Some(subcommand) = program.find_subcommand(name) else { continue };
                for key in options.as_table().unwrap().keys() {
                    count += 1;
                    let mut flags = forms(subcommand).into_iter().flat_map(clap::Command::get_arguments);
                    if !flags.any(|flag| flag.get_long() == Some(key)) {
                        wrong.push(format!("{document}: [{name}] {key}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "no flags:\n{}", wrong.join("\n"));
    assert!(count > 3, "only {count} keys were found");
}

#[test]
fn every_metric_in_a_document_exists() {
    let mut known: BTreeSet<String> = METRICS.iter().map(|metric| metric.name.to_owned()).collect();
    known.extend(METRICS.iter().flat_map(|metric| {
        ["bucket", "sum", "count"].map(|part| format!("{}_{part}", metric.name)) // of a histogram
    }));
    known.extend(["tetrion_dm_env_rpc", "tetrion_openenv"].map(str::to_owned)); // packages of Python
    known.extend(OPEN.iter().chain(&WHOLE).map(|package| format!("tetrion_{package}")));
    let mut wrong = Vec::new();
    for document in documents() {
        let text = read(&document);
        let names = words(&text, "tetrion_").chain(words(&text, "process_"));
        let unknown = names.filter(|name| !known.contains(*name));
        wrong.extend(unknown.map(|name| format!("{document}: {name}")));
    }
    assert!(wrong.is_empty(), "no metrics:\n{}", wrong.join("\n"));
}

/// Fields as `Rules.width` and values as `REACH_MOVES`, in the documents and in the comments of the protocol itself.
#[test]
fn every_field_and_every_value_of_the_protocol_exists() {
    let descriptors = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let files = || descriptors.file.iter().filter(|file| file.package() == "tetrion.v1");
    let messages: BTreeMap<&str, BTreeSet<&str>> = files()
        .flat_map(|file| &file.message_type)
        .map(|message| {
            let fields = message.field.iter().map(|field| field.name());
            (message.name(), fields.chain(message.oneof_decl.iter().map(|choice| choice.name())).collect())
        })
        .collect();
    let values: BTreeSet<&str> = files()
        .flat_map(|file| &file.enum_type)
        .flat_map(|choice| &choice.value)
        .map(|value| value.name())
        .collect();
    let protocol = files().map(|file| format!("proto/{}", file.name()));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for document in documents().into_iter().chain(protocol) {
        let text = read(&document);
        for prefix in values.iter().filter_map(|value| value.strip_suffix("UNSPECIFIED")) {
            let named: Vec<&str> = words(&text, prefix).collect();
            count += named.len();
            wrong.extend(
                named
                    .into_iter()
                    .filter(|word| !values.contains(word))
                    .map(|word| format!("{document}: {word}")),
            );
        }
        let dotted = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_.(".contains(c));
        for pair in dotted.filter_map(|word| word.split_once('.')) {
            let (message, field) = (pair.0.trim_start_matches('('), pair.1.trim_end_matches(['.', '(']));
            // Not a method of a Python class, nor the end of a sentence.
            let is_field = pair.1.starts_with(|c: char| c.is_ascii_lowercase()) && !pair.1.contains('(');
            let Some(fields) = messages.get(message).filter(|_| is_field) else { continue };
            count += 1;
            if !fields.contains(field.split('.').next().unwrap()) {
                wrong.push(format!("{document}: {message}.{field}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not in the protocol:\n{}", wrong.join("\n"));
    assert!(count > 200, "only {count} names were found");
}

/// rustdoc and editors show one item at a time, so its comment must name its subject.
#[test]
fn no_doc_comment_begins_with_a_pronoun() {
    const BEGINNINGS: [&str; 10] =
        ["The same ", "Those ", "That of ", "Likewise", "So do", "Its ", "It ", "Their ", "As [", "See ["];
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in sources() {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let mut was_comment = false;
        for (number, line) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            let comment = ["/// ", "//! "].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
            if let Some(text) = comment.filter(|_| !was_comment) {
                count += 1;
                if BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)) {
                    wrong.push(format!("{name}:{number}: {text}"));
                }
            }
            was_comment = line.trim_start().starts_with("//");
        }
    }
    assert!(wrong.is_empty(), "doc comments without a noun:\n{}", wrong.join("\n"));
    assert!(count > 2000, "only {count} doc comments were found");
}

/// The lines of code of a file, each with its number and the doc comment at it. Attributes between the two are skipped.
fn documented(code: &str) -> Vec<(usize, String, &str)> {
    let (mut comment, mut open, mut lines) = (String::new(), 0, Vec::new());
    for (number, line) in (1..).zip(code.lines().map(str::trim)) {
        if let Some(text) = line.strip_prefix("///") {
            comment += text;
        } else if open > 0 || line.starts_with("#[") {
            open += line.matches('[').count() as i32 - line.matches(']').count() as i32;
        } else if !line.starts_with("//") {
            lines.push((number, std::mem::take(&mut comment), line));
        }
    }
    lines
}

/// The name that a line of code defines: the first word that is no keyword.
fn defined_name(line: &str) -> &str {
    const KEYWORDS: [&str; 15] = [
        "pub", "crate", "super", "in", "const", "async", "unsafe", "static", "mut", "fn", "struct", "enum",
        "trait", "type", "mod",
    ];
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.find(|word| !word.is_empty() && !KEYWORDS.contains(word)).unwrap_or_default()
}

/// The words of a comment or of a name, in lower case and in the singular, without those that say nothing.
fn telling_words(text: &str) -> BTreeSet<String> {
    const FILLERS: [&str; 6] = ["the", "a", "an", "of", "its", "this"];
    let letters: Vec<char> = text.chars().collect();
    let mut spaced = String::new();
    for (i, letter) in letters.iter().enumerate() {
        let follows_capital = i > 0 && letters[i - 1].is_uppercase();
        let precedes_small = letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (!follows_capital || precedes_small) {
            spaced.push(' ');
        }
        spaced.extend(letter.to_lowercase());
    }
    let words = spaced.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && !FILLERS.contains(word));
    words.map(|word| word.strip_suffix('s').unwrap_or(word).to_owned()).collect()
}

/// rustdoc and editors show the name next to its comment.
#[test]
fn no_doc_comment_repeats_a_name() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let folders = ["clients/python/native", "examples", "fuzz", "src", "tests"];
    for path in folders.iter().flat_map(|folder| sources_in(&root().join(folder))) {
        for (number, comment, line) in documented(&fs::read_to_string(&path).unwrap()) {
            count += usize::from(!comment.is_empty());
            if !comment.is_empty() && telling_words(&comment).is_subset(&telling_words(defined_name(line))) {
                wrong.push(format!("{}:{number}:{comment}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "doc comments that only repeat a name:\n{}", wrong.join("\n"));
    assert!(count > 5000, "only {count} doc comments were found");
}

/// rustc's own lint would ask for a comment at every field and variant too.
#[test]
fn public_types_and_functions_are_documented() {
    // The items of a macro have the comments of its caller.
    let is_name = |word: &str| !word.starts_with('$');
    let is_item = |line: &str| {
        let words = line.strip_prefix("pub ").unwrap_or_default().split(' ');
        let mut words = words.skip_while(|word| ["const", "async", "unsafe"].contains(word));
        let kind = words.next().unwrap_or_default();
        ["fn", "struct", "enum", "trait", "type"].contains(&kind) && words.next().is_some_and(is_name)
    };
    let (mut wrong, mut count) = (Vec::new(), 0);
    let is_test = |path: &&PathBuf| path.strip_prefix(root()).unwrap().iter().any(|folder| folder == "tests");
    for path in sources_in(&root().join("src")).iter().filter(|path| !is_test(path)) {
        for (number, comment, line) in documented(&fs::read_to_string(path).unwrap()) {
            count += usize::from(is_item(line));
            if is_item(line) && comment.is_empty() {
                wrong.push(format!("{}:{number}: {line}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "public items without a doc comment:\n{}", wrong.join("\n"));
    assert!(count > 2000, "only {count} public items were found");
}

#[test]
fn make_help_lists_every_target() {
    let output =
        Command::new("make").args(["--no-print-directory", "help"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let listed = String::from_utf8(output.stdout).unwrap();
    let listed: BTreeSet<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    let makefile = read("Makefile");
    let phony = makefile.lines().filter_map(|line| line.strip_prefix(".PHONY: "));
    let targets: BTreeSet<&str> = phony.flat_map(|targets| targets.split(' ')).collect();
    assert!(targets.len() > 20, "only {} targets", targets.len());
    assert_eq!(listed, targets);
}

#[test]
fn the_citation_is_of_this_version() {
    let version = format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(read("CITATION.cff").contains(&version), "CITATION.cff has another version");
}

#[test]
fn every_target_of_make_exists() {
    let makefile = read("Makefile");
    let mut wrong = Vec::new();
    for document in documents() {
        for Code { number, text, .. } in code(&read(&document)) {
            for command in commands(&text) {
                let words = command.iter().skip_while(|word| word.contains('=')).map(String::as_str);
                let words: Vec<&str> = words.collect();
                let Some((&"make", targets)) = words.split_first() else { continue };
                for target in targets.iter().filter(|target| !target.contains('=')) {
                    if !makefile.contains(&format!("\n{target}:")) {
                        wrong.push(format!("{document}:{number}: make {target}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
