//! Formatting: keys and tables in order, spaces in place, every comment kept, nothing said otherwise.

use std::fmt::Write as _;

use hcp_pack::{Format, SourceFile, format_manifest, parse_manifest};
use proptest::prelude::*;

use crate::HEAD;

fn source(text: &str, format: Format) -> SourceFile {
    SourceFile {
        name: "hcp.toml".to_owned(),
        text: text.to_owned(),
        format,
    }
}

/// Formats, and makes sure that formatting again changes nothing and that nothing says otherwise.
fn formatted(text: &str) -> String {
    let before = source(text, Format::Toml);
    let once =
        format_manifest(&before).unwrap_or_else(|error| panic!("{}\n{text}", error.report(false)));
    let again = format_manifest(&source(&once, Format::Toml)).unwrap();
    assert_eq!(again, once, "formatted twice");
    let same = parse_manifest(&source(&once, Format::Toml)).unwrap();
    assert_eq!(same, parse_manifest(&before).unwrap());
    assert_eq!(comments(&once), comments(text));
    once
}

fn comments(text: &str) -> Vec<String> {
    let mut comments: Vec<String> = text
        .lines()
        .filter_map(|line| {
            line.rsplit_once('#')
                .map(|(_, comment)| comment.trim().to_owned())
        })
        .collect();
    comments.sort();
    comments
}

const MESSY: &str = r#"#:schema ./hcp.schema.json

# The pack of a tool.
# Two lines.


kind="wrap"   # how
  id = "p"
hcp   =   1


summary = "s"
# which
version = "1"
[policy.go] # who
confirm=true
capability = "p:go"
[policy.come]
capability = "p:come"
[commands.go.args.to]

   # a place
schema = {type="string",minLength=1}
required = true
[commands.go]
# says
cli = ["t", "go",
  "{{to}}", # where
]
effect = "read"
summary = "Go"


# ---- coming

[commands.come]
args.b = { schema = {}, required = true }
args.a.required = true
args.a.summary = "a"
cli = [ "t","come" ,"{{b}}", "{{a}}" ]
summary = "Come"
[wrap.agent_env]
Z = "1"
A = "2"
[wrap]
json = []
bin = "./t"
# the end
"#;

const TIDY: &str = r#"#:schema ./hcp.schema.json

# The pack of a tool.
# Two lines.

hcp = 1
id = "p"
# which
version = "1"

summary = "s"
kind = "wrap" # how

[wrap]
bin = "./t"
json = []

[wrap.agent_env]
Z = "1"
A = "2"

[commands.go]
summary = "Go"
effect = "read"
# says
cli = ["t", "go",
  "{{to}}", # where
]

[commands.go.args.to]
required = true

# a place
schema = { type = "string", minLength = 1 }

[policy.go] # who
capability = "p:go"
confirm = true

# ---- coming

[commands.come]
summary = "Come"
cli = ["t", "come", "{{b}}", "{{a}}"]
args.b = { required = true, schema = {} }
args.a.required = true
args.a.summary = "a"

[policy.come]
capability = "p:come"
# the end
"#;

#[test]
fn a_messy_manifest_becomes_a_tidy_one() {
    assert_eq!(formatted(MESSY), TIDY);
    assert_eq!(formatted(TIDY), TIDY);
    assert_eq!(formatted(&MESSY.replace('\n', "\r\n")), TIDY);
}

#[test]
fn the_packs_that_come_with_hcp_are_tidy() {
    let ledger = include_str!("../../../../examples/ledger/pack/hcp.toml");
    assert_eq!(formatted(ledger), ledger);
}

#[test]
fn json_is_put_in_the_same_order() {
    let text = r#"{"kind":"wrap","commands":{"b":{"cli":["t","b"],"summary":"s"},"a":{"cli":["t","a"],"summary":"s"}},
        "wrap":{"bin":"./t"},"summary":"s","version":"1","id":"p","hcp":1}"#;
    let once = format_manifest(&source(text, Format::Json)).unwrap();
    let keys = [
        "\"hcp\": 1",
        "\"id\"",
        "\"version\"",
        "\"summary\"",
        "\"kind\"",
        "\"wrap\"",
        "\"b\"",
        "\"a\"",
    ];
    let places: Vec<_> = keys.iter().map(|key| once.find(key).unwrap()).collect();
    assert!(places.is_sorted(), "{once}");
    assert_eq!(format_manifest(&source(&once, Format::Json)).unwrap(), once);
}

#[test]
fn what_is_no_manifest_is_not_formatted() {
    let error = format_manifest(&source(&format!("{HEAD}x = 1"), Format::Toml)).unwrap_err();
    assert_eq!(error.rule(), "manifest-keys");
}

const SECTIONS: [(&str, &[&str]); 7] = [
    ("[privacy]", &["land = \"local\""]),
    (
        "[wrap]",
        &[
            "bin = \"./t\"",
            "json = []",
            "success = [1, 2]",
            "output = \"text\"",
        ],
    ),
    (
        "[sandbox]",
        &[
            "exec = [\"a\"]",
            "timeout = \"1s\"",
            "state = true",
            "processes = 3",
        ],
    ),
    (
        "[commands.do]",
        &[
            "summary = \"s\"",
            "effect = \"read\"",
            "cli = [\"t\", \"do\", \"{{x}}\"]",
        ],
    ),
    (
        "[commands.do.args.x]",
        &[
            "required = true",
            "summary = \"# no comment\"",
            "schema = { enum = [\"a\"] }",
        ],
    ),
    (
        "[commands.do.examples.one]",
        &["args = { x = \"a\" }", "argv = [\"do\", \"a\", \"--json\"]"],
    ),
    (
        "[policy.do]",
        &[
            "capability = \"p:do\"",
            "confirm = true",
            "approval = \"human\"",
        ],
    ),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_order_that_an_author_wrote_in_makes_no_difference(
        seeds in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u32>(), 4)), 7),
        spaces in prop::sample::select(vec!["", " ", "   ", "\t"]),
    ) {
        let write = |order: &[(usize, Vec<usize>)], spaces: &str| {
            let mut text = HEAD.to_owned();
            for (section, keys) in order {
                let (header, lines) = SECTIONS[*section];
                let _ = write!(text, "\n# about {section}\n{header}{spaces}\n");
                for key in keys {
                    let line = lines[*key].replacen(" = ", &format!("{spaces}={spaces}"), 1);
                    let _ = writeln!(text, "{spaces}# {section}.{key}\n{spaces}{line}{spaces}# behind");
                }
            }
            text
        };
        let plain: Vec<_> = (0..7).map(|at| (at, (0..SECTIONS[at].1.len()).collect())).collect();
        let mut shuffled: Vec<(usize, Vec<usize>)> = plain.clone();
        shuffled.sort_by_key(|(at, _)| seeds[*at].0);
        for (at, keys) in &mut shuffled {
            keys.sort_by_key(|key| seeds[*at].1[*key]);
        }
        prop_assert_eq!(formatted(&write(&shuffled, spaces)), formatted(&write(&plain, " ")));
    }
}
