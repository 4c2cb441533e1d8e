//! Arguments with `access`: what is judged is the very element that the tool gets.

use hcp_spec::manifest::Access;

use crate::{object, pack, prepared, run, toml};

#[test]
fn a_resource_stands_alone_or_is_a_whole_value() {
    let args = "args.a = { required = true, access = \"read\" }\nargs.b = {}";
    for cli in [
        "'{{a}}', '{{b}}'",
        "'--file={{a}}', '{{b}}'",
        "'{{b}}.txt', '{{a}}'",
    ] {
        let text = pack(&format!("cli = [\"t\", {cli}]\n{args}"));
        assert!(toml(&text).is_ok(), "{cli}");
    }
    for cli in [
        "'{{a}}.txt', '{{b}}'",
        "'{{a}}/{{b}}'",
        "'{{b}}', 'x{{a}}'",
        "'--file=x/{{a}}', '{{b}}'",
        "'--file={{a}},{{b}}'",
        "'file={{a}}', '{{b}}'",
        "'{{a}}', '{{a}}{{b}}'",
    ] {
        let error = toml(&pack(&format!("cli = [\"t\", {cli}]\n{args}"))).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("`a` names a resource, and this token makes another of it"),
            "{cli}: {error}"
        );
    }
}

#[test]
fn a_resource_is_written_as_the_string_that_it_is() {
    let cases = [
        ("as = \"json\", ", "cannot be written `as = \"json\"`"),
        ("as = \"switch\", ", "cannot be written `as = \"switch\"`"),
        ("schema = { type = \"array\" }, ", "cannot be an array"),
        (
            "schema = { type = [\"string\", \"array\"] }, ",
            "cannot be an array",
        ),
        (
            "schema = { default = [\"/a\"] }, ",
            "the default must be a string",
        ),
    ];
    for (more, expected) in cases {
        let text = pack(&format!(
            "cli = [\"t\", \"--a={{{{a}}}}\"]\nargs.a = {{ {more}access = \"write\" }}"
        ));
        let error = toml(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{more}: {error}");
    }
}

#[test]
fn the_resources_of_a_call_are_told_in_order() {
    let command = prepared(
        "cli = [\"t\", \"{{src}}\", \"{{dst}}\", \"{{host}}\"]\n[commands.do.args]\n\
         src.access = \"read\"\ndst.access = \"write\"\nhost.access = \"connect\"\n",
    );
    let checked = command
        .check(&object(r#"{"dst":"/b","src":"/a"}"#))
        .unwrap();
    let resources: Vec<_> = checked
        .resources()
        .map(|resource| (resource.name, resource.access, resource.value))
        .collect();
    assert_eq!(
        resources,
        [("src", Access::Read, "/a"), ("dst", Access::Write, "/b")]
    );
    for args in [
        r#"{"src":1}"#,
        r#"{"src":["/a"]}"#,
        r#"{"src":["/a",1]}"#,
        r#"{"src":{}}"#,
    ] {
        assert_eq!(
            run(&command, args).unwrap_err(),
            "\"src\" must be a string, for it names a resource"
        );
    }
    assert_eq!(
        run(&command, r#"{"src":"/a\u0000"}"#).unwrap_err(),
        "\"src\" holds a NUL byte"
    );
}

#[test]
fn a_composite_hands_several_resources_on() {
    let manifest = toml(&pack(
        "kind = \"composite\"\nsteps.one = { call = \"q.go\", args = { all = \"{{args.all}}\" } }\n\
         args.all.access = \"read\"\n",
    ))
    .unwrap();
    let command = hcp_pack::PreparedCommand::prepare(&manifest, "do").unwrap();
    let checked = command.check(&object(r#"{"all":["/a","/b"]}"#)).unwrap();
    let values: Vec<_> = checked.resources().map(|resource| resource.value).collect();
    assert_eq!(values, ["/a", "/b"]);
}
