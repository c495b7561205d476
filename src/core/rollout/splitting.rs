//! How long games last, estimated without playing them to their end: multilevel splitting.
//!
//! A good controller loses once in millions of pieces, and a mean over whole games needs hundreds of losses. But a loss comes
//! step by step: the stack of a lost game has been one row lower before, and each of these steps is likely enough to be
//! counted. So an estimate
//!
//! 1. watches a stretch of a game to learn which heights are usual: the stack is *low* up to their median, and the first
//!    *level* is the lowest height that at most one piece in twenty leaves behind, two rows above low or more;
//! 2. plays on until the stack has come from low to the first level and back as many times as there are to be trials. That
//!    many times over the pieces played is the rate at which the first level is reached;
//! 3. begins trials where it was reached, with new pieces: each goes on until the stack is one row higher, or low again, or
//!    the game is lost. The share that climbed is the chance of this row. Trials at the next level begin where these
//!    have ended; the last level is the height of the playfield, and what comes after it is the loss.
//!
//! The rate times all chances is an estimate of losses a piece, with next to no bias: of the order of 1 / trials, because the
//! first rate ends with a time that the level was reached (Kahn and Harris 1951; Glasserman, Heidelberger, Shahabuddin and Zajic,
//! *Multilevel splitting for estimating rare event probabilities*, 1999). Its inverse is the mean number of pieces a game. The
//! inverse of a single estimate is too large on average, so means of many are those of their rates: see
//! [`Statistics::per_loss`](crate::summary::Statistics::per_loss).
//!
//! What is not known counts as lost: without a success among the trials of a level, one is counted, and the levels above it
//! are as good as lost. Such an estimate is a lower bound, and so is one that was cut by a limit of pieces or steps.
//!
//! The rules must show no pieces: a trial deals new ones, and the agent would have planned for others.
//!
//! Pieces and random numbers of the n-th trial, or new game, come from `word(seed, Trial, n)`. Everything else is as in a
//! game, so an estimate depends on rules, agent, seed and number of trials alone.

use super::episode::{Bounds, Episode};
use crate::agents::{Agent, AgentRng, Kernel};
use crate::engine::Rules;
use crate::engine::rng::{Tag, word};

/// Looks at the stack that learn which heights are usual, and the pieces between two of them.
const LOOKS: u32 = 512;
const PIECES_A_LOOK: u64 = 4;

/// The share of these looks that may see the first level.
const FIRST_LEVEL: f64 = 0.05;

/// What is estimated, and how.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The player.
    pub agent: &'a Agent,
    /// How its sums are done.
    pub kernel: Kernel,
    /// Trials at each level.
    pub trials: u32,
    /// The estimate is cut after this many pieces.
    pub max_pieces: u64,
    /// The estimate is cut after this many steps.
    pub max_steps: u64,
}

/// An estimate under way.
pub struct Splitting {
    seed: u64,
    /// How many seeds have been drawn for trials and new games.
    num_seeds: u64,
    /// Where pieces land now.
    episode: Episode,
    /// What had been played of this episode when it was taken up, and of all others before.
    taken_up: Counts,
    before: Counts,
    /// The highest stack that is low, and the first level.
    low: u32,
    first: u32,
    stage: Stage,
    /// What had been played when the stretch began in which the first level is reached, and what was played in it.
    start: Counts,
    stretch: Counts,
    /// Games lost before that stretch.
    early_losses: u64,
    /// Where the level was reached at which trials begin; `None` for a loss, which has passed all levels.
    reached: Vec<Option<Episode>>,
    /// Losses a piece, as if the levels that are not known yet were passed by all.
    rate: f64,
    lasts_longer: bool,
}

/// What goes on.
enum Stage {
    /// Learning the usual heights: how many looks saw each, and the number of pieces when the next look is due.
    Looking { seen: Vec<u32>, due: u64 },
    /// Waiting until the stack is low for the first time.
    Settling,
    /// Waiting until it has reached the first level.
    Rising,
    /// Waiting until it is low again.
    Falling,
    /// Trials that begin at a level.
    Trying(Trials),
    /// Nothing any more.
    Over,
}

