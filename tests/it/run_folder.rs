//! The files of a training run: whatever stops it, resuming it ends with the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tetrion::client::{
    Activation, Features, Mlp, ModelShape, NTuple, Play, RulesChoice, TupleKind, TuplePattern,
};
use tetrion::engine::{PRESETS, Rules};
use tetrion::optimizers::{CemPreset, Config, Generation, Optimizer, OptimizerState, seed_text};
use tetrion::protocol::files::WeightPolicy;
use tetrion::trainer::run_folder::{
    CHECKPOINT, CONFIG, CURVE, GENERATIONS, Resumed, RunFolder, RunFolderError, TIMING, WEIGHTS,
    read_generations,
};
use tetrion::trainer::weights::{MeasuredScore, RunSeeds, Weights};

use tetrion_toolkit_testing::{advance, toy};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Settings {
    #[serde(with = "seed_text")]
    seed: u64,
    optimizer: Config,
}

#[test]
fn the_rules_of_a_file_are_those_that_were_written() {
    for preset in &PRESETS {
        let rules = RulesChoice { preset: preset.name.to_owned(), changes: preset.rules.fields() };
        let json = serde_json::to_string(&rules).unwrap();
        assert_eq!(serde_json::from_str::<RulesChoice>(&json).unwrap(), rules, "{json}");
        let settings = toml::to_string(&rules).unwrap();
        assert_eq!(toml::from_str::<RulesChoice>(&settings).unwrap(), rules, "{settings}");
    }
}

/// An empty place of its own for each test.
fn empty_folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn settings() -> Settings {
    Settings { seed: u64::MAX, optimizer: Config::preset(CemPreset::Lab, 6) }
}

fn begin(folder: &Path) -> (RunFolder, Box<dyn Optimizer>) {
    let settings = settings();
    let run = RunFolder::create(folder, &settings).unwrap();
    (run, settings.optimizer.start(3, settings.seed).unwrap())
}

fn resume(folder: &Path) -> (RunFolder, Box<dyn Optimizer>) {
    // A process that another test starts at this moment holds copies of our locks until it runs its program.
    let resumed = (0..100).find_map(|_| match RunFolder::resume::<Settings, OptimizerState>(folder) {
        Err(RunFolderError::Locked { .. }) => {
            std::thread::sleep(std::time::Duration::from_millis(50));
            None
        }
        resumed => Some(resumed.unwrap()),
    });
    let Resumed { run, config, state } = resumed.expect("the lock is free within five seconds");
    assert_eq!(config, settings());
    let optimizer = match state {
        Some(state) => config.optimizer.resume(state),
        None => config.optimizer.start(3, config.seed),
    };
    (run, optimizer.unwrap())
}

fn record(run: &mut RunFolder, optimizer: &mut dyn Optimizer) -> Result<(), RunFolderError> {
    let generation = advance(optimizer, toy);
    run.record(&generation, &serde_json::json!({ "seconds": 0.5 }), &optimizer.state())
}

/// A run of `num_generations`, closed again.
fn run_of(folder: &Path, num_generations: u32) {
    let (mut run, mut optimizer) = begin(folder);
    for _ in 0..num_generations {
        record(&mut run, optimizer.as_mut()).unwrap();
    }
}

#[track_caller]
fn refused(folder: &Path) -> String {
    match RunFolder::resume::<Settings, OptimizerState>(folder) {
        Ok(_) => panic!("resumed"),
        Err(error) => error.to_string().replace(&folder.display().to_string(), "FOLDER"),
    }
}

fn append(path: &Path, text: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    bytes.extend(text);
    fs::write(path, bytes).unwrap();
}

fn bytes_of(folder: &Path) -> [Vec<u8>; 4] {
    [CONFIG, GENERATIONS, TIMING, CHECKPOINT].map(|name| fs::read(folder.join(name)).unwrap())
}

