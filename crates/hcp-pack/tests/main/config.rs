//! The operator's config is read like a manifest, with checks of its own.

use hcp_pack::{Format, PackError, SourceFile, parse_config};
use hcp_spec::config::Config;

fn parse(text: &str) -> Result<Config, PackError> {
    parse_config(&SourceFile {
        name: "config.toml".to_owned(),
        text: text.to_owned(),
        format: if text.starts_with('{') {
            Format::Json
        } else {
            Format::Toml
        },
    })
}

#[test]
fn configs_are_read_like_manifests() {
    let read = |text: &str| parse(text).map_err(|error| error.to_string());
    let full = r#"
[store]
url = "sqlite:hcp.db"
[sandbox]
mode = "native-local"
level = "no-userns"
allow_bins = ["git", "/usr/bin/jq"]
network = ["a:1"]
timeout_max = "10m"
[bindings.ledger]
provider = "static"
env.LEDGER_TOKEN = { file = "secrets/ledger-token" }
shared = true
[bindings."ledger.transfer"]
provider = "vault"
[tenants.acme.bindings.deploy]
provider = "exec"
command = ["/usr/local/bin/mint-acme"]
[policy."ledger.transfer"]
approval = "human"
"#;
    read(full).unwrap();
    assert_eq!(read("").unwrap(), Config::default());
    let cases = [
        (
            "[store]\nurl = \"postgres:x\"",
            "config.toml:2:7: `postgres:x` is no store",
        ),
        (
            "[sandbox]\nmode = native-local",
            "config.toml:2:8: this is neither a number",
        ),
        (
            "[sandbox]\nread = [\"/a\", 7]",
            "config.toml:2:15: `sandbox.read[1]` must be",
        ),
        ("[sanbox]", "config.toml:1:2: unknown key `sanbox`"),
        (
            "[sandbox]\nmode = \"native\"",
            "config.toml:2:8: `native` is no value of `sandbox.mode`",
        ),
        (
            "[sandbox]\nallow_bins = [\"./x\"]",
            "config.toml:2:15: `./x` is no bin",
        ),
        (
            "[sandbox]\nnetwork = [\"x\"]",
            "config.toml:2:12: `x` is not `host:port`",
        ),
        (
            "[bindings.x]\nprovider = \"static\"",
            "config.toml:1:11: a `static` provider needs `env`",
        ),
        (
            "[bindings.x]\nprovider = \"exec\"",
            "config.toml:1:11: an `exec` provider needs `command`",
        ),
        (
            "[bindings.x]\nprovider = \"exec\"\ncommand = [\"mint\"]",
            "config.toml:3:11: an `exec` provider needs",
        ),
        (
            "[bindings.x]\nprovider = \"exec\"\nshared = true",
            "config.toml:3:10: `shared` is for the provider `static`",
        ),
        (
            "[bindings.x]\nprovider = \"exec\"\ncommand = [\"/m\"]\ndigest = \"ab\"",
            "config.toml:4:10: `digest` is no SHA-256",
        ),
        (
            "[bindings.X]\nprovider = \"vault\"",
            "config.toml:1:11: `X` names no pack and no command",
        ),
        (
            "[policy.ledger]\nconfirm = true",
            "config.toml:1:9: `ledger` names no command",
        ),
        (
            "[tenants.A.bindings]",
            "config.toml:1:10: `A` is not a tenant",
        ),
    ];
    for (text, expected) in cases {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(expected), "{text}\n  {error}");
    }
}

