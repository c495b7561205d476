//! An evaluation spread over servers: it is cut into calls, and the missing games of a lost call are asked for again.
//!
//! A server that finishes a call gets the next one; a server that fails rests, longer each time, and a server that
//! runs no evaluations is asked only once. The results and their summary depend only on the request, to the last bit.
//!
//! A [`SpreadEvaluation`] makes no calls: it says which one to make next, and is told what came of it. So it serves
//! callers with other ways to a server, such as the workers of a cluster.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::ClientError;
use super::connection::{FIRST_REST, LONGEST_REST};
use super::error::unreadable;
use tetrion_core::rollout::{EstimatedGame, GameOrder, PlayedGame};
use tetrion_core::summary::{EstimateTable, GameTable, summarize, summarize_estimates};
use tetrion_protocol::limits::MAX_GAMES;
use tetrion_protocol::pb::evaluate_policies_response::Event as Message;
use tetrion_protocol::results::{
    decode_estimates, decode_results, encode_estimate_summary, encode_estimates, encode_results,
    encode_summary,
};
use tetrion_protocol::tensor::{self, DimSize};
use tetrion_protocol::{duration, pb};

/// Calls per server at a time if there are several servers: while one call ends with few games left, the other keeps
/// all threads busy.
const CALLS_AT_A_TIME: usize = 2;
/// Calls per server over a whole evaluation: enough for a faster server to take more of them.
const CALLS_A_SERVER: u64 = 8;
/// Time between two reports if the request leaves it to the server.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// An evaluation in progress on several servers.
#[derive(Debug)]
pub struct SpreadEvaluation {
    request: pb::EvaluatePoliciesRequest,
    pairs: Option<Vec<(u32, u32)>>,
    num_policies: u32,
    num_seeds: u32,
    patience: Duration,
    servers: Vec<(String, ServerState)>,
    queue: VecDeque<CallPart>,
    calls: HashMap<usize, Call>,
    num_calls: usize,
    started: Option<pb::EvaluationStarted>,
    /// The summary of a server that played everything in one call.
    summary: Option<pb::EvaluationSummary>,
    /// For each game, the call that it came in, counted from 1; empty before the first call has begun.
    arrived: Vec<u32>,
    rows: ArrivedResults,
    /// Since when calls have failed and nothing has arrived.
    failing_since: Option<Instant>,
    clock: ReportClock,
    /// What the ended calls come to, with the games that have arrived in others.
    totals: ProgressCounts,
}

/// What has arrived.
#[derive(Debug)]
enum ArrivedResults {
    Games(Vec<PlayedGame>),
    Estimates(Vec<EstimatedGame>),
}

/// News of an evaluation in progress.
#[derive(Clone, Debug)]
pub enum EvaluationNews {
    /// A server has described what is played.
    Started(Box<pb::EvaluationStarted>),
    /// Games that have finished, in any order.
    Games(Vec<PlayedGame>),
    /// Estimates that have finished, in any order.
    Estimates(Vec<EstimatedGame>),
    Progress(EvaluationProgress),
    /// A call was lost; its missing games will be asked for again.
    Lost(ClientError),
}

/// How far an evaluation is. All numbers only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationProgress {
    /// Games finished.
    pub games: u64,
    /// Games of the whole evaluation, finished or not.
    pub num_games: u64,
    /// Pieces landed, including unfinished games.
    pub pieces: u64,
    /// Lines cleared, including unfinished games.
    pub lines: u64,
    /// Time since the first call.
    pub elapsed: Duration,
}

/// A call to make.
#[derive(Clone, Debug)]
pub struct EvaluationCall {
    /// The number of the call, by which its news are told.
    pub number: usize,
    /// The name of the server that gets it.
    pub server: String,
    pub request: pb::EvaluatePoliciesRequest,
}

/// A server's calls in progress, and whether it gets more.
#[derive(Clone, Debug, Default)]
struct ServerState {
    calls: usize,
    failures: u32,
    resting_until: Option<Instant>,
    /// Whether the server runs no evaluations, and gets no more calls.
    is_out: bool,
}

