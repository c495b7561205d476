//! An evaluation spread over servers: the client cuts its games into calls, and repeats the missing games of a lost
//! call.
//!
//! A server that finishes a call gets the next one; a server that fails rests, longer each time, and a server that
//! runs no evaluations is asked only once. The result depends only on the request.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connection::{FIRST_REST, LONGEST_REST, LinkedServer};
use super::evaluation::Pair;
use super::{
    Client, ClientError, Evaluated, EvaluationProgress, EvaluationRequest, Event, GameResult, LossEstimate,
    Outcomes, Started,
};
use tetrion_protocol::limits::MAX_GAMES;

/// Calls per server at a time if there are several servers: while one call ends with few games left, the other keeps
/// all threads busy.
const CALLS_AT_A_TIME: usize = 2;
/// Calls per server over a whole evaluation: enough for a faster server to take more of them.
const CALLS_A_SERVER: usize = 6;

impl Client {
    /// Lets the servers play all games, whatever happens to single calls, and collects them.
    ///
    /// # Errors
    /// If a server refuses, unless it runs no evaluations and another one does; or no server has answered for as long as
    /// [`ConnectOptions::patience`](super::ConnectOptions::patience).
    ///
    /// # Panics
    /// As [`Seeds::games_per_policy`](super::Seeds::games_per_policy).
    pub async fn evaluate_all(
        &self,
        request: &EvaluationRequest,
        mut progress: impl FnMut(EvaluationProgress),
    ) -> Result<Evaluated, ClientError> {
        let (num_policies, num_games) = (request.num_policies() as u32, request.seeds.games_per_policy());
        let all_games = u64::from(num_policies) * u64::from(num_games);
        if all_games > MAX_GAMES {
            // In the server's words, but without a call: the client reserves a place for every game from the start.
            let message = format!(
                "seeding: makes {all_games} games ({num_policies} policies, {num_games} each), expected at most {MAX_GAMES}"
            );
            return Err(ClientError::Refused { reason: "INVALID_FIELD".to_owned(), message });
        }
        let pairs: Vec<Pair> =
            (0..num_policies).flat_map(|policy| (0..num_games).map(move |seed| (policy, seed))).collect();
        let mut run = EvaluationCalls::new(self, request, pairs);
        let mut collected = Collected {
            started: None,
            outcomes: match request.loss_trials {
                0 => ResultSlots::Games(places(num_policies, num_games)),
                _ => ResultSlots::Estimates(places(num_policies, num_games)),
            },
            done: EvaluationProgress { num_games: run.num_games, ..EvaluationProgress::default() },
            pieces_by_call: Vec::new(),
        };
        loop {
            run.hand_out();
            if run.calls.is_empty() && run.queue.is_empty() {
                break;
            }
            let next_attempt = run.next_attempt();
            tokio::select! {
                biased; // collect what has arrived before noticing that its call is over
                Some((call, event)) = run.events.recv() => {
                    if collected.take(call, event)? {
                        run.failing_since = None;
                    }
                    progress(collected.progress());
                }
                Some(ended) = run.calls.join_next() => {
                    run.end_call(ended.map_err(|error| ClientError::Answer(error.to_string()))?)?;
                }
                () = tokio::time::sleep_until(next_attempt) => {}
            }
        }
        while let Ok((call, event)) = run.events.try_recv() {
            collected.take(call, event)?;
        }
        progress(collected.progress());
        collected.finish()
    }
}

