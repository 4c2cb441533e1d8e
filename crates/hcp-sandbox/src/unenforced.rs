//! What a pack wishes for and mode native-local cannot hold it to.

use hcp_spec::config::Level;
use hcp_spec::manifest::Sandbox;

/// The wishes of a pack that native-local leaves unenforced, as words for people, in a stable order.
///
/// Most stand in every answer: a pack that says nothing about the network asks for none, and a plain
/// child has all of it.
pub fn unenforced(sandbox: &Sandbox) -> Vec<&'static str> {
    let wishes = [
        (
            true,
            "file-system view: the child sees every file of its user",
        ),
        (true, "network isolation: the child reaches every host"),
        (true, "exec limits: the child may start any program"),
        (true, "process count: nothing bounds it"),
        (true, "memory: bounded for each process, not for the call"),
        (
            true,
            "process tree: a descendant that leaves the session outlives the call, and any outlives a killed hcp",
        ),
        (
            sandbox.level.is_some_and(|level| level > Level::None),
            "isolation level: native-local has none",
        ),
    ];
    wishes
        .into_iter()
        .filter_map(|(wished, words)| wished.then_some(words))
        .collect()
}

#[cfg(test)]
mod tests {
    use hcp_spec::config::Level;
    use hcp_spec::manifest::Sandbox;

    use super::unenforced;

    #[test]
    fn a_silent_pack_still_wishes_for_isolation() {
        let silent = unenforced(&Sandbox::default());
        for start in [
            "file-system view",
            "network isolation",
            "exec limits",
            "process count",
        ] {
            assert!(
                silent.iter().any(|words| words.starts_with(start)),
                "{start}"
            );
        }
        let asking = |level| Sandbox {
            level,
            ..Sandbox::default()
        };
        assert_eq!(unenforced(&asking(Some(Level::None))), silent);
        assert_eq!(
            unenforced(&asking(Some(Level::Full))).len(),
            silent.len() + 1
        );
    }
}
