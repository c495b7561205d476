//! Steps: the effect of an action on an environment, and of many actions on a batch.
//!
//! A step first checks all rows, then performs each row alone. The meaning of an action depends on [`ActionModel`],
//! which is read once per call. Each model has its own loop, and so have placements that name their spots or may hold
//! the current piece, and keys that steer it ([`steer`](super::steer)).

use crate::engine::{
    ActionModel, Chain, Column, Counted, EpisodeEnd, Key, Landed, Piece, Placement, Rules, Spin,
    comes_to_rest, exchange, exchange_points, land_at, lock, settle,
};

use super::action_table::ActionTable;
use super::columns::{Envs, EpisodePhase, LastLanding, MAX_COUNT, OneSize, Rest};
use super::rows::EnvRows;
use super::{
    ActionError, AutoresetMode, EnvConfig, InvalidActionPolicy, NotReset, RefusedAction, StepError,
    StepOutcome,
};

/// The reason why an action is refused. If several apply, the first one counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BadAction {
    NotReset,
    EpisodeEnded,
    OutOfRange,
    Illegal,
}

impl<C: Column, const N: usize> Envs<C, N> {
    /// Checks that every action can be performed.
    pub(super) fn check_step(
        &self,
        config: &EnvConfig,
        table: &ActionTable,
        rows: EnvRows<'_>,
        actions: &[i32],
    ) -> Result<(), StepError> {
        let bad_action = |(i, &action)| self.bad_action(config, table, i, action);
        if rows.envs().zip(actions).all(|row| bad_action(row).is_none()) {
            Ok(())
        } else {
            Err(self.refusal(config, table, rows, actions))
        }
    }

    /// The reason why an action is refused, if it is.
    #[inline]
    fn bad_action(
        &self,
        config: &EnvConfig,
        table: &ActionTable,
        i: usize,
        action: i32,
    ) -> Option<BadAction> {
        match self.phases[i] {
            EpisodePhase::NotStarted => Some(BadAction::NotReset),
            EpisodePhase::Ended(_) => {
                (config.autoreset_mode == AutoresetMode::Disabled).then_some(BadAction::EpisodeEnded)
            }
            // A negative action is out of range too: as an unsigned number it is huge.
            EpisodePhase::Running if action as u32 as usize >= table.num_actions() => {
                Some(BadAction::OutOfRange)
            }
            EpisodePhase::Running => {
                // If keys only move pieces that fall, every key can be pressed at any time.
                let is_asked = config.invalid_action_policy == InvalidActionPolicy::Reject
                    && (config.rules.action_model == ActionModel::Placement || config.rules.steers());
                let exists = || {
                    if table.has_drops() {
                        let exists =
                            |piece| table.drop_on(&self.playfields[i], piece, action as usize).is_some();
                        self.visible[i].current().is_some_and(exists)
                    } else if config.rules.steers() {
                        self.has_key(config, i, Key::ALL[action as usize])
                    } else {
                        self.chosen(config, i, action).is_some()
                    }
                };
                (is_asked && !exists()).then_some(BadAction::Illegal)
            }
        }
    }

    /// The error for actions of which at least one is refused.
    #[cold]
    fn refusal(
        &self,
        config: &EnvConfig,
        table: &ActionTable,
        rows: EnvRows<'_>,
        actions: &[i32],
    ) -> StepError {
        let bad_action = |(row, (i, &action)): (usize, (usize, &i32))| {
            let refused = RefusedAction { row: row as u32, action };
            self.bad_action(config, table, i, action).map(|bad_action| (bad_action, i as u32, refused))
        };
        let bad_actions: Vec<_> = rows.envs().zip(actions).enumerate().filter_map(bad_action).collect();
        let first = bad_actions.iter().map(|&(bad_action, ..)| bad_action).min().expect("there is one");
        let named = bad_actions.into_iter().filter(|&(bad_action, ..)| bad_action == first);
        let (env_ids, actions) = named.map(|(_, env_id, refused)| (env_id, refused)).unzip();
        match first {
            BadAction::NotReset => NotReset { env_ids }.into(),
            BadAction::EpisodeEnded => ActionError::EpisodeEnded { env_ids }.into(),
            BadAction::OutOfRange => {
                ActionError::OutOfRange { actions, num_actions: table.num_actions() as u32 }.into()
            }
            BadAction::Illegal => ActionError::Illegal { actions }.into(),
        }
    }

