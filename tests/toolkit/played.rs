//! Random setups of recordings, and random games of them that an environment, a recorder and a plain model of the colours play
//! alike.

use std::sync::Arc;

use tetrion_core::engine::{
    ActionModel, ClearPoints, Garbage, HalfTurns, NamedChoice, PieceSequence, Placement, Playfield,
    Randomizer, Rules, Scoring, SpinRule, Tetromino, Timing, TopOut, parse_sequence,
};
use tetrion_core::env::{
    AutoresetMode, EnvBatch, EnvConfig, EpisodePhase, Field, InvalidActionPolicy, Restored, Seeding,
    StartPosition,
};
use tetrion_testing::Dice;
use tetrion_toolkit::recording::{Cell, Outcome, Pieces, Recorder, Recording, Scene, Setup};
use tetrion_twins::{NotebookBoard, NotebookPiece, TwinPlayfield, random_playfield};

const SIZES: [(u8, u8); 7] = [(10, 20), (5, 6), (4, 4), (16, 28), (17, 5), (6, 29), (32, 40)];

const TOP_OUTS: [TopOut; 4] = [TopOut::Overflow, TopOut::SpawnBlocked, TopOut::TopRow, TopOut::AboveField];

const PRESETS: [&str; 5] = ["simplified", "lab", "survey", "genetic", "leiden"];

pub fn sequence(letters: &str) -> Arc<[Tetromino]> {
    parse_sequence(letters).unwrap().into()
}

/// Rules of modern Tetris with this size and these points, and random choices for the rest.
fn modernised(Rules { width, height, scoring, randomizer, .. }: Rules, dice: &mut Dice) -> Rules {
    let timing = dice.one(&[(60, 30, 15), (1, 1, 0), (3, 4, 2)]);
    let (fall_delay, lock_delay, lock_resets) = timing;
    let is_by_keys = dice.below(3) == 0;
    Rules {
        action_model: if is_by_keys { ActionModel::Keypress } else { ActionModel::Placement },
        timing: is_by_keys.then_some(Timing { fall_delay, lock_delay, lock_resets }),
        width,
        height: height.min(36) + 4,
        rows_above: 4,
        scoring,
        randomizer,
        preview: 1 + dice.below(6) as u8,
        hold: dice.below(3) > 0,
        half_turns: dice.one(&[HalfTurns::None, HalfTurns::Tetrio]),
        spin_rule: dice.one(SpinRule::ALL),
        clear_points: dice.one(&[ClearPoints::Lines, ClearPoints::Guideline, ClearPoints::Attack]),
        ..Rules::preset("guideline").unwrap()
    }
}

pub fn random_setup(dice: &mut Dice) -> Setup {
    let (width, height) = dice.one(&SIZES);
    let scoring =
        dice.one(&[Scoring::LINES, Scoring { piece: 0.1, lines: [1.0, 3.0, 5.5, 8.0], game_end: -2.5 }]);
    let rules = Rules {
        width,
        height,
        scoring,
        randomizer: dice.one(&[Randomizer::Uniform, Randomizer::Bag7, Randomizer::Balanced, Randomizer::Nes]),
        preview: dice.below(7) as u8,
        top_out: dice.one(&TOP_OUTS),
        ..Rules::preset(dice.one(&PRESETS)).unwrap()
    };
    let rules = if dice.below(3) == 0 { modernised(rules, dice) } else { rules };
    let garbage = (dice.below(4) == 0).then(|| Garbage {
        lines_per_piece: dice.one(&[0.2, 1.0, 2.5]),
        hole_move_chance: dice.one(&[0.0, 0.4, 1.0]),
        delay_pieces: dice.below(4) as u8,
        ..Garbage::DEFAULT
    });
    let rules = Rules { garbage, ..rules };
    let Rules { width, height, .. } = rules;
    let pieces = match dice.below(3) {
        0 => Pieces::Sequence(sequence(dice.one(&["T", "IIOLJ", "SZSZSZTOLLJIITOIIIIOOTOTOLJLJ"]))),
        _ => Pieces::Seed(dice.below(1 << 40) as u64),
    };
    let invalid_actions = dice.one(&[
        InvalidActionPolicy::Reject,
        InvalidActionPolicy::Terminate,
        InvalidActionPolicy::Ignore { reward: -0.7 },
    ]);
    let start = (dice.below(3) == 0).then(|| {
        let drawing = random_playfield(width.into(), height.into(), dice.below(1 << 40) as u64).to_string();
        let queue = (0..dice.below(rules.preview as usize + 1)).map(|_| dice.one(&Tetromino::ALL)).collect();
        StartPosition {
            playfield: Playfield::from_drawing(width, height, &drawing).unwrap(),
            piece: dice.one(&Tetromino::ALL),
            queue,
            held: (rules.hold && dice.below(2) == 0).then(|| dice.one(&Tetromino::ALL)),
        }
    });
    let start = start.filter(|start| start.check(&rules).is_ok());
    let has_holes = matches!(pieces, Pieces::Sequence(_)) && rules.garbage.is_some();
    let holes = (0..if has_holes { dice.below(8) } else { 0 }).map(|_| dice.below(width.into()) as u8);
    Setup { rules, invalid_actions, pieces, hole_columns: [holes.collect(), Vec::new()], start }
}

