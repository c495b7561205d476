//! `tetrion catalog`: the names that requests accept, as JSON, as the Markdown of `docs/catalog.md`, or as text on a
//! terminal.
//!
//! The page is generated from the tables in the code, so it cannot contradict them.

use std::fmt::{Display, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::output::{print, print_drawing, stdout_columns};
use crate::trainer::rules::to_json;
use tetrion_core::agents::{AGENTS, CONTROLLERS, Search};
use tetrion_core::engine::{ChoiceValue, FieldKind, PIECE_SETS, PRESETS, PieceSet, RULES_FIELDS, RulesField};
use tetrion_core::features::{FEATURE_SETS, FEATURES, Feature};

/// The options of `tetrion catalog`.
#[derive(Debug, clap::Args)]
pub struct CatalogArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

const HEAD: &str = "\
# Catalog

Names that requests and flags accept.
The program writes this page: `tetrion catalog > docs/catalog.md`.
`GetCatalog` reports the same tables to clients, except for the choices, which are enums of the protocol.
";

const PRESETS_HEAD: &str = "\
Named rules.
A request starts from one of them, by default `simplified`, and may change any field.
";

const FIELDS_HEAD: &str = "\
Fields of a preset that a request can change.
In [`rules.proto`](../proto/tetrion/v1/rules.proto) and in `rules` of the Python client, a dot leads into a message: `garbage.delay_pieces` is `{\"garbage\": {\"delay_pieces\": 2}}`.
On the command line they follow the preset (`--rules guideline,garbage.delay_pieces=2`).
";

const CHOICES_HEAD: &str = "\
Values of the fields that take a name; the first value of each field is the one of `simplified`.
Messages, in files too, use the enums of [`rules.proto`](../proto/tetrion/v1/rules.proto), which explains each value; flags and settings take these names.
";

const PIECES_HEAD: &str = "\
The pieces of a game: one of these names, or [your own drawings](rules.md#other-pieces).
";

const AGENTS_HEAD: &str = "\
Policies by name, besides the controllers below: they play the games of `EvaluatePolicies` and of `tetrion evaluate`, and score no placements.
`monte_carlo` and `monte_carlo_coded` play 50 random games per placement, or as many as [`MonteCarlo.playouts`](../proto/tetrion/v1/policy.proto) and `--playouts` say.
The random choices of an agent come from the seed of the episode: the n-th draw is [`word(x, 4, n)`](concepts.md#seeds).
";

const CONTROLLERS_HEAD: &str = "\
Policies by name that score placements: published weights for a feature set.
Every controller takes a [`Search`](../proto/tetrion/v1/policy.proto) and a value of game-ending placements.
A controller also plays under other rules and sizes than its own, unless its features depend on the width.
";

const FEATURE_SETS_HEAD: &str = "\
Named lists of features.
Weights work only with the set that they were made for; requests can also list features one by one.
";

const FEATURES_HEAD: &str = "\
A feature of the landing is measured before full rows are cleared.
A feature of the playfield exists twice: under its plain name it is measured on the afterstate, and with `_preclear` appended on the playfield with the piece in it and full rows still there.
";

/// Prints the page, or its tables as JSON.
///
/// # Errors
/// If stdout cannot be written.
pub fn run(args: &CatalogArgs) -> anyhow::Result<ExitCode> {
    match stdout_columns() {
        _ if args.json => print(&format!("{}\n", json()))?,
        Some(columns) => print_drawing(&rendered(&markdown(), columns))?,
        None => print(&markdown())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The tables of the page as text for a terminal of this many columns. A row has its name on the left and the other
/// cells on the right.
fn rendered(page: &str, columns: usize) -> String {
    let mut text = String::new();
    for section in page.split("\n## ").skip(1) {
        let (title, content) = section.split_once('\n').unwrap_or((section, ""));
        let (rows, prose): (Vec<&str>, Vec<&str>) =
            content.lines().filter(|line| !line.is_empty()).partition(|line| line.starts_with('|'));
        let _ = writeln!(text, "\x1b[1m{title}\x1b[0m");
        let _ = writeln!(text, "{}\n", filled(&prose.join(" "), columns, "", ""));
        let rows = rows.iter().map(|row| row.trim_matches(['|', ' ']).split(" | ").map(plain).collect());
        let mut rows: Vec<Vec<String>> = rows.collect();
        rows.remove(1); // the line below the head
        let longest = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
        let width = 2 + longest.min(columns / 3);
        for row in rows {
            let (name, indent, cells) =
                (format!("{:width$}", row[0]), " ".repeat(width), row[1..].join("; "));
            let _ = match name.chars().count() > width {
                true => writeln!(text, "{name}\n{}", filled(&cells, columns, &indent, &indent)),
                false => writeln!(text, "{}", filled(&cells, columns, &name, &indent)),
            };
        }
        text.push('\n');
    }
    text
}

/// A paragraph without Markdown, broken between words.
fn filled(markdown: &str, columns: usize, first: &str, others: &str) -> String {
    let options = textwrap::Options::new(columns).initial_indent(first).subsequent_indent(others);
    textwrap::fill(&plain(markdown), options.word_splitter(textwrap::WordSplitter::NoHyphenation))
}

/// Removes the marks of code, and the targets of links.
fn plain(markdown: &str) -> String {
    let mut parts = markdown.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // The text of the link precedes its target.
        text = text.rsplit_once('[').map_or(text.clone(), |(before, link)| format!("{before}{link}"));
        text += part.split_once(')').map_or(part, |(_, after)| after);
    }
    text.replace('`', "")
}

/// The text of `docs/catalog.md`, which a test compares with the file.
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    let presets = PRESETS.iter().map(|preset| {
        let size = format!("{} x {}", preset.rules.width, preset.rules.height);
        [code(preset.name), size, preset.source.to_owned()]
    });
    table(&mut page, "Presets", PRESETS_HEAD, ["preset", "width x height", "what it is"], presets);

    let fields = RULES_FIELDS.iter().map(|field| {
        let is_choice = !choices(field).is_empty();
        let values = if is_choice { "a name, see below".to_owned() } else { field.expects() };
        [code(field.name), values, field.about.to_owned(), field.default.to_owned()]
    });
    table(&mut page, "Fields of the rules", FIELDS_HEAD, ["field", "values", "meaning", "default"], fields);

    let choices = RULES_FIELDS.iter().flat_map(|field| {
        let row = |value: &ChoiceValue| [code(field.name), code(value.name), value.meaning.to_owned()];
        choices(field).iter().map(row)
    });
    table(&mut page, "Choices of the rules", CHOICES_HEAD, ["field", "value", "meaning"], choices);

    let sets = PIECE_SETS.iter().map(|row| {
        let set = PieceSet::named(row.name).expect("a row of the table");
        [code(row.name), code(set.drawings()), row.source.to_owned()]
    });
    table(&mut page, "Piece sets", PIECES_HEAD, ["piece set", "pieces", "where it comes from"], sets);

    let agents =
        AGENTS.iter().map(|agent| [code(agent.name), agent.description.to_owned(), agent.source.to_owned()]);
    table(&mut page, "Agents", AGENTS_HEAD, ["agent", "how it chooses", "source"], agents);

    let controllers = CONTROLLERS.iter().map(|controller| {
        let search = match controller.play.search {
            Search::Expectation(expectation) if expectation.pieces_shown() > 0 => {
                ", expectation, a next piece shown"
            }
            Search::Expectation(_) => ", expectation",
            Search::Beam(_) => ", beam",
            Search::Greedy | Search::Lookahead { .. } => "",
        };
        let made_for =
            format!("`{}`, {} x {}{search}", controller.preset, controller.width, controller.height);
        [code(controller.name), code(controller.feature_set), made_for, controller.source.to_owned()]
    });
    let heads = ["controller", "features", "made for", "source"];
    table(&mut page, "Controllers", CONTROLLERS_HEAD, heads, controllers);

    let sets = FEATURE_SETS.iter().map(|set| {
        let members = list(set.members.iter().map(code));
        [code(set.name), set.version.to_string(), members, set.source.to_owned()]
    });
    let heads = ["set", "version", "features, in order", "source"];
    table(&mut page, "Feature sets", FEATURE_SETS_HEAD, heads, sets);

    let features = FEATURES.iter().map(|feature| {
        let of = if feature.is_of_landing() { "landing" } else { "playfield" };
        [code(name(feature)), of.to_owned(), feature.formula.to_owned(), feature.source.to_owned()]
    });
    table(&mut page, "Features", FEATURES_HEAD, ["feature", "of the", "formula", "source"], features);
    page
}

/// The tables as a JSON object.
fn json() -> Value {
    let presets = PRESETS.iter().map(|preset| {
        json!({"name": preset.name, "source": preset.source, "rules": to_json(&preset.rules.fields())})
    });
    let fields = RULES_FIELDS.iter().map(|field| {
        let choice = |value: &ChoiceValue| json!({"name": value.name, "description": value.meaning});
        json!({
            "name": field.name,
            "values": field.expects(),
            "description": field.about,
            "default": field.default,
            "choices": choices(field).iter().map(choice).collect::<Value>(),
        })
    });
    let piece_sets = PIECE_SETS.iter().map(|row| {
        let set = PieceSet::named(row.name).expect("a row of the table");
        json!({"name": row.name, "source": row.source, "pieces": set.drawings()})
    });
    let agents = AGENTS
        .iter()
        .map(|agent| json!({"name": agent.name, "source": agent.source, "description": agent.description}));
    let controllers = CONTROLLERS.iter().map(|controller| {
        json!({
            "name": controller.name,
            "source": controller.source,
            "rules_preset": controller.preset,
            "width": controller.width,
            "height": controller.height,
            "feature_set": controller.feature_set,
        })
    });
    let feature_sets = FEATURE_SETS.iter().map(|set| {
        json!({
            "name": set.name,
            "version": set.version.to_string(),
            "source": set.source,
            "features": set.members,
        })
    });
    let features = FEATURES.iter().map(|feature| {
        json!({
            "name": name(feature),
            "formula": feature.formula,
            "source": feature.source,
            "is_of_landing": feature.is_of_landing(),
        })
    });
    json!({
        "rules_presets": presets.collect::<Value>(),
        "rules_fields": fields.collect::<Value>(),
        "piece_sets": piece_sets.collect::<Value>(),
        "agents": agents.collect::<Value>(),
        "controllers": controllers.collect::<Value>(),
        "feature_sets": feature_sets.collect::<Value>(),
        "features": features.collect::<Value>(),
    })
}

/// Values of a field that takes a name; empty for other fields.
fn choices(field: &RulesField) -> &'static [ChoiceValue] {
    if let FieldKind::Choice { values, .. } = field.kind { values } else { &[] }
}

/// Name of the feature, with `[i]` appended for a family.
fn name(feature: &Feature) -> String {
    let is_family = feature.family_size(PRESETS[0].rules.width).is_some();
    format!("{}{}", feature.name, if is_family { "[i]" } else { "" })
}

fn code(name: impl Display) -> String {
    format!("`{name}`")
}

fn list(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Appends a section: title, introduction and table.
fn table<const N: usize>(
    page: &mut String,
    title: &str,
    head: &str,
    columns: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let _ = write!(page, "\n## {title}\n\n{head}\n| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(N));
    for row in rows {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}
