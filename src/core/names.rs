//! Unknown names, and suggestions for them.
//!
//! Presets, features, agents, fields and settings each have one table of names. An unknown name is usually one of
//! them, misspelt; so every refusal of a name suggests the closest one, and lists all.

/// Similarity, from 0 to 1, from which on a name counts as a misspelling of another.
const ALIKE: f64 = 0.55;

/// Bytes of the longest name that is compared with others. Known names are shorter, and longer names would take the time
/// of thousands of short ones.
const MAX_COMPARED_BYTES: usize = 64;

/// Why a name is refused.
///
/// ```
/// use tetrion_core::names::unknown;
/// let names = ["bcts", "dt-10", "dt-20"];
/// assert_eq!(
///     unknown("controller", "dt_10", names),
///     r#"no controller is called "dt_10", did you mean "dt-10"? expected one of bcts, dt-10, dt-20"#,
/// );
/// assert_eq!(
///     unknown("controller", "deep-blue", names),
///     r#"no controller is called "deep-blue", expected one of bcts, dt-10, dt-20"#,
/// );
/// ```
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let meant = did_you_mean(name, known.iter().copied());
    format!("no {kind} is called {name:?}{meant} expected one of {}", known.join(", "))
}

/// The part of a refusal after the name: `, did you mean "holes"?`, or a comma if no name is close.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(name, known).map_or(",".to_owned(), |meant| format!(", did you mean {meant:?}?"))
}

/// The name that was probably meant, if any is close: a misspelling, a hyphen for an underscore, a part of a longer name.
pub(crate) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let name = plain(name);
    let likeness = |other: &str| {
        let other = plain(other);
        let is_part = name.len() >= 3 && other.contains(&name);
        strsim::normalized_damerau_levenshtein(&name, &other).max(if is_part { ALIKE } else { 0.0 })
    };
    let mut best = None;
    for other in known {
        let likeness = likeness(other);
        // The first of equals wins.
        if likeness >= ALIKE && best.is_none_or(|(best, _)| likeness > best) {
            best = Some((likeness, other));
        }
    }
    best.map(|(_, other)| other)
}