/// The environment in which such a game is played.
fn env(setup: &Setup) -> EnvBatch {
    let config = EnvConfig {
        rules: setup.rules,
        autoreset_mode: AutoresetMode::Disabled,
        invalid_action_policy: setup.invalid_actions,
        ..EnvConfig::default()
    };
    let seeding = match &setup.pieces {
        Pieces::Seed(seed) => Seeding::Seeds(vec![*seed]),
        Pieces::Sequence(pieces) => {
            let [holes, _] = setup.hole_columns.clone();
            Seeding::PieceSequences(vec![Arc::new(PieceSequence { pieces: pieces.clone(), holes })])
        }
    };
    let mut env = EnvBatch::new(config, &seeding).unwrap();
    match &setup.start {
        None => env.reset(None, None).unwrap(),
        Some(start) => env.restore(None, Restored::Positions(std::slice::from_ref(start)), None).unwrap(),
    }
    env
}

/// An action that can be done, most of the time one that exists.
fn random_action(env: &EnvBatch, dice: &mut Dice) -> u16 {
    let mut mask = Vec::new();
    env.observe(Field::ActionMask, None, &mut mask);
    let is_strict = env.config().invalid_action_policy == InvalidActionPolicy::Reject;
    let allowed: Vec<u16> = (0..mask.len() as u16).filter(|&action| mask[usize::from(action)] == 1).collect();
    if is_strict || dice.below(20) > 0 { dice.one(&allowed) } else { dice.below(mask.len()) as u16 }
}

/// Cells as letters, the lowest row first: the tetromino's letter, in lower case for the last landed piece; `#` for cells of
/// the first position, and `.` for empty ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Painting(pub Vec<Vec<char>>);

impl Painting {
    fn begun(setup: &Setup) -> Painting {
        let Rules { width, height, .. } = setup.rules;
        let full =
            |row, column| setup.start.as_ref().is_some_and(|start| start.playfield.is_full(row, column));
        let cell = |row, column| if full(row, column) { '#' } else { '.' };
        Painting((0..height).map(|row| (0..width).map(|column| cell(row, column)).collect()).collect())
    }

    pub fn of(scene: &Scene) -> Painting {
        let letter = |row: usize, column: usize| {
            let is_last = scene.last.contains(&(row as u8, column as u8));
            match scene.cells.get(row as u8, column as u8) {
                Cell::Empty => '.',
                Cell::Given => '#',
                Cell::Of(tetromino) if is_last => tetromino.letter().to_ascii_lowercase(),
                Cell::Of(tetromino) => tetromino.letter(),
            }
        };
        let (width, height) = (usize::from(scene.cells.width()), usize::from(scene.cells.height()));
        Painting((0..height).map(|row| (0..width).map(|column| letter(row, column)).collect()).collect())
    }

    fn is_free(&self, cells: &[(i32, i32)]) -> bool {
        let is_free = |&(row, column): &(i32, i32)| {
            row >= 0 && self.0.get(row as usize).is_none_or(|row| row[column as usize] == '.')
        };
        cells.iter().all(is_free)
    }

    /// Lets the cells of a shape fall from far above.
    fn drop(&self, shape: &[(u8, u8)]) -> Vec<(i32, i32)> {
        let at = |bottom: i32| {
            shape.iter().map(|&(row, column)| (bottom + i32::from(row), column.into())).collect::<Vec<_>>()
        };
        let mut bottom = self.0.len() as i32;
        while self.is_free(&at(bottom - 1)) {
            bottom -= 1;
        }
        at(bottom)
    }

    fn land(&mut self, cells: &[(i32, i32)], tetromino: Tetromino, top_out: TopOut) {
        let (width, height) = (self.0[0].len(), self.0.len());
        self.0.iter_mut().flatten().for_each(|cell| *cell = cell.to_ascii_uppercase());
        for &(row, column) in cells {
            if let Some(row) = self.0.get_mut(row as usize) {
                row[column as usize] = tetromino.letter().to_ascii_lowercase();
            }
        }
        if top_out == TopOut::Overflow && cells.iter().any(|&(row, _)| row >= height as i32) {
            return;
        }
        self.0.retain(|row| row.contains(&'.'));
        self.0.resize(height, vec!['.'; width]);
    }

    /// As many rows rise as these, the highest first.
    fn rise(&mut self, rows: &[String]) {
        let height = self.0.len();
        rows.iter().for_each(|row| self.0.insert(0, row.chars().collect()));
        self.0.truncate(height);
    }

