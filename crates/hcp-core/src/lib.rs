//! The heart of hcp: the nine steps of §6.3, and the acts of the operator that they judge by.
//!
//! A face hands over a [`Call`] and gets an [`Answer`]; it decides nothing itself. This crate looks
//! at no environment variable, writes to no terminal and knows no folder that it was not given.

mod answer;
mod call;
mod catalog;
mod composite;
mod error;
mod examination;
mod explanation;
mod floor;
mod hex;
mod home;
mod mend;
pub mod operator;
mod pipeline;
mod runtime;
mod scratch;
mod settings;
mod view;

pub use answer::{Answer, Metadata, Run};
pub use call::Call;
pub use catalog::{LoadedPack, Unusable};
pub use composite::{InnerCall, InnerReport, PlannedStep, State};
pub use error::CoreError;
pub use examination::{Finding, Health, examine};
pub use explanation::{Explanation, GovernanceSummary};
pub use home::Home;
pub use mend::mend;
pub use pipeline::{Note, Phase, Refused};
pub use runtime::{Runtime, open_to_read};
pub use settings::{SandboxSettings, Settings};
pub use view::View;
