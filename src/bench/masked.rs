//! A session of the `guideline` rules on a server: the actions depend on the playfield, so each step takes one from the mask of
//! the previous answer.

use tonic::transport::Channel;

use super::remote::{Remote, RemoteError, config, enumerate_placements};
use tetrion_core::engine::rng::{below, mix};
use tetrion_protocol::pb;
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion_protocol::tensor;

/// A session that takes its actions from its masks.
#[derive(Debug)]
pub struct MaskedSession {
    remote: Remote,
    client: EnvironmentServiceClient<Channel>,
    name: String,
    num_actions: usize,
    mask: pb::Tensor,
    actions: Vec<i32>,
    drawn: u64,
}

impl Remote {
    /// A session of the `guideline` rules with four rows above the visible ones, after Reset. It observes `board_bits`,
    /// `current` and the mask.
    ///
    /// # Errors
    /// If the server refuses the session.
    pub fn masked_session(&self, num_envs: u32) -> Result<MaskedSession, RemoteError> {
        let rules = pb::Rules { preset: "guideline".to_owned(), height: 24, ..Default::default() };
        let action_mask_format = pb::ActionMaskFormat::Bits.into();
        let config = pb::SessionConfig { rules: Some(rules), action_mask_format, ..config(num_envs, false) };
        let mut client = self.client();
        let (name, num_actions, mask) = self.runtime.block_on(async {
            let request = pb::CreateSessionRequest { config: Some(config), ..Default::default() };
            let session = client.create_session(request).await?.into_inner().session;
            let session = session.ok_or(RemoteError::Answer("session"))?;
            let spec = session.action_spec.ok_or(RemoteError::Answer("action"))?;
            let (name, num_actions) = (session.name, spec.high() as usize + 1);
            let request = pb::ResetRequest { session: name.clone(), ..Default::default() };
            let mask = client.reset(request).await?.into_inner().action_mask;
            Ok::<_, RemoteError>((name, num_actions, mask.ok_or(RemoteError::Answer("mask"))?))
        })?;
        Ok(MaskedSession {
            remote: self.clone(),
            client,
            name,
            num_actions,
            mask,
            actions: Vec::new(),
            drawn: 0,
        })
    }
}

impl MaskedSession {
    /// Takes one step: in each environment the first existing action after a random one; returns the number of environments.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn step(&mut self) -> Result<u64, RemoteError> {
        let num_actions = self.num_actions;
        self.actions.clear();
        for mask in self.mask.data.chunks_exact(num_actions.div_ceil(8)) {
            self.drawn += 1;
            let from = below(mix(self.drawn), num_actions as u64) as usize;
            let exists = |action: &usize| mask[action / 8] >> (action % 8) & 1 == 1;
            let action = (from..num_actions).chain(0..from).find(exists);
            self.actions.push(action.ok_or(RemoteError::Answer("action"))? as i32);
        }
        let num_envs = self.actions.len() as u32;
        let actions = Some(tensor::encode(vec![num_envs], &self.actions));
        let request = pb::StepRequest { session: self.name.clone(), actions, ..Default::default() };
        let answer = self.remote.runtime.block_on(self.client.step(request))?.into_inner();
        self.mask = answer.action_mask.ok_or(RemoteError::Answer("mask"))?;
        Ok(num_envs.into())
    }

    /// Lists every placement of every environment with the 30 features of `modern30`; returns the number of placements.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn enumerate_placements(&mut self) -> Result<u64, RemoteError> {
        self.remote.runtime.block_on(enumerate_placements(&mut self.client, &self.name, "modern30"))
    }
}
