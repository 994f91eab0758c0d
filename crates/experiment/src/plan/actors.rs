//! The devices of a plan's network, and the flows of each.

use std::ops::Range;

use sounding_sim::{Device, Port};

use super::{FlowPlan, Plan, TrafficPlan, Wrong, flow};

/// A group of equal devices of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their name in the plan.
    pub name: String,
    /// Their numbers.
    pub devices: Range<u16>,
}

impl Group {
    /// Name of one of them: the name alone if it is the only one.
    pub fn name_of(&self, device: Device) -> String {
        if self.devices.len() == 1 {
            self.name.clone()
        } else {
            format!("{}-{}", self.name, device.0 - self.devices.start)
        }
    }
}

/// All devices and flows of a plan, with each one of a group listed separately.
#[derive(Clone, Debug)]
pub struct Actors {
    /// The devices.
    pub groups: Vec<Group>,
    /// For each flow of the network: its entry in the plan, its number among the flows of that
    /// entry, and its port.
    pub flows: Vec<Actor>,
}

/// One flow of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Index of its [`FlowPlan`] in the plan.
    pub plan: usize,
    /// Its number among the flows of this entry.
    pub number: u32,
    /// Its device and direction.
    pub port: Port,
}

/// Maximum number of flows of a plan: more is a typing error.
const MAX_FLOWS: usize = 10_000;

impl Actors {
    /// Lists them; fails if a flow names an unknown device.
    ///
    /// # Errors
    ///
    /// [`Wrong`] if a name is taken or no name, a flow names an unknown device, or there are too
    /// many devices or transfers.
    pub fn new(plan: &Plan) -> Result<Self, Wrong> {
        let named = |name: &Option<String>, at: usize| {
            name.clone().unwrap_or_else(|| format!("device-{at}"))
        };
        let sizes: Vec<(String, u16)> = match &plan.cell {
            Some(cell) => {
                let devices = cell.devices.iter().enumerate();
                devices.map(|(at, device)| (named(&device.name, at), device.count)).collect()
            }
            None => {
                let links = plan.links.iter().enumerate();
                links.map(|(at, link)| (named(&link.name, at), 1)).collect()
            }
        };
        let table = if plan.cell.is_some() { "cell.devices" } else { "links" };
        let mut groups = Vec::<Group>::new();
        let mut first = 0_u16;
        for (at, (name, count)) in sizes.into_iter().enumerate() {
            check_name(&name).map_err(|what| Wrong::new(format!("{table}.{at}.name"), what))?;
            if groups.iter().any(|group| group.name == name) {
                let message = format!("{name:?} is the name of another device");
                return Err(Wrong::new(format!("{table}.{at}.name"), message));
            }
            let most = || Wrong::new(format!("{table}.{at}.count"), "more than 65535 devices");
            let end = first.checked_add(count).ok_or_else(most)?;
            groups.push(Group { name, devices: first..end });
            first = end;
        }
        let mut flows = Vec::new();
        for (at, flow) in plan.flows.iter().enumerate() {
            check_name(flow.label())
                .map_err(|what| Wrong::new(format!("flows.{at}.name"), what))?;
            let group = find(&groups, flow, at)?;
            let devices = group.devices.clone();
            if let TrafficPlan::Arrivals { load, sizes } = &flow.traffic {
                // One for each size: all of its transfers are counted as it.
                let device = Device(devices.start);
                let port = Port { device, direction: flow.direction };
                flows.extend((0..).zip(sizes).map(|(number, _)| Actor { plan: at, number, port }));
                let expected = flow::expected(*load, sizes, plan.duration);
                let expected =
                    expected.map_err(|why| Wrong::new(format!("flows.{at}.traffic.sizes"), why))?;
                if expected > MAX_FLOWS as f64 {
                    let message = format!("more than {MAX_FLOWS} transfers are to be expected");
                    return Err(Wrong::new(format!("flows.{at}.traffic.load"), message));
                }
                continue;
            }
            let each = devices.flat_map(|device| (0..flow.count).map(move |_| Device(device)));
            for (number, device) in (0..).zip(each) {
                let port = Port { device, direction: flow.direction };
                flows.push(Actor { plan: at, number, port });
            }
            if flows.len() > MAX_FLOWS {
                let message = format!("more than {MAX_FLOWS} flows in all");
                return Err(Wrong::new(format!("flows.{at}.count"), message));
            }
        }
        Ok(Self { groups, flows })
    }

    /// Name of a device.
    pub fn name_of(&self, device: Device) -> String {
        self.group(device)
            .map_or_else(|| format!("device {}", device.0), |group| group.name_of(device))
    }

    /// The devices that are alike with this one.
    pub fn group(&self, device: Device) -> Option<&Group> {
        self.groups.iter().find(|group| group.devices.contains(&device.0))
    }

    /// The devices that have a flow, each once, in order.
    pub fn busy(&self) -> Vec<Device> {
        let mut busy: Vec<_> = self.flows.iter().map(|flow| flow.port.device).collect();
        busy.sort_unstable();
        busy.dedup();
        busy
    }
}

/// Longest name in bytes. A file's name has that of a flow and that of its device, and at most 255
/// bytes.
const LONGEST_NAME: usize = 100;

/// Names become parts of the names of files.
fn check_name(name: &str) -> Result<(), String> {
    let wrong = match name {
        "" => "is empty",
        "." | ".." => "is the name of a folder",
        _ if name.len() > LONGEST_NAME => {
            return Err(format!(
                "has more than {LONGEST_NAME} bytes, and becomes part of a file's name"
            ));
        }
        _ if name.contains('/') => "has a slash",
        _ if name.chars().any(char::is_control) => "has a control character",
        _ => return Ok(()),
    };
    Err(format!("{name:?} {wrong}, and becomes part of a file's name"))
}

fn find<'a>(groups: &'a [Group], flow: &FlowPlan, at: usize) -> Result<&'a Group, Wrong> {
    let key = format!("flows.{at}.device");
    let Some(name) = &flow.device else {
        return groups.first().ok_or_else(|| Wrong::new(key, "the network has no device"));
    };
    groups.iter().find(|group| group.name == *name).ok_or_else(|| {
        let known: Vec<_> = groups.iter().map(|group| format!("`{}`", group.name)).collect();
        Wrong::new(key, format!("unknown device `{name}`, there are {}", known.join(", ")))
    })
}
