//! The arrows between the rooms of a package are the ones that were drawn, and no others.
//!
//! Between packages cargo refuses what is not drawn: a package knows those that its manifest names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which room may know which: a room, and the rooms and packages below it that it may name. Read from the bottom up.
///
/// What is in a package below is open to all above: cargo refuses the other direction. So the rooms of `src/core` and of
/// `src/toolkit` stand here with those of their own package, and a package that is one room is named by those that may know it.
const ARROWS: &[(&str, &[&str])] = &[
    // src/core
    ("names", &[]),
    ("engine", &[]),
    ("features", &["names", "engine"]),
    ("formula", &["names", "engine", "features"]),
    ("values", &["engine"]),
    ("env", &["engine", "features", "values"]),
    ("placements", &["engine", "features", "values"]),
    ("render", &["engine"]),
    ("agents", &["names", "engine", "features", "formula", "values"]),
    ("pool", &[]),
    ("rollout", &["engine", "features", "formula", "agents", "pool"]),
    ("summary", &["rollout"]),
    // src/toolkit
    ("files", &[]),
    ("recording", &[]),
    ("picture", &["recording"]),
    ("prompts", &[]),
    ("tbp", &["recording"]),
    ("optimum", &[]),
    ("tasks", &["prompts", "optimum"]),
    ("ratings", &[]),
    ("optimizers", &[]),
    // packages of one room
    ("protocol", &[]),
    ("service", &["protocol"]),
    ("server", &["protocol", "service"]),
    ("client", &["protocol"]),
    // the program
    ("text", &[]),
    ("input", &[]),
    ("plot", &["text"]),
    ("trainer", &["text", "input", "plot", "protocol", "client"]),
    ("players", &["text", "input", "protocol", "client", "trainer"]),
    ("benchmark", &["text", "input", "protocol", "client", "trainer", "players"]),
    ("viewers", &["text", "input", "client", "players"]),
    ("conformance", &["client", "protocol"]),
    // To compare a call over the network with the same work done directly, it must know both.
    ("bench", &["text", "protocol"]),
    (
        "cli",
        &[
            "text",
            "input",
            "plot",
            "protocol",
            "service",
            "server",
            "client",
            "trainer",
            "players",
            "benchmark",
            "viewers",
            "conformance",
            "bench",
        ],
    ),
    ("main", &["cli"]),
];

/// Rooms that may know only some of the rooms of packages below: the room, and those rooms.
const NARROW: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("optimizers", &[]),
    ("ratings", &[]),
    ("picture", &["engine"]),
    ("server", &["files", "engine", "pool"]),
    ("client", &["engine", "rollout", "summary", "recording"]),
    ("text", &[]),
    ("input", &[]),
    ("conformance", &[]),
    ("viewers", &["engine", "agents", "recording"]),
];

/// Packages with many rooms, whose rooms all packages above may know.
pub(crate) const OPEN: [&str; 2] = ["core", "toolkit"];

/// Packages of one room.
pub(crate) const WHOLE: [&str; 4] = ["protocol", "service", "server", "client"];

/// Words that only some modules may use: the words, the modules, and why.
const WORDS: &[(&str, &[&str], &str)] = &[
    (
        "tonic::",
        &["protocol", "service", "server", "client", "bench"],
        "the network is known at the boundary only",
    ),
    (
        "prost::",
        &["protocol", "service", "server", "client", "conformance"],
        "messages are known at the boundary only",
    ),
    (
        "tokio::",
        &["service", "server", "client", "trainer", "cli", "bench"],
        "everything below the services is synchronous",
    ),
    ("std::net", &["server", "cli"], "only the server and the program know sockets"),
    ("tokio::net", &["server"], "only the server and the program know sockets"),
    (
        "std::fs",
        &["files", "input", "tbp", "server", "trainer", "benchmark", "bench", "cli"],
        "games, messages and services know no files",
    ),
    ("rayon::", &["pool"], "threads are handed out in one place"),
    ("Status::with_error_details", &["service", "server"], "one place makes the codes of errors"),
    (
        "SystemTime",
        &["service", "server", "client", "trainer", "cli"],
        "nothing reads the clock to decide a game",
    ),
    (
        "Instant::now",
        // A bot that says nothing in time has lost.
        &["pool", "tbp", "service", "server", "client", "trainer", "cli", "bench"],
        "nothing reads the clock to decide a game",
    ),
    (
        "tetrion_protocol::pb",
        &["service", "server", "client", "bench"],
        "messages become our own types at the boundary",
    ),
    ("anyhow", &["cli"], "a library says what went wrong in types"),
];

/// Rooms of the program that the experiments of `src/lab` may know. Nothing may know the experiments.
const LAB: &[&str] = &["text", "input", "client", "trainer", "benchmark", "cli"];

