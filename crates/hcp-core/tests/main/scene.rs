//! An installation of its own, with packs whose tools are shell scripts, and the example tools.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use hcp_core::operator::{
    AddOptions, AddedPack, Caller, GrantTerms, OpenOptions, Operator, initialise,
};
use hcp_core::{Answer, Call, CoreError, Home, Runtime};
use hcp_sandbox::Cancel;
use hcp_spec::ExecEnvelope;
use hcp_spec::audit::AuditRecord;
use hcp_spec::name::{CapabilityPattern, PrincipalName};
use hcp_store::RecordFilter;
use serde_json::Value;

/// A tool for everything that tests want to see: `say`, `echo`, `fail`, `meet`, `hold`.
const DESK: &str = r#"#!/bin/sh
verb=$1; shift
case $verb in
  say) echo "$1" >>"$HCP_CALL_STATE/said"; printf '{"said":"%s"}' "$1" ;;
  echo) printf '%s' "$1" ;;
  fail) echo "$1" >&2; exit 4 ;;
  meet)
    : >"$HCP_CALL_STATE/$1"
    tries=0
    until [ -e "$HCP_CALL_STATE/$2" ]; do
      tries=$((tries + 1)); [ $tries -lt 400 ] || { echo "$2 never came" >&2; exit 1; }
      sleep 0.02
    done
    printf '"met"' ;;
  hold) : >"$HCP_CALL_STATE/held"; sleep 60 ;;
  mode) printf '"%s"' "$HCP_CALL_BINDING" ;;
esac
"#;

pub(crate) const DESK_PACK: &str = r#"
hcp = 1
id = "desk"
version = "1"
summary = "A tool of the tests"
kind = "wrap"
[wrap]
bin = "./desk"
json = []
[sandbox]
state = true
[commands.say]
summary = "Note a text"
effect = "write"
cli = ["desk", "say", "{{text}}"]
args.text = { required = true, schema = { type = "string" } }
[policy.say]
capability = "desk:say"
[commands.echo]
summary = "Print a value"
effect = "read"
cli = ["desk", "echo", "{{value}}"]
args.value = { required = true, as = "json" }
[policy.echo]
capability = "desk:read"
[commands.fail]
summary = "Fail"
effect = "read"
cli = ["desk", "fail", "{{why}}"]
args.why = { schema = { type = "string", default = "the desk is on fire" } }
[policy.fail]
capability = "desk:read"
[commands.meet]
summary = "Wait for another"
effect = "read"
cli = ["desk", "meet", "{{me}}", "{{other}}"]
[policy.meet]
capability = "desk:read"
[commands.hold]
summary = "Never end"
effect = "read"
cli = ["desk", "hold"]
[policy.hold]
capability = "desk:read"
[commands.burn]
summary = "Say it, once confirmed"
effect = "destructive"
cli = ["desk", "say", "burnt"]
[policy.burn]
capability = "desk:burn"
[commands.ask]
summary = "Say it, once a person approved"
effect = "write"
cli = ["desk", "say", "{{text}}"]
args.text = { required = true }
[policy.ask]
capability = "desk:say"
approval = "human"
[commands.unruled]
summary = "Nobody may"
effect = "read"
cli = ["desk", "say", "unruled"]
"#;

pub(crate) struct Scene {
    folder: tempfile::TempDir,
    pub(crate) runtime: Runtime,
    pub(crate) me: PrincipalName,
}

impl Scene {
    /// An installation with the desk added, activated and granted.
    pub(crate) fn new() -> Self {
        let scene = Self::bare("");
        scene.add_desk();
        scene
    }

    /// An installation with nothing in it but this config.
    pub(crate) fn bare(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        let config = format!("[sandbox]\nmode = \"native-local\"\n{config}");
        write(&home.join("config.toml"), config.as_bytes(), 0o600);
        let me = PrincipalName::parse("local:tester").unwrap();
        let caller = Caller {
            uid: folder.path().metadata().unwrap().uid(),
            principal: me.clone(),
        };
        let home = Home::beneath(&home);
        initialise(&home, None, &caller).unwrap();
        let runtime = Runtime::open(home, None).unwrap();
        Self {
            folder,
            runtime,
            me,
        }
    }

    pub(crate) fn add_desk(&self) {
        self.add("desk", DESK_PACK, &[("desk", DESK.as_bytes())])
            .unwrap();
        self.activate("desk").unwrap();
        self.grant("desk:*");
        self.grant("desk:burn");
    }

    /// Adds and activates an example pack with its program, and grants all of it.
    pub(crate) fn add_example(&self, name: &str) {
        let root = workspace();
        let manifest =
            fs::read_to_string(root.join(format!("examples/{name}/pack/hcp.toml"))).unwrap();
        let program = fs::read(build_examples().join(name)).unwrap();
        self.add(name, &manifest, &[(&format!("bin/{name}"), &program)])
            .unwrap();
        self.activate(name).unwrap();
        self.grant(&format!("{name}:*"));
    }

