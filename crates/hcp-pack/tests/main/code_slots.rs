//! Ways around the rule on pass-throughs (§6.7) that somebody tried, and their honest neighbours.

use crate::{HEAD, toml};

/// Whether a command of this bin with this `cli` (in TOML, without its first token) is refused.
fn verdict(bin: &str, cli: &str, more: &str) -> Result<(), String> {
    let text = format!(
        "{HEAD}[wrap]\nbin = \"{bin}\"\nsingle = true\n\
         [commands.do]\nsummary = \"s\"\ncli = [\"t\", {cli}]\n{more}"
    );
    toml(&text).map(|_| ()).map_err(|error| error.to_string())
}

fn refused(cases: &[(&str, &str)], more: &str) {
    for (bin, cli) in cases {
        let error = verdict(bin, cli, more).expect_err(&format!("{bin} {cli}"));
        assert!(error.contains("pass-through"), "{bin} {cli}: {error}");
        assert!(error.contains("`x` would choose"), "{bin} {cli}: {error}");
    }
}

fn accepted(cases: &[(&str, &str)], more: &str) {
    for (bin, cli) in cases {
        assert_eq!(verdict(bin, cli, more), Ok(()), "{bin} {cli}");
    }
}

/// An argument `f` that is one of these words, and a free `x`.
fn listed(words: &str) -> String {
    format!(
        "args.f = {{ required = true, dash = true, schema = {{ enum = [{words}] }} }}\nargs.x = {{}}"
    )
}

#[test]
fn every_listed_value_is_judged_as_text() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        (
            "\"-c\"",
            &[
                ("sh", "'{{f}}', '{{x}}'"),
                ("python3", "'{{f}}', '{{x}}'"),
                ("git", "'{{f}}', '{{x}}', 'status'"),
                ("docker", "'exec', 'c', 'sh', '{{f}}', '{{x}}'"),
                ("./tool", "'bash', '{{f}}', '{{x}}'"),
            ],
        ),
        (
            "\"-name\", \"-exec\"",
            &[("find", "'.', '{{f}}', '{{x}}', ';'")],
        ),
        (
            "\"ls\", \"sh\"",
            &[
                ("docker", "'exec', 'c', '{{f}}', '-c', '{{x}}'"),
                ("docker", "'exec', 'c', '/bin/{{f}}', '-c', '{{x}}'"),
                ("env", "'{{f}}', '-c', '{{x}}'"),
                ("./tool", "'{{f}}', '-c', '{{x}}'"),
            ],
        ),
        ("\"log\", \"bisect\"", &[("git", "'{{f}}', 'run', '{{x}}'")]),
        ("\"expr\", \"quiet\"", &[("sed", "'--{{f}}', '{{x}}'")]),
        ("\"\", \"log\"", &[("git", "'{{f}}', '{{x}}'")]),
    ];
    for (words, slots) in cases {
        refused(slots, &listed(words));
    }
    accepted(
        &[
            ("sh", "'{{f}}', 'script.sh', '{{x}}'"),
            ("docker", "'exec', 'c', '{{f}}', '{{x}}'"),
            ("find", "'.', '{{f}}', '{{x}}'"),
            ("git", "'log', '{{f}}', '--', '{{x}}'"),
        ],
        &listed("\"-name\", \"-e\""),
    );
}

#[test]
fn no_spelling_of_a_flag_hides_it() {
    refused(
        &[
            ("find", "'--', '.', '-exec', '{{x}}', ';'"),
            ("find", "'.', '-exec', 'env', '{{x}}', ';'"),
            ("find", "'--', '.', '{{x}}'"),
            ("sed", "'--expr={{x}}', 'f'"),
            ("sed", "'--expr', '{{x}}', 'f'"),
            ("sed", "'--e{{x}}', 'f'"),
            ("sed", "'--{{x}}', 'f'"),
            ("env", "'--split={{x}}'"),
            ("env", "'--spl', '{{x}}'"),
            ("tar", "'--to-comm={{x}}', '-xf', 'a'"),
            ("tar", "'-xI', '{{x}}', '-f', 'a'"),
            ("git", "'fetch', '--upload-pac={{x}}'"),
            ("git", "'fetch', '--upload-pac', '{{x}}'"),
            ("python3-dbg", "'-c', '{{x}}'"),
            ("bash-static", "'-c', '{{x}}'"),
            ("/lib64/ld-linux-x86-64.so.2", "'{{x}}'"),
            ("ld-linux-x86-64.so.2", "'/bin/sh', '-c', '{{x}}'"),
        ],
        "",
    );
    accepted(
        &[
            ("sed", "'--quiet', '1p', '{{x}}'"),
            ("tar", "'--directory={{x}}', '-xf', 'a'"),
            ("find", "'--', '.', '-name', 'x{{x}}'"),
        ],
        "",
    );
}