/// A run that was killed after every generation, with everything that a kill can leave behind: nothing, a line whose
/// checkpoint never came, half a line, half a character.
#[test]
fn an_interrupted_run_ends_with_the_same_bytes() {
    let steady = empty_folder("run_folder_steady");
    run_of(&steady, 6);
    let next_line = fs::read_to_string(steady.join(GENERATIONS)).unwrap().lines().nth(3).unwrap().to_owned();
    let whole_line = format!("{next_line}\n");
    let leftovers = ["", &whole_line, &next_line[..40], "\n", &format!("{whole_line}{{\"a")];
    for (case, left) in leftovers.into_iter().map(str::as_bytes).chain([&b"{\"name\":\"\xc3"[..]]).enumerate()
    {
        let folder = empty_folder("run_folder_interrupted");
        drop(begin(&folder)); // stopped before there was anything
        for generation in 0..6 {
            append(&folder.join(GENERATIONS), left);
            append(&folder.join(TIMING), left);
            fs::write(folder.join(".tetrion-of-a-killed-process"), "half a checkp").unwrap();
            let (mut run, mut optimizer) = resume(&folder);
            assert_eq!((run.num_generations(), optimizer.generation()), (generation, generation as u32));
            record(&mut run, optimizer.as_mut()).unwrap();
        }
        assert!(bytes_of(&folder) == bytes_of(&steady), "case {case}");
    }
}

#[test]
fn generations_can_be_read_while_they_are_written() {
    let folder = empty_folder("run_folder_read");
    let (mut run, mut optimizer) = begin(&folder);
    assert_eq!(read_generations::<Generation>(&folder).unwrap(), []);
    for generation in 1..=3 {
        record(&mut run, optimizer.as_mut()).unwrap();
        let lines: Vec<Generation> = read_generations(&folder).unwrap();
        assert_eq!(lines.len(), generation);
        assert_eq!(lines[generation - 1].mean, optimizer.incumbent().unwrap(), "every bit");
    }
    append(&folder.join(GENERATIONS), b"{\"generation\":3,");
    assert_eq!(read_generations::<Generation>(&folder).unwrap().len(), 3);
    append(&folder.join(GENERATIONS), b"\n");
    let error = read_generations::<Generation>(&folder).unwrap_err().to_string();
    assert!(error.contains("generations.jsonl is not what this program writes: line 4: "), "{error}");
}

#[test]
fn one_run_has_one_writer() {
    let folder = empty_folder("run_folder_lock");
    let (run, _) = begin(&folder);
    assert_eq!(refused(&folder), "another process is writing to the run in FOLDER");
    assert!(matches!(RunFolder::create(&folder, &settings()), Err(RunFolderError::Locked { .. })));
    drop(run);
    drop(resume(&folder));
    assert!(matches!(RunFolder::create(&folder, &settings()), Err(RunFolderError::Exists { .. })));
}

#[test]
fn refuses_what_is_not_a_run() {
    let folder = empty_folder("run_folder_none");
    assert_eq!(refused(&folder), "FOLDER holds no run: there is no config.toml in it");
    assert!(!folder.exists(), "asking makes nothing");

    // Results without settings belong to another program; an empty record is what a kill while creating leaves.
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(GENERATIONS), "{}\n").unwrap();
    assert!(matches!(RunFolder::create(&folder, &settings()), Err(RunFolderError::Exists { .. })));
    fs::write(folder.join(GENERATIONS), "").unwrap();
    RunFolder::create(&folder, &settings()).unwrap();
}

