//! The digits of actions: what a number says, without the rules.

use crate::ClientError;
use tetrion_protocol::pb;

/// A digit of an action's number: its meaning, and how many values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActionDigit {
    /// Name, such as `column` or `orientation`.
    pub name: String,
    /// Number of values; the digit is below it.
    pub size: u32,
    pub description: String,
}

/// The digits of a session's actions, the most significant first.
#[derive(Debug)]
pub(super) struct ActionDigits(Vec<ActionDigit>);

impl ActionDigits {
    /// Reads the digits of a session with this many actions.
    pub fn decode(digits: Vec<pb::ActionDigit>, num_actions: u32) -> Result<ActionDigits, ClientError> {
        let product = digits.iter().try_fold(1u32, |product, digit| product.checked_mul(digit.size));
        if product != Some(num_actions) {
            let problem = format!("the digits of an action do not make {num_actions} actions");
            return Err(ClientError::Answer(problem));
        }
        let digit = |pb::ActionDigit { name, size, description }| ActionDigit { name, size, description };
        Ok(ActionDigits(digits.into_iter().map(digit).collect()))
    }

    /// All digits, the most significant first.
    pub fn as_slice(&self) -> &[ActionDigit] {
        &self.0
    }

    /// The value of each digit of an action; `None` if the action is too large.
    pub fn values_of(&self, action: u32) -> Option<Vec<u32>> {
        let mut rest = action;
        let mut values = vec![0; self.0.len()];
        for (value, digit) in values.iter_mut().zip(&self.0).rev() {
            (*value, rest) = (rest % digit.size, rest / digit.size);
        }
        (rest == 0).then_some(values)
    }

    /// The action with these digit values; `None` for a wrong number of values, or a value that is too large.
    pub fn action_of(&self, values: &[u32]) -> Option<u32> {
        let fits = values.len() == self.0.len()
            && values.iter().zip(&self.0).all(|(value, digit)| *value < digit.size);
        let add = |action, (value, digit): (&u32, &ActionDigit)| action * digit.size + value;
        fits.then(|| values.iter().zip(&self.0).fold(0, add))
    }
}
