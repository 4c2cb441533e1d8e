//! Medians of contenders that take turns.

use std::time::{Duration, Instant};

use crate::error::BenchError;

/// Rounds that are run first and not counted: caches fill, pages are mapped.
const WARM_UP: u32 = 3;

/// One of those that are compared: does its work once and tells how long it took. What has to be laid
/// ready for it is nobody's time, and so left out.
pub(crate) type Contender<'a> = &'a mut dyn FnMut() -> Result<Duration, BenchError>;

/// Does a piece of work and answers with the time it took beside what it made.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = work();
    (start.elapsed(), made)
}

/// Runs the contenders in turns, A B A B …, and answers with the median time of each.
///
/// # Errors
/// The first one that a contender ran into.
pub(crate) fn take_turns<const COUNT: usize>(
    runs: u32,
    mut contenders: [Contender<'_>; COUNT],
) -> Result<[Duration; COUNT], BenchError> {
    let mut times = [const { Vec::new() }; COUNT];
    for round in 0..WARM_UP + runs {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let time = contender()?;
            if round >= WARM_UP {
                times.push(time);
            }
        }
    }
    Ok(times.map(median))
}

/// The time in the middle; of an even number, the mean of the two.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let middle = times.len() / 2;
    let upper = times.get(middle).copied().unwrap_or_default();
    let lower = match times.len() % 2 {
        0 => middle.checked_sub(1).and_then(|below| times.get(below)),
        _ => None,
    };
    lower.map_or(upper, |lower| (*lower + upper) / 2)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{WARM_UP, median, take_turns};

    #[test]
    fn the_median_stands_in_the_middle() {
        let cases: [(&[u64], u64); 4] =
            [(&[], 0), (&[7], 7), (&[9, 1, 5], 5), (&[4, 1, 2, 100], 3)];
        for (seconds, expected) in cases {
            let times = seconds.iter().copied().map(Duration::from_secs).collect();
            assert_eq!(median(times), Duration::from_secs(expected), "{seconds:?}");
        }
    }

    #[test]
    fn contenders_take_turns() {
        let order = std::cell::RefCell::new(String::new());
        let enter = |name| order.borrow_mut().push(name);
        take_turns(
            2,
            [
                &mut || {
                    enter('a');
                    Ok(Duration::ZERO)
                },
                &mut || {
                    enter('b');
                    Ok(Duration::ZERO)
                },
            ],
        )
        .unwrap();
        assert_eq!(order.into_inner(), "ab".repeat(2 + WARM_UP as usize));
    }
}
