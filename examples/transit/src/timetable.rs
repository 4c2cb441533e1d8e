//! The timetable of one day: every hop of every vehicle, in the order of departure.

use jiff::civil::Date;

use crate::clock::{DAY, Time};
use crate::feed::{Feed, Trip};

/// Time to change within a stop where the feed does not say, in seconds.
const CHANGE: u32 = 60;

/// One vehicle from one stop to its next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    /// The vehicle, by its position in [`Timetable::runs`].
    pub(crate) run: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) departs: Time,
    pub(crate) arrives: Time,
}

/// All that planning from a day on needs. Times count from the midnight of that day.
pub(crate) struct Timetable {
    /// By departure; hops of one vehicle in the order of its run.
    pub(crate) connections: Vec<Connection>,
    /// The trip of each run.
    pub(crate) runs: Vec<usize>,
    /// Seconds to change within each stop; never 0, so that no change takes no time.
    pub(crate) change: Vec<u32>,
    /// Where each stop can be left on foot, and the seconds that it takes.
    pub(crate) walks: Vec<Vec<(usize, u32)>>,
}

impl Timetable {
    /// The timetable of `date`: with what the day before still runs, and with the day after.
    pub(crate) fn of(feed: &Feed, date: Date) -> Self {
        let mut timetable = Self {
            connections: Vec::new(),
            runs: Vec::new(),
            change: vec![CHANGE; feed.stops.len()],
            walks: vec![Vec::new(); feed.stops.len()],
        };
        for transfer in &feed.transfers {
            let time = transfer.time.max(1);
            if transfer.from == transfer.to {
                if let Some(change) = timetable.change.get_mut(transfer.from) {
                    *change = time;
                }
            } else if let Some(walks) = timetable.walks.get_mut(transfer.from) {
                walks.push((transfer.to, time));
            }
        }
        let days = [date.yesterday().ok(), Some(date), date.tomorrow().ok()];
        for (day, shift) in days.into_iter().zip([0, DAY, 2 * DAY]) {
            let Some(day) = day else { continue };
            for (index, trip) in feed.trips.iter().enumerate() {
                let service = feed.services.get(trip.service);
                if service.is_some_and(|service| service.runs_on(day)) {
                    timetable.add(index, trip, shift);
                }
            }
        }
        timetable.connections.sort_by_key(|hop| hop.departs);
        timetable
    }

    /// Adds the hops of a trip. `shift` counts from the midnight before, where times begin; what lies
    /// before the day itself is left out.
    fn add(&mut self, index: usize, trip: &Trip, shift: u32) {
        let run = self.runs.len();
        self.runs.push(index);
        let shifted = |time: Time| time.after(shift).0.checked_sub(DAY).map(Time);
        for (from, to) in trip.calls.iter().zip(trip.calls.iter().skip(1)) {
            if let (Some(departs), Some(arrives)) = (shifted(from.departs), shifted(to.arrives)) {
                self.connections.push(Connection {
                    run,
                    from: from.stop,
                    to: to.stop,
                    departs,
                    arrives,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::Timetable;
    use crate::clock::Time;

    #[test]
    fn a_day_has_what_the_day_before_still_runs() {
        let feed = crate::city::feed();
        let sunday = Timetable::of(&feed, date(2026, 3, 1));
        let monday = Timetable::of(&feed, date(2026, 3, 2));
        let early = |timetable: &Timetable| {
            let mut hops = timetable.connections.iter();
            hops.any(|hop| hop.departs < Time(2400))
        };
        assert!(early(&sunday) && early(&monday));
        let ordered =
            |timetable: &Timetable| timetable.connections.is_sorted_by_key(|hop| hop.departs);
        assert!(ordered(&sunday) && ordered(&monday));
        let on_the_day = |timetable: &Timetable| {
            let hops = timetable.connections.iter();
            hops.filter(|hop| (Time(36_000)..Time(39_600)).contains(&hop.departs))
                .count()
        };
        assert!(on_the_day(&monday) > on_the_day(&sunday));
    }
}
