//! Compares a decoded record with the reference's reading of it, name by name, in both directions.
//! A field of ours without a rule fails the test. A field of the reference without a rule fails it
//! too.

use serde_json::{Map, Value as Json};

use crate::tree::{Item, Leaf, Node};

/// One field or list of ours or of the reference, and its form on the other side.
pub(crate) struct Rule {
    pub ours: &'static str,
    pub theirs: &'static str,
    pub how: How,
}

pub(crate) enum How {
    /// The same number, or the same bytes in hex.
    Same,
    /// Our number has this text; the reference's word for one it does not know is always the same.
    Text(&'static [(i64, &'static str)]),
    /// The reference is wrong, and gives the result of this function. The table of its errors has
    /// the reason.
    Error(fn(&Item) -> Json),
    /// The same number, except for an antenna that does not exist. Then we have no value, and the
    /// reference has the value of zero steps, `zero`. Its RSRP for this antenna, named `rsrp`,
    /// is −180 dBm.
    Antenna { rsrp: &'static str, zero: f64 },
    /// As [`How::Error`], but the reference is right and only writes it differently.
    Differently(fn(&Item) -> Json),
    /// A list, item by item, by these rules. The reference may also read items in unused space.
    List(Vec<Rule>),
    /// Only our decoder has it.
    Ours,
    /// Only the reference has it: constants, sums and repeated values.
    Theirs,
}

/// The number of compared fields of a record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields {
    /// Equal on both sides, possibly in another notation.
    pub equal: u64,
    /// Different, as the table of the reference's errors predicts.
    pub explained: u64,
    /// The reference does not have it.
    pub ours_alone: u64,
}

impl std::ops::Add for Fields {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            equal: self.equal + other.equal,
            explained: self.explained + other.explained,
            ours_alone: self.ours_alone + other.ours_alone,
        }
    }
}

impl std::ops::AddAssign for Fields {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Fields {
    const EQUAL: Self = Self { equal: 1, explained: 0, ours_alone: 0 };
    const EXPLAINED: Self = Self { equal: 0, explained: 1, ours_alone: 0 };
    const OURS_ALONE: Self = Self { equal: 0, explained: 0, ours_alone: 1 };
}

const UNKNOWN: &str = "(MI)Unknown";

pub(crate) fn compare(
    ours: &Item,
    theirs: &Map<String, Json>,
    rules: &[Rule],
) -> Result<Fields, String> {
    let mut fields = Fields::default();
    for (name, node) in &ours.0 {
        let candidates = || rules.iter().filter(|rule| rule.ours == *name);
        let rule = candidates()
            .find(|rule| theirs.contains_key(rule.theirs))
            .or_else(|| candidates().next())
            .ok_or_else(|| format!("no rule for our {name}"))?;
        fields += compare_one(ours, node, theirs.get(rule.theirs), rule)?;
    }
    for name in theirs.keys() {
        let answers = || rules.iter().filter(|rule| rule.theirs == name);
        let answered = answers().any(|rule| {
            matches!(rule.how, How::Theirs) || ours.0.iter().any(|(ours, _)| *ours == rule.ours)
        });
        if answered {
            continue;
        }
        if !answers().any(|rule| is_absent(theirs, rule)) {
            return Err(format!("they have {name:?}, we have nothing for it"));
        }
        fields += Fields::EXPLAINED;
    }
    Ok(fields)
}

/// Whether the reference has nothing but zero steps for an antenna: its RSRP is the value of none,
/// and so is this.
fn is_absent(theirs: &Map<String, Json>, rule: &Rule) -> bool {
    let How::Antenna { rsrp, zero } = rule.how else { return false };
    let has = |name: &str, value: f64| theirs.get(name).and_then(Json::as_f64) == Some(value);
    has(rsrp, -180.0) && has(rule.theirs, zero)
}

fn compare_one(
    item: &Item,
    ours: &Node,
    theirs: Option<&Json>,
    rule: &Rule,
) -> Result<Fields, String> {
    if matches!(rule.how, How::Ours) {
        return Ok(Fields::OURS_ALONE);
    }
    let theirs = theirs.ok_or_else(|| format!("they have no {:?}", rule.theirs))?;
    let differ = |wanted: &dyn std::fmt::Debug| {
        format!("{} is {ours:?}, so {:?} should be {wanted:?}, is {theirs}", rule.ours, rule.theirs)
    };
    match (&rule.how, ours) {
        (How::Same | How::Antenna { .. }, Node::Leaf(leaf)) if same(leaf, theirs) => {
            Ok(Fields::EQUAL)
        }
        (How::Same | How::Antenna { .. }, _) => Err(differ(ours)),
        (How::Text(texts), Node::Leaf(Leaf::Number(number) | Leaf::Choice(number, _))) => {
            let text = texts.iter().find(|(found, _)| found == number).map_or(UNKNOWN, |(_, t)| t);
            if theirs.as_str() == Some(text) { Ok(Fields::EQUAL) } else { Err(differ(&text)) }
        }
        (How::Error(make) | How::Differently(make), _) => {
            let wanted = make(item);
            match rule.how {
                _ if wanted != *theirs => Err(differ(&wanted)),
                How::Error(_) => Ok(Fields::EXPLAINED),
                _ => Ok(Fields::EQUAL),
            }
        }
        (How::List(rules), Node::List(items)) => {
            compare_lists(items, theirs, rules).map_err(|error| format!("{}: {error}", rule.ours))
        }
        _ => Err(format!("the rule for {} does not fit {ours:?}", rule.ours)),
    }
}

fn compare_lists(ours: &[Item], theirs: &Json, rules: &[Rule]) -> Result<Fields, String> {
    let mut fields = Fields::default();
    let theirs = theirs.as_array().ok_or("theirs is no list")?;
    if theirs.len() < ours.len() {
        return Err(format!("we have {} items, they have {}", ours.len(), theirs.len()));
    }
    for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let theirs = theirs.as_object().ok_or("their item is no object")?;
        fields += compare(ours, theirs, rules).map_err(|error| format!("item {i}: {error}"))?;
    }
    Ok(fields)
}

fn same(ours: &Leaf, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Leaf::Number(ours) | Leaf::Choice(ours, _), Json::Number(theirs)) => {
            theirs.as_i64() == Some(*ours) || theirs.as_u64() == Some(ours.cast_unsigned())
        }
        // Theirs went through a 32-bit float.
        (Leaf::Real(ours), Json::Number(theirs)) => theirs
            .as_f64()
            .is_some_and(|theirs| (ours - theirs).abs() <= 1e-5 * ours.abs().max(0.1)),
        (Leaf::Bytes(ours), Json::String(theirs)) => {
            let hex: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
            theirs.strip_prefix("0x") == Some(&hex)
        }
        (Leaf::Number(ours) | Leaf::Choice(ours, _), Json::String(theirs)) => {
            let hex = theirs.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            hex == Some(ours.cast_unsigned())
        }
        _ => false,
    }
}