    /// Performs an action in each row's environment. All actions have been checked.
    pub(super) fn step(
        &mut self,
        config: &EnvConfig,
        table: &ActionTable,
        rows: EnvRows<'_>,
        actions: &[i32],
        outcome: &mut StepOutcome,
    ) where
        Self: OneSize,
    {
        match config.rules.action_model {
            _ if config.rules.is_match() => self.step_matches(config, table, rows, actions, outcome),
            ActionModel::Placement if table.has_drops() => {
                self.step_each(config, rows, actions, outcome, |envs, i, action| {
                    envs.place(config, table, i, action as usize)
                });
            }
            ActionModel::Placement => self.step_each(config, rows, actions, outcome, |envs, i, action| {
                envs.place_of_hand(config, i, action)
            }),
            ActionModel::Keypress if config.rules.steers() => {
                self.step_each(config, rows, actions, outcome, |envs, i, action| {
                    envs.steer(config, i, Key::ALL[action as usize])
                });
            }
            ActionModel::Keypress => self.step_each(config, rows, actions, outcome, |envs, i, action| {
                envs.press(config, i, Key::ALL[action as usize])
            }),
        }
    }

    /// Performs each row's action with `act`, which returns the reward and, if the episode ends, its end.
    #[inline]
    fn step_each(
        &mut self,
        config: &EnvConfig,
        rows: EnvRows<'_>,
        actions: &[i32],
        outcome: &mut StepOutcome,
        act: impl Fn(&mut Self, usize, i32) -> (f64, Option<EpisodeEnd>),
    ) where
        Self: OneSize,
    {
        let StepOutcome { rewards, terminated, truncated, finals } = outcome;
        refill(rewards, rows.len());
        refill(terminated, rows.len());
        refill(truncated, rows.len());
        finals.rows.clear();
        let final_envs = Self::of(&mut finals.envs);
        final_envs.clear();
        for (row, &action) in actions.iter().enumerate() {
            let i = rows.env(row);
            if let EpisodePhase::Ended(_) = self.phases[i] {
                self.begin_next(config, i);
                continue;
            }
            let (reward, end) = act(self, i, action);
            rewards[row] = reward as f32;
            if let Some(end) = end {
                terminated[row] = end.is_terminated();
                truncated[row] = !end.is_terminated();
                self.phases[i] = EpisodePhase::Ended(end);
                if config.autoreset_mode == AutoresetMode::SameStep {
                    finals.rows.push(row as u32);
                    final_envs.push_copy(self, i);
                    self.begin_next(config, i);
                }
            }
        }
    }

    /// Performs a turn of each match: the placements of both sides, then the exchange of lines.
    fn step_matches(
        &mut self,
        config: &EnvConfig,
        table: &ActionTable,
        rows: EnvRows<'_>,
        actions: &[i32],
        outcome: &mut StepOutcome,
    ) where
        Self: OneSize,
    {
        let StepOutcome { rewards, terminated, truncated, finals } = outcome;
        refill(rewards, rows.len());
        refill(terminated, rows.len());
        refill(truncated, rows.len());
        let matches = rows.matches().expect("both sides are in a call that has been checked");
        for sides in matches.iter() {
            let envs = sides.map(|row| rows.env(row));
            if self.phases[envs[0]].end().is_some() {
                envs.into_iter().for_each(|i| self.begin_next(config, i));
                continue;
            }
            let mut act = |side: usize| match table.has_drops() {
                true => self.place(config, table, envs[side], actions[sides[side]] as usize),
                false => self.place_of_hand(config, envs[side], actions[sides[side]]),
            };
            let moved = [act(0), act(1)];
            let after = self.after_turn(&config.rules, envs, moved);
            for (row, (reward, end)) in sides.into_iter().zip(after) {
                rewards[row] = reward as f32;
                if let Some(end) = end {
                    terminated[row] = end.is_terminated();
                    truncated[row] = !end.is_terminated();
                    self.phases[rows.env(row)] = EpisodePhase::Ended(end);
                }
            }
        }
        finals.rows.clear();
        let final_envs = Self::of(&mut finals.envs);
        final_envs.clear();
        if config.autoreset_mode == AutoresetMode::SameStep {
            for row in (0..rows.len()).filter(|&row| terminated[row] || truncated[row]) {
                let i = rows.env(row);
                finals.rows.push(row as u32);
                final_envs.push_copy(self, i);
                self.begin_next(config, i);
            }
        }
    }

