//! Reading: both formats into one manifest, and every fault with its place.

use std::fs;

use hcp_pack::{Format, SourceFile, parse_manifest, read_manifest};
use insta::assert_snapshot;

use crate::{HEAD, json, toml};

const LEDGER: &str = r#"
hcp = 1
id = "ledger"
version = "0.1.0"
summary = "Double-entry ledger"
kind = "wrap"

[wrap]
bin = "./bin/ledger"
argv_template = ["{{verb}}", "--account={{account}}"]
success = [0, 1]
[wrap.agent_env]
LEDGER_COLOR = "never"

[sandbox]
state = true
network = ["api.example.com:443", "[::1]:80"]
timeout = "30s"
output = "16MiB"

[binding]
env = ["LEDGER_TOKEN"]
ttl = "5m"

[commands.transfer]
summary = "Move money"
effect = "write"
cli = ["ledger", "transfer", "--from={{from}}", "--amount={{amount}}"]
[commands.transfer.args.from]
required = true
[commands.transfer.args.amount]
schema = { type = "number", exclusiveMinimum = 0, maximum = 12345678901234567890.5, default = 1.10 }
[commands.transfer.examples.small]
args = { from = "cash", amount = 10 }
argv = ["transfer", "--from=cash", "--amount=10", "--json"]
[commands."account list"]
summary = "List accounts"
effect = "read"
[commands.settle]
summary = "Settle"
kind = "composite"
output = "{{steps.zulu.result}}"
[commands.settle.steps.zulu]
call = "transit.plan"
args = { to = "{{args.to}}" }
[commands.settle.steps.alpha]
call = "ledger.account list"
when = "args.limit > 1 && steps.zulu.result.args.x"

[policy.transfer]
capability = "ledger:write"
confirm = true
"#;

#[test]
fn the_contracts_manifest_reads_and_numbers_and_order_stay() {
    let manifest = toml(LEDGER).unwrap_or_else(|error| panic!("{}", error.report(false)));
    let schema = manifest.commands["transfer"].args["amount"]
        .schema
        .clone()
        .unwrap();
    assert_eq!(
        schema.to_string(),
        r#"{"type":"number","exclusiveMinimum":0,"maximum":12345678901234567890.5,"default":1.10}"#
    );
    let settle = &manifest.commands["settle"];
    assert_eq!(settle.steps.keys().collect::<Vec<_>>(), ["zulu", "alpha"]);
    assert_eq!(
        hcp_pack::accepted_names(&manifest, "settle", settle),
        ["to", "limit"]
    );
    let listed = &manifest.commands["account list"];
    assert_eq!(
        hcp_pack::accepted_names(&manifest, "account list", listed),
        ["account"]
    );
}

#[test]
fn a_pack_may_have_nothing_yet() {
    toml(HEAD).unwrap();
    let mut manifest = toml(LEDGER).unwrap();
    manifest.wrap = None;
    let error = hcp_pack::PreparedCommand::prepare(&manifest, "transfer").unwrap_err();
    assert!(
        error.to_string().starts_with("kind `wrap` needs the table"),
        "{error}"
    );
    let error = hcp_pack::PreparedCommand::prepare(&manifest, "nope").unwrap_err();
    assert_eq!(error.to_string(), "pack `ledger` has no command `nope`");
}

#[test]
fn both_formats_give_the_same_manifest() {
    let from_toml = toml(LEDGER).unwrap();
    let text = serde_json::to_string_pretty(&from_toml).unwrap();
    assert_eq!(json(&text).unwrap(), from_toml);
}

