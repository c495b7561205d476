//! Whole games: the request to one server, and its answer while the games are played.

use std::collections::BTreeMap;
use std::time::Duration;

use tonic::Streaming;

use super::connection::LinkedServer;
use super::error::error;
use super::{Client, ClientError, Policy, RulesChoice};
use tetrion_core::engine::{EpisodeEnd, Rules};
pub use tetrion_protocol::evaluation::Estimate;
use tetrion_protocol::limits::{MAX_RECORDED_GAMES, MAX_RESPONSE_BYTES};
use tetrion_protocol::pb::evaluate_policies_response;
use tetrion_protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion_protocol::rules::ResolvedRules;
use tetrion_protocol::tensor::{self, DimSize, Element};
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
        }
    }

    /// Number of policies, counting rows of weights.
    pub(super) fn num_policies(&self) -> usize {
        self.policies.iter().map(Policy::num_rows).sum()
    }

    /// The message for a server. [`decode`](tetrion_protocol::evaluation::decode) turns it into what a
    /// server of this version would play.
    ///
    /// # Panics
    /// Under the conditions of [`Seeds::games_per_policy`].
    pub fn message(&self) -> pb::EvaluatePoliciesRequest {
        encode(self, None, false)
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

/// A message of an evaluation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The first message: a description of the evaluation.
    Started(Box<Started>),
    /// Games that have finished since the last such message, in any order.
    Games(Vec<GameResult>),
    /// Estimates that have finished since the last such message, in any order.
    Estimates(Vec<LossEstimate>),
    /// The recording of a game, by its policy and its seed.
    Recording(Pair, Box<Recording>),
    Progress(EvaluationProgress),
    /// The last message: all games have arrived.
    Done,
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

/// The outcome of a game, with the indices that identify it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GameResult {
    /// The index of the policy that played.
    pub policy: u32,
    /// The index of the seed in the evaluation.
    pub seed_index: u32,
    /// The seed that deals the same pieces again.
    pub seed: u64,
    pub lines: u64,
    pub pieces: u64,
    /// Steps taken: keys if the rules have keys, else pieces.
    pub steps: u64,
    /// Points under the rules' scoring.
    pub score: f64,
    /// The reason for the end; `None` if the game had not ended.
    pub end: Option<EpisodeEnd>,
}

impl GameResult {
    /// Whether a limit cut the game, or the end of its sequence.
    pub fn is_truncated(&self) -> bool {
        !self.end.is_some_and(EpisodeEnd::is_terminated)
    }
}

/// A finished estimate of how long games last.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LossEstimate {
    /// The index of the policy that played.
    pub policy: u32,
    /// The index of the seed in the evaluation.
    pub seed_index: u32,
    pub seed: u64,
    pub estimate: Estimate,
}

/// How far a server is with an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationProgress {
    /// Games finished.
    pub games: u64,
    /// Games of the whole evaluation, finished or not.
    pub num_games: u64,
    /// Pieces landed, including unfinished games.
    pub pieces: u64,
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

/// What has come of an evaluation: games, or estimates of how long they last.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcomes {
    /// The games of each policy, in the order of their seeds.
    Games(Vec<Vec<GameResult>>),
    /// The estimates of each policy, in the order of their seeds.
    Estimates(Vec<Vec<LossEstimate>>),
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
    pub fn games(&self, policy: usize) -> &[GameResult] {
        match &self.outcomes {
            Outcomes::Games(games) => &games[policy],
            Outcomes::Estimates(_) => panic!("no games were played"),
        }
    }
}

/// Indices of the policy and the seed of a game.
pub type Pair = (u32, u32);

impl Client {
    /// Lets the first server play all games, and returns their events as they arrive.
    ///
    /// # Errors
    /// If the server refuses, or does not answer.
    ///
    /// # Panics
    /// Under the conditions of [`Seeds::games_per_policy`].
    pub async fn evaluate(&self, request: &EvaluationRequest) -> Result<Events, ClientError> {
        self.servers[0].evaluate(request, None, false).await
    }

