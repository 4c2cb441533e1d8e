//! The commands, a file each: the arguments, then what is done with them.

mod departures;
mod generate;
mod plan;
mod stops;

use clap::{Args, Subcommand};
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

use crate::clock::Time;
use crate::error::TransitError;
use crate::feed::Feed;

/// What can be asked of a timetable.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the way that arrives first, and what it costs.
    Plan(plan::Plan),
    /// List the stops.
    Stops(stops::Stops),
    /// Show what leaves a stop next.
    Departures(departures::Departures),
    /// Write the feed as the files of a folder.
    Generate(generate::Generate),
}

/// An answer in both of its forms.
pub(crate) struct Report {
    /// One JSON document.
    pub(crate) json: String,
    /// The same for people.
    pub(crate) lines: Vec<String>,
}

impl Command {
    /// Does what the command says.
    ///
    /// # Errors
    /// What the timetable does not have, and what keeps files from being written.
    pub(crate) fn run(&self, feed: &Feed) -> Result<Report, TransitError> {
        match self {
            Self::Plan(command) => command.run(feed),
            Self::Stops(command) => Ok(command.run(feed)),
            Self::Departures(command) => command.run(feed),
            Self::Generate(command) => command.run(feed),
        }
    }
}

impl Report {
    fn new(answer: &impl serde::Serialize, lines: Vec<String>) -> Self {
        Self {
            // What is answered here always has a JSON form: text, numbers and lists of them.
            json: serde_json::to_string(answer).unwrap_or_default(),
            lines,
        }
    }
}

/// From when on.
#[derive(Debug, Args)]
struct When {
    /// Time of day, like `08:30` [default: now, in UTC].
    #[arg(long, value_parser = Time::parse)]
    at: Option<Time>,
    /// Day, like `2026-03-01` [default: today, in UTC].
    #[arg(long)]
    date: Option<Date>,
}

impl When {
    fn day(&self) -> Date {
        self.date.unwrap_or_else(|| now().date())
    }

    fn time(&self) -> Time {
        self.at.unwrap_or_else(|| {
            let part = |number: i8| u32::try_from(number).unwrap_or(0);
            let time = now().time();
            Time(part(time.hour()) * 3600 + part(time.minute()) * 60 + part(time.second()))
        })
    }
}

fn now() -> jiff::civil::DateTime {
    TimeZone::UTC.to_datetime(Timestamp::now())
}

fn find_stop(feed: &Feed, text: &str) -> Result<usize, TransitError> {
    let stop = feed.stop(text);
    stop.ok_or_else(|| TransitError::UnknownStop(text.to_owned()))
}
