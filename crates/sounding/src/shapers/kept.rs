//! One direction that is kept: its shaper, or why there is none.

use std::thread::sleep;
use std::time::{Duration, Instant};

use sounding_qdisc::{Before, Error, Plan, Shaper, Tc};
use sounding_units::Rate;

use super::autorate;
use super::instruction::{KeeperEvent, Side, Standing, Wanted, Way};
use super::left::{Note, is_any_kept, is_kept};

/// The longest time that the keeper of a killed daemon needs.
const PUT_BACK: Duration = Duration::from_secs(2);

/// A direction.
#[derive(Debug)]
pub(super) struct Kept {
    wanted: Wanted,
    /// The number of the named device: another one came back.
    index: u32,
    state: State,
    /// The newest rate, for a device that comes back.
    rate: Option<Rate>,
    note: Option<Note>,
    /// The newest failure that was said.
    said: String,
}

/// ```text
///            another program changed it
/// Shaped ──────────────────────────────▶ Left
///   │ ▲                                   │
///   │ └── the device is back ──┐          │
///   └── the device went ─────▶ Away ◀─────┘
/// ```
#[derive(Debug)]
enum State {
    Shaped(Box<Shaper>),
    /// Another program's by now. Of what this program made, something may stand there still.
    Left(Before),
    Away,
}

impl Kept {
    /// Takes or makes the shaper. `others` are kept by this process already.
    pub(super) fn begin(
        tc: &Tc,
        wanted: Wanted,
        others: &[Self],
    ) -> Result<(Self, Standing), String> {
        if wanted.min_bits_per_sec > wanted.max_bits_per_sec || wanted.min_bits_per_sec < 8 {
            return Err(format!(
                "{}: the limits {} to {} bit/s are no range of rates: begin at 8 bit/s or more",
                wanted.device, wanted.min_bits_per_sec, wanted.max_bits_per_sec
            ));
        }
        if let Way::Manage { start_bits_per_sec, .. } = wanted.way {
            within(&wanted, start_bits_per_sec)?;
        }
        let mut kept = Self {
            wanted,
            index: 0,
            state: State::Away,
            rate: None,
            note: None,
            said: String::new(),
        };
        let own: Vec<String> = others.iter().filter_map(Self::place).collect();
        let until = Instant::now() + PUT_BACK;
        loop {
            match kept.shape(tc) {
                Ok(standing) => return Ok((kept, standing)),
                // Perhaps of a daemon that was killed a moment ago, and restoring.
                Err(_) if is_any_kept(&own) && Instant::now() < until => {
                    sleep(Duration::from_millis(20));
                }
                Err(why) => return Err(why),
            }
        }
    }

    /// The device at whose root the shaper stands.
    fn place(&self) -> Option<String> {
        match &self.state {
            State::Shaped(shaper) => Some(shaper.device().into()),
            State::Left(before) => Some(before.device().into()),
            State::Away => None,
        }
    }

    pub(super) fn direction(&self) -> Side {
        self.wanted.direction
    }

    /// Sets a rate within the limits.
    pub(super) fn set(
        &mut self,
        tc: &Tc,
        bits_per_sec: u64,
    ) -> Result<Option<KeeperEvent>, String> {
        let rate = within(&self.wanted, bits_per_sec)?;
        self.rate = Some(rate);
        Ok(match &mut self.state {
            State::Shaped(shaper) => {
                if let Err(why) = tell(self.note.as_ref(), shaper, rate) {
                    return Ok(self.fail(why));
                }
                let outcome = shaper.set_rate(tc, rate);
                self.judge(tc, outcome)
            }
            // That was said when it began.
            State::Left(_) | State::Away => None,
        })
    }

    /// Looks whether all is as it was.
    pub(super) fn look(&mut self, tc: &Tc) -> Option<KeeperEvent> {
        let there = tc.device(&self.wanted.device);
        let is_same = there.as_ref().is_ok_and(|device| device.index == self.index);
        match &self.state {
            State::Shaped(shaper) if is_same => {
                let outcome = shaper.check(tc);
                self.judge(tc, outcome)
            }
            State::Left(_) if is_same => None,
            State::Away if there.is_err() => None,
            State::Away => self.come_back(tc),
            // The same name with another number is seen as absent first, which is said.
            State::Shaped(_) | State::Left(_) => {
                let why = there.map_or_else(
                    |error| error.to_string(),
                    |_| format!("{}: the device went and came back", self.wanted.device),
                );
                Some(self.go(tc, why))
            }
        }
    }

    /// Restores the machine. If that fails, the file stays.
    pub(super) fn end(mut self, tc: &Tc) -> Result<(), Error> {
        let outcome = match std::mem::replace(&mut self.state, State::Away) {
            State::Shaped(shaper) => shaper.restore(tc),
            State::Left(before) => Self::take_rest(tc, &self.wanted, &before),
            State::Away => Ok(()),
        };
        // A rate of another program's is not restored, now or later.
        if matches!(outcome, Ok(()) | Err(Error::Changed { .. })) {
            self.forget();
        }
        outcome
    }

