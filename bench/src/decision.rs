//! Steps 1 to 6 in process, without the record: one installation with a single pack and grant, one
//! with a thousand packs of twenty verbs and ten thousand grants. The time must not depend on it.

use std::fs;
use std::hint::black_box;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hcp_core::operator::{AddOptions, Caller, GrantTerms, Operator, initialise};
use hcp_core::{Call, CoreError, Home, Runtime};
use hcp_sandbox::Cancel;
use hcp_spec::ExecEnvelope;
use hcp_spec::name::{CapabilityPattern, PrincipalName};

use crate::error::BenchError;
use crate::report::Report;
use crate::timing::{take_turns, timed};

const PACKS: usize = 1_000;
const VERBS: usize = 20;
const GRANTS: usize = 10_000;
/// One decision is over too soon to be timed alone.
const BATCH: u32 = 100;

/// Compares deciding a call in a large installation with deciding it in a small one.
///
/// # Errors
/// When an installation cannot be made, or a call is refused that should pass.
pub(crate) fn six_steps(folder: &Path, runs: u32, report: &mut Report) -> Result<(), BenchError> {
    // Making a large installation durable act by act takes long and is not what is measured.
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory } else { folder };
    let base = base.join(format!("hcp-bench-{}", std::process::id()));
    let measured = measure(&base, runs, report);
    let _ = make_writable(&base);
    let _ = fs::remove_dir_all(&base);
    measured
}

fn measure(base: &Path, runs: u32, report: &mut Report) -> Result<(), BenchError> {
    let small = installation(&base.join("small"), 1, 1)?;
    let large = installation(&base.join("large"), PACKS, GRANTS)?;
    let [few, many] = take_turns(
        runs,
        [&mut || decide(&small, "p0"), &mut || decide(&large, "p500")],
    )?;
    report.compare(
        "steps 1-6, 1,000 packs x 20 verbs, 10,000 grants",
        many / BATCH,
        "1 pack, 1 grant",
        few / BATCH,
    );
    Ok(())
}

struct Installation {
    runtime: Runtime,
    principal: PrincipalName,
    cancel: Cancel,
}

fn decide(at: &Installation, pack: &str) -> Result<std::time::Duration, BenchError> {
    let call = || {
        let envelope = ExecEnvelope {
            pack_id: pack.to_owned(),
            verb_key: "verb7".to_owned(),
            args: [("name".to_owned(), "value".into())].into_iter().collect(),
        };
        Call::new(envelope, at.principal.clone(), None, at.cancel.clone())
    };
    let calls: Vec<Call> = (0..BATCH).map(|_| call()).collect();
    let (time, decided) = timed(|| {
        calls
            .into_iter()
            .all(|call| black_box(at.runtime.decide(call)).is_ok())
    });
    if decided {
        Ok(time)
    } else {
        Err(BenchError::Wrong("a call was refused that should pass"))
    }
}

fn installation(folder: &Path, packs: usize, grants: usize) -> Result<Installation, BenchError> {
    let home = Home::beneath(folder);
    let principal = PrincipalName::parse("local:bench")
        .map_err(|_| BenchError::Wrong("the Principal has no name"))?;
    let caller = Caller {
        uid: rustix::process::geteuid().as_raw(),
        principal: principal.clone(),
    };
    initialise(&home, None, &caller).map_err(setup)?;
    let runtime = Runtime::open(home, None).map_err(setup)?;
    let operator = Operator::new(&runtime, principal.clone());
    let ids: Vec<String> = (0..packs).map(|index| format!("p{index}")).collect();
    let source = folder.join("source");
    for id in &ids {
        write_pack(&source, id).map_err(|error| BenchError::File {
            path: source.clone(),
            source: error,
        })?;
        operator
            .add_pack(&source, &AddOptions::default())
            .map_err(setup)?;
    }
    operator.activate(None, &ids).map_err(setup)?;
    for index in 0..grants {
        let word = format!("p{}:w{}", index % packs, index / packs);
        let capability = CapabilityPattern::parse(&word)
            .map_err(|_| BenchError::Wrong("a capability has no name"))?;
        let terms = GrantTerms {
            principal: principal.clone(),
            capability,
            tenant: None,
            project: None,
        };
        operator.add_grant(&terms).map_err(setup)?;
    }
    let cancel = Cancel::new().map_err(|error| BenchError::File {
        path: PathBuf::from("eventfd"),
        source: error,
    })?;
    Ok(Installation {
        runtime,
        principal,
        cancel,
    })
}

fn setup(_: CoreError) -> BenchError {
    BenchError::Wrong("the installation for steps 1 to 6 could not be made")
}

fn write_pack(folder: &Path, id: &str) -> std::io::Result<()> {
    use std::fmt::Write;
    fs::create_dir_all(folder.join("bin"))?;
    fs::write(folder.join("bin/tool"), "#!/bin/sh\n")?;
    fs::set_permissions(folder.join("bin/tool"), fs::Permissions::from_mode(0o755))?;
    let mut text = format!(
        "hcp = 1\nid = \"{id}\"\nversion = \"1\"\nsummary = \"a pack\"\nkind = \"wrap\"\n\n\
         [wrap]\nbin = \"./bin/tool\"\n"
    );
    for verb in 0..VERBS {
        let _ = write!(
            text,
            "\n[commands.verb{verb}]\nsummary = \"a verb\"\neffect = \"read\"\n\
             cli = [\"tool\", \"verb{verb}\", \"--name={{{{name}}}}\"]\n\
             [commands.verb{verb}.args.name]\nrequired = true\nschema = {{ type = \"string\" }}\n\
             [policy.verb{verb}]\ncapability = \"{id}:w0\"\n"
        );
    }
    fs::write(folder.join("hcp.toml"), text)
}

/// Pinned packs are read-only, folders too.
fn make_writable(folder: &Path) -> std::io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}
