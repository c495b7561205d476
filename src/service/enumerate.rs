//! EnumeratePlacements: reads the positions, bounds the size of the answer, and makes the answer.

use std::ops::Range;
use std::time::Duration;

use tetrion_core::agents::{Agent, rough_placements};
use tetrion_core::engine::{ActionModel, Hand, Placement, Rules};
use tetrion_core::env::{self, ActionError, EnvState, RefusedAction};
use tetrion_core::features::FeatureSet;
use tetrion_core::features::kernel::Kernel;
use tetrion_core::placements::{
    Options, Placements, Position, enumerate_only, enumerate_with, nanoseconds, nanoseconds_of_one, num_rows,
};
use tetrion_protocol::limits::DEFAULT_RESPONSE_BYTES;
use tetrion_protocol::placements::{
    COLUMNS, PlacementColumn, PlacementSizes, Presence, decode_policy, options, wanted,
};
use tetrion_protocol::positions::Positions;
use tetrion_protocol::session::response_bytes;
use tetrion_protocol::tensor::DimSize;
use tetrion_protocol::{DecodeError, InField, features, fields, pb, positions, tensor};

use super::answers::{AnswerRoom, Answers};
use super::calls::{CallLane, SLICE};
use super::costs::NANOSECONDS_PER_COST;
use super::judging::{GameView, Judging};
use super::layout::{ANSWER_OVERHEAD, TENSOR_OVERHEAD};
use super::refusal::Refusal;
use super::reserved::{List, Reserved};
use super::session_state::SessionState;

/// Most bytes that describe the digits of placements.
const DIGITS_BYTES: u64 = 128;

/// Positions, and the caller's options for their placements.
#[derive(Debug)]
pub(super) struct Question {
    pub rules: Rules,
    pub positions: List<Position>,
    /// For each position, the only placement to list; `None` to list all.
    pub actions: Option<List<i32>>,
    pub features: Option<FeatureSet>,
    pub options: Options,
    /// The columns of the answer.
    pub columns: Vec<&'static PlacementColumn>,
    /// The policy whose values are wanted.
    pub judging: Option<Judging>,
    pub max_response_bytes: u32,
    /// The sequence number of the session that contains the positions; 0 for positions in the request.
    pub sequence_number: u64,
}

/// The largest possible size of an answer.
struct AnswerSize {
    /// Number of placements in the answer.
    rows: usize,
    bytes: u64,
}

impl Question {
    /// A question about environments of a session, to a policy of the request if it has one.
    pub fn of_session(
        state: &SessionState,
        env_ids: Option<&[u32]>,
        request: &mut pb::EnumeratePlacementsRequest,
        policy: Option<Agent>,
        answers: &Answers,
    ) -> Result<Question, Refusal> {
        let rules = state.batch().config().rules;
        let features = decode_features(request, &rules)?.or_else(|| state.features().cloned());
        let positions = state.positions(env_ids, answers).map_err(|error| error.in_field("session_envs"))?;
        let judge = |agent| Ok::<_, Refusal>(Judging::new(agent, state.views(env_ids, answers)?));
        let judging = policy.map(judge).transpose()?;
        Ok(Question {
            rules,
            actions: decode_actions(request, &rules, positions.len(), answers)?,
            positions,
            options: options(request, &rules)?,
            columns: wanted(request, &rules, features.is_some()),
            features,
            judging,
            max_response_bytes: response_bytes(request.max_response_bytes, state.max_response_bytes())?,
            sequence_number: state.sequence_number(),
        })
    }

    /// A question about positions in the request.
    pub fn of_positions(
        positions: &pb::Positions,
        request: &mut pb::EnumeratePlacementsRequest,
        answers: &Answers,
    ) -> Result<Question, Refusal> {
        let max_response_bytes = response_bytes(request.max_response_bytes, DEFAULT_RESPONSE_BYTES)?;
        let decode = || positions::decode(positions, None).in_field("positions");
        let decoded = Reserved::make(answers, positions::decoded_bytes(positions), decode)?;
        let (rules, ref positions) = *decoded;
        let agent = decode_policy(request, &rules)?;
        let view = || match positions {
            Positions::States(states) => List::collect(answers, states.iter().map(GameView::of_state)),
            Positions::Drawn(drawn) => List::collect(answers, drawn.iter().map(GameView::of_drawing)),
        };
        let judging = agent.map(|agent| Ok::<_, Refusal>(Judging::new(agent, view()?))).transpose()?;
        let positions = match positions {
            Positions::States(states) => List::collect(answers, states.iter().map(from_state))?,
            Positions::Drawn(drawn) => {
                List::collect(answers, drawn.iter().map(|drawn| from_drawing(drawn, &rules)))?
            }
        };
        let actions = decode_actions(request, &rules, positions.len(), answers)?;
        let features = decode_features(request, &rules)?;
        Ok(Question {
            rules,
            actions,
            positions,
            options: options(request, &rules)?,
            columns: wanted(request, &rules, features.is_some()),
            features,
            judging,
            max_response_bytes,
            sequence_number: 0,
        })
    }

