//! `transit stops`.

use clap::Args;
use serde::Serialize;

use super::Report;
use crate::feed::Feed;

/// List the stops.
#[derive(Debug, Args)]
pub(crate) struct Stops {
    /// Only those with this in their name, letter case aside.
    #[arg(long)]
    name: Option<String>,
}

#[derive(Serialize)]
struct Listed<'a> {
    stop: &'a str,
    name: &'a str,
    zone: &'a str,
}

impl Stops {
    pub(super) fn run(&self, feed: &Feed) -> Report {
        let wanted = self.name.as_deref().unwrap_or_default().to_lowercase();
        let stops = feed.stops.iter();
        let listed: Vec<_> = stops
            .filter(|stop| stop.name.to_lowercase().contains(&wanted))
            .map(|stop| Listed {
                stop: &stop.id,
                name: &stop.name,
                zone: &stop.zone,
            })
            .collect();
        let lines = listed
            .iter()
            .map(|stop| format!("{:<12}  {:<22}  {}", stop.stop, stop.name, stop.zone));
        Report::new(&listed, lines.collect())
    }
}
