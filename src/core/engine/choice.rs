//! Choices between named values. Each value is written down once, with its number, name and meaning.
//!
//! Messages, settings, snapshots, flags and the catalog are derived from that definition. This file knows no particular
//! choice: the file of each choice defines it with the `choice!` macro below, so no value can be missing from a
//! list.

/// A value that a choice may have, as messages, files and people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceValue {
    /// Number in messages, from 1.
    pub number: u8,
    /// Name in requests, flags and files.
    pub name: &'static str,
    /// Meaning, as a sentence.
    pub meaning: &'static str,
}

/// A choice of the rules, or of a search.
pub trait NamedChoice: Copy + PartialEq + Send + Sync + 'static {
    /// The name of the field that holds this choice.
    const FIELD: &'static str;
    /// All values in the order of their numbers. The first is the default.
    const ALL: &'static [Self];
    /// The number, name and meaning of each value, in the order of [`NamedChoice::ALL`].
    const VALUES: &'static [ChoiceValue];

    /// The number of a value in messages. Numbers start at 1.
    fn number(self) -> u8;

    /// The name of a value in requests, flags and files.
    fn name(self) -> &'static str;

    /// The meaning of a value, in a sentence.
    fn meaning(self) -> &'static str;

    /// The value with this number.
    fn from_number(number: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.number() == number)
    }

    /// The value with this name; upper and lower case are equal.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name().eq_ignore_ascii_case(name))
    }

    /// The names of all values.
    fn names() -> impl Iterator<Item = &'static str> + Clone {
        Self::ALL.iter().map(|value| value.name())
    }
}

/// Defines a choice: its enum and its table of values. The doc comment of a value is its meaning.
macro_rules! choice {
    (
        $(#[$comment:meta])+
        pub enum $choice:ident: $field:literal {
            $(#[doc = $meaning:literal] $value:ident = $number:literal, $name:literal;)+
        }
    ) => {
        $(#[$comment])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $choice {
            $(#[doc = $meaning] $value = $number,)+
        }

        impl $crate::engine::NamedChoice for $choice {
            const FIELD: &'static str = $field;
            const ALL: &'static [$choice] = &[$($choice::$value),+];
            const VALUES: &'static [$crate::engine::ChoiceValue] = &[$($crate::engine::ChoiceValue {
                number: $number,
                name: $name,
                meaning: $meaning.trim_ascii(),
            }),+];

            fn number(self) -> u8 {
                self as u8
            }

            fn name(self) -> &'static str {
                match self {
                    $($choice::$value => $name,)+
                }
            }

            fn meaning(self) -> &'static str {
                match self {
                    $($choice::$value => $meaning.trim_ascii(),)+
                }
            }
        }

        impl Default for $choice {
            fn default() -> $choice {
                <$choice as $crate::engine::NamedChoice>::ALL[0]
            }
        }
    };
}

pub(crate) use choice;
