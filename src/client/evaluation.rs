//! Whole games: the request to one server, and its answer while the games are played.

use std::collections::BTreeMap;
use std::time::Duration;

use tonic::Streaming;

use super::connection::ServerChannel;
use super::error::error;
use super::{Client, ClientError, Policies, RulesChoice};
use crate::engine::Rules;
use crate::wire::limits::{MAX_RECORDED_GAMES, MAX_RESPONSE_BYTES};
use crate::wire::pb::evaluate_policies_request::Games;
use crate::wire::pb::evaluate_policies_response;
use crate::wire::pb::evaluation_service_client::EvaluationServiceClient;
use crate::wire::rules::ResolvedRules;
use crate::wire::tensor::{self, Dim, Element};
use crate::wire::{InField, duration, pb};

/// How often the server reports progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Games to play.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRequest {
    /// The rules.
    pub rules: RulesChoice,
    /// The rules version that results must have; empty for any.
    pub rules_version: String,
    /// The policies that play.
    pub policies: Policies,
    /// The seeds of the games.
    pub seeds: Seeds,
    /// Pieces after which the server cuts a game; 0 for the server's limit.
    pub max_pieces: u64,
    /// Steps after which the server cuts a game (keys, if the rules have keys); 0 for the server's limit.
    pub max_steps: u64,
    /// Trials at each height for an estimate of the length of games; 0 to play the games.
    pub loss_trials: u32,
}

impl EvaluationRequest {
    /// The message for a server. [`wire::evaluation::decode`](crate::wire::evaluation::decode) turns it into what a
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
        /// The number.
        seed: u64,
        /// Games per policy.
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

    fn encode(&self) -> Games {
        match self {
            Seeds::Common { seed, count } => Games::SeedRange(pb::SeedRange { seed: *seed, count: *count }),
            Seeds::PerPolicy(rows) => {
                let shape = vec![rows.len() as u32, self.games_per_policy()];
                Games::Seeds(tensor::encode(shape, &rows.concat()))
            }
        }
    }
}

/// A message of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The first message: a description of the evaluation.
    Started(Box<Started>),
    /// Finished games.
    Games(Vec<GameResult>),
    /// The actions of a recorded game: its policy, its seed, and its actions.
    Actions(Pair, Vec<u16>),
    /// The progress so far.
    Progress(EvaluationProgress),
    /// The last message: all games have arrived.
    Done,
}

/// Description of an evaluation, with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// The preset that the rules are based on, which may be one that only the server knows.
    pub preset: String,
    /// The rules.
    pub rules: Rules,
    /// Version of the rules.
    pub rules_version: String,
    /// Pieces after which the server cuts a game.
    pub max_pieces: u64,
    /// Steps after which the server cuts a game.
    pub max_steps: u64,
    /// Trials per estimate; 0 if games are played.
    pub loss_trials: u32,
}

/// A finished game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameResult {
    /// The index of the policy that played.
    pub policy: u32,
    /// The index of the seed in the evaluation.
    pub seed_index: u32,
    /// The seed that deals the same pieces again.
    pub seed: u64,
    /// Lines cleared.
    pub lines: u64,
    /// Pieces landed.
    pub pieces: u64,
    /// Steps taken: keys if the rules have keys, else pieces.
    pub steps: u64,
    /// Points under the rules' scoring.
    pub score: f64,
    /// Whether a limit cut the game.
    pub truncated: bool,
}

/// The progress of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationProgress {
    /// Games finished.
    pub games: u64,
    /// Total number of games.
    pub num_games: u64,
    /// Pieces landed, including unfinished games.
    pub pieces: u64,
}

