//! `transit plan`.

use clap::Args;

use super::{Report, When, find_stop};
use crate::error::TransitError;
use crate::feed::Feed;
use crate::journey::Journey;
use crate::search::earliest_arrival;
use crate::timetable::Timetable;

/// Find the way that arrives first, and what it costs.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Stop to start from, by id or name [default: the first stop of the feed].
    #[arg(long)]
    from: Option<String>,
    /// Stop to go to, by id or name.
    #[arg(long)]
    to: String,
    #[command(flatten)]
    when: When,
}

impl Plan {
    pub(super) fn run(&self, feed: &Feed) -> Result<Report, TransitError> {
        let from = match &self.from {
            Some(from) => find_stop(feed, from)?,
            None => 0,
        };
        let to = find_stop(feed, &self.to)?;
        if from == to {
            return Err(TransitError::SameStop(feed.stop_name(to).to_owned()));
        }
        let (date, at) = (self.when.day(), self.when.time());
        let timetable = Timetable::of(feed, date);
        let journey = earliest_arrival(&timetable, from, to, at)
            .and_then(|legs| Journey::of(feed, &timetable, date.to_string(), &legs))
            .ok_or_else(|| TransitError::NoWay {
                from: feed.stop_name(from).to_owned(),
                to: feed.stop_name(to).to_owned(),
                at: at.to_string(),
                date: date.to_string(),
            })?;
        Ok(Report::new(&journey, journey.lines()))
    }
}
