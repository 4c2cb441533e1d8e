//! `hcp init`: make an installation.

use std::path::Path;

use clap::Args;
use hcp_core::operator::initialise;
use hcp_spec::ExitStatus;
use serde_json::json;

use crate::ambient::{Ambient, FLOOR, caller};
use crate::failure::Failure;
use crate::terminal::{Terminal, Tone};

/// Makes what is missing and leaves the rest as it is. Grants no pack capability, writes no config
#[derive(Debug, Args)]
pub(crate) struct Init {}

impl Init {
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self, ambient: &Ambient, terminal: &Terminal) -> Result<ExitStatus, Failure> {
        let home = ambient.home()?;
        let made = initialise(&home, Some(Path::new(FLOOR)), &caller())?;
        let data = json!({
            "home": home.data_folder(),
            "principal": made.principal.as_str(),
            "created": made.created,
        });
        terminal.show(&data, |page| {
            let what = if made.created {
                "made"
            } else {
                "was there already:"
            };
            page.marked(
                Tone::Good,
                "✓",
                &format!("{what} {}", home.data_folder().display()),
            );
            page.field("you are", made.principal.as_str());
            page.field("next", "hcp pack add DIR");
        });
        Ok(ExitStatus::Ok)
    }
}
