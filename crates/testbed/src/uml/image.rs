use std::path::{Path, PathBuf};

/// The unpacked packages that a guest runs on.
#[derive(Clone, Debug)]
pub struct Image {
    root: PathBuf,
    /// The folder of this kernel's modules.
    modules: PathBuf,
}

/// User-Mode Linux is absent, or not all of it is there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no User-Mode Linux here ({missing}): `scripts/setup uml` unpacks it, SOUNDING_UML names another folder"
)]
pub struct Absent {
    missing: String,
}

/// Names another folder with the unpacked packages.
const VARIABLE: &str = "SOUNDING_UML";

/// The guest's kernel.
const KERNEL: &str = "usr/bin/linux.uml";
/// Lets the kernel run on a processor with a large extended state: `xstate.c`.
const PRELOAD: &str = "usr/lib/uml/xstate.so";
/// Loads modules and listens for commands.
const BUSYBOX: &str = "bin/busybox";
/// Pings for cake-autorate.
const FPING: &str = "usr/bin/fping";

impl Image {
    /// Looks in the folder that `SOUNDING_UML` names, or else where `scripts/setup uml` unpacks:
    /// in `uml` beside this program's build, or in `target/uml`.
    ///
    /// # Errors
    ///
    /// [`Absent`], with the first missing part.
    pub fn find() -> Result<Self, Absent> {
        if let Some(named) = std::env::var_os(VARIABLE) {
            return Self::of(Path::new(&named));
        }
        let program = std::env::current_exe().unwrap_or_default();
        let beside = program.ancestors().skip(1).map(|folder| folder.join("uml"));
        let folders = beside.chain([PathBuf::from("target/uml")]);
        let mut found = folders.filter(|folder| folder.join(KERNEL).is_file());
        match found.next() {
            Some(folder) => Self::of(&folder),
            None => Err(Absent { missing: format!("no target/uml/{KERNEL}") }),
        }
    }

    /// The packages unpacked in this folder.
    ///
    /// # Errors
    ///
    /// [`Absent`], with the first missing part.
    pub fn of(folder: &Path) -> Result<Self, Absent> {
        let absent = |missing: String| Absent { missing };
        let root = std::path::absolute(folder)
            .map_err(|error| absent(format!("{}: {error}", folder.display())))?;
        for part in [KERNEL, PRELOAD, BUSYBOX, FPING] {
            if !root.join(part).is_file() {
                return Err(absent(format!("no {}", root.join(part).display())));
            }
        }
        let modules = root.join("usr/lib/uml/modules");
        let versions = std::fs::read_dir(&modules).into_iter().flatten().flatten();
        let mut versions: Vec<PathBuf> = versions
            .map(|entry| entry.path().join("kernel"))
            .filter(|path| path.is_dir())
            .collect();
        versions.sort();
        match versions.pop() {
            Some(modules) => Ok(Self { root, modules }),
            None => Err(absent(format!("no modules in {}", modules.display()))),
        }
    }

    pub(super) fn kernel(&self) -> PathBuf {
        self.root.join(KERNEL)
    }

    pub(super) fn preload(&self) -> PathBuf {
        self.root.join(PRELOAD)
    }

    /// A program of many small ones, which runs in the guest too.
    pub fn busybox(&self) -> PathBuf {
        self.root.join(BUSYBOX)
    }

    /// The folder of `fping`, for the `PATH` of a program in the guest.
    pub fn tools(&self) -> PathBuf {
        self.root.join("usr/bin")
    }

    /// The file of a module, such as `net/sched/sch_cake`.
    pub(super) fn module(&self, name: &str) -> PathBuf {
        self.modules.join(format!("{name}.ko"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let absent = Image::of(folder.path()).unwrap_err().to_string();
        assert!(absent.contains("linux.uml") && absent.contains("scripts/setup uml"), "{absent}");
    }
}