/// Pairs of policy and seed, by their places in the order of the evaluation.
#[derive(Clone, Debug)]
enum CallPart {
    Whole,
    /// Every n-th pair, because neighbours are similar: a policy that plays long games is in all parts.
    Share {
        first: u64,
        step: u64,
    },
    /// Listed pairs, in order.
    Places(Vec<u64>),
}

#[derive(Debug)]
struct Call {
    server: String,
    part: CallPart,
    /// Number of games that it should bring.
    num_games: u64,
    has_started: bool,
    has_summary: bool,
    came: ProgressCounts,
    reported: ProgressCounts,
}

#[derive(Clone, Copy, Debug, Default)]
struct ProgressCounts {
    games: u64,
    pieces: u64,
    lines: u64,
}

impl ProgressCounts {
    fn add(&mut self, other: ProgressCounts) {
        self.games += other.games;
        self.pieces += other.pieces;
        self.lines += other.lines;
    }

    /// What a server has reported beyond what has come from it.
    fn beyond(self, came: ProgressCounts) -> ProgressCounts {
        ProgressCounts {
            games: self.games.saturating_sub(came.games),
            pieces: self.pieces.saturating_sub(came.pieces),
            lines: self.lines.saturating_sub(came.lines),
        }
    }
}

/// When to report.
#[derive(Debug)]
struct ReportClock {
    interval: Duration,
    began: Option<Instant>,
    last: Option<Instant>,
    /// What was reported, below which no later report falls.
    told: ProgressCounts,
}

impl CallPart {
    fn places(&self, num_pairs: u64) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            CallPart::Whole => Box::new(0..num_pairs),
            CallPart::Share { first, step } => Box::new((*first..num_pairs).step_by(*step as usize)),
            CallPart::Places(places) => Box::new(places.iter().copied()),
        }
    }

    fn contains(&self, place: u64) -> bool {
        match self {
            CallPart::Whole => true,
            CallPart::Share { first, step } => place % step == *first,
            CallPart::Places(places) => places.binary_search(&place).is_ok(),
        }
    }
}

/// A game or an estimate, which has its place among all.
trait ArrivingResult {
    /// The indices of the policy, the seed and the episode.
    fn indices(&self) -> (u32, u32, u32);
    fn set_place(&mut self, place: u64);
    /// What it adds to the progress.
    fn counts(&self) -> ProgressCounts;
}

impl ArrivingResult for PlayedGame {
    fn indices(&self) -> (u32, u32, u32) {
        (self.policy, self.seed_index, self.episode)
    }

    fn set_place(&mut self, place: u64) {
        self.game = place;
    }

    fn counts(&self) -> ProgressCounts {
        ProgressCounts { games: 1, pieces: self.pieces, lines: self.lines }
    }
}

impl ArrivingResult for EstimatedGame {
    fn indices(&self) -> (u32, u32, u32) {
        (self.policy, self.seed_index, self.episode)
    }

    fn set_place(&mut self, place: u64) {
        self.game = place;
    }

    /// An estimate does not tell how much was played for it.
    fn counts(&self) -> ProgressCounts {
        ProgressCounts { games: 1, pieces: 0, lines: 0 }
    }
}