/// Configs with `sekret` where it should not be, what the error says and its hint.
const SECRETS: &[(&str, &str, &str)] = &[
    (
        "[bindings.x]\nprovider = \"static\"\nenv = { API_TOKEN = \"sekret\" }",
        "config.toml:3:21: `bindings.x.env.API_TOKEN` must be a table, not a string",
        "write `API_TOKEN = { file = \"secrets/name\" }`",
    ),
    (
        "[bindings.x.env]\nAPI_TOKEN = { value = \"sekret\" }",
        "config.toml:2:15: unknown key `value`",
        "write `API_TOKEN = { file = \"secrets/name\" }`",
    ),
    (
        "[bindings.x.env]\nAPI_TOKEN = { file = [\"sekret\"] }",
        "config.toml:2:22: `bindings.x.env.API_TOKEN.file` must be",
        "write `API_TOKEN = { file = \"secrets/name\" }`",
    ),
    (
        "[tenants.acme.bindings.x]\nenv.API_TOKEN = \"sekret\"",
        "config.toml:2:17: `tenants.acme.bindings.x.env.API_TOKEN` must be a table",
        "write `API_TOKEN = { file = \"secrets/name\" }`",
    ),
    (
        "[bindings.x]\nenv = \"API_TOKEN=sekret\"",
        "config.toml:2:7: `bindings.x.env` must be a table",
        "write `env.NAME = { file = \"secrets/name\" }`",
    ),
    (
        "[bindings.x]\nAPI_TOKEN = \"sekret\"",
        "config.toml:2:1: unknown key `API_TOKEN`",
        "write `env.API_TOKEN = { file = \"secrets/name\" }`",
    ),
    (
        "[bindings.x]\nprovider = \"sekret\"",
        "config.toml:2:12: `bindings.x.provider` takes no such word",
        "it takes `static`, `exec`, `vault`, `oauth2`, `jwt`",
    ),
    (
        "[bindings.x]\nprovider = \"vault\"\nttl = \"sekret\"",
        "config.toml:3:7: `bindings.x.ttl` is not a duration: write a whole number",
        "the line is not shown",
    ),
    (
        "[bindings.x]\nprovider = \"vault\"\nttl = \"sekret  two\"",
        "config.toml:3:7: `bindings.x.ttl` is not written as it must be",
        "the line is not shown",
    ),
    (
        "[bindings.x]\nprovider = \"vault\"\nenv.HOME = { file = \"sekret\" }",
        "config.toml:3:5: `HOME` is not",
        "the runtime sets `PATH`",
    ),
    (
        "[bindings.x]\nprovider = \"vault\"\nenv.A = { file = \"sekret\" }",
        "config.toml:3:1: `env` is for the provider `static`",
        "the line is not shown",
    ),
    (
        "[bindings.x]\nprovider = \"static\"\ncommand = [\"sekret\"]",
        "config.toml:3:11: `command` is for the provider `exec`",
        "the line is not shown",
    ),
    (
        "bindngs.x.env.API_TOKEN = \"sekret\"",
        "config.toml:1:1: unknown key `bindngs`",
        "did you mean `bindings`?",
    ),
    (
        "[store]\nurl = \"postgres://hcp:sekret@db/hcp?key=sekret\"",
        "config.toml:2:7: `postgres://…@db/hcp` is no store",
        "write `sqlite:`",
    ),
    (
        "{\"bindings\": {\"x\": {\"env\": {\"A\": \"sekret\"}}}, \"sandbox\": {\"mode\": 1}}",
        "config.toml:1:34: `bindings.x.env.A` must be a table",
        "write `A = { file = \"secrets/name\" }`",
    ),
    (
        "{\"policy\": 1, \"bindings\": {\"x\": {\"env\": {\"A\": \"sekret\"}}}}",
        "config.toml:1:12: `policy` must be a table",
        "the line is not shown",
    ),
    (
        "{\"sandbox\": {\"x\": \"sekret\" }, ",
        "config.toml:1:",
        "the line is not shown",
    ),
    // What follows does not read at all.
    (
        "[bindings.x]\nenv.API_TOKEN = sekret",
        "config.toml:2:17: this is neither a number",
        "put it in quotes",
    ),
    (
        "[bindings.x]\nenv.A = \"sekret",
        "config.toml:2:16: invalid basic string",
        "the line is not shown",
    ),
    (
        "[bindings.x]\nenv.A = \"\"\"\n[sandbox]\nmode = sekret",
        "config.toml:4:",
        "the line is not shown",
    ),
    (
        "[\"b\\u0069ndings\".x]\nenv.A = '''\n[sandbox]\nmode = sekret",
        "config.toml:4:",
        "the line is not shown",
    ),
    (
        "[bindngs.x]\nenv.A = sekret",
        "config.toml:2:",
        "put it in quotes",
    ),
    ("[sandbox]\n[x]\na = sekret", "config.toml:3:", "put it"),
    ("x = sekret", "config.toml:1:5: this is neither", "put it"),
    (
        "[bindings.x]\nenv.A = \"sekret\"\nenv.A = \"sekret\"",
        "config.toml:3:5: duplicate key",
        "the line is not shown",
    ),
];

#[test]
fn a_secret_in_the_config_is_in_no_message() {
    for (text, message, hint) in SECRETS {
        let error = parse(text).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(message), "{text}\n  {said}");
        let shown_hint = error.hint().unwrap_or_default();
        assert!(shown_hint.starts_with(hint), "{text}\n  {shown_hint}");
        let place = said.split(": ").next().unwrap();
        for form in [
            said.clone(),
            format!("{error:?}"),
            error.report(false),
            error.report(true),
        ] {
            assert!(!form.contains("sekret"), "{text}\n  {form}");
        }
        assert!(error.report(false).contains(place), "{text}");
    }
}

#[test]
fn lines_without_credentials_are_shown() {
    let shown = [
        ("[sandbox]\nmode = \"native\"", "mode = \"native\""),
        ("[sandbox]\nmode = native-local", "mode = native-local"),
        ("[policy.\"a.b\"]\nconfirm = yes", "confirm = yes"),
        (
            "[bindings.x]\nprovider = \"vault\"\n[sandbox]\nmode = \"native\"",
            "mode = \"native\"",
        ),
        (
            "[sandbox]\nlevel = 7\n[bindings.x]\nprovider = \"vault\"",
            "level = 7",
        ),
    ];
    for (text, line) in shown {
        let report = parse(text).unwrap_err().report(false);
        assert!(report.contains(line), "{report}");
    }
}

#[test]
fn a_key_with_a_dot_wants_quotes() {
    let cases = [
        (
            "[policy.commits.log]\nconfirm = true",
            "write `[policy.\"commits.log\"]`",
        ),
        (
            "[policy.commits.approve]\nconfirm = true",
            "write `[policy.\"commits.approve\"]`",
        ),
        (
            "[bindings.ledger.transfer]\nprovider = \"vault\"",
            "write `[bindings.\"ledger.transfer\"]`",
        ),
        (
            "[tenants.acme.bindings.ledger.transfer]\nprovider = \"vault\"",
            "write `[tenants.acme.bindings.\"ledger.transfer\"]`",
        ),
        (
            "[bindings.ledger.envs]\nA = { file = \"a\" }",
            "did you mean `env`?",
        ),
        (
            "[policy.commits]\nlog = true",
            "known keys here are `confirm`, `approval`",
        ),
    ];
    for (text, hint) in cases {
        assert_eq!(
            parse(text).unwrap_err().hint().as_deref(),
            Some(hint),
            "{text}"
        );
    }
}
