//! Changes to a rule set: some fields and their new values.
//!
//! Callers name rules by a preset and changes, in messages, flags, files and settings alike. This file does not check
//! values; [`Rules::with`] does when it applies the changes.

use super::fields::{FieldValue, RULES_FIELDS, RulesField};
use super::{Rules, RulesError};
use crate::engine::garbage::Garbage;
use crate::engine::timing::Timing;

/// New values for fields of the rules, at most one per field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Indices into [`RULES_FIELDS`], ascending, with the new values.
    values: Vec<(usize, FieldValue)>,
}

impl Changes {
    /// Whether no field has a new value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The new value of a field; `None` if it does not change.
    pub fn get(&self, name: &str) -> Option<FieldValue> {
        self.iter().find(|(field, _)| field.name == name).map(|(_, value)| value)
    }

    /// The new value of a whole-number field; `None` if it does not change.
    pub fn count(&self, name: &str) -> Option<u32> {
        match self.get(name) {
            Some(FieldValue::Count(count)) => Some(count),
            _ => None,
        }
    }

    /// The new value of a numeric field; `None` if it does not change.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(FieldValue::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// Sets the new value of a field.
    ///
    /// # Errors
    /// [`RulesError::UnknownField`] if no field has this name.
    pub fn set(&mut self, name: &str, value: impl Into<FieldValue>) -> Result<(), RulesError> {
        let value = value.into();
        let index = RULES_FIELDS.iter().position(|field| field.name == name);
        let index = index.ok_or_else(|| RulesError::UnknownField(name.to_owned()))?;
        match self.values.binary_search_by_key(&index, |&(index, _)| index) {
            Ok(place) => self.values[place].1 = value,
            Err(place) => self.values.insert(place, (index, value)),
        }
        Ok(())
    }

    /// Removes the change to a field.
    pub fn remove(&mut self, name: &str) {
        self.values.retain(|&(index, _)| RULES_FIELDS[index].name != name);
    }

    /// Adds the changes of `others` to fields that these changes leave alone.
    pub fn or(mut self, others: &Changes) -> Changes {
        for &(index, value) in &others.values {
            if let Err(place) = self.values.binary_search_by_key(&index, |&(index, _)| index) {
                self.values.insert(place, (index, value));
            }
        }
        self
    }

    /// The changed fields and their new values, in the order of [`RULES_FIELDS`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static RulesField, FieldValue)> {
        self.values.iter().map(|&(index, value)| (&RULES_FIELDS[index], value))
    }
}

impl Rules {
    /// These rules with some fields changed.
    ///
    /// ```
    /// use tetrion_core::engine::{Changes, Rules};
    ///
    /// let mut changes = Changes::default();
    /// changes.set("hold", false)?;
    /// let rules = Rules::preset("guideline").unwrap().with(&changes)?;
    /// assert!(!rules.hold);
    /// # Ok::<(), tetrion_core::engine::RulesError>(())
    /// ```
    ///
    /// # Errors
    /// A field that is out of range or does not apply, or choices that contradict each other.
    pub fn with(mut self, changes: &Changes) -> Result<Rules, RulesError> {
        for (field, value) in changes.iter() {
            field.change(&mut self, value)?;
        }
        // Like time, this exists only where pieces turn on their way.
        self.clutch &= self.names_spots();
        self.timing = self.steers().then(|| self.timing.unwrap_or(Timing::LEVEL_1));
        self.check()?;
        Ok(self)
    }

    /// All fields that apply to these rules, with their values.
    pub fn fields(&self) -> Changes {
        let values = RULES_FIELDS.iter().enumerate();
        Changes { values: values.filter_map(|(index, field)| Some((index, field.value(self)?))).collect() }
    }

    /// The fields in which these rules differ from `base`, with the values of these rules. Garbage where `base` has none
    /// differs from the default garbage.
    pub fn changes_from(&self, base: &Rules) -> Changes {
        let usual = Garbage { lines_per_piece: 0.0, ..Garbage::DEFAULT };
        let base = &Rules { garbage: base.garbage.or(self.garbage.map(|_| usual)), ..*base };
        let mut changes = self.fields();
        changes.values.retain(|&(index, value)| RULES_FIELDS[index].value(base) != Some(value));
        if base.garbage.is_some() && self.garbage.is_none() {
            changes.set("garbage.lines_per_piece", 0.0).expect("a field of the rules");
        }
        changes
    }
}