/// The files of all packages, without tests and the experiments of `src/lab`.
pub(crate) fn sources() -> Vec<PathBuf> {
    let is_other =
        |path: &PathBuf| path.iter().any(|name| name == "tests") || path.starts_with(root().join("lab"));
    sources_in(&root()).into_iter().filter(|path| !is_other(path)).collect()
}

/// The files of a folder and those below it.
pub(crate) fn sources_in(folder: &Path) -> Vec<PathBuf> {
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
    walk(folder, &mut files);
    files.sort();
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Where a file is, without the folder of a package with many rooms.
fn inside(path: &Path) -> &Path {
    let inside = path.strip_prefix(root()).unwrap();
    OPEN.iter().find_map(|package| inside.strip_prefix(package).ok()).unwrap_or(inside)
}

/// The room of a file: the folder or file right under `src` or under a package with many rooms.
fn room(path: &Path) -> String {
    let first = inside(path).iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// The text of a file without its comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The rooms that a file of this room names.
fn named_rooms(from: &str, code: &str) -> BTreeSet<String> {
    let room = |path: &str| Some(in_its_package(from, path)?.split("::").next()?.to_owned());
    paths(code).iter().filter_map(|(_, path)| room(path)).collect()
}

/// A path that begins with a package of ours or with `crate`, from the room that it leads to.
fn in_its_package(from: &str, path: &str) -> Option<String> {
    let (first, rest) = path.split_once("::").unwrap_or((path, ""));
    let package = match first {
        "crate" => from.split("::").next().filter(|room| WHOLE.contains(room)).unwrap_or(""),
        first => first.strip_prefix("tetrion_")?,
    };
    Some(if WHOLE.contains(&package) { join(package, rest) } else { rest.to_owned() })
}

/// All paths, and whether a `pub use` exports them: `use a::{b, c::d}` names `a::b` and `a::c::d`.
fn paths(code: &str) -> Vec<(bool, String)> {
    let all = tokens(code);
    let (mut tokens, mut paths, mut before, mut exported) = (&all[..], Vec::new(), "", false);
    while let [token, behind @ ..] = tokens {
        if *token == "use" {
            exported = before == "pub" || before == ")"; // of `pub(super)`
            tokens = behind;
        } else if is_name(token) {
            let mut read = Vec::new();
            tokens = read_path(tokens, "", &mut read);
            paths.extend(read.into_iter().map(|path| (exported, path)));
            exported = false;
        } else {
            tokens = behind;
        }
        before = token;
    }
    paths
}

/// Names, `::`, and all other characters one by one.
fn tokens(mut code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    while let Some(first) = code.chars().next() {
        let length = match first {
            _ if is_name(code) => code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len()),
            _ if code.starts_with("::") => 2,
            other => other.len_utf8(),
        };
        let (token, behind) = code.split_at(length);
        if !first.is_whitespace() {
            tokens.push(token);
        }
        code = behind;
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Reads the path that begins here, all of them where it has braces, and returns what follows.
fn read_path<'a, 't>(mut tokens: &'t [&'a str], above: &str, paths: &mut Vec<String>) -> &'t [&'a str] {
    let mut path = above.to_owned();
    while let [name, behind @ ..] = tokens
        && (is_name(name) || *name == "*")
    {
        path = join(&path, name);
        tokens = behind.strip_prefix(&["::"]).unwrap_or(behind);
        if let ["::", "{", list @ ..] = behind {
            tokens = list;
            while !matches!(tokens, [] | ["}", ..]) {
                tokens = read_path(tokens, &path, paths);
                let end = tokens.iter().position(|token| [",", "}"].contains(token)); // behind `as name`
                tokens = &tokens[end.unwrap_or(tokens.len())..];
                tokens = tokens.strip_prefix(&[","]).unwrap_or(tokens);
            }
            return tokens.get(1..).unwrap_or_default();
        }
        if behind.first() != Some(&"::") {
            break;
        }
    }
    paths.push(path);
    tokens
}

/// A test that waits for a program ends, whatever the program does.
#[test]
fn tests_start_programs_only_with_a_limit_on_their_time() {
    let folders = [root(), root().parent().unwrap().join("tests/it")];
    let is_unlimited = |path: &Path| {
        let standard = ["std", "process", "Command"].join("::"); // not in one text, which would be found here
        let named = paths(&code(path)).into_iter().any(|(_, path)| path.starts_with(&standard));
        named && path.iter().any(|name| name == "tests") && !path.ends_with("tests/it/support.rs")
    };
    let unlimited: Vec<PathBuf> =
        folders.iter().flat_map(|folder| sources_in(folder)).filter(|path| is_unlimited(path)).collect();
    assert_eq!(unlimited, Vec::<PathBuf>::new(), "use support::Command");
}

#[test]
fn the_experiments_know_their_rooms_and_nothing_knows_them() {
    let files = sources_in(&root().join("lab"))
        .into_iter()
        .filter(|path| !path.starts_with(root().join("lab/tests")));
    let mut known = BTreeSet::new();
    for path in files {
        let room = |path: &str| path.strip_prefix("tetrion::")?.split("::").next().map(str::to_owned);
        let named = paths(&code(&path)).into_iter().filter_map(|(_, path)| room(&path));
        known.extend(
            named.filter(|room| {
                root().join(room).with_extension("rs").is_file() || root().join(room).is_dir()
            }),
        );
    }
    let allowed: BTreeSet<String> = LAB.iter().map(|&room| room.to_owned()).collect();
    assert_eq!(
        known.difference(&allowed).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "rooms that were not allowed"
    );
    for path in sources() {
        assert!(!code(&path).contains("tetrion_lab"), "{}", path.display());
    }
}

/// The module of each file, and the modules of those that define what it names.
type Files = BTreeMap<String, BTreeSet<String>>;

fn files() -> Files {
    let mut codes = BTreeMap::<String, String>::new();
    for path in sources() {
        *codes.entry(module(&path)).or_default() += &code(&path);
    }
    let is_file = |module: &str| codes.contains_key(module);
    let (mut named, mut exports) = (Vec::new(), BTreeMap::new());
    for (from, code) in &codes {
        for (exported, path) in paths(code) {
            let Some(to) = absolute(from, &path, is_file) else { continue };
            if exported {
                let (_, name) = path.rsplit_once("::").unwrap();
                exports.insert(join(from, name), to.clone());
            }
            named.push((from, exported, to));
        }
    }
    let mut files: Files = codes.keys().map(|file| (file.clone(), BTreeSet::new())).collect();
    for (from, exported, to) in named {
        // A reader is led through the file that is named, the compiler to the one that defines.
        for to in [file_of(&to, is_file).to_owned(), defined_in(to, is_file, &exports)] {
            // A module that exports what its own modules define need not know it.
            if to != *from && !(exported && to.starts_with(&join(from, ""))) {
                files.get_mut(from).unwrap().insert(to);
            }
        }
    }
    files
}

/// The file that a path leads to: the longest beginning that is one.
fn file_of(mut path: &str, is_file: impl Fn(&str) -> bool) -> &str {
    while !is_file(path) {
        path = above(path);
    }
    path
}

/// The module of a file, which begins with its room; a `lib.rs` above rooms has no name.
fn module(path: &Path) -> String {
    let inside = inside(path).with_extension("");
    let names = inside.iter().map(|name| name.to_str().unwrap());
    names.filter(|name| !["mod", "lib"].contains(name)).fold(String::new(), |above, name| join(&above, name))
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}::{name}") }
}

