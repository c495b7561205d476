//! Whole games: what is asked for, and what comes of it while the servers play.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::Streaming;

use super::connection::LinkedServer;
use super::error::unreadable;
use super::spread::{EvaluationNews, EvaluationProgress, Outcomes, SpreadEvaluation};
use super::{Client, ClientError, Policy, RulesChoice};
use tetrion_core::engine::Rules;
use tetrion_core::rollout::PlayedGame;
use tetrion_protocol::evaluation::write_pairs;
use tetrion_protocol::limits::{MAX_RECORDED_GAMES, MAX_RESPONSE_BYTES};
use tetrion_protocol::pb::evaluate_policies_response::Event as Message;
use tetrion_protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_protocol::{InField, duration, pb, recording, seeding};
use tetrion_toolkit::recording::Recording;

/// How often the server reports progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Games for a server to play: rules, policies, seeds and limits.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRequest {
    pub rules: RulesChoice,
    /// The rules version that results must have; empty for any.
    pub rules_version: String,
    pub policies: Vec<Policy>,
    pub seeds: Seeds,
    /// Pieces after which the server cuts a game; 0 for the server's limit.
    pub max_pieces: u64,
    /// Steps after which the server cuts a game (keys, if the rules have keys); 0 for the server's limit.
    pub max_steps: u64,
    /// Trials at each height for estimates of the length of games; 0 to play the games.
    pub loss_trials: u32,
    /// The policy that all others play against, under rules of two players: a match on each side per seed.
    pub opponent: Option<Policy>,
}

impl EvaluationRequest {
    /// Games of these policies under the default rules, as long as the server allows.
    pub fn new(policies: Vec<Policy>, seeds: Seeds) -> EvaluationRequest {
        EvaluationRequest {
            rules: RulesChoice::default(),
            rules_version: String::new(),
            policies,
            seeds,
            max_pieces: 0,
            max_steps: 0,
            loss_trials: 0,
            opponent: None,
        }
    }

    /// The message for a server, which reads it with [`ReadEvaluation`](tetrion_protocol::evaluation::ReadEvaluation).
    ///
    /// # Panics
    /// Under the conditions of [`Seeds::games_per_policy`].
    pub fn message(&self) -> pb::EvaluatePoliciesRequest {
        pb::EvaluatePoliciesRequest {
            rules: Some((&self.rules).into()),
            rules_version: self.rules_version.clone(),
            policies: self.policies.iter().map(Policy::encode).collect(),
            seeding: Some(self.seeds.encode()),
            max_pieces: self.max_pieces,
            max_steps: self.max_steps,
            loss_estimation: (self.loss_trials > 0)
                .then_some(pb::LossEstimation { trials: self.loss_trials }),
            opponent: self.opponent.as_ref().map(Policy::encode),
            episodes_per_seed: if self.opponent.is_some() { 2 } else { 0 },
            include_results: true,
            progress_interval: duration::encode(PROGRESS_INTERVAL),
            max_response_bytes: MAX_RESPONSE_BYTES,
            ..Default::default()
        }
    }
}

/// The games that the policies play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// Seeds that the server draws from one number: every policy gets the same pieces.
    Common {
        /// Number from which the server draws the seeds.
        seed: u64,
        /// Number of seeds, which is the number of games per policy.
        count: u32,
    },
    /// One row of seeds per policy, all rows of one length: policies may play different pieces.
    PerPolicy(Vec<Vec<u64>>),
}

impl Seeds {
    /// Games per policy.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn games_per_policy(&self) -> u32 {
        match self {
            Seeds::Common { count, .. } => *count,
            Seeds::PerPolicy(rows) => {
                let length = rows.first().map_or(0, Vec::len);
                assert!(rows.iter().all(|row| row.len() == length), "every policy has as many seeds");
                length as u32
            }
        }
    }

    fn encode(&self) -> pb::Seeding {
        match self {
            Seeds::Common { seed, count } => seeding::from_drawn(*seed, *count),
            Seeds::PerPolicy(rows) => {
                self.games_per_policy();
                seeding::from_seeds_per_policy(rows.concat())
            }
        }
    }
}

/// Description of an evaluation, with every default filled in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Started {
    /// The preset that the rules are based on, which may be one that only the server knows.
    pub preset: String,
    pub rules: Rules,
    pub rules_version: String,
    /// Pieces after which the server cuts a game.
    pub max_pieces: u64,
    /// Steps after which the server cuts a game.
    pub max_steps: u64,
    /// Trials per estimate; 0 if games are played.
    pub loss_trials: u32,
}