/// What stands behind the head of a manifest (five lines), and what is said about it.
const PACK_FAULTS: &[(&str, &str)] = &[
    ("x = ", "hcp.toml:6:5: "),
    ("id = \"q\"", "hcp.toml:6:1: duplicate key"),
    ("sumary = \"s\"", "hcp.toml:6:1: unknown key `sumary`"),
    (
        "x = 1979-05-27",
        "hcp.toml:6:5: a date or time has no JSON form",
    ),
    ("x = inf", "hcp.toml:6:5: `inf` and `nan` have no JSON form"),
    (
        "\"$serde_json::private::Number\" = \"1\"",
        "hcp.toml:6:1: this key is reserved",
    ),
    (
        "[wrap]\nbin = 1",
        "hcp.toml:7:7: `wrap.bin` must be a string, not a number",
    ),
    (
        "[wrap]\njson = []",
        "hcp.toml:6:2: missing key `bin` in `wrap`",
    ),
    ("[wrap]\nbin = \"\"", "hcp.toml:7:7: `wrap.bin` is empty"),
    (
        "[wrap]\nbin = \"{{x}}\"",
        "hcp.toml:7:7: `wrap.bin` is a plain name",
    ),
    (
        "[wrap]\nbin = \"t\"\njson = [\"{{x}}\"]",
        "hcp.toml:8:9: `wrap.json` holds plain text",
    ),
    (
        "[wrap]\nbin = \"t\"\nsuccess = [300]",
        "hcp.toml:8:12: `wrap.success` must be a whole number from 0 to 255, not another number",
    ),
    (
        "[wrap]\nbin = \"t\"\noutput = \"jsn\"",
        "hcp.toml:8:10: `jsn` is no value of `wrap.output`",
    ),
    (
        "[wrap]\nbin = \"t\"\nargv_template = [\"x{{verb}}\"]\n[commands.do]\nsummary = \"s\"",
        "hcp.toml:8:18: `{{verb}}` stands only alone",
    ),
    (
        "[wrap]\nbin = \"t\"\n[wrap.agent_env]\nPATH = \"x\"",
        "hcp.toml:9:8: `PATH` is not a pack's to set",
    ),
    (
        "[wrap]\nbin = \"t\"\n[wrap.agent_env]\nLD_PRELOAD = \"x\"",
        "hcp.toml:9:14: `LD_PRELOAD` is not",
    ),
    (
        "[wrap]\nbin = \"t\"\n[wrap.agent_env]\nHCP_X = \"x\"",
        "hcp.toml:9:9: `HCP_X` is not",
    ),
    (
        "[wrap]\nbin = \"t\"\n[wrap.agent_env]\n\"A B\" = \"x\"",
        "hcp.toml:9:9: `A B` is no name of a variable",
    ),
    (
        "[wrap]\nbin = \"t\"\n[wrap.agent_env]\nA = \"x\"\n[binding]\nenv = [\"A\"]",
        "hcp.toml:9:5: `A` is set by the Binding",
    ),
    (
        "[binding]\nenv = []",
        "hcp.toml:7:7: `binding.env` names no variable",
    ),
    (
        "[binding]\nenv = [\"A\", \"HOME\"]",
        "hcp.toml:7:13: `HOME` is not a pack's to set",
    ),
    (
        "[binding]\nenv = [\"A\", \"A\"]",
        "hcp.toml:7:13: `A` stands twice",
    ),
    (
        "[sandbox]\nnetwork = [\"a:1\", \"b\"]",
        "hcp.toml:7:19: `b` is not `host:port`",
    ),
    (
        "[sandbox]\nnetwork = [\"a:0\"]",
        "hcp.toml:7:12: `a:0` is not",
    ),
    (
        "[sandbox]\nnetwork = [\"*:443\"]",
        "hcp.toml:7:12: `*:443` is not",
    ),
    ("[sandbox]\nnetwork = [\"http://a:443\"]", "hcp.toml:7:12: "),
    (
        "[sandbox]\ntimeout = \"30\"",
        "hcp.toml:7:11: `30` is not a duration",
    ),
    (
        "[sandbox]\nprocesses = 0",
        "hcp.toml:7:13: `sandbox.processes` must be at least 1",
    ),
    (
        "[commands.do]\nsummary = \"s\"\ncli = [\"t\"]",
        "hcp.toml:6:11: kind `wrap` needs the table `wrap`",
    ),
];

