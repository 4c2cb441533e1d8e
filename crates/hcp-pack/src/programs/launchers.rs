//! Programs that start the program that their arguments name.

use super::{Program, Role};

/// The loader of dynamically linked programs, which starts any of them.
pub(super) static LOADER: Program = Program::new(Role::Launcher, &[], &[])
    .load(&["--preload", "--library-path", "--audit"])
    .value(&["--argv0", "--inhibit-rpath", "--glibc-hwcaps-prepend"]);

pub(super) static PROGRAMS: &[Program] = &[
    Program::new(Role::Launcher, &["env"], &["-S", "--split-string"])
        .value(&["-u", "--unset", "-C", "--chdir"])
        .switches(&[
            "-i",
            "-0",
            "-v",
            "--ignore-environment",
            "--null",
            "--debug",
        ]),
    Program::new(Role::Launcher, &["xargs"], &[])
        .load(&["-a", "--arg-file"])
        .value(&[
            "-I",
            "-n",
            "-P",
            "-L",
            "-s",
            "-d",
            "-E",
            "--max-args",
            "--max-procs",
        ])
        .switches(&[
            "-0",
            "-r",
            "-t",
            "-x",
            "-i",
            "--null",
            "--no-run-if-empty",
            "--exit",
        ]),
    Program::new(Role::Launcher, &["sudo", "doas", "pkexec", "run0"], &[])
        .load(&["-C", "-D", "-R", "--chdir", "--chroot"])
        .value(&[
            "-u", "-g", "-h", "-p", "-T", "-U", "-r", "-t", "--user", "--group",
        ])
        .switches(&["-n", "-E", "-H", "-i", "-s", "-b", "-k", "-S", "-A", "-P"]),
    Program::new(Role::Launcher, &["nice", "ionice"], &[])
        .value(&["-n", "-c", "-p", "--adjustment"])
        .switches(&["-t"]),
    Program::new(Role::Launcher, &["timeout"], &[])
        .value(&["-s", "-k", "--signal", "--kill-after"])
        .switches(&["-v", "--foreground", "--preserve-status"])
        .skip(1),
    Program::new(
        Role::Launcher,
        &[
            "nohup",
            "setsid",
            "command",
            "exec",
            "busybox",
            "toybox",
            "catchsegv",
            "fakeroot",
            "linux32",
            "linux64",
            "numactl",
            "bwrap",
            "firejail",
            "dbus-run-session",
            "xvfb-run",
            "entr",
            "rlwrap",
            "run-parts",
            "chpst",
            "setuidgid",
            "softlimit",
            "envdir",
            "tini",
            "dumb-init",
            "gosu",
            "su-exec",
            "proot",
            "capsh",
            "unbuffer",
            "cpulimit",
            "prlimit",
            "systemd-inhibit",
            "systemd-cat",
            "eatmydata",
            "torsocks",
            "proxychains",
            "wine",
            "mono",
            "dotnet",
            "hyperfine",
            "watchexec",
            "nix-shell",
            "conda-run",
            "winpty",
            "fakechroot",
            "chronic",
        ],
        &["--command", "--run", "--cmd"],
    )
    .switches(&["-c", "-f", "-w", "-q"]),
    Program::new(Role::Launcher, &["time"], &[])
        .value(&["-f", "-o", "--format", "--output"])
        .switches(&["-p", "-v", "-a", "--portability", "--append"]),
    Program::new(
        Role::Launcher,
        &["npx", "bunx", "uvx", "pnpx"],
        &["-c", "--call"],
    )
    .load(&["-p", "--package", "--from", "--with"])
    .switches(&["-y", "--yes", "-q"]),
    Program::new(Role::Launcher, &["stdbuf"], &[])
        .value(&["-i", "-o", "-e", "--input", "--output"]),
    Program::new(
        Role::Launcher,
        &["strace", "ltrace", "valgrind", "perf", "rr", "heaptrack"],
        &[],
    )
    .load(&["-x", "-F", "--config"])
    .value(&[
        "-e", "-o", "-p", "-s", "-a", "-u", "-E", "-S", "-P", "-n", "-l", "-A", "-D",
    ])
    .switches(&[
        "-f", "-c", "-C", "-q", "-v", "-t", "-T", "-r", "-i", "-y", "-k", "-z", "-Z", "-L",
    ])
    .words(&["record", "stat", "trace"]),
    Program::new(Role::Launcher, &["chroot"], &[])
        .load(&["--userspec"])
        .skip(1),
    Program::new(
        Role::Launcher,
        &["chrt", "taskset", "faketime", "setarch"],
        &[],
    )
    .switches(&["-c", "-a", "-r", "-f", "-o", "-b", "-i", "-R"])
    .skip(1),
    Program::new(Role::Launcher, &["flock"], &["-c", "--command"])
        .value(&["-w", "-E", "--timeout", "--wait"])
        .switches(&[
            "-n",
            "-x",
            "-s",
            "-e",
            "-o",
            "-u",
            "-F",
            "--nonblock",
            "--exclusive",
            "--shared",
        ])
        .permutes()
        .skip(1),
    Program::new(
        Role::Launcher,
        &[
            "nsenter",
            "systemd-run",
            "runuser",
            "unshare",
            "setpriv",
            "lxc-attach",
            "ip-netns",
        ],
        &["-c", "--command"],
    )
    .load(&["-R", "--root", "--wd", "--pty-command"])
    .value(&[
        "-t",
        "-p",
        "-u",
        "-E",
        "-g",
        "--target",
        "--unit",
        "--property",
        "--setenv",
    ])
    .switches(&[
        "--user",
        "--scope",
        "--pty",
        "--wait",
        "--pipe",
        "--collect",
        "-r",
        "--map-root-user",
        "--fork",
        "-f",
    ]),
    Program::new(
        Role::Joiner,
        &[
            "ssh",
            "rsh",
            "mosh",
            "watch",
            "eval",
            "parallel",
            "su",
            "script",
            "at",
            "batch",
            "crontab",
            "tmux",
            "screen",
            "sshpass",
            "pdsh",
            "sem",
            "ts",
            "newgrp",
            "sg",
            "source",
            "trap",
            "scriptreplay",
            "scriptlive",
            "dsh",
            "clusterssh",
            "autossh",
            "et",
            "telnet",
        ],
        &[],
    ),
];
