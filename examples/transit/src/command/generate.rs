//! `transit generate`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Report;
use crate::error::TransitError;
use crate::feed::Feed;

/// Write the feed as the files of a folder.
#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The folder; made where it is absent.
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
}

#[derive(Serialize)]
struct Generated {
    stops: usize,
    trips: usize,
    files: Vec<&'static str>,
}

impl Generate {
    pub(super) fn run(&self, feed: &Feed) -> Result<Report, TransitError> {
        let files = feed.write(&self.into)?;
        let lines = vec![format!("{} files in {}", files.len(), self.into.display())];
        let generated = Generated {
            stops: feed.stops.len(),
            trips: feed.trips.len(),
            files,
        };
        Ok(Report::new(&generated, lines))
    }
}
