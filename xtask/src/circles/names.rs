//! Finds the module that a path in the code refers to.

use super::tree::{Module, Tree};

/// The longest chain of re-exports. A longer chain is a name that imports itself.
const MOST_STEPS: u32 = 16;

impl Tree {
    /// The module that defines what `path` names in module `from`; `None` for other crates, the
    /// prelude and local names.
    pub(crate) fn definer(&self, from: usize, path: &[String]) -> Option<usize> {
        self.resolve(from, path, MOST_STEPS)
    }

    fn resolve(&self, from: usize, path: &[String], steps: u32) -> Option<usize> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.within(0, rest, steps),
            "self" => self.within(from, rest, steps),
            "super" => {
                let (mut at, mut rest) = (self.modules[from].parent?, rest);
                while let Some((first, further)) = rest.split_first()
                    && first == "super"
                {
                    (at, rest) = (self.modules[at].parent?, further);
                }
                self.within(at, rest, steps)
            }
            // One step in lower case is a local name far more often than a function that a glob
            // brought in.
            name => {
                let module = &self.modules[from];
                let is_type = name.starts_with(char::is_uppercase);
                (path.len() > 1 || is_type || module.is_own(name))
                    .then(|| self.within(from, path, steps))
                    .flatten()
            }
        }
    }

    fn within(&self, at: usize, path: &[String], steps: u32) -> Option<usize> {
        let steps = steps.checked_sub(1)?;
        let module = &self.modules[at];
        let Some((first, rest)) = path.split_first() else { return Some(at) };
        if let Some(child) = module.children.get(first) {
            return self.within(*child, rest, steps);
        }
        if module.items.contains(first) {
            return Some(at);
        }
        if let Some(imports) = module.imports.get(first) {
            let found = imports.iter().find_map(|import| {
                // An import of its own name is one of another crate.
                let full = [import.as_slice(), rest].concat();
                (import != path).then(|| self.resolve(at, &full, steps)).flatten()
            });
            return found;
        }
        module.globs.iter().find_map(|glob| {
            let target = self.resolve(at, glob, steps)?;
            (target != at).then(|| self.within(target, path, steps)).flatten()
        })
    }
}

impl Module {
    fn is_own(&self, name: &str) -> bool {
        self.children.contains_key(name) || self.imports.contains_key(name)
    }
}
