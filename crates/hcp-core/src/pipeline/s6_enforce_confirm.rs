//! Step 6: the confirm gate; right behind it the arguments, and where the policy wants a person's
//! approval as well, the gate once more.
//!
//! Nothing is minted for a call that could not run, so the whole argv is rendered here.

use std::path::Path;
use std::sync::Arc;

use hcp_pack::{CheckedArguments, PreparedCommand};
use hcp_sandbox::{GrantedPath, network_allows};
use hcp_spec::manifest::{Access, Kind};
use hcp_spec::{Refusal, Step};

use super::mode::{Judgement, Mode, Refused};
use super::s3_resolve_policy::Governance;
use super::s4_authenticate::Identity;
use super::s5_assert_capability::Authorized;
use super::walk::Walk;
use crate::call::Call;
use crate::catalog::LoadedPack;
use crate::composite::{Plan, check_reach};

/// What the call will run with.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The argv behind the bin; `None` for a kind that has none.
    pub argv: Option<Vec<String>>,
    /// What the arguments name outside the jail.
    pub resources: Vec<Resource>,
    /// The plan behind a composite, with the arguments that it takes values from.
    pub composite: Option<(Arc<Plan>, CheckedArguments)>,
}

/// Something outside the jail that an argument of this call names.
#[derive(Debug)]
pub(crate) enum Resource {
    /// A path to read.
    Read(GrantedPath),
    /// A path to write.
    Write(GrantedPath),
    /// A `host:port` to connect to.
    Connect(String),
}

impl Resource {
    /// What happens to it, for people.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Read(path) => format!("reads {}", path.path().display()),
            Self::Write(path) => format!("writes {}", path.path().display()),
            Self::Connect(endpoint) => format!("connects to {endpoint}"),
        }
    }
}

/// A call that is allowed, confirmed and able to run.
pub(super) struct Confirmed<M: Mode> {
    pub(super) call: Arc<Call>,
    pub(super) pack: M::Fact<Arc<LoadedPack>>,
    pub(super) governance: M::Fact<Governance>,
    pub(super) identity: M::Fact<Identity>,
    pub(super) prepared: M::Fact<Prepared>,
}

pub(super) fn enforce_confirm<M: Mode>(
    walk: &mut Walk<'_, M>,
    authorized: Authorized<M>,
) -> Result<Confirmed<M>, Refused> {
    walk.enter(Step::EnforceConfirm);
    let Authorized {
        call,
        pack,
        governance,
        identity,
    } = authorized;
    let known = M::known(&governance).cloned();
    let gate = match &known {
        Some(governance) if governance.confirm && !call.is_confirmed() => {
            Judgement::Refused(Refusal::ConfirmRequired.into())
        }
        Some(_) => Judgement::Passed(()),
        None => Judgement::Unjudged,
    };
    walk.settle(Step::EnforceConfirm, gate)?;
    let arguments = match (M::known(&pack), &known) {
        (Some(pack), Some(_)) => match prepare(walk, &call, pack) {
            Ok(prepared) => Judgement::Passed(prepared),
            Err(refused) => Judgement::Refused(refused),
        },
        _ => Judgement::Unjudged,
    };
    let prepared = walk.settle(Step::EnforceConfirm, arguments)?;
    let approval = match &known {
        // There is no way to give an approval, so none can have been given.
        Some(governance) if governance.approval.is_some() => Judgement::Refused(Refused::because(
            Refusal::ConfirmRequired,
            "the policy wants a person's approval, and this version has no way to give one",
        )),
        Some(_) => Judgement::Passed(()),
        None => Judgement::Unjudged,
    };
    walk.settle(Step::EnforceConfirm, approval)?;
    Ok(Confirmed {
        call,
        pack,
        governance,
        identity,
        prepared,
    })
}

fn prepare<M: Mode>(
    walk: &Walk<'_, M>,
    call: &Call,
    pack: &Arc<LoadedPack>,
) -> Result<Prepared, Refused> {
    if let Some(fault) = &call.fault {
        return Err(Refusal::Arguments(fault.clone()).into());
    }
    let unusable = |error: hcp_pack::PackError| {
        Refused::because(Refusal::NoPolicy(call.verb_key.clone()), error.to_string())
    };
    let command = pack.prepared(&call.verb_key).map_err(unusable)?;
    let arguments = command.check(&call.args).map_err(refuse)?;
    let resources = resources(walk, &arguments)?;
    let argv = argv_of(pack, call, &command, &arguments)?;
    let composite = match kind_of(pack, call) {
        Some(Kind::Composite) => Some((plan_of(walk, call, pack)?, arguments)),
        _ => None,
    };
    Ok(Prepared {
        argv,
        resources,
        composite,
    })
}

/// The plan of a composite, after judging once more what it reaches: the packs that it calls may have
/// changed since it was added.
fn plan_of<M: Mode>(
    walk: &Walk<'_, M>,
    call: &Call,
    pack: &Arc<LoadedPack>,
) -> Result<Arc<Plan>, Refused> {
    let find = |id: &str| walk.view.pack(id).ok().flatten();
    let no_policy = || Refusal::NoPolicy(call.verb_key.clone());
    check_reach(&find, &walk.view.settings, pack, &call.verb_key).map_err(|overreach| {
        let refusal = if overreach.is_ungated {
            Refusal::ConfirmRequired
        } else {
            no_policy()
        };
        Refused::because(refusal, overreach.what)
    })?;
    let plan = pack.plan(&call.verb_key);
    plan.map_err(|error| Refused::because(no_policy(), error.to_string()))
}

fn kind_of<'a>(pack: &'a LoadedPack, call: &Call) -> Option<&'a Kind> {
    let command = pack.manifest.commands.get(call.verb_key.as_str())?;
    Some(pack.manifest.kind_of(command))
}

fn argv_of(
    pack: &LoadedPack,
    call: &Call,
    command: &PreparedCommand,
    arguments: &CheckedArguments,
) -> Result<Option<Vec<String>>, Refused> {
    match kind_of(pack, call) {
        Some(Kind::Wrap) => command.render(arguments).map(Some).map_err(refuse),
        _ => Ok(None),
    }
}

fn resources<M: Mode>(
    walk: &Walk<'_, M>,
    arguments: &CheckedArguments,
) -> Result<Vec<Resource>, Refused> {
    let roots = &walk.view.settings.roots;
    arguments
        .resources()
        .map(|named| {
            let path = Path::new(named.value);
            let granted = match named.access {
                Access::Read => roots.to_read(path).map(Resource::Read),
                Access::Write => roots.to_write(path).map(Resource::Write),
                Access::Connect => network_allows(&walk.view.settings.sandbox.network, named.value)
                    .then(|| Resource::Connect(named.value.to_owned())),
            };
            granted.ok_or_else(|| {
                let text = format!("{} is outside what the operator opened", named.name);
                Refused::from(Refusal::Arguments(text))
            })
        })
        .collect()
}

fn refuse(error: impl std::fmt::Display) -> Refused {
    Refusal::Arguments(error.to_string()).into()
}
