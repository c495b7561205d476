//! Ends of episodes, to and from the wire.

use tetrion_core::engine::EpisodeEnd;

use super::error::DecodeError;
use super::pb;

impl From<Option<EpisodeEnd>> for pb::EpisodeEnd {
    fn from(end: Option<EpisodeEnd>) -> pb::EpisodeEnd {
        let number = EpisodeEnd::number(end);
        pb::EpisodeEnd::try_from(i32::from(number)).expect("the numbers are those of the messages")
    }
}

/// Reads an end, which must be set; `None` if the episode has not ended.
///
/// # Errors
/// Under the field `end`, for UNSPECIFIED and for unknown numbers.
pub(super) fn decode(number: i32) -> Result<Option<EpisodeEnd>, DecodeError> {
    if number == pb::EpisodeEnd::Unspecified as i32 {
        return Err(DecodeError::missing("end"));
    }
    let end = u8::try_from(number).ok().and_then(EpisodeEnd::with_number);
    end.ok_or_else(|| DecodeError::without_a_meaning("end", number))
}
