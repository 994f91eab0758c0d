use alloc::boxed::Box;

use crate::bbr::Bbr;
use crate::biscay::{BiscayController, Knobs};
use crate::cubic::Cubic;
use crate::reno::Reno;
use crate::sounding::Sounding;
use crate::{Controller, Start};

/// Makes a controller for a flow.
pub type Make = fn(&Start) -> Box<dyn Controller>;

/// Every controller that needs nothing but what a flow and a modem tell, by the name it has in plans. The oracle is not
/// among them: whoever makes one has to hand it the truth.
const CONTROLLERS: &[(&str, Make)] = &[
    ("reno", |start| Box::new(Reno::new(start))),
    ("cubic", |start| Box::new(Cubic::new(start))),
    ("bbr", |start| Box::new(Bbr::new(start))),
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
