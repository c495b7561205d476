//! Conversion of rules to bytes and back: the fields that differ from the default rules.

use crate::engine::{FieldKind, FieldValue, PieceSet, RULES_FIELDS, Rules, RulesField};

use super::reader::{Reader, SnapshotError, SnapshotError::Corrupt};

/// Writes the number of fields that differ from the default rules, then the index and value of each.
pub(super) fn write(rules: &Rules, out: &mut Vec<u8>) {
    let default = Rules::default();
    let start = out.len();
    out.push(0);
    for (index, field) in RULES_FIELDS.iter().enumerate() {
        if let Some(value) = field.value(rules).filter(|&value| field.value(&default) != Some(value)) {
            out[start] += 1;
            out.push(index as u8);
            write_value(field, value, out);
        }
    }
}

fn write_value(field: &RulesField, value: FieldValue, out: &mut Vec<u8>) {
    match value {
        FieldValue::Count(count) => out.push(count as u8), // the largest value of every field fits
        FieldValue::Number(number) => out.extend(number.to_le_bytes()),
        FieldValue::Numbers(numbers) => out.extend(numbers.into_iter().flat_map(f64::to_le_bytes)),
        FieldValue::Flag(flag) => out.push(flag.into()),
        FieldValue::Choice(name) => out.extend(field.number_of(name)),
        FieldValue::Pieces(pieces) => {
            let text = pieces.to_string();
            out.extend((text.len() as u16).to_le_bytes());
            out.extend(text.as_bytes());
        }
    }
}

impl Reader<'_> {
    pub(super) fn rules(&mut self) -> Result<Rules, SnapshotError> {
        let default = Rules::default();
        let mut changes = crate::engine::Changes::default();
        let mut next = 0;
        for _ in 0..self.byte()? {
            let index = usize::from(self.byte()?);
            let field = RULES_FIELDS
                .get(index)
                .filter(|_| index >= next)
                .ok_or(Corrupt("its rules have an unknown field"))?;
            next = index + 1;
            let value = self.value(field)?;
            if field.value(&default) == Some(value) {
                return Err(Corrupt("its rules repeat a default"));
            }
            changes.set(field.name, value).expect("it is a field of the rules");
        }
        default.with(&changes).map_err(|_| Corrupt("its rules are not playable"))
    }

    fn value(&mut self, field: &RulesField) -> Result<FieldValue, SnapshotError> {
        Ok(match field.kind {
            FieldKind::Count { .. } => FieldValue::Count(self.byte()?.into()),
            FieldKind::Number { .. } => FieldValue::Number(self.f64()?),
            FieldKind::Numbers { .. } => {
                FieldValue::Numbers([self.f64()?, self.f64()?, self.f64()?, self.f64()?])
            }
            FieldKind::Flag { .. } => FieldValue::Flag(self.flag()?),
            FieldKind::Choice { values, .. } => {
                let number = self.byte()?;
                let value = values.iter().find(|value| value.number == number);
                FieldValue::Choice(value.ok_or(Corrupt("its rules have an unknown choice"))?.name)
            }
            FieldKind::Pieces { .. } => FieldValue::Pieces(self.pieces()?),
        })
    }

    /// Reads a set of pieces, which must be written in its canonical form.
    fn pieces(&mut self) -> Result<PieceSet, SnapshotError> {
        let length = self.u16()?.into();
        let text = std::str::from_utf8(self.take(length)?).ok();
        let pieces = text.and_then(|text| PieceSet::parse(text).ok().filter(|set| set.to_string() == text));
        pieces.ok_or(Corrupt("its piece set is invalid"))
    }
}
