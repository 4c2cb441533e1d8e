//! `hcp exec --envelope -`: the envelope as it is, on stdin.

use super::home::Home;
use crate::error::KitError;
use crate::protocol::Reply;

pub(super) fn call(home: &Home, envelope: &str) -> Result<Reply, KitError> {
    let mut words = vec!["exec"];
    words.extend(home.session_words());
    words.extend(["--envelope", "-"]);
    let output = home.call_with_input(&words, envelope)?;
    Ok(Reply {
        output: Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        exit_status: output.status.code(),
        ..Reply::default()
    })
}
