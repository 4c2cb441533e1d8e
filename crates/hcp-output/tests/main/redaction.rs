//! Secrets in every form they leave in, at every place, and texts that hold none.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, PAD};
use hcp_output::{MASK, Redactor};
use proptest::prelude::*;

const SECRET: &str = "s3cr et/\"?~\n+x";

fn redactor(secret: &str) -> Redactor {
    Redactor::new([secret.as_bytes()])
}

#[test]
fn every_form_of_a_secret_is_masked_in_text() {
    let cases = [
        ("raw", format!("a {SECRET} b"), "a [redacted] b"),
        (
            "twice",
            format!("{SECRET}, {SECRET}"),
            "[redacted], [redacted]",
        ),
        ("json", format!("say {SECRET:?}"), "say \"[redacted]\""),
        (
            "json in json",
            format!("{:?}", format!("{SECRET:?}")),
            "\"\\\"[redacted]\\\"\"",
        ),
        ("unicode escapes", unicode_escaped(SECRET), "[redacted]"),
        (
            "percent",
            "x=s3cr%20et%2F%22%3F~%0A%2Bx&".to_owned(),
            "x=[redacted]&",
        ),
        (
            "percent, lower",
            "s3cr%20et%2f%22%3f~%0a%2bx".to_owned(),
            "[redacted]",
        ),
        (
            "percent, lax",
            "s3cr%20et/%22?%7e%0A+x".to_owned(),
            "[redacted]",
        ),
        ("query", "s3cr+et%2F%22%3F~%0A%2Bx".to_owned(), "[redacted]"),
        (
            "percent twice",
            "s3cr%2520et%252F%2522%253F~%250A%252Bx".to_owned(),
            "[redacted]",
        ),
        ("hex", format!("0x{}", hex(SECRET)), "0x[redacted]"),
        ("hex, upper", hex(SECRET).to_uppercase(), "[redacted]"),
        ("base64", base64(SECRET), "[redacted]"),
        (
            "base64 in a query",
            base64(SECRET).replace('=', "%3D").replace('+', "%2B"),
            "[redacted]",
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(redactor(SECRET).text(&text), expected, "{name}: {text}");
    }
}

#[test]
fn base64_is_masked_at_every_alignment_and_across_lines() {
    let secret = "a-rather-long-secret-that-fills-more-than-one-line-of-base64-text";
    for before in 0..6 {
        for after in 0..4 {
            let bytes = "u:p".repeat(2)[..before].to_owned() + secret + &"zzzz"[..after];
            let whole = base64(&bytes);
            let lines = whole
                .as_bytes()
                .chunks(76)
                .map(|line| str::from_utf8(line).unwrap());
            for text in [whole.clone(), lines.collect::<Vec<_>>().join("\n")] {
                let masked = redactor(secret).text(&text).into_owned();
                let (head, tail) = masked.split_once(MASK).unwrap();
                // Every digit that is left depends on nothing but what stood around the secret.
                let tail = tail.trim_end_matches('=').replace('\n', "");
                assert!(bytes.starts_with(&decoded(head)), "{text} {masked}");
                assert!(head.len() * 6 <= before * 8, "{text} {masked}");
                assert!(tail.len() <= (after * 8).div_ceil(6), "{text} {masked}");
            }
        }
    }
}

#[test]
fn json_is_masked_by_whole_token() {
    let cases = [
        (
            "abcd",
            r#"{"k":"x abcd y","n":1.10}"#,
            r#"{"k":"[redacted]","n":1.10}"#,
        ),
        (
            "abcd",
            r#"{"abcd":[1,"abcd","abcde abcd"]}"#,
            r#"{"[redacted]":[1,"[redacted]","[redacted]"]}"#,
        ),
        (
            "abcd",
            r#"["\u0061bc\u0064","\ud800"]"#,
            r#"["[redacted]","\ud800"]"#,
        ),
        ("abcd", r#"["{\"t\":\"\\u0061bcd\"}"]"#, r#"["[redacted]"]"#),
        ("abcd", r#"["YWJjZA==","ABCD"]"#, r#"["[redacted]","ABCD"]"#),
        (
            "1234",
            "[1234,-12345.5e9,123]",
            r#"["[redacted]","[redacted]",123]"#,
        ),
        ("1234", "1234", r#""[redacted]""#),
        ("true", "[true,false]", r#"["[redacted]",false]"#),
        ("a\"b\\c", r#"["a\"b\\c",1]"#, r#"["[redacted]",1]"#),
        // A secret across tokens takes all of them along; brackets alone take the whole text.
        (
            "{\"a\":1}",
            r#"[{"a":1},2]"#,
            r#"[{"[redacted]":"[redacted]"},2]"#,
        ),
        (
            "{\"a\": 1}\n",
            r#"[{"a":1},2]"#,
            r#"[{"[redacted]":"[redacted]"},2]"#,
        ),
        ("[[[[", "[[[[1]]]]", r#""[redacted]""#),
        ("abcd", r#"{"clean":["abc",{}]}"#, r#"{"clean":["abc",{}]}"#),
    ];
    for (secret, json, expected) in cases {
        assert_eq!(
            redactor(secret).json(json.to_owned()),
            expected,
            "{secret} {json}"
        );
    }
}

#[test]
fn short_secrets_are_masked_as_words_only() {
    let cases = [
        (
            "ab",
            "ab cab ab_ (ab) x-ab",
            "[redacted] cab ab_ ([redacted]) x-[redacted]",
        ),
        ("ab", "YWI= 6162", "[redacted]= [redacted]"),
        ("7", "77 7", "77 [redacted]"),
        ("", "anything", "anything"),
    ];
    for (secret, text, expected) in cases {
        assert_eq!(redactor(secret).text(text), expected);
    }
    assert_eq!(
        redactor("ab").json(r#"["ab","abc"]"#.to_owned()),
        r#"["[redacted]","abc"]"#
    );
}

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\nQx3=\n-----END PRIVATE KEY-----\n";

#[test]
fn a_secret_of_several_lines_is_masked_however_they_are_broken() {
    let lines = || KEY.lines();
    let texts = [
        KEY.replace('\n', "\r\n"),
        lines().map(|line| format!("    {line}\n")).collect(),
        lines().map(|line| format!("\t{line}\r\n")).collect(),
        lines().collect(),
        KEY.replace('\n', "\\n"),
        serde_json::json!({ "key": KEY.replace('\n', "\r\n  ") }).to_string(),
        KEY.trim_end().replace('\n', "%0D%0A"),
    ];
    let written = KEY.replace('\n', "\\n");
    for secret in [KEY, written.as_str()] {
        for text in &texts {
            let masked = redactor(secret).text(text).into_owned();
            assert!(masked.contains(MASK), "{text}");
            for line in ["MII", "wB", "AQEF", "AoIB", "Qx3"] {
                assert!(!masked.contains(line), "{text}: {masked}");
            }
        }
        // A line alone, and what is no secret.
        for (text, expected) in [
            ("1: MIIEvQIBADANBgkqhkiG9w0B;", "1: [redacted];"),
            ("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"),
            ("Qx3=", "Qx3="),
        ] {
            assert_eq!(redactor(secret).text(text), expected);
        }
    }
    assert_eq!(
        redactor(KEY).json(r#"["AQEFAASCBKcwggSjAgEAAoIB",1]"#.to_owned()),
        r#"["[redacted]",1]"#
    );
}

#[test]
fn hex_is_masked_in_any_case_and_at_any_place() {
    let secret = "\u{ab}jklmnoz";
    for before in [0, 1, 65_520, 65_530, 65_536, 131_060] {
        for digits in [
            hex(secret),
            hex(secret).to_uppercase(),
            hex(secret).replace('a', "A"),
            hex(secret).replace('f', "F"),
        ] {
            let text = format!("{}{digits}|", "-".repeat(before));
            let expected = format!("{}{MASK}|", "-".repeat(before));
            assert_eq!(redactor(secret).text(&text), expected, "{before} {digits}");
        }
    }
    assert_eq!(redactor("deadbeefCAFE0123").text("DEADbeefcafe0123"), MASK);
    assert_eq!(
        redactor("deadbeefCAFX").text("DEADbeefcafx"),
        "DEADbeefcafx"
    );
}

#[test]
fn a_redactor_tells_nothing() {
    assert!(Redactor::none().is_empty());
    assert!(redactor("").is_empty());
    assert_eq!(Redactor::none().margin(), 0);
    let shown = format!("{:?}", redactor(SECRET));
    assert_eq!(shown, "Redactor(redacted)");
    assert!(redactor(SECRET).margin() >= unicode_escaped(SECRET).len());
}

#[test]
fn a_match_inside_characters_takes_them_whole() {
    // The last two bytes of `€` and the first of `é` are a secret that is not UTF-8.
    let redactor = Redactor::new([b"\x82\xacab\xc3".as_slice()]);
    assert_eq!(redactor.text("x€abéy"), "x[redacted]y");
    assert_eq!(
        redactor.bytes("x€abéy".as_bytes()).as_ref(),
        b"x\xe2[redacted]\xa9y"
    );
}

proptest! {
    #[test]
    fn no_form_survives_whatever_stands_around_it(
        secret in proptest::collection::vec(any::<u8>(), 4..20),
        before in proptest::collection::vec(any::<u8>(), 0..8),
        after in proptest::collection::vec(any::<u8>(), 0..8),
        stray in "[\\\\%a]{0,9}",
    ) {
        let redactor = Redactor::new([secret.as_slice()]);
        for form in forms(&secret) {
            let text = [before.as_slice(), stray.as_bytes(), &form, &after].concat();
            let masked = redactor.bytes(&text).into_owned();
            prop_assert!(survivors(&masked, &form) == 0, "{:?}", String::from_utf8_lossy(&text));
        }
        let whole = [before, secret.clone(), after].concat();
        for engine in engines() {
            let text = engine.encode(&whole);
            let masked = redactor.text(&text).into_owned();
            for left in masked.split(MASK) {
                let bytes = engines().into_iter().find_map(|engine| engine.decode(left).ok());
                prop_assert!(survivors(&bytes.unwrap_or_default(), &secret) == 0, "{}", text);
            }
            prop_assert!(masked.contains(MASK), "{}", text);
        }
    }

    #[test]
    fn masked_json_is_json_and_holds_no_secret(
        secret in "[a-z0-9\"\\\\\n\u{e9}{:,]{4,8}",
        keys in proptest::collection::vec("[a-z\"\\\\ ]{0,6}", 1..4),
        place in 0..4_usize,
    ) {
        let hidden = format!("x{secret}y");
        let mut value = serde_json::json!([1, "plain", null]);
        for (index, key) in keys.iter().enumerate() {
            let inner = if index == place { serde_json::json!(hidden) } else { value.clone() };
            value = serde_json::json!({ key.as_str(): inner, hidden.as_str(): value });
        }
        for text in [value.to_string(), value.to_string().replace('x', "\\u0078")] {
            let masked = redactor(&secret).json(text.clone());
            let parsed: serde_json::Value = serde_json::from_str(&masked).unwrap();
            prop_assert!(!holds(&parsed, &secret), "{} {}", text, masked);
        }
    }

    #[test]
    fn text_without_the_secret_is_not_touched(text in "\\PC{0,40}", bytes in any::<Vec<u8>>()) {
        let redactor = redactor("\u{1}never in there");
        let untouched = redactor.text(&text);
        prop_assert!(matches!(untouched, std::borrow::Cow::Borrowed(same) if same == text));
        let untouched = redactor.bytes(&bytes);
        prop_assert_eq!(untouched.as_ref(), bytes.as_slice());
        let json = serde_json::Value::String(text).to_string();
        prop_assert_eq!(redactor.json(json.clone()), json);
    }
}

/// How often `form` stands in what is left between the masks.
fn survivors(masked: &[u8], form: &[u8]) -> usize {
    let mut left = vec![Vec::new()];
    let mut rest = masked;
    while let Some((first, more)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(MASK.as_bytes()) {
            left.push(Vec::new());
            rest = after;
        } else {
            left.last_mut().unwrap().push(*first);
            rest = more;
        }
    }
    let holds = |part: &&Vec<u8>| part.windows(form.len()).any(|window| window == form);
    left.iter().filter(holds).count()
}

fn holds(value: &serde_json::Value, secret: &str) -> bool {
    match value {
        serde_json::Value::String(text) => text.contains(secret),
        serde_json::Value::Array(values) => values.iter().any(|value| holds(value, secret)),
        serde_json::Value::Object(members) => members
            .iter()
            .any(|(key, value)| key.contains(secret) || holds(value, secret)),
        _ => false,
    }
}

fn forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let each = |form: fn(&u8) -> String| secret.iter().map(form).collect::<String>().into_bytes();
    let mut forms = vec![
        secret.to_vec(),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("{byte:02X}")),
        each(|byte| format!("%{byte:02x}")),
        each(|byte| format!("%{byte:02X}")),
        each(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(*byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        }),
    ];
    if let Ok(text) = str::from_utf8(secret) {
        let json = serde_json::Value::from(text).to_string();
        forms.push(json.as_bytes()[1..json.len() - 1].to_vec());
    }
    forms
}

fn engines() -> [GeneralPurpose; 4] {
    [
        GeneralPurpose::new(&alphabet::STANDARD, PAD),
        GeneralPurpose::new(&alphabet::STANDARD, NO_PAD),
        GeneralPurpose::new(&alphabet::URL_SAFE, PAD),
        GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD),
    ]
}

fn base64(text: &str) -> String {
    engines()[0].encode(text)
}

fn decoded(text: &str) -> String {
    let whole = &text[..text.len() / 4 * 4];
    String::from_utf8(engines()[0].decode(whole.replace('\n', "")).unwrap()).unwrap()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn unicode_escaped(text: &str) -> String {
    text.chars()
        .map(|character| format!("\\u{:04X}", u32::from(character)))
        .collect()
}
