//! What comes out of a tool, and what of it reaches the Invoker (§6.2, §6.4).

use serde_json::{Value, json};

use crate::pack::Pack;
use crate::world::{Ran, World};

/// A pack whose commands print a file each, and what stands beside it.
struct Printer {
    pack: Pack,
    cases: usize,
}

impl Printer {
    fn new(wrap: &str) -> Self {
        let tool = "cat \"out/$1\"\n\
                    if [ -e \"out/$1.err\" ]; then cat \"out/$1.err\" >&2; fi\n\
                    if [ -e \"out/$1.exit\" ]; then exit \"$(cat \"out/$1.exit\")\"; fi";
        Self {
            pack: Pack::new("print").wrap_more(wrap).tool(tool),
            cases: 0,
        }
    }

    fn case(mut self, stdout: &[u8], stderr: &[u8], exit: u8) -> Self {
        let key = format!("c{}", self.cases);
        self.cases += 1;
        let mut pack = self
            .pack
            .command(&key, "effect = \"read\"")
            .file(&format!("out/{key}"), stdout);
        if !stderr.is_empty() {
            pack = pack.file(&format!("out/{key}.err"), stderr);
        }
        if exit != 0 {
            pack = pack.file(&format!("out/{key}.exit"), exit.to_string());
        }
        self.pack = pack;
        self
    }

    fn run(&self) -> impl Iterator<Item = Ran> {
        let world = World::with(&self.pack);
        (0..self.cases).map(move |at| world.exec(&["print", &format!("c{at}"), "-v"]))
    }
}

#[test]
fn json_is_kept_as_the_tool_wrote_it() {
    // What the tool writes, and the result as a JSON text.
    let cases: &[(&str, &str)] = &[
        ("{\"n\": 9007199254740993}\n", "{\"n\":9007199254740993}"),
        (
            "[1.10, 1e400, -0, 1E+2, 0.1e-7]",
            "[1.10,1e400,-0,1E+2,0.1e-7]",
        ),
        ("{\"z\":1,\"a\":2,\"m\":3}", "{\"z\":1,\"a\":2,\"m\":3}"),
        (
            "{\"s\":\"\\ud800\",\"t\":\"\\u00e9\\/\"}",
            "{\"s\":\"\\ud800\",\"t\":\"\\u00e9\\/\"}",
        ),
        ("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"),
        ("  null\r\n\t", "null"),
        ("\"a b\"\n", "\"a b\""),
        (
            "12345678901234567890123456789",
            "12345678901234567890123456789",
        ),
        ("[ ]", "[]"),
        ("{\"a\":1}\nlog\n", "\"{\\\"a\\\":1}\\nlog\\n\""),
        ("{\"a\":1}{\"a\":2}", "\"{\\\"a\\\":1}{\\\"a\\\":2}\""),
        ("plain text \n", "\"plain text \\n\""),
        ("[1,]", "\"[1,]\""),
        ("{\"a\":NaN}", "\"{\\\"a\\\":NaN}\""),
        ("01", "\"01\""),
        ("\u{feff}{}", "\"\u{feff}{}\""),
        ("", "\"\""),
        ("\n", "\"\\n\""),
        ("\u{1b}[31mred", "\"\\u001b[31mred\""),
    ];
    let printer = cases.iter().fold(Printer::new(""), |printer, (stdout, _)| {
        printer.case(stdout.as_bytes(), b"", 0)
    });
    for (at, (ran, (stdout, result))) in printer.run().zip(cases).enumerate() {
        let expected = format!(
            "{{\"ok\":true,\"pack_id\":\"print\",\"verb_key\":\"c{at}\",\"result\":{result}}}\n"
        );
        assert_eq!(ran.stdout, expected, "{stdout:?}");
        assert_eq!(ran.status, Some(0));
    }
}

