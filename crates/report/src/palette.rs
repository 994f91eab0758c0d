//! Colours, dashes and shapes: a flow that is in several figures looks the same in all of them.

use std::collections::BTreeMap;

use plotters::style::RGBColor;

/// The colours of an item: on white, on black, and its class in a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    pub(super) class: &'static str,
    light: (u8, u8, u8),
    dark: (u8, u8, u8),
}

pub(super) const TEXT: usize = 0;
pub(super) const DIM: usize = 1;
pub(super) const RULE: usize = 2;
pub(super) const AREA: usize = 3;
const FIRST: usize = 5;

/// The colours of Okabe and Ito without their yellow, which is invisible on white; on black a
/// little lighter.
const INKS: [Ink; 12] = [
    Ink { class: "text", light: (28, 35, 48), dark: (230, 233, 238) },
    Ink { class: "dim", light: (91, 100, 114), dark: (154, 164, 178) },
    Ink { class: "rule", light: (222, 227, 234), dark: (45, 52, 64) },
    Ink { class: "area", light: (206, 213, 223), dark: (58, 66, 80) },
    Ink { class: "paper", light: (255, 255, 255), dark: (20, 24, 31) },
    Ink { class: "c0", light: (0, 114, 178), dark: (63, 148, 216) },
    Ink { class: "c1", light: (213, 94, 0), dark: (240, 122, 48) },
    Ink { class: "c2", light: (0, 158, 115), dark: (31, 194, 149) },
    Ink { class: "c3", light: (204, 121, 167), dark: (224, 150, 192) },
    Ink { class: "c4", light: (230, 159, 0), dark: (242, 182, 46) },
    Ink { class: "c5", light: (86, 180, 233), dark: (143, 211, 255) },
    Ink { class: "c6", light: (68, 64, 60), dark: (214, 211, 209) },
];

const COLOURS: usize = INKS.len() - FIRST;

/// More names than colours share colours, but not classes, by which a page shows one name alone. A
/// drawing knows a class by its colour alone, so each further turn through the colours is bluer by
/// an invisible step.
const CLASSES: [&str; 3 * COLOURS] = [
    "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13", "c14",
    "c15", "c16", "c17", "c18", "c19", "c20",
];

/// The style of the name with this number.
fn named(number: usize) -> Ink {
    let number = number % CLASSES.len();
    let (ink, turn) = (&INKS[FIRST + number % COLOURS], (number / COLOURS) as u8);
    let (red, green, blue) = ink.light;
    Ink { class: CLASSES[number], light: (red, green, blue + turn), dark: ink.dark }
}

fn inks() -> impl Iterator<Item = Ink> {
    INKS.into_iter().take(FIRST).chain((0..CLASSES.len()).map(named))
}

/// Lengths of strokes and gaps in pixels; no two colours that are close to each other have the
/// same.
const DASHES: [&[f64]; 4] = [&[], &[6.0, 3.0], &[2.0, 2.5], &[9.0, 3.0, 2.0, 3.0]];

/// The marks of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

const SHAPES: [Shape; 5] =
    [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Cross];

/// The style of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    number: usize,
}

impl Look {
    pub(super) fn colour(self) -> RGBColor {
        let (red, green, blue) = named(self.number).light;
        RGBColor(red, green, blue)
    }

    pub(super) fn class(self) -> &'static str {
        named(self.number).class
    }

    pub(super) fn shape(self) -> Shape {
        SHAPES[self.number % SHAPES.len()]
    }

    pub(super) fn dash(self) -> &'static [f64] {
        DASHES[self.number % DASHES.len()]
    }
}

/// Names with fixed colours, so that a reader can compare pages of different experiments.
const KNOWN: [&str; 7] = ["sounding", "biscay", "bbr", "cubic", "pbe-cc", "copa", "oracle"];

/// The styles of all names of a page.
#[derive(Clone, Debug, Default)]
pub struct Styles {
    looks: BTreeMap<String, Look>,
}

