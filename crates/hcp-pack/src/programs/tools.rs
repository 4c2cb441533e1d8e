//! Tools whose own work is another, and which run something where a flag or subcommand says so.

use super::{End, Program, Role};

/// How `docker exec` is read, and what is like it.
const IN_CONTAINER: Program = Program::starts(1)
    .free_skip()
    .value(&[
        "-e",
        "-u",
        "-w",
        "--env",
        "--env-file",
        "--user",
        "--workdir",
        "--detach-keys",
        "--index",
    ])
    .switches(&[
        "-i",
        "-t",
        "-d",
        "-T",
        "--interactive",
        "--tty",
        "--detach",
        "--privileged",
        "--latest",
    ]);

/// How `docker run` is read: the image chooses the program as much as the command does.
const NEW_CONTAINER: Program = Program::starts(1)
    .code(&["--entrypoint"])
    .load(&["--runtime", "--init-path", "--rootfs"])
    .value(&[
        "-e",
        "-u",
        "-v",
        "-w",
        "-p",
        "-h",
        "-l",
        "-m",
        "-a",
        "-c",
        "--env",
        "--env-file",
        "--user",
        "--volume",
        "--workdir",
        "--publish",
        "--name",
        "--network",
        "--net",
        "--mount",
        "--memory",
        "--cpus",
        "--label",
        "--hostname",
        "--platform",
        "--pull",
    ])
    .switches(&[
        "-i",
        "-t",
        "-d",
        "-P",
        "-q",
        "-T",
        "--rm",
        "--interactive",
        "--tty",
        "--detach",
        "--init",
        "--read-only",
        "--privileged",
    ]);

const COMPOSE: Program = Program::flags(&[])
    .load(&["-f", "--file", "--project-directory", "--env-file"])
    .value(&["-p", "--project-name", "--profile", "--ansi", "--progress"])
    .subcommands(&[("exec", IN_CONTAINER), ("run", NEW_CONTAINER)]);

/// How `kubectl exec` is read: a pod, and the command behind `--`.
const IN_POD: Program = Program::starts(1)
    .permutes()
    .free_skip()
    .end(End::Command)
    .load(&["-f", "--filename"])
    .value(&[
        "-c",
        "-n",
        "--container",
        "--namespace",
        "--context",
        "--cluster",
        "--user",
        "--pod-running-timeout",
    ])
    .switches(&["-i", "-t", "-q", "--stdin", "--tty"]);

const NEW_POD: Program = IN_POD.code(&["--image", "--overrides", "--custom"]);

/// How a runner of package programs is read.
const PACKAGE: Program = Program::starts(0)
    .code(&["-c", "--call"])
    .load(&[
        "-p",
        "--package",
        "--from",
        "--with",
        "--python",
        "--script",
        "--spec",
    ])
    .end(End::Command)
    .switches(&["-y", "--yes", "-q"]);

const REMOTE: Program = Program::flags(&["--upload-pack", "--receive-pack", "--exec"]);

const CONFIG: Program = Program::joins().subcommands(&[
    ("get", Program::flags(&[])),
    ("list", Program::flags(&[])),
    ("user.name", Program::flags(&[])),
    ("user.email", Program::flags(&[])),
]);

const GIT: &[(&str, Program)] = &[
    ("am", Program::flags(&["--exec"])),
    ("archive", REMOTE),
    (
        "bisect",
        Program::flags(&[])
            .subcommands(&[("run", Program::joins()), ("visualize", Program::joins())]),
    ),
    (
        "clone",
        Program::flags(&["-u", "-c", "--config", "--upload-pack", "--template"]),
    ),
    ("config", CONFIG),
    ("credential", Program::joins()),
    ("daemon", Program::flags(&["--access-hook"])),
    ("difftool", Program::flags(&["-x", "--extcmd"])),
    ("fetch", REMOTE),
    ("fetch-pack", REMOTE),
    ("filter-branch", Program::joins()),
    ("for-each-repo", Program::joins()),
    ("grep", Program::flags(&["-O", "--open-files-in-pager"])),
    ("hook", Program::joins()),
    ("init", Program::flags(&["--template"])),
    (
        "instaweb",
        Program::flags(&["-d", "--httpd", "-b", "--browser"]),
    ),
    ("ls-remote", REMOTE),
    ("pull", REMOTE),
    ("push", REMOTE),
    ("rebase", Program::flags(&["-x", "--exec"])),
    ("remote-ext", Program::joins()),
    (
        "send-email",
        Program::flags(&[
            "--smtp-server",
            "--sendmail-cmd",
            "--to-cmd",
            "--cc-cmd",
            "--header-cmd",
            "--smtp-ssl-cert-path",
        ]),
    ),
    ("send-pack", REMOTE),
    ("shell", Program::joins()),
    (
        "submodule",
        Program::flags(&[]).subcommands(&[("foreach", Program::joins())]),
    ),
    ("upload-archive", Program::joins()),
    ("var", Program::flags(&[])),
    ("web--browse", Program::joins()),
];

