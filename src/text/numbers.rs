//! Numbers as people read them.

use std::time::Duration;

/// Rounded to a whole number, with a comma before every three digits: `1,234,567`.
///
/// ```
/// use tetrion::text::numbers::grouped;
/// assert_eq!((grouped(1234567.4), grouped(-1000.0), grouped(999.0)), ("1,234,567".into(), "-1,000".into(), "999".into()));
/// ```
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number <= -0.5 { format!("-{text}") } else { text }
}

/// A number and what it counts.
///
/// ```
/// use tetrion::text::numbers::count;
/// assert_eq!((count(1, "game"), count(12_345, "game")), ("1 game".into(), "12,345 games".into()));
/// ```
pub fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number as f64), if number == 1 { "" } else { "s" })
}

/// Three digits and a letter: `3.12 M`.
///
/// ```
/// use tetrion::text::numbers::short;
/// assert_eq!((short(3_123_456.0), short(12_345.0), short(12.0)), ("3.12 M".into(), "12.3 k".into(), "12".into()));
/// ```
pub fn short(number: f64) -> String {
    let (scaled, letter) = match number.abs() {
        size if size >= 999.5e6 => (number / 1e9, " G"),
        size if size >= 999.5e3 => (number / 1e6, " M"),
        size if size >= 999.5 => (number / 1e3, " k"),
        _ => return format!("{number:.0}"),
    };
    let decimals = match scaled.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$}{letter}")
}

/// The two largest units of a time: `1 h 05 min`, `2 min 07 s`, `9 s`.
///
/// ```
/// use std::time::Duration;
/// use tetrion::text::numbers::time;
/// assert_eq!(time(Duration::from_secs(127)), "2 min 07 s");
/// ```
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}
