//! A feed: the tables of GTFS that planning needs, in the order of their files.

mod csv;
mod read;
mod write;

use jiff::civil::{Date, Weekday};

use crate::clock::Time;

/// The whole of a feed. Tables refer to each other by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Feed {
    /// `stops.txt`.
    pub(crate) stops: Vec<Stop>,
    /// `routes.txt`.
    pub(crate) routes: Vec<Route>,
    /// `calendar.txt`.
    pub(crate) services: Vec<Service>,
    /// `trips.txt` with the rows of `stop_times.txt`.
    pub(crate) trips: Vec<Trip>,
    /// `transfers.txt`.
    pub(crate) transfers: Vec<Transfer>,
    /// `fare_attributes.txt` with the zones of `fare_rules.txt`.
    pub(crate) fares: Vec<Fare>,
}

/// A place where vehicles stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) zone: String,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// The days on which trips run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) id: String,
    /// Monday first.
    pub(crate) days: [bool; 7],
    pub(crate) first: Date,
    pub(crate) last: Date,
}

/// One run of a vehicle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trip {
    pub(crate) id: String,
    pub(crate) route: usize,
    pub(crate) service: usize,
    /// In the order of the run; times never go back.
    pub(crate) calls: Vec<StopTime>,
}

/// A vehicle at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopTime {
    pub(crate) stop: usize,
    pub(crate) arrives: Time,
    pub(crate) departs: Time,
}

/// How long it takes to change within a stop, or to walk to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// In seconds.
    pub(crate) time: u32,
}

/// What a journey costs that touches exactly these zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fare {
    pub(crate) id: String,
    /// In hundredths.
    pub(crate) price: u32,
    pub(crate) currency: String,
    pub(crate) zones: Vec<String>,
}

impl Service {
    /// Whether its trips begin on this day.
    pub(crate) fn runs_on(&self, date: Date) -> bool {
        let day = match date.weekday() {
            Weekday::Monday => 0,
            Weekday::Tuesday => 1,
            Weekday::Wednesday => 2,
            Weekday::Thursday => 3,
            Weekday::Friday => 4,
            Weekday::Saturday => 5,
            Weekday::Sunday => 6,
        };
        self.first <= date && date <= self.last && self.days.get(day).is_some_and(|runs| *runs)
    }
}

impl Feed {
    /// The stop with this id or, letter case aside, this name.
    pub(crate) fn stop(&self, text: &str) -> Option<usize> {
        let by_id = self.stops.iter().position(|stop| stop.id == text);
        by_id.or_else(|| {
            let wanted = text.to_lowercase();
            let mut stops = self.stops.iter();
            stops.position(|stop| stop.name.to_lowercase() == wanted)
        })
    }

    /// The name of the stop at a position.
    pub(crate) fn stop_name(&self, stop: usize) -> &str {
        self.stops.get(stop).map_or("", |stop| &stop.name)
    }

    /// The name of the line that a trip belongs to.
    pub(crate) fn line_of(&self, trip: usize) -> &str {
        let route = self
            .trips
            .get(trip)
            .and_then(|trip| self.routes.get(trip.route));
        route.map_or("", |route| &route.name)
    }
}
