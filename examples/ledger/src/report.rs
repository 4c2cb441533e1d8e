//! What a command has to say: one JSON document for programs, or one table for people.

use std::io::{self, Write};

use serde::Serialize;

/// An answer in both of its forms.
#[derive(Debug)]
pub(crate) struct Report {
    json: Result<String, serde_json::Error>,
    table: Table,
}

impl Report {
    /// An answer: the value for programs, the table for people.
    pub(crate) fn new(value: &impl Serialize, table: Table) -> Self {
        Self {
            json: serde_json::to_string(value),
            table,
        }
    }

    /// Writes the answer as one line of JSON.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn write_json(self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.json?)
    }

    /// Writes the answer as a table.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn write_table(self, out: &mut impl Write) -> io::Result<()> {
        self.table.write(out)
    }
}

/// To which side a column leans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Sums, whose points then stand below each other.
    Right,
}

/// Rows of text under a line of headings.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(columns: &[(&'static str, Side)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, one cell a column.
    pub(crate) fn row<const WIDTH: usize>(&mut self, cells: [String; WIDTH]) {
        self.rows.push(cells.into());
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let headings: Vec<_> = self
            .columns
            .iter()
            .map(|(heading, _)| (*heading).to_owned())
            .collect();
        let widths = self.widths();
        for cells in std::iter::once(&headings).chain(&self.rows) {
            let mut line = String::new();
            for ((cell, (_, side)), width) in cells.iter().zip(&self.columns).zip(&widths) {
                let cell = match side {
                    Side::Left => format!("{cell:<width$}  "),
                    Side::Right => format!("{cell:>width$}  "),
                };
                line.push_str(&cell);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn widths(&self) -> Vec<usize> {
        let width = |text: &str| text.chars().count();
        let mut widths: Vec<_> = self.columns.iter().map(|(text, _)| width(text)).collect();
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = (*widest).max(width(cell));
            }
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, Side, Table};

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let mut table = Table::new(&[("name", Side::Left), ("sum", Side::Right), ("", Side::Left)]);
        table.row(["a".into(), "-10.00".into(), String::new()]);
        table.row(["größer".into(), "1.00".into(), "note".into()]);
        let mut text = Vec::new();
        Report::new(&(), table).write_table(&mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "name       sum\na       -10.00\ngrößer    1.00  note\n"
        );
    }
}
