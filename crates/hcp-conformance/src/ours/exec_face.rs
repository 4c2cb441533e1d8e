//! `hcp exec PACK VERB -- k:=json…`: the envelope in words (§6.5).

use hcp_spec::envelope::ExecEnvelope;

use super::home::Home;
use crate::error::KitError;
use crate::protocol::{Exec, Reply};

pub(super) fn call(home: &Home, exec: &Exec) -> Result<Reply, KitError> {
    let Ok(envelope) = ExecEnvelope::parse(exec.envelope.as_bytes()) else {
        return Ok(Reply::unsupported(
            "words cannot say an ill-formed envelope",
        ));
    };
    let pairs = exec.pairs.clone().unwrap_or_else(|| {
        let pairs = envelope
            .args
            .iter()
            .map(|(name, value)| format!("{name}:={value}"));
        pairs.collect()
    });
    let mut words = vec!["exec"];
    words.extend(home.session_words());
    words.extend([envelope.pack_id.as_str(), envelope.verb_key.as_str(), "--"]);
    words.extend(pairs.iter().map(String::as_str));
    let output = home.call_in_silence(&words)?;
    Ok(Reply {
        output: Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        exit_status: output.status.code(),
        ..Reply::default()
    })
}