/// All results of an evaluation, sorted by policy and seed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluated {
    pub started: Started,
    /// What has come of it.
    pub outcomes: Outcomes,
    /// Pieces landed in the games, or in the trials of estimates.
    pub pieces: u64,
}

impl Evaluated {
    /// Number of games or estimates.
    pub fn num_games(&self) -> u64 {
        let num_games = match &self.outcomes {
            Outcomes::Games(games) => games.iter().map(Vec::len).sum::<usize>(),
            Outcomes::Estimates(estimates) => estimates.iter().map(Vec::len).sum(),
        };
        num_games as u64
    }

    /// The games of a policy.
    ///
    /// # Panics
    /// If there is no such policy, or games were not played but estimated.
    pub fn games(&self, policy: usize) -> &[PlayedGame] {
        match &self.outcomes {
            Outcomes::Games(games) => &games[policy],
            Outcomes::Estimates(_) => panic!("no games were played"),
        }
    }
}

/// Indices of the policy and the seed of a game.
pub type Pair = (u32, u32);

impl Client {
    /// Lets the servers play all games, whatever happens to single calls, and collects them.
    ///
    /// # Errors
    /// If a server refuses, unless it runs no evaluations and another one does; or no server has answered for as long as
    /// [`ConnectOptions::patience`](super::ConnectOptions::patience).
    ///
    /// # Panics
    /// Under the conditions of [`Seeds::games_per_policy`].
    pub async fn evaluate_all(
        &self,
        request: &EvaluationRequest,
        mut progress: impl FnMut(EvaluationProgress),
    ) -> Result<Evaluated, ClientError> {
        let mut run = self.start_evaluation(request.message(), self.servers.len())?;
        let mut last = EvaluationProgress::default();
        while let Some(news) = run.next().await? {
            if let EvaluationNews::Progress(now) = news {
                last = now;
                progress(now);
            }
        }
        let started = run.spread.started().cloned().ok_or_else(|| unreadable("it has no description"))?;
        Ok(Evaluated {
            started: decode_started(started)?,
            outcomes: run.spread.into_outcomes()?,
            pieces: last.pieces,
        })
    }

    /// Starts an evaluation, from a message. `num_servers` is about how many servers there will be; a single one gets
    /// everything in one call.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if the message lists pairs that cannot be read.
    pub fn start_evaluation(
        &self,
        request: pb::EvaluatePoliciesRequest,
        num_servers: usize,
    ) -> Result<RunningEvaluation, ClientError> {
        let spread = SpreadEvaluation::new(request, num_servers, self.settings.patience)?;
        let (sender, receiver) = mpsc::channel(64);
        let mut run = RunningEvaluation {
            spread,
            servers: Vec::new(),
            calls: JoinSet::new(),
            sender,
            receiver,
            is_over: false,
        };
        run.use_servers(self);
        Ok(run)
    }

    /// Lets a server play some games again and returns their recordings, in the order of the pairs; of matches, both of each
    /// pair. It uses the first server that is not lost. A game may be cut earlier than without recording: see
    /// `EvaluationLimits.max_recorded_steps`.
    ///
    /// # Errors
    /// If the server refuses, does not answer, or does not record.
    ///
    /// # Panics
    /// Under the conditions of [`Seeds::games_per_policy`].
    pub async fn record(
        &self,
        request: &EvaluationRequest,
        pairs: &[Pair],
    ) -> Result<Vec<Recording>, ClientError> {
        let (last, others) = self.servers.split_last().expect("a client has a server");
        for server in others {
            match server.record(request, pairs).await {
                Err(ClientError::Lost { .. }) => {}
                answer => return answer,
            }
        }
        last.record(request, pairs).await
    }
}

/// An evaluation in progress. Dropping it ends its games on the servers.
#[derive(Debug)]
pub struct RunningEvaluation {
    spread: SpreadEvaluation,
    servers: Vec<LinkedServer>,
    calls: JoinSet<()>,
    sender: mpsc::Sender<(usize, CallNews)>,
    receiver: mpsc::Receiver<(usize, CallNews)>,
    is_over: bool,
}

/// What a call has brought.
#[derive(Debug)]
enum CallNews {
    Message(Box<pb::EvaluatePoliciesResponse>),
    End(Result<(), ClientError>),
}

impl RunningEvaluation {
    /// Gives further calls to the servers of another client. Calls in progress go on.
    pub fn use_servers(&mut self, client: &Client) {
        self.spread.set_servers(client.servers.iter().map(|server| server.address.clone()));
        self.servers.clone_from(&client.servers);
    }

    /// The evaluation as far as it has come.
    pub fn spread(&self) -> &SpreadEvaluation {
        &self.spread
    }

