//! Which provider a call gets: the tenant's before the general one, the verb's before the pack's.

use hcp_spec::config::{Config, Provider};
use hcp_spec::name::target;
use indexmap::IndexMap;

/// A provider, and whether it stands in the section of one tenant.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) of_one_tenant: bool,
}

impl<'a> Selected<'a> {
    /// What the config says.
    pub const fn provider(&self) -> &'a Provider {
        self.provider
    }
}

/// The provider for a call. A section of the tenant wins over the general ones, whatever each of
/// them names; within one, `<pack>.<verb>` wins over the pack id.
pub fn select<'a>(
    config: &'a Config,
    tenant_id: &str,
    pack_id: &str,
    verb_key: &str,
) -> Option<Selected<'a>> {
    let tenant = config.tenants.get(tenant_id);
    let own = tenant.and_then(|tenant| find(&tenant.bindings, pack_id, verb_key));
    let general = || find(&config.bindings, pack_id, verb_key);
    own.map(|provider| Selected {
        provider,
        of_one_tenant: true,
    })
    .or_else(|| {
        general().map(|provider| Selected {
            provider,
            of_one_tenant: false,
        })
    })
}

fn find<'a>(
    bindings: &'a IndexMap<String, Provider>,
    pack_id: &str,
    verb_key: &str,
) -> Option<&'a Provider> {
    let wanted = target(pack_id, verb_key);
    let names_the_verb = |key: &str| {
        key.split_once('.')
            .is_some_and(|(pack, verb)| pack == pack_id && target(pack, verb) == wanted)
    };
    bindings
        .iter()
        .find_map(|(key, provider)| names_the_verb(key).then_some(provider))
        .or_else(|| bindings.get(pack_id))
}

#[cfg(test)]
mod tests {
    use hcp_spec::config::Config;

    use super::select;

    const CONFIG: &str = r#"{
        "bindings": {
            "ledger": {"provider": "exec", "command": ["pack"]},
            "ledger.transfer": {"provider": "exec", "command": ["verb"]},
            "ledger.a.b": {"provider": "exec", "command": ["dotted"]},
            "ledgers": {"provider": "exec", "command": ["other"]}
        },
        "tenants": {"acme": {"bindings": {
            "ledger": {"provider": "exec", "command": ["acme"]}
        }}}
    }"#;

    #[test]
    fn tenant_before_general_and_verb_before_pack() {
        let config: Config = serde_json::from_str(CONFIG).unwrap();
        let cases = [
            ("default", "ledger", "transfer", Some(("verb", false))),
            (
                "default",
                "ledger",
                "ledger.transfer",
                Some(("verb", false)),
            ),
            ("default", "ledger", "close", Some(("pack", false))),
            ("default", "ledger", "a.b", Some(("dotted", false))),
            ("default", "ledger", "a", Some(("pack", false))),
            ("acme", "ledger", "transfer", Some(("acme", true))),
            ("acme", "ledgers", "transfer", Some(("other", false))),
            ("default", "deploy", "transfer", None),
        ];
        for (tenant, pack, verb, expected) in cases {
            let selected = select(&config, tenant, pack, verb);
            let found = selected
                .as_ref()
                .map(|found| (found.provider.command[0].as_str(), found.of_one_tenant));
            assert_eq!(found, expected, "{tenant} {pack} {verb}");
        }
    }
}
