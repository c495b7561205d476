//! An evaluation spread over servers: it is cut into calls, and the missing games of a lost call are asked for again.
//!
//! A server that finishes a call gets the next one; a server that fails rests, longer each time, and a server that
//! runs no evaluations is asked only once. The results and their summary depend only on the request, to the last bit.
//!
//! A [`SpreadEvaluation`] makes no calls: it says which one to make next, and takes what came of it. So it serves
//! callers with other ways to a server, such as the workers of a cluster.

mod arrived;
mod news;
mod part;
mod progress;

pub use arrived::Outcomes;
pub use news::EvaluationNews;
pub use progress::EvaluationProgress;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::ClientError;
use super::connection::{FIRST_REST, LONGEST_REST};
use super::error::unreadable;
use arrived::{ArrivedResults, ArrivingResult};
use part::CallPart;
use progress::{ProgressCounts, ReportClock};
use tetrion_core::rollout::{EstimatedGame, GameOrder, PlayedGame};
use tetrion_protocol::evaluation::{progress_interval, read_pairs, write_pairs};
use tetrion_protocol::footprint::num_rows;
use tetrion_protocol::limits::MAX_GAMES;
use tetrion_protocol::pb::evaluate_policies_response::Event as Message;
use tetrion_protocol::results::{decode_estimates, decode_results};
use tetrion_protocol::seeding::num_seeds;
use tetrion_protocol::{DecodeError, pb};

/// Calls per server at a time if there are several servers: while one call ends with few games left, the other keeps
/// all threads busy.
const CALLS_AT_A_TIME: usize = 2;
/// Calls per server over a whole evaluation: enough for a faster server to take more of them.
const CALLS_A_SERVER: u64 = 8;

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

/// A call to make.
#[derive(Clone, Debug)]
pub struct EvaluationCall {
    /// The number of the call.
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
        let rows = request.policies.iter().map(num_rows).fold(0, u64::saturating_add);
        let num_policies = rows.try_into().unwrap_or(u32::MAX);
        let num_seeds = request.seeding.as_ref().map_or(0, |seeding| num_seeds(seeding, num_policies));
        let mut pairs = request.pairs.as_ref().map(read_pairs).transpose().map_err(unreadable)?;
        if let Some(pairs) = &mut pairs {
            pairs.sort_unstable();
        }
        // A server refuses what cannot be an interval.
        let interval = progress_interval(request.progress_interval.as_ref()).ok().flatten();
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
            clock: ReportClock::new(interval),
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
            request.pairs = Some(write_pairs(part.places(order.num_pairs()).map(|place| order.pair(place))));
            request.include_results = true; // its summary is not that of all games
        }
        let num_games = part.len(order.num_pairs()).saturating_mul(order.episodes.into());
        let part = self.queue.pop_front().expect("it was seen");
        self.num_calls += 1;
        let number = self.num_calls;
        self.clock.begin(now);
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
            Some(Message::Results(results)) => self.arrive::<PlayedGame>(number, || decode_results(&results)),
            Some(Message::Estimates(estimates)) => {
                self.arrive::<EstimatedGame>(number, || decode_estimates(&estimates))
            }
            Some(Message::Progress(progress)) => {
                self.hear(number, &progress);
                Ok(self.is_report_due().then(|| EvaluationNews::Progress(self.report())))
            }
            Some(Message::Summary(summary)) => self.end_with(number, summary).map(|()| None),
            // Of a later revision; or a recording, although no request asks for one.
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

    /// Whether it is time for a report. The last one, on all games, is up to the caller.
    pub fn is_report_due(&self) -> bool {
        self.clock.is_due(Instant::now()) && self.counts().games < self.order().num_games()
    }

    /// A report on everything so far.
    pub fn report(&mut self) -> EvaluationProgress {
        let (counts, num_games) = (self.counts(), self.order().num_games());
        self.clock.report(counts, num_games)
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
        self.rows.message()
    }

    /// The summary of all games: of the server that played all, or else computed like a server's.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if games are missing.
    pub fn summary(&self) -> Result<pb::EvaluationSummary, ClientError> {
        if let Some(summary) = &self.summary {
            return Ok(summary.clone());
        }
        self.check_complete()?;
        let baseline = self.started.as_ref().and_then(|started| started.baseline);
        Ok(self.rows.summary(self.order(), baseline))
    }

    /// The games of each policy, or its estimates, in the order of seeds and episodes.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if games are missing.
    pub(super) fn into_outcomes(mut self) -> Result<Outcomes, ClientError> {
        self.check_complete()?;
        let rows = std::mem::replace(&mut self.rows, ArrivedResults::Games(Vec::new()));
        Ok(rows.into_outcomes(self.order()))
    }

    fn check_complete(&self) -> Result<(), ClientError> {
        match self.order().num_games() - self.rows.len() {
            0 => Ok(()),
            missing => Err(games_missing(missing)),
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
        if num_games > MAX_GAMES {
            return Err(wrong(format!("the evaluation has {num_games} games, expected at most {MAX_GAMES}")));
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

    /// Takes games or estimates, and gives them their places. The news are those that had not arrived in an earlier call.
    fn arrive<T: ArrivingResult>(
        &mut self,
        number: usize,
        decode: impl FnOnce() -> Result<Vec<T>, DecodeError>,
    ) -> Result<Option<EvaluationNews>, ClientError> {
        let expected = self.rows.event();
        if T::among(&mut self.rows).is_none() {
            return Err(wrong(format!("the evaluation sent {}, expected {expected}", T::EVENT)));
        }
        let results = decode().map_err(unreadable)?;
        let mut new = Vec::with_capacity(results.len());
        let episodes = u64::from(self.order().episodes);
        for mut result in results {
            let counts = result.counts();
            let ((policy, seed, episode), own_place) = result.key();
            let place = self.order().place(policy, seed, episode);
            let call = self.calls.get_mut(&number).expect("it is in progress");
            let Some(place) = place.filter(|place| call.part.contains(place / episodes)) else {
                return Err(wrong(format!(
                    "the evaluation has a game that was not asked for: policy {policy}, seed {seed}, episode {episode}"
                )));
            };
            call.came.add(counts);
            let arrived = std::mem::replace(&mut self.arrived[place as usize], number as u32);
            if arrived == number as u32 {
                return Err(wrong("a game of the evaluation came twice"));
            }
            // Some episodes of a seed may have come before its call was lost.
            if arrived == 0 {
                self.totals.add(counts);
                *own_place = place;
                new.push(result);
            }
        }
        T::among(&mut self.rows).expect("it was checked").extend(&new);
        Ok((!new.is_empty()).then(|| T::news(new)))
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
        let given = self.rows.summed(summary);
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
        if matches!(part, CallPart::Whole) && self.rows.len() == 0 {
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

fn wrong(problem: impl Into<String>) -> ClientError {
    ClientError::Answer(problem.into())
}

fn games_missing(missing: u64) -> ClientError {
    wrong(format!("{missing} games of the evaluation are missing in its answer"))
}