#[test]
fn git_runs_what_its_author_wrote() {
    refused(
        &[
            ("git", "'rebase', '--exec={{x}}'"),
            ("git", "'rebase', '-x', '{{x}}'"),
            ("git", "'rebase', '-x{{x}}'"),
            ("git", "'grep', '--open-files-in-pager={{x}}', 'a'"),
            ("git", "'grep', '-O{{x}}', 'a'"),
            ("git", "'bisect', 'run', '{{x}}'"),
            ("git", "'bisect', '{{x}}'"),
            ("git", "'-C', 'd', 'submodule', 'foreach', '{{x}}'"),
            ("git", "'difftool', '--extcmd={{x}}'"),
            ("git", "'difftool', '-x', '{{x}}'"),
            ("git", "'filter-branch', '--tree-filter', '{{x}}'"),
            ("git", "'--config-env={{x}}', 'status'"),
            ("git", "'-c', 'alias.y={{x}}', 'y'"),
            ("git", "'clone', '-c', '{{x}}', 'u'"),
            ("git", "'clone', '--upload-pack={{x}}', 'u'"),
            ("git", "'push', '--receive-pack={{x}}'"),
            ("git", "'--exec-path={{x}}', 'status'"),
            ("git", "'config', 'core.pager', '{{x}}'"),
            ("git", "'config', '{{x}}', 'y'"),
            ("git", "'init', '--template={{x}}'"),
        ],
        "",
    );
    accepted(
        &[
            ("git", "'log', '--max-count={{n}}', '{{x}}'"),
            ("git", "'log', '-S{{x}}'"),
            ("git", "'switch', '-c', '{{x}}'"),
            ("git", "'cherry-pick', '-x', '{{x}}'"),
            ("git", "'commit', '-m', '{{x}}'"),
            ("git", "'rebase', '{{x}}'"),
            ("git", "'clone', '{{x}}'"),
            ("git", "'config', 'get', '{{x}}'"),
            ("git", "'config', 'user.name', '{{x}}'"),
            ("git", "'bisect', 'good', '{{x}}'"),
            ("git", "'--no-pager', '-C', 'd', 'show', '{{x}}'"),
        ],
        "",
    );
}

#[test]
fn what_may_be_left_out_lets_nothing_free_become_the_subcommand() {
    refused(
        &[
            ("git", "'--git-dir={{y}}', '{{x}}'"),
            ("git", "'--git-dir=d', '{{x}}'"),
            ("git", "'-C', 'd', '{{x}}'"),
            ("git", "'-C', '{{y}}', 'log', '{{x}}'"),
            ("kubectl", "'-n', 'a', '{{x}}'"),
            ("kubectl", "'--new-flag', 'a', '{{x}}'"),
            ("docker", "'{{x}}'"),
            ("docker", "'--debug', 'container', '{{x}}'"),
            ("cargo", "'--quiet', '{{x}}'"),
            ("npm", "'{{x}}'"),
        ],
        "",
    );
    let there = "args.x = {}\n\
                 args.y = { required = true, schema = { type = \"string\", minLength = 1 } }";
    let path = "args.x = {}\nargs.y = { required = true, access = \"read\" }";
    for more in [there, path] {
        accepted(&[("git", "'-C', '{{y}}', 'log', '{{x}}'")], more);
    }
    let pack = |cli: &str, more: &str| {
        toml(&format!(
            "{HEAD}[wrap]\nbin = \"./tool\"\n[commands.do]\nsummary = \"s\"\ncli = [\"t\", {cli}]\n{more}"
        ))
        .map(|_| ())
        .map_err(|error| error.to_string())
    };
    let error = pack("'--a={{y}}', '{{x}}'", "").unwrap_err();
    assert!(
        error.contains("first token after the bin is whatever `x`"),
        "{error}"
    );
    assert_eq!(pack("'--a={{y}}', '{{x}}'", there), Ok(()));
    assert_eq!(pack("'--a={{y}}', 'go', '{{x}}'", ""), Ok(()));
}

#[test]
fn a_value_that_can_be_empty_moves_no_program() {
    let slots = [("docker", "'exec', '{{y}}', 'ls', '{{x}}'")];
    for loose in [
        "args.y = { required = true }",
        "args.y = { required = true, schema = { type = \"string\" } }",
        "args.y = { required = true, schema = { minLength = 1 } }",
        "args.y = { schema = { type = \"string\", minLength = 1 } }",
    ] {
        refused(&slots, &format!("args.x = {{}}\n{loose}"));
    }
    for tight in [
        "args.y = { required = true, schema = { type = \"string\", minLength = 1 } }",
        "args.y = { required = true, schema = { type = \"string\", pattern = \"^[a-z]+$\" } }",
        "args.y = { schema = { type = \"integer\", default = 1 } }",
    ] {
        accepted(&slots, &format!("args.x = {{}}\n{tight}"));
    }
}

