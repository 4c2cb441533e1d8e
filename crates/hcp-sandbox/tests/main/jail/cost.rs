//! What a jail costs, beside a plain child of the same program. Told, never judged: the machine that
//! runs the tests is busy with other things.

use std::time::{Duration, Instant};

use hcp_sandbox::Jail;

use crate::support::{Run, system};

#[test]
#[ignore = "a measurement: run alone, in release"]
#[allow(clippy::print_stdout, reason = "that is all it is for")]
fn of_one_call() {
    let bin = system("true");
    let run = || {
        let mut run = Run::new(&bin);
        run.limits.memory = Some(512 << 20);
        run.limits.processes = Some(64);
        run
    };
    let ballast = vec![1_u8; 1 << 30];
    for _ in 0..3 {
        let spawned = median(|| {
            std::process::Command::new("/bin/true").status().unwrap();
        });
        let plain = median(|| drop(run().go().unwrap()));
        let unbounded = median(|| drop(Run::new(&bin).jailed(&Jail::default()).unwrap()));
        let jailed = median(|| drop(run().jailed(&Jail::default()).unwrap()));
        let ratio = |time: Duration| time.as_secs_f64() / spawned.as_secs_f64();
        println!(
            "posix_spawn {spawned:?}, plain child {:.2}, jail without groups {:.2}, jail {:.2}",
            ratio(plain),
            ratio(unbounded),
            ratio(jailed),
        );
    }
    drop(ballast);
}

fn median(mut action: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..300)
        .map(|_| {
            let start = Instant::now();
            action();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}
