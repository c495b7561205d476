//! Files that appear whole, and what must not be replaced: through the library, and by the commands that write them.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tetrion::files;

use crate::evaluate::tetrion;
use crate::support::Command;

/// Files that a user has, whose names look temporary.
const OF_THE_USER: [&str; 2] = ["out.part", ".out.tmp"];

/// An empty folder for a test, with files of the user.
fn empty(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    OF_THE_USER.iter().for_each(|name| fs::write(folder.join(name), "mine").unwrap());
    folder
}

/// Checks that a folder has these files, and those of the user as they were.
#[track_caller]
fn check_files(folder: &Path, names: &[&str]) {
    let entries =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = entries.collect();
    found.sort();
    let mut expected: Vec<&str> = OF_THE_USER.iter().chain(names).copied().collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    for name in OF_THE_USER {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "mine");
    }
}

/// Makes a pipe with a name.
fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

/// Makes a second `/dev/null`; `None` if only root may.
fn null_device(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("null");
    let made = mknodat(CWD, &path, FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 3));
    // A file system may forbid devices.
    made.ok().filter(|()| File::open(&path).is_ok()).map(|()| path)
}

/// Reads a pipe to its end on a thread.
fn reader(path: &Path) -> thread::JoinHandle<Vec<u8>> {
    let path = path.to_owned();
    thread::spawn(move || fs::read(path).unwrap())
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_a_new_one_has_the_usual() {
    let folder = empty("permissions");
    let (usual, path) = (folder.join("usual"), folder.join("out"));
    File::create(&usual).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    files::write(&path, b"one").unwrap();
    assert_eq!(mode(&path), mode(&usual));
    for bits in [0o600, 0o644, 0o751] {
        fs::set_permissions(&path, PermissionsExt::from_mode(bits)).unwrap();
        files::write(&path, b"two").unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap()), (bits, b"two".to_vec()));
    }
    let program = folder.join("program");
    files::write_by_name(&program, |name| fs::write(name, "three")).unwrap();
    assert_eq!((mode(&program), fs::read(&program).unwrap()), (mode(&usual), b"three".to_vec()));
    check_files(&folder, &["usual", "out", "program"]);
}

#[test]
fn links_are_followed() {
    let folder = empty("links");
    fs::create_dir(folder.join("inner")).unwrap();
    for (link, target) in [("to-old", "inner/old"), ("to-new", "inner/../inner/new"), ("to-link", "to-new")] {
        symlink(target, folder.join(link)).unwrap();
    }
    fs::write(folder.join("inner/old"), "old").unwrap();
    for link in ["to-old", "to-new", "to-link"] {
        files::check_writable(&folder.join(link)).unwrap();
        files::write(&folder.join(link), link.as_bytes()).unwrap();
        assert!(fs::symlink_metadata(folder.join(link)).unwrap().is_symlink(), "{link}");
        assert_eq!(fs::read_to_string(folder.join(link)).unwrap(), link);
    }
    check_files(&folder, &["inner", "to-old", "to-new", "to-link"]);
    assert_eq!(fs::read_dir(folder.join("inner")).unwrap().count(), 2);
    symlink("round", folder.join("round")).unwrap();
    files::write(&folder.join("round"), b"").unwrap_err();
}

#[test]
fn pipes_and_devices_stay() {
    let folder = empty("devices");
    let pipe = folder.join("pipe");
    make_pipe(&pipe);
    files::check_writable(&pipe).unwrap();
    let read = reader(&pipe);
    files::write(&pipe, b"through the pipe").unwrap();
    assert_eq!(read.join().unwrap(), b"through the pipe");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    if let Some(null) = null_device(&folder) {
        files::write(&null, b"gone").unwrap();
        assert!(fs::metadata(&null).unwrap().file_type().is_char_device());
        fs::remove_file(null).unwrap();
    }
    check_files(&folder, &["pipe"]);
}