/// Trials that begin at a level.
struct Trials {
    level: u32,
    done: u32,
    /// Whether the next one has begun.
    is_begun: bool,
    /// Where those that climbed have ended; `None` for a loss.
    climbed: Vec<Option<Episode>>,
}

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Pieces landed.
    pub pieces: u64,
    /// Steps taken.
    pub steps: u64,
    /// Lines cleared.
    pub lines: u64,
    /// Points.
    pub score: f64,
}

/// How often games are lost, and what a piece brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Losses per piece.
    pub loss_rate: f64,
    /// Lines per piece.
    pub lines_per_piece: f64,
    /// Steps per piece.
    pub steps_per_piece: f64,
    /// Points per piece.
    pub score_per_piece: f64,
    /// Whether games last longer than the rate says.
    pub lasts_longer: bool,
}

/// How a stretch of play has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The stack is low enough.
    Low,
    /// The stack is high enough.
    High,
    /// The game is lost.
    Lost,
    /// As many pieces have landed as it was to have.
    Through,
    /// All pieces or steps of the estimate have been used.
    Cut,
}

impl Splitting {
    /// An estimate for games like this one, which is at its beginning.
    pub fn new(rules: &Rules, seed: u64, episode: Episode) -> Splitting {
        let seen = vec![0; usize::from(rules.height) + 1];
        Splitting {
            seed,
            num_seeds: 0,
            episode,
            taken_up: Counts::default(),
            before: Counts::default(),
            low: 0,
            first: 0,
            stage: Stage::Looking { seen, due: PIECES_A_LOOK },
            start: Counts::default(),
            stretch: Counts::default(),
            early_losses: 0,
            reached: Vec::new(),
            rate: 1.0,
            lasts_longer: false,
        }
    }

    /// What was played so far.
    pub fn played(&self) -> Counts {
        self.before.and(Counts::of(&self.episode).since(self.taken_up))
    }

    /// What came of it.
    pub fn estimate(&self) -> Estimate {
        let Counts { pieces, steps, lines, score } = self.stretch;
        let pieces = pieces.max(1) as f64;
        Estimate {
            loss_rate: self.rate,
            lines_per_piece: lines as f64 / pieces,
            steps_per_piece: steps as f64 / pieces,
            score_per_piece: score / pieces,
            lasts_longer: self.lasts_longer,
        }
    }

    /// Plays on for about this much work, in pieces of a linear controller; true when there is nothing left to do.
    pub fn advance(&mut self, task: &Task<'_>, work: u64) -> bool {
        let a_piece = work_of_a_piece(task.agent, task.rules);
        let end = self.played().pieces + (work / a_piece).max(1);
        // A trial that succeeds where it begins takes no piece, so these are counted too.
        for _ in 0..work {
            let is_over = matches!(self.stage, Stage::Over);
            if is_over || self.played().pieces >= end || !self.go_on(task, work) {
                break;
            }
        }
        matches!(self.stage, Stage::Over)
    }

