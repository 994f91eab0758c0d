//! Reads the tables and writes constants.

use std::fmt::Debug;
use std::fs;

/// The rows of a table below its heading, cell by cell.
pub(crate) fn rows(file: &str) -> Vec<Vec<String>> {
    let path = format!("tables/{file}.csv");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect();
    text.lines().skip(1).map(cells).collect()
}

/// A table of whole numbers; an empty cell, or one that is no number, is [`NONE`].
pub(crate) fn numbers(file: &str) -> Vec<Vec<u32>> {
    let number = |cell: &String| cell.parse().unwrap_or(NONE);
    rows(file).iter().map(|row| row.iter().map(number).collect()).collect()
}

/// An empty cell of a table.
pub(crate) const NONE: u32 = u32::MAX;

/// A number with a decimal point.
pub(crate) fn decimal(cell: &str) -> f64 {
    cell.parse().unwrap_or_else(|_| panic!("{cell:?} is no number"))
}

/// A code rate in 1/1024 as the table has it, in 1/2048, where all of them are whole.
pub(crate) fn rate_2048(cell: &str) -> u16 {
    let rate = decimal(cell) * 2.0;
    assert!(rate.fract() == 0.0, "code rate {cell}");
    rate as u16
}

/// A constant array.
pub(crate) fn array<T: Debug>(name: &str, element: &str, values: &[T]) -> String {
    format!("pub(crate) static {name}: [{element}; {}] = {values:?};\n", values.len())
}

/// The values a timer of RRC can take: single ones, and `from..to/step`.
pub(crate) fn timers(file: &str) -> String {
    rows(file)
        .iter()
        .map(|row| {
            let values: Vec<u32> = row[2].split(' ').flat_map(range).collect();
            let infinity = row[3] == "1";
            format!(
                "/// {}.\npub static {}: crate::Allowed = crate::Allowed {{ values: &{values:?}, infinity: {infinity} }};\n",
                row[1], row[0]
            )
        })
        .collect()
}

fn range(cell: &str) -> Vec<u32> {
    let number = |text: &str| text.parse::<u32>().expect("a number");
    match cell.split_once("..").and_then(|(from, rest)| Some((from, rest.split_once('/')?))) {
        None => vec![number(cell)],
        Some((from, (to, step))) => {
            (number(from)..=number(to)).step_by(number(step) as usize).collect()
        }
    }
}
