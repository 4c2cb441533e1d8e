//! What becomes of stdout (§6.2), form by form.

use hcp_output::{Redactor, read_result};
use hcp_spec::manifest::OutputForm::{self, Base64, Json, Text};

fn check(stdout: &[u8], form: OutputForm, result: &str, replaced: bool) {
    let output = read_result(stdout.to_vec(), form, &Redactor::none());
    assert_eq!(output.result.as_json(), result);
    assert_eq!(output.replaced, replaced, "{result}");
}

#[test]
fn one_json_text_is_kept_and_all_else_is_a_raw_string() {
    check(b"", Json, r#""""#, false);
    check(b"\n", Json, r#""\n""#, false);
    check(b" hello \n", Json, r#"" hello \n""#, false);
    check(
        b"{\"a\":1}\nlog line\n",
        Json,
        r#""{\"a\":1}\nlog line\n""#,
        false,
    );
    check(b"{\"a\": 1}\n", Json, r#"{"a":1}"#, false);
    check(b" \"text\" ", Json, r#""text""#, false);
    check(b"null", Json, "null", false);
    for number in ["9007199254740993", "1.10", "1e400", "-0", "1E+2"] {
        check(number.as_bytes(), Json, number, false);
    }
    let odd = r#"{"b":"\ud800","a":1,"b":"\u0041\/"}"#;
    check(odd.as_bytes(), Json, odd, false);
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_said_so() {
    check(b"a\xffb", Json, "\"a\u{fffd}b\"", true);
    check(b"{\"a\": \"\xe2\x82\"}", Json, "{\"a\":\"\u{fffd}\"}", true);
    check(b"a\xffb", Text, "\"a\u{fffd}b\"", true);
    check(b"a\xffb", Base64, "\"Yf9i\"", false);
}

#[test]
fn the_other_forms_never_look_for_json() {
    check(b"{\"a\": 1}", Text, r#""{\"a\": 1}""#, false);
    check(b"", Text, r#""""#, false);
    check(b"{}", Base64, r#""e30=""#, false);
    check(b"", Base64, r#""""#, false);
}

#[test]
fn secrets_are_masked_in_every_form() {
    let redactor = Redactor::new([b"hunter2".as_slice(), b"\xfe\xfe\xfe\xfe"]);
    let cases: [(&[u8], OutputForm, &str); 6] = [
        (
            b"{\"t\": \"a hunter2\", \"n\": 1}",
            Json,
            r#"{"t":"[redacted]","n":1}"#,
        ),
        (b"a hunter2\n", Json, r#""a [redacted]\n""#),
        (
            b"{\"t\": \"hunter2\"}",
            Text,
            r#""{\"t\": \"[redacted]\"}""#,
        ),
        (b"a hunter2", Base64, r#""YSBbcmVkYWN0ZWRd""#),
        (b"a \xfe\xfe\xfe\xfe", Json, r#""a [redacted]""#),
        (b"\xff hunter2", Json, "\"\u{fffd} [redacted]\""),
    ];
    for (stdout, form, result) in cases {
        let output = read_result(stdout.to_vec(), form, &redactor);
        assert_eq!(output.result.as_json(), result);
    }
}
