//! `hcp stdio`: the envelope as a line, and the answer as one.

use super::home::Home;
use crate::error::KitError;
use crate::protocol::Reply;

pub(super) fn call(home: &Home, envelope: &str) -> Result<Reply, KitError> {
    let line = envelope.trim_end_matches(['\n', '\r']);
    if line.contains('\n') {
        return Ok(Reply::unsupported("a line cannot hold a line break"));
    }
    let mut words = vec!["stdio"];
    words.extend(home.session_words());
    let output = home.call_with_input(&words, &format!("{line}\n"))?;
    Ok(Reply {
        output: Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        exit_status: None,
        ..Reply::default()
    })
}
