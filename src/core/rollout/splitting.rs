//! Estimates how long games last without playing them to their end, by multilevel splitting.
//!
//! A good controller loses once in millions of pieces, and a mean over whole games needs hundreds of losses. But a
//! stack rises row by row: the stack of a lost game was one row lower before, and each of these steps is likely enough
//! to be counted. An estimate has three parts:
//!
//! 1. It watches the start of a game to learn the usual heights. The stack is *low* up to their median. The first
//!    *level* is the lowest height that the stack has or exceeds after at most one piece in twenty, and at least two
//!    rows above low.
//! 2. It continues until the stack has risen from low to the first level and come back once per trial. That number,
//!    divided by the pieces played, is the rate at which the stack reaches the first level.
//! 3. It starts trials from the positions at the first level, with new pieces. Each trial ends when the stack is one
//!    row higher or low again, or when the game is lost. The share of trials that climbed is the probability of this
//!    row. Trials at the next level start where the successful ones ended. The last level is the height of the
//!    playfield; above it is the loss.
//!
//! The rate times all probabilities estimates the losses per piece. The bias is small, of the order of 1 / trials,
//! because the measurement of the first rate ends at a visit to the level (Kahn and Harris 1951; Glasserman,
//! Heidelberger, Shahabuddin and Zajic, *Multilevel splitting for estimating rare event probabilities*, 1999). The
//! inverse of the rate is the mean number of pieces per game. The inverse of a single estimate is too large on average,
//! so average the rates, not their inverses: see [`Statistics::per_loss`](crate::summary::Statistics::per_loss).
//!
//! The estimate is pessimistic about unknowns. If no trial of a level succeeds, the estimate counts one success and
//! treats all higher levels as lost. The game length from such an estimate is a lower bound. So is the length
//! from an estimate that was cut by a limit of pieces or steps.
//!
//! The rules must have no preview: a trial deals new pieces, and the agent would have planned for others.
//!
//! The pieces and random numbers of the n-th trial or new game come from `word(seed, Trial, n)`. Everything else is as
//! in a game, so an estimate depends only on the rules, the agent, the seed and the number of trials.

use super::episode::{Bounds, Episode};
use crate::agents::{Agent, AgentRng, Kernel};
use crate::engine::Rules;
use crate::engine::rng::{Tag, word};

/// The number of looks at the stack that learn the usual heights, and the pieces between two looks.
const LOOKS: u32 = 512;
const PIECES_A_LOOK: u64 = 4;

/// The largest share of looks in which the stack is at the first level or higher.
const FIRST_LEVEL: f64 = 0.05;

/// The parameters of an estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct EstimateTask<'a> {
    pub rules: &'a Rules,
    pub agent: &'a Agent,
    /// The kernel for the agent's sums.
    pub kernel: Kernel,
    /// Trials per level.
    pub trials: u32,
    /// Pieces after which the estimate is cut.
    pub max_pieces: u64,
    /// Steps after which the estimate is cut.
    pub max_steps: u64,
}

/// The state of an estimate between two slices of work.
pub(super) struct Splitting {
    seed: u64,
    /// Number of seeds drawn for trials and new games.
    num_seeds: u64,
    /// The trial or game that is played now.
    episode: Episode,
    /// Counts of this episode when the estimate took it up, and of all earlier play.
    taken_up: Counts,
    before: Counts,
    /// The largest height that is low, and the first level.
    low: u32,
    first: u32,
    stage: EstimateStage,
    /// Counts at the start of the measurement of the first rate, and counts of the measurement itself.
    start: Counts,
    stretch: Counts,
    /// Games lost before that measurement.
    early_losses: u64,
    /// The positions at the level where trials start; `None` for a loss, which has passed all levels.
    reached: Vec<Option<Episode>>,
    /// Losses per piece. Assumes success at all levels that are not measured yet.
    rate: f64,
    lasts_longer: bool,
}

/// The next work of an estimate.
enum EstimateStage {
    /// Learning the usual heights: the number of looks that saw each height, and the number of pieces at the next look.
    Looking { seen: Vec<u32>, due: u64 },
    /// Waiting until the stack is low for the first time.
    Settling,
    /// Waiting until the stack reaches the first level.
    Rising,
    /// Waiting until the stack is low again.
    Falling,
    /// Running trials from a level.
    Trying(Trials),
    /// Finished, or cut by a limit.
    Over,
}

