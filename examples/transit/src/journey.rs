//! A way as travellers read it: from where to where, when, in what, for how much.

use serde::Serialize;
use serde_json::Number;

use crate::clock::Time;
use crate::fare::{decimal, fare_for};
use crate::feed::Feed;
use crate::search::Leg;
use crate::timetable::Timetable;

/// A planned journey.
#[derive(Debug, Serialize)]
pub(crate) struct Journey {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) date: String,
    pub(crate) departs: Time,
    pub(crate) arrives: Time,
    pub(crate) minutes: u32,
    pub(crate) transfers: usize,
    /// With two decimals; `null` where the feed has no fare for it.
    pub(crate) price: Option<Number>,
    pub(crate) currency: Option<String>,
    pub(crate) legs: Vec<Part>,
}

/// One part of a journey.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    /// The line; `null` on foot.
    pub(crate) line: Option<String>,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) departs: Time,
    pub(crate) arrives: Time,
}

impl Journey {
    /// Tells the legs of a way, of which there is at least one.
    pub(crate) fn of(
        feed: &Feed,
        timetable: &Timetable,
        date: String,
        legs: &[Leg],
    ) -> Option<Self> {
        let mut parts = Vec::with_capacity(legs.len());
        let mut touched = Vec::new();
        for leg in legs {
            parts.push(part(feed, timetable, *leg, &mut touched)?);
        }
        let (first, last) = (parts.first()?, parts.last()?);
        let (departs, arrives) = (first.departs, last.arrives);
        let fare = fare_for(feed, &touched);
        let rides = parts.iter().filter(|part| part.line.is_some()).count();
        Some(Self {
            from: first.from.clone(),
            to: last.to.clone(),
            date,
            departs,
            arrives,
            minutes: arrives.0.saturating_sub(departs.0).div_ceil(60),
            transfers: rides.saturating_sub(1),
            price: fare.and_then(|fare| decimal(fare.price).parse().ok()),
            currency: fare.map(|fare| fare.currency.clone()),
            legs: parts,
        })
    }

    /// The journey in lines, for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} to {}, {} to {}, {} min, {}",
            self.from,
            self.to,
            self.departs,
            self.arrives,
            self.minutes,
            match (&self.price, &self.currency) {
                (Some(price), Some(currency)) => format!("{price} {currency}"),
                _ => "no fare known".to_owned(),
            }
        )];
        lines.extend(self.legs.iter().map(|part| {
            let how = part.line.as_deref().unwrap_or("walk");
            let Part {
                from,
                to,
                departs,
                arrives,
                ..
            } = part;
            format!("  {departs}  {how:<6}  {from} to {to}, {arrives}")
        }));
        lines
    }
}

fn part(feed: &Feed, timetable: &Timetable, leg: Leg, touched: &mut Vec<usize>) -> Option<Part> {
    let name = |stop: usize| feed.stop_name(stop).to_owned();
    Some(match leg {
        Leg::Walk {
            from,
            to,
            departs,
            arrives,
        } => Part {
            line: None,
            from: name(from),
            to: name(to),
            departs,
            arrives,
        },
        Leg::Ride { first, last } => {
            let (board, alight) = (
                timetable.connections.get(first)?,
                timetable.connections.get(last)?,
            );
            // A ride touches the zones of every stop on the way.
            let on_the_way = timetable.connections.get(first..=last)?.iter();
            let hops = on_the_way.filter(|hop| hop.run == board.run);
            touched.push(board.from);
            touched.extend(hops.map(|hop| hop.to));
            let trip = timetable.runs.get(board.run).copied()?;
            Part {
                line: Some(feed.line_of(trip).to_owned()),
                from: name(board.from),
                to: name(alight.to),
                departs: board.departs,
                arrives: alight.arrives,
            }
        }
    })
}