    /// Lists the placements. Refuses if the answer is too large, there is no memory for it, or the work takes too long.
    pub async fn answer(
        mut self,
        kernel: Kernel,
        lane: &CallLane,
        answers: Answers,
    ) -> Result<pb::EnumeratePlacementsResponse, Refusal> {
        let work = self.time();
        let under_way = lane.begin(work);
        if under_way.is_here() {
            return self.answer_here(kernel, &answers);
        }
        self.check()?;
        lane.check(work)?;
        let per_slice = |work: Duration| (SLICE.as_nanos() / work.as_nanos().max(1)).max(1);
        let slice = per_slice(self.time_of_listing(1)) as usize;
        let thoughts = per_slice(self.time_of_thought()) as u64;
        let (mut found, mut done): (Option<(Placements, AnswerSize, AnswerRoom)>, usize) = (None, 0);
        lane.run_slices(move || match &mut found {
            None => match self.size().and_then(|size| Ok((answers.room(size.bytes)?, size))) {
                Ok((room, size)) => {
                    found = Some((Placements::empty(), size, room));
                    None
                }
                Err(refusal) => Some(Err(refusal)),
            },
            Some((columns, size, _)) if done < self.positions.len() => {
                let end = self.positions.len().min(done + slice);
                columns.append(&self.enumerate(kernel, done..end), self.positions.len(), size.rows);
                done = end;
                None
            }
            Some((columns, ..)) if !self.judge(kernel, columns, thoughts) => None,
            Some(_) => found.take().map(|(columns, _, room)| {
                room.keep();
                Ok(self.encode(columns))
            }),
        })
        .await
    }

    /// Lists the placements on this thread.
    pub fn answer_here(
        mut self,
        kernel: Kernel,
        answers: &Answers,
    ) -> Result<pb::EnumeratePlacementsResponse, Refusal> {
        self.check()?;
        answers.make(self.size()?.bytes, || {
            let columns = self.enumerate(kernel, 0..self.positions.len());
            self.judge(kernel, &columns, u64::MAX);
            Ok(self.encode(columns))
        })
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.options.position_features && self.features.is_none() {
            return Err(Refusal::field("include_position_features", "is true, but no features are selected"));
        }
        Ok(())
    }

    /// Rough time of the whole answer.
    pub fn time(&self) -> Duration {
        self.time_of_listing(self.positions.len()) + self.time_of_policy()
    }

    /// Rough time of a thought of the policy. One without a search also measures all features of a position then.
    fn time_of_thought(&self) -> Duration {
        let Some(judging) = &self.judging else { return Duration::ZERO };
        let (rules, agent) = (&self.rules, judging.agent());
        let measuring = match agent {
            Agent::Linear(_) | Agent::Formula(_) => {
                let num_placements = rough_placements(rules) as usize;
                nanoseconds_of_one(rules, num_placements, agent.features(), Options::default())
            }
            _ => 0,
        };
        Duration::from_nanos(measuring.saturating_add(NANOSECONDS_PER_COST.saturating_mul(agent.cost(rules))))
    }

    /// Rough time of all thoughts of the policy.
    fn time_of_policy(&self) -> Duration {
        let Some(judging) = &self.judging else { return Duration::ZERO };
        let thoughts = judging.agent().num_thoughts(&self.rules).saturating_mul(self.positions.len() as u64);
        self.time_of_thought().saturating_mul(thoughts.try_into().unwrap_or(u32::MAX))
    }

    /// Lets the policy think this many times, if there is one. Returns whether it has judged all positions.
    fn judge(&mut self, kernel: Kernel, columns: &Placements, thoughts: u64) -> bool {
        let Question { rules, positions, judging, .. } = self;
        judging.as_mut().is_none_or(|judging| judging.advance(kernel, rules, positions, columns, thoughts))
    }

    /// Rough time to list the placements of this many positions.
    fn time_of_listing(&self, num_positions: usize) -> Duration {
        let estimate = if self.actions.is_some() { nanoseconds_of_one } else { nanoseconds };
        Duration::from_nanos(estimate(&self.rules, num_positions, self.features.as_ref(), self.options))
    }

    fn enumerate(&self, kernel: Kernel, positions: Range<usize>) -> Placements {
        let (rules, set, options) = (&self.rules, self.features.as_ref(), self.options);
        match &self.actions {
            Some(actions) => {
                let placement = |action: &i32| Placement::from_action(*action as u32, rules);
                let only: Vec<Placement> = actions[positions.clone()].iter().map(placement).collect();
                enumerate_only(kernel, rules, &self.positions[positions], &only, set, options)
            }
            None => enumerate_with(kernel, rules, &self.positions[positions], set, options),
        }
    }