/// Trials that start from one level.
struct Trials {
    level: u32,
    done: u32,
    /// Whether the next trial has started.
    is_begun: bool,
    /// The positions at the end of successful trials; `None` for a loss.
    climbed: Vec<Option<Episode>>,
}

/// Sums over a stretch of play.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub pieces: u64,
    pub steps: u64,
    pub lines: u64,
    pub score: f64,
}

/// The rate of losses, and the gains per piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Losses per piece.
    pub loss_rate: f64,
    pub lines_per_piece: f64,
    pub steps_per_piece: f64,
    pub score_per_piece: f64,
    /// Whether games last longer than the rate says.
    pub lasts_longer: bool,
}

/// The way in which a stretch of play ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The stack is low enough.
    Low,
    /// The stack is high enough.
    High,
    Lost,
    /// The requested number of pieces has landed.
    Through,
    /// The estimate has used all of its pieces or steps.
    Cut,
}

impl Splitting {
    /// An estimate for games that start like `episode`, which must be new.
    pub(super) fn new(rules: &Rules, seed: u64, episode: Episode) -> Splitting {
        let seen = vec![0; usize::from(rules.height) + 1];
        Splitting {
            seed,
            num_seeds: 0,
            episode,
            taken_up: Counts::default(),
            before: Counts::default(),
            low: 0,
            first: 0,
            stage: EstimateStage::Looking { seen, due: PIECES_A_LOOK },
            start: Counts::default(),
            stretch: Counts::default(),
            early_losses: 0,
            reached: Vec::new(),
            rate: 1.0,
            lasts_longer: false,
        }
    }

    /// Counts of all play so far.
    pub(super) fn played(&self) -> Counts {
        self.before.and(Counts::of(&self.episode).since(self.taken_up))
    }

    /// The estimate as it stands. Levels that are not measured yet count as passed.
    pub(super) fn estimate(&self) -> Estimate {
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

    /// Continues for about this much work, in pieces of a linear controller. Returns true when the estimate is
    /// finished.
    pub(super) fn advance(&mut self, task: &EstimateTask<'_>, work: u64) -> bool {
        let a_piece = work_of_a_piece(task.agent, task.rules);
        let end = self.played().pieces + (work / a_piece).max(1);
        // The loop also bounds the number of trials, because a trial that succeeds where it starts takes no piece.
        for _ in 0..work {
            let is_over = matches!(self.stage, EstimateStage::Over);
            if is_over || self.played().pieces >= end || !self.go_on(task, work) {
                break;
            }
        }
        matches!(self.stage, EstimateStage::Over)
    }

    /// Plays until the stage changes or a look or trial ends. Returns false if the work is used up before that.
    fn go_on(&mut self, task: &EstimateTask<'_>, work: u64) -> bool {
        let EstimateTask { rules, trials, .. } = *task;
        match std::mem::replace(&mut self.stage, EstimateStage::Over) {
            EstimateStage::Over => return false,
            EstimateStage::Looking { mut seen, mut due } => {
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
                    EstimateStage::Looking { seen, due }
                } else {
                    (self.low, self.first) = levels(&seen);
                    EstimateStage::Settling
                };
                return ended.is_some();
            }
            EstimateStage::Settling => match self.play(task, work, (self.low + 1, u32::MAX), u64::MAX) {
                Some(Ended::Cut) => self.cut(),
                None => return self.wait(EstimateStage::Settling),
                ended => {
                    if ended == Some(Ended::Lost) {
                        self.begin_game(rules);
                    }
                    self.stage = EstimateStage::Rising;
                    self.start = self.played();
                    self.early_losses = 0;
                }
            },
            EstimateStage::Rising => match self.play(task, work, (0, self.first - 1), u64::MAX) {
                Some(Ended::Cut) => self.cut(),
                None => return self.wait(EstimateStage::Rising),
                ended => {
                    let position = (ended != Some(Ended::Lost)).then(|| self.episode.clone());
                    self.reached.push(position);
                    self.stage = EstimateStage::Falling;
                }
            },
            EstimateStage::Falling => match self.play(task, work, (self.low + 1, u32::MAX), u64::MAX) {
                Some(Ended::Cut) => self.cut(),
                None => return self.wait(EstimateStage::Falling),
                ended => {
                    if ended == Some(Ended::Lost) {
                        self.begin_game(rules);
                    }
                    self.stage = EstimateStage::Rising;
                    if self.reached.len() == trials as usize {
                        self.end_stretch();
                        self.begin_trials(self.first, rules);
                    }
                }
            },
            EstimateStage::Trying(trials) => return self.go_on_trying(task, work, trials),
        }
        true
    }

