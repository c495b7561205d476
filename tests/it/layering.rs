//! The arrows between the modules of the crate are the ones that were drawn, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which module may know which: a module, and the modules below it that it may name. Read from the bottom up.
const ARROWS: &[(&str, &[&str])] = &[
    ("names", &[]),
    ("secret", &[]),
    ("engine", &[]),
    ("features", &["names", "engine"]),
    ("env", &["engine", "features"]),
    ("placements", &["engine", "features"]),
    ("render", &["engine"]),
    ("agents", &["names", "engine", "features"]),
    ("pool", &[]),
    ("rollout", &["engine", "features", "agents", "pool"]),
    ("summary", &["rollout"]),
    ("optimizers", &[]),
    ("wire", &["names", "engine", "features", "env", "placements", "render", "agents", "rollout", "summary"]),
    (
        "service",
        &[
            "engine",
            "features",
            "env",
            "placements",
            "render",
            "agents",
            "pool",
            "rollout",
            "summary",
            "wire",
        ],
    ),
    ("server", &["secret", "engine", "pool", "wire", "service"]),
    ("client", &["secret", "engine", "wire"]),
    // To compare a call over the network with the same work done directly, it must know both.
    ("workloads", &["engine", "features", "env", "placements", "agents", "pool", "rollout", "wire"]),
    // The rules and the agents are for commands that need no server: `perft` counts, `bench` measures the engine itself, on
    // pools of its own.
    (
        "cli",
        &[
            "names",
            "secret",
            "engine",
            "features",
            "agents",
            "pool",
            "summary",
            "optimizers",
            "wire",
            "service",
            "server",
            "client",
            "workloads",
        ],
    ),
    ("main", &["cli"]),
];

/// Words that only some modules may use: the words, the modules, and why.
const WORDS: &[(&str, &[&str], &str)] = &[
    (
        "tonic::",
        &["wire", "service", "server", "client", "workloads"],
        "the network is known at the boundary only",
    ),
    ("prost::", &["wire", "service", "server", "client"], "messages are known at the boundary only"),
    (
        "tokio::",
        &["service", "server", "client", "cli", "workloads"],
        "everything below the services is synchronous",
    ),
    ("rayon::", &["pool"], "threads are handed out in one place"),
    ("Status::new", &["service", "server"], "one place makes the codes of errors"),
    ("SystemTime", &["service", "server", "client", "cli"], "nothing reads the clock to decide a game"),
    (
        "Instant::now",
        &["pool", "service", "server", "client", "cli", "workloads"],
        "nothing reads the clock to decide a game",
    ),
    (
        "wire::pb",
        &["service", "server", "client", "workloads"],
        "messages become our own types at the boundary",
    ),
    ("anyhow", &["cli", "main"], "a library says what went wrong in types"),
];

fn sources() -> Vec<PathBuf> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(&root(), &mut files);
    files.sort();
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The module of a file: the folder or file right under `src`.
fn room(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap();
    let first = inside.iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// The text of a file without its comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The modules named behind `crate::`, alone or in braces.
fn named_rooms(code: &str) -> BTreeSet<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut rooms = BTreeSet::new();
    for behind in code.split("crate::").skip(1) {
        let Some(list) = behind.strip_prefix('{') else {
            rooms.insert(name(behind));
            continue;
        };
        let mut depth = 0;
        let mut at_start = true;
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => at_start = true,
                c if c.is_whitespace() => {}
                _ if at_start => {
                    rooms.insert(name(&list[i..]));
                    at_start = false;
                }
                _ => {}
            }
        }
    }
    rooms
}

#[test]
fn every_room_names_only_rooms_below_it() {
    let mut wrong = Vec::new();
    for path in sources() {
        let from = room(&path);
        if from == "lib" {
            continue;
        }
        let arrows = ARROWS.iter().find(|(name, _)| *name == from);
        let (_, below) = arrows.unwrap_or_else(|| panic!("{from} is no room of the plan: add it to ARROWS"));
        let mut code = code(&path);
        if from == "main" {
            code = code.replace("tetrion::", "crate::");
        }
        for to in named_rooms(&code) {
            if to != from && !below.contains(&to.as_str()) {
                wrong.push(format!("{}: {from} may not know {to}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_plan_has_no_rooms_that_are_gone_and_no_circles() {
    let rooms: BTreeSet<String> = sources().iter().map(|path| room(path)).collect();
    let mut seen: Vec<&str> = Vec::new();
    for (name, below) in ARROWS {
        assert!(rooms.contains(*name), "{name} is gone: take it out of ARROWS");
        for room in *below {
            assert!(seen.contains(room), "{name} knows {room}, which does not stand below it");
        }
        seen.push(name);
    }
}

#[test]
fn words_of_the_network_threads_and_clocks_stay_where_they_belong() {
    let mut wrong = Vec::new();
    for path in sources() {
        let (from, code) = (room(&path), code(&path));
        for (word, rooms, why) in WORDS {
            if code.contains(word) && !rooms.contains(&from.as_str()) {
                wrong.push(format!("{} says {word}: {why}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_file_asks_how_far_pieces_reach() {
    // The rules themselves say which choices contradict each other.
    let asks = ["engine/reach.rs", "engine/rules.rs"].map(|file| root().join(file));
    for path in sources().into_iter().filter(|path| !asks.contains(path)) {
        let compares = ["reach == ", "reach != ", "match rules.reach", "(rules.reach,"];
        let found = compares.into_iter().find(|compare| code(&path).contains(compare));
        assert_eq!(found, None, "{} compares Reach: engine/reach.rs has the question", path.display());
    }
}

#[test]
fn unsafe_code_stays_in_the_kernels() {
    for path in sources() {
        let allowed = path.starts_with(root().join("features/kernel"));
        assert!(allowed || !code(&path).contains("unsafe "), "{} has unsafe code", path.display());
    }
}
