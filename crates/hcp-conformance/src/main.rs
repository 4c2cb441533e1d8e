//! The `hcp-conformance` command: runs the kit, and is the programs that the kit needs besides: the
//! packs' bin, the credential helper, the reference-wrong runtime and the adapter of hcp.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use hcp_conformance::corpus::Corpus;
use hcp_conformance::ours::{Face, HcpRuntime};
use hcp_conformance::protocol::{serve, split_command};
use hcp_conformance::report::{self, Form};
use hcp_conformance::runner::{self, DEFAULT_LIMIT, Plan};
use hcp_conformance::wrong::{Faults, WrongRuntime};
use hcp_conformance::{KitError, mint, probe};

/// Hold a runtime to the clauses of §6
#[derive(Debug, Parser)]
#[command(name = "hcp-conformance", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the cases against a runtime; exits with 0 only when every claimed clause passes
    Run {
        /// The command that starts the adapter, split at white space outside of quotes
        #[arg(long, value_name = "COMMAND")]
        adapter: String,
        /// Only this clause; may be given several times
        #[arg(long = "clause", value_name = "CLAUSE")]
        clauses: Vec<String>,
        /// Only this case
        #[arg(long, value_name = "ID")]
        case: Option<String>,
        /// Rules beyond the law; may be given several times
        #[arg(long = "profile", value_enum)]
        profiles: Vec<Profile>,
        /// The form of the report
        #[arg(long, value_enum, default_value_t)]
        report: Form,
        /// How many adapters at once [default: one a processor, at most 4]
        #[arg(long)]
        jobs: Option<usize>,
        /// Seconds that an answer may take where the case does not say
        #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_LIMIT.as_secs())]
        time_limit: u64,
    },
    /// List the cases: id, level, what each proves
    List,
    /// Serve a small runtime that keeps the law, but for one fault
    WrongRuntime {
        /// The fault
        #[arg(long)]
        fault: Option<String>,
        /// List the faults: name, clause, what each does
        #[arg(long)]
        list_faults: bool,
    },
    /// Serve the hcp command line as a runtime, each case in an installation of its own
    HcpAdapter {
        /// The hcp program
        #[arg(long, value_name = "PATH")]
        hcp: PathBuf,
        /// The face that envelopes go in by
        #[arg(long, value_enum, default_value_t)]
        face: Face,
    },
}

/// Rules beyond the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// Refusals of calls that the letter of the law would run
    Strict,
    /// What the law leaves open, as the hcp contract decides it
    Hcp,
}

/// The status for a fault of the kit or of its command line.
const BROKEN: u8 = 2;

fn main() -> ExitCode {
    // The probe and the helper are started once a call; they have no time for a command line.
    let mut words = std::env::args_os().skip(1);
    let status = match words.next().as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("probe") => probe::run(words),
        Some("mint") => mint::run(words),
        _ => return run_command(Cli::parse().command),
    };
    ExitCode::from(u8::try_from(status).unwrap_or(BROKEN))
}

fn run_command(command: Command) -> ExitCode {
    match run(command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(BROKEN)
        }
    }
}

fn run(command: Command) -> Result<bool, KitError> {
    match command {
        Command::Run {
            adapter,
            clauses,
            case,
            profiles,
            report,
            jobs,
            time_limit,
        } => {
            let plan = Plan {
                adapter: split_command(&adapter),
                clauses,
                case,
                strict: profiles.contains(&Profile::Strict),
                hcp: profiles.contains(&Profile::Hcp),
                jobs: jobs.unwrap_or_else(processors),
                limit: Duration::from_secs(time_limit),
            };
            let run = runner::run(&Corpus::load()?, &plan, &kit()?)?;
            report::write(&run, report, &mut io::stdout().lock())
                .map_err(KitError::io("writing the report"))?;
            return Ok(run.passed());
        }
        Command::List => print_lines(
            Corpus::load()?
                .cases
                .iter()
                .map(|case| format!("{:<28} {:<8} {}", case.id, case.level.as_str(), case.proves)),
        )?,
        Command::WrongRuntime {
            list_faults: true, ..
        } => print_lines(
            Faults::all()?
                .iter()
                .map(|fault| format!("{:<28} {:<4} {}", fault.name, fault.clause, fault.does)),
        )?,
        Command::WrongRuntime { fault, .. } => {
            let mut runtime = WrongRuntime::new(Faults::only(fault.as_deref())?);
            serve(io::stdin().lock(), io::stdout().lock(), |request| {
                runtime.answer(request)
            })?;
        }
        Command::HcpAdapter { hcp, face } => {
            let mut runtime = HcpRuntime::new(absolute(&hcp)?, face);
            serve(io::stdin().lock(), io::stdout().lock(), |request| {
                runtime.answer(request)
            })?;
        }
    }
    Ok(true)
}

fn kit() -> Result<PathBuf, KitError> {
    std::env::current_exe().map_err(KitError::io("finding the kit's own program"))
}

fn absolute(path: &Path) -> Result<PathBuf, KitError> {
    std::path::absolute(path).map_err(KitError::io("finding hcp"))
}

fn processors() -> usize {
    std::thread::available_parallelism()
        .map_or(1, std::num::NonZero::get)
        .min(4)
}

fn print_lines(lines: impl Iterator<Item = String>) -> Result<(), KitError> {
    let mut output = io::stdout().lock();
    for line in lines {
        writeln!(output, "{line}").map_err(KitError::io("printing"))?;
    }
    Ok(())
}
