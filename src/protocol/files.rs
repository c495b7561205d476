//! Rules and policies in files: serde writes and reads them as JSON, or TOML, of their messages.
//!
//! A file may hold a policy for any rules. So its numbers are checked against the largest playfield here, and against
//! the rules of a game when the [`Policy`] becomes agents.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use tetrion_core::agents::{ModelShape, Play, PlayChoice};
use tetrion_core::engine::{MAX_PREVIEW, Rules};

use super::error::{DecodeError, InField};
use super::features::Features;
use super::models;
use super::pb;
use super::pb::policy::Kind;
use super::policies::{Policy, PolicyKind, WeightRows, decode_play, encode_play};
use super::rules::RulesChoice;
use super::tensor::{self, DimSize};

/// A policy with one row of weights.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightPolicy {
    /// The features of the weights.
    pub features: Features,
    /// One weight per feature, then the parameters of the model. Empty in the settings of a search.
    pub row: Vec<f64>,
    /// Model whose output is added to the weighted sum.
    pub model: Option<ModelShape>,
    pub play: Play,
}

impl WeightPolicy {
    /// The policies of a request, with these rows instead of the policy's own.
    pub fn with_rows(&self, rows: Vec<Vec<f64>>) -> Policy {
        let (features, model) = (self.features.clone(), self.model.clone());
        Policy { kind: PolicyKind::Weights(WeightRows { features, rows, model }), play: self.play.into() }
    }
}

impl Serialize for WeightPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = self.with_rows(Vec::new()).encode();
        if let Some(Kind::Weights(weights)) = &mut message.kind {
            // As numbers that people can read, not as bytes.
            let values = || pb::Tensor { values: self.row.clone(), ..Default::default() };
            weights.weights = (!self.row.is_empty()).then(values);
        }
        message.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WeightPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WeightPolicy, D::Error> {
        let message = pb::Policy::deserialize(deserializer)?;
        let Some(Kind::Weights(weights)) = &message.kind else {
            return Err(D::Error::custom("policy.weights: is required"));
        };
        let decode = || {
            let play = decode_play(&message, &largest_rules())?.or(Play::default());
            decode_weights(weights, play).in_field("weights")
        };
        decode().in_field("policy").map_err(D::Error::custom)
    }
}

impl Serialize for RulesChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        pb::Rules::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RulesChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RulesChoice, D::Error> {
        let message = pb::Rules::deserialize(deserializer)?;
        RulesChoice::try_from(&message).in_field("rules").map_err(D::Error::custom)
    }
}

/// Writes a way of playing as a policy without a kind, for serde.
///
/// # Errors
/// If the serializer refuses it.
pub fn write_play<S: Serializer>(play: &PlayChoice, serializer: S) -> Result<S::Ok, S::Error> {
    encode_play(*play).serialize(serializer)
}

/// Reads a way of playing from a policy without a kind, for serde.
///
/// # Errors
/// If it has other fields of a policy, or a number that no rules allow.
pub fn read_play<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PlayChoice, D::Error> {
    let message = pb::Policy::deserialize(deserializer)?;
    if message.kind.is_some() || !message.label.is_empty() {
        return Err(D::Error::custom("play: has a kind or a label, expected search and terminalValue only"));
    }
    decode_play(&message, &largest_rules()).in_field("play").map_err(D::Error::custom)
}

fn decode_weights(message: &pb::Weights, play: Play) -> Result<WeightPolicy, DecodeError> {
    let features = message.features.as_ref().ok_or_else(|| DecodeError::missing("features"))?;
    let features = Features::try_from(features).in_field("features")?;
    // As if of no features: rules say how many columns their names stand for.
    let model = models::decode(message.mlp.as_ref(), message.n_tuple.as_ref(), 0, &largest_rules())?;
    let row = match &message.weights {
        Some(weights) => tensor::decode::<f64>(weights, &[DimSize::Any]).in_field("weights")?.elements,
        None => Vec::new(),
    };
    Ok(WeightPolicy { features, row, model, play })
}

/// Rules under which every policy of some rules can be read.
fn largest_rules() -> Rules {
    Rules { preview: MAX_PREVIEW, ..Rules::simplified(32, 40) }
}
