//! Converts bytes to states. The head of [`super`] describes the layout.
//!
//! Each field is checked alone, and then against earlier fields: a piece must be able to lie, fall or be dealt where
//! the bytes say. Separate files read the landing, the pieces in play and the dealer.

use xxhash_rust::xxh3::xxh3_64;

use crate::engine::{Chain, EpisodeEnd, RULES_VERSION, is_blocked};
use crate::env::columns::{EpisodeIndex, EpisodeStatistics, InvalidActions};
use crate::env::state::EnvState;

use super::reader::{Reader, SnapshotError, SnapshotError::Corrupt};
use super::sequences::SharedSequences;
use super::{FORMAT, MAGIC};

impl EnvState {
    /// Reads a state from a snapshot.
    ///
    /// # Errors
    /// [`SnapshotError`] for anything but a snapshot that this program, or another one with the same rules version,
    /// could have made. A state without errors is safe to play.
    pub fn from_bytes(bytes: &[u8]) -> Result<EnvState, SnapshotError> {
        EnvState::decode(bytes, &SharedSequences::default())
    }

    /// Reads a state from a snapshot whose explicit sequence is one of `shared`.
    ///
    /// # Errors
    /// The errors of [`EnvState::from_bytes`].
    pub fn from_bytes_sharing(bytes: &[u8], shared: &SharedSequences) -> Result<EnvState, SnapshotError> {
        EnvState::decode(bytes, shared)
    }

    fn decode(bytes: &[u8], shared: &SharedSequences) -> Result<EnvState, SnapshotError> {
        let Some((content, checksum)) = bytes.split_last_chunk() else {
            return Err(Corrupt("it is too short"));
        };
        let Some(bytes) = content.strip_prefix(&MAGIC) else {
            return Err(Corrupt("it does not begin with the mark of a snapshot"));
        };
        if xxh3_64(content) != u64::from_le_bytes(*checksum) {
            return Err(Corrupt("its checksum is wrong"));
        }
        let mut reader = Reader { bytes, shared };
        let format = u16::from_le_bytes(reader.array()?);
        if format != FORMAT {
            return Err(SnapshotError::UnknownFormat(format));
        }
        let length = reader.byte()?.into();
        let version = reader.take(length)?;
        if version != RULES_VERSION.as_bytes() {
            let found = String::from_utf8_lossy(version).into_owned();
            return Err(SnapshotError::OtherRulesVersion { found });
        }
        let state = reader.state()?;
        if !reader.bytes.is_empty() {
            return Err(Corrupt("it is too long"));
        }
        Ok(state)
    }
}

impl Reader<'_> {
    fn state(&mut self) -> Result<EnvState, SnapshotError> {
        let rules = self.rules()?;
        let end = self.end()?;
        let ended = end.is_some();
        if matches!(end, Some(EpisodeEnd::Won | EpisodeEnd::Drawn)) && !rules.is_match() {
            return Err(Corrupt("its end is that of a match, and its rules have one player"));
        }
        let (playfield, last_landing, just_risen) = self.playfields(&rules)?;
        let visible = self.visible(&rules)?;
        let held = if rules.hold { self.held(&rules)? } else { None };
        let chain = if rules.keeps_chain() { self.chain()? } else { Default::default() };
        let falling = self.falling(&rules, &playfield, &visible, ended)?;
        let steered = self.steered(&rules, &playfield, &visible, held, ended)?;
        let incoming = self.incoming(&rules, just_risen)?;
        let episode = EpisodeIndex { env_seed: self.u64()?, index: self.u64()? };
        let statistics = self.statistics()?;
        let invalid_actions = self.invalid_actions(&statistics)?;
        let dealer = self.dealer(&rules)?;
        if !ended {
            let piece = visible.current().ok_or(Corrupt("the episode goes on without a current piece"))?;
            if is_blocked(&rules.after(chain.0), &playfield, piece) {
                return Err(Corrupt("the episode goes on, but its current piece is blocked"));
            }
        }
        if visible.pieces().count() <= rules.preview.into() && dealer.clone().deal().is_some() {
            return Err(Corrupt("the preview is shorter than the rules say"));
        }
        Ok(EnvState {
            rules,
            playfield,
            last_landing,
            visible,
            falling,
            steered,
            held,
            chain,
            incoming,
            dealer,
            end,
            episode,
            statistics,
            invalid_actions,
        })
    }

    /// The end of the episode, if it has ended.
    fn end(&mut self) -> Result<Option<EpisodeEnd>, SnapshotError> {
        match self.byte()? {
            0 => Ok(None),
            number => match EpisodeEnd::with_number(number) {
                Some(Some(end)) => Ok(Some(end)),
                _ => Err(Corrupt("the end of its episode has an unknown number")),
            },
        }
    }

    fn chain(&mut self) -> Result<(Chain, u64), SnapshotError> {
        let chain = Chain { clears: self.u16()?, back_to_back: self.u16()? };
        Ok((chain, self.count()?))
    }

    fn statistics(&mut self) -> Result<EpisodeStatistics, SnapshotError> {
        let [lines, pieces, steps] = [self.count()?, self.count()?, self.count()?];
        let episode_return = self.f64()?;
        if !episode_return.is_finite() {
            return Err(Corrupt("the return of its episode is not finite"));
        }
        Ok(EpisodeStatistics { lines, pieces, steps, episode_return })
    }

    fn invalid_actions(&mut self, statistics: &EpisodeStatistics) -> Result<InvalidActions, SnapshotError> {
        let [count, last_step] = [self.u64()?, self.u64()?];
        let are_none = count == 0 && last_step == 0;
        if are_none || 0 < count && count <= last_step && last_step <= statistics.steps {
            Ok(InvalidActions { count, last_step })
        } else {
            Err(Corrupt("the number of invalid actions does not fit the number of steps"))
        }
    }
}
