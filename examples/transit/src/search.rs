//! The earliest arrival, by scanning connections: one pass over the day in the order of departure,
//! in which each hop is either within reach or not.
//!
//! A way is a run of rides, with a change or one walk between two of them, and a walk at either end.
//! When a hop is looked at, everything that could bring somebody to its stop in time has been looked
//! at before, since no change takes no time.

use crate::clock::Time;
use crate::timetable::Timetable;

/// One part of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leg {
    /// In one vehicle; both hops by their position in the timetable.
    Ride { first: usize, last: usize },
    /// On foot.
    Walk {
        from: usize,
        to: usize,
        departs: Time,
        arrives: Time,
    },
}

/// How somebody comes to be ready at a stop.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Start,
    Ride {
        first: usize,
        last: usize,
    },
    Walk {
        from: usize,
        departs: Time,
        ride: Option<(usize, usize)>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Label {
    time: Time,
    /// How many vehicles it took.
    rides: u32,
    cause: Cause,
}

impl Label {
    /// Earlier, or after fewer rides.
    const fn is_better_than(&self, other: &Self) -> bool {
        self.time.0 < other.time.0 || (self.time.0 == other.time.0 && self.rides < other.rides)
    }
}

/// The way from one stop to another that arrives first, when leaving at `at` or later.
pub(crate) fn earliest_arrival(
    timetable: &Timetable,
    from: usize,
    to: usize,
    at: Time,
) -> Option<Vec<Leg>> {
    let mut scan = Scan {
        timetable,
        to,
        ready: vec![None; timetable.change.len()],
        arrived: vec![None; timetable.change.len()],
        boarded: vec![None; timetable.runs.len()],
        goal: None,
    };
    scan.improve(
        from,
        Label {
            time: at,
            rides: 0,
            cause: Cause::Start,
        },
    );
    scan.walk(from, at, 0, None);
    let start = timetable
        .connections
        .partition_point(|hop| hop.departs < at);
    for (index, hop) in timetable.connections.iter().enumerate().skip(start) {
        if scan.goal.is_some_and(|goal| goal.time <= hop.departs) {
            break;
        }
        scan.look_at(index, *hop);
    }
    scan.way()
}

struct Scan<'a> {
    timetable: &'a Timetable,
    to: usize,
    /// From when on somebody can board at each stop.
    ready: Vec<Option<Label>>,
    /// When the first ride reaches each stop.
    arrived: Vec<Option<Time>>,
    /// The hop at which each vehicle is boarded, and the rides before.
    boarded: Vec<Option<(usize, u32)>>,
    goal: Option<Label>,
}