#[test]
fn a_long_pretty_text_becomes_one_line_with_every_number() {
    let lines: Vec<String> = (0..60_000)
        .map(|n| {
            format!(
                "    {{ \"id\": {}, \"price\": {n}.10 }}",
                9_007_199_254_740_993_u64 + n
            )
        })
        .collect();
    let pretty = format!("[\n{}\n]\n", lines.join(",\n"));
    assert!(pretty.len() > 2 << 20);
    let printer = Printer::new("").case(pretty.as_bytes(), b"", 0);
    let ran = printer.run().next().unwrap();
    let compact = pretty.replace([' ', '\n'], "");
    assert_eq!(ran.stdout.matches('\n').count(), 1);
    assert!(ran.stdout.contains(&compact));
    assert_eq!(ran.result().as_array().unwrap().len(), 60_000);
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_or_kept_in_base64() {
    let bytes = b"a\xffb\xf0\x9f\x98";
    let forms: [(&str, Value, bool); 3] = [
        ("", json!("a\u{fffd}b\u{fffd}"), true),
        ("output = \"text\"", json!("a\u{fffd}b\u{fffd}"), true),
        ("output = \"base64\"", json!("Yf9i8J+Y"), false),
    ];
    for (wrap, expected, replaced) in forms {
        let ran = Printer::new(wrap).case(bytes, b"", 0).run().next().unwrap();
        assert_eq!(ran.result(), expected, "{wrap}");
        assert_eq!(
            ran.stderr.contains("replaced=true"),
            replaced,
            "{wrap}: {}",
            ran.stderr
        );
    }
    // Text is text, also when it happens to be JSON.
    let ran = Printer::new("output = \"text\"")
        .case(b"{\"a\": 1}\n", b"", 0)
        .run()
        .next();
    assert_eq!(ran.unwrap().result(), "{\"a\": 1}\n");
    let ran = Printer::new("output = \"base64\"")
        .case(b"", b"", 0)
        .run()
        .next();
    assert_eq!(ran.unwrap().result(), "");
}

#[test]
fn endings_by_exit_code() {
    // success, stdout, stderr, code; the envelope without its ids; the exit status of hcp
    let cases: &[(&str, &str, &str, u8, Value, i32)] = &[
        ("", "{}", "", 0, json!({ "ok": true, "result": {} }), 0),
        (
            "",
            "{}",
            "w\n",
            0,
            json!({ "ok": true, "result": {}, "stderr": "w\n" }),
            0,
        ),
        ("", "", "", 4, json!({ "ok": false, "error": "exit 4" }), 1),
        (
            "",
            "half\n",
            "",
            4,
            json!({ "ok": false, "error": "exit 4", "stdout": "half\n" }),
            1,
        ),
        (
            "",
            "",
            " no \n\n",
            4,
            json!({ "ok": false, "error": " no \n\n", "stderr": " no \n\n" }),
            1,
        ),
        (
            "",
            "o",
            "e",
            255,
            json!({ "ok": false, "error": "e", "stdout": "o", "stderr": "e" }),
            1,
        ),
        (
            "",
            "",
            "\n",
            1,
            json!({ "ok": false, "error": "\n", "stderr": "\n" }),
            1,
        ),
        (
            "success = [0, 1]",
            "",
            "",
            1,
            json!({ "ok": true, "result": "" }),
            0,
        ),
        (
            "success = [1]",
            "",
            "",
            0,
            json!({ "ok": true, "result": "" }),
            0,
        ),
        (
            "success = [0, 1]",
            "",
            "",
            2,
            json!({ "ok": false, "error": "exit 2" }),
            1,
        ),
        (
            "",
            "",
            "",
            127,
            json!({ "ok": false, "error": "exit 127" }),
            1,
        ),
    ];
    for (success, stdout, stderr, code, expected, status) in cases {
        let printer = Printer::new(success).case(stdout.as_bytes(), stderr.as_bytes(), *code);
        let ran = printer.run().next().unwrap();
        let mut envelope = ran.envelope();
        let fields = envelope.as_object_mut().unwrap();
        assert_eq!(fields.shift_remove("pack_id"), Some(json!("print")));
        assert_eq!(fields.shift_remove("verb_key"), Some(json!("c0")));
        assert_eq!(
            envelope, *expected,
            "{success} {stdout:?} {stderr:?} {code}"
        );
        assert_eq!(
            ran.status,
            Some(*status),
            "{success} {stdout:?} {stderr:?} {code}"
        );
    }
}

/// A failure shows the last 64 KiB of each stream; the totals travel beside.
#[test]
fn the_tails_of_a_failure_are_bounded() {
    let numbered = |mark: char| {
        let lines: Vec<String> = (0..20_000)
            .map(|n| {
                format!(
                    "{mark}{n:08}
"
                )
            })
            .collect();
        lines.concat()
    };
    let (stdout, stderr) = (numbered('o'), numbered('e'));
    let printer = Printer::new("").case(stdout.as_bytes(), stderr.as_bytes(), 9);
    let ran = printer.run().next().unwrap();
    let envelope = ran.envelope();
    for (field, whole) in [("stdout", &stdout), ("stderr", &stderr), ("error", &stderr)] {
        let shown = envelope[field].as_str().unwrap();
        assert!(shown.len() <= 64 << 10, "{field}: {}", shown.len());
        assert!(shown.len() > 63 << 10, "{field}: {}", shown.len());
        assert!(whole.ends_with(shown), "{field} is the tail");
    }
    assert!(
        ran.stderr
            .contains("stdout_bytes=200000 stderr_bytes=200000"),
        "{}",
        ran.stderr
    );
}

/// The record of a run tells what the envelope leaves out.
#[test]
fn the_line_beside_names_isolation_and_binding() {
    let ran = Printer::new("").case(b"{}", b"", 0).run().next().unwrap();
    assert!(
        ran.stderr.contains(" isolation=native-local binding=none "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(" unenforced=\""), "{}", ran.stderr);
    assert!(ran.stderr.contains("duration_us="), "{}", ran.stderr);
    assert!(ran.stderr.contains("audit_seq="), "{}", ran.stderr);
}