    /// Plays until a trial ends. Returns false if the work is used up before that.
    fn go_on_trying(&mut self, task: &EstimateTask<'_>, work: u64, mut trials: Trials) -> bool {
        let all = task.trials;
        if !trials.is_begun {
            // Spreads the trials evenly over the positions.
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
            None => return self.wait(EstimateStage::Trying(trials)),
            Some(Ended::Cut) => {
                // Trials that did not run count as successes, and so do all higher levels.
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

    /// Keeps a stage for the next slice.
    fn wait(&mut self, stage: EstimateStage) -> bool {
        self.stage = stage;
        false
    }

    /// Continues after the end of a trial.
    fn next_trial(&mut self, task: &EstimateTask<'_>, trials: Trials) {
        let done = trials.done + 1;
        if done < task.trials {
            self.stage = EstimateStage::Trying(Trials { done, is_begun: false, ..trials });
            return;
        }
        let successes = trials.climbed.len().max(1);
        self.rate *= successes as f64 / f64::from(task.trials);
        self.lasts_longer = trials.climbed.is_empty();
        self.reached = trials.climbed;
        self.begin_trials(trials.level + 1, task.rules);
    }

    /// Starts the trials at a level. Ends the estimate if there are no positions to start from or no higher level.
    fn begin_trials(&mut self, level: u32, rules: &Rules) {
        let is_over = self.reached.iter().all(Option::is_none) || level > rules.height.into();
        self.stage = match is_over {
            true => EstimateStage::Over,
            false => EstimateStage::Trying(Trials { level, done: 0, is_begun: false, climbed: Vec::new() }),
        };
    }

    /// Ends the estimate early, as a lower bound on the length of games.
    fn cut(&mut self) {
        if self.stretch == Counts::default() {
            self.end_stretch();
        }
        self.lasts_longer = true;
        self.stage = EstimateStage::Over;
    }

    /// Ends the measurement of the rate at which the stack reaches the first level. At least one visit is counted.
    /// Before the measurement starts, each loss counts as a visit.
    fn end_stretch(&mut self) {
        self.stretch = self.played().since(self.start);
        let reached = self.reached.len() as u64 + self.early_losses;
        self.rate = reached.max(1) as f64 / self.stretch.pieces.max(1) as f64;
    }

    /// Plays while the stack is within bounds, for at most `pieces` pieces and about this much work. Returns `None` if
    /// play may continue.
    fn play(
        &mut self,
        task: &EstimateTask<'_>,
        work: u64,
        (lowest_stack, highest_stack): (u32, u32),
        pieces: u64,
    ) -> Option<Ended> {
        let EstimateTask { rules, agent, kernel, max_pieces, max_steps, .. } = *task;
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

/// The largest height that is low, and the first level, from the number of looks that saw each height.
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

/// Approximate work of an agent per piece, in pieces of a linear controller.
fn work_of_a_piece(agent: &Agent, rules: &Rules) -> u64 {
    let placements = match agent {
        Agent::Linear(_) | Agent::Formula(_) => 1,
        Agent::Expectation(agent) => agent.placements_looked_at(rules),
        // Other agents score placements one by one: about as many as a piece has in all orientations.
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

    /// The difference to earlier counts of the same play.
    fn since(self, other: Counts) -> Counts {
        Counts {
            pieces: self.pieces - other.pieces,
            steps: self.steps - other.steps,
            lines: self.lines - other.lines,
            score: self.score - other.score,
        }
    }
}
