//! What a jailed program is and sees.

use hcp_sandbox::{End, Finished, Jail};

use crate::support::{Run, system, text};

fn python(script: &str) -> Finished {
    let bin = system("python3");
    Run::new(&bin)
        .argv(&["-c", script])
        .jailed(&Jail::default())
        .unwrap()
}

#[test]
fn a_program_runs_and_its_end_is_told() {
    let bin = system("true");
    let finished = Run::new(&bin).jailed(&Jail::default()).unwrap();
    assert_eq!(finished.end, End::Exited(0));
    let finished = python(r#"
import os,glob
print(os.getpid(), os.getppid(), os.getuid(), os.getgid(), os.getgroups(), os.listdir('/'), os.listdir('/etc'), os.listdir('/proc'), os.listdir('/dev'), os.listdir('/tmp'), os.listdir('/proc/self/fd'))
print(open('/proc/self/mountinfo').read())
print(open('/proc/self/status').read())
print(open('/proc/self/cgroup').read())
print(open('/proc/self/limits').read())
for f in ('/x','/usr/x','/tmp/x','/home/hcp/x','/etc/x','/dev/x'):
  try:
    open(f,'w').write('a'); print(f,'written')
  except Exception as e: print(e)
import subprocess
for f in ('/bin/sh','/usr/bin/python3'):
  try:
    print(subprocess.run([f,'-c','1']))
  except Exception as e: print(e)
import socket
try: socket.socket()
except Exception as e: print(e)
import sys
sys.stdout.flush()
os.kill(os.getpid(), 9)"#);
    println!("{} {}", text(&finished.stdout), text(&finished.stderr));
    assert_eq!(finished.end, End::Signalled(9));
}

#[test]
#[ignore = "a measurement"]
fn cost() {
    let bin = system("true");
    for _ in 0..3 {
    let start = std::time::Instant::now();
    for _ in 0..300 { Run::new(&bin).go().unwrap(); }
    let plain = start.elapsed();
    let start = std::time::Instant::now();
    for _ in 0..300 { Run::new(&bin).jailed(&Jail::default()).unwrap(); }
    let jailed = start.elapsed();
    println!("plain {:?} jailed {:?}", plain / 300, jailed / 300);
    }
}
