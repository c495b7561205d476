//! One environment written a second time, for the tests alone: nothing here comes from the library's environments.
//!
//! It plays the straight drops of the literature by placements and the notebook's game by keys. Cells are `bool`s, every
//! piece that was dealt is kept in a list, and an observation is built cell by cell from its definition. Only the
//! words for modes and errors are the library's.

mod seen;

use std::sync::Arc;

use tetrion_core::engine::{ActionModel, Randomizer, Rules, Tetromino, TopOut, parse_sequence};
use tetrion_core::env::{
    ActionError, AutoresetMode, EnvConfig, EnvIdError, Field, InvalidActionPolicy, NotReset, RefusedAction,
    Role, Seeding, StepError, WrongLength,
};

use tetrion_twins::{
    NotebookBoard, NotebookPiece, TETROMINOES, TwinGarbage, TwinLanding, TwinPlayfield, bag7_sequence,
    environment_seed, episode_seed, land, placements, uniform_tetromino, word,
};

/// Where a model's pieces come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Seed { env_seed: u64, episode_seed: u64 },
    Sequence(String),
}

/// Whether it can be stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    NotStarted,
    Running,
    Ended,
}

/// An environment in plain code: lists of pieces, and cells as `bool`s.
#[derive(Clone, Debug)]
pub struct Model {
    rules: Rules,
    source: Source,
    pub stage: Stage,
    /// What the info `end` says.
    end: u8,
    episode_index: u64,
    playfield: TwinPlayfield,
    /// The playfield before it and the landing that led to the playfield.
    last_landing: Option<(TwinPlayfield, TwinLanding)>,
    /// The current piece on its way down, where steps are keys.
    falling: Option<NotebookPiece>,
    garbage: Option<TwinGarbage>,
    /// Names of the features to be shown.
    features: Vec<String>,
    /// The bag that pieces are being taken from.
    open_bag: String,
    /// What was drawn in this episode.
    drawn: String,
    /// Every piece of this episode, the ones on the playfield included: those drawn, but for those that a position gave.
    dealt: String,
    landed: usize,
    lines: u64,
    pieces: u64,
    steps: u64,
    episode_return: f64,
    /// For every step of the episode, whether its action did not exist.
    invalid: Vec<bool>,
}

/// What a step of one environment returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub reward: f32,
    pub terminated: bool,
    pub truncated: bool,
    /// The environment as it ended, where its row shows the next episode already.
    pub last: Option<Box<LastState>>,
}

/// The observations and infos of an environment, as the bytes of each field.
#[derive(Clone, Debug, PartialEq)]
pub struct LastState(pub Vec<Vec<u8>>);

impl Model {
    pub fn new(rules: Rules, source: Source) -> Model {
        Model {
            rules,
            source,
            stage: Stage::NotStarted,
            end: 1,
            episode_index: 0,
            playfield: TwinPlayfield::empty(rules.width.into(), rules.height.into()),
            last_landing: None,
            falling: None,
            garbage: rules.garbage.map(|garbage| {
                TwinGarbage::new(garbage.lines_per_piece, garbage.hole_move_chance, garbage.delay_pieces)
            }),
            features: Vec::new(),
            open_bag: String::new(),
            drawn: String::new(),
            dealt: String::new(),
            landed: 0,
            lines: 0,
            pieces: 0,
            steps: 0,
            episode_return: 0.0,
            invalid: Vec::new(),
        }
    }

    /// The environments of a batch.
    pub fn batch(config: &EnvConfig, seeding: &Seeding) -> Vec<Model> {
        let source = |i: u32| match seeding {
            Seeding::Seed(seed) => seeded(environment_seed(*seed, i.into())),
            Seeding::Seeds(seeds) => seeded(seeds[i as usize]),
            Seeding::PieceSequences(sequences) => {
                Source::Sequence(letters(&sequences[i as usize % sequences.len()].pieces))
            }
        };
        let features = config.features.as_ref().map_or(vec![], |set| set.names());
        let model = |i| Model { features: features.clone(), ..Model::new(config.rules, source(i)) };
        (0..config.num_envs).map(model).collect()
    }

