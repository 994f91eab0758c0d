//! The modules of one library or program, and the names that each of them uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

use super::tokens;

/// All modules of a target; the first is its root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) modules: Vec<Module>,
    /// Files that could not be read or parsed, with the reason.
    pub(crate) unread: Vec<String>,
}

/// One module, test modules apart.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) file: PathBuf,
    pub(crate) children: BTreeMap<String, usize>,
    /// Names of the items that it defines.
    pub(crate) items: BTreeSet<String>,
    /// Names that it imports, with the paths behind them.
    pub(crate) imports: BTreeMap<String, Vec<Vec<String>>>,
    /// Modules whose names it imports all.
    pub(crate) globs: Vec<Vec<String>>,
    pub(crate) mentions: Vec<Mention>,
}

/// A path in a module's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// Reads a file, or reports why it cannot.
pub(crate) type Load<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

impl Tree {
    /// All modules below `root`, which is a `lib.rs` or `main.rs`.
    pub(crate) fn read(root: &Path, load: Load<'_>) -> Self {
        let mut tree = Self::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        tree.add("crate", None, root.to_owned());
        Reader { tree: &mut tree, load }.file(0, folder);
        tree
    }

    fn add(&mut self, name: &str, parent: Option<usize>, file: PathBuf) -> usize {
        let at = self.modules.len();
        self.modules.push(Module { name: name.to_owned(), parent, file, ..Module::default() });
        if let Some(parent) = parent {
            self.modules[parent].children.insert(name.to_owned(), at);
        }
        at
    }

    /// A module's path from the root.
    pub(crate) fn path(&self, at: usize) -> String {
        let module = &self.modules[at];
        match module.parent {
            Some(parent) => format!("{}::{}", self.path(parent), module.name),
            None => module.name.clone(),
        }
    }
}

struct Reader<'a> {
    tree: &'a mut Tree,
    load: Load<'a>,
}

impl Reader<'_> {
    /// Reads a module that is a file; `folder` is where the files of its children are.
    fn file(&mut self, at: usize, folder: PathBuf) {
        let file = self.tree.modules[at].file.clone();
        let parsed = (self.load)(&file)
            .and_then(|text| syn::parse_file(&text).map_err(|error| error.to_string()));
        match parsed {
            Ok(parsed) => self.items(at, &parsed.items, &folder),
            Err(error) => self.tree.unread.push(format!("{}: {error}", file.display())),
        }
    }

    fn items(&mut self, at: usize, items: &[Item], folder: &Path) {
        for item in items {
            if is_for_tests(attributes(item)) {
                continue;
            }
            let module = &mut self.tree.modules[at];
            if let Some(name) = name(item) {
                module.items.insert(name);
            }
            match item {
                Item::Mod(item) => {
                    self.module(at, item, folder);
                    continue;
                }
                Item::Use(item) if item.leading_colon.is_none() => {
                    import(module, &mut Vec::new(), &item.tree);
                }
                _ => {}
            }
            Mentions { found: &mut module.mentions }.visit_item(item);
        }
    }

    fn module(&mut self, at: usize, item: &syn::ItemMod, folder: &Path) {
        let name = item.ident.to_string();
        let folder_of_children = folder.join(&name);
        let outer = self.tree.modules[at].file.clone();
        if let Some((_, items)) = &item.content {
            let child = self.tree.add(&name, Some(at), outer);
            self.items(child, items, &folder_of_children);
            return;
        }
        if let Some(path) = path_attribute(&item.attrs) {
            let file = outer.with_file_name(path);
            let folder = file.parent().unwrap_or(Path::new("")).to_owned();
            let child = self.tree.add(&name, Some(at), file);
            self.file(child, folder);
            return;
        }
        let beside = folder.join(format!("{name}.rs"));
        let within = folder_of_children.join("mod.rs");
        let file = if (self.load)(&within).is_ok() { within } else { beside };
        let child = self.tree.add(&name, Some(at), file);
        self.file(child, folder_of_children);
    }
}

/// Notes the names that a `use` brings into a module.
fn import(module: &mut Module, path: &mut Vec<String>, tree: &UseTree) {
    let enter = |module: &mut Module, name: String, path: Vec<String>| {
        module.imports.entry(name).or_default().push(path);
    };
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            import(module, path, &step.tree);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| import(module, path, tree)),
        UseTree::Glob(_) => module.globs.push(path.clone()),
        UseTree::Name(name) if name.ident == "self" => {
            if let Some(name) = path.last() {
                enter(module, name.clone(), path.clone());
            }
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            enter(module, name.clone(), [path.as_slice(), &[name]].concat());
        }
        UseTree::Rename(rename) => {
            let mut full = path.clone();
            full.extend((rename.ident != "self").then(|| rename.ident.to_string()));
            enter(module, rename.rename.to_string(), full);
        }
    }
}

/// Collects the paths in an item.
struct Mentions<'a> {
    found: &'a mut Vec<Mention>,
}

impl Mentions<'_> {
    fn add(&mut self, path: Vec<String>, line: usize) {
        self.found.push(Mention { path, line });
    }

    fn add_use(&mut self, path: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.add_use(path, &step.tree);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(path, tree)),
            UseTree::Glob(glob) => self.add(path.clone(), glob.star_token.spans[0].start().line),
            UseTree::Name(syn::UseName { ident })
            | UseTree::Rename(syn::UseRename { ident, .. }) => {
                let mut full = path.clone();
                full.extend((ident != "self").then(|| ident.to_string()));
                self.add(full, ident.span().start().line);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.add_use(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let line = path.segments.first().map_or(0, |first| first.ident.span().start().line);
            self.add(path.segments.iter().map(|step| step.ident.to_string()).collect(), line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let found = &mut *self.found;
        tokens::paths(call.tokens.clone(), &mut |path, line| found.push(Mention { path, line }));
    }

    /// Macros take expressions from attributes, and serde takes the names of functions in strings.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            let found = &mut *self.found;
            let mut found = |path, line| found.push(Mention { path, line });
            tokens::paths(list.tokens.clone(), &mut found);
            tokens::quoted(list.tokens.clone(), &mut found);
        }
    }

    /// `pub(in super::super)` restricts and uses nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// Whether an item is compiled for tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            condition == "test" || condition.starts_with("all(test,")
        }
        syn::Meta::Path(path) => path.is_ident("test"),
        _ => false,
    })
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
