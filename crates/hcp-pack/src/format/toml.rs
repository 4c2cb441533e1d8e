//! `hcp.toml`, formatted: tables moved and keys sorted on a tree that keeps what stands around them.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, Value};

use super::decor::{begins_apart, behind, is_plain, lines_before, split_head, text};
use super::failed;
use super::order::{MANIFEST, Shape};
use crate::error::PackError;

pub(super) fn format(source: &str) -> Result<String, PackError> {
    let source = source.replace("\r\n", "\n");
    let mut document: DocumentMut = source
        .parse()
        .map_err(|error: toml_edit::TomlError| failed(&error.to_string()))?;
    let root = document.as_table_mut();
    let head = take_head(root);
    sort(root, &MANIFEST);
    tidy(root, true);
    place(root);
    let trailing = text(Some(document.trailing()));
    let apart = begins_apart(trailing) && !trailing.trim().is_empty();
    let trailing = lines_before(trailing, apart);
    document.set_trailing(trailing.as_str());
    let body = document.to_string();
    Ok(if head.is_empty() {
        body
    } else {
        format!("{head}\n{}", body.trim_start_matches('\n'))
    })
}

/// Takes the comment of the whole file off its first key, which may not stay the first.
fn take_head(root: &mut Table) -> String {
    let Some(first) = root.iter().next().map(|(key, _)| key.to_owned()) else {
        return String::new();
    };
    let Some(mut key) = root.key_mut(&first) else {
        return String::new();
    };
    let decor = key.leaf_decor_mut();
    let whole = text(decor.prefix()).to_owned();
    let (head, rest) = split_head(&whole);
    decor.set_prefix(rest);
    lines_before(head, false).trim_end().to_owned() + if head.trim().is_empty() { "" } else { "\n" }
}

fn sort(table: &mut Table, shape: &Shape) {
    let by_rank = |one: &Key, _: &Item, other: &Key, _: &Item| {
        shape.rank(one.get()).cmp(&shape.rank(other.get()))
    };
    if matches!(shape, Shape::Keys(_)) {
        table.sort_values_by(by_rank);
    }
    for (key, item) in table.iter_mut() {
        let shape = shape.of(key.get());
        match item {
            Item::Table(table) => sort(table, shape),
            Item::Value(Value::InlineTable(table)) => sort_inline(table, shape),
            _ => {}
        }
    }
}

fn sort_inline(table: &mut InlineTable, shape: &Shape) {
    if matches!(shape, Shape::Keys(_)) && is_one_line(table) {
        table
            .sort_values_by(|one, _, other, _| shape.rank(one.get()).cmp(&shape.rank(other.get())));
    }
    for (key, value) in table.iter_mut() {
        if let Value::InlineTable(table) = value {
            sort_inline(table, shape.of(key.get()));
        }
    }
}

/// Puts the spaces in place. `first` is whether the table begins the file.
fn tidy(table: &mut Table, first: bool) {
    if !table.is_dotted() {
        let before = lines_before(text(table.decor().prefix()), !first);
        let after = behind(text(table.decor().suffix()));
        let decor = table.decor_mut();
        decor.set_prefix(before);
        decor.set_suffix(after);
    }
    let mut leading = true;
    tidy_keys(table, &mut leading);
}

/// The keys of a table, those of its dotted tables among them: the first stands right behind the
/// header, the others may have an empty line before them.
fn tidy_keys(table: &mut Table, leading: &mut bool) {
    for (mut key, item) in table.iter_mut() {
        key.dotted_decor_mut().clear();
        match item {
            Item::Value(value) => {
                let before = text(key.leaf_decor().prefix()).to_owned();
                let apart = !*leading && begins_apart(&before);
                *leading = false;
                let decor = key.leaf_decor_mut();
                decor.set_prefix(lines_before(&before, apart));
                decor.set_suffix(" ");
                let after = behind(text(value.decor().suffix()));
                tidy_value(value);
                *value.decor_mut() = toml_edit::Decor::new(" ", after);
            }
            Item::Table(inner) if inner.is_dotted() => tidy_keys(inner, leading),
            Item::Table(inner) => {
                key.leaf_decor_mut().clear();
                tidy(inner, false);
            }
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| tidy(table, false)),
            Item::None => {}
        }
    }
}

/// What stands on one line gets its spaces anew; what has lines or comments of its own keeps them.
fn tidy_value(value: &mut Value) {
    match value {
        Value::InlineTable(table) if is_one_line(table) => {
            for (_, value) in table.iter_mut() {
                tidy_value(value);
            }
            table.fmt();
        }
        Value::Array(array) if is_one_line_array(array) => {
            array.iter_mut().for_each(tidy_value);
            array.fmt();
            array.set_trailing("");
            array.set_trailing_comma(false);
        }
        _ => {}
    }
}

fn is_one_line(table: &InlineTable) -> bool {
    let plain = |key: &Key, value: &Value| {
        is_plain(key.leaf_decor()) && is_plain(key.dotted_decor()) && is_one_line_value(value)
    };
    text(Some(table.trailing()))
        .trim_matches([' ', '\t'])
        .is_empty()
        && table
            .get_values()
            .iter()
            .all(|(path, value)| path.iter().all(|key| plain(key, value)))
}

fn is_one_line_array(array: &Array) -> bool {
    text(Some(array.trailing()))
        .trim_matches([' ', '\t'])
        .is_empty()
        && array.iter().all(is_one_line_value)
}

fn is_one_line_value(value: &Value) -> bool {
    is_plain(value.decor())
        && match value {
            Value::InlineTable(table) => is_one_line(table),
            Value::Array(array) => is_one_line_array(array),
            Value::String(string) => !string.display_repr().contains('\n'),
            _ => true,
        }
}

/// Gives every table its place in the file: the sections, then each command with all that belongs to
/// it and its Policy entry behind it, then Policy entries of no command.
fn place(root: &mut Table) {
    let mut next = 0;
    root.set_position(Some(0));
    for (key, item) in root.iter_mut() {
        if !matches!(key.get(), "commands" | "policy") {
            place_item(item, &mut next);
        }
    }
    let commands: Vec<String> = match root.get("commands") {
        Some(Item::Table(commands)) => commands.iter().map(|(key, _)| key.to_owned()).collect(),
        _ => Vec::new(),
    };
    for section in ["commands", "policy"] {
        if let Some(Item::Table(table)) = root.get_mut(section) {
            take_place(table, &mut next);
        }
    }
    for key in &commands {
        for section in ["commands", "policy"] {
            if let Some(Item::Table(table)) = root.get_mut(section)
                && let Some(item) = table.get_mut(key)
            {
                place_item(item, &mut next);
            }
        }
    }
    if let Some(Item::Table(table)) = root.get_mut("policy") {
        for (key, item) in table.iter_mut() {
            if !commands.iter().any(|command| command == key.get()) {
                place_item(item, &mut next);
            }
        }
    }
}

fn place_item(item: &mut Item, next: &mut isize) {
    match item {
        Item::Table(table) => {
            take_place(table, next);
            for (_, item) in table.iter_mut() {
                place_item(item, next);
            }
        }
        Item::ArrayOfTables(tables) => {
            for table in tables.iter_mut() {
                take_place(table, next);
                for (_, item) in table.iter_mut() {
                    place_item(item, next);
                }
            }
        }
        _ => {}
    }
}

fn take_place(table: &mut Table, next: &mut isize) {
    *next += 1;
    table.set_position(Some(*next));
}