    /// Plays until something happens; false when the work is used up before.
    fn go_on(&mut self, task: &Task<'_>, work: u64) -> bool {
        let Task { rules, trials, .. } = *task;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Over => return false,
            Stage::Looking { mut seen, mut due } => {
                let left = due - self.played().pieces;
                let ended = self.play(task, work, (0, u32::MAX), left);
                match ended {
                    Some(Ended::Lost) => {
                        self.early_losses += 1;
                        self.begin_game(rules);
                    }
                    Some(Ended::Cut) => {
                        self.cut();
                        return true;
                    }
                    Some(_) => {
                        let top = seen.len() - 1;
                        seen[(self.episode.stack() as usize).min(top)] += 1;
                        due += PIECES_A_LOOK;
                    }
                    None => {}
                }
                let looks: u32 = seen.iter().sum();
                self.stage = if looks < LOOKS {
                    Stage::Looking { seen, due }
                } else {
                    (self.low, self.first) = levels(&seen);
                    Stage::Settling
                };
                return ended.is_some();
            }
            Stage::Settling => match self.play(task, work, (self.low + 1, u32::MAX), u64::MAX) {
                Some(Ended::Cut) => self.cut(),
                None => return self.wait(Stage::Settling),
                ended => {
                    if ended == Some(Ended::Lost) {
                        self.begin_game(rules);
                    }
                    self.stage = Stage::Rising;
                    self.start = self.played();
                    self.early_losses = 0;
                }
            },
            Stage::Rising => match self.play(task, work, (0, self.first - 1), u64::MAX) {
                Some(Ended::Cut) => self.cut(),
                None => return self.wait(Stage::Rising),
                ended => {
                    let position = (ended != Some(Ended::Lost)).then(|| self.episode.clone());
                    self.reached.push(position);
                    self.stage = Stage::Falling;
                }
            },
            Stage::Falling => match self.play(task, work, (self.low + 1, u32::MAX), u64::MAX) {
                Some(Ended::Cut) => self.cut(),
                None => return self.wait(Stage::Falling),
                ended => {
                    if ended == Some(Ended::Lost) {
                        self.begin_game(rules);
                    }
                    self.stage = Stage::Rising;
                    if self.reached.len() == trials as usize {
                        self.end_stretch();
                        self.begin_trials(self.first, rules);
                    }
                }
            },
            Stage::Trying(trials) => return self.go_on_trying(task, work, trials),
        }
        true
    }

    /// The same for trials.
    fn go_on_trying(&mut self, task: &Task<'_>, work: u64, mut trials: Trials) -> bool {
        let all = task.trials;
        if !trials.is_begun {
            // Each of the positions has its turn, and those that several trials begin at are spread evenly.
            let at = u64::from(trials.done) * self.reached.len() as u64 / u64::from(all);
            let seed = self.draw_seed();
            let Some(position) = &self.reached[at as usize] else {
                trials.climbed.push(None);
                self.next_trial(task, trials);
                return true;
            };
            self.take_up(position.reseeded(seed));
            trials.is_begun = true;
        }
        let highest = if trials.level < task.rules.height.into() { trials.level } else { u32::MAX };
        match self.play(task, work, (self.low + 1, highest), u64::MAX) {
            None => return self.wait(Stage::Trying(trials)),
            Some(Ended::Cut) => {
                // Those that were not tried count as successes, and all that comes after them too.
                let successes = trials.climbed.len() as u32 + (all - trials.done);
                self.rate *= f64::from(successes) / f64::from(all);
                self.cut();
                return true;
            }
            Some(Ended::Lost) => trials.climbed.push(None),
            Some(Ended::High) => trials.climbed.push(Some(self.episode.clone())),
            Some(Ended::Low | Ended::Through) => {}
        }
        self.next_trial(task, trials);
        true
    }

    /// Goes on with a stage in the next slice.
    fn wait(&mut self, stage: Stage) -> bool {
        self.stage = stage;
        false
    }

    /// Goes on after a trial that has ended.
    fn next_trial(&mut self, task: &Task<'_>, trials: Trials) {
        let done = trials.done + 1;
        if done < task.trials {
            self.stage = Stage::Trying(Trials { done, is_begun: false, ..trials });
            return;
        }
        let successes = trials.climbed.len().max(1);
        self.rate *= successes as f64 / f64::from(task.trials);
        self.lasts_longer = trials.climbed.is_empty();
        self.reached = trials.climbed;
        self.begin_trials(trials.level + 1, task.rules);
    }

    /// Begins the trials at a level, unless there is nothing to begin them at or nothing above it.
    fn begin_trials(&mut self, level: u32, rules: &Rules) {
        let is_over = self.reached.iter().all(Option::is_none) || level > rules.height.into();
        self.stage = match is_over {
            true => Stage::Over,
            false => Stage::Trying(Trials { level, done: 0, is_begun: false, climbed: Vec::new() }),
        };
    }

    /// Ends it before its time.
    fn cut(&mut self) {
        if self.stretch == Counts::default() {
            self.end_stretch();
        }
        self.lasts_longer = true;
        self.stage = Stage::Over;
    }

    /// Ends the stretch in which the first level is reached: the rate at which it was. Not at all counts as once. Before it has
    /// begun, a loss counts like a time that the level is reached.
    fn end_stretch(&mut self) {
        self.stretch = self.played().since(self.start);
        let reached = self.reached.len() as u64 + self.early_losses;
        self.rate = reached.max(1) as f64 / self.stretch.pieces.max(1) as f64;
    }

    /// Plays on while the stack is within bounds, for at most so many pieces and about this much work; `None` if it may go on.
    fn play(
        &mut self,
        task: &Task<'_>,
        work: u64,
        (lowest_stack, highest_stack): (u32, u32),
        pieces: u64,
    ) -> Option<Ended> {
        let Task { rules, agent, kernel, max_pieces, max_steps, .. } = *task;
        let (played, now) = (self.played(), Counts::of(&self.episode));
        let pieces_left = max_pieces.saturating_sub(played.pieces);
        let bounds = Bounds {
            pieces: now.pieces + pieces.min(pieces_left),
            steps: now.steps.saturating_add(max_steps.saturating_sub(played.steps)),
            lowest_stack,
            highest_stack,
        };
        if !self.episode.is_over(bounds) {
            self.episode.advance(rules, agent, kernel, bounds, work);
        }
        let stack = self.episode.stack();
        if self.episode.game.end.is_some() {
            Some(Ended::Lost)
        } else if !self.episode.is_over(bounds) {
            None
        } else if stack < lowest_stack {
            Some(Ended::Low)
        } else if stack > highest_stack {
            Some(Ended::High)
        } else if pieces < pieces_left && self.episode.game.pieces >= bounds.pieces {
            Some(Ended::Through)
        } else {
            Some(Ended::Cut)
        }
    }

    fn begin_game(&mut self, rules: &Rules) {
        let seed = self.draw_seed();
        self.take_up(Episode::new(rules, rules.dealer(seed), AgentRng::new(seed)));
    }

    fn take_up(&mut self, episode: Episode) {
        self.before = self.played();
        self.taken_up = Counts::of(&episode);
        self.episode = episode;
    }

    fn draw_seed(&mut self) -> u64 {
        self.num_seeds += 1;
        word(self.seed, Tag::Trial, self.num_seeds - 1)
    }
}

