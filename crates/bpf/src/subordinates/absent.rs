//! What stands in the map's place where a build has no programs.

use std::io;

use super::Subordinates;

/// There is none.
#[derive(Debug)]
pub enum SubordinateMap {}

impl SubordinateMap {
    /// Has connections that begin from here on be counted so.
    ///
    /// # Errors
    ///
    /// None: there is no such map.
    pub fn set(&mut self, _ids: &Subordinates) -> io::Result<()> {
        match *self {}
    }
}
