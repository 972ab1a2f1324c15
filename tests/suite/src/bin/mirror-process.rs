//! A mirror as a process, for tests that kill it: told what to do by a variable, stopped by the end of its input.

use std::process::ExitCode;

use replicant_sink::options::Takeover;
use replicant_sink::pipeline::Pipeline;
use replicant_sink::resource::SinkDeclaration as _;
use replicant_sink::seal::StaticVault;
use replicant_tests::child::{DESCRIPTION, HOOKED};
use replicant_tests::hooked::{Shop, placed};
use replicant_tests::sealing;
use replicant_tests::specification::Specification;
use tokio::sync::oneshot;

#[tokio::main]
async fn main() -> ExitCode {
    let description = std::env::var(DESCRIPTION).unwrap();
    let description: serde_json::Value = serde_json::from_str(&description).unwrap();
    let text = |key: &str| -> String { description[key].as_str().unwrap().to_owned() };
    let tables: Vec<String> = serde_json::from_value(description["tables"].clone()).unwrap();
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    let destination = replicant_test_servers::connect::connect(&text("destination"))
        .await
        .unwrap();
    let rotations = description["rotations"].as_u64().unwrap();
    let rotations = u8::try_from(rotations).unwrap();
    let slot = Box::leak(text("slot").into_boxed_str());
    let pipeline = match tables.as_slice() {
        [HOOKED] => Pipeline::of_spec(placed::<Shop>(slot)).with_code(Shop::CODE),
        _ => {
            let specification = Specification::of_tables(&destination, slot, &tables);
            let mut specification = specification.await;
            specification.resources.iter_mut().for_each(sealing::seal);
            Pipeline::of_spec(specification.build())
        }
    };
    drop(destination);
    let pipeline = pipeline
        .source(text("source"))
        .destination(text("destination"))
        .publication(&text("publication"))
        .source_identity(&text("identity"))
        .takeover(match text("takeover").as_str() {
            "wait" => Takeover::Wait,
            _ => Takeover::Refuse,
        })
        .vault(StaticVault::new(sealing::rotated(rotations)))
        .go_forward();
    let handle = pipeline.start().await.unwrap();
    let mut status = handle.status_changes();
    tokio::select! {
        () = end_of_input() => {}
        // The line closes when the pipeline has stopped by itself.
        () = async { while status.changed().await.is_ok() {} } => {}
    }
    let outcome = handle.stop().await;
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The test that started this process reads what it prints.
            #[allow(clippy::print_stdout)]
            {
                println!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// A thread of its own waits, because a runtime does not end while one of its threads reads.
async fn end_of_input() {
    let (ended, end) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = ended.send(());
    });
    let _ = end.await;
}
