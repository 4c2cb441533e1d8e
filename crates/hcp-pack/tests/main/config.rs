//! The operator's config is read like a manifest, with checks of its own.

use hcp_pack::{Format, SourceFile, parse_config};

#[test]
fn configs_are_read_like_manifests() {
    let read = |text: &str| {
        parse_config(&SourceFile {
            name: "config.toml".to_owned(),
            text: text.to_owned(),
            format: Format::Toml,
        })
        .map_err(|error| error.to_string())
    };
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
    assert_eq!(read("").unwrap(), hcp_spec::config::Config::default());
    let cases = [
        (
            "[store]\nurl = \"postgres:x\"",
            "config.toml:2:7: `postgres:x` is no store",
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
