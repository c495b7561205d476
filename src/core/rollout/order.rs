//! The order of the games of an evaluation, which numbers them.

use std::ops::Range;

/// The order of the games of an evaluation: by policy, then by seed, then by episode.
///
/// ```
/// use tetrion_core::rollout::GameOrder;
/// let order = GameOrder { num_policies: 2, num_seeds: 3, episodes: 1, pairs: None };
/// assert_eq!((order.num_games(), order.place(1, 2, 0), order.place(2, 0, 0)), (6, Some(5), None));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GameOrder<'a> {
    pub num_policies: u32,
    /// Number of seeds or sequences of each policy.
    pub num_seeds: u32,
    /// Number of episodes of each seed, at least 1.
    pub episodes: u32,
    /// The pairs of policy and seed that are played, in ascending order; `None` if all are.
    pub pairs: Option<&'a [(u32, u32)]>,
}

impl GameOrder<'_> {
    /// Number of pairs of policy and seed.
    pub fn num_pairs(&self) -> u64 {
        match self.pairs {
            Some(pairs) => pairs.len() as u64,
            None => u64::from(self.num_policies) * u64::from(self.num_seeds),
        }
    }

    /// Number of games.
    pub fn num_games(&self) -> u64 {
        self.num_pairs().saturating_mul(self.episodes.into())
    }

    /// The policy and the seed of a pair, by its place among the pairs.
    ///
    /// # Panics
    /// If there are listed pairs, and this is none of them.
    pub fn pair(&self, place: u64) -> (u32, u32) {
        match self.pairs {
            Some(pairs) => pairs[place as usize],
            None => {
                let num_seeds = u64::from(self.num_seeds);
                ((place / num_seeds) as u32, (place % num_seeds) as u32)
            }
        }
    }

    /// The place of a game; `None` if it is not played.
    pub fn place(&self, policy: u32, seed: u32, episode: u32) -> Option<u64> {
        if policy >= self.num_policies || seed >= self.num_seeds || episode >= self.episodes {
            return None;
        }
        let pair = match self.pairs {
            Some(pairs) => pairs.binary_search(&(policy, seed)).ok()? as u64,
            None => u64::from(policy) * u64::from(self.num_seeds) + u64::from(seed),
        };
        Some(pair * u64::from(self.episodes) + u64::from(episode))
    }

    /// The places of a policy's games, which are adjacent.
    pub fn games(&self, policy: u32) -> Range<usize> {
        let pairs = match self.pairs {
            Some(pairs) => {
                let first = pairs.partition_point(|pair| pair.0 < policy);
                first..first + pairs[first..].partition_point(|pair| pair.0 == policy)
            }
            None => {
                let seeds = self.num_seeds as usize;
                policy as usize * seeds..(policy as usize + 1) * seeds
            }
        };
        let episodes = self.episodes as usize;
        pairs.start * episodes..pairs.end * episodes
    }
}