    /// Begins the next episode, or the first one of something new.
    pub fn reset(&mut self, source: Option<Source>) {
        let index = match (&source, self.stage) {
            (Some(_), _) => 0,
            (None, Stage::NotStarted) => 0,
            (None, _) => self.episode_index + 1,
        };
        let mut source = source.unwrap_or_else(|| self.source.clone());
        if let Source::Seed { env_seed, episode_seed: seed } = &mut source {
            *seed = episode_seed(*env_seed, index);
        }
        let features = std::mem::take(&mut self.features);
        *self =
            Model { episode_index: index, stage: Stage::Running, features, ..Model::new(self.rules, source) };
        self.deal();
        self.appear();
    }

    /// Begins the next episode from a position.
    pub fn begin_from(&mut self, playfield: TwinPlayfield, pieces: &str) {
        self.reset(None);
        self.playfield = playfield;
        let rest: String = self.dealt.chars().skip(pieces.len()).collect();
        self.dealt = format!("{pieces}{rest}");
        self.appear();
    }

    /// Whether a game on this playfield is over before the piece moves, where steps are keys.
    pub fn is_over(rules: &Rules, playfield: &TwinPlayfield, piece: char) -> bool {
        let board = NotebookBoard::of(playfield);
        Model::is_topped_out(rules, playfield) || !board.can_place(&board.spawn(piece))
    }

    /// Whether cells lie where the rules end the game.
    fn is_topped_out(rules: &Rules, playfield: &TwinPlayfield) -> bool {
        let row = match rules.top_out {
            TopOut::TopRow => Some(0),
            TopOut::AboveField => Some(2),
            TopOut::Overflow | TopOut::SpawnBlocked | TopOut::LockOut | TopOut::Sink => None,
        };
        row.is_some_and(|row: usize| NotebookBoard::of(playfield).rows[row].contains(&true))
    }

    /// Puts the current piece where pieces appear.
    fn appear(&mut self) {
        if self.rules.action_model == ActionModel::Keypress {
            let board = NotebookBoard::of(&self.playfield);
            self.falling = self.piece(0).map(|piece| board.spawn(piece));
        }
    }

    /// Becomes another environment, as far as a snapshot can hold it.
    pub fn restore(&mut self, other: &Model) {
        *self = Model { features: self.features.clone(), ..other.clone() };
    }

    /// Goes on with another seed.
    pub fn reseed(&mut self, seed: u64) {
        if let Source::Seed { .. } = self.source {
            self.source = seeded(seed);
        }
    }

    /// Deals every visible piece, as far as there are any.
    fn deal(&mut self) {
        while self.dealt.len() < self.landed + 1 + usize::from(self.rules.preview) {
            let n = self.drawn.len();
            if let (Source::Seed { episode_seed, .. }, 0) = (&self.source, n % 7) {
                self.open_bag = bag7_sequence(*episode_seed, n as u64 / 7 + 1)[n..].to_owned();
            }
            let next = match (&self.source, self.rules.randomizer) {
                (Source::Sequence(letters), _) => letters.chars().nth(n),
                (Source::Seed { episode_seed, .. }, Randomizer::Uniform) => {
                    Some(uniform_tetromino(*episode_seed, n as u64))
                }
                (Source::Seed { episode_seed, .. }, Randomizer::Balanced) => {
                    Some(balanced_tetromino(word(*episode_seed, 0, n as u64), &self.drawn))
                }
                (Source::Seed { episode_seed, .. }, Randomizer::Nes) => {
                    Some(nes_tetromino(word(*episode_seed, 0, n as u64), self.drawn.chars().last()))
                }
                (Source::Seed { .. }, Randomizer::Bag7) => self.open_bag.chars().nth(n % 7),
            };
            match next {
                Some(letter) => {
                    self.drawn.push(letter);
                    self.dealt.push(letter);
                }
                None => break,
            }
        }
    }

    fn piece(&self, ahead: usize) -> Option<char> {
        self.dealt.chars().nth(self.landed + ahead)
    }

    fn legal_actions(&self) -> Vec<i32> {
        let Some(piece) = self.piece(0) else { return Vec::new() };
        if self.rules.action_model == ActionModel::Keypress {
            return (0..6).collect();
        }
        let width = self.rules.width.into();
        placements(&self.playfield, piece).iter().map(|placement| placement.action(width) as i32).collect()
    }

    /// What may be sent next: a placement, or anything where the library ignores it.
    pub fn allowed_actions(&self) -> Vec<i32> {
        match self.stage {
            Stage::NotStarted => vec![],
            Stage::Running => self.legal_actions(),
            Stage::Ended => vec![0],
        }
    }

