/// A table of the notes, without its heading; `None` where the notes are absent.
pub(crate) fn table(name: &str) -> Option<Vec<Vec<String>>> {
    assert!(super::CHECKED.contains(&name), "{name} is in the list of what is checked");
    let path = sounding_testdata::shared(&format!("../notes/tables/{name}.csv"))?;
    let text = std::fs::read_to_string(path).expect("readable");
    let rows: Vec<Vec<String>> = text.lines().skip(1).map(cells).collect();
    assert!(!rows.is_empty(), "{name} has rows");
    Some(rows)
}

/// Cells are separated by commas, except within quotation marks.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("one at least").push(character),
        }
    }
    cells
}

/// A number, or `None` for an empty cell.
pub(crate) fn number<T: std::str::FromStr>(cell: &str) -> Option<T> {
    let cell = cell.trim();
    if cell.is_empty() {
        return None;
    }
    Some(cell.parse().unwrap_or_else(|_| panic!("{cell:?} is no number of this kind")))
}

/// A number that has to be there.
pub(crate) fn some<T: std::str::FromStr>(cell: &str) -> T {
    number(cell).unwrap_or_else(|| panic!("an empty cell"))
}

/// The numbers of a list as people write it: `5, 10 (typical 7), 20..30 step 5`. Text in brackets,
/// and text after a semicolon, is a remark.
pub(crate) fn list(text: &str) -> Vec<u32> {
    let text = text.split(';').next().unwrap_or_default();
    let mut plain = String::new();
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain.split(',').flat_map(|item| values(item.trim().trim_start_matches('n'))).collect()
}

fn values(item: &str) -> Vec<u32> {
    let range = item.split_once("..").and_then(|(from, rest)| {
        let (to, step) = rest.split_once(" step ")?;
        Some((some::<u32>(from), some::<u32>(to), some::<usize>(step)))
    });
    match range {
        Some((from, to, step)) => (from..=to).step_by(step).collect(),
        None => item.parse().into_iter().collect(),
    }
}