impl Scan<'_> {
    fn look_at(&mut self, index: usize, hop: crate::timetable::Connection) {
        let ready = self.ready.get(hop.from).copied().flatten();
        let Some(boarded) = self.boarded.get_mut(hop.run) else {
            return;
        };
        // Boarding here instead, after fewer rides, makes the same vehicle no later.
        if let Some(label) = ready.filter(|label| label.time <= hop.departs)
            && boarded.is_none_or(|(_, rides)| label.rides < rides)
        {
            *boarded = Some((index, label.rides));
        }
        let Some((first, before)) = *boarded else {
            return;
        };
        let rides = before + 1;
        let arrived = self.arrived.get(hop.to).copied().flatten();
        if arrived.is_some_and(|before| before < hop.arrives) {
            return;
        }
        if let Some(arrived) = self.arrived.get_mut(hop.to) {
            *arrived = Some(hop.arrives);
        }
        let cause = Cause::Ride { first, last: index };
        let change = self.timetable.change.get(hop.to).copied().unwrap_or(1);
        self.improve(
            hop.to,
            Label {
                time: hop.arrives.after(change),
                rides,
                cause,
            },
        );
        if hop.to == self.to {
            self.reach_goal(Label {
                time: hop.arrives,
                rides,
                cause,
            });
        }
        self.walk(hop.to, hop.arrives, rides, Some((first, index)));
    }

    /// Everywhere that can be walked to from a stop that is reached otherwise; walks are not joined.
    fn walk(&mut self, from: usize, departs: Time, rides: u32, ride: Option<(usize, usize)>) {
        let timetable = self.timetable;
        for (to, time) in timetable.walks.get(from).into_iter().flatten() {
            let cause = Cause::Walk {
                from,
                departs,
                ride,
            };
            let label = Label {
                time: departs.after(*time),
                rides,
                cause,
            };
            self.improve(*to, label);
            if *to == self.to {
                self.reach_goal(label);
            }
        }
    }

    fn improve(&mut self, stop: usize, label: Label) {
        if let Some(ready) = self.ready.get_mut(stop)
            && ready.is_none_or(|before| label.is_better_than(&before))
        {
            *ready = Some(label);
        }
    }

    fn reach_goal(&mut self, label: Label) {
        if self.goal.is_none_or(|before| label.is_better_than(&before)) {
            self.goal = Some(label);
        }
    }

    /// Follows the causes back from the goal.
    fn way(&self) -> Option<Vec<Leg>> {
        let mut legs = Vec::new();
        let (mut stop, mut label) = (self.to, self.goal?);
        loop {
            let ride = match label.cause {
                Cause::Start => break,
                Cause::Ride { first, last } => Some((first, last)),
                Cause::Walk {
                    from,
                    departs,
                    ride,
                } => {
                    let arrives = label.time;
                    legs.push(Leg::Walk {
                        from,
                        to: stop,
                        departs,
                        arrives,
                    });
                    ride
                }
            };
            let Some((first, last)) = ride else { break };
            legs.push(Leg::Ride { first, last });
            stop = self.timetable.connections.get(first)?.from;
            label = self.ready.get(stop).copied().flatten()?;
        }
        legs.reverse();
        Some(legs)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;
    use crate::timetable::Connection;

    const STOPS: usize = 6;

    /// Trips as stop and minutes: the first departure, then ride and dwell of each hop.
    type Trips = Vec<(usize, u32, Vec<(usize, u32, u32)>)>;

    fn timetable(trips: &Trips, walks: &[(usize, usize, u32)], change: &[u32]) -> Timetable {
        let mut timetable = Timetable {
            connections: Vec::new(),
            runs: (0..trips.len()).collect(),
            change: change.to_vec(),
            walks: vec![Vec::new(); STOPS],
        };
        for (from, to, time) in walks.iter().filter(|(from, to, _)| from != to) {
            timetable.walks[*from].push((*to, *time));
        }
        for (run, (start, departs, hops)) in trips.iter().enumerate() {
            let (mut from, mut departs) = (*start, Time(*departs));
            for (to, ride, dwell) in hops {
                let arrives = departs.after(*ride);
                timetable.connections.push(Connection {
                    run,
                    from,
                    to: *to,
                    departs,
                    arrives,
                });
                (from, departs) = (*to, arrives.after(*dwell));
            }
        }
        timetable.connections.sort_by_key(|hop| hop.departs);
        timetable
    }

    /// Dijkstra over states: ready at a stop, or arrived there by a ride. It knows trips as wholes and
    /// nothing of the order of hops.
    fn brute_force(timetable: &Timetable, from: usize, to: usize, at: Time) -> Option<Time> {
        let mut best = [[None::<u32>; 2]; STOPS];
        let mut queue = BinaryHeap::new();
        let mut arrivals = Vec::new();
        queue.push((std::cmp::Reverse(at.0), from, 0));
        for (next, time) in &timetable.walks[from] {
            queue.push((std::cmp::Reverse(at.0 + time), *next, 0));
            arrivals.push((*next, at.0 + time));
        }
        while let Some((std::cmp::Reverse(time), stop, kind)) = queue.pop() {
            if best[stop][kind].is_some_and(|before| before <= time) {
                continue;
            }
            best[stop][kind] = Some(time);
            if kind == 1 {
                arrivals.push((stop, time));
                queue.push((std::cmp::Reverse(time + timetable.change[stop]), stop, 0));
                for (next, walk) in &timetable.walks[stop] {
                    queue.push((std::cmp::Reverse(time + walk), *next, 0));
                    arrivals.push((*next, time + walk));
                }
                continue;
            }
            for run in 0..timetable.runs.len() {
                let hops: Vec<_> = timetable
                    .connections
                    .iter()
                    .filter(|hop| hop.run == run)
                    .collect();
                for board in 0..hops.len() {
                    if hops[board].from == stop && hops[board].departs.0 >= time {
                        for hop in &hops[board..] {
                            queue.push((std::cmp::Reverse(hop.arrives.0), hop.to, 1));
                        }
                    }
                }
            }
        }
        let at_goal = arrivals.into_iter().filter(|(stop, _)| *stop == to);
        at_goal.map(|(_, time)| Time(time)).min()
    }

    /// Walks the legs as a traveller would, and answers with the arrival.
    fn travel(timetable: &Timetable, legs: &[Leg], from: usize, to: usize, at: Time) -> Time {
        let (mut stop, mut ready, mut now) = (from, at, at);
        let mut walked = false;
        for leg in legs {
            match *leg {
                Leg::Walk {
                    from,
                    to,
                    departs,
                    arrives,
                } => {
                    assert!(from == stop && departs >= now && !walked);
                    let time = arrives.0 - departs.0;
                    assert!(timetable.walks[from].contains(&(to, time)));
                    (stop, ready, now, walked) = (to, arrives, arrives, true);
                }
                Leg::Ride { first, last } => {
                    let (first, last) = (timetable.connections[first], timetable.connections[last]);
                    assert!(first.run == last.run && first.departs <= last.departs);
                    assert!(first.from == stop && first.departs >= ready);
                    now = last.arrives;
                    (stop, ready, walked) = (last.to, now.after(timetable.change[last.to]), false);
                }
            }
        }
        assert_eq!(stop, to);
        now
    }

    #[test]
    fn no_way_is_earlier_and_each_can_be_travelled() {
        let hop = (0..STOPS, 0_u32..12, 0_u32..4);
        let trip = (0..STOPS, 0_u32..60, prop::collection::vec(hop, 1..5));
        let trips = prop::collection::vec(trip, 0..10);
        let walks = prop::collection::vec((0..STOPS, 0..STOPS, 1_u32..9), 0..5);
        let change = prop::collection::vec(1_u32..6, STOPS);
        let question = (0..STOPS, 0..STOPS, 0_u32..30);
        let config = ProptestConfig::with_cases(1500);
        proptest!(config, |(trips in trips, walks in walks, change in change, question in question)| {
            let (from, to, at) = (question.0, question.1, Time(question.2));
            prop_assume!(from != to);
            let timetable = timetable(&trips, &walks, &change);
            let expected = brute_force(&timetable, from, to, at);
            let found = earliest_arrival(&timetable, from, to, at);
            let arrival = found.map(|legs| travel(&timetable, &legs, from, to, at));
            prop_assert_eq!(arrival, expected);
        });
    }

    #[test]
    fn of_two_ways_that_arrive_together_the_one_with_fewer_rides_is_taken() {
        // The second vehicle passes stop 1, where the first one leads, and then the start.
        let trips = vec![(0, 0, vec![(1, 5, 0)]), (1, 12, vec![(0, 3, 0), (2, 5, 0)])];
        let timetable = timetable(&trips, &[], &[1; STOPS]);
        let way = earliest_arrival(&timetable, 0, 2, Time(0)).unwrap();
        assert_eq!(way, [Leg::Ride { first: 2, last: 2 }]);
    }
}
