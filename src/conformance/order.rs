//! The order of an evaluation's messages, which its server chooses: finished games come in any order, any number in a
//! message.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::tensor::Tensor;

/// Columns that say which game a row is about.
const INDICES: [&str; 3] = ["policyIndices", "seedIndices", "episodeIndices"];

/// Puts the messages between the first and the last progress before the summary into one order: all results in one
/// message, estimates too, then the recordings, each sorted by the indices of their games.
///
/// Messages that do not fit together stay where they are, and so do all if there is no summary.
pub fn ordered(mut messages: Vec<Value>) -> Vec<Value> {
    let summary = messages.iter().position(|message| message.get("summary").is_some());
    let Some(end) = summary.and_then(|summary| summary.checked_sub(1)).filter(|end| *end > 0) else {
        return messages;
    };
    let last = messages.split_off(end);
    let mut middle = messages.split_off(1);
    for kind in ["results", "estimates"] {
        if let Some(all) = merged(middle.iter().filter(|message| message.get(kind).is_some()), kind) {
            middle.retain(|message| message.get(kind).is_none());
            middle.push(json!({kind: all}));
        }
    }
    middle.sort_by_cached_key(|message| {
        let game = &message["recording"];
        let index = |name| game[name].as_u64().unwrap_or_default();
        let is_recording = message.get("recording").is_some();
        (is_recording, index("policyIndex"), index("seedIndex"), index("episodeIndex"))
    });
    messages.extend(middle);
    messages.extend(last);
    messages
}

/// The tensors of a message, by their field names.
type TensorsByName<'a> = BTreeMap<&'a str, Tensor>;

/// One message with the rows of all, sorted by the indices of their games; `None` if they do not fit together.
fn merged<'a>(messages: impl Iterator<Item = &'a Value>, kind: &str) -> Option<Value> {
    let parts: Vec<TensorsByName<'_>> =
        messages.map(|message| columns(message, kind)).collect::<Option<_>>()?;
    let types = |part: &TensorsByName<'_>| part.values().map(|column| column.dtype).collect::<Vec<_>>();
    let first = parts.first()?;
    if parts.iter().any(|part| !part.keys().eq(first.keys()) || types(part) != types(first)) {
        return None;
    }
    let column = |name: &str| -> Option<Tensor> {
        let num_rows = parts.iter().try_fold(0_u32, |sum, part| sum.checked_add(part[name].shape[0]))?;
        let data = parts.iter().flat_map(|part| &part[name].data).copied().collect();
        Some(Tensor { dtype: first[name].dtype, shape: vec![num_rows], data })
    };
    let index = |name: &&str| -> Option<Vec<i64>> {
        first.get(*name)?;
        column(name)?.elements()?.iter().map(|index| index.parse().ok()).collect()
    };
    let indices: Vec<Vec<i64>> = INDICES.iter().map(index).collect::<Option<_>>()?;
    let num_rows = indices[0].len();
    let mut rows: Vec<usize> = (0..num_rows).collect();
    rows.sort_by_key(|&row| indices.iter().map(|column| column[row]).collect::<Vec<_>>());
    let sorted = |name: &&str| -> Option<(String, Value)> {
        let tensor = column(name)?;
        let size = tensor.data.len().checked_div(num_rows)?;
        let data = rows.iter().flat_map(|row| &tensor.data[row * size..(row + 1) * size]).copied().collect();
        Some(((*name).to_owned(), Tensor { data, ..tensor }.to_text()?.into()))
    };
    first.keys().map(sorted).collect()
}

/// The columns of a message; `None` if it has anything else, or columns of several lengths.
fn columns<'a>(message: &'a Value, kind: &str) -> Option<TensorsByName<'a>> {
    let fields = message.as_object().filter(|fields| fields.len() == 1)?.get(kind)?.as_object()?;
    let column = |(name, text): (&'a String, &'a Value)| {
        Some((name.as_str(), Tensor::from_text(text.as_str()?).ok()?))
    };
    let columns: TensorsByName<'a> = fields.iter().map(column).collect::<Option<_>>()?;
    let shape = &columns.values().next()?.shape;
    let is_table = shape.len() == 1 && columns.values().all(|column| column.shape == *shape);
    is_table.then_some(columns)
}
