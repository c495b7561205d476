//! Tokens: which callers the server serves, their names, and their limits.
//!
//! A server has no tokens and serves every caller, or it has one token without a name, whose holders all count as one
//! caller, or a file of named tokens. The server can replace the named tokens while it runs: it looks up new calls in
//! the newest table, and ends the streams of removed tokens.
//!
//! The server compares a caller's token with every token of the table in constant time. So a caller can measure neither
//! which token resembles its own, nor how much of it is right.
//!
//! The surprising decision: no error quotes anything from the file. A value in the wrong place may be a secret, so
//! errors name lines and keys.

use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::HeaderMap;
use subtle::ConditionallySelectable;
use tokio_util::sync::CancellationToken;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use tetrion_protocol::secret::Secret;
use tetrion_service::status::Refusal;
use tetrion_service::{Caller, CallerLimits};

/// Most tokens in one file, because each call is compared with all of them.
const MAX_TOKENS: usize = 1000;
/// Most characters of a token's name.
const MAX_NAME: usize = 64;
/// Allowed lengths of the secret of a named token.
const SECRET_LENGTHS: Range<usize> = 16..513;

/// The tokens that callers must send. Clones share one table.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// The table; `None` if callers need no token.
    table: Option<Arc<RwLock<Arc<[TokenEntry]>>>>,
}

/// A token of the table.
#[derive(Clone, Debug)]
struct TokenEntry {
    secret: Secret,
    pass: Pass,
}

/// The caller of a call, as the layer around the calls knows it.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    pub caller: Caller,
    pub limits: CallerLimits,
    /// Cancelled when the token is removed.
    pub removed: CancellationToken,
}

/// The valid tokens of a file.
#[derive(Debug)]
pub struct TokenFile(Vec<TokenEntry>);

/// The reason why a file of tokens cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TokenFileError {
    /// Number of the line, from 1.
    pub line: usize,
    /// The mistake in that line, without a quote from the file.
    pub problem: String,
}

/// Counts of tokens that a new file added and removed. A token with a new secret counts as both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Tokens of the new file.
    pub tokens: usize,
    /// Tokens that were not in the old file.
    pub added: usize,
    /// Tokens of the old file that are not in the new one.
    pub removed: usize,
}

impl Tokens {
    /// One token without a name and without limits, whose holders are all the same caller.
    pub fn single(secret: Secret) -> Tokens {
        Tokens::of(vec![TokenEntry::new(secret, Caller::default(), CallerLimits::default())])
    }

    /// The tokens of a file.
    pub fn named(file: TokenFile) -> Tokens {
        Tokens::of(file.0)
    }

    fn of(tokens: Vec<TokenEntry>) -> Tokens {
        Tokens { table: Some(Arc::new(RwLock::new(tokens.into()))) }
    }

    /// Whether callers need a token.
    pub fn are_needed(&self) -> bool {
        self.table.is_some()
    }

    /// Replaces the tokens by the ones in another file. Ends the streams of tokens that are missing from it.
    pub fn replace(&self, file: TokenFile) -> Replaced {
        let TokenFile(mut tokens) = file;
        let Some(table) = &self.table else {
            return Replaced { tokens: 0, added: 0, removed: 0 };
        };
        let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
        let mut removed: Vec<&TokenEntry> = table.iter().collect();
        let mut added = 0;
        for token in &mut tokens {
            match removed.iter().position(|old| old.is_same(token)) {
                Some(same) => token.pass.removed = removed.swap_remove(same).pass.removed.clone(),
                None => added += 1,
            }
        }
        removed.iter().for_each(|token| token.pass.removed.cancel());
        let replaced = Replaced { tokens: tokens.len(), added, removed: removed.len() };
        *table = tokens.into();
        replaced
    }

    /// Identifies the caller by these headers; `None` if callers need no token.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<Option<Pass>, Refusal> {
        let Some(table) = &self.table else { return Ok(None) };
        let shown = headers.get("authorization").ok_or(Refusal::InvalidToken("the call has no token"))?;
        let shown = shown.as_bytes().strip_prefix(b"Bearer ");
        let shown = shown.ok_or(Refusal::InvalidToken("the call's authorization is not a bearer token"))?;
        let table = table.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found = u32::MAX;
        for (number, token) in (0..).zip(table.iter()) {
            found.conditional_assign(&number, token.secret.matches(shown));
        }
        match table.get(found as usize) {
            Some(token) => Ok(Some(token.pass.clone())),
            None => Err(Refusal::InvalidToken("the server does not know the call's token")),
        }
    }
}

impl TokenEntry {
    fn new(secret: Secret, caller: Caller, limits: CallerLimits) -> TokenEntry {
        TokenEntry { secret, pass: Pass { caller, limits, removed: CancellationToken::new() } }
    }

    /// Whether both tokens stand for the same caller with the same secret.
    fn is_same(&self, other: &TokenEntry) -> bool {
        self.pass.caller == other.pass.caller && self.secret.matches(other.secret.expose().as_bytes()).into()
    }
}

