//! Errors in requests.
//!
//! A conversion knows only the names of its own fields: `width`, `scoring.lines[2]`. The calling code prepends the
//! path with [`InField`], so that the caller of the RPC reads `config.rules.scoring.lines[2]`.

/// Kind of mistake in a request. Each has a reason in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A field that is absent, out of range, repeated, over a limit, of the wrong length, or an undefined enum value.
    Field,
    /// A tensor of the wrong element type, shape or length, or with an impossible number.
    Tensor,
    /// Rules that contradict each other.
    Rules,
    Position,
    /// A snapshot that is damaged, or bytes that are no snapshot.
    State,
    /// A name that no row of a table has.
    UnknownName,
}

/// The reason why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("{field}: {problem}")]
    Invalid {
        fault: Fault,
        /// Path of the field, such as `config.rules.width`.
        field: String,
        /// The mistake, and the expected value.
        problem: String,
    },
    /// Rules that differ from the rules of the session, or of the other positions of the call.
    #[error("{0}")]
    RulesMismatch(String),
    /// Data for another version of the rules.
    #[error("made for rules_version {got:?}, this server has {expected:?}")]
    RulesVersionMismatch {
        /// The version of this server.
        expected: String,
        /// The version of the request.
        got: String,
    },
    /// Weights for another version of a feature set.
    #[error("made for version {got:?} of the feature set, this server has {expected:?}")]
    FeatureSetMismatch {
        /// The version of this server.
        expected: String,
        /// The version of the request.
        got: String,
    },
    /// The request needs a higher revision of the protocol.
    #[error("min_revision is {got}, expected at most {expected}, the protocol_revision of this server")]
    RevisionTooOld {
        /// The revision of this server.
        expected: u32,
        /// The revision that the request needs.
        got: u32,
    },
}

impl DecodeError {
    /// A field that is absent, out of range, repeated, over a limit or of the wrong length.
    pub fn field(field: impl Into<String>, problem: impl Into<String>) -> DecodeError {
        DecodeError::invalid(Fault::Field, field, problem)
    }

    /// A required field that is absent.
    pub fn missing(field: impl Into<String>) -> DecodeError {
        DecodeError::field(field, "is required")
    }

    /// A number that the field's enum does not define.
    pub fn without_a_meaning(field: impl Into<String>, number: i32) -> DecodeError {
        DecodeError::field(field, format!("is {number}, which is not a value of this field"))
    }

    /// A mistake of the given kind.
    pub fn invalid(fault: Fault, field: impl Into<String>, problem: impl Into<String>) -> DecodeError {
        DecodeError::Invalid { fault, field: field.into(), problem: problem.into() }
    }
}

/// Prepends the path of a message to the names of its fields.
pub trait InField {
    /// Adds the path of a message that is the field `name` of another message.
    #[must_use]
    fn in_field(self, name: &str) -> Self;
    /// Adds the path of a message that is an item of the list `name`.
    #[must_use]
    fn in_item(self, name: &str, index: usize) -> Self;
}

impl InField for DecodeError {
    fn in_field(mut self, name: &str) -> DecodeError {
        if let DecodeError::Invalid { field, .. } = &mut self {
            let dot = if field.is_empty() || field.starts_with('[') { "" } else { "." };
            *field = format!("{name}{dot}{field}");
        }
        self
    }

    fn in_item(self, name: &str, index: usize) -> DecodeError {
        self.in_field(&format!("{name}[{index}]"))
    }
}

impl<T> InField for Result<T, DecodeError> {
    fn in_field(self, name: &str) -> Self {
        self.map_err(|error| error.in_field(name))
    }

    fn in_item(self, name: &str, index: usize) -> Self {
        self.map_err(|error| error.in_item(name, index))
    }
}
