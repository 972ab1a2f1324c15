//! Which pipeline does a command ask, and what if there is none?

use crate::arguments::{Choice, Command, Migrations};
use crate::exit::Exit;
use crate::explain;
use crate::screen::Screen;
use crate::{checkpoint, keys, migrations, report, status};
use replicant_sink::config;
use replicant_sink::doctor;
use replicant_sink::pipeline::Pipeline;
use replicant_sink::seal::inventory::inventory;

/// What a host writes so that its pipelines can be asked.
const LINES_TO_ADD: &str = "\
This binary knows no pipelines. Add a binary to your own crate that does:

    fn main() -> std::process::ExitCode {
        replicant_cli::main([my_crate::pipeline()])
    }";

pub(crate) fn run(command: Command, pipelines: &[Pipeline], screen: &mut Screen<'_>) -> Exit {
    let Some(choice) = command.choice().cloned() else {
        return match command {
            Command::Explain(options) => explain::run(&options, screen),
            Command::Migrations(options) => declared(&options, pipelines, screen),
            _ => Exit::NotAsked,
        };
    };
    let pipeline = match choose(&choice, pipelines) {
        Ok(pipeline) => pipeline,
        Err(complaint) => {
            screen.complain(&complaint);
            return Exit::NotAsked;
        }
    };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    else {
        screen.complain("this machine gave no threads");
        return Exit::NotAsked;
    };
    match command {
        Command::Preflight(_) => {
            let found = runtime.block_on(doctor::preflight(pipeline));
            report::print(&found, choice.format, screen)
        }
        Command::Doctor(_) => {
            let found = runtime.block_on(doctor::doctor(pipeline));
            report::print(&found, choice.format, screen)
        }
        Command::Status(_) => match runtime.block_on(doctor::status(pipeline)) {
            Ok(found) => status::print(&found, choice.format, screen),
            Err(error) => screen.refuse(&error),
        },
        Command::Keys(_) => match runtime.block_on(inventory(pipeline)) {
            Ok(found) => keys::print(&found, choice.format, screen),
            Err(error) => screen.refuse(&error),
        },
        Command::Checkpoint(command) => {
            runtime.block_on(checkpoint::run(command, pipeline, screen))
        }
        // They ask no pipeline and were answered above.
        Command::Explain(_) | Command::Migrations(_) => Exit::NotAsked,
    }
}

/// Migrations are of all pipelines, unless one is named.
fn declared(options: &Migrations, pipelines: &[Pipeline], screen: &mut Screen<'_>) -> Exit {
    let complaint = match (pipelines, &options.pipeline) {
        ([], _) => Some(LINES_TO_ADD.to_owned()),
        (_, None) => None,
        (_, Some(name)) => unknown(name, pipelines),
    };
    match complaint {
        Some(complaint) => {
            screen.complain(&complaint);
            Exit::NotAsked
        }
        None => migrations::run(options, pipelines, screen),
    }
}

/// The pipeline that is meant; a complaint that lists the known ones otherwise, or names two that the environment
/// cannot tell apart.
fn choose<'a>(choice: &Choice, pipelines: &'a [Pipeline]) -> Result<&'a Pipeline, String> {
    let names = pipelines.iter().map(Pipeline::name);
    config::check_prefixes(names).map_err(|error| error.to_string())?;
    match (&choice.pipeline, pipelines) {
        (_, []) => Err(LINES_TO_ADD.to_owned()),
        (None, [only]) => Ok(only),
        (None, _) => Err(format!(
            "say which pipeline with --pipeline NAME: {}",
            known(pipelines)
        )),
        (Some(name), _) => pipelines
            .iter()
            .find(|pipeline| pipeline.name() == name)
            .ok_or_else(|| unknown(name, pipelines).unwrap_or_default()),
    }
}

/// A complaint that lists the known pipelines when this is none of them.
fn unknown(name: &str, pipelines: &[Pipeline]) -> Option<String> {
    let is_known = pipelines.iter().any(|pipeline| pipeline.name() == name);
    (!is_known).then(|| format!("no pipeline `{name}`; there are: {}", known(pipelines)))
}

fn known(pipelines: &[Pipeline]) -> String {
    let names: Vec<&str> = pipelines.iter().map(Pipeline::name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Format, parse};
    use replicant_checkpoint::contract::sink::{CheckpointSpec, SinkSpec};

    fn pipeline(name: &str) -> Pipeline {
        const SPEC: SinkSpec = SinkSpec {
            rust_name: "Sink",
            slot_name: "slot",
            checkpoint: CheckpointSpec {
                schema: "replicant",
                select_grant: None,
            },
            ..SinkSpec::EMPTY
        };
        Pipeline::of_spec(&SPEC).named(name)
    }

    fn ask(line: &str, pipelines: &[&str]) -> (Exit, String) {
        let (mut answers, mut complaints) = (Vec::new(), Vec::new());
        let arguments = line.split(' ').map(Into::into);
        let command = parse(arguments).expect("a command");
        let pipelines: Vec<Pipeline> = pipelines.iter().copied().map(pipeline).collect();
        let exit = run(
            command,
            &pipelines,
            &mut Screen::captured(&mut answers, &mut complaints),
        );
        (exit, String::from_utf8(complaints).expect("UTF-8"))
    }

    #[test]
    fn without_pipelines_the_lines_to_add_are_printed() {
        for line in [
            "r preflight",
            "r doctor",
            "r status",
            "r checkpoint show",
            "r checkpoint reset --keep-slot",
            "r migrations",
        ] {
            let (exit, complaint) = ask(line, &[]);
            assert_eq!(exit, Exit::NotAsked, "{line}");
            assert!(complaint.contains("replicant_cli::main("), "{complaint}");
        }
    }

    #[test]
    fn an_unknown_pipeline_lists_the_known_ones() {
        let (exit, complaint) = ask("r status --pipeline stop", &["shop", "crm"]);
        assert_eq!(exit, Exit::NotAsked);
        assert!(complaint.contains("shop, crm"), "{complaint}");
        let (_, complaint) = ask("r status", &["shop", "crm"]);
        assert!(complaint.contains("--pipeline"), "{complaint}");
    }

    #[test]
    fn pipelines_that_the_environment_cannot_tell_apart_are_refused() {
        let line = "r status --pipeline shop-events";
        let (exit, complaint) = ask(line, &["shop-events", "shop_events"]);
        assert_eq!(exit, Exit::NotAsked);
        let named = "`shop-events` and `shop_events`";
        assert!(complaint.contains(named), "{complaint}");
        let both = ["shop-events", "shop_events"].map(pipeline);
        let refused = Pipeline::all_configured_by_environment(both).expect_err("refused");
        assert!(refused.to_string().contains(named), "{refused}");
    }

    #[test]
    fn the_only_pipeline_need_not_be_named() {
        let choice = Choice {
            pipeline: None,
            format: Format::Text,
        };
        let only = [pipeline("shop")];
        assert_eq!(choose(&choice, &only).expect("it").name(), "shop");
    }
}