impl SpreadEvaluation {
    /// An evaluation of which no call has been made. `num_servers` is about how many servers there will be; a single one
    /// gets everything in one call.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if the request lists pairs that cannot be read.
    pub fn new(
        request: pb::EvaluatePoliciesRequest,
        num_servers: usize,
        patience: Duration,
    ) -> Result<SpreadEvaluation, ClientError> {
        let num_policies = request.policies.iter().map(num_rows).fold(0, u32::saturating_add);
        let num_seeds = request.seeding.as_ref().map_or(0, |seeding| num_seeds(seeding, num_policies));
        let pairs = request.pairs.as_ref().map(read_pairs).transpose()?;
        let interval = match &request.progress_interval {
            None => Some(DEFAULT_INTERVAL),
            Some(interval) => duration::decode(interval).filter(|interval| !interval.is_zero()),
        };
        let rows = match request.loss_estimation {
            None => ArrivedResults::Games(Vec::new()),
            Some(_) => ArrivedResults::Estimates(Vec::new()),
        };
        let mut spread = SpreadEvaluation {
            request,
            pairs,
            num_policies,
            num_seeds,
            patience,
            servers: Vec::new(),
            queue: VecDeque::new(),
            calls: HashMap::new(),
            num_calls: 0,
            started: None,
            summary: None,
            arrived: Vec::new(),
            rows,
            failing_since: None,
            clock: ReportClock {
                interval: interval.unwrap_or(Duration::MAX),
                began: None,
                last: None,
                told: ProgressCounts::default(),
            },
            totals: ProgressCounts::default(),
        };
        let (num_pairs, num_games) = (spread.order().num_pairs(), spread.order().num_games());
        // A server refuses what is too large in its own words.
        if num_servers == 1 || num_games > MAX_GAMES {
            spread.queue.push_back(CallPart::Whole);
        } else {
            let step = (num_servers as u64 * CALLS_A_SERVER).min(num_pairs);
            spread.queue.extend((0..step).map(|first| CallPart::Share { first, step }));
        }
        Ok(spread)
    }

