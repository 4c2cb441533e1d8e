//! Reading a feed from the files of a folder.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use jiff::civil::Date;

use super::csv::Table;
use super::{Fare, Feed, Route, Service, Stop, StopTime, Transfer, Trip};
use crate::clock::Time;
use crate::error::TransitError;

impl Feed {
    /// Reads the feed in `folder`. Files and columns that planning does not need are left alone.
    ///
    /// # Errors
    /// [`TransitError::File`] or [`TransitError::Feed`], naming the file and its line.
    pub(crate) fn read(folder: &Path) -> Result<Self, TransitError> {
        let mut feed = Self {
            stops: rows(folder, "stops.txt", |row| {
                Ok(Stop {
                    id: row.id("stop_id")?,
                    name: row.text("stop_name").to_owned(),
                    zone: row.text("zone_id").to_owned(),
                })
            })?,
            routes: rows(folder, "routes.txt", |row| {
                Ok(Route {
                    id: row.id("route_id")?,
                    name: row.text("route_short_name").to_owned(),
                })
            })?,
            services: rows(folder, "calendar.txt", service)?,
            ..Self::default()
        };
        let routes = positions(feed.routes.iter().map(|route| &route.id));
        let services = positions(feed.services.iter().map(|service| &service.id));
        feed.trips = rows(folder, "trips.txt", |row| {
            Ok(Trip {
                id: row.id("trip_id")?,
                route: row.position("route_id", &routes)?,
                service: row.position("service_id", &services)?,
                calls: Vec::new(),
            })
        })?;
        let stops = positions(feed.stops.iter().map(|stop| &stop.id));
        feed.trips = with_calls(folder, feed.trips, &stops)?;
        feed.transfers = rows(folder, "transfers.txt", |row| {
            Ok(Transfer {
                from: row.position("from_stop_id", &stops)?,
                to: row.position("to_stop_id", &stops)?,
                time: row.number("min_transfer_time")?,
            })
        })?;
        feed.fares = rows(folder, "fare_attributes.txt", |row| {
            Ok(Fare {
                id: row.id("fare_id")?,
                price: row.price("price")?,
                currency: row.text("currency_type").to_owned(),
                zones: Vec::new(),
            })
        })?;
        let fares = positions(feed.fares.iter().map(|fare| &fare.id));
        let rules = rows(folder, "fare_rules.txt", |row| {
            let fare = row.position("fare_id", &fares)?;
            Ok((fare, row.text("contains_id").to_owned()))
        })?;
        for (fare, zone) in rules {
            if let Some(fare) = feed.fares.get_mut(fare) {
                fare.zones.push(zone);
            }
        }
        Ok(feed)
    }
}

/// One row of a file, which knows how to name itself.
struct Row<'a> {
    file: &'a str,
    line: usize,
    table: &'a Table,
    fields: &'a [String],
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        self.table.field(self.fields, column)
    }

    fn fault(&self, what: impl Into<String>) -> TransitError {
        TransitError::Feed {
            file: self.file.to_owned(),
            line: self.line,
            what: what.into(),
        }
    }

    fn id(&self, column: &str) -> Result<String, TransitError> {
        match self.text(column) {
            "" => Err(self.fault(format!("`{column}` is empty"))),
            id => Ok(id.to_owned()),
        }
    }

    fn number(&self, column: &str) -> Result<u32, TransitError> {
        let text = self.text(column);
        let number = text.parse();
        number.map_err(|_| self.fault(format!("`{column}` is `{text}`, not a whole number")))
    }

    fn position(
        &self,
        column: &str,
        known: &HashMap<String, usize>,
    ) -> Result<usize, TransitError> {
        let id = self.text(column);
        let position = known.get(id).copied();
        position.ok_or_else(|| self.fault(format!("`{column}` names `{id}`, which is not there")))
    }

    fn time(&self, column: &str) -> Result<Time, TransitError> {
        Time::parse(self.text(column)).map_err(|error| self.fault(error.to_string()))
    }

    fn date(&self, column: &str) -> Result<Date, TransitError> {
        let text = self.text(column);
        let date = Date::strptime("%Y%m%d", text);
        date.map_err(|_| self.fault(format!("`{column}` is `{text}`, not a date like 20260301")))
    }

    fn price(&self, column: &str) -> Result<u32, TransitError> {
        let text = self.text(column);
        let (whole, cents) = text.split_once('.').unwrap_or((text, "00"));
        let price = match (whole.parse::<u32>(), cents.parse::<u32>(), cents.len()) {
            (Ok(whole), Ok(cents), 2) => whole.checked_mul(100).map(|whole| whole + cents),
            _ => None,
        };
        price.ok_or_else(|| self.fault(format!("`{column}` is `{text}`, not a price like 2.40")))
    }
}

fn rows<T>(
    folder: &Path,
    file: &str,
    mut read: impl FnMut(&Row<'_>) -> Result<T, TransitError>,
) -> Result<Vec<T>, TransitError> {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).map_err(|source| TransitError::File { path, source })?;
    let table = Table::parse(&text).map_err(|(line, what)| TransitError::Feed {
        file: file.to_owned(),
        line,
        what,
    })?;
    let rows = table.rows.iter().map(|(line, fields)| Row {
        file,
        line: *line,
        table: &table,
        fields,
    });
    rows.map(|row| read(&row)).collect()
}

fn positions<'a>(ids: impl Iterator<Item = &'a String>) -> HashMap<String, usize> {
    ids.enumerate().map(|(at, id)| (id.clone(), at)).collect()
}

fn service(row: &Row<'_>) -> Result<Service, TransitError> {
    let day = |name| row.text(name) == "1";
    Ok(Service {
        id: row.id("service_id")?,
        days: [
            day("monday"),
            day("tuesday"),
            day("wednesday"),
            day("thursday"),
            day("friday"),
            day("saturday"),
            day("sunday"),
        ],
        first: row.date("start_date")?,
        last: row.date("end_date")?,
    })
}

/// Adds the rows of `stop_times.txt`, which may stand in any order, to their trips.
fn with_calls(
    folder: &Path,
    mut trips: Vec<Trip>,
    stops: &HashMap<String, usize>,
) -> Result<Vec<Trip>, TransitError> {
    let known = positions(trips.iter().map(|trip| &trip.id));
    let mut calls: Vec<Vec<(u32, usize, StopTime)>> = trips.iter().map(|_| Vec::new()).collect();
    rows(folder, "stop_times.txt", |row| {
        let trip = row.position("trip_id", &known)?;
        let call = StopTime {
            stop: row.position("stop_id", stops)?,
            arrives: row.time("arrival_time")?,
            departs: row.time("departure_time")?,
        };
        let sequence = row.number("stop_sequence")?;
        if let Some(calls) = calls.get_mut(trip) {
            calls.push((sequence, row.line, call));
        }
        Ok(())
    })?;
    for (trip, mut calls) in trips.iter_mut().zip(calls) {
        calls.sort_by_key(|(sequence, ..)| *sequence);
        let mut clock = Time(0);
        for (_, line, call) in calls {
            if call.arrives < clock || call.departs < call.arrives {
                return Err(TransitError::Feed {
                    file: "stop_times.txt".to_owned(),
                    line,
                    what: format!("trip `{}` goes back in time", trip.id),
                });
            }
            clock = call.departs;
            trip.calls.push(call);
        }
    }
    Ok(trips)
}
