//! `transit departures`.

use clap::Args;
use serde::Serialize;

use super::{Report, When, find_stop};
use crate::clock::Time;
use crate::error::TransitError;
use crate::feed::Feed;
use crate::timetable::Timetable;

/// Show what leaves a stop next.
#[derive(Debug, Args)]
pub(crate) struct Departures {
    /// The stop, by id or name.
    #[arg(long)]
    stop: String,
    #[command(flatten)]
    when: When,
    /// At most so many.
    #[arg(long, default_value_t = 10)]
    limit: usize,
}

#[derive(Serialize)]
struct Departure {
    departs: Time,
    line: String,
    towards: String,
}

impl Departures {
    pub(super) fn run(&self, feed: &Feed) -> Result<Report, TransitError> {
        let stop = find_stop(feed, &self.stop)?;
        let (timetable, at) = (Timetable::of(feed, self.when.day()), self.when.time());
        let hops = timetable.connections.iter();
        let leaving = hops.filter(|hop| hop.from == stop && hop.departs >= at);
        let departures: Vec<_> = leaving
            .take(self.limit)
            .filter_map(|hop| {
                let trip = *timetable.runs.get(hop.run)?;
                let last = feed.trips.get(trip)?.calls.last()?;
                Some(Departure {
                    departs: hop.departs,
                    line: feed.line_of(trip).to_owned(),
                    towards: feed.stop_name(last.stop).to_owned(),
                })
            })
            .collect();
        let lines = departures
            .iter()
            .map(|one| format!("{}  {:<4}  {}", one.departs, one.line, one.towards));
        Ok(Report::new(&departures, lines.collect()))
    }
}
