//! The output forms of a report, and their tables.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;
use tetrion::files;

/// A report in all output forms.
#[derive(Clone, Debug)]
pub struct Forms {
    pub text: String,
    pub markdown: String,
    pub json: Value,
}

impl Forms {
    /// Writes the report as NAME.json and NAME.md into a folder.
    pub fn keep(&self, folder: &Path, name: &str) -> anyhow::Result<()> {
        for (ending, text) in [("json", &format!("{}\n", self.json)), ("md", &self.markdown)] {
            let path = folder.join(format!("{name}.{ending}"));
            files::write(&path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

/// A table with headings, a sentence above and notes below. Indented notes belong to the previous note.
#[derive(Clone, Debug)]
pub struct ReportTable {
    pub head: String,
    pub headings: Vec<String>,
    /// Rows with one cell per heading.
    pub rows: Vec<Vec<String>>,
    /// Columns with numbers, which a terminal aligns to the right.
    pub numbers: std::ops::Range<usize>,
    pub notes: Vec<String>,
}

impl ReportTable {
    /// The table as text for a terminal.
    pub fn to_text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|cells| cells[column].chars().count());
            cells.chain([self.headings[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.headings.len()).map(width).collect();
        let mut text = format!("{}\n\n", self.head);
        for cells in std::iter::once(&self.headings).chain(&self.rows) {
            let mut line = String::new();
            for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                let _ = match self.numbers.contains(&column) {
                    true => write!(line, "{cell:>width$}  "),
                    false => write!(line, "{cell:width$}  "),
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text.push('\n');
        self.notes.iter().for_each(|note| text += &format!("{note}\n"));
        text + "\n"
    }

    /// The table as Markdown: a heading, the rows, and the notes as a list.
    pub fn to_markdown(&self) -> String {
        let columns = " --- |".repeat(self.headings.len());
        let mut text = format!("### {}\n\n| {} |\n|{columns}\n", self.head, self.headings.join(" | "));
        for cells in &self.rows {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push('\n');
        for note in &self.notes {
            let indent = note.len() - note.trim_start().len();
            let _ = writeln!(text, "{}- {}", " ".repeat(indent), note.trim_start());
        }
        text + "\n"
    }
}
