//! What a session answers that no fault touches: the same seeds and actions, on a server that nothing happens to.
//!
//! Sessions with the same seed and the same actions get the same bytes, so a few twins are enough for a thousand sessions:
//! one of each class. Only digests of their answers are kept.

use anyhow::{Context, Result};
use prost::Message;
use tetrion::protocol::limits::{MAX_RESPONSE_BYTES, MAX_TTL};
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::pb::evaluate_policies_response::Event;
use tetrion::protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::protocol::{pb, seeding};
use tokio::sync::Mutex;
use tonic::transport::Channel;
use tonic::{Code, Status};
use xxhash_rust::xxh3::xxh3_64;

use crate::bystander::{connect, step};
use crate::load::ENVS;
use crate::messages::endless;
use crate::victim::{DESCRIPTORS, Victim};

/// How many kinds of sessions there are: session `n` is of class `n % CLASSES`.
pub const CLASSES: usize = 4;

/// The twins, and the server that they have to themselves.
#[derive(Debug)]
pub struct Twins {
    victim: Victim,
    channel: Channel,
    classes: Vec<Mutex<Twin>>,
    evaluation: u64,
}

#[derive(Debug)]
struct Twin {
    session: String,
    /// Of the answers to its steps.
    digests: Vec<u64>,
}

impl Twins {
    pub async fn start() -> Result<Twins> {
        let victim = Victim::start(&["--threads", "1"], false, DESCRIPTORS, true)?;
        let channel = connect(victim.address).await?;
        let mut client = EnvironmentServiceClient::new(channel.clone());
        let mut classes = Vec::new();
        for class in 0..CLASSES {
            // It waits while the others catch up with it, after a kill, and that may take longer than a usual lease.
            let longest = prost_types::Duration { seconds: MAX_TTL.as_secs() as i64, nanos: 0 };
            let creation = pb::CreateSessionRequest { ttl: Some(longest), ..creation(class, String::new()) };
            let created = client.create_session(creation).await?.into_inner();
            let session = created.session.context("a session")?.name;
            client.reset(pb::ResetRequest { session: session.clone(), ..Default::default() }).await?;
            classes.push(Mutex::new(Twin { session, digests: Vec::new() }));
        }
        let evaluation = evaluate(&channel).await?;
        Ok(Twins { victim, channel, classes, evaluation })
    }

    /// Checks the answer to a step: sessions of this class have made so many before.
    ///
    /// # Errors
    /// With code DATA_LOSS if it is another one, and with those of the twins' server.
    pub async fn check(&self, class: usize, steps: u64, answer: &pb::StepResponse) -> Result<(), Status> {
        let mut twin = self.classes[class].lock().await;
        while twin.digests.len() <= steps as usize {
            let mut client = EnvironmentServiceClient::new(self.channel.clone());
            let answer = client.step(step(&twin.session, ENVS)).await?.into_inner();
            twin.digests.push(digest(&answer));
        }
        if digest(answer) == twin.digests[steps as usize] {
            return Ok(());
        }
        Err(Status::data_loss(format!("step {steps} of class {class} is not that of its twin")))
    }

    /// Checks what an evaluation has found.
    ///
    /// # Errors
    /// With code DATA_LOSS if the twins' server has found something else.
    pub fn check_evaluation(&self, digest: u64) -> Result<(), Status> {
        if digest == self.evaluation {
            return Ok(());
        }
        Err(Status::data_loss("the evaluation is not that of its twin"))
    }

    /// Stops the server of the twins, and checks that it ends well.
    pub async fn stop(self) -> Result<()> {
        self.victim.stop().await
    }
}

/// How to make a session of a class.
pub fn creation(class: usize, request_id: String) -> pb::CreateSessionRequest {
    let config = pb::SessionConfig {
        num_envs: ENVS,
        seeding: Some(seeding::from_seed(class as u64)),
        ..Default::default()
    };
    pb::CreateSessionRequest { config: Some(config), request_id, ..Default::default() }
}

fn digest(answer: &pb::StepResponse) -> u64 {
    xxh3_64(&answer.encode_to_vec())
}

/// Plays a few games; returns a digest of their summary.
///
/// # Errors
/// Those of the call, and code DATA_LOSS if it ends well without a summary.
pub async fn evaluate(channel: &Channel) -> Result<u64, Status> {
    let client = EvaluationServiceClient::new(channel.clone());
    let mut client = client.max_decoding_message_size(MAX_RESPONSE_BYTES as usize);
    let request = pb::EvaluatePoliciesRequest { max_pieces: 20_000, progress_interval: None, ..endless() };
    let seeding = Some(seeding::from_drawn(1, 4));
    let request = pb::EvaluatePoliciesRequest { seeding, ..request };
    let mut answers = client.evaluate_policies(request).await?.into_inner();
    let mut summary = None;
    while let Some(message) = answers.message().await? {
        if let Some(Event::Summary(found)) = message.event {
            summary = Some(xxh3_64(&found.encode_to_vec()));
        }
    }
    summary.ok_or_else(|| Status::new(Code::DataLoss, "an evaluation without a summary"))
}
