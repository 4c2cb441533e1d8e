//! Writing a feed as the files of a folder.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::Feed;
use super::csv::quote;
use crate::error::TransitError;
use crate::fare::decimal;

impl Feed {
    /// Writes every file of the feed into `folder`, which is made where it is absent.
    ///
    /// # Errors
    /// [`TransitError::File`] for what cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<Vec<&'static str>, TransitError> {
        let failed = |path: &Path, source| TransitError::File {
            path: path.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
        let files = self.files();
        for (name, text) in &files {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|source| failed(&path, source))?;
        }
        Ok(files.into_iter().map(|(name, _)| name).collect())
    }

    fn files(&self) -> Vec<(&'static str, String)> {
        let stop = |at: usize| self.stops.get(at).map_or("", |stop| &stop.id);
        vec![
            (
                "agency.txt",
                "agency_name,agency_url,agency_timezone\nMade-up Transit,https://example.invalid,UTC\n"
                    .to_owned(),
            ),
            (
                "stops.txt",
                table("stop_id,stop_name,zone_id", &self.stops, |stop| {
                    vec![stop.id.clone(), stop.name.clone(), stop.zone.clone()]
                }),
            ),
            (
                "routes.txt",
                table("route_id,route_short_name,route_type", &self.routes, |route| {
                    vec![route.id.clone(), route.name.clone(), "3".to_owned()]
                }),
            ),
            (
                "calendar.txt",
                table(
                    "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date",
                    &self.services,
                    |service| {
                        let days = service.days.map(|runs| u8::from(runs).to_string());
                        let dates = [service.first, service.last];
                        let dates = dates.map(|date| date.strftime("%Y%m%d").to_string());
                        [vec![service.id.clone()], days.to_vec(), dates.to_vec()].concat()
                    },
                ),
            ),
            (
                "trips.txt",
                table("route_id,service_id,trip_id", &self.trips, |trip| {
                    let route = self.routes.get(trip.route).map(|route| route.id.clone());
                    let service = self.services.get(trip.service).map(|one| one.id.clone());
                    vec![
                        route.unwrap_or_default(),
                        service.unwrap_or_default(),
                        trip.id.clone(),
                    ]
                }),
            ),
            ("stop_times.txt", self.stop_times()),
            (
                "transfers.txt",
                table(
                    "from_stop_id,to_stop_id,transfer_type,min_transfer_time",
                    &self.transfers,
                    |transfer| {
                        let ends = [transfer.from, transfer.to].map(|at| stop(at).to_owned());
                        let time = ["2".to_owned(), transfer.time.to_string()];
                        [ends, time].concat()
                    },
                ),
            ),
            (
                "fare_attributes.txt",
                table(
                    "fare_id,price,currency_type,payment_method,transfers",
                    &self.fares,
                    |fare| {
                        let price = decimal(fare.price);
                        let rest = ["1".to_owned(), String::new()];
                        [vec![fare.id.clone(), price, fare.currency.clone()], rest.to_vec()].concat()
                    },
                ),
            ),
            ("fare_rules.txt", self.fare_rules()),
        ]
    }

    fn stop_times(&self) -> String {
        let mut text = "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n".to_owned();
        for trip in &self.trips {
            for (sequence, call) in trip.calls.iter().enumerate() {
                let stop = self.stops.get(call.stop).map_or("", |stop| &stop.id);
                // Writing to a `String` cannot fail.
                let _ = writeln!(
                    text,
                    "{},{},{},{},{}",
                    quote(&trip.id),
                    call.arrives,
                    call.departs,
                    quote(stop),
                    sequence + 1
                );
            }
        }
        text
    }

    fn fare_rules(&self) -> String {
        let mut text = "fare_id,contains_id\n".to_owned();
        for fare in &self.fares {
            for zone in &fare.zones {
                let _ = writeln!(text, "{},{}", quote(&fare.id), quote(zone));
            }
        }
        text
    }
}

fn table<T>(names: &str, rows: &[T], fields: impl Fn(&T) -> Vec<String>) -> String {
    let mut text = format!("{names}\n");
    for row in rows {
        let fields: Vec<String> = fields(row).iter().map(|field| quote(field)).collect();
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Feed;

    #[test]
    fn the_city_comes_back_from_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let city = crate::city::feed();
        city.write(folder.path()).unwrap();
        assert_eq!(Feed::read(folder.path()).unwrap(), city);
    }
}
