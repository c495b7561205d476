//! Similar texts, shortened to the parts in which they differ.

/// Characters that stay of a common beginning and a common end, at least; and the rest of the word.
const CONTEXT: usize = 8;
/// Most further characters that stay of a long word.
const MOST_OF_A_WORD: usize = 24;

/// The texts with `...` instead of their common beginning and end, if one of them has more than `most` characters. Equal
/// texts stay.
///
/// ```
/// use tetrion::text::similar::differing_parts;
/// let texts = [6, 8].map(|rows| format!("-4*holes - 3*cumulative_wells - max(0, max_height - {rows})^2"));
/// assert_eq!(differing_parts(&texts, 40), ["... max_height - 6)^2", "... max_height - 8)^2"]);
/// assert_eq!(differing_parts(&texts, 80), texts);
/// ```
pub fn differing_parts(texts: &[String], most: usize) -> Vec<String> {
    let all: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
    let (Some(first), Some(shortest)) = (all.first(), all.iter().map(Vec::len).min()) else {
        return Vec::new();
    };
    let is_common = |at: &usize| all.iter().all(|text| text[*at] == first[*at]);
    let start = (0..shortest).take_while(is_common).count();
    let from_the_end = |text: &[char], at: usize| text[text.len() - 1 - at];
    let is_common = |at: &usize| all.iter().all(|text| from_the_end(text, *at) == from_the_end(first, *at));
    let end = (0..shortest - start).take_while(is_common).count();
    if all.iter().all(|text| text.len() <= most || text.len() == start) {
        return texts.to_vec();
    }
    let start = left_out(start, |at| first[at]);
    let end = left_out(end, |at| from_the_end(first, at));
    let shorten = |text: &Vec<char>| {
        let middle: String = text[start..text.len() - end].iter().collect();
        format!("{}{middle}{}", if start > 0 { "... " } else { "" }, if end > 0 { " ..." } else { "" })
    };
    all.iter().map(shorten).collect()
}

/// Number of common characters that are left out, counted from the outer end.
fn left_out(common: usize, letter: impl Fn(usize) -> char) -> usize {
    let most = common.saturating_sub(CONTEXT);
    let least = most.saturating_sub(MOST_OF_A_WORD);
    let is_of_a_word = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
    let at_a_word = (least + 1..=most).rev().find(|&at| !is_of_a_word(letter(at - 1))).unwrap_or(most);
    // The dots take four characters.
    if at_a_word > 4 { at_a_word } else { 0 }
}