    fn order(&self) -> GameOrder<'_> {
        GameOrder {
            num_policies: self.num_policies,
            num_seeds: self.num_seeds,
            episodes: self.request.episodes_per_seed.max(1),
            pairs: self.pairs.as_deref(),
        }
    }

    /// Names the servers that get calls from now on. Those that had some go on with them.
    pub fn set_servers(&mut self, names: impl IntoIterator<Item = String>) {
        let mut known: HashMap<String, ServerState> = self.servers.drain(..).collect();
        for name in names {
            if !self.servers.iter().any(|(other, _)| *other == name) {
                let state = known.remove(&name).unwrap_or_default();
                self.servers.push((name, state));
            }
        }
    }

    /// The next call to make, if a server has room for one.
    pub fn hand_out(&mut self) -> Option<EvaluationCall> {
        let part = self.queue.front()?;
        let now = Instant::now();
        let is_free = |room: usize, state: &ServerState| {
            !state.is_out && state.calls < room && state.resting_until.is_none_or(|until| until <= now)
        };
        let (name, state) = (1..=CALLS_AT_A_TIME)
            .find_map(|room| self.servers.iter().position(|(_, state)| is_free(room, state)))
            .map(|at| &mut self.servers[at])?;
        state.calls += 1;
        let server = name.clone();
        let mut request = self.request.clone();
        if let Some(started) = &self.started {
            request.rules_version.clone_from(&started.rules_version);
        }
        let order = self.order();
        if !matches!(part, CallPart::Whole) {
            let pairs: Vec<i32> = part
                .places(order.num_pairs())
                .map(|place| order.pair(place))
                .flat_map(|(policy, seed)| [policy as i32, seed as i32])
                .collect();
            request.pairs = Some(tensor::encode(vec![pairs.len() as u32 / 2, 2], &pairs));
            request.include_results = true; // its summary is not that of all games
        }
        let num_games = part.places(order.num_pairs()).count() as u64 * u64::from(order.episodes);
        let part = self.queue.pop_front().expect("it was seen");
        self.num_calls += 1;
        let number = self.num_calls;
        self.clock.began.get_or_insert(now);
        let (came, reported) = Default::default();
        let call = Call {
            server: server.clone(),
            part,
            num_games,
            has_started: false,
            has_summary: false,
            came,
            reported,
        };
        self.calls.insert(number, call);
        Some(EvaluationCall { number, server, request })
    }

    /// When a resting server may get a call again.
    pub fn next_attempt(&self) -> Instant {
        let now = Instant::now();
        let waking = self.servers.iter().filter_map(|(_, state)| state.resting_until);
        waking.filter(|until| *until > now).min().unwrap_or(now + LONGEST_REST)
    }

    /// Whether no call is left to make or to wait for.
    pub fn is_over(&self) -> bool {
        self.queue.is_empty() && self.calls.is_empty()
    }

    /// Takes a message of a call.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if the message does not fit the request.
    ///
    /// # Panics
    /// If there is no such call.
    pub fn take(
        &mut self,
        number: usize,
        message: pb::EvaluatePoliciesResponse,
    ) -> Result<Option<EvaluationNews>, ClientError> {
        self.failing_since = None;
        let call = &self.calls[&number];
        match message.event {
            Some(Message::Started(started)) => self.start(number, started),
            _ if !call.has_started => {
                Err(wrong("the evaluation did not begin with a description of what is played"))
            }
            Some(Message::Results(results)) => {
                let games = decode_results(&results).map_err(unreadable)?;
                let ArrivedResults::Games(_) = self.rows else {
                    return Err(of_another_kind("results", "estimates"));
                };
                let games = self.place(number, games)?;
                let ArrivedResults::Games(rows) = &mut self.rows else { unreachable!("it was checked") };
                rows.extend(&games);
                Ok((!games.is_empty()).then_some(EvaluationNews::Games(games)))
            }
            Some(Message::Estimates(estimates)) => {
                let ArrivedResults::Estimates(_) = self.rows else {
                    return Err(of_another_kind("estimates", "results"));
                };
                let estimates = self.place(number, decode_estimates(&estimates).map_err(unreadable)?)?;
                let ArrivedResults::Estimates(rows) = &mut self.rows else { unreachable!("it was checked") };
                rows.extend(&estimates);
                Ok((!estimates.is_empty()).then_some(EvaluationNews::Estimates(estimates)))
            }
            Some(Message::Progress(progress)) => {
                self.hear(number, &progress);
                Ok(self.report_if_due().map(EvaluationNews::Progress))
            }
            Some(Message::Summary(summary)) => self.end_with(number, summary).map(|()| None),
            // Of a later revision; or a recording, which nobody asked for.
            Some(Message::Recording(_)) | None => Ok(None),
        }
    }

    /// Takes the progress of a call, which need not have begun.
    ///
    /// # Panics
    /// If there is no such call.
    pub fn hear(&mut self, number: usize, progress: &pb::EvaluationProgress) {
        let call = self.calls.get_mut(&number).expect("it is in progress");
        let &pb::EvaluationProgress { games_done, pieces_done, lines_done, .. } = progress;
        call.reported =
            ProgressCounts { games: games_done.min(call.num_games), pieces: pieces_done, lines: lines_done };
    }

    /// A report if it is time for one. The last one, on all games, is up to the caller.
    pub fn report_if_due(&mut self) -> Option<EvaluationProgress> {
        let now = Instant::now();
        // A message that is a little early counts as in time.
        let pause = self.clock.interval.saturating_sub(self.clock.interval / 4);
        let last = self.clock.last.or(self.clock.began)?;
        if now - last < pause || self.counts().games == self.order().num_games() {
            return None;
        }
        self.clock.last = Some(now);
        Some(self.report())
    }

    /// A report on everything so far.
    pub fn report(&mut self) -> EvaluationProgress {
        let now = self.counts();
        // The games of a lost call begin again; the reported numbers wait until they have caught up.
        let told = &mut self.clock.told;
        *told = ProgressCounts {
            games: now.games.max(told.games),
            pieces: now.pieces.max(told.pieces),
            lines: now.lines.max(told.lines),
        };
        let ProgressCounts { games, pieces, lines } = *told;
        let elapsed = self.clock.began.map_or(Duration::ZERO, |began| began.elapsed());
        EvaluationProgress { games, num_games: self.order().num_games(), pieces, lines, elapsed }
    }

    /// What has arrived, and what servers have reported beyond that.
    fn counts(&self) -> ProgressCounts {
        let mut sum = self.totals;
        for call in self.calls.values() {
            sum.add(call.reported.beyond(call.came));
        }
        sum
    }

    /// Takes the end of a call. Returns the reason if it was lost, and its missing games will be asked for again.
    ///
    /// # Errors
    /// The error of the call, unless it was lost and the patience has not run out, or another server runs evaluations.
    ///
    /// # Panics
    /// If there is no such call.
    pub fn end(
        &mut self,
        number: usize,
        ended: Result<(), ClientError>,
    ) -> Result<Option<ClientError>, ClientError> {
        let call = self.calls.remove(&number).expect("it is in progress");
        let mut unknown = ServerState::default();
        let known = self.servers.iter_mut().find(|(name, _)| *name == call.server);
        let state = known.map_or(&mut unknown, |(_, state)| state);
        state.calls = state.calls.saturating_sub(1);
        match ended {
            _ if call.has_summary => {
                *state = ServerState { calls: state.calls, ..ServerState::default() };
                self.totals.add(call.reported.beyond(call.came));
                Ok(None)
            }
            Ok(()) => Err(wrong("the evaluation ended without a summary")),
            Err(error @ ClientError::Lost { .. }) => {
                let now = Instant::now();
                let rest = FIRST_REST * 2u32.pow(state.failures.min(6));
                state.failures += 1;
                state.resting_until = Some(now + rest.min(LONGEST_REST));
                if now - *self.failing_since.get_or_insert(now) >= self.patience {
                    return Err(error);
                }
                self.ask_again(call.part);
                Ok(Some(error))
            }
            Err(error) if error.is_without_places() => {
                state.is_out = true;
                if self.servers.iter().all(|(_, state)| state.is_out) {
                    return Err(error);
                }
                self.ask_again(call.part);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What is played, with every default and the number of all games; `None` before the first answer.
    pub fn started(&self) -> Option<&pb::EvaluationStarted> {
        self.started.as_ref()
    }

    /// The message of all games or estimates, in the order of policy, seed and episode.
    pub fn results(&self) -> Message {
        match &self.rows {
            ArrivedResults::Games(rows) => {
                Message::Results(encode_results(&in_order(rows, |game| game.game)))
            }
            ArrivedResults::Estimates(rows) => {
                Message::Estimates(encode_estimates(&in_order(rows, |one| one.game)))
            }
        }
    }

    /// The summary of all games: of the server that played all, or else computed like a server's.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if games are missing.
    pub fn summary(&self) -> Result<pb::EvaluationSummary, ClientError> {
        let started = self.started.as_ref().ok_or_else(|| wrong("the evaluation has not begun"))?;
        if let Some(summary) = &self.summary {
            return Ok(summary.clone());
        }
        let order = self.order();
        let missing = order.num_games() - self.num_arrived();
        if missing > 0 {
            return Err(games_missing(missing));
        }
        Ok(match &self.rows {
            ArrivedResults::Games(rows) => {
                let mut table = GameTable::new(order.num_games());
                rows.iter().for_each(|game| table.record(game));
                let (policies, differences) = summarize(order, &table, started.baseline);
                encode_summary(&policies, &differences)
            }
            ArrivedResults::Estimates(rows) => {
                let mut table = EstimateTable::new(order.num_games());
                rows.iter().for_each(|estimate| table.record(estimate));
                encode_estimate_summary(&summarize_estimates(order, &table))
            }
        })
    }

    /// The games of each policy, or its estimates, in the order of seeds and episodes.
    pub(super) fn into_outcomes(self) -> Outcomes {
        let order = self.order();
        let games = |policy| order.games(policy).len();
        match &self.rows {
            ArrivedResults::Games(rows) => {
                let mut rows = in_order(rows, |game| game.game).into_iter();
                Outcomes::Games(
                    (0..self.num_policies)
                        .map(|policy| rows.by_ref().take(games(policy)).collect())
                        .collect(),
                )
            }
            ArrivedResults::Estimates(rows) => {
                let mut rows = in_order(rows, |one| one.game).into_iter();
                Outcomes::Estimates(
                    (0..self.num_policies)
                        .map(|policy| rows.by_ref().take(games(policy)).collect())
                        .collect(),
                )
            }
        }
    }

    fn num_arrived(&self) -> u64 {
        match &self.rows {
            ArrivedResults::Games(rows) => rows.len() as u64,
            ArrivedResults::Estimates(rows) => rows.len() as u64,
        }
    }

    /// Compares the description of a call with the request and with those of other servers.
    fn start(
        &mut self,
        number: usize,
        mut started: pb::EvaluationStarted,
    ) -> Result<Option<EvaluationNews>, ClientError> {
        let order = self.order();
        let (num_games, call) = (order.num_games(), &self.calls[&number]);
        let expected = [
            ("policies", u64::from(order.num_policies), u64::from(started.num_policies)),
            ("seeds", order.num_seeds.into(), started.num_seeds.into()),
            ("episodes of each seed", order.episodes.into(), started.episodes_per_seed.max(1).into()),
            ("games", call.num_games, started.num_games),
        ];
        if let Some((name, ours, theirs)) = expected.into_iter().find(|(_, ours, theirs)| ours != theirs) {
            return Err(wrong(format!("the evaluation has {theirs} {name}, expected {ours}")));
        }
        started.num_games = num_games;
        self.calls.get_mut(&number).expect("it is in progress").has_started = true;
        match &self.started {
            Some(first) if *first == started => Ok(None),
            Some(_) => Err(wrong("the servers do not play the same game; are they of one version?")),
            None => {
                self.started = Some(started.clone());
                self.arrived = vec![0; num_games as usize];
                Ok(Some(EvaluationNews::Started(Box::new(started))))
            }
        }
    }

    /// Gives games their places. Returns those that had not arrived in an earlier call.
    fn place<T: ArrivingResult>(&mut self, number: usize, outcomes: Vec<T>) -> Result<Vec<T>, ClientError> {
        let mut new = Vec::with_capacity(outcomes.len());
        let episodes = u64::from(self.order().episodes);
        for mut outcome in outcomes {
            let (policy, seed, episode) = outcome.indices();
            let call = &self.calls[&number];
            let place = self.order().place(policy, seed, episode);
            let Some(place) = place.filter(|place| call.part.contains(place / episodes)) else {
                return Err(wrong(format!(
                    "the evaluation has a game that was not asked for: policy {policy}, seed {seed}, episode {episode}"
                )));
            };
            let counts = outcome.counts();
            let call = self.calls.get_mut(&number).expect("it is in progress");
            call.came.add(counts);
            let arrived = std::mem::replace(&mut self.arrived[place as usize], number as u32);
            if arrived == number as u32 {
                return Err(wrong("a game of the evaluation came twice"));
            }
            // Some episodes of a seed may have come before its call was lost.
            if arrived == 0 {
                self.totals.add(counts);
                outcome.set_place(place);
                new.push(outcome);
            }
        }
        Ok(new)
    }

    /// Takes the summary that ends a call.
    fn end_with(&mut self, number: usize, summary: pb::EvaluationSummary) -> Result<(), ClientError> {
        let call = &self.calls[&number];
        let is_whole = matches!(call.part, CallPart::Whole);
        if self.request.include_results || !is_whole {
            let missing = call.num_games.saturating_sub(call.came.games);
            if missing > 0 {
                return Err(games_missing(missing));
            }
        }
        if is_whole {
            self.check(&summary)?;
            self.summary = Some(summary);
        }
        self.calls.get_mut(&number).expect("it is in progress").has_summary = true;
        Ok(())
    }

    /// Refuses a summary with wrong policies or wrong numbers of games.
    fn check(&self, summary: &pb::EvaluationSummary) -> Result<(), ClientError> {
        let order = self.order();
        let games = |policy| (policy, order.games(policy).len() as u64);
        let expected: Vec<(u32, u64)> =
            (0..order.num_policies).map(games).filter(|(_, num_games)| *num_games > 0).collect();
        let given: Vec<(u32, u64)> = match &self.rows {
            ArrivedResults::Games(_) => {
                summary.policies.iter().map(|of| (of.policy_index, of.num_games)).collect()
            }
            ArrivedResults::Estimates(_) => {
                summary.estimates.iter().map(|of| (of.policy_index, of.num_estimates)).collect()
            }
        };
        if given != expected {
            let differs = |at: &usize| given[*at] != expected[(*at).min(expected.len() - 1)];
            let (shown, all) = (given.len(), expected.len());
            let first = (0..shown).find(differs).unwrap_or(0);
            let what = given.get(first).map_or("none of them".to_owned(), |(policy, num_games)| {
                format!("policy {policy} with {num_games} games")
            });
            return Err(wrong(format!(
                "the summary of the evaluation is of {shown} of {all} policies, and has {what}"
            )));
        }
        let is_known = |policy: u32| expected.binary_search_by_key(&policy, |(known, _)| *known).is_ok();
        let strange = summary
            .paired_differences
            .iter()
            .find(|of| !is_known(of.policy_index) || !is_known(of.baseline_index));
        match strange {
            None => Ok(()),
            Some(of) => {
                let (one, other) = (of.policy_index, of.baseline_index);
                Err(wrong(format!("the summary of the evaluation compares the policies {one} and {other}")))
            }
        }
    }

    /// Puts what is missing of a part back into the queue.
    fn ask_again(&mut self, part: CallPart) {
        let (num_pairs, episodes) = (self.order().num_pairs(), self.order().episodes as usize);
        if matches!(part, CallPart::Whole) && self.num_arrived() == 0 {
            self.queue.push_back(CallPart::Whole);
            return;
        }
        let is_missing = |place: &u64| {
            let first = *place as usize * episodes;
            // Before the first description of what is played, nothing has arrived.
            self.arrived.get(first..first + episodes).is_none_or(|games| games.contains(&0))
        };
        let missing: Vec<u64> = part.places(num_pairs).filter(is_missing).collect();
        if !missing.is_empty() {
            self.queue.push_back(CallPart::Places(missing));
        }
    }
}

/// What has come of an evaluation: games, or estimates of how long they last.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcomes {
    /// The games of each policy, in the order of their seeds and episodes.
    Games(Vec<Vec<PlayedGame>>),
    /// The estimates of each policy, in the order of their seeds and episodes.
    Estimates(Vec<Vec<EstimatedGame>>),
}

fn in_order<T: Clone>(rows: &[T], place: impl Fn(&T) -> u64) -> Vec<T> {
    let mut rows = rows.to_vec();
    rows.sort_unstable_by_key(place);
    rows
}

/// How many policies an entry of a request is.
fn num_rows(policy: &pb::Policy) -> u32 {
    match &policy.kind {
        Some(pb::policy::Kind::Weights(pb::Weights { weights: Some(weights), .. })) => {
            match weights.shape[..] {
                [rows, _] => rows,
                _ => 1,
            }
        }
        _ => 1,
    }
}

fn num_seeds(seeding: &pb::Seeding, num_policies: u32) -> u32 {
    match &seeding.kind {
        Some(pb::seeding::Kind::Seeds(pb::Seeds { seeds, per_policy })) => {
            let rows = if *per_policy { num_policies.max(1) } else { 1 };
            seeds.len() as u32 / rows
        }
        Some(pb::seeding::Kind::Drawn(drawn)) => drawn.count,
        Some(pb::seeding::Kind::PieceSequences(pieces)) => pieces.sequences.len() as u32,
        Some(pb::seeding::Kind::Seed(_)) | None => 0,
    }
}

/// The pairs of a request, in ascending order. A server refuses those that do not exist.
fn read_pairs(pairs: &pb::Tensor) -> Result<Vec<(u32, u32)>, ClientError> {
    let numbers = tensor::decode::<i32>(pairs, &[DimSize::Any, DimSize::Exactly(2)]).map_err(unreadable)?;
    let pairs = numbers.elements.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1] as u32));
    let mut pairs: Vec<(u32, u32)> = pairs.collect();
    pairs.sort_unstable();
    Ok(pairs)
}

fn wrong(problem: impl Into<String>) -> ClientError {
    ClientError::Answer(problem.into())
}

fn of_another_kind(got: &str, expected: &str) -> ClientError {
    wrong(format!("the evaluation sent {got}, expected {expected}"))
}

fn games_missing(missing: u64) -> ClientError {
    wrong(format!("{missing} games of the evaluation are missing in its answer"))
}