    /// Exchanges lines after both sides of a match have moved, given the reward of each move and whether it ended the
    /// episode. Returns the rewards of the turn and the ends of both episodes.
    fn after_turn(
        &mut self,
        rules: &Rules,
        envs: [usize; 2],
        moved: [(f64, Option<EpisodeEnd>); 2],
    ) -> [(f64, Option<EpisodeEnd>); 2] {
        let [first, second] = self.incoming.get_disjoint_mut(envs).expect("two environments");
        let [first_holes, second_holes] =
            [(envs[0], first.side), (envs[1], second.side)].map(|(i, side)| self.dealers[i].holes(side));
        let arrived = exchange(rules, [(first, first_holes), (second, second_holes)]);
        let ends = EpisodeEnd::of_match(moved.map(|(_, end)| end));
        let points = exchange_points(rules, arrived, ends);
        [0, 1].map(|side| {
            self.statistics[envs[side]].episode_return += points[side];
            (moved[side].0 + points[side], ends[side])
        })
    }

    /// Performs a placement in a running environment.
    #[inline]
    fn place(
        &mut self,
        config: &EnvConfig,
        table: &ActionTable,
        i: usize,
        action: usize,
    ) -> (f64, Option<EpisodeEnd>) {
        let piece = self.visible[i].current().expect("a running episode has a piece");
        let playfield = &mut self.playfields[i];
        let drop = match config.invalid_action_policy {
            // The step has been checked already.
            InvalidActionPolicy::Reject => table.drop(piece, action),
            InvalidActionPolicy::Terminate | InvalidActionPolicy::Ignore { .. } => {
                table.drop_on(playfield, piece, action)
            }
        };
        let Some(drop) = drop else { return self.count_invalid(config, i) };
        let rest = Rest::Placed { piece, action: action as u16 };
        self.last_landings[i] = Some(LastLanding { before: *playfield, rest });
        let landed = playfield.drop(drop.shape, drop.column, config.rules.top_out);
        self.count_landing(config, i, landed, Spin::None)
    }

    /// The placement of an action and its piece, if the piece can be placed and has such a placement.
    #[inline(never)] // keep it out of the hot loop of straight drops
    fn chosen(&self, config: &EnvConfig, i: usize, action: i32) -> Option<(Piece, Placement)> {
        let placement = Placement::from_action(action as u32, &config.rules);
        let hand = self.hand(&config.rules, i)?;
        let piece = hand.can_place(&self.rules_now(config, i), &self.playfields[i], placement)?;
        Some((piece, placement))
    }

    /// Performs a placement of the hand in a running environment: of the current piece, or of the other one while
    /// holding it.
    fn place_of_hand(&mut self, config: &EnvConfig, i: usize, action: i32) -> (f64, Option<EpisodeEnd>) {
        let rules = &config.rules;
        let chosen = match config.invalid_action_policy {
            // The step has been checked already, with a search for the placements.
            InvalidActionPolicy::Reject => {
                let placement = Placement::from_action(action as u32, rules);
                let hand = self.hand(rules, i);
                hand.and_then(|hand| hand.piece(placement)).map(|piece| (piece, placement))
            }
            InvalidActionPolicy::Terminate | InvalidActionPolicy::Ignore { .. } => {
                self.chosen(config, i, action)
            }
        };
        let Some((piece, placement)) = chosen else { return self.count_invalid(config, i) };
        if placement.hold {
            self.visible[i].hold(&mut self.held[i], &mut self.dealers[i], rules.preview);
        }
        let playfield = &mut self.playfields[i];
        let placement = placement.holding(false);
        let rest = Rest::Placed { piece, action: placement.action(rules) as u16 };
        self.last_landings[i] = Some(LastLanding { before: *playfield, rest });
        let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
        let landed = lock(rules, playfield, shape, row, placement.column);
        self.count_landing(config, i, landed, placement.spin())
    }

    /// Counts a step whose action did not exist. Nothing else has changed.
    #[cold]
    pub(super) fn count_invalid(&mut self, config: &EnvConfig, i: usize) -> (f64, Option<EpisodeEnd>) {
        let (reward, end) = config.invalid_action_policy.consequence(&config.rules);
        let counted = self.count_step(config, i, reward, end);
        let invalid = &mut self.invalid_actions[i];
        invalid.count = (invalid.count + 1).min(MAX_COUNT);
        invalid.last_step = self.statistics[i].steps;
        counted
    }

