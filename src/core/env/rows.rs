//! The rows of a call, and the environment of each.

use super::refusals::EnvIdError;

/// The environments of a call, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnvRows<'a> {
    pub env_ids: Option<&'a [u32]>,
    pub num_envs: u32,
}

impl<'a> EnvRows<'a> {
    /// The environments in this list, or all of them. Each must exist, without repetition.
    #[inline]
    pub(super) fn of(env_ids: Option<&'a [u32]>, num_envs: u32) -> Result<EnvRows<'a>, EnvIdError> {
        if let Some(env_ids) = env_ids {
            check_env_ids(env_ids, num_envs)?;
        }
        Ok(EnvRows { env_ids, num_envs })
    }

    /// Number of rows in the call.
    pub(super) fn len(self) -> usize {
        self.env_ids.map_or(self.num_envs as usize, <[u32]>::len)
    }

    /// The environment of a row.
    #[inline]
    pub(super) fn env(self, row: usize) -> usize {
        self.env_ids.map_or(row, |env_ids| env_ids[row] as usize)
    }

    /// The rows of the matches in the call: those of the first and of the second side. Both must be there.
    pub(super) fn matches(self) -> Result<MatchRows, EnvIdError> {
        let Some(env_ids) = self.env_ids else { return Ok(MatchRows::All(self.len() / 2)) };
        let mut order: Vec<usize> = (0..env_ids.len()).collect();
        order.sort_unstable_by_key(|&row| env_ids[row]);
        let (mut rows, mut left) = (Vec::with_capacity(order.len() / 2), order.as_slice());
        while let [first, rest @ ..] = left {
            let (env_id, opponent) = (env_ids[*first], env_ids[*first] ^ 1);
            let second = rest.first().filter(|second| env_ids[**second] == opponent);
            let Some(&second) = second else {
                return Err(EnvIdError::Alone { row: *first as u32, env_id, opponent });
            };
            rows.push([*first, second]);
            left = &rest[1..];
        }
        Ok(MatchRows::Listed(rows))
    }

    /// The row of each environment; 0 for those that are not in the call.
    pub(super) fn row_of_each_env(self) -> Vec<u32> {
        let mut rows = vec![0; self.num_envs as usize];
        for (row, i) in (0..).zip(self.envs()) {
            rows[i] = row;
        }
        rows
    }

    /// The environment of each row, in the order of the rows.
    pub(super) fn envs(self) -> impl ExactSizeIterator<Item = usize> {
        (0..self.len()).map(move |row| self.env(row))
    }
}

/// The rows of the matches in a call.
pub(super) enum MatchRows {
    /// This many matches; the rows are the environments.
    All(usize),
    Listed(Vec<[usize; 2]>),
}

impl MatchRows {
    /// The rows of the first and the second side of each match.
    pub(super) fn iter(&self) -> impl Iterator<Item = [usize; 2]> {
        let (all, listed) = match self {
            MatchRows::All(matches) => (*matches, [].as_slice()),
            MatchRows::Listed(rows) => (0, rows.as_slice()),
        };
        (0..all).map(|number| [2 * number, 2 * number + 1]).chain(listed.iter().copied())
    }
}

/// The entry for a row, from a list with one entry per row or one for all.
pub(super) fn one_for<T>(list: &[T], row: usize) -> &T {
    if list.len() == 1 { &list[0] } else { &list[row] }
}

/// Checks that each of these environments exists, without repetition.
fn check_env_ids(env_ids: &[u32], num_envs: u32) -> Result<(), EnvIdError> {
    let mut seen = vec![0u64; num_envs.div_ceil(64) as usize];
    for (&env_id, row) in env_ids.iter().zip(0..) {
        if env_id >= num_envs {
            return Err(EnvIdError::Unknown { row, env_id, num_envs });
        }
        let (word, bit) = (&mut seen[env_id as usize / 64], 1 << (env_id % 64));
        if *word & bit != 0 {
            return Err(EnvIdError::Repeated { row, env_id });
        }
        *word |= bit;
    }
    Ok(())
}