    /// Waits for the next news. The last one is a report on all games; then comes `None`. Giving up the wait loses nothing.
    ///
    /// # Errors
    /// If a server refuses, unless it runs no evaluations and another one does; or no server has answered for as long as
    /// the client is patient.
    pub async fn next(&mut self) -> Result<Option<EvaluationNews>, ClientError> {
        while !self.spread.is_over() {
            self.hand_out();
            let waking = self.spread.next_attempt();
            let news = tokio::select! {
                Some((call, news)) = self.receiver.recv() => match news {
                    CallNews::Message(message) => self.spread.take(call, *message)?,
                    CallNews::End(ended) => self.spread.end(call, ended)?.map(EvaluationNews::Lost),
                },
                () = tokio::time::sleep_until(waking) => None,
            };
            if news.is_some() {
                return Ok(news);
            }
        }
        let is_first = !std::mem::replace(&mut self.is_over, true);
        Ok(is_first.then(|| EvaluationNews::Progress(self.spread.report())))
    }

    fn hand_out(&mut self) {
        while let Some(call) = self.spread.hand_out() {
            let known = self.servers.iter().find(|server| server.address == call.server);
            let (server, sender) = (known.expect("it is one of ours").clone(), self.sender.clone());
            self.calls.spawn(async move {
                let ended = server.play(call.request, |message| {
                    let (sender, news) = (sender.clone(), CallNews::Message(Box::new(message)));
                    async move { sender.send((call.number, news)).await.is_ok() }
                });
                let ended = ended.await;
                // Nobody may wait for it any more.
                let _ = sender.send((call.number, CallNews::End(ended))).await;
            });
        }
        while self.calls.try_join_next().is_some() {}
    }
}

impl LinkedServer {
    async fn evaluate(
        &self,
        request: pb::EvaluatePoliciesRequest,
    ) -> Result<Streaming<pb::EvaluatePoliciesResponse>, ClientError> {
        let mut client = EvaluationServiceClient::new(self.link.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
        let request = pb::EvaluatePoliciesRequest { min_revision: self.min_revision, ..request };
        let answer = client.evaluate_policies(self.request(request)).await;
        Ok(answer.map_err(|status| self.error(&status))?.into_inner())
    }

    /// Passes the messages of a call on, as long as they are taken.
    async fn play<F: Future<Output = bool>>(
        &self,
        request: pb::EvaluatePoliciesRequest,
        take: impl Fn(pb::EvaluatePoliciesResponse) -> F,
    ) -> Result<(), ClientError> {
        let mut answers = self.evaluate(request).await?;
        while let Some(message) = answers.message().await.map_err(|status| self.error(&status))? {
            if !take(message).await {
                break;
            }
        }
        Ok(())
    }

    async fn record(
        &self,
        request: &EvaluationRequest,
        pairs: &[Pair],
    ) -> Result<Vec<Recording>, ClientError> {
        let mut recordings = BTreeMap::new();
        let all = pb::EvaluatePoliciesRequest { include_recordings: true, ..request.message() };
        let episodes = all.episodes_per_seed.max(1);
        for pairs in pairs.chunks((MAX_RECORDED_GAMES / episodes) as usize) {
            let mut message = all.clone();
            message.pairs = Some(write_pairs(pairs.iter().copied()));
            let mut answers = self.evaluate(message).await?;
            while let Some(message) = answers.message().await.map_err(|status| self.error(&status))? {
                if let Some(Message::Recording(message)) = message.event {
                    let recording = recording::decode(&message.recording.unwrap_or_default());
                    let recording = recording.in_field("recording").map_err(unreadable)?;
                    recordings
                        .insert((message.policy_index, message.seed_index, message.episode_index), recording);
                }
            }
        }
        let missing = || unreadable("it has no recording of a game");
        let games = pairs.iter().flat_map(|&(policy, seed)| (0..episodes).map(move |n| (policy, seed, n)));
        games.map(|game| recordings.remove(&game).ok_or_else(missing)).collect()
    }
}

fn decode_started(started: pb::EvaluationStarted) -> Result<Started, ClientError> {
    let mut rules = started.rules.ok_or_else(|| unreadable("it has no rules"))?;
    let preset = std::mem::take(&mut rules.preset);
    // Every field is filled in, so any preset will do.
    let resolved = ResolvedRules::try_from(&rules).in_field("rules");
    let ResolvedRules { rules, .. } = resolved.map_err(unreadable)?;
    Ok(Started {
        preset,
        rules,
        rules_version: started.rules_version,
        max_pieces: started.max_pieces,
        max_steps: started.max_steps,
        loss_trials: started.loss_estimation.map_or(0, |estimation| estimation.trials),
    })
}