impl Styles {
    /// Gives each name a look; the same names in the same order always look the same.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let mut looks = BTreeMap::new();
        for (number, known) in KNOWN.iter().enumerate().filter(|(_, known)| names.contains(known)) {
            looks.insert((*known).to_owned(), Look { number });
        }
        let mut taken: Vec<usize> = looks.values().map(|look: &Look| look.number).collect();
        for name in names {
            if looks.contains_key(name) {
                continue;
            }
            // The least number whose colour the fewest others have.
            let uses = |number: &usize| {
                taken.iter().filter(|other| *other % COLOURS == number % COLOURS).count()
            };
            let free = (0..COLOURS * DASHES.len() * SHAPES.len()).filter(|n| !taken.contains(n));
            let number = free.min_by_key(|number| (uses(number), *number)).unwrap_or(taken.len());
            taken.push(number);
            looks.insert(name.to_owned(), Look { number });
        }
        Self { looks }
    }

    /// The look of this name; a distinct one if it is not in the list.
    pub(super) fn look(&self, name: &str) -> Look {
        self.looks.get(name).copied().unwrap_or(Look { number: COLOURS - 1 })
    }

    /// The name's class in the page, so that its table and its figures agree.
    pub(super) fn class(&self, name: &str) -> Option<&'static str> {
        self.looks.get(name).map(|look| look.class())
    }
}

pub(super) fn colour(ink: usize) -> RGBColor {
    let (red, green, blue) = INKS[ink].light;
    RGBColor(red, green, blue)
}

/// The CSS class of this colour.
pub(super) fn class((red, green, blue): (u8, u8, u8)) -> &'static str {
    let ink = inks().find(|ink| ink.light == (red, green, blue));
    ink.map_or("text", |ink| ink.class)
}

/// On white alone, as a file that is printed has to be, or as the reader's screen is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Light,
    Both,
}

/// The rules by which classes become colours.
pub(super) fn stylesheet(theme: Theme) -> String {
    let rules = |of: fn(&Ink) -> (u8, u8, u8)| {
        let rule = |ink: &Ink| {
            let ((red, green, blue), class) = (of(ink), ink.class);
            let colour = format!("#{red:02x}{green:02x}{blue:02x}");
            format!(".s.{class}{{stroke:{colour}}}.f.{class}{{fill:{colour}}}")
        };
        inks().map(|ink| rule(&ink)).collect::<String>()
    };
    let light = rules(|ink| ink.light);
    match theme {
        Theme::Light => format!(".s{{fill:none}}{light}"),
        Theme::Both => {
            let dark = rules(|ink| ink.dark);
            format!(".s{{fill:none}}{light}@media(prefers-color-scheme:dark){{{dark}}}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_controller_has_its_own_look_among_any_others() {
        let alone = Styles::of(["cubic"]);
        let among = Styles::of(["zebra", "reno", "cubic", "bbr"]);
        assert_eq!(alone.look("cubic"), among.look("cubic"));
    }

    #[test]
    fn seven_names_have_seven_colours_and_twenty_names_twenty_looks() {
        let names: Vec<String> = (0..20).map(|number| format!("name {number}")).collect();
        let styles = Styles::of(names.iter().map(String::as_str));
        let mut colours: Vec<_> = names[..7].iter().map(|name| styles.look(name).class()).collect();
        colours.sort_unstable();
        colours.dedup();
        assert_eq!(colours.len(), 7);
        let mut looks: Vec<_> = names
            .iter()
            .map(|name| styles.look(name))
            .map(|look| (look.number % COLOURS, look.dash().len(), look.shape() as u8))
            .collect();
        looks.sort_unstable();
        looks.dedup();
        assert_eq!(looks.len(), 20);
        let mut classes: Vec<_> = names.iter().map(|name| styles.class(name)).collect();
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), 20, "each can be shown alone");
    }

    #[test]
    fn no_two_inks_share_a_colour_or_a_class() {
        let inks: Vec<Ink> = inks().collect();
        for (at, one) in inks.iter().enumerate() {
            for other in &inks[at + 1..] {
                assert!(one.light != other.light && one.class != other.class, "{}", one.class);
            }
        }
    }
}
