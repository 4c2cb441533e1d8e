//! No command hands its caller the tool, or a shell (§6.7).

use crate::{HEAD, toml};

/// Whether a pack with this bin and this `cli` (in TOML, without the first token) is refused.
fn verdict(bin: &str, single: bool, cli: &str, more: &str) -> Result<(), String> {
    let text = format!(
        "{HEAD}[wrap]\nbin = \"{bin}\"\nsingle = {single}\n\
         [commands.do]\nsummary = \"s\"\ncli = [\"t\", {cli}]\n{more}"
    );
    toml(&text).map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn the_first_token_is_the_authors() {
    let refused = [
        "'{{x}}'",
        "'{{x}}', 'y'",
        "'', '{{x}}'",
        "'{{x}}{{y}}'",
        "'{{x}}-y'",
    ];
    for cli in refused {
        let error = verdict("git", false, cli, "").unwrap_err();
        assert!(
            error.contains("first token after the bin is whatever `x`"),
            "{cli}: {error}"
        );
        assert_eq!(verdict("./tool", true, cli, ""), Ok(()), "{cli}");
    }
    for cli in [
        "'log', '{{x}}'",
        "'--', '{{x}}'",
        "'--x={{x}}'",
        "'repos/{{x}}'",
    ] {
        assert_eq!(verdict("./tool", false, cli, ""), Ok(()), "{cli}");
    }
    let closed = "args.x.schema.enum = [\"status\", \"log\"]";
    assert_eq!(verdict("git", false, "'{{x}}'", closed), Ok(()));
    // Left out, it would let the next token be the first.
    let two = format!("{closed}\nargs.y = {{}}");
    assert!(verdict("git", false, "'{{x}}', '{{y}}'", &two).is_err());
    let required = format!("{two}\nargs.x.required = true");
    assert_eq!(verdict("git", false, "'{{x}}', '{{y}}'", &required), Ok(()));
    let empty = required.replace("\"log\"", "\"\"");
    assert!(verdict("git", false, "'{{x}}', '{{y}}'", &empty).is_err());
    let open = "args.x.schema = { anyOf = [{ enum = [\"log\"] }, {}] }";
    assert!(verdict("git", false, "'{{x}}'", open).is_err());
    assert!(verdict("git", false, "'{{x}}'", "args.x.schema.enum = []").is_err());
}

#[test]
fn code_slots_of_shells_interpreters_and_launchers_are_the_authors() {
    let refused = [
        ("sh", "'-c', '{{x}}'"),
        ("/bin/sh", "'-c', '{{x}}'"),
        ("./bin/bash", "'-c', 'echo {{x}}'"),
        ("bash", "'-lc', '{{x}}'"),
        ("bash", "'-c', '--', '{{x}}'"),
        ("bash", "'-c', '-e', '{{x}}'"),
        ("bash", "'-o', 'pipefail', '-c', '{{x}}'"),
        ("bash", "'-c{{x}}'"),
        ("bash", "'-{{x}}', 'a'"),
        ("bash", "'-c={{x}}'"),
        ("bash", "'--rcfile={{x}}', '-i'"),
        ("bash", "'{{x}}'"),
        ("bash", "'./scripts/{{x}}.sh'"),
        ("python3.11", "'-c', '{{x}}'"),
        ("python", "'-m', '{{x}}'"),
        ("python", "'-W', 'ignore', '{{x}}'"),
        ("python", "'-u', '{{x}}'"),
        ("python", "'-c{{x}}'"),
        ("perl", "'-e', '{{x}}'"),
        ("perl", "'-ne', 'print', '-e', '{{x}}'"),
        ("perl", "'-Mstrict', '{{x}}'"),
        ("perl", "'-M{{x}}', '-e', '1'"),
        ("node", "'--require', 'a', '{{x}}'"),
        ("node", "'--require={{x}}', 'a.js'"),
        ("python", "'-uc', '{{x}}'"),
        ("sed", "'-ne', '{{x}}'"),
        ("ruby", "'-e', 'puts 1', '-r', '{{x}}'"),
        ("node", "'-e', '{{x}}'"),
        ("node", "'--eval={{x}}'"),
        ("node", "'--eval', '{{x}}'"),
        ("node", "'-p', '{{x}}'"),
        ("php", "'-r', '{{x}}'"),
        ("awk", "'{{x}}', 'file'"),
        ("awk", "'-v', '{{x}}', 'a', 'b'"),
        ("sed", "'s/{{x}}/b/', 'file'"),
        ("sed", "'-e', '{{x}}'"),
        ("env", "'{{x}}'"),
        ("env", "'-i', '{{x}}'"),
        ("env", "'-S', '{{x}}'"),
        ("env", "'A=b', '{{x}}'"),
        ("env", "'LD_PRELOAD={{x}}', 'ls'"),
        ("env", "'bash', '-c', '{{x}}'"),
        ("env", "'-u', '{{x}}', 'ls', '{{y}}'"),
        ("xargs", "'{{x}}'"),
        ("sudo", "'-u', 'root', '{{x}}'"),
        ("timeout", "'5', '{{x}}'"),
        ("timeout", "'5', 'sh', '-c', '{{x}}'"),
        ("nohup", "'nice', '-n', '5', 'python', '-c', '{{x}}'"),
        ("busybox", "'sh', '-c', '{{x}}'"),
        ("busybox", "'{{x}}'"),
        ("ssh", "'host', 'uptime', '{{x}}'"),
        ("ssh", "'{{x}}'"),
        ("watch", "'ls', '{{x}}'"),
        ("find", "'.', '-exec', '{{x}}', ';'"),
        ("find", "'.', '-exec', 'sh', '-c', '{{x}}', ';'"),
        ("tar", "'--to-command={{x}}', '-xf', 'a.tar'"),
        ("tar", "'-I', '{{x}}', '-xf', 'a.tar'"),
        ("git", "'-c', '{{x}}', 'status'"),
        ("docker", "'exec', 'box', 'sh', '-c', '{{x}}'"),
        (
            "docker",
            "'exec', 'box', '/usr/bin/python3', '-c', 'import {{x}}'",
        ),
    ];
    for (bin, cli) in refused {
        let error = verdict(bin, true, cli, "").expect_err(&format!("{bin} {cli}"));
        assert!(
            error.contains("which is a pass-through"),
            "{bin} {cli}: {error}"
        );
        assert!(error.contains("`x` would choose"), "{bin} {cli}: {error}");
    }
}

#[test]
fn values_behind_the_code_are_only_data() {
    let accepted = [
        ("sh", "'-c', 'echo \"$1\"', 'sh', '{{x}}'"),
        ("bash", "'script.sh', '{{x}}'"),
        ("bash", "'-o', 'pipefail', 'script.sh', '{{x}}'"),
        ("python3", "'tool.py', '{{x}}'"),
        ("python3", "'-W', 'ignore', 'tool.py', '--x={{x}}'"),
        ("python3", "'-m', 'json.tool', '{{x}}'"),
        ("perl", "'-e', 'print @ARGV', '--', '{{x}}'"),
        ("node", "'tool.js', '--eval={{x}}'"),
        ("awk", "'-v', 'x={{x}}', '{ print x }', 'file'"),
        ("sed", "'-n', '1p', '{{x}}'"),
        ("env", "'A=b', 'ls', '{{x}}'"),
        ("timeout", "'5', 'ls', '{{x}}'"),
        ("timeout", "'-s', 'KILL', '5', 'ls', '{{x}}'"),
        ("find", "'.', '-name', '{{x}}'"),
        ("git", "'log', '{{x}}'"),
        ("kubectl", "'get', 'node', '{{x}}'"),
        ("./tool", "'env', '{{x}}'"),
    ];
    for (bin, cli) in accepted {
        assert_eq!(verdict(bin, true, cli, ""), Ok(()), "{bin} {cli}");
    }
    let closed = "args.x.schema.enum = [\"uptime\", \"df\"]";
    for (bin, cli) in [
        ("sh", "'-c', '{{x}}'"),
        ("ssh", "'host', '{{x}}'"),
        ("env", "'{{x}}'"),
    ] {
        assert_eq!(verdict(bin, true, cli, closed), Ok(()), "{bin} {cli}");
    }
}

#[test]
fn numbers_and_listed_values_are_no_code() {
    let slots = [
        ("xargs", "'-n{{n}}', 'ls'"),
        ("perl", "'-l{{n}}', 'tool.pl'"),
        ("bash", "'-{{n}}', 'tool.sh'"),
        ("sh", "'-c', 'sleep {{n}}'"),
        ("timeout", "'{{n}}', 'ls'"),
        ("nice", "'-n', '{{n}}', 'ls'"),
        ("ssh", "'host', 'sleep', '{{n}}'"),
        ("git", "'-c', 'core.abbrev={{n}}', 'log'"),
        ("docker", "'exec', 'box', 'sh', '-c', 'sleep {{n}}'"),
    ];
    for schema in [
        "type = \"integer\"",
        "type = [\"number\", \"null\"]",
        "type = \"boolean\"",
        "enum = [\"a\", \"b\"]",
    ] {
        for (bin, cli) in slots {
            let more = format!("args.n.schema = {{ {schema} }}");
            assert_eq!(
                verdict(bin, true, cli, &more),
                Ok(()),
                "{bin} {cli} {schema}"
            );
        }
    }
    for schema in [
        "type = \"string\"",
        "type = [\"integer\", \"string\"]",
        "minimum = 1",
    ] {
        for (bin, cli) in slots {
            let more = format!("args.n.schema = {{ {schema} }}");
            assert!(
                verdict(bin, true, cli, &more).is_err(),
                "{bin} {cli} {schema}"
            );
        }
    }
    // A number is no subcommand that the author named.
    let number = "args.x.schema = { type = \"integer\" }";
    assert!(verdict("git", false, "'{{x}}'", number).is_err());
}

#[test]
fn what_moves_up_when_a_limited_value_is_left_out_is_looked_at() {
    let limits = [
        "args.n.schema = { type = \"integer\" }",
        "args.n.schema = { enum = [\"a\"] }",
        "args.n = { required = true, schema = { enum = [\"a\", \"\"] } }",
    ];
    let slots = [
        ("python", "'-c', '{{n}}', '{{x}}'"),
        ("python", "'-W', '{{n}}', 'tool.py', '{{x}}'"),
        ("perl", "'-e', '{{n}}', '--', '{{x}}'"),
        ("tar", "'-I', '{{n}}', '{{x}}'"),
        ("docker", "'exec', 'sh', '-c', '{{n}}', '{{x}}'"),
    ];
    for (bin, cli) in slots {
        for limit in limits {
            let error = verdict(bin, true, cli, &format!("{limit}\nargs.x = {{}}")).unwrap_err();
            assert!(error.contains(" `x` would choose"), "{bin} {cli} {error}");
        }
        for limit in [
            "args.n = { required = true, schema = { enum = [\"a\"] } }",
            "args.n.schema = { type = \"integer\", default = 1 }",
        ] {
            let more = format!("{limit}\nargs.x = {{}}");
            assert_eq!(
                verdict(bin, true, cli, &more),
                Ok(()),
                "{bin} {cli} {limit}"
            );
        }
    }
}

#[test]
fn the_very_token_is_marked_and_only_what_is_free_is_named() {
    let more = "args.a.schema.enum = [\"x\"]\nargs.b = {}\nargs.n.schema.type = \"integer\"";
    let error = verdict("sh", true, "'', '-c', 'go {{a}} {{n}} {{b}}'", more).unwrap_err();
    assert!(
        error.starts_with("hcp.toml:11:23: `sh` is a shell, and `b` would choose what it runs"),
        "{error}"
    );
    let error = verdict("git", false, "'', '{{a}}{{b}}'", more).unwrap_err();
    assert!(
        error.starts_with("hcp.toml:11:17: the first token after the bin is whatever `b` says"),
        "{error}"
    );
}

#[test]
fn a_value_that_may_be_a_flag_is_no_data() {
    let dash = "args.x.dash = true";
    for (bin, cli) in [
        ("perl", "'-e', 'print 1', '{{x}}'"),
        ("find", "'.', '{{x}}'"),
        ("sed", "'1p', '{{x}}'"),
    ] {
        assert_eq!(verdict(bin, true, cli, ""), Ok(()), "{bin} {cli}");
        assert!(verdict(bin, true, cli, dash).is_err(), "{bin} {cli}");
    }
}

#[test]
fn templates_are_looked_at_with_their_verb() {
    let pack = |key: &str, template: &str| {
        toml(&format!(
            "{HEAD}[wrap]\nbin = \"git\"\nargv_template = [{template}]\n\
             [commands.\"{key}\"]\nsummary = \"s\"\n"
        ))
        .map(|_| ())
        .map_err(|error| error.to_string())
    };
    assert_eq!(pack("log", "'{{verb}}', '{{x}}'"), Ok(()));
    // A key that ends with its dot has no tail, and what follows would move to the front.
    assert!(pack("git.", "'{{verb}}', '{{x}}'").is_err());
    assert!(pack("log", "'{{x}}', '{{verb}}'").is_err());
    for key in ["*", "git.*"] {
        let error = pack(key, "'{{verb}}'").unwrap_err();
        assert!(error.contains("the key `*`"), "{error}");
    }
}

#[test]
fn a_bootstrap_command_stands_alone() {
    let alone = "bootstrap = true";
    assert_eq!(verdict("git", false, "'{{x}}'", alone), Ok(()));
    assert_eq!(verdict("sh", false, "'-c', '{{x}}'", alone), Ok(()));
    let second = "bootstrap = true\n[commands.log]\nsummary = \"s\"\ncli = [\"git\", \"log\"]";
    let error = verdict("git", false, "'{{x}}'", second).unwrap_err();
    assert!(
        error.contains("`do` is a bootstrap command beside 1 other"),
        "{error}"
    );
    // Also where it is no pass-through itself.
    assert!(verdict("git", false, "'status'", second).is_err());
}
