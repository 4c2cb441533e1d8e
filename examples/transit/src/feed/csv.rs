//! The comma-separated text of GTFS: a line of names, then a line a row, fields in quotes where they
//! need it.

use std::collections::HashMap;

/// One file, by the names of its columns.
pub(super) struct Table {
    columns: HashMap<String, usize>,
    /// Each with its line, from 1.
    pub(super) rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    /// The line at fault, and what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line));
        let header = lines.next().ok_or((1, "the file is empty".to_owned()))?;
        let names = fields(header.1).map_err(|what| (header.0, what))?;
        let mut rows = Vec::new();
        for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
            let row = fields(text).map_err(|what| (line, what))?;
            if row.len() != names.len() {
                let what = format!(
                    "{} fields, where there are {} names",
                    row.len(),
                    names.len()
                );
                return Err((line, what));
            }
            rows.push((line, row));
        }
        let columns = names.into_iter().enumerate();
        Ok(Self {
            columns: columns
                .map(|(index, name)| (name.trim().to_owned(), index))
                .collect(),
            rows,
        })
    }

    /// The field of a row; empty where the file has no such column.
    pub(super) fn field<'a>(&self, row: &'a [String], name: &str) -> &'a str {
        let field = self.columns.get(name).and_then(|index| row.get(*index));
        field.map_or("", |field| field.trim())
    }
}

fn fields(line: &str) -> Result<Vec<String>, String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars().peekable();
    let mut quoted = false;
    while let Some(character) = characters.next() {
        let Some(field) = fields.last_mut() else {
            break;
        };
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    if quoted {
        return Err("a quote is not closed".to_owned());
    }
    Ok(fields)
}

/// A field as it is written.
pub(super) fn quote(field: &str) -> String {
    if field.contains([',', '"']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Table, fields, quote};

    #[test]
    fn fields_come_back_as_they_were_written() {
        let row = ["a", "", "b,c", "say \"hi\"", "\u{e4}"];
        let line = row.map(quote).join(",");
        assert_eq!(fields(&line).unwrap(), row);
        assert!(fields("a,\"b").is_err());
    }

    #[test]
    fn a_row_that_does_not_fit_is_named() {
        let problem = Table::parse("a,b\n1,2\n\n3\n").map(|_| ()).unwrap_err();
        assert_eq!(problem.0, 4);
    }
}
