//! The files of `deploy/` start the program with flags and variables that it knows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tetrion::cli::args;
use tetrion::service::limits::DEFAULT_MEMORY;

use crate::documents::documents;
use crate::evaluate::tetrion;

/// The words of a text that begin with `prefix`: flags and variables are letters, digits, `-` and `_`.
fn words(text: &str, prefix: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
    words.filter(|word| word.starts_with(prefix) && word.len() > prefix.len()).map(str::to_owned).collect()
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

#[test]
fn flags_and_variables_are_those_of_the_program() {
    let help = String::from_utf8(tetrion(&["serve", "--help"]).output().unwrap().stdout).unwrap();
    let flags = words(&help, "--");
    for file in ["deploy/tetrion.service", "deploy/kubernetes/statefulset.yaml"] {
        let used = words(&read(file), "--");
        assert!(used.contains("--state"), "{file}: {used:?}");
        assert!(used.is_subset(&flags), "{file}: {:?}", used.difference(&flags));
    }
    let program = args::command();
    let commands = ["serve", "health"].map(|name| program.find_subcommand(name).unwrap());
    let arguments = commands.iter().flat_map(|command| command.get_arguments());
    let arguments = arguments.chain(program.get_arguments());
    let variables: BTreeSet<String> =
        arguments.filter_map(|arg| Some(arg.get_env()?.to_str().unwrap().to_owned())).collect();
    for file in [
        "deploy/Dockerfile",
        "deploy/tetrion.service",
        "deploy/kubernetes/statefulset.yaml",
        "docs/operating.md",
    ] {
        let used = words(&read(file), "TETRION_");
        assert!(!used.is_empty() && used.is_subset(&variables), "{file}: {:?}", used.difference(&variables));
    }
}

/// Cargo reads the manifests of all packages, those too that the image does not need. The server has the documents.
#[test]
fn the_image_is_made_from_every_package_and_document() {
    let packages = read("Cargo.toml");
    let (_, members) = packages.split_once("members = [").unwrap();
    let members: Vec<&str> = members.split(']').next().unwrap().split('"').skip(1).step_by(2).collect();
    assert!(members.len() > 4, "{members:?}");
    for (file, line) in [("deploy/Dockerfile", "COPY "), ("deploy/Dockerfile.dockerignore", "!")] {
        let text = read(file);
        let copied = |file: &String| {
            let named = text.lines().filter_map(|text| text.strip_prefix(line));
            let mut names = named.flat_map(str::split_whitespace);
            let top = if file.contains('/') { "" } else { "*.md" };
            names.any(|name| name == top || Path::new(file).starts_with(name))
        };
        let manifests = members.iter().map(|member| format!("{member}/Cargo.toml"));
        let picture = "clients/python/examples/curves/ppo.svg".to_owned();
        let needed = manifests.chain(documents()).chain([picture]);
        let missing: Vec<String> = needed.filter(|file| !copied(file)).collect();
        assert!(missing.is_empty(), "{file} lacks {missing:?}");
    }
}

#[test]
fn the_server_gets_the_memory_that_its_limits_add_up_to() {
    let mib = |file: &str, key: &str, unit: &str| {
        let text = read(file);
        let (_, value) = text.split_once(key).unwrap_or_else(|| panic!("{file} has no {key}"));
        let (number, _) = value.split_once(unit).unwrap();
        number.trim().parse::<u64>().unwrap_or_else(|_| panic!("{file}: {number:?}"))
    };
    for (file, key, unit) in [
        ("deploy/tetrion.service", "\nMemoryMax=", "M"),
        ("deploy/kubernetes/statefulset.yaml", "limits: {cpu: \"4\", memory:", "Mi"),
        ("docs/operating.md", "no-new-privileges --memory", "m"),
    ] {
        let given = mib(file, key, unit) << 20;
        // A tenth for what the kernel keeps for its sockets.
        assert!(given >= DEFAULT_MEMORY + DEFAULT_MEMORY / 10, "{file}: {given} bytes");
    }
}

#[test]
fn the_server_has_more_time_to_stop_than_its_calls() {
    let seconds = |file: &str, key: &str| {
        let text = read(file);
        let value = text.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
        value.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    let drain = tetrion::server::ServerConfig::default().drain_timeout.as_secs_f64();
    assert!(seconds("deploy/tetrion.service", "TimeoutStopSec=") >= drain + 15.0);
    let grace = seconds("deploy/kubernetes/statefulset.yaml", "terminationGracePeriodSeconds:");
    assert!(grace >= drain + 15.0);
}