#[test]
fn containers_and_package_runners_start_what_their_author_wrote() {
    refused(
        &[
            ("docker", "'exec', 'c', '{{x}}'"),
            ("docker", "'exec', '-it', 'c', '{{x}}'"),
            ("docker", "'exec', '--new-flag', 'c', 'ls', '{{x}}'"),
            (
                "docker",
                "'exec', 'c', 'bash', '-o', 'pipefail', '-c', '{{x}}'",
            ),
            ("podman", "'run', '--rm', '{{x}}'"),
            ("podman", "'run', '--name', 'n', 'image', '{{x}}'"),
            ("docker", "'run', '--entrypoint={{x}}', 'image'"),
            ("docker", "'container', 'exec', 'c', '{{x}}'"),
            ("docker", "'compose', 'exec', 'svc', '{{x}}'"),
            ("docker", "'compose', '-f', '{{x}}', 'up'"),
            ("kubectl", "'exec', 'pod', '--', '{{x}}'"),
            (
                "kubectl",
                "'exec', 'pod', '-c', 'c', '--', 'sh', '-c', '{{x}}'",
            ),
            ("kubectl", "'exec', 'pod', '{{x}}'"),
            ("kubectl", "'run', 'n', '--image={{x}}'"),
            ("npm", "'exec', '{{x}}'"),
            ("npm", "'exec', '--', '{{x}}'"),
            ("npm", "'exec', '-c', '{{x}}'"),
            ("npx", "'{{x}}'"),
            ("npx", "'--yes', '{{x}}'"),
            ("npx", "'-p', '{{x}}', 'tsc'"),
            ("pnpm", "'dlx', '{{x}}'"),
            ("yarn", "'dlx', '{{x}}'"),
            ("go", "'run', '{{x}}'"),
            ("go", "'test', '-exec', '{{x}}'"),
            ("go", "'build', '-toolexec={{x}}'"),
            ("cargo", "'run', '{{x}}'"),
            ("cargo", "'run', '--manifest-path={{x}}'"),
            ("cargo", "'--config', '{{x}}', 'build'"),
            ("uv", "'run', '{{x}}'"),
            ("uv", "'tool', 'run', '{{x}}'"),
        ],
        "",
    );
    accepted(
        &[
            ("docker", "'exec', 'c', 'ls', '{{x}}'"),
            ("docker", "'exec', '-i', '-u', 'me', 'c', 'ls', '{{x}}'"),
            ("docker", "'logs', '--tail={{n}}', '{{x}}'"),
            ("docker", "'run', '--rm', 'image', 'ls', '{{x}}'"),
            ("kubectl", "'get', 'pods', '--namespace={{x}}'"),
            ("kubectl", "'exec', 'pod', '--', 'ls', '{{x}}'"),
            ("npm", "'view', '{{x}}'"),
            ("npx", "'tsc', '{{x}}'"),
            ("go", "'run', '.', '{{x}}'"),
            ("go", "'list', '{{x}}'"),
            ("cargo", "'run', '--', '{{x}}'"),
            ("cargo", "'search', '{{x}}'"),
            ("aws", "'--region', 'eu', 's3', 'ls', '{{x}}'"),
        ],
        "",
    );
}