const CONTAINERS: &[(&str, Program)] = &[
    ("exec", IN_CONTAINER),
    ("run", NEW_CONTAINER),
    ("create", NEW_CONTAINER),
    ("compose", COMPOSE),
    (
        "container",
        Program::flags(&[]).subcommands(&[
            ("exec", IN_CONTAINER),
            ("run", NEW_CONTAINER),
            ("create", NEW_CONTAINER),
        ]),
    ),
    ("unshare", Program::starts(0)),
    ("machine", Program::joins()),
];

const SCRIPTS: &[(&str, Program)] = &[
    ("exec", PACKAGE),
    ("x", PACKAGE),
    ("dlx", PACKAGE),
    ("create", PACKAGE),
    ("init", PACKAGE),
    ("run", PACKAGE.end(End::Data)),
    ("run-script", PACKAGE.end(End::Data)),
    ("explore", Program::joins()),
    (
        "config",
        Program::joins()
            .subcommands(&[("get", Program::flags(&[])), ("list", Program::flags(&[]))]),
    ),
];

const GO_BUILD: Program = Program::flags(&[
    "-exec",
    "--exec",
    "-toolexec",
    "--toolexec",
    "-vettool",
    "--vettool",
])
.load(&[
    "-ldflags",
    "--ldflags",
    "-gcflags",
    "--gcflags",
    "-overlay",
    "--overlay",
    "-modfile",
    "-C",
]);

