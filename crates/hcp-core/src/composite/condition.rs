//! The `when` of a step: a CEL expression that looks at arguments and results.
//!
//! Expressions come from packs, so everything about them is bounded before they run: the length of
//! the text, the number and nesting of its parts, what it may call, and how much of a result it looks
//! at. There are no macros, so there is no loop: a part is evaluated at most once. Whole numbers are
//! CEL integers, and a number that CEL cannot hold exactly is refused instead of rounded.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue};
use cel::objects::Key;
use cel::parser::PrattParser;
use cel::{Context, Env, ExecutionError, Value as CelValue};
use hcp_spec::envelope::MAX_DEPTH;
use hcp_spec::json::parse_value;
use serde_json::{Number, Value};

use super::reference::{Found, Known, Problem, Reference, Segment};

/// The longest expression, in bytes.
const MAX_TEXT: usize = 4 << 10;
/// The most parts an expression has.
const MAX_PARTS: usize = 256;
/// How deep its parts nest.
const MAX_NESTING: u16 = 32;
/// How much one reference may look at, in bytes of JSON.
const MAX_VALUE: usize = 64 << 10;

/// What an expression may call beside the operators.
const FUNCTIONS: [&str; 9] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "int",
    "uint",
    "double",
    "string",
    "bool",
];
const OPERATORS: [&str; 17] = [
    "_?_:_", "_&&_", "_||_", "!_", "_-_", "_+_", "_*_", "_/_", "_%_", "_==_", "_!=_", "_>=_",
    "_<=_", "_>_", "_<_", "-_", "@in",
];
const INDEX: &str = "_[_]";

static ENVIRONMENT: LazyLock<Arc<Env>> =
    LazyLock::new(|| Arc::new(Env::default().with_optional_support(false).with_stdlib()));

/// A condition, ready to be judged any number of times.
#[derive(Debug)]
pub(super) struct Condition {
    text: String,
    /// The expression, each reference replaced by a variable of its own.
    expression: IdedExpr,
    references: Vec<Reference>,
}

impl Condition {
    /// Compiles an expression; `steps` are the names of the plan, in its order.
    ///
    /// # Errors
    /// What is wrong with it, to be read behind `when`.
    pub(super) fn compile(text: &str, steps: &[&str]) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("is {} bytes long, over {MAX_TEXT}", text.len()));
        }
        let parser = PrattParser::new()
            .max_recursion_depth(MAX_NESTING)
            .error_recovery_limit(1)
            .error_reporting_limit(1);
        let mut expression = parser.parse(text).map_err(|errors| {
            let first = errors.errors.first();
            let (column, message) = first.map_or((1, "no expression"), |e| (e.pos.1, &e.msg));
            let message = message.lines().next().unwrap_or_default();
            format!("does not read at column {column}: {message}")
        })?;
        let mut reader = Reader {
            steps,
            parts: 0,
            references: Vec::new(),
        };
        reader.read(&mut expression, 0)?;
        Ok(Self {
            text: text.to_owned(),
            expression,
            references: reader.references,
        })
    }

    /// As the manifest writes it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Everything it looks at.
    pub(super) fn references(&self) -> &[Reference] {
        &self.references
    }

    /// Whether the condition holds. An argument that was not given is `null`, and so is everything of
    /// a step that was skipped.
    ///
    /// # Errors
    /// When it has no answer, or one that is neither true nor false. Values are never repeated.
    pub(super) fn holds(&self, known: &Known<'_>) -> Result<bool, Problem> {
        let mut context = Context::with_env(ENVIRONMENT.clone());
        let mut unbound = Vec::new();
        for (index, reference) in self.references.iter().enumerate() {
            // What cannot be looked at only matters where the expression comes to it.
            match value(reference, known) {
                Ok(value) => context.add_variable_from_value(variable(index), value),
                Err(problem) => unbound.push((variable(index), problem)),
            }
        }
        match context.resolve(&self.expression) {
            Ok(CelValue::Bool(holds)) => Ok(holds),
            Ok(_) => Err(Problem("it is neither true nor false".to_owned())),
            Err(ExecutionError::UndeclaredReference(name)) => {
                let unbound = unbound.into_iter().find(|(unbound, _)| unbound == &*name);
                Err(unbound.map_or_else(|| Problem("it has no answer".to_owned()), |it| it.1))
            }
            Err(error) => Err(Problem(in_words(&error))),
        }
    }
}

fn variable(index: usize) -> String {
    format!("v{index}")
}