#[test]
fn programs_that_run_code_of_their_own_are_known() {
    refused(
        &[
            ("vim", "'-c', '{{x}}', 'f'"),
            ("vi", "'+{{x}}', 'f'"),
            ("ex", "'{{x}}'"),
            ("nvim", "'--cmd={{x}}'"),
            ("emacs", "'--batch', '--eval={{x}}'"),
            ("make", "'--eval={{x}}'"),
            ("make", "'SHELL={{x}}'"),
            ("make", "'{{x}}'"),
            ("socat", "'-', '{{x}}'"),
            ("gdb", "'--eval-command={{x}}'"),
            ("gdb", "'-batch', '-ex', '{{x}}'"),
            ("at", "'-f', '{{x}}', 'now'"),
            ("watch", "'{{x}}'"),
            ("time", "'{{x}}'"),
            ("time", "'-p', 'sh', '-c', '{{x}}'"),
            ("parallel", "'{{x}}', ':::', 'a'"),
            ("ssh", "'h', '{{x}}'"),
            ("ssh", "'-oProxyCommand={{x}}', 'h'"),
            ("expect", "'-c', '{{x}}'"),
            ("tclsh8.6", "'{{x}}'"),
            ("lua5.4", "'-e', '{{x}}'"),
            ("php8.2", "'-r', '{{x}}'"),
            ("php", "'-d', '{{x}}', 't.php'"),
            ("ruby", "'-e', '{{x}}'"),
            ("ruby", "'-I', '{{x}}', 't.rb'"),
            ("perl", "'-E', '{{x}}'"),
            ("deno", "'eval', '{{x}}'"),
            ("deno", "'run', '--allow-all', '{{x}}'"),
            ("bun", "'-e', '{{x}}'"),
            ("bun", "'run', '{{x}}'"),
            ("jshell", "'{{x}}'"),
            ("java", "'-jar', '{{x}}'"),
            ("java", "'-cp', '{{x}}', 'Main'"),
            ("osascript", "'-e', '{{x}}'"),
            ("gawk", "'{{x}}', 'f'"),
            ("mawk", "'{{x}}', 'f'"),
            ("nawk", "'{{x}}', 'f'"),
            ("busybox", "'awk', '{{x}}'"),
            ("busybox", "'find', '.', '-exec', '{{x}}', ';'"),
            ("toybox", "'{{x}}'"),
            ("nsenter", "'-t', '1', '{{x}}'"),
            ("unshare", "'-r', '{{x}}'"),
            ("chroot", "'/r', '{{x}}'"),
            ("chroot", "'{{x}}', 'ls'"),
            ("setpriv", "'--reuid=1', '{{x}}'"),
            ("runuser", "'-u', 'a', '{{x}}'"),
            ("runuser", "'-c', '{{x}}'"),
            ("doas", "'{{x}}'"),
            ("pkexec", "'{{x}}'"),
            ("script", "'-c', '{{x}}'"),
            ("flock", "'/l', '-c', '{{x}}'"),
            ("flock", "'/l', '{{x}}'"),
            ("strace", "'-f', '{{x}}'"),
            ("strace", "'-o', 'f', 'sh', '-c', '{{x}}'"),
            ("ltrace", "'{{x}}'"),
            ("valgrind", "'--leak-check=full', '{{x}}'"),
            ("systemd-run", "'--unit', 'u', '{{x}}'"),
            ("crontab", "'{{x}}'"),
            ("wget", "'--use-askpass={{x}}'"),
            ("man", "'-P', '{{x}}', 'ls'"),
            ("./bin/bash", "'-c', '{{x}}'"),
            ("./bin/python3", "'-c', '{{x}}'"),
        ],
        "",
    );
    accepted(
        &[
            ("time", "'-p', 'ls', '{{x}}'"),
            ("deno", "'run', 'tool.ts', '{{x}}'"),
            ("bun", "'run', 'tool.ts', '{{x}}'"),
            ("java", "'-jar', 'tool.jar', '{{x}}'"),
            ("busybox", "'ls', '{{x}}'"),
            ("strace", "'-f', 'ls', '{{x}}'"),
            ("strace", "'-o', 'f', 'ls', '{{x}}'"),
            ("flock", "'/l', 'ls', '{{x}}'"),
            ("wget", "'-q', '{{x}}'"),
            ("wget", "'--header={{x}}', 'u'"),
        ],
        "",
    );
}

#[test]
fn what_a_pack_ships_is_its_own_code() {
    accepted(
        &[
            ("./bin/r", "'{{x}}'"),
            ("./bin/time", "'{{x}}'"),
            ("./bin/watch", "'{{x}}'"),
            ("./make", "'{{x}}'"),
            ("./bin/git", "'-c', '{{x}}'"),
            ("./bin/ssh", "'{{x}}'"),
        ],
        "",
    );
}

#[test]
fn a_refusal_says_which_value_to_pin_down() {
    let report = |cli: &str, more: &str| {
        toml(&format!(
            "{HEAD}[wrap]\nbin = \"docker\"\n[commands.do]\nsummary = \"s\"\ncli = [\"t\", {cli}]\n{more}"
        ))
        .unwrap_err()
        .report(false)
    };
    let moved = report("'exec', '{{y}}', 'ls', '{{x}}'", "");
    assert!(
        moved.contains("a value before it may be left out or empty"),
        "{moved}"
    );
    let code = report("'exec', 'c', '{{x}}'", "");
    assert!(
        code.contains("write the code or the program as text"),
        "{code}"
    );
}

#[test]
fn many_listed_values_are_read_in_time() {
    let words: Vec<String> = (0..2_000).map(|word| format!("\"w{word}\"")).collect();
    let slots: String = (0..30)
        .map(|_| "'{{f}}', '--f={{f}}', '{{f}}{{f}}', ")
        .collect();
    let more = listed(&words.join(", "));
    accepted(&[("./tool", &format!("{slots}'{{{{x}}}}'"))], &more);
    refused(
        &[(
            "env",
            &format!("'-u', 'a', {slots}'{{{{x}}}}', '{{{{x}}}}'"),
        )],
        &listed("\"A=b\""),
    );
}
