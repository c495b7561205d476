//! The meaning of action numbers, digit by digit.
//!
//! An action is a number in a mixed radix: each digit has its own size, and the product of the sizes is the number of
//! actions. [`Placement::action`](super::Placement::action) computes the same number with fewer divisions.

use super::rules::{ActionModel, Rules};

/// A digit of an action's number: its meaning, and how many values it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    pub name: &'static str,
    /// Number of values. The smallest value is 0.
    pub size: u32,
    /// The meaning of the values.
    pub description: &'static str,
}

impl Rules {
    /// The digits of an action, the most significant first.
    pub fn action_digits(&self) -> Vec<Digit> {
        match self.action_model {
            ActionModel::Placement => self.placement_digits(),
            ActionModel::Keypress => {
                vec![Digit { name: "key", size: self.num_actions(), description: "number of the key" }]
            }
        }
    }

    /// The digits of a placement's number, the most significant first.
    pub fn placement_digits(&self) -> Vec<Digit> {
        let digit = |name, size, description| Digit { name, size, description };
        let mut digits = Vec::with_capacity(5);
        if self.hold {
            let description = "1: the current piece is held, and the other one placed";
            digits.push(digit("hold", 2, description));
        }
        digits.push(digit("orientation", 4, "orientation of the piece"));
        digits.push(digit("column", self.width.into(), "column of the leftmost cell"));
        if self.names_spots() {
            digits.push(digit(
                "row",
                self.spot_rows().into(),
                "row of the lowest cell where the piece comes to rest",
            ));
        }
        if self.names_spots() && self.spin_labels() > 1 {
            digits.push(digit("spin", self.spin_labels().into(), "spin label: 0 no spin, 1 mini, 2 full"));
        }
        digits
    }
}
