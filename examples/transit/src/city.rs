//! The built-in feed: Marlow, a made-up town on a river. Four lines, two of which cross the river, a
//! walk between two stops that stand close, three fare zones around the middle.

use jiff::civil::{Date, date};

use crate::clock::Time;
use crate::feed::{Fare, Feed, Route, Service, Stop, StopTime, Transfer, Trip};

const STOPS: [(&str, &str, &str); 18] = [
    ("central", "Central Station", "A"),
    ("market", "Market Square", "A"),
    ("townhall", "Town Hall", "A"),
    ("museum", "Museum, Riverside", "A"),
    ("bridge", "Old Bridge", "A"),
    ("eastgate", "East Gate", "B"),
    ("hospital", "Hospital", "B"),
    ("university", "University", "B"),
    ("stadium", "Stadium", "B"),
    ("gardens", "Botanical Gardens", "B"),
    ("harbour", "Harbour", "B"),
    ("lighthouse", "Lighthouse", "C"),
    ("airport", "Airport", "C"),
    ("northfield", "Northfield", "C"),
    ("mill", "Mill Lane", "B"),
    ("quarry", "Quarry", "C"),
    ("depot", "Depot", "C"),
    ("ferry", "Ferry Pier", "A"),
];

/// Line, minutes between two trips on weekdays, and the stops with the minutes since the one before.
type Line = (&'static str, u32, &'static [(&'static str, u32)]);

const LINES: [Line; 4] = [
    (
        "T1",
        10,
        &[
            ("northfield", 0),
            ("university", 6),
            ("townhall", 5),
            ("market", 2),
            ("central", 3),
            ("eastgate", 5),
            ("hospital", 3),
            ("airport", 9),
        ],
    ),
    (
        "T2",
        12,
        &[
            ("stadium", 0),
            ("mill", 4),
            ("market", 5),
            ("museum", 3),
            ("bridge", 2),
            ("harbour", 6),
            ("lighthouse", 8),
        ],
    ),
    (
        "B3",
        20,
        &[
            ("central", 0),
            ("townhall", 4),
            ("gardens", 6),
            ("stadium", 5),
            ("quarry", 9),
            ("depot", 4),
        ],
    ),
    (
        "B4",
        30,
        &[
            ("ferry", 0),
            ("harbour", 7),
            ("hospital", 11),
            ("depot", 14),
        ],
    ),
];

/// From, to, and the seconds that it takes; the same stop twice is the time to change there.
const TRANSFERS: [(&str, &str, u32); 8] = [
    ("central", "central", 180),
    ("market", "market", 120),
    ("stadium", "stadium", 60),
    ("hospital", "hospital", 120),
    ("townhall", "townhall", 60),
    ("museum", "ferry", 240),
    ("ferry", "museum", 240),
    ("depot", "depot", 60),
];

const FARES: [(&str, u32, &[&str]); 6] = [
    ("inner", 240, &["A"]),
    ("ring", 240, &["B"]),
    ("outer", 240, &["C"]),
    ("inner_ring", 360, &["A", "B"]),
    ("ring_outer", 360, &["B", "C"]),
    ("whole", 490, &["A", "B", "C"]),
];

const FIRST: Date = date(2020, 1, 1);
const LAST: Date = date(2099, 12, 31);

/// The built-in feed; the same whenever it is made.
pub(crate) fn feed() -> Feed {
    let stops: Vec<Stop> = STOPS
        .iter()
        .map(|(id, name, zone)| Stop {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            zone: (*zone).to_owned(),
        })
        .collect();
    let routes = LINES.iter().map(|(name, ..)| Route {
        id: name.to_lowercase(),
        name: (*name).to_owned(),
    });
    let service = |id: &str, days| Service {
        id: id.to_owned(),
        days,
        first: FIRST,
        last: LAST,
    };
    let transfers = TRANSFERS.iter().map(|(from, to, time)| Transfer {
        from: stop(from),
        to: stop(to),
        time: *time,
    });
    let fares = FARES.iter().map(|(id, price, zones)| Fare {
        id: (*id).to_owned(),
        price: *price,
        currency: "EUR".to_owned(),
        zones: zones.iter().map(|zone| (*zone).to_owned()).collect(),
    });
    Feed {
        stops,
        routes: routes.collect(),
        services: vec![
            service("weekday", [true, true, true, true, true, false, false]),
            service("weekend", [false, false, false, false, false, true, true]),
        ],
        trips: trips(),
        transfers: transfers.collect(),
        fares: fares.collect(),
    }
}

/// Weekdays from 5 until past midnight, twice as long between two trips on weekends.
fn trips() -> Vec<Trip> {
    let mut trips = Vec::new();
    for (route, (name, headway, calls)) in LINES.iter().enumerate() {
        let back: Vec<(&str, u32)> = reversed(calls);
        for (direction, calls) in [("out", calls.to_vec()), ("in", back)] {
            for (service, factor) in [("weekday", 1), ("weekend", 2)].iter().enumerate() {
                let (word, factor) = *factor;
                let mut start = 5 * 60 + (u32::try_from(route).unwrap_or(0) * 3) % headway;
                while start < 24 * 60 + 20 {
                    trips.push(Trip {
                        id: format!("{}-{direction}-{word}-{start}", name.to_lowercase()),
                        route,
                        service,
                        calls: stop_times(&calls, start),
                    });
                    start += headway * factor;
                }
            }
        }
    }
    trips
}

fn stop_times(calls: &[(&str, u32)], start: u32) -> Vec<StopTime> {
    let mut minutes = start;
    calls
        .iter()
        .map(|(id, ride)| {
            minutes += ride;
            let arrives = Time(minutes * 60);
            StopTime {
                stop: stop(id),
                arrives,
                departs: arrives.after(20),
            }
        })
        .collect()
}

/// The same line the other way.
fn reversed<'a>(calls: &[(&'a str, u32)]) -> Vec<(&'a str, u32)> {
    let rides = calls.iter().skip(1).map(|(_, ride)| *ride).rev();
    let rides = std::iter::once(0).chain(rides);
    let ids = calls.iter().rev().map(|(id, _)| *id);
    ids.zip(rides).collect()
}

/// The position of a stop. An id that is not in the table above would be the first stop; a test sees
/// to it that there is none.
fn stop(id: &str) -> usize {
    STOPS
        .iter()
        .position(|(known, ..)| *known == id)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{LINES, STOPS, TRANSFERS, feed};

    #[test]
    fn every_id_is_a_stop_and_every_stop_is_served() {
        let on_lines = LINES
            .iter()
            .flat_map(|(_, _, calls)| calls.iter().map(|(id, _)| *id));
        let in_transfers = TRANSFERS.iter().flat_map(|(from, to, _)| [*from, *to]);
        for id in on_lines.clone().chain(in_transfers) {
            assert!(STOPS.iter().any(|(known, ..)| *known == id), "{id}");
        }
        for (id, ..) in STOPS {
            assert!(on_lines.clone().any(|served| served == id), "{id}");
        }
    }

    #[test]
    fn the_city_is_the_same_whenever_it_is_made() {
        assert_eq!(feed(), feed());
    }
}