/// Whatever is wrong, the message names the file and nothing on disk changes.
#[test]
fn refuses_damaged_runs_and_leaves_them_alone() {
    #[track_caller]
    fn check(name: &str, damage: impl Fn(String) -> String, expected: &str) {
        let folder = empty_folder("run_folder_damaged");
        run_of(&folder, 3);
        let path = folder.join(name);
        fs::write(&path, damage(fs::read_to_string(&path).unwrap())).unwrap();
        append(&folder.join(TIMING), b"torn");
        let before = bytes_of(&folder);
        let message = refused(&folder);
        assert!(message.starts_with(expected), "{message}");
        assert!(bytes_of(&folder) == before);
    }
    let lost =
        "FOLDER/generations.jsonl holds 2 complete lines, but the checkpoint was written after 3 generations";
    let beyond =
        "FOLDER/generations.jsonl holds 6 complete lines, but the checkpoint was written after 3 generations";
    check(GENERATIONS, |text| text.repeat(2), beyond);
    check(GENERATIONS, |text| text[..text.len() - 1].to_owned(), lost);
    check(GENERATIONS, |text| text.lines().take(2).map(|line| line.to_owned() + "\n").collect(), lost);
    check(
        GENERATIONS,
        |text| text.replacen("\"std\":[", "\"std\":", 1),
        "FOLDER/generations.jsonl is not what this program writes: line 1: ",
    );
    check(CHECKPOINT, |text| text[..40].to_owned(), "FOLDER/checkpoint is not what this program writes: EOF");
    check(
        CHECKPOINT,
        |text| text.replace("\"format\":2", "\"format\":1"),
        "FOLDER/checkpoint is not what this program writes: its format is 1, not 2: use the version",
    );
    check(CHECKPOINT, |text| text.replace("\"mean\"", "\"median\""), "FOLDER/checkpoint is not what ");
    check(
        CONFIG,
        |text| text.replace("seed", "sede"),
        "FOLDER/config.toml is not what this program writes: ",
    );
}

/// A stop before the first checkpoint leaves one line at most, and no result.
#[test]
fn a_run_without_its_checkpoint_is_not_begun_again() {
    let folder = empty_folder("run_folder_no_checkpoint");
    run_of(&folder, 3);
    fs::remove_file(folder.join(CHECKPOINT)).unwrap();
    let lost =
        "FOLDER/checkpoint is gone, and generations were recorded with it: put it back, or begin a new run";
    assert_eq!(refused(&folder), lost);
    let lines = fs::read_to_string(folder.join(GENERATIONS)).unwrap();
    assert_eq!(lines.lines().count(), 3, "a refusal changes nothing");

    let first = lines.lines().next().unwrap().to_owned() + "\n";
    fs::write(folder.join(GENERATIONS), &first).unwrap();
    fs::write(folder.join(WEIGHTS), "{}").unwrap();
    assert_eq!(refused(&folder), lost);
    fs::remove_file(folder.join(WEIGHTS)).unwrap();
    assert_eq!(resume(&folder).0.num_generations(), 0);
}

/// A folder in the way of the temporary file stops a checkpoint on every system, even for an administrator.
#[test]
fn a_checkpoint_that_cannot_be_written_keeps_the_last_one() {
    let (folder, steady) = (empty_folder("run_folder_blocked"), empty_folder("run_folder_unblocked"));
    run_of(&steady, 3);
    let (mut run, mut optimizer) = begin(&folder);
    for _ in 0..2 {
        record(&mut run, optimizer.as_mut()).unwrap();
    }
    let before = fs::read(folder.join(CHECKPOINT)).unwrap();
    let (path, aside) = (folder.join(CHECKPOINT), folder.join("aside"));
    let block = || {
        fs::rename(&path, &aside).unwrap();
        fs::create_dir(&path).unwrap();
    };
    let unblock = || {
        fs::remove_dir(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
    };
    block();

    let generation = advance(optimizer.as_mut(), toy);
    let timing = serde_json::json!({ "seconds": 0.5 });
    for _ in 0..2 {
        let error = run.record(&generation, &timing, &optimizer.state()).unwrap_err().to_string();
        let error = error.replace(&folder.display().to_string(), "FOLDER");
        assert!(error.starts_with("cannot write FOLDER/checkpoint: "), "{error}");
        assert_eq!(run.num_generations(), 2);
        assert_eq!(fs::read(&aside).unwrap(), before);
    }
    // The same process may try again ...
    unblock();
    run.record(&generation, &timing, &optimizer.state()).unwrap();
    assert!(bytes_of(&folder) == bytes_of(&steady));

    // ... or another one may.
    block();
    record(&mut run, optimizer.as_mut()).unwrap_err();
    drop(run);
    unblock();
    let (run, optimizer) = resume(&folder);
    assert_eq!((run.num_generations(), optimizer.generation()), (3, 3));
    assert!(bytes_of(&folder) == bytes_of(&steady));
}

/// Linux has a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_clear_error() {
    for name in [GENERATIONS, TIMING] {
        let folder = empty_folder("run_folder_full");
        drop(begin(&folder));
        let path = folder.join(name);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();

        let (mut run, mut optimizer) = resume(&folder);
        let error = record(&mut run, optimizer.as_mut()).unwrap_err().to_string();
        let expected = format!("cannot write {}: No space left on device", path.display());
        assert!(error.starts_with(&expected), "{error}");
        assert_eq!(run.num_generations(), 0);
        assert!(!folder.join(CHECKPOINT).exists());
        drop(run);

        fs::remove_file(&path).unwrap();
        let (mut run, mut optimizer) = resume(&folder);
        record(&mut run, optimizer.as_mut()).unwrap();
        assert_eq!(read_generations::<Generation>(&folder).unwrap().len(), 1);
    }
}