/// Walks an expression once: counts its parts, judges its calls, takes its references out.
struct Reader<'a> {
    steps: &'a [&'a str],
    parts: usize,
    references: Vec<Reference>,
}

impl Reader<'_> {
    fn read(&mut self, expression: &mut IdedExpr, nesting: u16) -> Result<(), String> {
        self.parts += 1;
        if self.parts > MAX_PARTS || nesting > MAX_NESTING {
            return Err(format!(
                "has more than {MAX_PARTS} parts, or nests them deeper than {MAX_NESTING}"
            ));
        }
        if let Some(segments) = static_path(&expression.expr) {
            expression.expr = Expr::Ident(self.take(segments)?);
            return Ok(());
        }
        let nesting = nesting + 1;
        match &mut expression.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Call(call) => {
                let name = call.func_name.as_str();
                if !(name == INDEX || OPERATORS.contains(&name) || FUNCTIONS.contains(&name)) {
                    return Err(format!("cannot use `{name}`; {}", allowed()));
                }
                let target = call.target.as_deref_mut();
                let mut parts = target.into_iter().chain(&mut call.args);
                parts.try_for_each(|part| self.read(part, nesting))
            }
            Expr::Select(select) if !select.test => self.read(&mut select.operand, nesting),
            Expr::List(list) => list
                .elements
                .iter_mut()
                .try_for_each(|element| self.read(element, nesting)),
            Expr::Map(map) => map.entries.iter_mut().try_for_each(|entry| {
                let EntryExpr::MapEntry(entry) = &mut entry.expr else {
                    return Err(allowed());
                };
                self.read(&mut entry.key, nesting)?;
                self.read(&mut entry.value, nesting)
            }),
            Expr::Comprehension(_) | Expr::Select(_) => Err(format!(
                "cannot use a macro (`has`, `all`, `exists`, `map`, `filter`); {}",
                allowed()
            )),
            Expr::Ident(name) => Err(format!(
                "cannot use `{name}` alone; look at `args.<name>` or `steps.<name>.result`"
            )),
            Expr::Struct(_) | Expr::Unspecified => Err(allowed()),
        }
    }

    /// The variable that stands for this path.
    fn take(&mut self, segments: Vec<Segment>) -> Result<String, String> {
        let text = written(&segments);
        let reference = Reference::of_segments(text.clone(), segments, self.steps)
            .map_err(|problem| format!("cannot look at `{text}`, which {problem}"))?;
        let known = self.references.iter().position(|one| *one == reference);
        let index = known.unwrap_or_else(|| {
            self.references.push(reference);
            self.references.len() - 1
        });
        Ok(variable(index))
    }
}

fn allowed() -> String {
    format!("there are the operators and {}", FUNCTIONS.join(", "))
}

/// The path that an expression spells from `args` or `steps`, when nothing in it is to be computed.
fn static_path(mut expression: &Expr) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    loop {
        match expression {
            Expr::Ident(root) if matches!(root.as_str(), "args" | "steps") => {
                segments.push(Segment::Key(root.clone()));
                segments.reverse();
                return Some(segments);
            }
            Expr::Select(select) if !select.test => {
                segments.push(Segment::Key(select.field.clone()));
                expression = &select.operand.expr;
            }
            Expr::Call(call) if call.func_name == INDEX => {
                let [operand, index] = call.args.as_slice() else {
                    return None;
                };
                segments.push(match &index.expr {
                    Expr::Literal(LiteralValue::String(key)) => {
                        Segment::Key(key.inner().to_owned())
                    }
                    Expr::Literal(LiteralValue::Int(index)) => {
                        Segment::Index(usize::try_from(*index.inner()).ok()?)
                    }
                    _ => return None,
                });
                expression = &operand.expr;
            }
            _ => return None,
        }
    }
}

fn written(segments: &[Segment]) -> String {
    segments
        .iter()
        .fold(String::new(), |text, segment| match segment {
            Segment::Key(key) if text.is_empty() => key.clone(),
            Segment::Key(key) => format!("{text}.{key}"),
            Segment::Index(index) => format!("{text}[{index}]"),
        })
}