    /// Lets a server play some games again and returns their recordings, in the order of the pairs. It uses the first
    /// server that is not lost. A game may be cut earlier than without recording: see
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

/// The messages of an evaluation, as they arrive while its games are played.
#[derive(Debug)]
pub struct Events {
    address: String,
    stream: Streaming<pb::EvaluatePoliciesResponse>,
    done: bool,
}

impl Events {
    /// The next message; `None` after [`Event::Done`].
    ///
    /// # Errors
    /// [`ClientError::Lost`] if the connection broke or the answer ended too early.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        use evaluate_policies_response::Event as Message;
        if self.done {
            return Ok(None);
        }
        let message = self.stream.message().await.map_err(|status| error(&self.address, &status))?;
        let Some(message) = message else {
            let message = "the answer ended before all games did".to_owned();
            return Err(ClientError::Lost { address: self.address.clone(), message });
        };
        Ok(Some(match message.event {
            Some(Message::Started(started)) => Event::Started(Box::new(decode_started(started)?)),
            Some(Message::Results(results)) => Event::Games(decode_games(&results)?),
            Some(Message::Estimates(estimates)) => Event::Estimates(decode_estimates(&estimates)?),
            Some(Message::Recording(message)) => {
                let recording = message.recording.unwrap_or_default();
                let recording = recording::decode(&recording).in_field("recording");
                let recording = recording.map_err(|error| ClientError::Answer(error.to_string()))?;
                Event::Recording((message.policy_index, message.seed_index), Box::new(recording))
            }
            Some(Message::Progress(progress)) => Event::Progress(EvaluationProgress {
                games: progress.games_done,
                num_games: progress.num_games,
                pieces: progress.pieces_done,
            }),
            Some(Message::Summary(_)) => {
                self.done = true;
                Event::Done
            }
            None => return Err(ClientError::Answer("an event of an unknown kind".to_owned())),
        }))
    }
}