    /// Takes the shaper that stands there, or makes one.
    fn shape(&mut self, tc: &Tc) -> Result<Standing, String> {
        let Wanted { device, direction, way, .. } = &self.wanted;
        let error = |error: Error| error.to_string();
        let there = tc.device(device).map_err(error)?;
        let no_other = |before: &Before| match autorate::running_on(&[device, before.device()]) {
            Some(process) => Err(format!(
                "{device}: cake-autorate (process {process}) sets its rate: stop that first"
            )),
            None if self.note.is_none() && is_kept(before.device()) => Err(others(before.device())),
            None => Ok(()),
        };
        let keep = |before: &Before| {
            Note::keep(before).map_err(|error| {
                format!(
                    "{device}: how it was cannot be kept in a file ({error}): nothing is changed"
                )
            })
        };
        let (mut shaper, note) = match *way {
            Way::Adopt => {
                let shaper = Shaper::adopt(tc, device).map_err(error)?;
                no_other(shaper.before())?;
                let note = keep(shaper.before())?;
                (shaper, note)
            }
            Way::Manage { kind, start_bits_per_sec } => {
                let plan = Plan::new(tc, (*direction).into(), device, kind);
                let plan = match plan {
                    // The shaper there is not an earlier run's.
                    Err(_) if self.note.is_none() && is_kept(device) => return Err(others(device)),
                    plan => plan.map_err(error)?,
                };
                no_other(plan.before())?;
                let note = keep(plan.before())?;
                let rate = self.rate.unwrap_or(Rate::from_bits_per_sec(start_bits_per_sec));
                match plan.make(tc, rate) {
                    Ok(shaper) => (shaper, note),
                    Err(made) => {
                        // All of it was taken back.
                        let _ = note.forget();
                        return Err(error(made));
                    }
                }
            }
        };
        if let Some(rate) = self.rate.filter(|_| *way == Way::Adopt) {
            tell(Some(&note), &shaper, rate)?;
            shaper.set_rate(tc, rate).map_err(error)?;
        }
        let rate = shaper.rate(tc).map_err(error)?;
        let standing = Standing {
            direction: *direction,
            device: device.clone(),
            place: shaper.device().into(),
            kind: shaper.kind(),
            shaper: shaper.to_string(),
            rate_bits_per_sec: rate.map(Rate::bits_per_sec),
            is_managed: *way != Way::Adopt,
        };
        self.index = there.index;
        self.note = Some(note);
        self.state = State::Shaped(Box::new(shaper));
        Ok(standing)
    }

    fn judge(&mut self, tc: &Tc, outcome: Result<(), Error>) -> Option<KeeperEvent> {
        let error = match outcome {
            Ok(()) => {
                self.said.clear();
                return None;
            }
            Err(error) => error,
        };
        let why = error.to_string();
        match error {
            Error::Changed { .. } => {
                if let State::Shaped(shaper) = &self.state {
                    self.state = State::Left(shaper.before().clone());
                }
                Some(KeeperEvent::Changed { direction: self.direction(), why })
            }
            Error::Gone { .. } | Error::Returned { .. } => Some(self.go(tc, why)),
            _ => self.fail(why),
        }
    }

    /// The device has gone, and its qdiscs with it. Its IFB has not.
    fn go(&mut self, tc: &Tc, why: String) -> KeeperEvent {
        let rest = match std::mem::replace(&mut self.state, State::Away) {
            State::Shaped(shaper) => shaper.before().restore(tc).map(drop),
            State::Left(before) => Self::take_rest(tc, &self.wanted, &before),
            State::Away => Ok(()),
        };
        match rest {
            Ok(()) => self.forget(),
            // Its file stays.
            Err(error) => eprintln!("sounding: not restored: {error}"),
        }
        KeeperEvent::Gone { direction: self.direction(), why }
    }

    /// An adopted shaper that another program has changed is not touched.
    fn take_rest(tc: &Tc, wanted: &Wanted, before: &Before) -> Result<(), Error> {
        if wanted.way == Way::Adopt { Ok(()) } else { before.restore(tc).map(drop) }
    }

    fn come_back(&mut self, tc: &Tc) -> Option<KeeperEvent> {
        match self.shape(tc) {
            Ok(standing) => {
                self.said.clear();
                Some(KeeperEvent::Back(standing))
            }
            // Another program may put its shaper there in a moment.
            Err(why) => self.fail(why),
        }
    }

    /// The same failure is said once.
    fn fail(&mut self, why: String) -> Option<KeeperEvent> {
        if self.said == why {
            return None;
        }
        self.said.clone_from(&why);
        Some(KeeperEvent::Failed { direction: self.direction(), why })
    }

    fn forget(&mut self) {
        if let Some(Err(error)) = self.note.take().map(Note::forget) {
            eprintln!("sounding: {}: its file stays: {error}", self.wanted.device);
        }
    }
}

/// Keeps a rate that is about to be set, so that a kill does not leave it as another program's.
fn tell(note: Option<&Note>, shaper: &Shaper, rate: Rate) -> Result<(), String> {
    let Some(note) = note else { return Ok(()) };
    let rates = shaper.rates_until(rate).map_err(|error| error.to_string())?;
    note.tell(rates).map_err(|error| {
        format!("{}: its file cannot be written ({error}): the rate stays", shaper.device())
    })
}

fn others(device: &str) -> String {
    format!("{device}: another sounding shapes it: stop that first")
}

/// The rate, if it is within the limits.
fn within(wanted: &Wanted, bits_per_sec: u64) -> Result<Rate, String> {
    let Wanted { min_bits_per_sec: min, max_bits_per_sec: max, direction, .. } = wanted;
    if (*min..=*max).contains(&bits_per_sec) {
        return Ok(Rate::from_bits_per_sec(bits_per_sec));
    }
    Err(format!("{direction}: {bits_per_sec} bit/s is not within {min} to {max} bit/s"))
}
