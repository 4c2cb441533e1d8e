//! Shells and interpreters, and editors and debuggers that run commands of their own language.

use super::{Program, Role};

pub(super) static PROGRAMS: &[Program] = &[
    Program::new(
        Role::Shell,
        &[
            "sh",
            "bash",
            "rbash",
            "dash",
            "ash",
            "zsh",
            "ksh",
            "mksh",
            "oksh",
            "yash",
            "csh",
            "tcsh",
            "fish",
            "elvish",
            "nu",
            "xonsh",
            "rksh",
            "rzsh",
            "posh",
            "lksh",
            "git-shell",
        ],
        &["-c", "--command"],
    )
    .load(&["--rcfile", "--init-file", "--init-command", "-C"])
    .value(&["-o", "+o", "-O", "+O"]),
    // What stands behind `-Command` and `/c` is joined.
    Program::new(Role::Joiner, &["pwsh", "powershell", "cmd"], &[]),
    Program::new(
        Role::Interpreter,
        &["python", "pypy", "jython", "micropython", "ipython"],
        &["-c", "-m"],
    )
    .value(&["-W", "-X"])
    .code_ends_flags(),
    Program::new(Role::Interpreter, &["perl"], &["-e", "-E"]).load(&["-M", "-m", "-F", "-I"]),
    Program::new(Role::Interpreter, &["ruby", "jruby", "irb"], &["-e"])
        .load(&["-r", "-I", "-C"])
        .value(&["-E"]),
    Program::new(
        Role::Interpreter,
        &["node", "nodejs", "qjs", "bun"],
        &["-e", "--eval", "-p", "--print"],
    )
    .load(&[
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "--preload",
        "--config",
        "--cwd",
    ])
    .words(&["run", "x", "exec", "test", "inspect"]),
    Program::new(
        Role::Interpreter,
        &["deno"],
        &["-e", "--eval", "--eval-file"],
    )
    .load(&[
        "-c",
        "--config",
        "--import-map",
        "--preload",
        "--require",
        "--lock",
    ])
    .words(&[
        "run", "eval", "repl", "test", "bench", "x", "serve", "task", "install", "compile",
    ]),
    Program::new(
        Role::Interpreter,
        &["php"],
        &["-r", "-B", "-R", "-E", "-F", "-f"],
    )
    .load(&["-d", "-c", "-z"]),
    Program::new(Role::Interpreter, &["lua", "luajit"], &["-e"]).load(&["-l"]),
    Program::new(Role::Interpreter, &["tclsh", "wish", "expect"], &["-f"]).load(&["-c"]),
    Program::new(
        Role::Interpreter,
        &["java", "javaw"],
        &["-jar", "-m", "--module"],
    )
    .load(&[
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--source",
        "-javaagent",
        "-agentpath",
        "-agentlib",
    ])
    .value(&["--add-opens", "--add-exports", "--add-modules"])
    .code_ends_flags(),
    Program::new(
        Role::Interpreter,
        &[
            "rscript",
            "r",
            "julia",
            "osascript",
            "ghci",
            "runghc",
            "scala",
            "groovy",
            "guile",
            "racket",
            "sbcl",
            "clisp",
            "swipl",
            "octave",
            "gnuplot",
            "elixir",
            "erl",
            "escript",
            "iex",
            "raku",
            "crystal",
            "ts-node",
            "tsx",
            "m4",
            "dc",
            "ocaml",
            "gst",
            "pike",
        ],
        &[
            "-e",
            "-E",
            "-c",
            "--file",
            "--expression",
            "--eval",
            "-x",
            "-g",
        ],
    )
    .load(&["-L", "-l", "-r", "--load", "--require"])
    .words(&["CMD", "BATCH"]),
    Program::new(
        Role::Interpreter,
        &["awk", "gawk", "mawk", "nawk", "original-awk"],
        &["-e", "-f", "-E", "--source", "--file", "--exec"],
    )
    .load(&["-i", "-l", "--include", "--load"])
    .value(&["-v", "-F", "--assign", "--field-separator"])
    .permutes(),
    Program::new(
        Role::Interpreter,
        &["sed", "gsed"],
        &["-e", "--expression", "-f", "--file"],
    )
    .value(&["-l", "--line-length"])
    .permutes(),
    // A file may be a command to these, as `+!id`, a script, or a variable that is expanded.
    Program::new(
        Role::Joiner,
        &[
            "vi",
            "vim",
            "nvim",
            "ex",
            "view",
            "vimdiff",
            "rvim",
            "gvim",
            "emacs",
            "emacsclient",
            "ed",
            "gdb",
            "lldb",
            "cgdb",
            "jshell",
            "make",
            "gmake",
            "bmake",
            "socat",
            "ocamlrun",
            "kak",
            "hx",
        ],
        &[],
    ),
];
