//! Parts of an evaluation: the pairs of policy and seed of one call.

/// Pairs of policy and seed, by their places in the order of the evaluation.
#[derive(Clone, Debug)]
pub(super) enum CallPart {
    Whole,
    /// Every n-th pair, because neighbours are similar: a policy that plays long games is in all parts.
    Share {
        first: u64,
        step: u64,
    },
    /// Listed pairs, in order.
    Places(Vec<u64>),
}

impl CallPart {
    pub(super) fn places(&self, num_pairs: u64) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            CallPart::Whole => Box::new(0..num_pairs),
            CallPart::Share { first, step } => Box::new((*first..num_pairs).step_by(*step as usize)),
            CallPart::Places(places) => Box::new(places.iter().copied()),
        }
    }

    /// Number of places. It takes no time, however large the evaluation is that a server will refuse.
    pub(super) fn len(&self, num_pairs: u64) -> u64 {
        match self {
            CallPart::Whole => num_pairs,
            CallPart::Share { first, step } => (num_pairs - first).div_ceil(*step),
            CallPart::Places(places) => places.len() as u64,
        }
    }

    pub(super) fn contains(&self, place: u64) -> bool {
        match self {
            CallPart::Whole => true,
            CallPart::Share { first, step } => place % step == *first,
            CallPart::Places(places) => places.binary_search(&place).is_ok(),
        }
    }
}