pub(super) static PROGRAMS: &[Program] = &[
    Program::new(
        Role::Runner,
        &["find"],
        &["-exec", "-execdir", "-ok", "-okdir"],
    )
    .end(End::Nothing),
    Program::new(
        Role::Runner,
        &["fd", "fdfind"],
        &["-x", "--exec", "-X", "--exec-batch"],
    ),
    Program::new(
        Role::Runner,
        &["tar", "gtar", "bsdtar"],
        &[
            "-I",
            "-F",
            "--to-command",
            "--use-compress-program",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    Program::new(
        Role::Runner,
        &["rsync"],
        &["-e", "-M", "--rsh", "--rsync-path", "--remote-option"],
    ),
    Program::new(
        Role::Runner,
        &["scp", "sftp"],
        &["-S", "-o", "-F", "-D", "-b"],
    ),
    Program::new(
        Role::Runner,
        &["nc", "ncat", "netcat"],
        &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"],
    ),
    Program::new(
        Role::Runner,
        &["wget"],
        &["-e", "--execute", "--use-askpass", "--config"],
    ),
    Program::new(Role::Runner, &["zip"], &["-TT", "--unzip-command"]),
    Program::new(Role::Runner, &["sort"], &["--compress-program"]),
    Program::new(Role::Runner, &["split"], &["--filter"]),
    Program::new(Role::Runner, &["cpio"], &["--rsh-command"]),
    Program::new(
        Role::Runner,
        &["man"],
        &["-P", "--pager", "-H", "--html", "-X", "-T"],
    ),
    Program::new(Role::Runner, &["less", "more"], &["+"]),
    Program::new(Role::Runner, &["tcpdump"], &["-z"]),
    Program::new(
        Role::Runner,
        &["start-stop-daemon"],
        &["-x", "--exec", "-a", "--startas"],
    ),
    Program::new(
        Role::Runner,
        &["pandoc"],
        &["-F", "-L", "--filter", "--lua-filter", "--pdf-engine"],
    ),
    Program::new(
        Role::Runner,
        &["apt", "apt-get", "apt-cache", "aptitude"],
        &["-o", "-c", "--option", "--config-file"],
    )
    .subcommands(&[]),
    Program::new(
        Role::Runner,
        &["git"],
        &[
            "-c",
            "--config-env",
            "--exec-path",
            "--upload-pack",
            "--receive-pack",
            "--ext-diff",
        ],
    )
    .value(&[
        "-C",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--super-prefix",
        "--attr-source",
    ])
    .switches(&[
        "-p",
        "-P",
        "--paginate",
        "--bare",
        "--literal-pathspecs",
        "--glob-pathspecs",
        "--icase-pathspecs",
    ])
    .subcommands(GIT),
    Program::new(
        Role::Runner,
        &["hg"],
        &["--config", "--ssh", "--remotecmd", "--config-file"],
    )
    .subcommands(&[]),
    Program::new(
        Role::Runner,
        &["svn"],
        &[
            "--config-option",
            "--diff-cmd",
            "--diff3-cmd",
            "--editor-cmd",
        ],
    )
    .subcommands(&[]),
    Program::new(Role::Runner, &["docker", "podman", "nerdctl"], &[])
        .load(&["--config"])
        .value(&[
            "-H",
            "-c",
            "-l",
            "--host",
            "--context",
            "--log-level",
            "--namespace",
            "--address",
            "--url",
            "--connection",
        ])
        .switches(&["-D", "--debug", "--tls", "--tlsverify", "--remote"])
        .subcommands(CONTAINERS),
    Program::new(Role::Runner, &["docker-compose", "podman-compose"], &[])
        .load(&["-f", "--file", "--project-directory", "--env-file"])
        .value(&["-p", "--project-name", "--profile", "--ansi", "--progress"])
        .subcommands(&[("exec", IN_CONTAINER), ("run", NEW_CONTAINER)]),
    Program::new(
        Role::Runner,
        &["kubectl", "oc", "k3s"],
        &["--kubeconfig", "--exec-command", "--exec-arg", "--exec-env"],
    )
    .value(&[
        "-n",
        "-s",
        "--namespace",
        "--context",
        "--cluster",
        "--user",
        "--server",
        "--token",
        "--as",
        "--request-timeout",
    ])
    .subcommands(&[
        ("exec", IN_POD),
        ("run", NEW_POD),
        ("debug", NEW_POD),
        ("rsh", IN_POD),
        ("kubectl", Program::joins()),
    ]),
    Program::new(
        Role::Runner,
        &["helm"],
        &["--post-renderer", "--kubeconfig"],
    )
    .value(&["-n", "--namespace", "--kube-context"])
    .subcommands(&[]),
    Program::new(Role::Runner, &["cargo"], &["--config", "--manifest-path"])
        .load(&["-C", "-Z"])
        .value(&["--color"])
        .subcommands(&[(
            "run",
            Program::starts(0)
                .code(&["--config", "--manifest-path"])
                .load(&["-C", "-Z"])
                .end(End::Data)
                .value(&[
                    "-p",
                    "-F",
                    "--package",
                    "--features",
                    "--profile",
                    "--target",
                ])
                .switches(&[
                    "-q",
                    "-v",
                    "-r",
                    "--release",
                    "--locked",
                    "--frozen",
                    "--offline",
                    "--all-features",
                ]),
        )]),
    Program::new(
        Role::Runner,
        &["go"],
        &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-vettool",
            "--vettool",
        ],
    )
    .load(&["-C", "-overlay", "--overlay", "-modfile"])
    .subcommands(&[
        (
            "run",
            Program::starts(0)
                .code(&["-exec", "--exec", "-toolexec", "--toolexec"])
                .switches(&["-v", "-x", "-n", "-race", "-a"]),
        ),
        ("tool", Program::starts(0)),
        ("env", Program::joins()),
        ("build", GO_BUILD),
        ("test", GO_BUILD),
        ("install", GO_BUILD),
        ("vet", GO_BUILD),
        ("generate", GO_BUILD),
    ]),
    Program::new(
        Role::Runner,
        &["npm", "pnpm", "yarn"],
        &[
            "--script-shell",
            "--shell",
            "--node-options",
            "--git",
            "--editor",
            "--viewer",
            "--userconfig",
            "--globalconfig",
        ],
    )
    .load(&["--prefix", "--dir", "--cwd", "-C"])
    .value(&["-w", "--workspace", "--filter", "--loglevel"])
    .subcommands(SCRIPTS),
    Program::new(
        Role::Runner,
        &["uv", "pipx", "poetry", "pdm", "hatch", "rye"],
        &[],
    )
    .load(&["--directory", "--project", "--config-file"])
    .subcommands(&[
        ("run", PACKAGE),
        ("x", PACKAGE),
        ("tool", Program::flags(&[]).subcommands(&[("run", PACKAGE)])),
    ]),
    Program::new(
        Role::Runner,
        &[
            "bundle", "conda", "mamba", "rustup", "asdf", "mise", "direnv",
        ],
        &[],
    )
    .subcommands(&[("exec", PACKAGE), ("run", PACKAGE), ("x", PACKAGE)]),
    Program::new(
        Role::Runner,
        &["nix"],
        &["-c", "--command", "--expr", "--impure-command"],
    )
    .subcommands(&[
        ("run", PACKAGE),
        ("shell", Program::flags(&["-c", "--command", "--expr"])),
        ("develop", Program::flags(&["-c", "--command", "--expr"])),
        ("eval", Program::joins()),
    ]),
    Program::new(
        Role::Runner,
        &[
            "systemctl",
            "terraform",
            "tofu",
            "aws",
            "gcloud",
            "az",
            "gh",
            "glab",
            "dnf",
            "yum",
            "brew",
            "pip",
            "flatpak",
            "snap",
            "openssl",
            "busctl",
            "virsh",
            "vagrant",
            "lxc",
            "machinectl",
            "crictl",
            "ctr",
            "ansible",
        ],
        &["--ssh-command"],
    )
    .subcommands(&[
        ("exec", IN_CONTAINER),
        ("shell", Program::joins()),
        ("ssh", Program::joins()),
    ]),
];
