//! The scenario of a trace, and its plan.

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Entry, Order};

/// LTE or NR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rat {
    /// LTE.
    Lte,
    /// NR.
    Nr,
}

/// One of BISCAY's four scenarios, in one of two networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Scenario {
    /// The network.
    pub rat: Rat,
    /// Whether the device moves between cells.
    pub mobile: bool,
    /// Whether it is busy hours.
    pub on_peak: bool,
}

impl Scenario {
    /// That of a trace by its number, so that every stretch of ten has the shares of the whole
    /// (BISCAY §A.4).
    fn of(number: u32) -> Self {
        let (rat, number) = (if number.is_multiple_of(2) { Rat::Lte } else { Rat::Nr }, number / 2);
        let (period, statics) = match rat {
            Rat::Lte => (2, 1),
            Rat::Nr => (5, 1),
        };
        let mobile = number % period >= statics;
        // Another step in each round, so that peak and mobility are independent.
        let on_peak = (number % period * 2 + number / period) % 5 < 3;
        Self { rat, mobile, on_peak }
    }

    /// As folders are called.
    pub fn name(&self) -> String {
        let rat = match self.rat {
            Rat::Lte => "lte",
            Rat::Nr => "nr",
        };
        let mobility = if self.mobile { "mobile" } else { "static" };
        let hours = if self.on_peak { "on-peak" } else { "off-peak" };
        format!("{rat}-{mobility}-{hours}")
    }
}

pub(super) fn entry(order: &Order, number: u32) -> Entry {
    let scenario = Scenario::of(number);
    let seed = order.seed.wrapping_mul(1 << 20).wrapping_add(u64::from(number)) % (1 << 62);
    let plan = plan(order, &scenario, seed);
    Entry { name: format!("{:03}-{}", number + 1, scenario.name()), scenario, plan }
}