    /// Number of placements that the answer lists. Checks the actions, if the request names some.
    fn num_rows(&self) -> Result<u64, Refusal> {
        let rules = &self.rules;
        let Some(actions) = &self.actions else {
            return Ok(self.positions.iter().map(|position| u64::from(num_rows(rules, position))).sum());
        };
        let num_actions = rules.num_actions();
        let mut num_rows = 0;
        let (mut outside, mut illegal) = (Vec::new(), Vec::new());
        for (row, (position, &action)) in (0..).zip(self.positions.iter().zip(actions.iter())) {
            let Some(hand) = &position.hand else { continue };
            num_rows += 1;
            // A negative action is out of range too: as an unsigned number it is huge.
            if action as u32 >= num_actions {
                outside.push(RefusedAction { row, action });
            } else {
                let placement = Placement::from_action(action as u32, rules);
                if hand.can_place(rules, &position.playfield, placement).is_none() {
                    illegal.push(RefusedAction { row, action });
                }
            }
        }
        if !outside.is_empty() {
            return Err(ActionError::OutOfRange { actions: outside, num_actions }.into());
        }
        if !illegal.is_empty() {
            return Err(ActionError::Illegal { actions: illegal }.into());
        }
        Ok(num_rows)
    }

    /// The size of the answer. Refuses an answer that is too large.
    fn size(&self) -> Result<AnswerSize, Refusal> {
        let sizes = self.sizes(0, 0);
        let weights = self.columns.iter().map(|column| column.weigh(&sizes));
        let [position_bytes, row_bytes, more_bytes] =
            weights.fold([0; 3], |sum, weight| std::array::from_fn(|at| sum[at] + weight[at]));
        let names = self.features.iter().flat_map(FeatureSet::names);
        let names_bytes: u64 = names.map(|name| name.len() as u64 + 3).sum();
        let may_come = |column: &&PlacementColumn| {
            self.judging.is_some() || !matches!(column.presence, Presence::WithPolicy)
        };
        let rest = (self.positions.len() as u64 + 1) * position_bytes
            + more_bytes
            + names_bytes
            + COLUMNS.iter().filter(may_come).count() as u64 * TENSOR_OVERHEAD
            + 2 * ANSWER_OVERHEAD
            + DIGITS_BYTES;
        let max_bytes = self.max_response_bytes;
        let max_rows = u64::from(max_bytes).saturating_sub(rest) / row_bytes;
        let rows = self.num_rows()?;
        if rows > max_rows || rest > u64::from(max_bytes) {
            return Err(Refusal::ResponseTooLarge { max_rows, max_bytes });
        }
        Ok(AnswerSize { rows: rows as usize, bytes: rest + rows * row_bytes })
    }

    fn sizes(&self, rows: usize, keys: usize) -> PlacementSizes<'_> {
        PlacementSizes {
            rules: &self.rules,
            positions: self.positions.len() as u32,
            rows: rows as u32,
            keys: keys as u32,
            features: self.features.as_ref().map_or(0, FeatureSet::len) as u32,
        }
    }

    fn encode(&mut self, mut listed: Placements) -> pb::EnumeratePlacementsResponse {
        if let Some(judging) = self.judging.take() {
            (listed.policy_values, listed.policy_choices) = (judging.values, judging.choices);
        }
        let sizes = self.sizes(listed.actions.len(), listed.keys.len());
        let mut answer = pb::EnumeratePlacementsResponse {
            feature_columns: self.features.as_ref().map(features::encode_columns),
            sequence_number: self.sequence_number,
            placement_digits: fields::bare_digits(self.rules.placement_digits()),
            ..Default::default()
        };
        for column in &self.columns {
            *(column.field)(&mut answer) = Some(column.encode(&sizes, &mut listed));
        }
        answer
    }
}

fn decode_features(
    request: &pb::EnumeratePlacementsRequest,
    rules: &Rules,
) -> Result<Option<FeatureSet>, DecodeError> {
    features::decode(request.features.as_ref(), rules).in_field("features")
}

fn decode_actions(
    request: &pb::EnumeratePlacementsRequest,
    rules: &Rules,
    num_positions: usize,
    answers: &Answers,
) -> Result<Option<List<i32>>, Refusal> {
    let Some(actions) = &request.actions else { return Ok(None) };
    if rules.action_model != ActionModel::Placement {
        let problem = "are keys under these rules; expected rules whose actions are placements";
        return Err(DecodeError::field("actions", problem).into());
    }
    let dims = [DimSize::Exactly(num_positions as u32)];
    let decode = || Ok(tensor::decode(actions, &dims).in_field("actions")?.elements);
    Reserved::make::<DecodeError>(answers, tensor::decoded_bytes::<i32>(actions), decode).map(Some)
}

fn from_state(state: &EnvState) -> Position {
    Position {
        chain: state.chain(),
        falling: state.falling(),
        ..Position::of(*state.playfield(), state.hand()).with_garbage(state.incoming())
    }
}

fn from_drawing(drawn: &env::StartPosition, rules: &Rules) -> Position {
    let hand = Hand::new(rules, drawn.piece, drawn.held, drawn.queue.first().copied());
    let multiplier = rules.garbage.map_or(1.0, |garbage| garbage.multiplier);
    Position { multiplier, ..Position::of(drawn.playfield, (!drawn.is_over(rules)).then_some(hand)) }
}
