//! Runs a plan whose flows may have the controller of this crate, beside all that the project has.
//!
//! `gentle PLAN OUT [KEY=VALUE ...]` leaves in the new folder OUT what `sounding sim PLAN --out OUT
//! --series 100ms` does, and prints the same table.

mod controller;

use std::env;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use controller::Gentle;
use sounding_baselines::Registry;
use sounding_experiment::plan::Text;
use sounding_experiment::simulate::{self, Keep};
use sounding_experiment::study::Study;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [plan, out, sets @ ..] = &arguments[..] else {
        return Err("usage: PLAN OUT [KEY=VALUE ...]".into());
    };
    let mut controllers = Registry::default();
    controllers.add("gentle", |start| Box::new(Gentle::new(start)))?;
    let mut text = Text::read(Path::new(plan))?.with_controllers(controllers);
    for set in sets {
        text.set(set)?;
    }
    let keep = Keep { series: Some(Duration::from_millis(100)), ..Keep::default() };
    let finished = Study::new(text)?.run(&keep, Some(Path::new(out)))?;
    print!("{}", simulate::table(&finished));
    Ok(())
}