    /// One step that has not been refused.
    fn step(&mut self, config: &EnvConfig, action: i32) -> Row {
        if self.stage == Stage::Ended {
            self.reset(None);
            return Row::default();
        }
        self.steps += 1;
        let exists = self.legal_actions().contains(&action);
        self.invalid.push(!exists);
        let (mut reward, terminated) = match (self.rules.action_model, config.invalid_action_policy) {
            (_, InvalidActionPolicy::Ignore { reward }) if !exists => (reward, false),
            (ActionModel::Placement, _) => self.place(action),
            (ActionModel::Keypress, _) => self.press(action),
        };
        if terminated {
            reward += self.rules.scoring.game_end;
        }
        self.episode_return += reward;
        let out_of_time = config.max_episode_steps > 0 && self.steps == config.max_episode_steps;
        let truncated = !terminated && (self.piece(0).is_none() || out_of_time);
        let mut last = None;
        if terminated || truncated {
            self.stage = Stage::Ended;
            self.end = match (exists, terminated, self.piece(0)) {
                (true, true, _) => 2,
                (false, true, _) => 3,
                (_, false, None) => 6,
                (_, false, Some(_)) => 4,
            };
            if config.autoreset_mode == AutoresetMode::SameStep {
                last = Some(Box::new(self.last_state()));
                self.reset(None);
            }
        }
        Row { reward: reward as f32, terminated, truncated, last }
    }

    /// The points without those for the end, and whether the game is over.
    fn place(&mut self, action: i32) -> (f64, bool) {
        let piece = self.piece(0).expect("a running episode has a piece");
        let width = self.rules.width.into();
        let all = placements(&self.playfield, piece);
        match all.iter().find(|placement| placement.action(width) as i32 == action) {
            Some(placement) => self.land(land(&self.playfield, placement)),
            None => (0.0, true),
        }
    }

    fn press(&mut self, key: i32) -> (f64, bool) {
        let board = NotebookBoard::of(&self.playfield);
        let falling = self.falling.take().expect("a running episode has a piece");
        let (piece, rests) = board.press(key as usize, falling);
        if rests {
            let top_out = match self.rules.top_out {
                TopOut::Overflow => "overflow",
                TopOut::SpawnBlocked => "spawn_blocked",
                TopOut::TopRow => "top_row",
                TopOut::AboveField => "above_field",
                TopOut::LockOut | TopOut::Sink => unreachable!("there are no keys under such rules"),
            };
            return self.land(board.land(&piece, top_out));
        }
        self.falling = Some(piece);
        (0.0, false)
    }

    fn land(&mut self, landing: TwinLanding) -> (f64, bool) {
        let mut reward = self.rules.scoring.piece;
        if landing.lines > 0 {
            // More than four only where a drawn playfield had full rows already.
            reward += self.rules.scoring.lines[landing.lines.min(4) - 1];
        }
        let before = std::mem::replace(&mut self.playfield, landing.afterstate.clone());
        let seed = match self.source {
            Source::Seed { episode_seed, .. } => episode_seed,
            Source::Sequence(_) => 0,
        };
        let mut is_over = landing.terminal;
        if let (Some(garbage), false) = (&mut self.garbage, is_over) {
            is_over = garbage.follow(&mut self.playfield, seed, landing.lines, 0);
            is_over |= Model::is_topped_out(&self.rules, &self.playfield);
        }
        self.lines += landing.lines as u64;
        self.pieces += 1;
        self.landed += 1;
        self.deal();
        self.appear();
        let board = NotebookBoard::of(&self.playfield);
        let is_blocked = self.falling.as_ref().is_some_and(|next| !board.can_place(next));
        let terminated = is_over || is_blocked;
        self.last_landing = Some((before, landing));
        (reward, terminated)
    }

    fn last_state(&self) -> LastState {
        LastState(observations_and_infos().map(|field| self.see(field)).collect())
    }

    fn num_actions(&self) -> u32 {
        match self.rules.action_model {
            ActionModel::Placement => 4 * u32::from(self.rules.width),
            ActionModel::Keypress => 6,
        }
    }
}

/// The tetromino that a word draws after these: weight 5, and one more for each time it came less often than the one that
/// came most often.
fn balanced_tetromino(word: u64, drawn: &str) -> char {
    let count = |letter: char| drawn.chars().filter(|&other| other == letter).count() as u128;
    let most = TETROMINOES.chars().map(count).max().unwrap();
    let weighted: Vec<char> = TETROMINOES
        .chars()
        .flat_map(|letter| std::iter::repeat_n(letter, (5 + most - count(letter)) as usize))
        .collect();
    weighted[((u128::from(word) * weighted.len() as u128) >> 64) as usize]
}