    /// Performs a key in a running environment.
    #[inline]
    fn press(&mut self, config: &EnvConfig, i: usize, key: Key) -> (f64, Option<EpisodeEnd>) {
        let playfield = &mut self.playfields[i];
        let falling = self.falling[i].as_mut().expect("a running episode has a piece");
        let fall = falling.step(key, playfield);
        *falling = fall.piece;
        if !fall.rests {
            return self.count_step(config, i, 0.0, None);
        }
        let rest = Rest::Fallen(fall.piece);
        self.last_landings[i] = Some(LastLanding { before: *playfield, rest });
        let landed = settle(&config.rules, playfield, fall.piece);
        self.count_landing(config, i, landed, Spin::None)
    }

    /// Counts a landed piece, and deals the next one.
    #[inline]
    pub(super) fn count_landing(
        &mut self,
        config: &EnvConfig,
        i: usize,
        landed: Landed,
        spin: Spin,
    ) -> (f64, Option<EpisodeEnd>) {
        let rules = &config.rules;
        self.visible[i].advance(&mut self.dealers[i], rules.preview);
        let next = self.visible[i].current();
        self.appear(config, i);
        if !self.incoming.is_empty() {
            let (points, landed) = self.counted_with_garbage(rules, i, (landed, spin), next);
            self.count_piece(i, landed);
            return self.count_step(config, i, points, landed.terminal.then_some(EpisodeEnd::ToppedOut));
        }
        let landed = landed.followed_by(rules, &self.playfields[i], next);
        self.count_piece(i, landed);
        let points = match self.chains.get_mut(i) {
            None => rules.reward(landed.lines, landed.losses()),
            Some((chain, attack)) => {
                let (points, sent) = landed.worth(rules, &self.playfields[i], spin, chain);
                *attack = (*attack + u64::from(sent)).min(MAX_COUNT);
                points
            }
        };
        self.count_step(config, i, points, landed.terminal.then_some(EpisodeEnd::ToppedOut))
    }

    #[inline]
    fn count_piece(&mut self, i: usize, landed: Landed) {
        let statistics = &mut self.statistics[i];
        statistics.lines = (statistics.lines + u64::from(landed.lines)).min(MAX_COUNT);
        statistics.pieces = (statistics.pieces + 1).min(MAX_COUNT);
    }

    /// The reward for a landing, and the landing with the effects of garbage and the next piece.
    #[cold] // keep it out of the hot loop of straight drops
    fn counted_with_garbage(
        &mut self,
        rules: &Rules,
        i: usize,
        (landed, spin): (Landed, Spin),
        next: Option<Piece>,
    ) -> (f64, Landed) {
        let cleared = self.last_landings[i].filter(|_| landed.lines > 0).map_or(0, |last| {
            let (shape, row, column) = last.came_to_rest(rules);
            land_at(rules, &last.before, shape, row, column).vanished_rows().to_u64()
        });
        let mut no_chain = (Chain::default(), 0);
        let (chain, attack) = self.chains.get_mut(i).unwrap_or(&mut no_chain);
        let piece = (self.dealers[i].holes(self.incoming[i].side), self.statistics[i].pieces);
        let kind = (spin, cleared, chain);
        let Counted { landed, points, attack: sent, .. } =
            landed.counted(rules, &mut self.playfields[i], kind, piece, &mut self.incoming[i], next);
        *attack = (*attack + u64::from(sent.lines())).min(MAX_COUNT);
        (points, landed)
    }

    /// Counts a step, which may have ended the game. Returns the reward, and the end of the episode if this step is the
    /// last.
    #[inline]
    pub(super) fn count_step(
        &mut self,
        config: &EnvConfig,
        i: usize,
        reward: f64,
        lost: Option<EpisodeEnd>,
    ) -> (f64, Option<EpisodeEnd>) {
        let statistics = &mut self.statistics[i];
        statistics.steps = (statistics.steps + 1).min(MAX_COUNT);
        statistics.episode_return += reward;
        let limit = config.max_episode_steps;
        let end = if lost.is_some() {
            lost
        } else if self.visible[i].current().is_none() {
            Some(EpisodeEnd::OutOfPieces)
        } else if limit > 0 && statistics.steps >= limit {
            Some(EpisodeEnd::StepLimit)
        } else {
            None
        };
        (reward, end)
    }
}

/// Replaces the contents by `rows` zeros.
fn refill<T: Copy + Default>(column: &mut Vec<T>, rows: usize) {
    column.clear();
    column.resize(rows, T::default());
}