/// A complete evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Description of the evaluation.
    pub started: Started,
    /// The games of each policy, in the order of their seeds.
    pub games: Vec<Vec<GameResult>>,
    /// Pieces landed in the games, or in the trials of estimates.
    pub pieces: u64,
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

    /// Lets a server play some games again and returns their actions, in the order of the pairs, with the games. It
    /// uses the first server that is not lost. A game may be cut earlier than without recording: see
    /// `Limits.max_recorded_steps`.
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
    ) -> Result<Vec<(GameResult, Vec<u16>)>, ClientError> {
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

/// An evaluation in progress.
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
            Some(Message::Actions(actions)) => {
                Event::Actions((actions.policy_index, actions.seed_index), decode_actions(&actions.actions)?)
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

impl ServerChannel {
    pub(super) async fn evaluate(
        &self,
        request: &EvaluationRequest,
        pairs: Option<&[Pair]>,
        record: bool,
    ) -> Result<Events, ClientError> {
        let mut client = EvaluationServiceClient::new(self.channel.clone())
            .max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
        let answer = client
            .evaluate_policies(self.request(pb::EvaluatePoliciesRequest {
                min_revision: self.min_revision,
                ..encode(request, pairs, record)
            }))
            .await;
        let stream = answer.map_err(|status| self.error(&status))?.into_inner();
        Ok(Events { address: self.address.clone(), stream, done: false })
    }

    async fn record(
        &self,
        request: &EvaluationRequest,
        pairs: &[Pair],
    ) -> Result<Vec<(GameResult, Vec<u16>)>, ClientError> {
        let (mut games, mut actions) = (BTreeMap::new(), BTreeMap::new());
        for pairs in pairs.chunks(MAX_RECORDED_GAMES as usize) {
            let mut events = self.evaluate(request, Some(pairs), true).await?;
            while let Some(event) = events.next().await? {
                match event {
                    Event::Games(some) => {
                        games.extend(some.into_iter().map(|game| ((game.policy, game.seed_index), game)));
                    }
                    Event::Actions(pair, done) => drop(actions.insert(pair, done)),
                    Event::Started(_) | Event::Progress(_) | Event::Done => {}
                }
            }
        }
        let recorded = |pair: &Pair| Some((games.get(pair).copied()?, actions.get(pair).cloned()?));
        let missing = || ClientError::Answer("it has no actions of a game that was recorded".to_owned());
        pairs.iter().map(|pair| recorded(pair).ok_or_else(missing)).collect()
    }
}

fn encode(request: &EvaluationRequest, pairs: Option<&[Pair]>, record: bool) -> pb::EvaluatePoliciesRequest {
    let pairs = pairs.map(|pairs| {
        let numbers: Vec<u32> = pairs.iter().flat_map(|&(policy, seed)| [policy, seed]).collect();
        tensor::encode(vec![pairs.len() as u32, 2], &numbers)
    });
    let (weights, agents) = request.policies.encode();
    pb::EvaluatePoliciesRequest {
        rules: Some((&request.rules).into()),
        rules_version: request.rules_version.clone(),
        weights,
        agents,
        games: Some(request.seeds.encode()),
        pairs,
        max_pieces: request.max_pieces,
        max_steps: request.max_steps,
        loss_trials: request.loss_trials,
        progress_interval: duration::encode(PROGRESS_INTERVAL),
        max_response_bytes: MAX_RESPONSE_BYTES,
        record,
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
        loss_trials: started.loss_trials,
    })
}

fn decode_actions(actions: &[u32]) -> Result<Vec<u16>, ClientError> {
    let wrong = || ClientError::Answer("it has an action above 65535".to_owned());
    actions.iter().map(|&action| u16::try_from(action).map_err(|_| wrong())).collect()
}

fn decode_games(results: &pb::EvaluationResults) -> Result<Vec<GameResult>, ClientError> {
    fn column<T: Element>(tensor: &Option<pb::Tensor>, name: &str) -> Result<Vec<T>, ClientError> {
        let array = tensor::decode_field::<T>(tensor.as_ref(), name, &[Dim::Any]);
        array.map(|array| array.elements).map_err(|error| ClientError::Answer(error.to_string()))
    }
    let policies = column::<u32>(&results.policy_indices, "policy_indices")?;
    let seed_indices = column::<u32>(&results.seed_indices, "seed_indices")?;
    let seeds = column::<u64>(&results.seeds, "seeds")?;
    let lines = column::<u64>(&results.lines, "lines")?;
    let pieces = column::<u64>(&results.pieces, "pieces")?;
    let steps = column::<u64>(&results.steps, "steps")?;
    let scores = column::<f64>(&results.scores, "scores")?;
    let truncated = results.truncated.as_ref().map(|tensor| tensor.data.as_ref()).unwrap_or_default();
    let length = policies.len();
    let lengths = [seed_indices.len(), seeds.len(), lines.len(), pieces.len(), steps.len(), scores.len()];
    if lengths.iter().any(|other| *other != length) || truncated.len() != length {
        return Err(ClientError::Answer("its columns are of different lengths".to_owned()));
    }
    let game = |i: usize| GameResult {
        policy: policies[i],
        seed_index: seed_indices[i],
        seed: seeds[i],
        lines: lines[i],
        pieces: pieces[i],
        steps: steps[i],
        score: scores[i],
        truncated: truncated[i] != 0,
    };
    Ok((0..length).map(game).collect())
}
