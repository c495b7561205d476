//! The order of an evaluation's messages, which its server chooses: finished games come in any order, any number in a
//! message, with reports of progress in between.

use serde_json::Value;

use super::tensor::Tensor;

/// Columns that say which game a row is about.
const INDICES: [&str; 3] = ["policyIndices", "seedIndices", "episodeIndices"];

/// Puts the messages between the first and the last progress before the summary into one order: all results in one
/// message, estimates too, then the recordings, each sorted by the indices of their games. Reports of progress in between
/// disappear.
///
/// Messages that cannot be understood stay where they are, and so do all if there is no summary.
pub fn ordered(mut messages: Vec<Value>) -> Vec<Value> {
    let summary = messages.iter().position(|message| message.get("summary").is_some());
    let Some(end) = summary.and_then(|summary| summary.checked_sub(1)).filter(|end| *end > 0) else {
        return messages;
    };
    let last = messages.split_off(end);
    let mut middle = messages.split_off(1);
    middle.retain(|message| message.get("progress").is_none());
    for kind in ["results", "estimates"] {
        let columns: Vec<&Value> = middle.iter().filter_map(|message| message.get(kind)).collect();
        if let Some(all) = merged(&columns) {
            middle.retain(|message| message.get(kind).is_none());
            middle.push(serde_json::json!({kind: all}));
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

/// One message with the rows of all, sorted by the indices of their games; `None` if they do not fit together.
fn merged(all: &[&Value]) -> Option<Value> {
    let names: Vec<&String> = all.first()?.as_object()?.keys().collect();
    let column = |name: &str| -> Option<Tensor> {
        let parts = all.iter().map(|part| Tensor::from_text(part[name].as_str()?).ok());
        let parts: Vec<Tensor> = parts.collect::<Option<_>>()?;
        let num_rows = parts.iter().map(|part| part.shape.first().copied()).sum::<Option<u32>>()?;
        let data = parts.iter().flat_map(|part| part.data.clone()).collect();
        Some(Tensor { dtype: parts[0].dtype, shape: vec![num_rows], data })
    };
    let indices: Vec<Vec<String>> =
        INDICES.iter().map(|name| column(name)?.elements()).collect::<Option<_>>()?;
    let num_rows = indices[0].len();
    let index =
        |column: &Vec<String>, row: usize| column.get(row).and_then(|index| index.parse::<i64>().ok());
    let mut rows: Vec<usize> = (0..num_rows).collect();
    rows.sort_by_key(|&row| indices.iter().map(|column| index(column, row)).collect::<Vec<_>>());
    let sorted = |name: &&String| -> Option<(String, Value)> {
        let tensor = column(name)?;
        let size = tensor.data.len().checked_div(num_rows)?;
        let data = rows.iter().flat_map(|row| &tensor.data[row * size..(row + 1) * size]).copied().collect();
        Some(((*name).clone(), Tensor { data, ..tensor }.to_text()?.into()))
    };
    names.iter().map(sorted).collect()
}
