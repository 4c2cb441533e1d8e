//! Names of signals, as `signal SIGKILL` in a result envelope writes them.

/// The name of a signal: `SIGKILL`; one without a name, a real-time signal among them, is `SIG` and
/// its number.
pub fn signal_name(number: i32) -> String {
    NAMES
        .iter()
        .find(|(known, _)| *known == number)
        .map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}

macro_rules! names {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name))),*] };
}

/// From libc, since the numbers differ between machines.
const NAMES: &[(i32, &str)] = names! {
    SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2
    SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG
    SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS
};

#[cfg(test)]
mod tests {
    use super::signal_name;

    #[test]
    fn names_and_numbers() {
        for (number, name) in [
            (libc::SIGKILL, "SIGKILL"),
            (libc::SIGTERM, "SIGTERM"),
            (libc::SIGXFSZ, "SIGXFSZ"),
            (libc::SIGSYS, "SIGSYS"),
            (40, "SIG40"),
            (0, "SIG0"),
            (-1, "SIG-1"),
        ] {
            assert_eq!(signal_name(number), name);
        }
    }
}