fn above(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(above, _)| above)
}

/// A path as seen from `crate`; none if it begins with another crate or with a name that is imported.
fn absolute(module: &str, path: &str, is_file: impl Fn(&str) -> bool) -> Option<String> {
    let (first, rest) = path.split_once("::")?;
    match first {
        first if first == "crate" || first.starts_with("tetrion_") => in_its_package(module, path),
        "self" => Some(join(module, rest)),
        "super" if rest.starts_with("super::") => absolute(above(module), rest, is_file),
        "super" => Some(join(above(module), rest)),
        name => is_file(&join(module, name)).then(|| join(module, path)),
    }
}

/// The file that defines what a path names, wherever else it is exported.
fn defined_in(
    path: String,
    is_file: impl Fn(&str) -> bool + Copy,
    exports: &BTreeMap<String, String>,
) -> String {
    let mut module = path.as_str();
    while !is_file(module) {
        if let Some(to) = exports.get(module) {
            return defined_in(path.replacen(module, to, 1), is_file, exports);
        }
        module = above(module);
    }
    module.to_owned()
}

/// The files that lead to each other and so back to themselves, circle by circle.
fn circles(files: &Files) -> BTreeSet<Vec<&str>> {
    fn led_to<'a>(files: &'a Files, from: &'a str) -> BTreeSet<&'a str> {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            open.extend(files[file].iter().map(String::as_str).filter(|to| found.insert(*to)));
        }
        found
    }
    let led_to: BTreeMap<_, _> = files.keys().map(|file| (file.as_str(), led_to(files, file))).collect();
    let mut circles = BTreeSet::new();
    for (file, found) in &led_to {
        circles.insert(found.iter().copied().filter(|other| led_to[other].contains(file)).collect());
    }
    circles.remove(&vec![]);
    circles
}