/// The tetromino that a word draws after this one: the first of two dice that shows another tetromino, the first die having a
/// blank side.
fn nes_tetromino(word: u64, last: Option<char>) -> char {
    let draw = ((u128::from(word) * 56) >> 64) as usize;
    let dice = ["IOTZSJL-".chars().nth(draw / 7).unwrap(), "IOTZSJL".chars().nth(draw % 7).unwrap()];
    if dice[0] == '-' || Some(dice[0]) == last { dice[1] } else { dice[0] }
}

/// What the library should answer to a list of environments.
pub fn expected_ids(models: &[Model], env_ids: Option<&[u32]>) -> Result<Vec<usize>, EnvIdError> {
    let num_envs = models.len() as u32;
    let Some(env_ids) = env_ids else { return Ok((0..models.len()).collect()) };
    for (row, &env_id) in env_ids.iter().enumerate() {
        if env_id >= num_envs {
            return Err(EnvIdError::Unknown { row: row as u32, env_id, num_envs });
        }
        if env_ids[..row].contains(&env_id) {
            return Err(EnvIdError::Repeated { row: row as u32, env_id });
        }
    }
    Ok(env_ids.iter().map(|&env_id| env_id as usize).collect())
}

/// Resets models as the library should.
pub fn reset(models: &mut [Model], envs: &[usize], seeding: Option<&Seeding>) {
    for (row, &i) in envs.iter().enumerate() {
        models[i].reset(seeding.map(|seeding| match seeding {
            Seeding::Seed(seed) => seeded(environment_seed(*seed, i as u64)),
            Seeding::Seeds(seeds) => seeded(seeds[row]),
            Seeding::PieceSequences(sequences) => {
                Source::Sequence(letters(&sequences[row % sequences.len()].pieces))
            }
        }));
    }
}

/// Steps models as the library should, or returns the refusal that it should give.
pub fn step(
    models: &mut [Model],
    config: &EnvConfig,
    actions: &[i32],
    env_ids: Option<&[u32]>,
) -> Result<Vec<Row>, StepError> {
    let envs = expected_ids(models, env_ids)?;
    if actions.len() != envs.len() {
        return Err(WrongLength { what: "actions", got: actions.len(), rows: envs.len() }.into());
    }
    let having = |stage: Stage| {
        envs.iter().filter(|&&i| models[i].stage == stage).map(|&i| i as u32).collect::<Vec<_>>()
    };
    if !having(Stage::NotStarted).is_empty() {
        return Err(NotReset { env_ids: having(Stage::NotStarted) }.into());
    }
    if config.autoreset_mode == AutoresetMode::Disabled && !having(Stage::Ended).is_empty() {
        return Err(StepError::Action(ActionError::EpisodeEnded { env_ids: having(Stage::Ended) }));
    }
    let num_actions = models[0].num_actions();
    let (mut out_of_range, mut illegal) = (Vec::new(), Vec::new());
    for (row, (&i, &action)) in envs.iter().zip(actions).enumerate() {
        let refused = RefusedAction { row: row as u32, action };
        if models[i].stage == Stage::Running {
            if !(0..i64::from(num_actions)).contains(&i64::from(action)) {
                out_of_range.push(refused);
            } else if !models[i].legal_actions().contains(&action) {
                illegal.push(refused);
            }
        }
    }
    if !out_of_range.is_empty() {
        return Err(StepError::Action(ActionError::OutOfRange { actions: out_of_range, num_actions }));
    }
    if config.invalid_action_policy == InvalidActionPolicy::Reject && !illegal.is_empty() {
        return Err(StepError::Action(ActionError::Illegal { actions: illegal }));
    }
    Ok(envs.iter().zip(actions).map(|(&i, &action)| models[i].step(config, action)).collect())
}

/// The fields that last states are shown in.
pub fn observations_and_infos() -> impl Iterator<Item = Field> {
    Field::with_role(Role::Observation).chain(Field::with_role(Role::Info))
}

pub fn seeded(env_seed: u64) -> Source {
    Source::Seed { env_seed, episode_seed: env_seed }
}

/// A sequence of the library's from letters.
pub fn sequence(letters: &str) -> Arc<[Tetromino]> {
    parse_sequence(letters).unwrap().into()
}

fn letters(sequence: &[Tetromino]) -> String {
    sequence.iter().map(|piece| piece.letter()).collect()
}
