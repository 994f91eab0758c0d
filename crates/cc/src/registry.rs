use alloc::boxed::Box;
use core::time::Duration;

use crate::bbr::Bbr;
use crate::bbr3::Bbr3;
use crate::biscay::{BiscayController, Knobs};
use crate::copa::Copa;
use crate::cubic::Cubic;
use crate::gcc::Gcc;
use crate::ledbat::{Ledbat, LedbatPlusPlus};
use crate::lp::Lp;
use crate::pcc::{Allegro, Vivace};
use crate::reno::Reno;
use crate::sounding::Sounding;
use crate::sprout::Sprout;
use crate::vegas::Vegas;
use crate::verus::Verus;
use crate::{Controller, Start};

/// Makes a controller for a flow.
pub type Make = fn(&Start) -> Box<dyn Controller>;

/// Makes one controller, for one flow.
pub type MakeOnce = Box<dyn FnOnce(&Start) -> Box<dyn Controller> + Send>;

/// Every controller that needs nothing but what a flow and a modem tell, by the name it has in plans. The oracle is not
/// among them: whoever makes one has to hand it the truth.
const CONTROLLERS: &[(&str, Make)] = &[
    ("reno", |start| Box::new(Reno::new(start))),
    ("cubic", |start| Box::new(Cubic::new(start))),
    ("reno-hystart", |start| Box::new(Reno::with_hystart(start))),
    ("cubic-no-hystart", |start| Box::new(Cubic::new(start).without_hystart())),
    ("vegas", |start| Box::new(Vegas::new(start))),
    ("copa", |start| Box::new(Copa::new(start))),
    ("copa-default", |start| Box::new(Copa::with_delta(start, 0.5))),
    ("ledbat", |start| Box::new(Ledbat::new(start))),
    ("ledbat++", |start| Box::new(LedbatPlusPlus::new(start))),
    ("lp", |start| Box::new(Lp::new(start))),
    ("bbr", |start| Box::new(Bbr::new(start))),
    ("bbr3", |start| Box::new(Bbr3::new(start))),
    ("allegro", |start| Box::new(Allegro::new(start))),
    ("vivace", |start| Box::new(Vivace::new(start))),
    ("sprout", |start| Box::new(Sprout::new(start))),
    ("verus", |start| Box::new(Verus::new(start))),
    ("gcc", |start| Box::new(Gcc::new(start))),
    ("biscay", |start| Box::new(BiscayController::new(Knobs::default(), start))),
    ("sounding", |start| Box::new(Sounding::new(start))),
];

/// How to make the controller of this name.
pub fn by_name(name: &str) -> Option<Make> {
    CONTROLLERS.iter().find(|(known, _)| *known == name).map(|&(_, make)| make)
}

/// The names that [`by_name`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    CONTROLLERS.iter().map(|&(name, _)| name)
}

/// How to make a controller that hears of its link only so often, where that is another than one that is told every few
/// milliseconds: it has to believe what is older, and to wait longer until it takes silence for one.
pub fn told_every(name: &str, every: Duration) -> Option<MakeOnce> {
    match name {
        "biscay" => Some(Box::new(move |start| {
            let usual = Knobs::default();
            let knobs = Knobs {
                max_age: usual.max_age + every,
                max_silence: usual.max_silence + every,
                ..usual
            };
            Box::new(BiscayController::new(knobs, start))
        })),
        "sounding" => Some(Box::new(move |start| Box::new(Sounding::heard_every(start, every)))),
        _ => None,
    }
}
