//! Texts that nothing shows: no log, no error, and not `{:?}` either.

use subtle::{Choice, ConstantTimeEq};

/// A token or a password.
///
/// ```
/// use tetrion_protocol::secret::Secret;
/// assert_eq!(format!("{:?}", Secret::from("open sesame".to_owned())), "Secret(..)");
/// ```
#[derive(Clone)]
pub struct Secret(String);

impl From<String> for Secret {
    fn from(text: String) -> Secret {
        Secret(text)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// The text itself, for code that sends or keeps it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether a header can carry it unchanged: printable ASCII, no space at either end.
    pub fn is_sendable(&self) -> bool {
        let printable = self.0.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        printable && !self.0.is_empty() && self.0.trim() == self.0
    }

    /// Whether these bytes are the secret. The time of the comparison depends only on the lengths.
    pub fn matches(&self, shown: &[u8]) -> Choice {
        self.0.as_bytes().ct_eq(shown)
    }
}
