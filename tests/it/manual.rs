//! What a package installs beside the program: completions for shells and pages of the manual.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tetrion::cli::{args, help};

use crate::evaluate::tetrion;
use crate::support::Command;

/// Runs a command that succeeds, and returns what it prints.
#[track_caller]
fn prints(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The subcommands that `--help` lists.
fn subcommands() -> BTreeSet<String> {
    let help = prints(&mut tetrion(&["--help"]));
    let (list, _) = help.split_once("\nOptions:\n").unwrap();
    let names: BTreeSet<String> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect();
    assert!(names.contains("serve") && names.contains("completions"), "{names:?}");
    names
}

/// A folder of its own for each test, empty at first.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual").join(test);
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn the_help_of_the_program_lists_every_subcommand_in_one_group_and_on_one_line() {
    let help = prints(&mut tetrion(&["--help"]));
    let (list, _) = help.split_once("\nOptions:\n").unwrap();
    assert!(list.lines().all(|line| line.len() <= 80), "{list}");
    let command = args::command();
    let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    all.push("help");
    let mut grouped: Vec<&str> = help::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    grouped.sort_unstable();
    all.sort_unstable();
    assert_eq!(grouped, all);
}

/// A subcommand and its forms, such as `train td`.
fn forms(subcommand: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    std::iter::once(subcommand).chain(subcommand.get_subcommands())
}

/// Flags without a heading are listed first, as options of the subcommand, or as its arguments.
#[test]
fn every_flag_of_a_subcommand_with_many_has_a_heading() {
    let command = args::command();
    for subcommand in command.get_subcommands().flat_map(forms) {
        let headings: Vec<(&str, Option<&str>)> = subcommand
            .get_arguments()
            .map(|arg| (arg.get_id().as_str(), arg.get_help_heading()))
            .filter(|(flag, _)| !["config", "help", "version"].contains(flag))
            .collect();
        let with = headings.iter().filter(|(_, heading)| heading.is_some()).count();
        if headings.len() < 12 {
            assert_eq!(with, 0, "{}", subcommand.get_name());
        } else {
            let without: Vec<&str> =
                headings.iter().filter(|(_, heading)| heading.is_none()).map(|(flag, _)| *flag).collect();
            assert!(without.is_empty(), "{} has no heading for {without:?}", subcommand.get_name());
        }
    }
}

#[test]
fn completions_know_every_subcommand_and_its_flags() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = prints(&mut tetrion(&["completions", shell]));
        for word in subcommands().iter().map(String::as_str).chain(["listen", "tls-cert", "log-format"]) {
            assert!(script.contains(word), "{shell} knows no {word}");
        }
    }
    let refused = tetrion(&["completions", "tcsh"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

/// What bash offers after these words, with the script in effect.
#[cfg(unix)]
fn offered(script: &str, words: &[&str]) -> Vec<String> {
    let ask = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _tetrion tetrion '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let mut bash = Command::new("bash")
        .args(["--norc", "--noprofile", "-s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    bash.stdin.take().unwrap().write_all(ask.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
#[cfg(unix)]
fn bash_completes_subcommands_flags_and_values() {
    let script = prints(&mut tetrion(&["completions", "bash"]));
    assert_eq!(offered(&script, &["tetrion", "serv"]), ["serve"]);
    assert_eq!(offered(&script, &["tetrion", "serve", "--drain"]), ["--drain-timeout"]);
    assert_eq!(offered(&script, &["tetrion", "serve", "--log-format", "j"]), ["json"]);
    assert_eq!(offered(&script, &["tetrion", "completions", "z"]), ["zsh"]);
}

#[test]
fn the_program_and_every_subcommand_have_a_page() {
    let folder = folder("pages").join("man1");
    for _ in 0..2 {
        // The second time over its own pages.
        prints(tetrion(&["man"]).arg(&folder));
        let pages: BTreeSet<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut expected: BTreeSet<String> =
            subcommands().iter().map(|name| format!("tetrion-{name}.1")).collect();
        let forms = ["train-cem", "train-genetic", "train-td", "tbp-bot", "tbp-host"];
        expected.extend(forms.map(|form| format!("tetrion-{form}.1")));
        expected.insert("tetrion.1".to_owned());
        assert_eq!(pages, expected);
    }
    let page = fs::read_to_string(folder.join("tetrion-serve.1")).unwrap();
    assert!(page.contains(".TH tetrion-serve 1"), "{page}");
    for part in ["[env: TETRION_SERVE_DRAIN_TIMEOUT]", "tls\\-cert", "127.0.0.1:50451"] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    let index = fs::read_to_string(folder.join("tetrion.1")).unwrap();
    assert!(subcommands().iter().all(|name| index.contains(&format!("tetrion\\-{name}(1)"))), "{index}");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_that_names_it() {
    let folder = folder("refused");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("file");
    fs::write(&file, "kept").unwrap();
    let refused = tetrion(&["man"]).arg(&file).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(&format!("cannot make the folder {}", file.display())), "{stderr}");
    fs::create_dir(folder.join("tetrion.1")).unwrap();
    let refused = tetrion(&["man"]).arg(&folder).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains(&format!("cannot write {}/tetrion.1", folder.display())), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn nothing_of_this_machine_gets_into_completions_or_pages() {
    let folder = folder("secrets");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("tetrion.toml");
    fs::write(&file, "[serve]\ntoken = 'open sesame'\nlisten = '127.0.0.1:4711'\n").unwrap();
    let with_secrets = |command: &mut Command| {
        let environment = [("TETRION_SERVE_TOKEN", "open sesame"), ("TETRION_SERVE_DRAIN_TIMEOUT", "4711")];
        prints(command.envs(environment).env("TETRION_CONFIG", &file))
    };
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = with_secrets(&mut tetrion(&["completions", shell]));
        assert_eq!(script, prints(&mut tetrion(&["completions", shell])));
    }
    let (with, without) = (folder.join("with"), folder.join("without"));
    with_secrets(tetrion(&["man"]).arg(&with));
    prints(tetrion(&["man"]).arg(&without));
    for entry in fs::read_dir(&without).unwrap() {
        let name = entry.unwrap().file_name();
        let page = fs::read_to_string(with.join(&name)).unwrap();
        assert_eq!(page, fs::read_to_string(without.join(&name)).unwrap(), "{name:?}");
        assert!(!page.contains("sesame") && !page.contains("4711"), "{page}");
    }
}
