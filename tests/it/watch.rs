//! `tetrion watch`, driven by keys and simulated time: its games are those of evaluations.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{Args, FromArgMatches};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use tetrion::agents::{Agent, AgentRow, Controller, Expectation, Kernel, LinearAgent, Search, TerminalValue};
use tetrion::cli::watch::{WatchArgs, begin};
use tetrion::engine::rng::{Tag, word};
use tetrion::engine::{ActionModel, Rules, Timing};
use tetrion::features::FeatureSet;
use tetrion::files;
use tetrion::protocol::rules::{ResolvedRules, RulesChoice};
use tetrion::recording::{Replay, Scene};
use tetrion::rollout::{Deal, Evaluation, PlayedGame};
use tetrion::trainer::run_folder::{CONFIG, WEIGHTS};
use tetrion::trainer::weights::Weights;
use tetrion::viewers::{TerminalProgram, WatchScreen};

use crate::evaluate::tetrion;
use crate::screen::text;
use crate::train::{empty_folder, succeeded};

const SEED: u64 = 5;

/// The options as a person types them.
pub fn parsed<A: Args + FromArgMatches>(flags: &[&str]) -> A {
    let command = A::augment_args(clap::Command::new("tetrion"));
    let args = ["tetrion"].into_iter().chain(flags.iter().copied());
    A::from_arg_matches(&command.get_matches_from(args)).unwrap()
}

fn watch(flags: &[&str]) -> WatchScreen {
    let flags = [flags, &["--seed", "5", "--palette", "ascii"]].concat();
    begin(&parsed::<WatchArgs>(&flags)).unwrap()
}

/// Presses keys; none of them ends the program.
pub fn press(program: &mut impl TerminalProgram, keys: &[KeyCode]) {
    keys.iter().for_each(|key| assert_eq!(program.press(*key), ControlFlow::Continue(())));
}

/// The screen of a program.
pub fn screen(program: &impl TerminalProgram, width: u16, height: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    program.draw(&mut buffer);
    text(&buffer)
}

fn second(watch: &mut WatchScreen) {
    watch.pass(Duration::from_secs(1));
}

