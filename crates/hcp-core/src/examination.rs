//! What `doctor` looks at: everything that calls depend on, one finding each, with one mend.
//!
//! It only looks: the store is opened to be read, nothing is minted (§6.7) and nothing is changed.

use std::path::Path;

use hcp_sandbox::{LevelCache, available_level};
use hcp_spec::Refusal;
use hcp_spec::audit::DEFAULT_TENANT;
use hcp_spec::config::Mode;
use hcp_store::{InstalledPack, PackRoot, Store, Verdict};

use crate::catalog::{LoadedPack, Unusable};
use crate::error::CoreError;
use crate::foresight::{self, Place};
use crate::home::Home;
use crate::mend::mend;
use crate::pipeline::Refused;
use crate::runtime::check_home;
use crate::settings::Settings;

/// How a finding is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Good,
    /// It works, and somebody may want to know.
    Notable,
    /// Calls that depend on it are refused.
    Broken,
}

impl Health {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Notable => "notable",
            Self::Broken => "broken",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What was looked at.
    pub subject: String,
    /// How it stands.
    pub health: Health,
    /// What was seen.
    pub seen: String,
    /// What mends it.
    pub mend: Option<String>,
}

impl Finding {
    fn good(subject: impl Into<String>, seen: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            health: Health::Good,
            seen: seen.into(),
            mend: None,
        }
    }

    fn notable(
        subject: impl Into<String>,
        seen: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            health: Health::Notable,
            mend: Some(mend.into()),
            ..Self::good(subject, seen)
        }
    }

    fn broken(subject: impl Into<String>, seen: impl Into<String>, mend: Option<String>) -> Self {
        Self {
            health: Health::Broken,
            mend,
            ..Self::good(subject, seen)
        }
    }
}

/// Looks at an installation. What the first findings break, the later ones are not looked for.
pub fn examine(home: &Home, floor: Option<&Path>) -> Vec<Finding> {
    let mut findings = vec![kernel(), clock()];
    let subject = "home";
    match check_home(home) {
        Ok(()) => findings.push(Finding::good(
            subject,
            home.data_folder().display().to_string(),
        )),
        Err(error) => {
            findings.push(Finding::broken(subject, error.to_string(), error.hint()));
            return findings;
        }
    }
    let settings = match Settings::read(home, floor) {
        Ok(settings) => settings,
        Err(error) => {
            findings.push(Finding::broken("config", error.to_string(), error.hint()));
            return findings;
        }
    };
    findings.push(config(home, &settings));
    findings.push(isolation(home, &settings));
    match open(home, &settings) {
        Ok((store, packs)) => {
            findings.push(trail(&store));
            findings.extend(sessions(&store));
            let tenants = store.tenant_count().unwrap_or(1);
            let loaded: Vec<_> = packs
                .iter()
                .map(|row| (row, LoadedPack::load(row, home)))
                .collect();
            findings.extend(
                loaded
                    .iter()
                    .map(|(row, pack)| examine_pack(home, &settings, tenants, row, pack)),
            );
            findings.extend(named_in_vain(&settings, &loaded));
        }
        Err(error) => findings.push(Finding::broken("store", error.to_string(), error.hint())),
    }
    findings
}

fn kernel() -> Finding {
    let name = rustix::system::uname();
    let seen = format!(
        "{} {}",
        name.sysname().to_string_lossy(),
        name.release().to_string_lossy()
    );
    Finding::good("kernel", seen)
}

/// A clock from before this was written would let sessions live and credentials seem fresh.
fn clock() -> Finding {
    let now = jiff::Timestamp::now();
    if now.as_second() > 1_760_000_000 {
        Finding::good("clock", format!("{now:.0}"))
    } else {
        Finding::broken(
            "clock",
            format!("{now:.0}"),
            Some("set the clock".to_owned()),
        )
    }
}

fn config(home: &Home, _: &Settings) -> Finding {
    let file = home.config_file();
    let there = if file.exists() {
        ""
    } else {
        " (absent: every default)"
    };
    Finding::good("config", format!("{}{there}", file.display()))
}

fn isolation(home: &Home, settings: &Settings) -> Finding {
    if settings.sandbox.mode == Mode::NativeLocal {
        return Finding::notable(
            "isolation",
            "native-local: tools run with limits and without isolation, as the config chooses",
            "set sandbox.mode = \"sandbox\" to have tools isolated",
        );
    }
    let found = available_level(LevelCache::Read(&home.isolation_file()));
    let asked = settings.sandbox.level;
    let text = format!(
        "level `{}`, and the config asks for `{}`",
        found.level.as_str(),
        asked.as_str()
    );
    if found.level < asked {
        let missing = found.missing.join(", ");
        return Finding::broken(
            "isolation",
            format!("{text}, so every call is refused at step 8; missing: {missing}"),
            Some("set sandbox.mode = \"native-local\" to run tools without isolation".to_owned()),
        );
    }
    Finding::good("isolation", text)
}

