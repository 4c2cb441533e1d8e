//! State: what is put in comes out, an act and its record are one, and a removal takes along what
//! hangs on the removed.

use hcp_spec::audit::AuditKind;
use hcp_spec::name::ProjectId;
use hcp_store::{ActivatedPack, Changes, PackRoot, RecordFilter, Session, Store, StoreError};

use crate::home::{Home, event, pack, session};

/// Whether what belongs to this Principal and tenant, in a project or not, stays.
type Stays = fn(&str, &str, bool) -> bool;
type Act = fn(&Changes<'_>) -> Result<(), StoreError>;

fn change<T>(
    store: &mut Store,
    act: impl FnOnce(&Changes<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    store.change(&event(AuditKind::Admin), act)
}

/// Two tenants, two Principals, a project, packs, grants and sessions everywhere.
fn furnished() -> (Home, Store) {
    let (home, mut store) = Home::initialised();
    change(&mut store, |changes| {
        changes.add_tenant(&"acme".parse().unwrap())?;
        changes.add_principal(&"agent:bob".parse().unwrap(), None)?;
        changes.add_project(&"acme".parse().unwrap(), &"books".parse().unwrap())?;
        changes.add_pack(&pack("ledger", &["ledger:read", "ledger:write"]))?;
        changes.add_pack(&pack("transit", &["transit:plan"]))?;
        for principal in ["human:ann", "agent:bob"] {
            for (tenant, project) in [("default", None), ("acme", None), ("acme", Some("books"))] {
                let project: Option<ProjectId> = project.map(|id| id.parse().unwrap());
                changes.add_grant(
                    &principal.parse().unwrap(),
                    &"ledger:*".parse().unwrap(),
                    &tenant.parse().unwrap(),
                    project.as_ref(),
                )?;
                changes.open_session(&Session {
                    tenant_id: tenant.parse().unwrap(),
                    packs: vec![activated("ledger"), activated("transit")],
                    project_id: project.clone(),
                    ..session(&session_id(principal, tenant, project.is_some()), principal)
                })?;
            }
        }
        Ok(())
    })
    .unwrap();
    (home, store)
}

fn session_id(principal: &str, tenant: &str, project: bool) -> String {
    format!("ses_{principal}_{tenant}_{project}")
}

fn activated(id: &str) -> ActivatedPack {
    ActivatedPack {
        pack_id: id.parse().unwrap(),
        digest: format!("digest of {id}"),
    }
}

#[test]
fn what_is_put_in_comes_out_in_another_process_s_words() {
    let (home, mut store) = Home::initialised();
    let mut linked = pack("dev", &["a:b"]);
    linked.root = PackRoot::Linked(std::ffi::OsStr::new("/srv/ä b").into());
    let mut opened = session("ses_x", "human:ann");
    opened.name = Some("default".to_owned());
    opened.expires_at = Some(99);
    opened.token_sha256 = Some("ab".repeat(32));
    opened.packs = vec![activated("dev"), activated("ledger")];
    change(&mut store, |changes| {
        changes.add_pack(&pack("ledger", &["ledger:read", "ledger:write"]))?;
        changes.add_pack(&linked)?;
        changes.open_session(&opened)
    })
    .unwrap();
    let other = home.open();
    assert_eq!(
        other.pack("ledger").unwrap(),
        Some(pack("ledger", &["ledger:read", "ledger:write"]))
    );
    assert_eq!(other.packs().unwrap()[0], linked);
    assert_eq!(other.session("ses_x").unwrap().as_ref(), Some(&opened));
    assert_eq!(
        other.default_session("human:ann").unwrap().as_ref(),
        Some(&opened)
    );
    assert_eq!(
        other.session_of_token(&"ab".repeat(32)).unwrap(),
        Some(opened)
    );
    assert_eq!(
        other.principal_of_uid(1000).unwrap().unwrap().name.as_str(),
        "human:ann"
    );
    assert_eq!(other.principal_of_uid(1001).unwrap(), None);
    assert_eq!(
        (
            other.tenant_count().unwrap(),
            other.tenants().unwrap().len()
        ),
        (1, 1)
    );
    for absent in ["", "Ledger", "ledger ", "%"] {
        assert_eq!(other.pack(absent).unwrap(), None);
        assert_eq!(other.principal(absent).unwrap(), None);
        assert_eq!(other.tenant(absent).unwrap(), None);
        assert_eq!(other.session(absent).unwrap(), None);
        assert_eq!(other.project("default", absent).unwrap(), None);
    }
}

#[test]
fn an_act_that_fails_leaves_neither_state_nor_record_nor_generation() {
    let failing: [(&str, Act, &str); 13] = [
        (
            "pack twice",
            |c| c.add_pack(&pack("ledger", &[])),
            "pack `ledger` is already there",
        ),
        (
            "pack absent",
            |c| c.remove_pack("none"),
            "pack `none` is not there",
        ),
        (
            "name twice",
            |c| c.add_principal(&"human:ann".parse().unwrap(), None),
            "Principal `human:ann` is already there",
        ),
        (
            "uid twice",
            |c| c.add_principal(&"local:x".parse().unwrap(), Some(1000)),
            "Principal `human:ann` is already there",
        ),
        (
            "principal absent",
            |c| c.remove_principal("human:no"),
            "Principal `human:no` is not there",
        ),
        (
            "tenant twice",
            |c| c.add_tenant(&"acme".parse().unwrap()),
            "tenant `acme` is already there",
        ),
        (
            "project twice",
            |c| c.add_project(&"acme".parse().unwrap(), &"books".parse().unwrap()),
            "project `books` is already there",
        ),
        (
            "project nowhere",
            |c| c.add_project(&"no".parse().unwrap(), &"books".parse().unwrap()),
            "tenant `no` is not there",
        ),
        (
            "grant twice",
            |c| grant(c, "human:ann", "ledger:*", "default"),
            "grant `ledger:*` is already there",
        ),
        (
            "grant to nobody",
            |c| grant(c, "human:no", "ledger:*", "default"),
            "Principal `human:no` is not there",
        ),
        (
            "grant absent",
            |c| c.remove_grant("human:ann", "ledger:*", "acme", Some("no")),
            "grant `ledger:*` is not there",
        ),
        (
            "session of nobody",
            |c| c.open_session(&session("ses_n", "human:no")),
            "Principal `human:no` is not there",
        ),
        (
            "session twice",
            |c| c.open_session(&session("ses_human:ann_acme_true", "human:ann")),
            "session `ses_human:ann_acme_true` is already there",
        ),
    ];
    let (home, mut store) = furnished();
    let generation = store.generation().unwrap();
    for (name, act, expected) in failing {
        let error = change(&mut store, |changes| {
            // Something that works, which must be undone.
            changes.add_tenant(&"leftover".parse().unwrap())?;
            act(changes)
        })
        .unwrap_err();
        assert_eq!(error.to_string(), expected, "{name}");
        assert_eq!(store.tenant("leftover").unwrap(), None, "{name}");
    }
    assert_eq!(store.generation().unwrap(), generation);
    assert_eq!(store.records(&RecordFilter::default()).unwrap().len(), 2);
    assert_eq!(home.verdict().to_string(), "OK");
}

fn grant(c: &Changes<'_>, principal: &str, word: &str, tenant: &str) -> Result<(), StoreError> {
    c.add_grant(
        &principal.parse().unwrap(),
        &word.parse().unwrap(),
        &tenant.parse().unwrap(),
        None,
    )
    .map(|_| ())
}

#[test]
fn a_removal_takes_grants_along_and_closes_sessions() {
    // What is removed; which grants and open sessions are left, as principal, tenant, in a project.
    let cases: [(&str, Act, Stays); 3] = [
        (
            "principal",
            |c| c.remove_principal("agent:bob"),
            |principal, _, _| principal != "agent:bob",
        ),
        (
            "tenant",
            |c| c.remove_tenant("acme"),
            |_, tenant, _| tenant != "acme",
        ),
        (
            "project",
            |c| c.remove_project("acme", "books"),
            |_, _, project| !project,
        ),
    ];
    for (name, act, stays) in cases {
        let (_home, mut store) = furnished();
        change(&mut store, act).unwrap();
        for principal in ["human:ann", "agent:bob"] {
            for (tenant, project) in [("default", false), ("acme", false), ("acme", true)] {
                let stays = stays(principal, tenant, project);
                let granted = store
                    .grants_of(principal, tenant)
                    .unwrap()
                    .into_iter()
                    .any(|grant| grant.project_id.is_some() == project);
                let session = store
                    .session(&session_id(principal, tenant, project))
                    .unwrap()
                    .unwrap();
                assert_eq!(granted, stays, "{name}: {principal} {tenant} {project}");
                assert_eq!(
                    session.closed, !stays,
                    "{name}: {principal} {tenant} {project}"
                );
            }
        }
        assert_eq!(
            store.projects(Some("acme")).unwrap().len(),
            usize::from(name == "principal")
        );
    }
}

#[test]
fn a_pack_that_comes_back_is_activated_nowhere() {
    let (_home, mut store) = furnished();
    change(&mut store, |changes| {
        changes.remove_pack("ledger")?;
        changes.add_pack(&pack("ledger", &["ledger:write"]))
    })
    .unwrap();
    for session in store.sessions().unwrap() {
        assert_eq!(session.packs, [activated("transit")]);
    }
    assert_eq!(store.pack("ledger").unwrap().unwrap().capabilities.len(), 1);
}

#[test]
fn a_default_session_is_one_at_a_time() {
    let (_home, mut store) = Home::initialised();
    let named = |id: &str| Session {
        name: Some("default".to_owned()),
        ..session(id, "human:ann")
    };
    change(&mut store, |changes| changes.open_session(&named("ses_1"))).unwrap();
    let error = change(&mut store, |changes| changes.open_session(&named("ses_2"))).unwrap_err();
    assert_eq!(error.to_string(), "session `default` is already there");
    change(&mut store, |changes| {
        assert!(changes.close_session("ses_1")?);
        assert!(!changes.close_session("ses_1")?);
        changes.open_session(&named("ses_2"))
    })
    .unwrap();
    assert_eq!(
        store.default_session("human:ann").unwrap().unwrap().id,
        "ses_2"
    );
    assert!(store.session("ses_1").unwrap().unwrap().closed);
}

#[test]
fn activation_tells_whether_something_changed() {
    let (_home, mut store) = furnished();
    let id = session_id("human:ann", "default", false);
    change(&mut store, |changes| {
        assert!(!changes.activate(&id, "ledger", "digest of ledger")?);
        assert!(changes.activate(&id, "ledger", "another")?);
        assert!(changes.deactivate(&id, "ledger")?);
        assert!(!changes.deactivate(&id, "ledger")?);
        assert!(changes.activate(&id, "ledger", "another")?);
        for (session, pack) in [("ses_none", "ledger"), (id.as_str(), "none")] {
            assert!(matches!(
                changes.activate(session, pack, "d"),
                Err(StoreError::NotThere { .. })
            ));
        }
        changes.close_session(&id)?;
        assert!(changes.activate(&id, "transit", "d").is_err());
        Ok(())
    })
    .unwrap();
    assert_eq!(
        store.session(&id).unwrap().unwrap().packs[0].digest,
        "another"
    );
}

#[test]
fn the_users_of_a_word_are_packs_that_name_it_and_grants_whose_words_cover_it() {
    let (_home, mut store) = furnished();
    change(&mut store, |changes| {
        for word in ["*", "db:write", "db:write:*", "d:*"] {
            grant(changes, "agent:bob", word, "default")?;
        }
        changes.add_pack(&pack("db", &["db:write"]))
    })
    .unwrap();
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("ledger:write", &["ledger"], &["ledger:*"; 6]),
        ("ledger:new", &[], &["ledger:*"; 6]),
        ("ledger", &[], &[]),
        ("db:write", &["db"], &["db:write"]),
        ("db:write:big", &[], &["db:write:*"]),
        ("db", &[], &[]),
    ];
    for (word, packs, grants) in cases {
        let users = store.capability_users(&word.parse().unwrap()).unwrap();
        let named: Vec<&str> = users.packs.iter().map(AsRef::as_ref).collect();
        let covering: Vec<_> = users
            .grants
            .iter()
            .map(|grant| grant.capability.as_str())
            .collect();
        assert_eq!(
            (named.as_slice(), covering.as_slice()),
            (packs, grants),
            "{word}"
        );
    }
    let inside = change(&mut store, |changes| {
        changes.capability_users(&"db:write".parse().unwrap())
    });
    assert_eq!(
        inside.unwrap(),
        store
            .capability_users(&"db:write".parse().unwrap())
            .unwrap()
    );
}

#[test]
fn the_generation_changes_with_state_alone_whoever_writes() {
    let (home, mut store) = Home::initialised();
    let mut other = home.open();
    let first = store.generation().unwrap();
    assert_eq!(other.generation().unwrap(), first);
    other.record(&event(AuditKind::Denied)).unwrap();
    store.record(&event(AuditKind::Denied)).unwrap();
    let intent = other.begin(&event(AuditKind::Intent)).unwrap();
    other.finish(intent, &event(AuditKind::Outcome)).unwrap();
    assert_eq!(
        (store.generation().unwrap(), other.generation().unwrap()),
        (first, first)
    );
    change(&mut other, |changes| {
        changes.add_tenant(&"acme".parse().unwrap())
    })
    .unwrap();
    let second = store.generation().unwrap();
    assert_ne!(second, first);
    assert_eq!(other.generation().unwrap(), second);
    change(&mut store, |changes| changes.remove_tenant("acme")).unwrap();
    let third = store.generation().unwrap();
    assert!(![first, second].contains(&third));
    assert_eq!(other.generation().unwrap(), third);
}

#[test]
fn a_row_that_lost_its_form_is_damage_and_named() {
    let cases = [
        (
            "UPDATE principal SET name = 'root' WHERE name = 'human:ann'",
            "`root` is not a Principal",
        ),
        ("UPDATE pack SET allow_bins = 'git'", "expected"),
        (
            "UPDATE pack_capability SET capability = '' WHERE capability = 'ledger:read'",
            "is not a capability",
        ),
        (
            "UPDATE pack SET added_at = 'noon'",
            "column `added_at` holds a value of class text",
        ),
    ];
    for (sql, expected) in cases {
        let (home, store) = furnished();
        drop(store);
        home.tamper(&format!("PRAGMA foreign_keys = OFF; {sql}"));
        let store = home.open();
        let error = store
            .packs()
            .map(drop)
            .and_then(|()| store.principals().map(drop))
            .unwrap_err();
        assert!(
            matches!(error, StoreError::Corrupt { .. }),
            "{sql}: {error:?}"
        );
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
}

#[test]
fn an_identity_is_remembered_for_the_bytes_it_belongs_to() {
    let (_home, mut store) = furnished();
    let added = store.pack("ledger").unwrap().unwrap();
    let before = (
        store.generation().unwrap(),
        store.records(&RecordFilter::default()).unwrap().len(),
    );
    store
        .remember_identity("ledger", &added.digest, "fresh")
        .unwrap();
    store.remember_identity("ledger", "other", "stale").unwrap();
    store
        .remember_identity("none", &added.digest, "stale")
        .unwrap();
    assert_eq!(store.pack("ledger").unwrap().unwrap().identity, "fresh");
    assert_eq!(
        (
            store.generation().unwrap(),
            store.records(&RecordFilter::default()).unwrap().len()
        ),
        before
    );
}
