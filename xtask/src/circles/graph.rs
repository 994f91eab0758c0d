//! The uses between sibling modules, and the circles among them.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;

/// The place where one module uses another: a file and a line.
pub(crate) type Place = (String, usize);

/// Modules of one parent. Each uses each other one, if over others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Circle {
    /// The parent's path.
    pub(crate) parent: String,
    /// Names of the modules, in order.
    pub(crate) members: Vec<String>,
    /// The uses within the circle, each with its first place.
    pub(crate) uses: Vec<(String, String, Place)>,
}

/// From a module to those of its siblings that it uses, and where first.
type Uses = BTreeMap<usize, BTreeMap<usize, Place>>;

/// All circles of a tree, by parent.
pub(crate) fn circles(tree: &Tree) -> Vec<Circle> {
    let mut uses = Uses::new();
    for (at, module) in tree.modules.iter().enumerate() {
        for mention in &module.mentions {
            let target = tree.definer(at, &mention.path);
            let Some((from, to)) = target.and_then(|target| siblings(tree, at, target)) else {
                continue;
            };
            let place = (module.file.display().to_string(), mention.line);
            let first = uses.entry(from).or_default().entry(to).or_insert_with(|| place.clone());
            *first = place.min(first.clone());
        }
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::<usize>::new();
    for &at in uses.keys() {
        let there = reachable(&uses, at);
        if !there.contains(&at) || seen.contains(&at) {
            continue;
        }
        let members: BTreeSet<usize> =
            there.into_iter().filter(|&other| reachable(&uses, other).contains(&at)).collect();
        seen.extend(&members);
        found.push(circle(tree, &uses, &members));
    }
    found.sort_by(|a, b| (&a.parent, &a.members).cmp(&(&b.parent, &b.members)));
    found
}

fn circle(tree: &Tree, uses: &Uses, members: &BTreeSet<usize>) -> Circle {
    let name = |at: usize| tree.modules[at].name.clone();
    let parent = members.first().and_then(|&at| tree.modules[at].parent);
    let mut names: Vec<String> = members.iter().map(|&at| name(at)).collect();
    names.sort();
    let mut within: Vec<_> = members
        .iter()
        .flat_map(|from| uses[from].iter().map(move |(to, place)| (*from, *to, place)))
        .filter(|(_, to, _)| members.contains(to))
        .map(|(from, to, place)| (name(from), name(to), place.clone()))
        .collect();
    within.sort();
    Circle {
        parent: parent.map_or_else(String::new, |at| tree.path(at)),
        members: names,
        uses: within,
    }
}

/// The two children of one parent that hold `from` and `to`; `None` where one of these holds the
/// other.
fn siblings(tree: &Tree, from: usize, to: usize) -> Option<(usize, usize)> {
    let (from, to) = (line(tree, from), line(tree, to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    Some((*from.get(shared)?, *to.get(shared)?))
}

/// A module's ancestors from the root down, and itself.
fn line(tree: &Tree, at: usize) -> Vec<usize> {
    let ancestors = std::iter::successors(Some(at), |&at| tree.modules[at].parent);
    let mut line: Vec<usize> = ancestors.collect();
    line.reverse();
    line
}

fn reachable(uses: &Uses, from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for &next in uses.get(&at).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}
