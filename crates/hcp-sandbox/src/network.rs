//! Whether a `host:port` is one that the operator opened.

/// Whether `endpoint` is one of `rules`: the same host, ASCII letters of either case, and the same
/// port. Nothing stands for "any": neither a wildcard nor a name that would resolve to the same
/// address. A text that is not `host:port` is never allowed; an IPv6 host stands in brackets.
pub fn network_allows(rules: &[String], endpoint: &str) -> bool {
    let Some((host, port)) = split(endpoint) else {
        return false;
    };
    rules
        .iter()
        .filter_map(|rule| split(rule))
        .any(|(allowed, allowed_port)| allowed.eq_ignore_ascii_case(host) && allowed_port == port)
}

fn split(text: &str) -> Option<(&str, u16)> {
    let (host, digits) = text.rsplit_once(':')?;
    let port = digits.parse::<u16>().ok()?;
    // One way to write a port: no sign, no leading zero, and 0 is none.
    (port != 0 && port.to_string() == digits && is_host(host)).then_some((host, port))
}

fn is_host(host: &str) -> bool {
    let (inner, extra) = match host.strip_prefix('[') {
        Some(rest) => match rest.strip_suffix(']') {
            Some(inner) => (inner, b':'),
            None => return false,
        },
        None => (host, b'-'),
    };
    !inner.is_empty()
        && inner.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || byte == extra
        })
}

#[cfg(test)]
mod tests {
    use super::network_allows;

    #[test]
    fn only_the_very_endpoint_is_allowed() {
        let rules = ["api.example.com:443", "[::1]:8080", "*:80", "10.0.0.1:5432"]
            .map(String::from)
            .to_vec();
        for (endpoint, allowed) in [
            ("api.example.com:443", true),
            ("API.Example.COM:443", true),
            ("[::1]:8080", true),
            ("10.0.0.1:5432", true),
            ("api.example.com:444", false),
            ("api.example.com", false),
            ("api.example.com:", false),
            ("api.example.com:0443", false),
            ("api.example.com:+443", false),
            ("api.example.com.:443", false),
            ("evil@api.example.com:443", false),
            ("api.example.com:443\n", false),
            ("https://api.example.com:443", false),
            ("xapi.example.com:443", false),
            ("::1:8080", false),
            ("[::1:8080", false),
            ("example.org:80", false),
            ("*:80", false),
            ("", false),
            (":443", false),
        ] {
            assert_eq!(network_allows(&rules, endpoint), allowed, "{endpoint:?}");
        }
        assert!(!network_allows(&[], "api.example.com:443"));
    }
}