    /// Adds a composite pack, activates it and grants `<id>:run`.
    pub(crate) fn add_composite(&self, id: &str, body: &str) {
        self.try_composite(id, body).unwrap();
        self.activate(id).unwrap();
        self.grant(&format!("{id}:run"));
    }

    pub(crate) fn try_composite(&self, id: &str, body: &str) -> Result<AddedPack, CoreError> {
        self.add(id, &composite(id, body), &[])
    }

    pub(crate) fn add(
        &self,
        name: &str,
        manifest: &str,
        files: &[(&str, &[u8])],
    ) -> Result<AddedPack, CoreError> {
        let pack = self.folder.path().join("packs").join(name);
        let _ = fs::remove_dir_all(&pack);
        fs::create_dir_all(&pack).unwrap();
        write(&pack.join("hcp.toml"), manifest.as_bytes(), 0o600);
        for (file, bytes) in files {
            let path = pack.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, bytes, 0o700);
        }
        self.operator().add_pack(&pack, &AddOptions::default())
    }

    pub(crate) fn operator(&self) -> Operator<'_> {
        Operator::new(&self.runtime, self.me.clone())
    }

    pub(crate) fn activate(&self, pack: &str) -> Result<String, CoreError> {
        self.operator().activate(None, &[pack.to_owned()])
    }

    pub(crate) fn grant(&self, capability: &str) {
        self.operator().add_grant(&self.terms(capability)).unwrap();
    }

    pub(crate) fn revoke(&self, capability: &str) {
        self.operator()
            .remove_grant(&self.terms(capability))
            .unwrap();
    }

    fn terms(&self, capability: &str) -> GrantTerms {
        GrantTerms {
            principal: self.me.clone(),
            capability: CapabilityPattern::parse(capability).unwrap(),
            tenant: None,
            project: None,
        }
    }

    pub(crate) fn open_session(&self, options: &OpenOptions) -> String {
        self.operator().open_session(options).unwrap().session_id
    }

    pub(crate) fn prepare(&self, pack: &str, verb: &str, args: &Value, cancel: Cancel) -> Call {
        let envelope = ExecEnvelope {
            pack_id: pack.to_owned(),
            verb_key: verb.to_owned(),
            args: args.as_object().unwrap().clone(),
        };
        Call::new(envelope, self.me.clone(), None, cancel)
    }

    pub(crate) fn exec(&self, pack: &str, verb: &str, args: Value) -> Answer {
        self.runtime
            .exec(self.prepare(pack, verb, &args, Cancel::new().unwrap()))
    }

    /// The result of a call that must succeed, as the text it is.
    pub(crate) fn result(&self, pack: &str, verb: &str, args: Value) -> String {
        let answer = self.exec(pack, verb, args);
        assert!(answer.envelope.ok, "{:?}", answer.envelope);
        answer.envelope.result.unwrap().as_json().to_owned()
    }

    /// The error of a call that must fail.
    pub(crate) fn error(&self, pack: &str, verb: &str, args: Value) -> String {
        let answer = self.exec(pack, verb, args);
        assert!(!answer.envelope.ok, "{:?}", answer.envelope);
        answer.envelope.error.unwrap()
    }

    /// All records, oldest first.
    pub(crate) fn records(&self) -> Vec<AuditRecord> {
        self.runtime
            .store()
            .records(&RecordFilter::default())
            .unwrap()
    }

    /// The records of the calls of one verb.
    pub(crate) fn records_of(&self, verb: &str) -> Vec<AuditRecord> {
        let mut records = self.records();
        records.retain(|record| record.event.verb_key.as_deref() == Some(verb));
        records
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A file in the desk's state.
    pub(crate) fn state(&self, file: &str) -> PathBuf {
        self.home().join("state/default/-/desk").join(file)
    }

    /// What the desk was told, a text a line.
    pub(crate) fn said(&self) -> Vec<String> {
        let said = fs::read_to_string(self.state("said")).unwrap_or_default();
        said.lines().map(str::to_owned).collect()
    }
}

/// The manifest of a composite pack with one command `run`, gated as `body` says.
pub(crate) fn composite(id: &str, body: &str) -> String {
    format!(
        "hcp = 1\nid = \"{id}\"\nversion = \"1\"\nsummary = \"x\"\nkind = \"composite\"\n\
         [commands.run]\nsummary = \"x\"\neffect = \"write\"\n\
         [policy.run]\ncapability = \"{id}:run\"\n{body}"
    )
}

pub(crate) fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn metadata_of(record: &AuditRecord) -> Value {
    serde_json::from_str(record.event.metadata.as_deref().unwrap_or("null")).unwrap()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the example programs. They are built where they are not there; a build of the whole
/// workspace has made them already, and they are not to be replaced while other tests run them.
fn build_examples() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().parent().unwrap().to_owned();
    if ["ledger", "transit"]
        .iter()
        .all(|name| folder.join(name).exists())
    {
        return folder;
    }
    let output = Command::new(env!("CARGO"))
        .args([
            "build", "--quiet", "--locked", "-p", "ledger", "-p", "transit",
        ])
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .current_dir(workspace())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    folder
}