#[test]
fn an_error_changes_nothing() {
    let folder = empty("errors");
    let path = folder.join("out");
    let fail = |file: &mut File| {
        file.write_all(b"half a fi")?;
        Err(io::Error::other("no more"))
    };
    files::write_with(&path, fail).unwrap_err();
    check_files(&folder, &[]);
    fs::write(&path, "old").unwrap();
    assert_eq!(files::write_with(&path, fail).unwrap_err().to_string(), "no more");
    let by_name = files::write_by_name(&path, |name| {
        fs::write(name, "half a fi")?;
        Err(io::Error::other("no more"))
    });
    assert_eq!(by_name.unwrap_err().to_string(), "no more");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    let panicked = thread::spawn({
        let path = path.clone();
        move || files::write_by_name::<io::Error>(&path, |_| panic!("on purpose"))
    });
    panicked.join().unwrap_err();
    for wrong in [folder.clone(), folder.join("no/out"), folder.join("out/"), folder.join("new/")] {
        files::check_writable(&wrong).unwrap_err();
        files::write(&wrong, b"").unwrap_err();
    }
    check_files(&folder, &["out"]);
}

/// A reader, too, finds one of the files and never a part.
#[test]
fn writers_of_one_file_do_not_damage_each_others() {
    let folder = empty("writers");
    let path = &folder.join("out");
    let whole = |letter: u8| vec![letter; 300_000];
    files::write(path, &whole(b'a')).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let found = fs::read(path).unwrap();
                assert!(found == whole(found[0]));
            }
        });
        let writers: Vec<_> = (b'a'..=b'c')
            .map(|letter| scope.spawn(move || (0..20).try_for_each(|_| files::write(path, &whole(letter)))))
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
        is_done.store(true, Ordering::Relaxed);
        reading.join().unwrap();
    });
    check_files(&folder, &["out"]);
}

/// A recorded game of this many pieces.
fn recorded(folder: &Path, pieces: u32) -> PathBuf {
    let rules = ["--width", "10", "--height", "10", "--games", "1", "--max-pieces", &pieces.to_string()];
    let record = ["--record", "best", "--record-dir"];
    run(tetrion(&["evaluate", "tetrion-10x10"]).args(rules).args(record).arg(folder));
    folder.join("tetrion-10x10-best.json")
}

#[track_caller]
fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Commands that write a file, without its name, which follows.
fn commands(recording: &Path) -> Vec<(&'static str, Command)> {
    let export = || {
        let mut command = tetrion(&["export"]);
        command.arg(recording).args(["--last", "5", "-o"]);
        command
    };
    let optimum = tetrion(&["optimum", "4x4", "--out"]);
    let csv = tetrion(&["evaluate", "random", "--height", "5", "--games", "3", "--games-csv"]);
    let mut commands = vec![("values", optimum), ("games.csv", csv)];
    commands.extend(["out.gif", "out.svg", "out.txt"].map(|name| (name, export())));
    let mut still = tetrion(&["export"]);
    still.arg(recording).args(["--at", "3", "-o"]);
    commands.push(("out.png", still));
    commands
}

#[test]
fn commands_write_through_links_pipes_and_devices() {
    let folder = empty("commands");
    let recording = recorded(&folder, 20);
    fs::create_dir(folder.join("targets")).unwrap();
    for (name, mut command) in commands(&recording) {
        let (target, link) = (folder.join("targets").join(name), folder.join(name));
        symlink(&target, &link).unwrap();
        run(command.arg(&link));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
        let bytes = fs::read(&target).unwrap();
        assert!(!bytes.is_empty(), "{name}");
        fs::remove_file(&target).unwrap();
        make_pipe(&target);
        let read = reader(&target);
        let (_, mut command) = commands(&recording).into_iter().find(|(other, _)| *other == name).unwrap();
        run(command.arg(&link));
        assert_eq!(read.join().unwrap(), bytes, "{name}");
        assert!(fs::metadata(&link).unwrap().file_type().is_fifo(), "{name}");
        fs::remove_file(&target).unwrap();
        if let Some(null) = null_device(&folder.join("targets")) {
            fs::rename(null, &target).unwrap();
            let (_, mut command) =
                commands(&recording).into_iter().find(|(other, _)| *other == name).unwrap();
            run(command.arg(&link));
            assert!(fs::metadata(&link).unwrap().file_type().is_char_device(), "{name}");
            fs::remove_file(&target).unwrap();
        }
        fs::remove_file(&link).unwrap();
    }
    // A recording goes to the end of a link, too.
    fs::rename(&recording, folder.join("targets/game.json")).unwrap();
    symlink("targets/game.json", &recording).unwrap();
    recorded(&folder, 30);
    assert!(fs::symlink_metadata(&recording).unwrap().is_symlink());
    assert!(fs::read_to_string(&recording).unwrap().contains("\"pieces\":\"30\""));
    check_files(&folder, &["targets", "tetrion-10x10-best.json"]);
}

