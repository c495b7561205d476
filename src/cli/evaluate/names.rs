//! Names that must differ: those of contestants, and those of files.

use std::collections::HashSet;

/// Makes equal names different: the second of them gets `numbered(name, 2)`. Names with one `key` are equal.
pub fn unique(
    names: impl Iterator<Item = String>,
    numbered: impl Fn(&str, usize) -> String,
    key: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut keys = HashSet::new();
    let with_number = |name: String| {
        let numbers = (2..).map(|number| numbered(&name, number));
        let mut names = std::iter::once(name.clone()).chain(numbers);
        names.find(|name| keys.insert(key(name))).expect("there is always another number")
    };
    names.map(with_number).collect()
}
