//! Putting an entry into a client's file, and telling what that changes.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Entry;
use super::clients::Form;

/// The file with the entry in it; everything else stays.
///
/// # Errors
/// What keeps the file from being changed without losing something of it.
pub(super) fn with_entry(
    form: &Form,
    text: Option<&str>,
    name: &str,
    entry: &Entry,
) -> Result<String, String> {
    let text = text.unwrap_or_default();
    match form {
        Form::Json(keys) => in_json(keys, text, name, entry),
        Form::Toml => in_toml(text, name, entry),
    }
}

fn in_json(keys: &[String], text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let mut whole: Value = if text.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(text).map_err(|error| format!("it is not plain JSON: {error}"))?
    };
    let mut at = &mut whole;
    for key in keys {
        let Value::Object(members) = at else {
            return Err(format!("what holds `{key}` is not an object"));
        };
        at = members
            .entry(key.clone())
            .or_insert_with(|| Value::Object(Map::new()));
    }
    let Value::Object(servers) = at else {
        return Err("its list of servers is not an object".to_owned());
    };
    let env: Map<String, Value> = entry
        .env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    let own = json!({
        "type": "stdio",
        "command": entry.command,
        "args": entry.args,
        "env": env,
    });
    if servers.get(name) == Some(&own) {
        return Ok(text.to_owned());
    }
    servers.insert(name.to_owned(), own);
    let mut pretty = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
    pretty.push('\n');
    Ok(pretty)
}

/// Only whole tables are added and replaced, so that comments and order stay as they are.
fn in_toml(text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let own = format!("[mcp_servers.{name}]");
    let below = format!("[mcp_servers.{name}.");
    let mut kept: Vec<&str> = Vec::new();
    let mut is_own = false;
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with('[') {
            is_own = start.starts_with(&own) || start.starts_with(&below);
        } else if start.starts_with("mcp_servers") || start.contains("\"mcp_servers\"") {
            return Err("its servers are not written as tables of their own".to_owned());
        }
        if !is_own {
            kept.push(line);
        }
    }
    let mut changed = kept.join("\n").trim_end().to_owned();
    if !changed.is_empty() {
        changed.push_str("\n\n");
    }
    // A JSON string is a basic string of TOML too.
    let args: Vec<String> = entry
        .args
        .iter()
        .map(|arg| json!(arg).to_string())
        .collect();
    let command = json!(entry.command);
    let args = args.join(", ");
    let _ = write!(
        changed,
        "{own}
command = {command}
args = [{args}]
"
    );
    if !entry.env.is_empty() {
        let _ = writeln!(changed, "\n[mcp_servers.{name}.env]");
        for (name, value) in &entry.env {
            let _ = writeln!(changed, "{name} = {}", json!(value));
        }
    }
    Ok(changed)
}

/// The text as it would be written again without a change, so that a difference shows nothing of what
/// is another's.
pub(super) fn normalized(form: &Form, text: &str) -> String {
    let pretty = match form {
        Form::Json(_) => serde_json::from_str::<Value>(text)
            .and_then(|whole| serde_json::to_string_pretty(&whole))
            .ok(),
        Form::Toml => None,
    };
    pretty.unwrap_or_else(|| text.to_owned())
}

/// The lines that go and come, marked `-` and `+`, without what both have at their beginning and end.
pub(super) fn difference(before: &str, after: &str) -> Vec<String> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let rest = before.len().min(after.len()) - same;
    let tail = before.iter().rev().zip(after.iter().rev());
    let tail = tail.take(rest).take_while(|(a, b)| a == b).count();
    let changed = |lines: &[&str], mark: &str| -> Vec<String> {
        let count = lines.len() - same - tail;
        let lines = lines.iter().skip(same).take(count);
        lines.map(|line| format!("{mark} {line}")).collect()
    };
    [changed(&before, "-"), changed(&after, "+")].concat()
}

#[cfg(test)]
mod tests {
    use super::{Entry, Form, difference, with_entry};

    fn entry() -> Entry {
        Entry {
            command: "/opt/h \"cp\"".to_owned(),
            args: vec!["mcp".to_owned()],
            env: vec![("HCP_HOME", "/srv/home".to_owned())],
        }
    }

    #[test]
    fn an_entry_in_json_leaves_everything_else() {
        let form = Form::Json(vec!["mcpServers".to_owned()]);
        let text = r#"{"z": 1.10, "mcpServers": {"other": {"command": "x"}}, "a": null}"#;
        let once = with_entry(&form, Some(text), "hcp", &entry()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&once).unwrap();
        assert_eq!(value["mcpServers"]["hcp"]["command"], "/opt/h \"cp\"");
        assert_eq!(value["mcpServers"]["other"]["command"], "x");
        assert!(once.find("\"z\": 1.10").unwrap() < once.find("\"a\"").unwrap());
        assert_eq!(
            with_entry(&form, Some(&once), "hcp", &entry()).unwrap(),
            once
        );
        for wrong in ["// a comment\n{}", "[]", r#"{"mcpServers": 1}"#] {
            assert!(
                with_entry(&form, Some(wrong), "hcp", &entry()).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn an_entry_in_toml_leaves_everything_else() {
        let text = "# mine\nmodel = \"x\"\n\n[mcp_servers.hcp]\ncommand = \"old\"\n\n\
                    [mcp_servers.hcp.env]\nA = \"1\"\n\n[mcp_servers.hcpx]\ncommand = \"y\" # keep\n";
        let once = with_entry(&Form::Toml, Some(text), "hcp", &entry()).unwrap();
        assert_eq!(
            once,
            "# mine\nmodel = \"x\"\n\n[mcp_servers.hcpx]\ncommand = \"y\" # keep\n\n\
             [mcp_servers.hcp]\ncommand = \"/opt/h \\\"cp\\\"\"\nargs = [\"mcp\"]\n\n\
             [mcp_servers.hcp.env]\nHCP_HOME = \"/srv/home\"\n"
        );
        assert_eq!(
            with_entry(&Form::Toml, Some(&once), "hcp", &entry()).unwrap(),
            once
        );
        let inline = "mcp_servers = { hcp = { command = \"x\" } }\n";
        assert!(with_entry(&Form::Toml, Some(inline), "hcp", &entry()).is_err());
    }

    #[test]
    fn a_difference_is_what_is_not_the_same() {
        assert_eq!(difference("a\nb\nc\n", "a\nx\nc\n"), ["- b", "+ x"]);
        assert_eq!(difference("", "a\n"), ["+ a"]);
        assert_eq!(difference("a\na\n", "a\na\na\n"), ["+ a"]);
        assert!(difference("a\n", "a\n").is_empty());
    }
}