impl TokenFile {
    /// Reads the text of a file:
    ///
    /// ```
    /// use tetrion_server::TokenFile;
    /// let file = r#"
    ///     max_sessions = 100       # of each token that does not say otherwise
    ///
    ///     [[token]]
    ///     name = "alice"
    ///     secret = "mUVyi0ci7yCFMkHhqYzmQjyD"
    ///
    ///     [[token]]
    ///     name = "bob"
    ///     secret = "8JkAuv3ZlqWkrkTe3xNnFqtP"
    ///     max_sessions = 4
    ///     max_envs = 1000
    ///     max_evaluations = 1
    ///     max_watches = 8
    /// "#;
    /// assert_eq!(TokenFile::parse(file)?.num_tokens(), 2);
    /// # Ok::<_, tetrion_server::TokenFileError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not TOML, has an unknown key or an invalid value, or has a name or a secret twice.
    pub fn parse(text: &str) -> Result<TokenFile, TokenFileError> {
        let lines = TokenText(text);
        let file = DeTable::parse(text).map_err(|error| {
            // The error's own text may quote the file.
            lines.error(
                &error.span().unwrap_or_default(),
                "is not TOML: expected `key = \"text\"`, `key = number` or `[[token]]`",
            )
        })?;
        let (mut defaults, mut listed) = (CallerLimits::default(), None);
        for (key, value) in file.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("token", DeValue::Array(tokens)) => listed = Some(tokens),
                ("token", _) => return Err(lines.error(&key.span(), "token is a value, expected [[token]]")),
                (name, _) if set_limit(&mut defaults, name, value, &lines)? => {}
                _ => {
                    let known = LIMITS.join(", ");
                    let problem = format!("an unknown key, expected {known} or [[token]]");
                    return Err(lines.error(&key.span(), problem));
                }
            }
        }
        let listed = listed.filter(|tokens| !tokens.is_empty());
        let listed = listed.ok_or_else(|| lines.error(&(0..0), "the file has no [[token]]"))?;
        let mut tokens: Vec<(TokenEntry, Range<usize>)> = Vec::new();
        for listed in listed.iter() {
            let DeValue::Table(table) = listed.get_ref() else {
                return Err(lines.error(&listed.span(), "token is a value, expected [[token]]"));
            };
            if tokens.len() == MAX_TOKENS {
                return Err(lines.error(&listed.span(), format!("more than {MAX_TOKENS} tokens")));
            }
            let token = lines.token(table, &listed.span(), defaults)?;
            for (other, place) in &tokens {
                if other.pass.caller == token.pass.caller {
                    let line = lines.number(place);
                    let problem = format!("the token on line {line} has the same name");
                    return Err(lines.error(&listed.span(), problem));
                }
                if other.secret.matches(token.secret.expose().as_bytes()).into() {
                    let line = lines.number(place);
                    let problem = format!("the token on line {line} has the same secret");
                    return Err(lines.error(&listed.span(), problem));
                }
            }
            tokens.push((token, listed.span()));
        }
        Ok(TokenFile(tokens.into_iter().map(|(token, _)| token).collect()))
    }

    /// Number of tokens, at least one.
    pub fn num_tokens(&self) -> usize {
        self.0.len()
    }
}

/// Keys of a token file that set [`CallerLimits`].
const LIMITS: [&str; 4] = ["max_sessions", "max_envs", "max_evaluations", "max_watches"];

/// Reads a limit into its field; false if the key is not a limit.
fn set_limit(
    limits: &mut CallerLimits,
    key: &str,
    value: &Spanned<DeValue<'_>>,
    lines: &TokenText<'_>,
) -> Result<bool, TokenFileError> {
    let place = match key {
        "max_sessions" => &mut limits.max_sessions,
        "max_envs" => &mut limits.max_envs,
        "max_evaluations" => &mut limits.max_evaluations,
        "max_watches" => &mut limits.max_watches,
        _ => return Ok(false),
    };
    let number = match value.get_ref() {
        DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let problem = || format!("{key}: expected a whole number from 0 to {}", u32::MAX);
    *place = Some(number.ok_or_else(|| lines.error(&value.span(), problem()))?);
    Ok(true)
}

/// A text, and errors with its line numbers.
struct TokenText<'a>(&'a str);

impl TokenText<'_> {
    fn number(&self, place: &Range<usize>) -> usize {
        self.0.bytes().take(place.start).filter(|byte| *byte == b'\n').count() + 1
    }

    fn error(&self, place: &Range<usize>, problem: impl Display) -> TokenFileError {
        TokenFileError { line: self.number(place), problem: problem.to_string() }
    }

    fn token(
        &self,
        table: &DeTable<'_>,
        place: &Range<usize>,
        defaults: CallerLimits,
    ) -> Result<TokenEntry, TokenFileError> {
        let (mut name, mut secret, mut limits) = (None, None, defaults);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "name" => name = Some(self.name(value)?),
                "secret" => secret = Some(self.secret(value)?),
                key if set_limit(&mut limits, key, value, self)? => {}
                _ => {
                    let known = LIMITS.join(", ");
                    let problem = format!("an unknown key of a token, expected name, secret, {known}");
                    return Err(self.error(&key.span(), problem));
                }
            }
        }
        let missing = |key: &str| self.error(place, format!("the token has no {key}"));
        let name = name.ok_or_else(|| missing("name"))?;
        Ok(TokenEntry::new(secret.ok_or_else(|| missing("secret"))?, Caller::named(name), limits))
    }

    fn name<'v>(&self, value: &'v Spanned<DeValue<'_>>) -> Result<&'v str, TokenFileError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
        let name = value.get_ref().as_str();
        let name = name.filter(|name| (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain));
        let problem = || format!("name: expected 1 to {MAX_NAME} letters, digits, or any of - _ . @");
        name.ok_or_else(|| self.error(&value.span(), problem()))
    }

    fn secret(&self, value: &Spanned<DeValue<'_>>) -> Result<Secret, TokenFileError> {
        let secret = value.get_ref().as_str().map(|text| Secret::from(text.to_owned()));
        let secret =
            secret.filter(|secret| SECRET_LENGTHS.contains(&secret.expose().len()) && secret.is_sendable());
        let (min, max) = (SECRET_LENGTHS.start, SECRET_LENGTHS.end - 1);
        let problem =
            || format!("secret: expected {min} to {max} printable ASCII characters, no space at either end");
        secret.ok_or_else(|| self.error(&value.span(), problem()))
    }
}