fn open(home: &Home, settings: &Settings) -> Result<(Store, Vec<InstalledPack>), CoreError> {
    let store = Store::open_to_read(&settings.store_file(home)?)?;
    let packs = store.packs()?;
    Ok((store, packs))
}

fn trail(store: &Store) -> Finding {
    match store.verify(None, None) {
        Ok(Verdict::Ok) => Finding::good("audit", "the trail verifies"),
        Ok(verdict) => Finding::broken(
            "audit",
            format!("the trail is {verdict}"),
            Some("keep the file as it is and look at who could write to it".to_owned()),
        ),
        Err(error) => Finding::broken("audit", error.to_string(), error.hint()),
    }
}

/// Every Principal that `init` made has a session that never ends; without it nothing is activated.
fn sessions(store: &Store) -> Option<Finding> {
    let all = match store.sessions() {
        Ok(all) => all,
        Err(error) => return Some(Finding::broken("sessions", error.to_string(), error.hint())),
    };
    let default = all
        .iter()
        .any(|session| session.name.is_some() && !session.closed);
    (!default).then(|| {
        let mend = Some("`hcp init` as the user who calls makes one".to_owned());
        Finding::broken("sessions", "there is no default session", mend)
    })
}

type Loaded<'a> = (&'a InstalledPack, Result<LoadedPack, Unusable>);

fn examine_pack(
    home: &Home,
    settings: &Settings,
    tenants: u64,
    row: &InstalledPack,
    pack: &Result<LoadedPack, Unusable>,
) -> Finding {
    let subject = format!("pack {}", row.id);
    let pack = match pack {
        Ok(pack) => pack,
        Err(Unusable::Pack(detail)) => {
            let mend = match row.root {
                PackRoot::Pinned => "add it again from where it came from",
                PackRoot::Linked(_) => "mend it where it is linked to",
            };
            return Finding::broken(subject, detail.clone(), Some(mend.to_owned()));
        }
        Err(Unusable::Store(refusal)) => {
            return Finding::broken(subject, refusal.to_string(), None);
        }
    };
    let place = Place {
        principal: "",
        tenant_id: DEFAULT_TENANT,
        tenants,
    };
    for key in pack.manifest.commands.keys() {
        if let Err(refused) = foresight::of_run(pack, key.as_str(), settings, home) {
            let seen = refused
                .detail
                .clone()
                .unwrap_or_else(|| refused.refusal.to_string());
            let mend = mend(&refused, &pack.id, key.as_str());
            return Finding::broken(subject, format!("`{key}` cannot run: {seen}"), mend);
        }
        if let Err(error) = foresight::of_mint(pack, key.as_str(), settings, &place) {
            let refused = Refused::from(Refusal::Binding(error.to_string()));
            let mend = mend(&refused, &pack.id, key.as_str());
            return Finding::broken(subject, format!("`{key}` gets no Binding: {error}"), mend);
        }
    }
    let from = match &row.root {
        PackRoot::Pinned => "pinned".to_owned(),
        PackRoot::Linked(path) => format!("linked to {}", path.display()),
    };
    Finding::good(subject, format!("{}, {from}", row.version))
}

/// What the config says about packs and verbs that are not there protects and provides nothing.
fn named_in_vain(settings: &Settings, packs: &[Loaded<'_>]) -> Vec<Finding> {
    let is_there = |target: &str| {
        let (id, verb) = target
            .split_once('.')
            .map_or((target, None), |(id, v)| (id, Some(v)));
        packs
            .iter()
            .filter(|(row, _)| row.id.as_str() == id)
            .any(|(_, pack)| match (pack, verb) {
                (Ok(pack), Some(verb)) => {
                    let commands = &pack.manifest.commands;
                    commands.contains_key(verb) || commands.contains_key(target)
                }
                _ => true,
            })
    };
    let config = &settings.config;
    let policies = config.policy.keys().map(|target| ("policy", target));
    let bindings = config.bindings.keys().map(|target| ("bindings", target));
    policies
        .chain(bindings)
        .filter(|(_, target)| !is_there(target))
        .map(|(section, target)| {
            Finding::notable(
                format!("[{section}.\"{target}\"]"),
                "names no installed pack or verb, and has no effect",
                "`hcp pack list` and `hcp pack show PACK` list what there is",
            )
        })
        .collect()
}