#[test]
fn no_circle_of_files() {
    let files = files();
    assert!(files["cli"].contains("cli::args") && files["rollout::episode"].contains("agents::sight"));
    assert!(
        files["service::environment"].contains("service::sessions")
            && files["tasks::task"].contains("optimum")
    );
    assert_eq!(circles(&files), BTreeSet::new());
}

#[test]
fn a_circle_is_found_and_paths_are_read_with_their_braces() {
    let drawn = [("a", vec!["b"]), ("b", vec!["c"]), ("c", vec!["b", "d"]), ("d", vec![])];
    let owned =
        |(from, to): (&str, Vec<&str>)| (from.to_owned(), to.into_iter().map(str::to_owned).collect());
    assert_eq!(circles(&drawn.map(owned).into()), BTreeSet::from([vec!["b", "c"]]));
    let code = "pub(super) use a::{b::{self, c as d}, e}; super::g::<u8>(h.i);";
    let expected = [(true, "a::b::self"), (true, "a::b::c"), (true, "a::e"), (false, "super::g")];
    let read = paths(code).into_iter().filter(|(_, path)| path.contains("::"));
    assert_eq!(read.collect::<Vec<_>>(), expected.map(|(exported, path)| (exported, path.to_owned())));
}

/// Whether a room is in a package below that of the file, open to all above it.
fn is_open_to(path: &Path, room: &str) -> bool {
    let is_in = |package: &str| {
        let folder = root().join(package);
        !path.starts_with(&folder)
            && (folder.join(room).is_dir() || folder.join(room).with_extension("rs").is_file())
    };
    OPEN.into_iter().any(is_in)
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
        for to in named_rooms(&from, &code) {
            let is_open = is_open_to(&path, &to)
                && NARROW.iter().all(|(room, known)| *room != from || known.contains(&to.as_str()));
            if to != from && !below.contains(&to.as_str()) && !is_open {
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
    for room in NARROW.iter().map(|(room, _)| room).chain(LAB) {
        assert!(rooms.contains(*room), "{room} is gone: take it out of NARROW and LAB");
    }
}

#[test]
fn words_of_the_network_threads_and_clocks_stay_where_they_belong() {
    let mut wrong = Vec::new();
    for path in sources() {
        let (from, code) = (room(&path), code(&path));
        let paths = paths(&code);
        let is_said = |word: &str| match word.starts_with(char::is_lowercase) {
            true => paths.iter().any(|(_, path)| path.starts_with(word)), // also within braces
            false => code.contains(word),
        };
        for (word, rooms, why) in WORDS {
            if is_said(word) && !rooms.contains(&from.as_str()) {
                wrong.push(format!("{} says {word}: {why}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_file_asks_how_far_pieces_reach() {
    // The rules themselves say which choices contradict each other.
    let asks = ["core/engine/reach.rs", "core/engine/rules/check.rs"].map(|file| root().join(file));
    for path in sources().into_iter().filter(|path| !asks.contains(path)) {
        let compares = ["reach == ", "reach != ", "match rules.reach", "(rules.reach,"];
        let found = compares.into_iter().find(|compare| code(&path).contains(compare));
        assert_eq!(found, None, "{} compares Reach: engine/reach.rs has the question", path.display());
    }
}

/// The type that a line of code declares. An indented `type` is an associated one, which has the name that its trait
/// gives it.
fn declared_type(line: &str) -> Option<&str> {
    let is_kind = |word: &&str| match *word {
        "struct" | "enum" | "trait" | "union" => true,
        "type" => !line.starts_with(' '),
        _ => false,
    };
    let words = tokens(line);
    let kind = words.iter().position(is_kind)?;
    let is_before = |word: &&str| ["pub", "(", "crate", "super", ")", "unsafe"].contains(word);
    let name = words.get(kind + 1).filter(|name| is_name(name))?;
    words[..kind].iter().all(is_before).then_some(*name)
}

/// The compiler's messages, a search and an engineer name a type without its module.
#[test]
fn a_type_name_stands_for_one_type() {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    let folders = [root(), root().parent().unwrap().join("clients/python/native/src")];
    let is_test = |path: &PathBuf| path.iter().any(|folder| folder == "tests");
    for path in folders.iter().flat_map(|folder| sources_in(folder)).filter(|path| !is_test(path)) {
        for name in code(&path).lines().filter_map(declared_type) {
            places.entry(name.to_owned()).or_default().push(path.display().to_string());
        }
    }
    assert!(places.len() > 900, "only {} types were found", places.len());
    places.retain(|_, places| places.len() > 1);
    assert_eq!(places, BTreeMap::new(), "two types with one name: put a word in front that says of what");
}

#[test]
fn unsafe_code_stays_in_the_kernels() {
    for path in sources() {
        let allowed = path.starts_with(root().join("core/engine/lanes"));
        assert!(allowed || !code(&path).contains("unsafe "), "{} has unsafe code", path.display());
    }
}
