//! User ids that `/etc/subuid` gives to users. A user runs programs under such ids, in a user
//! namespace or by a file with the set-user-id bit that was made in one. A link is divided among
//! users, so all of them count as the user that has them.

use std::collections::{BTreeMap, HashMap};

#[cfg(not(feature = "kernel"))]
mod absent;
#[cfg(feature = "kernel")]
mod map;

#[cfg(not(feature = "kernel"))]
pub use absent::SubordinateMap;
#[cfg(feature = "kernel")]
pub use map::SubordinateMap;

/// Most lines of the file that count, and most accounts of this machine: the kernel's map has room
/// for their prefixes.
const MAX_RANGES: usize = 1_000;
const MAX_ACCOUNTS: usize = 2_000;
/// Owners of owners are followed so far.
const DEEP: usize = 8;

/// Ids, and the users that they belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subordinates {
    ranges: Vec<Range>,
    /// Ids of accounts of this machine that are within one of the ranges: they are users of their
    /// own.
    accounts: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u32,
    last: u32,
    user: u32,
}

/// A line of the file that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

impl Subordinates {
    /// Reads the text of `/etc/subuid` and of `/etc/passwd`. `find` looks up a name that is not in
    /// the latter.
    pub fn parse(
        subuid: &[u8],
        passwd: &[u8],
        mut find: impl FnMut(&str) -> Option<u32>,
    ) -> (Self, Vec<BadLine>) {
        let names = accounts(passwd);
        let (mut ranges, mut bad) = (Vec::new(), Vec::new());
        for (at, line) in subuid.split(|&byte| byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let range = match str::from_utf8(line) {
                Ok(_) if ranges.len() == MAX_RANGES => {
                    Err(format!("{MAX_RANGES} lines count, and no more"))
                }
                Ok(text) => range(text, |name| names.get(name).copied().or_else(|| find(name))),
                Err(_) => Err("it is not UTF-8".into()),
            };
            match range {
                Ok(range) => ranges.extend(range),
                Err(why) => bad.push(BadLine { line: at + 1, why }),
            }
        }
        let is_within =
            |id: &u32| ranges.iter().any(|range| (range.first..=range.last).contains(id));
        let mut accounts: Vec<u32> = names.into_values().filter(is_within).collect();
        accounts.sort_unstable();
        accounts.dedup();
        accounts.truncate(MAX_ACCOUNTS);
        (Self { ranges, accounts }, bad)
    }

    /// How many ranges of ids there are.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// The user that an id belongs to; itself where it belongs to no other.
    pub fn user(&self, id: u32) -> u32 {
        let mut user = id;
        for _ in 0..DEEP {
            let is_account = self.accounts.binary_search(&user).is_ok();
            let of = |range: &&Range| (range.first..=range.last).contains(&user);
            match self.ranges.iter().find(of) {
                Some(range) if !is_account && range.user != user => user = range.user,
                _ => break,
            }
        }
        user
    }

    /// The same by prefixes, as the kernel's map has them: the longest that an id begins with
    /// counts.
    fn prefixes(&self) -> BTreeMap<Prefix, u32> {
        let mut all = BTreeMap::new();
        for range in &self.ranges {
            let user = self.user(range.user);
            let mut next = u64::from(range.first);
            while next <= u64::from(range.last) {
                let left = u64::from(range.last) - next + 1;
                let bits = next.trailing_zeros().min(left.ilog2()).min(32);
                all.entry(Prefix { len: 32 - bits, first: next as u32 }).or_insert(user);
                next += 1 << bits;
            }
        }
        all.extend(self.accounts.iter().map(|&id| (Prefix { len: 32, first: id }, id)));
        all
    }
}

/// The ids of accounts by their names.
fn accounts(passwd: &[u8]) -> HashMap<&str, u32> {
    let lines = passwd.split(|&byte| byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    let account = |line: &'_ str| {
        let mut words = line.split(':');
        let (name, id) = (words.next()?, words.nth(1)?.parse().ok()?);
        Some((name.len(), id))
    };
    lines.filter_map(|line| account(line).map(|(len, id)| (&line[..len], id))).collect()
}

/// A line `USER:FIRST:COUNT`. A range of no ids is none, and that is no fault.
fn range(text: &str, find: impl FnOnce(&str) -> Option<u32>) -> Result<Option<Range>, String> {
    let words: Vec<&str> = text.split(':').collect();
    let [user, first, count] = words[..] else {
        return Err(format!("{text:?} is not USER:FIRST:COUNT"));
    };
    let number = |what: &str, word: &str| {
        word.parse::<u32>().map_err(|_| format!("{what} {word:?} is no number below 2^32"))
    };
    let (first, count) = (number("the first id", first)?, number("the count", count)?);
    if count == 0 {
        return Ok(None);
    }
    // The last number of 32 bits is no id.
    let last = first.checked_add(count - 1).filter(|&last| last < u32::MAX);
    let last = last.ok_or_else(|| format!("{count} ids from {first} on end above 2^32"))?;
    let user = user.parse().ok().or_else(|| find(user));
    let user = user.ok_or_else(|| format!("this machine has no user {:?}", words[0]))?;
    Ok(Some(Range { first, last, user }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Prefix {
    len: u32,
    first: u32,
}

#[cfg(test)]
mod tests;