pub fn bcts_like() -> Weights {
    Weights {
        format: 2,
        feature_names: vec!["holes".into(), "landing_height".into()],
        policy: WeightPolicy {
            features: Features::Set { name: "pair".into(), version: "1".into() },
            row: vec![-0.1 - 0.2, 5e-324],
            model: None,
            play: Play::default(),
        },
        rules: RulesChoice { preset: "simplified".into(), changes: Rules::default().fields() },
        rules_version: "tetrion-rules-1".into(),
        seeds: RunSeeds { training: u64::MAX, evaluation: 7 },
        generation: None,
        score: Some(MeasuredScore {
            unit: "lines".into(),
            num_games: 100,
            num_truncated: 0,
            mean: 3981.5,
            std: 4012.25,
            ci95_low: 3195.1,
            ci95_high: 4767.9,
        }),
    }
}

#[test]
fn weights_and_curve_are_written_and_read_back() {
    let folder = empty_folder("run_folder_weights");
    let (run, _) = begin(&folder);
    let unmeasured = Weights { score: None, generation: Some(3), ..bcts_like() };
    for weights in [unmeasured, bcts_like()] {
        run.write_weights(&weights).unwrap();
        assert_eq!(Weights::read(&folder.join(WEIGHTS)).unwrap(), weights);
    }
    run.write_curve("<svg/>").unwrap();
    assert_eq!(fs::read_to_string(folder.join(CURVE)).unwrap(), "<svg/>");

    let mut wrong = bcts_like();
    wrong.policy.row.pop();
    let error = run.write_weights(&wrong).unwrap_err().to_string();
    assert!(error.ends_with("1 weights were given, expected one for each of 2 features"), "{error}");
    assert_eq!(Weights::read(&folder.join(WEIGHTS)).unwrap(), bcts_like(), "a refusal changes nothing");
}

/// Two tuples that share a table of nine, a network, and a network of two units that reads a table of two.
fn with_models() -> [Weights; 3] {
    let tuple =
        |column, shares| TuplePattern { kind: TupleKind::Steps, positions: vec![column, 4], clip: 1, shares };
    let n_tuple = ModelShape::NTuple(NTuple::new(vec![tuple(0, None), tuple(3, Some(0))]));
    let network = |hidden, tables| {
        ModelShape::Mlp(Mlp { hidden: vec![hidden], activation: Activation::LeakyRelu, tables })
    };
    let cell = TuplePattern { kind: TupleKind::Cells, positions: vec![7], clip: 0, shares: None };
    let reader = network(2, Some(NTuple::new(vec![cell])));
    let parameters = [0.1f32, -3e38, 1e-45, 0.0, -0.0, 16_777_217.0, 1.0 / 3.0, 5.0, 7.25];
    [(n_tuple, 9), (network(1, None), 5), (reader, 13)].map(|(model, num_parameters)| {
        let mut weights = bcts_like();
        weights.policy.row.extend(parameters.iter().cycle().take(num_parameters).map(|&one| f64::from(one)));
        weights.policy.model = Some(model);
        weights
    })
}