/// What stands behind a tool (two lines) and a command (three lines), and what is said about it.
const COMMAND_FAULTS: &[(&str, &str)] = &[
    ("sumary = \"s\"", "hcp.toml:11:1: unknown key `sumary`"),
    ("efect = \"read\"", "hcp.toml:11:1: unknown key `efect`"),
    (
        "effect = \"reed\"",
        "hcp.toml:11:10: `reed` is no value of `commands.do.effect`",
    ),
    (
        "kind = \"Wrap\"",
        "hcp.toml:11:8: `Wrap` is not an adapter kind",
    ),
    (
        "args.b = {}",
        "hcp.toml:10:19: `{{a}}` is not declared in `args`",
    ),
    (
        "args.a = {}\nargs.\"b c\" = {}",
        "hcp.toml:12:6: `b c` is no name",
    ),
    (
        "args.a = {}\nargs.\"\" = {}",
        "hcp.toml:12:6: `` is no name",
    ),
    (
        "args.a = {}\nargs.confirm.required = true",
        "hcp.toml:12:25: `confirm` cannot be required",
    ),
    (
        "args.a.as = \"switch\"",
        "hcp.toml:10:19: `a` is a switch and stands only as a flag",
    ),
    (
        "args.a.as = \"swich\"",
        "hcp.toml:11:13: `swich` is no value of `commands.do.args.a.as`",
    ),
    (
        "args.a.schema = { type = \"strng\" }",
        "hcp.toml:11:26: not a JSON Schema: at /type",
    ),
    (
        "args.a.schema = { pattern = \"(?=x)\" }",
        "hcp.toml:11:29: not a JSON Schema: at /pattern",
    ),
    (
        "args.a.schema = { \"$ref\" = \"https://example.com/s\" }",
        "hcp.toml:11:8: this schema refers to one that it does not hold",
    ),
    (
        "args.a.schema = { type = \"integer\", default = \"x\" }",
        "hcp.toml:11:47: the default must be an integer, not a string",
    ),
    ("args.a.schema = 1979-05-27", "hcp.toml:11:17: a date"),
    (
        "result.type = \"strng\"",
        "hcp.toml:11:15: not a JSON Schema",
    ),
    (
        "steps.x.call = \"a.b\"",
        "hcp.toml:11:1: `steps` is for commands of kind `composite`",
    ),
    (
        "output = 1",
        "hcp.toml:11:10: `output` is for commands of kind `composite`",
    ),
    (
        "kind = \"composite\"",
        "hcp.toml:10:7: a composite has no `cli`",
    ),
    (
        "[commands.x]\nsummary = \"s\"",
        "hcp.toml:11:11: `x` has no `cli`, and the pack no",
    ),
    (
        "[commands.x]\ncli = [\"t\"]",
        "hcp.toml:11:11: missing key `summary` in `commands.x`",
    ),
    (
        "[commands.x]\nsummary = \"s\"\ncli = []",
        "hcp.toml:13:7: `cli` is empty",
    ),
    (
        "[commands.x]\nsummary = \"s\"\ncli = [\"t\", \"a\", \"{{b\"]",
        "hcp.toml:13:18: the placeholder in `{{b` has no end",
    ),
    (
        "[commands.x]\nsummary = \"s\"\ncli = [\"t\", \"{{verb}}\"]",
        "hcp.toml:13:13: `{{verb}}` stands only alone",
    ),
    (
        "[commands.\" x\"]\nsummary = \"s\"",
        "hcp.toml:11:11: ` x` is not a verb key",
    ),
    (
        "[commands.x]\nsummary = \"s\"\nkind = \"composite\"",
        "hcp.toml:11:11: a composite needs `steps`",
    ),
    (
        "[commands.x]\nsummary = \"s\"\nkind = \"composite\"\nsteps.a.call = \"ledger\"",
        "hcp.toml:14:16: `ledger` is no call",
    ),
    (
        "[commands.x]\nsummary = \"s\"\nkind = \"composite\"\nsteps.a.call = \"Ledger.x\"",
        "hcp.toml:14:16: `Ledger.x` is no call",
    ),
    (
        "[commands.x]\nsummary = \"s\"\nkind = \"composite\"\nsteps.a-b.call = \"l.x\"",
        "hcp.toml:14:7: `a-b` is no name of a step",
    ),
    (
        "[commands.x]\nsummary = \"s\"\nkind = \"composite\"\noutput = \"{{steps.b.result}}\"\nsteps.a.call = \"l.x\"",
        "hcp.toml:14:10: `steps.b.result` names no step",
    ),
    (
        "[commands.x]\nsummary = \"s\"\nkind = \"composite\"\nargs.a = {}\nsteps.a.call = \"l.x\"\nsteps.a.args = { q = [\"{{args.b}}\"] }",
        "hcp.toml:16:23: `args.b` names no argument",
    ),
    (
        "[policy.do]\nconfirm = true",
        "hcp.toml:11:9: missing key `capability` in `policy.do`",
    ),
    (
        "[policy.do]\ncapability = \"a b\"",
        "hcp.toml:12:14: `a b` is not a capability",
    ),
    (
        "[policy.do]\ncapability = \"a\"\nconfirm = \"yes\"",
        "hcp.toml:13:11: `policy.do.confirm` must be true or false, not a string",
    ),
];