/// The game of an evaluation with this seed.
fn evaluated(agent: Agent, rules: Rules, game: u64) -> PlayedGame {
    let evaluation = Evaluation {
        rules,
        policies: vec![agent],
        deal: Deal::Common(vec![word(SEED, Tag::Game, game)]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: u64::MAX,
        loss_trials: 0,
        opponent: None,
        kernel: Kernel::best(),
    };
    evaluation.play(0, &AtomicBool::new(false)).unwrap()
}

#[test]
fn games_are_those_of_evaluations() {
    #[track_caller]
    fn check(name: &str, flags: &[&str], agent: Agent, rules: Rules) {
        let mut watch = watch(&[&[name], flags].concat());
        press(&mut watch, &[KeyCode::Char('n'), KeyCode::Char('e')]);
        for _ in 0..2_000 {
            second(&mut watch);
        }
        let outcome = watch.players()[0].course().outcome();
        let game = evaluated(agent, rules, 1);
        assert!(outcome.end.is_some(), "{name}: the game goes on; this test is too short");
        assert_eq!(
            (outcome.lines, outcome.pieces, outcome.score),
            (game.lines, game.pieces, game.score),
            "{name}"
        );
        assert_eq!(watch.players()[0].course().steps(), watch.step());
    }
    let small = ["--width", "10", "--height", "6"];
    let rules = Rules::simplified(10, 6);
    let linear = |name: &str| Controller::named(name).unwrap().agent(10).unwrap();
    check("bcts", &small, Agent::Linear(linear("bcts")), rules);
    let expectation = Agent::searching(linear("lab-uniform"), Search::Expectation(Expectation::default()));
    check("lab-uniform", &[&small[..], &["--search", "expectation"]].concat(), expectation, rules);
    let path = empty_folder("watched_numbers").with_extension("txt");
    let bcts = Controller::named("bcts").unwrap();
    files::write(&path, format!("{:?}", bcts.weights).as_bytes()).unwrap();
    let numbers = [&[path.to_str().unwrap(), "--features", "bcts8"][..], &small].concat();
    check("--weights", &numbers, Agent::Linear(linear("bcts")), rules);
    // How a controller chooses by itself can be changed, and as many pieces are shown as it looks at.
    let own = Controller::named("tetrion-10x10-expectation").unwrap();
    let weights = || own.agent(10).unwrap();
    check(own.name, &small, Agent::searching(weights(), own.play.search), rules);
    check(own.name, &[&small[..], &["--search", "greedy"]].concat(), Agent::Linear(weights()), rules);
    let shown = Rules { preview: 1, ..rules };
    let ahead = Agent::searching(linear("lab-uniform"), Search::Lookahead { pieces: 1 });
    check("lab-uniform", &[&small[..], &["--search", "lookahead,pieces=1"]].concat(), ahead, shown);
    check("random", &small, Agent::Random, rules);
    let monte_carlo = Agent::MonteCarlo(tetrion::agents::MonteCarlo::new(50));
    let tiny = ["--width", "4", "--height", "5"];
    check("monte_carlo", &tiny, monte_carlo, Rules::simplified(4, 5));
    let lab = Rules { height: 9, ..Rules::preset("lab").unwrap() };
    let flags = ["--rules", "lab", "--height", "9"];
    check("lab-uniform", &flags, Agent::Linear(linear("lab-uniform")), lab);
    assert!(AgentRow::named("random_keys").is_some());
    check("random_keys", &flags, Agent::Keys(tetrion::agents::KeyAgent::Random), lab);
    let choice = RulesChoice::preset("guideline").with("action_model", ActionModel::Keypress);
    let choice = choice
        .and_then(|choice| choice.with("height", 10)?.with("rows_above", 4)?.with("fall_delay", 3))
        .unwrap();
    let modern = ResolvedRules::try_from(&choice).unwrap().rules;
    assert_eq!(modern.timing, Some(Timing { fall_delay: 3, ..Timing::LEVEL_1 }));
    let flags = ["--rules=guideline,action_model=keypress,rows_above=4,fall_delay=3", "--height=10"];
    check("random", &flags, Agent::Random, modern);
    check("random_keys", &flags, Agent::Keys(tetrion::agents::KeyAgent::Random), modern);
}

/// A match that is watched, forth and back and forth again, is that of an evaluation with an opponent.
#[test]
fn a_match_is_that_of_an_evaluation() {
    for (first, second, preset) in [("dt-10", "random", "tetrio"), ("random", "tetrion-guideline", "botris")]
    {
        let rules = format!("{preset},players=2");
        let mut watch = watch(&[first, second, "--rules", &rules]);
        press(&mut watch, &[KeyCode::Char('n'), KeyCode::Right, KeyCode::Right, KeyCode::Right]);
        let shown = screen(&watch, 140, 30);
        assert!(shown.contains(first) && shown.contains(second) && shown.contains("sent"), "{shown}");
        press(&mut watch, &[KeyCode::Home, KeyCode::Tab, KeyCode::Char('e')]);
        (0..2_000).for_each(|_| self::second(&mut watch));
        let rules = Rules { players: 2, ..Rules::preset(preset).unwrap() };
        let agent = |name: &str| match Controller::named(name) {
            Ok(controller) => Agent::Linear(controller.agent(10).unwrap()),
            Err(_) => Agent::Random,
        };
        let evaluation = Evaluation {
            rules,
            policies: vec![agent(first)],
            deal: Deal::Common(vec![word(SEED, Tag::Game, 1)]),
            episodes_per_seed: 1,
            pairs: None,
            max_pieces: u64::MAX,
            max_steps: u64::MAX,
            loss_trials: 0,
            opponent: Some(agent(second)),
            kernel: Kernel::best(),
        };
        let expected = evaluation.play(0, &AtomicBool::new(false)).unwrap();
        let outcome = watch.players()[0].course().outcome();
        assert_eq!(
            (outcome.lines, outcome.pieces, outcome.score, outcome.end),
            (expected.lines, expected.pieces, expected.score, expected.end)
        );
        let recording = watch.recording();
        assert_eq!(recording.player, first);
        assert_eq!(recording.opponent.as_ref().unwrap().player, second);
        assert_eq!(Replay::new(recording).unwrap().difference(), None);
        assert_eq!(watch.report().lines().count(), 3, "{}", watch.report());
    }
}

#[test]
fn a_second_has_as_many_steps_as_were_asked_for() {
    let mut watch = watch(&["dt-10", "--steps-per-second", "8"]);
    second(&mut watch);
    assert_eq!(watch.step(), 8);
    (0..8).for_each(|_| watch.pass(Duration::from_millis(125)));
    assert_eq!(watch.step(), 16);
    press(&mut watch, &[KeyCode::Char(' ')]);
    second(&mut watch);
    assert_eq!(watch.step(), 16, "it is paused");
    press(&mut watch, &[KeyCode::Char(' '), KeyCode::Down]);
    second(&mut watch);
    assert_eq!(watch.step(), 20, "four a second are the next slower speed");
}

#[test]
fn the_same_game_goes_on_after_steps_back() {
    for name in ["dt-10", "random"] {
        let mut watch = watch(&[name, "bcts", "--paused"]);
        let scenes = |watch: &WatchScreen| -> Vec<Scene> {
            watch.players().iter().map(|player| player.course().scene()).collect()
        };
        let mut forth = vec![scenes(&watch)];
        for _ in 0..40 {
            press(&mut watch, &[KeyCode::Right]);
            forth.push(scenes(&watch));
        }
        for expected in forth.iter().rev().skip(1) {
            press(&mut watch, &[KeyCode::Left]);
            assert_eq!(&scenes(&watch), expected, "{name}");
        }
        press(&mut watch, &[KeyCode::Left]);
        assert_eq!(watch.step(), 0);
        press(&mut watch, &[KeyCode::End]);
        assert_eq!(&scenes(&watch), forth.last().unwrap(), "{name}");
        press(&mut watch, &[KeyCode::Home]);
        assert_eq!(scenes(&watch), forth[0]);
        for expected in &forth[1..] {
            press(&mut watch, &[KeyCode::Right]);
            assert_eq!(&scenes(&watch), expected, "{name}");
        }
    }
}

#[test]
fn players_get_the_same_pieces_and_are_compared() {
    let mut watch = watch(&["dt-10", "dt-10", "random", "--paused"]);
    for _ in 0..12 {
        press(&mut watch, &[KeyCode::Right]);
        let pieces: Vec<_> = watch.players().iter().map(|player| player.course().piece()).collect();
        assert!(pieces.windows(2).all(|pair| pair[0] == pair[1]), "{pieces:?}");
    }
    let known: Vec<&[u16]> = watch.players().iter().map(|player| player.known()).collect();
    let first = known[2].iter().zip(known[0]).position(|(one, other)| one != other).unwrap() + 1;
    let drawn = screen(&watch, 120, 40);
    assert_eq!(drawn.matches("differs at").count(), 1, "{drawn}");
    assert!(drawn.contains(&format!("differs at {first}\n")), "{first}: {drawn}");
}

#[test]
fn a_game_that_is_over_stays_as_it_is() {
    let mut watch = watch(&["random", "dummy", "--height", "8"]);
    press(&mut watch, &[KeyCode::Char('e')]);
    (0..50).for_each(|_| second(&mut watch));
    let report = watch.report();
    assert_eq!(report.matches("topped out").count(), 2, "{report}");
    assert!(report.starts_with("simplified on 10 x 8, seed 5, game 0\nrandom: "), "{report}");
    let last = watch.step();
    press(&mut watch, &[KeyCode::Right, KeyCode::Char(' '), KeyCode::PageDown, KeyCode::End]);
    (0..5).for_each(|_| second(&mut watch));
    assert_eq!((watch.step(), watch.report()), (last, report));
    assert!(screen(&watch, 80, 24).contains("topped out"));
    press(&mut watch, &[KeyCode::Char('n')]);
    assert_eq!((watch.step(), watch.report().contains("game 1\n")), (0, true));
    assert_eq!(watch.press(KeyCode::Char('q')), ControlFlow::Break(()));
}

#[test]
fn keys_take_the_lines_that_are_left() {
    let watch = watch(&["dt-10", "--paused"]);
    let expected = "\
step 0, paused, game 0, seed 5
space pause  left/right step  q quit
up/down speed  n next game  e to the end
home/end first/last  pgup/pgdn 100 steps
tab whose reasons
";
    let drawn = screen(&watch, 40, 30);
    assert!(drawn.ends_with(expected), "{drawn}");
    // Where there is one line, it has the most important of those that fit.
    let drawn = screen(&watch, 40, 24);
    assert!(drawn.ends_with("seed 5\nspace pause  left/right step  q quit\n"), "{drawn}");
    let drawn = screen(&watch, 120, 30);
    assert!(drawn.ends_with("pgup/pgdn 100 steps  e to the end\ntab whose reasons\n"), "{drawn}");
}

#[test]
fn every_agent_with_defaults_can_be_watched_under_every_preset() {
    for preset in ["simplified", "lab", "survey", "genetic", "leiden"] {
        for name in ["bcts", "bdu", "flat_stacking", "monte_carlo", "random", "random_survey", "dummy"] {
            let mut watch = watch(&[name, "--rules", preset, "--paused"]);
            (0..3).for_each(|_| press(&mut watch, &[KeyCode::Right]));
            assert!(screen(&watch, 120, 40).contains("paused"));
        }
    }
}

#[test]
fn the_placement_that_is_explained_is_the_one_that_is_made() {
    for flags in [
        &["bcts"][..],
        &["dt-10", "--search", "expectation", "--height", "8"],
        &["lab-uniform", "--rules", "lab"],
        &["--formula", "-holes^2 - landing_height"],
    ] {
        let mut watch = watch(&[flags, &["--paused"]].concat());
        let by_keys = flags.contains(&"lab");
        let (mut explained, mut landed) = (0, 0);
        for _ in 0..60 {
            let player = &watch.players()[0];
            let (reasons, pieces) = (player.reasons_of(0).unwrap(), player.course().outcome().pieces);
            press(&mut watch, &[KeyCode::Right]);
            let after = watch.players()[0].course();
            if after.outcome().pieces == pieces || !after.scene().cleared.is_empty() {
                continue;
            }
            landed += 1;
            explained += usize::from(after.scene().last == reasons.cells[..]);
        }
        // A piece that keys move need not get where it was meant to go, but mostly does.
        assert!(
            landed >= 2 && (explained == landed || by_keys && 2 * explained > landed),
            "{flags:?}: {explained} of {landed}"
        );
    }
}

/// What the program says when it does not begin.
#[track_caller]
pub fn refused(args: &[&str]) -> String {
    let output = tetrion(args).stdin(std::process::Stdio::null()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{stderr}");
    stderr
}

#[test]
fn what_cannot_be_watched_is_refused() {
    #[track_caller]
    fn check(args: &[&str], why: &str) {
        let error = refused(&[&["watch"], args].concat());
        assert!(error.contains(why), "{error}");
    }
    check(&["dt-10"], "error: this needs a terminal, but stdin is not one");
    check(&[], "NAME");
    check(&["--weights", "weights.txt"], "name their features with --features");
    check(&["--weights", "no.txt", "--features", "lab4"], "no.txt: cannot read it");
    check(&["dt-11"], "no policy is called \"dt-11\"");
    check(&["random"; 17], "17 players, expected at most 16");
    check(&["dt-10", "--rules", "tetrio,players=2"], "1 player, expected 2 under rules with players 2");
    check(&["random_keys"], "random_keys presses keys: the rules have placements");
    check(&["bdu", "--width", "12"], "it plays width 10 only");
    check(&["dt-10", "--height", "41"], "invalid value '41' for '--height <N>': expected 4 to 40");
    check(&["dt-10", "--steps-per-second", "0"], "expected 1 to 1000000");
    check(
        &["dt-10", "--search", "lookahead,pieces=3"],
        "dt-10: search.lookahead.pieces: is 3, expected 1 to 2",
    );
    check(
        &["dt-10", "--search", "lookahead,pieces=1", "--preview", "0"],
        "dt-10: search.lookahead.pieces: is 1",
    );
    check(&["dt-10", "--palette", "red"], "color-blind");
}

/// A run of these flags, and its folder.
fn train(test: &str, flags: &[&str]) -> PathBuf {
    let folder = empty_folder(&format!("watched_{test}"));
    let games = if flags.first() == Some(&"td") { "--parallel-games" } else { "--games" };
    let few = [games, "2", "--check-games", "2", "--final-games", "2", "--max-pieces", "300"];
    succeeded(tetrion(&["train"]).args(flags).args(few).arg("--out").arg(&folder).output().unwrap());
    folder
}

/// The agent that the server of an evaluation makes of the weights of a run: without its code for reading folders.
fn agent_of(weights: &Weights, width: u8) -> LinearAgent {
    let set = FeatureSet::custom(&weights.feature_names, width).unwrap();
    let shape = weights.policy.model.clone().map(Arc::new);
    LinearAgent::with_model(set, shape, weights.policy.row.clone(), TerminalValue::Avoid).unwrap()
}

#[test]
fn a_run_plays_what_it_has_found_by_its_own_rules() {
    #[track_caller]
    fn check(test: &str, flags: &[&str], end: &str) {
        let folder = train(test, flags);
        let weights = Weights::read(&folder.join(WEIGHTS)).unwrap();
        let agent = Agent::searching(agent_of(&weights, 8), weights.policy.play.search);
        let mut watch = watch(&[folder.to_str().unwrap(), "--height", "6"]);
        press(&mut watch, &[KeyCode::Char('n'), KeyCode::Char('e')]);
        (0..2_000).for_each(|_| second(&mut watch));
        let rules = Rules {
            preview: weights.rules.changes.count("preview").unwrap() as u8,
            ..Rules::simplified(8, 6)
        };
        let game = evaluated(agent, rules, 1);
        let outcome = watch.players()[0].course().outcome();
        assert_eq!((outcome.lines, outcome.pieces), (game.lines, game.pieces), "{test}");
        assert!(outcome.end.is_some(), "{test}: the game goes on; this test is too short");
        let name = folder.file_name().unwrap().to_str().unwrap();
        let expected = format!("seed 5, game 1\n{name}{end}: {} lines", game.lines);
        assert!(watch.report().contains(&expected), "{}", watch.report());
        // The file by itself is of no stage.
        let file = folder.join(WEIGHTS);
        let mut by_itself = self::watch(&[file.to_str().unwrap(), "--height", "6"]);
        press(&mut by_itself, &[KeyCode::Char('n'), KeyCode::Char('e')]);
        (0..2_000).for_each(|_| second(&mut by_itself));
        let of_file = end.replace(", the result", "");
        let expected = format!("seed 5, game 1\nweights.json{of_file}: {} lines", game.lines);
        assert!(by_itself.report().contains(&expected), "{}", by_itself.report());
    }
    let search = ["--width", "8", "--height", "8", "--generations", "2", "--population", "8", "--seed", "3"];
    check("search", &search, ", the result");
    let weighs = ["--search", "expectation,pieces=2", "--preview", "1"];
    check("expectation", &[&search[..], &weighs].concat(), " + expectation, the result");
    let td = ["td", "--width", "8", "--height", "6", "--generations", "1", "--rounds", "40"];
    check("td", &td, ", the result");
}

/// The weights of a run, written as after this many generations.
fn weights_after(generation: u32, of: &Path) -> Weights {
    Weights { generation: Some(generation), ..Weights::read(&of.join(WEIGHTS)).unwrap() }
}

#[test]
fn a_run_that_goes_on_is_taken_up_by_the_next_game() {
    let flags = ["--width", "8", "--height", "8", "--generations", "3", "--population", "8", "--seed"];
    let [folder, other] =
        ["3", "4"].map(|seed| train(&format!("under_way_{seed}"), &[&flags[..], &[seed]].concat()));
    let put = |generation, of| {
        let text = weights_after(generation, of).to_json();
        files::write(&folder.join(WEIGHTS), text.as_bytes()).unwrap();
    };
    put(1, &folder);
    let mut watch = watch(&[folder.to_str().unwrap(), "dt-10", "--paused"]);
    let first = watch.players()[0].known().to_vec();
    let drawn = screen(&watch, 120, 30);
    assert!(drawn.contains("paused, generation 1 of 3, game 0"), "{drawn}");
    assert_eq!(drawn.matches("generation 1").count(), 2, "beside its playfield too: {drawn}");

    // Nothing changes in the game that is played.
    put(2, &folder);
    second(&mut watch);
    let drawn = screen(&watch, 120, 30);
    assert!(drawn.contains("generation 1 of 3; next: generation 2, game 0"), "{drawn}");
    assert_eq!(watch.players()[0].known(), first);
    assert!(watch.report().contains("_3, generation 1: 0 lines"), "{}", watch.report());

    press(&mut watch, &[KeyCode::Char('n')]);
    let drawn = screen(&watch, 120, 30);
    assert!(drawn.contains("generation 2 of 3, game 1"), "{drawn}");
    // The reasons of another player say nothing of the run.
    press(&mut watch, &[KeyCode::Tab]);
    assert!(screen(&watch, 120, 30).contains("paused, game 1"));
    press(&mut watch, &[KeyCode::Tab]);

    // Files of another run, or none, are not taken up.
    let same = watch.players()[0].name().to_owned();
    std::fs::write(folder.join(WEIGHTS), "{").unwrap();
    second(&mut watch);
    let drawn = screen(&watch, 200, 30);
    assert!(drawn.contains("generation 2 of 3") && drawn.contains("is not a file of weights"), "{drawn}");
    press(&mut watch, &[KeyCode::Char('n'), KeyCode::Right]);
    assert!(watch.report().contains("_3, generation 2: 0 lines, 1 piece"), "{}", watch.report());
    let mut narrow = weights_after(2, &other);
    (narrow.feature_names, narrow.policy.row) = (vec!["holes".to_owned()], vec![-1.0]);
    std::fs::write(folder.join(WEIGHTS), narrow.to_json()).unwrap();
    press(&mut watch, &[KeyCode::Char('n')]);
    assert!(screen(&watch, 200, 30).contains("generation 2 of 3"));
    std::fs::remove_dir_all(&folder).unwrap();
    press(&mut watch, &[KeyCode::Char('n'), KeyCode::Right]);
    assert_eq!(watch.players()[0].name(), same);
    assert!(screen(&watch, 200, 30).contains("holds no run"), "{}", screen(&watch, 200, 30));
}

#[test]
fn folders_that_are_no_runs_are_refused() {
    #[track_caller]
    fn check(path: &Path, flags: &[&str], why: &str) {
        let error = refused(&[&["watch", path.to_str().unwrap()], flags].concat());
        assert!(error.contains(why), "{error}");
    }
    let folder = empty_folder("watched_refused");
    check(&folder, &[], "holds no run: there is no config.toml in it");
    std::fs::create_dir(&folder).unwrap();
    check(&folder, &[], "watched_refused holds no run: there is no config.toml in it");
    std::fs::write(folder.join(CONFIG), "seed = 1\n").unwrap();
    check(&folder, &[], "has no weights yet: its first generation is not complete");
    std::fs::write(folder.join(CONFIG), "seed: 1\n").unwrap();
    check(&folder, &[], "config.toml is not what this program writes");
    let run = train("by_columns", &["--features", "bertsekas", "--generations", "1", "--population", "8"]);
    check(
        &run,
        &["--width", "8"],
        "weights.json: weights.weights: 21 weights were given, expected one for each of 17 features",
    );
    check(&run.join(CONFIG), &[], "config.toml: it is not a file of weights");
    check(&run, &["--session", "sessions/1"], "cannot be used with");
}

/// Where a controller holds the piece in play, what it says is of the piece that it places.
#[test]
fn reasons_are_of_the_piece_that_is_placed() {
    let mut watch =
        watch(&["dellacherie", "--rules", "guideline", "--height", "24", "--steps-per-second", "1"]);
    let (mut held, mut seen) = (0, 0);
    for _ in 0..60 {
        second(&mut watch);
        let drawn = screen(&watch, 120, 34);
        held += usize::from(drawn.contains("with hold, 0 worst to 9 best"));
        seen += usize::from(drawn.contains("every placement, 0 worst to 9 best"));
    }
    assert!(held > 5 && seen > 5, "{held} with hold, {seen} without:\n{}", screen(&watch, 120, 34));
    let outcome = watch.players()[0].course().outcome();
    assert!(outcome.pieces > 50 && outcome.lines > 10, "{outcome:?}");
}
