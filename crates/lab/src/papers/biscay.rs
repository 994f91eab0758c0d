//! BISCAY's evaluation (§5), item by item: the paper's figures, the measured ones, and why they
//! differ.
//!
//! Plans and the paper's figures are the files of `papers/biscay`. In most of them flows run over
//! given links in virtual time, and the estimates come from what the links' modems would have
//! written. The loop is open, as in the paper's emulator; `closed_loop` is the alternative.
//! [`methods`] and [`views`] evaluate a modem's data, [`private`] runs this kernel over a modelled
//! cell.

mod distance;
mod experiment;
mod figures;
mod flags;
mod given_link;
mod granularity;
mod item;
mod methods;
mod plan;
mod private;
mod tables;
mod views;
mod wire;

use std::time::Duration;

use sounding_host::jobs;
pub use sounding_testbed::radio::{Entry, LinksError, ReadCapture, SHORTEST, Scenario};

pub use distance::Distance;
pub(crate) use experiment::{CrossingsItem, MethodsItem, PrivateItem, Replay, ViewsItem};
pub use figures::Figures;
pub(crate) use granularity::GranularityExperiment;
pub use item::{Evidence, Item, OverLinks, Report};
pub use methods::{Methods, methods};
pub use plan::Plan;
pub use private::{Private, PrivateRun, private, private_page};
pub use views::{View, views};
pub use wire::{Crossing, Ground, Wires, crossings};

use given_link::{FlowStart, PathSetup};

/// The flows on a link, the interval of their estimates, and the measured time.
#[derive(Clone, Copy, Debug)]
struct Setting<'a> {
    controller: &'a str,
    flows: usize,
    told: Told,
}

/// When controllers receive estimates of the link.
#[derive(Clone, Copy, Debug)]
enum Told {
    AsByDaemon,
    Every(Duration),
    Once,
}

/// Runs everything that a plan names over these links, on `jobs` threads. `read` opens modem
/// output; `progress` is called after each link.
pub fn measure(
    plan: &Plan,
    entries: &[Entry],
    jobs: usize,
    read: &ReadCapture<'_>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Figures>, LinksError> {
    let mut done = 0;
    let told = |_: &_, _: &_| {
        done += 1;
        progress(done, entries.len());
    };
    let figures = jobs::each(entries, jobs, |entry| over(plan, entry, read), told)?;
    Ok(figures.into_iter().flatten().collect())
}

fn over(plan: &Plan, entry: &Entry, read: &ReadCapture<'_>) -> Result<Vec<Figures>, LinksError> {
    let link = entry.open(plan.duration + Duration::from_secs(1), read)?;
    // A modem's log does not repeat, unlike the link.
    let until = plan.duration.min(link.duration);
    let mut figures = Vec::new();
    for setting in plan.settings() {
        let Setting { controller, flows, told } = setting;
        let starts: Vec<FlowStart<'_>> = (0..flows)
            .map(|at| FlowStart {
                controller,
                begins: plan.stagger * u32::try_from(at).unwrap_or(u32::MAX),
            })
            .collect();
        let every = if let Told::Every(every) = told { Some(every) } else { None };
        let setup = PathSetup { delay: plan.delay, until, every, wire: None };
        let (name, observed) = match told {
            Told::Once => {
                let Some(averaged) = link.averaged() else { continue };
                (format!("{controller} once"), given_link::run(&averaged, &setup, &starts))
            }
            _ => (controller.to_owned(), given_link::run(&link, &setup, &starts)),
        };
        let measured = Figures::of(&link, entry.scenario, &name, flows, &observed.0, until);
        figures.extend(measured.map(|figures| Figures {
            every_ms: every.map(|every| every.as_secs_f64() * 1e3),
            ..figures
        }));
    }
    Ok(figures)
}
