//! What to do about a refusal, in one line: the command that mends it, where there is one.

use hcp_spec::Refusal;

/// The next thing to do, said to the operator. `None` where the refusal itself says it all.
pub fn mend(refusal: &Refusal, pack_id: &str, verb_key: &str) -> Option<String> {
    Some(match refusal {
        Refusal::UnknownPack(_) => {
            "`hcp pack add DIR` installs a pack; `hcp pack list` shows what is installed".to_owned()
        }
        Refusal::NotActivated(id) => format!("`hcp activate {}`", word(id)),
        Refusal::NoPolicy(_) => format!(
            "`hcp pack show {}` lists the verbs that can be called; a command needs a \
             [policy.…] entry in the pack's manifest",
            word(pack_id)
        ),
        Refusal::BrainRequiresProject => {
            "open a session in a project: `hcp session open --project NAME`".to_owned()
        }
        Refusal::SessionExpired => "open another: `hcp session open`".to_owned(),
        Refusal::NoTenant => "`hcp tenant list` shows the tenants there are".to_owned(),
        Refusal::MissingCapability { capability, .. } => {
            format!(
                "the operator grants it with `hcp grant add me {capability}`, or names another for `me`"
            )
        }
        Refusal::ConfirmRequired => {
            "look at what it will do, then call it again with confirm=true".to_owned()
        }
        Refusal::Arguments(_) => format!(
            "`hcp pack show {} {}` lists the arguments",
            word(pack_id),
            word(verb_key)
        ),
        Refusal::Binding(_) => {
            format!("[bindings.{pack_id}] of the config says where its credentials come from")
        }
        Refusal::BinNotAllowlisted(bin) => format!(
            "list `{bin}` in sandbox.allow_bins of the config, or add the pack with --allow-bin"
        ),
        Refusal::Isolation(_) => {
            "sandbox.mode = \"native-local\" in the config runs tools without isolation".to_owned()
        }
        _ => return None,
    })
}

/// A word as a shell would need it.
fn word(text: &str) -> String {
    let plain = !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-:/".contains(&byte));
    if plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
