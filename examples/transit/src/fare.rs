//! What a journey costs: the fare whose zones are exactly those that it touches.

use std::collections::BTreeSet;

use crate::feed::{Fare, Feed};

/// The fare for a journey that touches these stops; `None` where the feed has none for it.
pub(crate) fn fare_for<'a>(feed: &'a Feed, stops: &[usize]) -> Option<&'a Fare> {
    let touched: BTreeSet<&str> = stops
        .iter()
        .filter_map(|stop| feed.stops.get(*stop))
        .map(|stop| stop.zone.as_str())
        .collect();
    let fits = |fare: &&Fare| {
        fare.zones
            .iter()
            .map(String::as_str)
            .collect::<BTreeSet<_>>()
            == touched
    };
    feed.fares.iter().filter(fits).min_by_key(|fare| fare.price)
}

/// Hundredths as a decimal, always with two places.
pub(crate) fn decimal(hundredths: u32) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