fn value(reference: &Reference, known: &Known<'_>) -> Result<CelValue, Problem> {
    let bounded = |length: usize| match length {
        0..=MAX_VALUE => Ok(()),
        _ => Err(Problem(format!(
            "`{reference}` is over {MAX_VALUE} bytes, more than a condition looks at"
        ))),
    };
    let exact = |value| {
        exactly(value)
            .ok_or_else(|| Problem(format!("`{reference}` holds a number beyond 64 bits")))
    };
    match reference.find(known)? {
        Found::Nothing => Ok(CelValue::Null),
        Found::Value(value) => {
            bounded(value.to_string().len())?;
            exact(value)
        }
        Found::Json(text) => {
            bounded(text.len())?;
            let value = parse_value(text, MAX_DEPTH)
                .map_err(|error| Problem(format!("`{reference}` leads to no value: {error}")))?;
            exact(&value)
        }
    }
}

/// The value as CEL has it; `None` for a number that it does not have.
fn exactly(value: &Value) -> Option<CelValue> {
    Some(match value {
        Value::Null => CelValue::Null,
        Value::Bool(value) => CelValue::Bool(*value),
        Value::Number(number) => exact_number(number)?,
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(elements) => {
            let elements: Option<Vec<_>> = elements.iter().map(exactly).collect();
            CelValue::List(Arc::new(elements?))
        }
        Value::Object(members) => {
            let members: Option<HashMap<Key, CelValue>> = members
                .iter()
                .map(|(key, member)| Some((Key::from(key.as_str()), exactly(member)?)))
                .collect();
            CelValue::Map(cel::objects::Map {
                map: Arc::new(members?),
            })
        }
    })
}

/// Written without fraction and exponent, a number is an integer; else it is a double.
fn exact_number(number: &Number) -> Option<CelValue> {
    let text = number.as_str();
    if text.contains(['.', 'e', 'E']) {
        let double: f64 = text.parse().ok()?;
        return double.is_finite().then_some(CelValue::Float(double));
    }
    let signed = text.parse().map(CelValue::Int);
    signed.or_else(|_| text.parse().map(CelValue::UInt)).ok()
}