/// The highest stack that is low, and the first level, by how many looks saw each height.
fn levels(seen: &[u32]) -> (u32, u32) {
    let looks: u32 = seen.iter().sum();
    let mut below = 0;
    let low = seen.iter().position(|&count| {
        below += count;
        2 * below >= looks
    });
    let low = low.expect("half of the looks") as u32;
    let mut above = looks;
    let rare = seen.iter().position(|&count| {
        let is_rare = f64::from(above) <= FIRST_LEVEL * f64::from(looks);
        above -= count;
        is_rare
    });
    let first = rare.unwrap_or(seen.len()) as u32;
    (low, first.max(low + 2))
}

/// About how long an agent takes for a piece, in pieces of a linear controller.
fn work_of_a_piece(agent: &Agent, rules: &Rules) -> u64 {
    let placements = match agent {
        Agent::Linear(_) => 1,
        Agent::Expectation(agent) => agent.placements_looked_at(rules),
        // They weigh placements one by one: about as many as there are in all orientations.
        _ => 3 * u64::from(rules.width),
    };
    agent.cost(rules).saturating_mul(placements).max(1)
}

impl Counts {
    fn of(episode: &Episode) -> Counts {
        let Episode { game, steps, .. } = episode;
        Counts { pieces: game.pieces, steps: *steps, lines: game.lines, score: game.score }
    }

    fn and(self, other: Counts) -> Counts {
        Counts {
            pieces: self.pieces + other.pieces,
            steps: self.steps + other.steps,
            lines: self.lines + other.lines,
            score: self.score + other.score,
        }
    }

    /// What came after some of it.
    fn since(self, other: Counts) -> Counts {
        Counts {
            pieces: self.pieces - other.pieces,
            steps: self.steps - other.steps,
            lines: self.lines - other.lines,
            score: self.score - other.score,
        }
    }
}