#[test]
fn every_fault_has_its_place() {
    let check = |text: String, expected: &str| {
        let error = toml(&text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}\n  {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    };
    for (rest, expected) in PACK_FAULTS {
        check(format!("{HEAD}{rest}\n"), expected);
    }
    let command = "[wrap]\nbin = \"./t\"\n\
                   [commands.do]\nsummary = \"s\"\ncli = [\"t\", \"go\", \"{{a}}\"]\n";
    for (rest, expected) in COMMAND_FAULTS {
        check(format!("{HEAD}{command}{rest}\n"), expected);
    }
}

#[test]
fn json_faults_have_their_place_too() {
    let cases = [
        (
            "{\n  \"hcp\": 1,\n  \"hcp\": 1\n}",
            "hcp.json:3:3: key `hcp` stands twice",
        ),
        (
            "{\n  \"hcp\": 2, \"new\": 1\n}",
            "hcp.json:2:10: manifest format `2` is not known",
        ),
        (
            "{\"hcp\": 1,}",
            "hcp.json:1:11: not JSON: a key in quotes is missing here",
        ),
        (
            "{\"hcp\": 1",
            "hcp.json:1:10: not JSON: `,` or `}` is missing here",
        ),
        ("[]", "hcp.json:1:1: this must be a table, not a list"),
        (
            "{\"hcp\": 1, \"id\": null}",
            "hcp.json:1:18: `id` must be a string, not null",
        ),
        (
            "{\"hcp\": 1, \"id\": \"A\"}",
            "hcp.json:1:18: `A` is not a pack id",
        ),
        (
            "{\"hcp\": 1, \"żółć\": \"A\"}",
            "hcp.json:1:12: unknown key `żółć`",
        ),
        (
            "{\"hcp\": 1, \"id\": \"a\\ud800\"}",
            "hcp.json:1:18: an escape stands for half a character",
        ),
        ("{\"hcp\": 1}", "hcp.json:1:1: missing key `id`"),
        (
            "{\"hcp\": \"1\"}",
            "hcp.json:1:9: `hcp` must be a whole number from 0 to 4294967295, not a string",
        ),
        ("{\"a\\nb\": 1}", "hcp.json:1:2: unknown key `a\\u{a}b`"),
    ];
    for (text, expected) in cases {
        let error = json(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}\n  {error}");
    }
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(
        json(&deep)
            .unwrap_err()
            .to_string()
            .contains("nested deeper than 128 levels")
    );
    let deep = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = toml(&deep).unwrap_err().to_string();
    assert!(error.contains("max recursion depth"), "{error}");
}

#[test]
fn large_json_numbers_stay_exact() {
    let text = serde_json::to_string(&toml(LEDGER).unwrap()).unwrap();
    let text = text.replace("12345678901234567890.5", "123456789012345678901234567890");
    let manifest = json(&text).unwrap();
    let schema = manifest.commands["transfer"].args["amount"]
        .schema
        .clone()
        .unwrap();
    assert_eq!(
        schema["maximum"].to_string(),
        "123456789012345678901234567890"
    );
}

#[test]
fn reports_show_the_line_and_what_to_do() {
    let text = LEDGER.replace("summary = \"Move money\"", "sumary = \"Move money\"");
    let error = toml(&text).unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean `summary`?"));
    assert_snapshot!(error.report(false), @r##"
    error: unknown key `sumary`
      --> hcp.toml:26:1
       |
    26 | sumary = "Move money"
       | ^^^^^^
       |
       = hint: did you mean `summary`?
    "##);
    let text = LEDGER.replace("{{amount}}", "{{ammount}}");
    assert_snapshot!(toml(&text).unwrap_err().report(false), @r##"
    error: `{{ammount}}` is not declared in `args`
      --> hcp.toml:28:49
       |
    28 | cli = ["ledger", "transfer", "--from={{from}}", "--amount={{ammount}}"]
       |                                                 ^^^^^^^^^^^^^^^^^^^^^^
       |
       = hint: did you mean `{{amount}}`?
    "##);
    let text = LEDGER.replace("\"ledger\", \"transfer\",", "\"ledger\", \"{{from}}\",");
    assert_snapshot!(toml(&text).unwrap_err().report(false), @r##"
    error: the first token after the bin is whatever `from` says, which is a pass-through
      --> hcp.toml:28:18
       |
    28 | cli = ["ledger", "{{from}}", "--from={{from}}", "--amount={{amount}}"]
       |                  ^^^^^^^^^^
       |
       = hint: write the subcommand as text, list its values in an `enum`, or set `wrap.single = true` for a tool that has no subcommands
    "##);
    assert!(toml(&text).unwrap_err().report(true).contains("\u{1b}["));
    let line = format!(
        "{{\"hcp\": 1, \"id\": \"a\", \"x\": \"{}\"}}",
        "é\\n".repeat(200_000)
    );
    let report = json(&line).unwrap_err().report(false);
    assert!(
        report.contains("unknown key `x`") && report.len() < 2000,
        "{}",
        report.len()
    );
}

#[test]
fn exactly_one_manifest_of_an_honest_size() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let read = || {
        read_manifest(root)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let shown = root.display();
    assert_eq!(
        read(),
        Err(format!("neither `hcp.toml` nor `hcp.json` is in `{shown}`"))
    );
    fs::write(root.join("hcp.toml"), LEDGER).unwrap();
    assert_eq!(read(), Ok(()));
    fs::write(root.join("hcp.json"), "{}").unwrap();
    assert_eq!(
        read(),
        Err(format!("both `hcp.toml` and `hcp.json` are in `{shown}`"))
    );
    fs::remove_file(root.join("hcp.json")).unwrap();
    fs::write(root.join("hcp.toml"), "#".repeat(10 << 20)).unwrap();
    assert_eq!(read(), Err("`hcp.toml` is over 1048576 bytes".to_owned()));
    fs::write(root.join("hcp.toml"), b"hcp = 1 # \xff").unwrap();
    assert_eq!(read(), Err("`hcp.toml` is not UTF-8 at byte 10".to_owned()));
    fs::rename(root.join("hcp.toml"), root.join("other")).unwrap();
    std::os::unix::fs::symlink("other", root.join("hcp.toml")).unwrap();
    let error = read().unwrap_err();
    assert!(
        error.starts_with("`hcp.toml` is a symbolic link"),
        "{error}"
    );
}

#[test]
fn schemas_accept_what_the_readers_accept() {
    let schema = hcp_pack::manifest_schema();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let validator = jsonschema::validator_for(&schema).unwrap();
    let manifest = serde_json::to_value(toml(LEDGER).unwrap()).unwrap();
    assert!(
        validator.is_valid(&manifest),
        "{:?}",
        validator.validate(&manifest)
    );
    let mut wrong = manifest.clone();
    wrong["sumary"] = serde_json::json!("s");
    assert!(!validator.is_valid(&wrong));
    jsonschema::validator_for(&hcp_pack::config_schema()).unwrap();
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}=\"'.,: \n#hcpidwrap01-]{0,60}") {
        for format in [Format::Toml, Format::Json] {
            let source = SourceFile { name: "x".to_owned(), text: text.clone(), format };
            if let Err(error) = parse_manifest(&source) {
                proptest::prop_assert_eq!(error.to_string().lines().count(), 1);
                error.report(true);
            }
        }
    }

    #[test]
    fn a_cut_manifest_is_refused_with_a_place(cut in 0..LEDGER.len()) {
        if let Err(error) = toml(&LEDGER[..cut]) {
            proptest::prop_assert!(error.to_string().starts_with("hcp.toml:"));
            error.report(false);
        }
    }
}