/// The kinds of the values are told, never the values: they may be secrets, and this reaches logs.
fn in_words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(_) => "a key that it looks at is not there".to_owned(),
        ExecutionError::IndexOutOfBounds(_) => "an index is out of bounds".to_owned(),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "a number grows beyond 64 bits".to_owned(),
        ExecutionError::NoSuchOverload(overload) => format!(
            "`{}` does not take {}",
            overload.function(),
            overload.argument_types().join(" and ")
        ),
        _ => "it does not take values of these types".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hcp_spec::ResultValue;
    use hcp_spec::envelope::Arguments;
    use serde_json::json;

    use super::super::reference::Taken;
    use super::*;

    fn judge(text: &str) -> Result<bool, String> {
        let condition = Condition::compile(text, &["q", "skipped", "later"])?;
        let args: Arguments =
            json!({"n": 3, "name": "Ost", "flag": true, "list": [1, 2], "none": null})
                .as_object()
                .cloned()
                .unwrap();
        let raw = r#"{"price":12.50,"big":9007199254740993,"max":18446744073709551615,"over":18446744073709551616,"far":1e400,"legs":[{"line":"U1"}],"odd key":1}"#;
        let result = ResultValue::from_compact_json(raw.to_owned());
        let known = Known {
            args: &args,
            results: vec![Some(Taken::Result(&result)), Some(Taken::Skipped), None],
        };
        condition
            .holds(&known)
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn whole_numbers_are_integers_and_nothing_is_rounded() {
        for (text, expected) in [
            ("steps.q.result.price < 100", true),
            ("steps.q.result.price < 12", false),
            ("steps.q.result.big == 9007199254740993", true),
            ("steps.q.result.big == 9007199254740992", false),
            ("steps.q.result.big % 2 == 1", true),
            ("steps.q.result.max == 18446744073709551615u", true),
            ("args.n / 2 == 1", true),
            ("args.n == 3.0", true),
            ("args.name == 'Ost' && args.name.startsWith('O')", true),
            ("size(args.list) == 2 && 2 in args.list", true),
            ("args.absent == null && args.none == null", true),
            ("steps.skipped.result == null", true),
            ("steps.skipped.result.deeper.still == null", true),
            ("steps.q.result.legs[0].line == 'U1'", true),
            ("steps.q.result[\"odd key\"] == 1", true),
            ("steps['q'].result.legs[args.n - 3].line == 'U1'", true),
            ("args.n > 5 ? args.flag : !args.flag", false),
            ("args.flag", true),
            // What an expression does not come to does not matter.
            ("args.flag || steps.q.result.nowhere > 1", true),
            ("steps.q.result.over > 1 || args.flag", true),
        ] {
            assert_eq!(judge(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_answer_says_why_and_never_the_value() {
        for (text, expected) in [
            ("args.n", "it is neither true nor false"),
            (
                "steps.q.result.nowhere",
                "`steps.q.result.nowhere` leads nowhere",
            ),
            (
                "steps.q.result.over > 1",
                "`steps.q.result.over` holds a number beyond 64 bits",
            ),
            (
                "steps.q.result.far > 1",
                "`steps.q.result.far` holds a number beyond 64 bits",
            ),
            (
                "steps.q.result > 1",
                "`steps.q.result` holds a number beyond 64 bits",
            ),
            (
                "steps.later.result == 1",
                "`steps.later.result` is not known yet",
            ),
            ("args.n / 0 == 1", "it divides by zero"),
            (
                "args.n + 9223372036854775807 > 1",
                "a number grows beyond 64 bits",
            ),
            ("args.list[7] == 1", "`args.list[7]` leads nowhere"),
            ("args.list[args.n] == 1", "an index is out of bounds"),
            ("args.absent > 1", "`_>_` does not take null_type and int"),
        ] {
            let problem = judge(text).unwrap_err();
            assert_eq!(problem, expected, "{text}");
        }
        let leaky = judge("args.name > 1").unwrap_err();
        assert!(!leaky.contains("Ost"), "{leaky}");
    }

    #[test]
    fn macros_loops_and_the_unknown_are_refused_when_read() {
        for text in [
            "args.list.all(x, x > 0)",
            "args.list.exists(x, x > 0)",
            "args.list.map(x, x) == []",
            "args.list.filter(x, x > 0) == []",
            "args.list.exists_one(x, x > 0)",
            "has(args.n)",
            "args.name.matches('(a+)+$')",
            "steps.q.stdout == ''",
            "steps.q.ok",
            "steps.x.result == 1",
            "args",
            "size(steps) == 1",
            "env.HOME == ''",
            "steps[args.name].result == 1",
            "now()",
            "T{a: 1} == null",
            "type(args.n) == int",
            "args.?n == 1",
            "[?args.n] == []",
            "",
            "1 +",
            "args.n == 99999999999999999999",
            "dyn(args.n) == 1",
            "optional.of(1) == 1",
        ] {
            assert!(Condition::compile(text, &["q"]).is_err(), "{text}");
        }
        let long = format!("args.n == 1 {}", " ".repeat(MAX_TEXT));
        assert!(
            Condition::compile(&long, &[])
                .unwrap_err()
                .contains("over 4096")
        );
    }

    #[test]
    fn no_text_grows_deep_or_slow_enough_to_hurt() {
        for text in [
            "(".repeat(4000),
            "[".repeat(4000),
            "!".repeat(4000),
            "-".repeat(4000),
            "{".repeat(4000),
            "args.n?".repeat(500),
            format!("1{}", "+1".repeat(2000)),
            format!("[1]{}", "[0]".repeat(1300)),
            format!("true{}", "&&true".repeat(600)),
            format!("{}1{}", "size([".repeat(400), "])".repeat(400)),
        ] {
            let start = text.chars().take(12).collect::<String>();
            let error = Condition::compile(&text, &["q"]).map(|_| ()).unwrap_err();
            assert!(error.lines().count() == 1, "{start}: {error}");
        }
        let path = format!("args{} == null", ".b".repeat(2000));
        assert_eq!(judge(&path), Ok(true));
        assert_eq!(judge(&format!("0{} == 25", "+1".repeat(25))), Ok(true));
    }

    #[test]
    fn no_text_at_all_makes_it_fall_over() {
        use proptest::prelude::*;
        let piece = prop::sample::select(vec![
            "args.n",
            "steps.q.result.price",
            "steps.skipped.result",
            "args.name",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            " + ",
            " - ",
            "*",
            "/",
            "%",
            " == ",
            " < ",
            " in ",
            "&&",
            "||",
            "!",
            "?",
            ":",
            ",",
            ".",
            "'a'",
            "1",
            "2.5",
            "0",
            "null",
            "true",
            "size",
            "int",
            "string",
            "9223372036854775807",
            "\u{e9}",
            "\"",
            "\\",
            "u",
        ]);
        let text = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat());
        proptest!(ProptestConfig::with_cases(2000), |(text in text)| {
            if let Err(problem) = judge(&text) {
                prop_assert!(problem.lines().count() <= 1, "{}", problem);
            }
        });
    }
}