/// What a shell has open is not replaced: what comes before and after it stays.
#[test]
fn stdout_by_its_name_is_written_like_stdout() {
    let folder = empty("stdout");
    let path = folder.join("out");
    let mut file = File::create(&path).unwrap();
    file.write_all(b"before\n").unwrap();
    let mut optimum = tetrion(&["optimum", "4x4", "--out", "/dev/stdout"]);
    assert!(optimum.stdout(file.try_clone().unwrap()).status().unwrap().success());
    file.write_all(b"after\n").unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"before\nTTRNVAL1"));
    let end = String::from_utf8_lossy(&bytes[bytes.len() - 200..]).into_owned();
    assert!(end.contains("\n4x4: ") || end.contains("4x4: "), "{end}");
    assert!(end.ends_with("\nafter\n"), "{end}");
    check_files(&folder, &["out"]);
}

/// Waits until the condition holds.
#[track_caller]
fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn kill(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_killed_command_leaves_the_old_file_and_no_other() {
    let folder = empty("killed");
    let recording = recorded(&empty("killed-game"), 3_000);
    let path = folder.join("out.gif");
    for signal in [Signal::TERM, Signal::KILL] {
        fs::write(&path, "old").unwrap();
        let mut child = tetrion(&["export", "--cell", "64"])
            .arg(&recording)
            .arg("-o")
            .arg(&path)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let descriptors = format!("/proc/{}/fd", child.id());
        let is_ours = |entry: io::Result<fs::DirEntry>| {
            entry.and_then(|entry| fs::read_link(entry.path())).is_ok_and(|file| file.starts_with(&folder))
        };
        wait_for("it writes a file", || {
            assert!(child.try_wait().unwrap().is_none(), "it has ended too soon");
            fs::read_dir(&descriptors).is_ok_and(|mut entries| entries.any(is_ours))
        });
        kill(&child, signal);
        child.wait().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        check_files(&folder, &["out.gif"]);
    }
}

/// A program in the place of ffmpeg, which writes the pictures that it gets to its last argument.
#[test]
fn films_are_whole_too() {
    let folder = empty("film");
    let tools = empty("film-tools");
    let recording = recorded(&empty("film-game"), 2_000);
    let ffmpeg = tools.join("ffmpeg");
    fs::write(&ffmpeg, "#!/bin/sh\nfor out; do :; done\ncat > \"$out\"\n").unwrap();
    fs::set_permissions(&ffmpeg, PermissionsExt::from_mode(0o755)).unwrap();
    let search = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let (path, link) = (folder.join("out.mp4"), folder.join("link.mp4"));
    symlink("out.mp4", &link).unwrap();
    let export = |flags: &[&str]| {
        let mut command = tetrion(&["export"]);
        command.args(flags).arg(&recording).arg("-o").arg(&link).env("PATH", &search);
        command
    };
    run(&mut export(&["--last", "3"]));
    let film = fs::read(&path).unwrap();
    assert!(film.len() > 10_000 && fs::symlink_metadata(&link).unwrap().is_symlink());
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut child = export(&["--cell", "64"]).spawn().unwrap();
        let has_begun = || {
            let mut entries = fs::read_dir(&folder).unwrap().flatten();
            entries.any(|entry| entry.file_name().to_string_lossy().starts_with(".tetrion-"))
        };
        wait_for("it writes a file", || {
            assert!(child.try_wait().unwrap().is_none(), "it has ended too soon");
            has_begun()
        });
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        check_files(&folder, &["out.mp4", "link.mp4"]);
        assert!(fs::read(&path).unwrap() == film);
    }
    fs::write(&ffmpeg, "#!/bin/sh\ncat > /dev/null\nexit 3\n").unwrap();
    let failed = export(&["--last", "3"]).output().unwrap();
    let stderr = String::from_utf8(failed.stderr).unwrap();
    assert!(failed.status.code() == Some(1) && stderr.contains("ffmpeg failed"), "{stderr}");
    check_files(&folder, &["out.mp4", "link.mp4"]);
    assert!(fs::read(&path).unwrap() == film);
}