#[test]
fn models_are_written_and_read_back_to_the_bit() {
    for weights in with_models() {
        let read = Weights::from_json(&weights.to_json()).unwrap();
        assert_eq!(read, weights);
        let bits = |weights: &Weights| weights.policy.row.iter().map(|one| one.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read), bits(&weights));
    }
}

#[test]
fn weights_of_another_kind_are_refused() {
    #[track_caller]
    fn check(from: &str, to: &str, expected: &str) {
        let text = bcts_like().to_json();
        assert!(text.contains(from));
        let message = Weights::from_json(&text.replace(from, to)).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    check("\"format\": 2", "\"format\": 1", "its format is 1, not 2: use the version");
    check(
        "    \"holes\",\n",
        "",
        "policy.weights.weights: 2 weights were given, expected one for each of 1 ",
    );
    check("5e-324", "2e300", "policy.weights.weights: weight 1 is 2000");
    check("5e-324", "\"many\"", "invalid float literal at line");
    check("\"terminalValue\"", "\"terminalValues\"", "unknown field `policy.terminalValues`");
    check("VALUE_AVOID", "VALUE_SHUN", "unknown variant `TERMINAL_VALUE_SHUN`");
    check("\"width\"", "\"widht\"", "unknown field `rules.widht`");
    check(
        "\"featureSet\": \"pair\"",
        "\"names\": {}",
        "policy.weights.features.feature_set_version: is given without",
    );
    check("\"weights\": {", "\"formula\": {", "policy.weights: is required");
    check("{", "", "it is not a file of weights");
    for (from, to, expected) in [
        (
            "\"shares\": 0",
            "\"shares\": 1",
            "policy.weights.n_tuple.tuples[1].shares: is 1, expected an earlier",
        ),
        ("\"nTuple\"", "\"tables\"", "unknown field `policy.weights.tables`"),
        ("KIND_STEPS", "KIND_STAIRS", "unknown variant `TUPLE_KIND_STAIRS`"),
        ("7.25", "1e39", "weight 10, a parameter of the model, is 1e39"),
    ] {
        let text = with_models()[0].to_json();
        assert!(text.contains(from), "{text}");
        let message = Weights::from_json(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let missing = Weights::read(Path::new("no such file")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read it: "), "{missing}");
}

#[test]
fn seeds_are_text_in_files_and_may_be_numbers() {
    for seed in [0, (1 << 53) + 1, i64::MAX as u64 + 1, u64::MAX] {
        let text = toml::to_string(&Settings { seed, ..settings() }).unwrap();
        assert_eq!(text.lines().next().unwrap(), format!("seed = \"{seed}\""));
        assert_eq!(toml::from_str::<Settings>(&text).unwrap().seed, seed);
        let seeds = RunSeeds { training: seed, evaluation: seed };
        let json = serde_json::to_string(&seeds).unwrap();
        assert_eq!(json, format!("{{\"training\":\"{seed}\",\"evaluation\":\"{seed}\"}}"));
        let numbers = json.replace(&format!("\"{seed}\""), &seed.to_string());
        for json in [json, numbers] {
            assert_eq!(serde_json::from_str::<RunSeeds>(&json).unwrap(), seeds, "{json}");
        }
    }
    let text = toml::to_string(&settings()).unwrap();
    let edited = |seed: &str| toml::from_str::<Settings>(&text.replace(text.lines().next().unwrap(), seed));
    assert_eq!(edited("seed = 7").unwrap().seed, 7);
    for refused in ["-1", "\"\"", "\"18446744073709551616\"", "1.5"] {
        assert!(edited(&format!("seed = {refused}")).is_err(), "{refused}");
    }
}