impl LinkedServer {
    /// Runs one call to its end, successful or not: removes the games that arrived from `missing`.
    async fn call(
        &self,
        request: &EvaluationRequest,
        missing: &mut BTreeSet<Pair>,
        number: usize,
        events: &mpsc::Sender<(usize, Event)>,
    ) -> Result<(), ClientError> {
        let num_games = u64::from(request.seeds.games_per_policy());
        let all = missing.len() as u64 == request.num_policies() as u64 * num_games;
        let pairs: Vec<Pair> = missing.iter().copied().collect();
        let mut answer = self.evaluate(request, (!all).then_some(&pairs), false).await?;
        while let Some(event) = answer.next().await? {
            let pairs: Vec<Pair> = match &event {
                Event::Games(games) => games.iter().map(|game| (game.policy, game.seed_index)).collect(),
                Event::Estimates(some) => some.iter().map(|one| (one.policy, one.seed_index)).collect(),
                Event::Started(_) | Event::Recording(..) | Event::Progress(_) | Event::Done => Vec::new(),
            };
            if let Some((policy, seed)) = pairs.iter().find(|pair| !missing.remove(pair)) {
                let message = format!("it holds a game that was not asked for: policy {policy}, seed {seed}");
                return Err(ClientError::Answer(message));
            }
            if events.send((number, event)).await.is_err() {
                break; // the evaluation does not wait for it any more
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(ClientError::Answer(format!("{} games are missing in it", missing.len())))
    }
}

/// The calls of one evaluation, distributed over the servers.
struct EvaluationCalls<'a> {
    client: &'a Client,
    request: Arc<EvaluationRequest>,
    num_games: u64,
    queue: VecDeque<BTreeSet<Pair>>,
    states: Vec<ServerState>,
    calls: JoinSet<EndedCall>,
    num_calls: usize,
    sender: mpsc::Sender<(usize, Event)>,
    events: mpsc::Receiver<(usize, Event)>,
    /// Since when calls have failed and no game has arrived.
    failing_since: Option<Instant>,
}

/// A server's calls in progress, and whether it gets more.
#[derive(Clone, Default)]
struct ServerState {
    calls: usize,
    failures: u32,
    resting_until: Option<Instant>,
    /// Whether the server runs no evaluations, and gets no more calls.
    is_out: bool,
}

struct EndedCall {
    server: usize,
    missing: BTreeSet<Pair>,
    result: Result<(), ClientError>,
}

impl<'a> EvaluationCalls<'a> {
    fn new(client: &'a Client, request: &EvaluationRequest, pairs: Vec<Pair>) -> EvaluationCalls<'a> {
        let num_servers = client.servers.len();
        let num_calls = if num_servers == 1 { 1 } else { num_servers * CALLS_A_SERVER };
        let size = pairs.len().div_ceil(num_calls).max(1);
        let (sender, events) = mpsc::channel(64);
        EvaluationCalls {
            client,
            request: Arc::new(request.clone()),
            num_games: pairs.len() as u64,
            queue: pairs.chunks(size).map(|pairs| pairs.iter().copied().collect()).collect(),
            states: vec![ServerState::default(); num_servers],
            calls: JoinSet::new(),
            num_calls: 0,
            sender,
            events,
            failing_since: None,
        }
    }

    /// Gives calls to every server that has room, while there are any.
    fn hand_out(&mut self) {
        let now = Instant::now();
        for room in 1..=CALLS_AT_A_TIME {
            for (server, state) in self.states.iter_mut().enumerate() {
                if state.is_out || state.calls >= room || state.resting_until.is_some_and(|until| until > now)
                {
                    continue;
                }
                let Some(mut missing) = self.queue.pop_front() else { return };
                state.calls += 1;
                let number = self.num_calls;
                self.num_calls += 1;
                let (client, request, sender) =
                    (self.client.servers[server].clone(), self.request.clone(), self.sender.clone());
                self.calls.spawn(async move {
                    let result = client.call(&request, &mut missing, number, &sender).await;
                    EndedCall { server, missing, result }
                });
            }
        }
    }

    /// When to try a resting server again.
    fn next_attempt(&self) -> Instant {
        let now = Instant::now();
        let waking = self.states.iter().filter_map(|state| state.resting_until).filter(|until| *until > now);
        waking.min().unwrap_or(now + LONGEST_REST)
    }

    fn end_call(&mut self, ended: EndedCall) -> Result<(), ClientError> {
        let state = &mut self.states[ended.server];
        state.calls -= 1;
        match ended.result {
            Ok(()) => *state = ServerState { calls: state.calls, ..ServerState::default() },
            Err(error @ ClientError::Lost { .. }) => {
                let now = Instant::now();
                let rest = FIRST_REST * 2u32.pow(state.failures.min(6));
                state.failures += 1;
                state.resting_until = Some(now + rest.min(LONGEST_REST));
                if now - *self.failing_since.get_or_insert(now) >= self.client.patience {
                    return Err(error);
                }
            }
            Err(error) if error.is_without_places() => {
                state.is_out = true;
                if self.states.iter().all(|state| state.is_out) {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
        if !ended.missing.is_empty() {
            self.queue.push_back(ended.missing);
        }
        Ok(())
    }
}

/// The games of an evaluation, as they arrive.
struct Collected {
    started: Option<Started>,
    outcomes: ResultSlots,
    done: EvaluationProgress,
    /// Pieces that each call has reported.
    pieces_by_call: Vec<u64>,
}

/// The places of games or estimates, by policy and seed.
enum ResultSlots {
    Games(Vec<Vec<Option<GameResult>>>),
    Estimates(Vec<Vec<Option<LossEstimate>>>),
}

fn places<T: Clone>(num_policies: u32, num_games: u32) -> Vec<Vec<Option<T>>> {
    vec![vec![None; num_games as usize]; num_policies as usize]
}

/// What is in the places, if all are filled.
fn filled<T>(places: Vec<Vec<Option<T>>>) -> Option<Vec<Vec<T>>> {
    places.into_iter().map(|places| places.into_iter().collect()).collect()
}

impl Collected {
    /// Handles an event; returns true if it had games.
    fn take(&mut self, call: usize, event: Event) -> Result<bool, ClientError> {
        match event {
            Event::Started(started) => match &self.started {
                Some(first) if *first != *started => {
                    let message = "the servers do not play the same game; are they of one version?";
                    return Err(ClientError::Answer(message.to_owned()));
                }
                _ => self.started = Some(*started),
            },
            Event::Games(games) => {
                let ResultSlots::Games(places) = &mut self.outcomes else { return Err(of_another_kind()) };
                self.done.games += games.len() as u64;
                for game in games {
                    places[game.policy as usize][game.seed_index as usize] = Some(game);
                }
                return Ok(true);
            }
            Event::Estimates(estimates) => {
                let ResultSlots::Estimates(places) = &mut self.outcomes else {
                    return Err(of_another_kind());
                };
                self.done.games += estimates.len() as u64;
                for estimate in estimates {
                    places[estimate.policy as usize][estimate.seed_index as usize] = Some(estimate);
                }
                return Ok(true);
            }
            Event::Progress(progress) => {
                if self.pieces_by_call.len() <= call {
                    self.pieces_by_call.resize(call + 1, 0);
                }
                self.pieces_by_call[call] = progress.pieces;
            }
            Event::Recording(..) | Event::Done => {}
        }
        Ok(false)
    }

    fn progress(&self) -> EvaluationProgress {
        EvaluationProgress { pieces: self.pieces_by_call.iter().sum(), ..self.done }
    }

    fn finish(self) -> Result<Evaluated, ClientError> {
        let missing = || ClientError::Answer("games are missing".to_owned());
        let landed = self.progress().pieces;
        let started = self.started.ok_or_else(missing)?;
        let outcomes = match self.outcomes {
            ResultSlots::Games(places) => Outcomes::Games(filled(places).ok_or_else(missing)?),
            ResultSlots::Estimates(places) => Outcomes::Estimates(filled(places).ok_or_else(missing)?),
        };
        let pieces = match &outcomes {
            Outcomes::Games(games) => games.iter().flatten().map(|game| game.pieces).sum(),
            Outcomes::Estimates(_) => landed,
        };
        Ok(Evaluated { started, outcomes, pieces })
    }
}

fn of_another_kind() -> ClientError {
    ClientError::Answer("it has games for estimates, or estimates for games".to_owned())
}
