//! What is minted at all: nothing undeclared, nothing real in mock mode, nothing without a provider.

use hcp_binding::Mode;
use serde_json::{Value, json};

use crate::scene::{Scene, variables};

#[test]
fn nothing_declared_means_nothing_minted() {
    let mut scene = Scene::new();
    let provider = json!({ "provider": "exec", "command": [scene.helper("exit 1")] });
    for need in [Value::Null, json!({ "env": [] })] {
        scene.need = need;
        for mode in [Mode::Live, Mode::Mock] {
            scene.mode = mode;
            let binding = scene.mint(&provider).unwrap();
            assert_eq!(binding.state(), "none");
            assert_eq!(binding.environment().count(), 0);
            assert_eq!(binding.secrets().count(), 0);
        }
    }
    assert!(scene.requests().is_empty());
}

#[test]
fn mock_sets_every_variable_and_asks_nobody() {
    let mut scene = Scene::new();
    scene.mode = Mode::Mock;
    scene.need = json!({ "env": ["A", "B"], "ttl": "5m" });
    let provider = json!({ "provider": "exec", "command": [scene.helper("exit 1")] });
    for config in [json!({}), json!({ "bindings": { "ledger": provider } })] {
        let binding = scene.mint_with(&config).unwrap();
        assert_eq!(binding.state(), "mock");
        let mock = |name: &str| (name.to_owned(), "mock".to_owned());
        assert_eq!(variables(&binding), [mock("A"), mock("B")]);
        assert_eq!(binding.secrets().count(), 0);
        assert_eq!(binding.expires_at(), None);
        binding.revoke().unwrap();
    }
    assert!(scene.requests().is_empty());
}

#[test]
fn without_a_provider_the_environment_is_no_help() {
    let mut scene = Scene::new();
    assert!(std::env::var_os("PATH").is_some());
    scene.need = json!({ "env": ["PATH", "HOME"] });
    let error = scene.mint_with(&json!({})).unwrap_err();
    let expected = "ledger declares PATH, HOME and no provider is configured";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn kinds_and_keys_that_do_nothing_are_refused() {
    let scene = Scene::new();
    for (provider, expected) in [
        (
            json!({ "provider": "vault" }),
            "provider vault is not built into this version",
        ),
        (
            json!({ "provider": "oauth2" }),
            "provider oauth2 is not built into this version",
        ),
        (
            json!({ "provider": "jwt" }),
            "provider jwt is not built into this version",
        ),
        (
            json!({ "provider": "static", "command": ["/bin/true"] }),
            "provider static has no use for `command`",
        ),
        (
            json!({ "provider": "static", "digest": "00" }),
            "provider static has no use for `digest`",
        ),
        (
            json!({ "provider": "exec", "shared": true }),
            "provider exec has no use for `shared`",
        ),
        (
            json!({ "provider": "exec", "env": { "A": { "file": "a" } } }),
            "provider exec has no use for `env`",
        ),
        (
            json!({ "provider": "exec" }),
            "provider exec names no `command`",
        ),
    ] {
        assert_eq!(scene.refusal(&provider), expected);
    }
}