/// A random place, a network around it and its other users. All of it is chosen: no public set says
/// where its traces were made. The result is compared with public traces.
fn plan(order: &Order, scenario: &Scenario, seed: u64) -> String {
    let lots = &mut ChaCha8Rng::seed_from_u64(seed);
    let Scenario { rat, mobile, on_peak } = *scenario;
    let mut text = format!(
        "about = \"{}: what a saturating flow gets, as BISCAY 5.3.1 measured it\"\nduration = \"{}us\"\nseeds = {seed}\n",
        scenario.name(),
        order.duration.as_micros(),
    );
    // Sites of a city stand some 500 m apart (TR 38.901 Table 7.2-1); a device that moves meets
    // three of them.
    let sites: &[f64] = if mobile { &[0.0, 500.0, 1_000.0] } else { &[0.0] };
    let load = if on_peak { between(lots, 0.4, 0.7) } else { between(lots, 0.05, 0.25) };
    // Carriers of a site; the second is for aggregation, downlink only.
    let per_site = if lots.random::<f64>() < 0.3 { 2 } else { 1 };
    let width = match rat {
        Rat::Lte => [25, 50, 50, 75, 100][lots.random_range(0..5)],
        Rat::Nr => [24, 38, 51, 51, 78][lots.random_range(0..5)],
    };
    for (site, x_m) in sites.iter().enumerate() {
        for carrier in 0..per_site {
            let pci = 10 * (site + 1) + carrier;
            let _ = match rat {
                Rat::Lte => writeln!(
                    text,
                    "\n[[cell.carriers]]\nprb = {width}\npci = {pci}\narfcn = {}\nfrequency_mhz = {:?}",
                    [1_300, 6_300][carrier],
                    [1_842.5, 806.0][carrier],
                ),
                Rat::Nr => writeln!(
                    text,
                    "\n[[cell.carriers]]\nrat = \"nr\"\nnumerology = 1\ntdd = \"DDDSUDDSUU\"\nprb = {width}\npci = {pci}\n\
                     arfcn = {}\nfrequency_mhz = {:?}\nlayers = 2\nqam256 = true",
                    [636_666, 520_000][carrier],
                    [3_550.0, 2_600.0][carrier],
                ),
            };
            let _ = writeln!(
                text,
                "uplink = {}\ncontrol_users_per_sec = {:.0}\nsite.position = {{ x_m = {x_m:?}, y_m = 0.0 }}",
                carrier == 0,
                100.0 * load,
            );
        }
    }
    let cells: Vec<Vec<usize>> =
        (0..sites.len()).map(|site| (site * per_site..(site + 1) * per_site).collect()).collect();
    let _ = writeln!(text, "\n[[cell.devices]]\nname = \"phone\"\nmodem = {{}}\ncells = {cells:?}");
    // A wall or a vehicle; that of a car is 9 dB with a deviation of 5 (TR 38.901 §7.4.3.2).
    let loss_db;
    let _ = if mobile {
        // Walking, by bus, driving.
        let by = lots.random_range(0..3);
        let speed = [1.4, 6.0, 13.0][by] * between(lots, 0.8, 1.2);
        loss_db = if by == 0 { 0.0 } else { between(lots, 4.0, 14.0) };
        let (from, off) = (between(lots, -150.0, 600.0), between(lots, 30.0, 200.0));
        writeln!(
            text,
            "trajectory = {{ kind = \"waypoints\", points = [{{ x_m = {from:.1}, y_m = {off:.1} }}, \
             {{ x_m = {:.1}, y_m = {off:.1} }}], speed_mps = {speed:.2}, then = \"return\" }}",
            from + 600.0,
        )
    } else {
        let (x_m, y_m) = (between(lots, 60.0, 350.0), between(lots, -150.0, 150.0));
        // Seven in ten are indoors.
        loss_db = if lots.random::<f64>() < 0.7 { between(lots, 8.0, 22.0) } else { 0.0 };
        writeln!(
            text,
            "trajectory = {{ kind = \"static\", at = {{ x_m = {x_m:.1}, y_m = {y_m:.1} }} }}"
        )
    };
    let _ = writeln!(
        text,
        "[cell.devices.channel]\nkind = \"propagation\"\nfurther_loss_db = {loss_db:.1}\n\
         [cell.devices.channel.interference]\ncells = 3\nload = {load:.2}\nover_noise_db = {:.1}",
        between(lots, 8.0, 20.0),
    );
    // The users' traffic grows with the capacity.
    let scale = f64::from(width) / 50.0 * per_site as f64 * if rat == Rat::Nr { 2.2 } else { 1.0 };
    let mut uploads = String::new();
    for (site, x_m) in sites.iter().enumerate() {
        let users = if on_peak { lots.random_range(8..=16) } else { lots.random_range(2..=6) };
        for user in 0..users {
            let name = format!("user-{site}-{user}");
            let (x, y) = (x_m + between(lots, -250.0, 250.0), between(lots, -250.0, 250.0));
            let _ = writeln!(
                text,
                "\n[[cell.devices]]\nname = \"{name}\"\ncells = [[{}]]\n\
                 trajectory = {{ kind = \"static\", at = {{ x_m = {x:.1}, y_m = {y:.1} }} }}\n\
                 traffic = {{ kind = \"on-off\", bits_per_sec = {:.0}, on = \"{:.0}ms\", off = \"{:.0}ms\" }}",
                site * per_site,
                scale * between(lots, 15e6, 60e6),
                between(lots, 500.0, 4_000.0),
                between(lots, 3_000.0, 12_000.0),
            );
            let _ = writeln!(
                uploads,
                "\n[[flows]]\nname = \"upload\"\ndevice = \"{name}\"\ndirection = \"up\"\nstart = \"{:.0}ms\"\n\
                 traffic = {{ kind = \"on-off\", on = \"{:.0}ms\", off = \"{:.0}ms\" }}\nbuffer = \"100kB\"",
                between(lots, 0.0, 8_000.0),
                between(lots, 500.0, 3_000.0),
                between(lots, 4_000.0, 12_000.0),
            );
        }
    }
    // More than any of these networks carries.
    text.push_str(
        "\n[[flows]]\nname = \"flood\"\ndevice = \"phone\"\ndirection = \"up\"\n\
         traffic = { kind = \"datagrams\", rate = \"250Mbit\" }\n",
    );
    text.push_str(&uploads);
    text.push_str("\n[sweep]\n\"flows.0.direction\" = [\"up\", \"down\"]\n");
    text
}

fn between(lots: &mut ChaCha8Rng, least: f64, most: f64) -> f64 {
    least + (most - least) * lots.random::<f64>()
}
