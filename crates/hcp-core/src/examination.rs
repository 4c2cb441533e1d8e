//! What `doctor` looks at: everything that calls depend on, one finding each, with one mend.
//!
//! It only looks: the store is opened to be read, nothing is minted (§6.7) and nothing is changed.

use std::path::Path;

use hcp_sandbox::{BinError, BinSearch, LevelCache, available_level, check_bin};
use hcp_spec::config::Mode;
use hcp_spec::manifest::Kind;
use hcp_store::{InstalledPack, Store, Verdict};

use crate::catalog::{LoadedPack, Unusable};
use crate::error::CoreError;
use crate::home::Home;
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
            findings.extend(packs.iter().map(|pack| examine_pack(home, &settings, pack)));
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

fn examine_pack(home: &Home, settings: &Settings, row: &InstalledPack) -> Finding {
    let subject = format!("pack {}", row.id);
    let pack = match LoadedPack::load(row, home) {
        Ok(pack) => pack,
        Err(Unusable::Pack(detail)) => {
            let mend = format!("`hcp pack remove {}`, then add it again", row.id);
            return Finding::broken(subject, detail, Some(mend));
        }
        Err(Unusable::Store(refusal)) => {
            return Finding::broken(subject, refusal.to_string(), None);
        }
    };
    let wraps = pack
        .manifest
        .commands
        .values()
        .any(|c| *pack.manifest.kind_of(c) == Kind::Wrap);
    let Some(wrap) = pack.manifest.wrap.as_ref().filter(|_| wraps) else {
        return Finding::good(subject, row.version.clone());
    };
    let sandbox = &settings.sandbox;
    let allowed: Vec<String> = sandbox
        .allow_bins
        .iter()
        .chain(&row.allow_bins)
        .cloned()
        .collect();
    let search = BinSearch {
        pack_root: &pack.root,
        path: &sandbox.path,
        allowed: &allowed,
    };
    match check_bin(&wrap.bin, &search) {
        Ok(bin) => Finding::good(
            subject,
            format!("{}, runs {}", row.version, bin.path().display()),
        ),
        Err(BinError::NotAllowlisted) => Finding::broken(
            subject,
            format!("bin `{}` is not allowlisted", wrap.bin),
            Some(format!(
                "list `{}` in sandbox.allow_bins of the config",
                wrap.bin
            )),
        ),
        Err(BinError::NotFound { detail } | BinError::Unfit { detail }) => {
            let mend = format!("install `{}`, or mend what is wrong with it", wrap.bin);
            Finding::broken(subject, detail, Some(mend))
        }
    }
}
