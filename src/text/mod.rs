//! Texts that people read: numbers, characters that would not be shown, and similar texts.

pub mod escapes;
pub mod numbers;
pub mod similar;

/// The first of these parts, with commas between them: as many as fit into these columns.
///
/// ```
/// use tetrion::text::fitted;
/// let parts = ["5 of 9 games".to_owned(), "2 s left".to_owned(), "3 M pieces/s".to_owned()];
/// assert_eq!(fitted(&parts, 24), "5 of 9 games, 2 s left");
/// ```
pub fn fitted(parts: &[String], columns: usize) -> String {
    let mut line = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let separator = if line.is_empty() { "" } else { ", " };
        if line.chars().count() + separator.len() + part.chars().count() > columns {
            break;
        }
        line += separator;
        line += part;
    }
    line
}