impl LinkedServer {
    pub(super) async fn evaluate(
        &self,
        request: &EvaluationRequest,
        pairs: Option<&[Pair]>,
        include_recordings: bool,
    ) -> Result<Events, ClientError> {
        let mut client = EvaluationServiceClient::new(self.link.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
        let answer = client
            .evaluate_policies(self.request(pb::EvaluatePoliciesRequest {
                min_revision: self.min_revision,
                ..encode(request, pairs, include_recordings)
            }))
            .await;
        let stream = answer.map_err(|status| self.error(&status))?.into_inner();
        Ok(Events { address: self.address.clone(), stream, done: false })
    }

    async fn record(
        &self,
        request: &EvaluationRequest,
        pairs: &[Pair],
    ) -> Result<Vec<Recording>, ClientError> {
        let mut recordings = BTreeMap::new();
        for pairs in pairs.chunks(MAX_RECORDED_GAMES as usize) {
            let mut events = self.evaluate(request, Some(pairs), true).await?;
            while let Some(event) = events.next().await? {
                if let Event::Recording(pair, recording) = event {
                    recordings.insert(pair, *recording);
                }
            }
        }
        let missing = || ClientError::Answer("it has no recording of a game".to_owned());
        pairs.iter().map(|pair| recordings.remove(pair).ok_or_else(missing)).collect()
    }
}

fn encode(
    request: &EvaluationRequest,
    pairs: Option<&[Pair]>,
    include_recordings: bool,
) -> pb::EvaluatePoliciesRequest {
    let pairs = pairs.map(|pairs| {
        let numbers: Vec<i32> =
            pairs.iter().flat_map(|&(policy, seed)| [policy as i32, seed as i32]).collect();
        tensor::encode(vec![pairs.len() as u32, 2], &numbers)
    });
    pb::EvaluatePoliciesRequest {
        rules: Some((&request.rules).into()),
        rules_version: request.rules_version.clone(),
        policies: request.policies.iter().map(Policy::encode).collect(),
        seeding: Some(request.seeds.encode()),
        pairs,
        max_pieces: request.max_pieces,
        max_steps: request.max_steps,
        loss_estimation: (request.loss_trials > 0)
            .then_some(pb::LossEstimation { trials: request.loss_trials }),
        include_results: true,
        progress_interval: duration::encode(PROGRESS_INTERVAL),
        max_response_bytes: MAX_RESPONSE_BYTES,
        include_recordings,
        ..Default::default()
    }
}

fn decode_started(started: pb::EvaluationStarted) -> Result<Started, ClientError> {
    let mut rules = started.rules.ok_or_else(|| ClientError::Answer("it has no rules".to_owned()))?;
    let preset = std::mem::take(&mut rules.preset);
    // Every field is filled in, so any preset will do.
    let resolved = ResolvedRules::try_from(&rules).in_field("rules");
    let ResolvedRules { rules, .. } = resolved.map_err(|error| ClientError::Answer(error.to_string()))?;
    Ok(Started {
        preset,
        rules,
        rules_version: started.rules_version,
        max_pieces: started.max_pieces,
        max_steps: started.max_steps,
        loss_trials: started.loss_estimation.map_or(0, |estimation| estimation.trials),
    })
}

fn decode_games(results: &pb::EvaluationResults) -> Result<Vec<GameResult>, ClientError> {
    let pairs = pairs(&results.policy_indices, &results.seed_indices)?;
    let length = DimSize::Exactly(pairs.len() as u32);
    let seeds = column::<u64>(&results.seeds, "seeds", length)?;
    let lines = column::<i64>(&results.lines, "lines", length)?;
    let pieces = column::<i64>(&results.pieces, "pieces", length)?;
    let steps = column::<i64>(&results.steps, "steps", length)?;
    let scores = column::<f64>(&results.scores, "scores", length)?;
    let ends = column::<u8>(&results.ends, "ends", length)?;
    let wrong = |i: usize| ClientError::Answer(format!("game {i} of its results has a number that none has"));
    let game = |i: usize| {
        let (policy, seed_index) = pairs[i];
        Some(GameResult {
            policy,
            seed_index,
            seed: seeds[i],
            lines: lines[i].try_into().ok()?,
            pieces: pieces[i].try_into().ok()?,
            steps: steps[i].try_into().ok()?,
            score: scores[i],
            end: EpisodeEnd::with_number(ends[i])?,
        })
    };
    (0..pairs.len()).map(|i| game(i).ok_or_else(|| wrong(i))).collect()
}

fn decode_estimates(estimates: &pb::EvaluationEstimates) -> Result<Vec<LossEstimate>, ClientError> {
    let pairs = pairs(&estimates.policy_indices, &estimates.seed_indices)?;
    let length = DimSize::Exactly(pairs.len() as u32);
    let seeds = column::<u64>(&estimates.seeds, "seeds", length)?;
    let loss_rates = column::<f64>(&estimates.loss_rates, "loss_rates", length)?;
    let lines = column::<f64>(&estimates.lines_per_piece, "lines_per_piece", length)?;
    let steps = column::<f64>(&estimates.steps_per_piece, "steps_per_piece", length)?;
    let scores = column::<f64>(&estimates.score_per_piece, "score_per_piece", length)?;
    let lasts_longer = flags(&estimates.lasts_longer, pairs.len())?;
    let estimate = |(i, (policy, seed_index)): (usize, Pair)| LossEstimate {
        policy,
        seed_index,
        seed: seeds[i],
        estimate: Estimate {
            loss_rate: loss_rates[i],
            lines_per_piece: lines[i],
            steps_per_piece: steps[i],
            score_per_piece: scores[i],
            lasts_longer: lasts_longer[i] != 0,
        },
    };
    Ok(pairs.into_iter().enumerate().map(estimate).collect())
}

/// The policy and the seed of each row.
fn pairs(policies: &Option<pb::Tensor>, seeds: &Option<pb::Tensor>) -> Result<Vec<Pair>, ClientError> {
    let policies = column::<i32>(policies, "policy_indices", DimSize::Any)?;
    let seeds = column::<i32>(seeds, "seed_indices", DimSize::Exactly(policies.len() as u32))?;
    let rows = policies.iter().zip(&seeds).enumerate();
    rows.map(|(row, (&policy, &seed))| {
        let wrong = || ClientError::Answer(format!("row {row} of its results has a negative index"));
        Ok((policy.try_into().map_err(|_| wrong())?, seed.try_into().map_err(|_| wrong())?))
    })
    .collect()
}

fn column<T: Element>(
    tensor: &Option<pb::Tensor>,
    name: &str,
    length: DimSize,
) -> Result<Vec<T>, ClientError> {
    let array = tensor::decode_field::<T>(tensor.as_ref(), name, &[length]);
    array.map(|array| array.elements).map_err(|error| ClientError::Answer(error.to_string()))
}

fn flags(tensor: &Option<pb::Tensor>, length: usize) -> Result<&[u8], ClientError> {
    let flags = tensor.as_ref().map(|tensor| tensor.data.as_ref()).unwrap_or_default();
    if flags.len() != length {
        return Err(ClientError::Answer("its columns are of different lengths".to_owned()));
    }
    Ok(flags)
}