    fn notebook(&self) -> NotebookBoard {
        let rows = self.0.iter().map(|row| row.iter().map(|&cell| cell != '.').collect()).collect();
        NotebookBoard::of(&TwinPlayfield { rows })
    }
}

/// Plays a random game of at most this many steps in an environment and in a recorder, compares the two at every step, and
/// the colours with a painting.
pub fn play(setup: &Setup, dice: &mut Dice, max_steps: usize) -> (Recording, Vec<Scene>) {
    let mut env = env(setup);
    let mut recorder = Recorder::new(setup.clone()).unwrap();
    let mut painting = Painting::begun(setup);
    let mut scenes = vec![recorder.course().scene()];
    let rules = &setup.rules;
    let mut falling: Option<NotebookPiece> = None;
    while !env.has_ended(0) && recorder.actions().len() < max_steps {
        let (action, piece) = (random_action(&env, dice), env.pieces(0)[0]);
        let pieces = env.statistics(0).pieces;
        // What is in play is what the environment shows.
        let scene = recorder.course().scene();
        assert_eq!((scene.current.unwrap().piece, &scene.next[..]), (piece, &env.pieces(0)[1..]));
        if let Some(falling) = env.falling(0) {
            assert_eq!(scene.current.unwrap().cells, falling.cells());
        }
        let ghost = recorder.course().led_to(action);
        let hand = env.hand(0).unwrap();
        assert_eq!(recorder.course().hand(), Some(hand));
        assert_eq!(scene.held, env.held(0));
        let mut placed = piece;
        let outcome = env.step(&[action.into()], None).unwrap();
        let has_landed = env.statistics(0).pieces > pieces;
        let landed = recorder.play(action).unwrap();
        assert_eq!(landed.is_some(), has_landed);
        let cells: Option<Vec<(i32, i32)>> = match rules.action_model {
            ActionModel::Placement => has_landed.then(|| {
                let Placement { orientation, column, spot, hold } =
                    Placement::from_action(action.into(), rules);
                placed = if hold { hand.other.unwrap() } else { piece };
                let shape = &rules.shapes(placed)[usize::from(orientation)];
                match spot {
                    None => painting.drop(&shape.cells_at(0, column)),
                    Some(spot) => {
                        let cells = shape.cells_at(spot.row, column);
                        cells.iter().map(|&(row, column)| (row.into(), column.into())).collect()
                    }
                }
            }),
            // The second game of these keys is in env/modern_keys.rs.
            ActionModel::Keypress if rules.steers() => has_landed.then(|| {
                let cells = env.last_landing(0).unwrap().cells;
                cells.iter().map(|&(row, column)| (row.into(), column.into())).collect()
            }),
            ActionModel::Keypress => {
                let board = painting.notebook();
                let (moved, rests) =
                    board.press(action.into(), falling.take().unwrap_or_else(|| board.spawn(piece.letter())));
                let from_below = |(x, y): (i32, i32)| (i32::from(rules.height) - 1 - y, x);
                let cells = moved.cells().map(from_below).to_vec();
                falling = (!rests).then_some(moved);
                rests.then_some(cells)
            }
        };
        if let Some(cells) = cells {
            if rules.action_model == ActionModel::Placement {
                let mut expected: Vec<(u8, u8)> =
                    cells.iter().map(|&(row, column)| (row as u8, column as u8)).collect();
                expected.sort();
                assert_eq!(ghost.unwrap().to_vec(), expected, "{setup:?}");
            }
            painting.land(&cells, placed, rules.top_out);
            // What rises is in env/garbage.rs; here is what becomes of the colours.
            let drawing = env.playfield(0).to_string();
            let lowest: Vec<String> = drawing.lines().map(str::to_owned).collect();
            painting.rise(&lowest[lowest.len() - usize::from(env.incoming(0).just_risen)..]);
        }
        let (course, statistics) = (recorder.course(), env.statistics(0));
        assert_eq!(course.playfield(), &env.playfield(0), "{setup:?}");
        assert_eq!(*course.incoming(), env.incoming(0), "{setup:?}");
        assert!(course.scene().garbage.into_iter().eq(env.incoming(0).seen(rules)));
        let Outcome { pieces, lines, score, end, .. } = course.outcome();
        assert_eq!((pieces, lines, course.steps()), (statistics.pieces, statistics.lines, statistics.steps));
        assert_eq!(score.to_bits(), statistics.episode_return.to_bits());
        match end {
            None => assert!(!env.has_ended(0)),
            Some(end) => {
                assert_eq!(env.phase(0), EpisodePhase::Ended(end));
                assert_eq!(
                    (outcome.terminated[0], outcome.truncated[0]),
                    (end.is_terminated(), !end.is_terminated())
                );
            }
        }
        assert_eq!(course.piece().is_some(), end.is_none());
        scenes.push(course.scene());
        assert_eq!(Painting::of(&course.scene()), painting, "{setup:?}");
    }
    (recorder.recording("dice", "a test"), scenes)
}
