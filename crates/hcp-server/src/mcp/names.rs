//! Names of tools: `<pack>__<verb>`, made of what clients accept.

use hcp_core::Runtime;
use hcp_spec::manifest::Manifest;
use hcp_spec::name::VerbKey;

/// The longest name that the protocol allows, in bytes.
const LONGEST: usize = 128;

/// The names of a pack's commands, in the order of its manifest. Where two keys would make the same
/// name, the key that reads exactly so keeps it, and the others are numbered.
pub(super) fn tool_names(manifest: &Manifest) -> Vec<(String, &VerbKey)> {
    let plain = |key: &VerbKey| shortened(format!("{}__{}", manifest.id, replaced(key.as_str())));
    let exact = |key: &VerbKey| replaced(key.as_str()) == key.as_str();
    let mut taken: Vec<String> = manifest
        .commands
        .keys()
        .filter(|key| exact(key))
        .map(plain)
        .collect();
    let mut names = Vec::with_capacity(manifest.commands.len());
    for key in manifest.commands.keys() {
        let name = plain(key);
        if exact(key) {
            names.push((name, key));
            continue;
        }
        let numbered = (2..).map(|number| shortened(format!("{name}_{number}")));
        let free = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !taken.contains(name));
        let name = free.unwrap_or(name);
        taken.push(name.clone());
        names.push((name, key));
    }
    names
}

/// The pack id and verb key that a tool's name stands for. A name that no pack has is taken for the
/// key it reads like, and the steps refuse it.
pub(super) fn target(runtime: &Runtime, name: &str) -> Option<(String, String)> {
    let (pack_id, rest) = name.split_once("__")?;
    let pack = runtime.pack(pack_id);
    let found = pack.as_ref().and_then(|pack| {
        let names = tool_names(&pack.manifest);
        let mut keys = names.into_iter();
        keys.find(|(known, _)| known == name)
            .map(|(_, key)| key.to_string())
    });
    Some((pack_id.to_owned(), found.unwrap_or_else(|| rest.to_owned())))
}

fn replaced(key: &str) -> String {
    let allowed =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    key.chars()
        .map(|character| if allowed(character) { character } else { '_' })
        .collect()
}

/// A name within the limit; what is cut off is told apart by its hash.
fn shortened(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    // Only ASCII stands in a name, so every byte is a place to cut.
    let kept = name.get(..LONGEST - 9).unwrap_or_default();
    format!("{kept}_{hash:08x}")
}

#[cfg(test)]
mod tests {
    use hcp_spec::manifest::Manifest;
    use serde_json::json;

    use super::tool_names;

    #[test]
    fn names_are_of_the_allowed_letters_and_differ() {
        let long = "x".repeat(128);
        let other = format!("{}y", "x".repeat(127));
        let keys = [
            "a.b c",
            "a_b_c",
            "a b c",
            "é",
            long.as_str(),
            other.as_str(),
        ];
        let commands: serde_json::Map<_, _> = keys
            .iter()
            .map(|key| ((*key).to_owned(), json!({ "summary": "x" })))
            .collect();
        let manifest: Manifest = serde_json::from_value(json!({
            "hcp": 1, "id": "p", "version": "1", "summary": "x", "kind": "wrap", "commands": commands,
        }))
        .unwrap();
        let names: Vec<String> = tool_names(&manifest)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names[..4], ["p__a_b_c_2", "p__a_b_c", "p__a_b_c_3", "p___"]);
        assert!(names[4..].iter().all(|name| name.len() == 128));
        assert_ne!(names[4], names[5]);
    }
}
