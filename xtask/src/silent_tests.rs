//! A test that judges nothing under some condition passes when it should fail: an early end that no
//! skip reports, or assertions that are all inside of an `if` or a loop.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, File, ImplItemFn, ItemFn, ItemMod, Macro, Pat, Stmt};

/// What reports a skip; with `SOUNDING_REQUIRE` it fails.
const REPORT: &str = "skip";

/// Tests that may judge nothing under some condition.
const ALLOWED: &[&str] = &[
    // The part of another test that it runs as a process.
    "victim",
];

/// Tests that end early without a report, and tests that judge only inside of an `if`.
pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    found(metadata, false)
}

/// Tests that judge only inside of a loop whose items do not stand in the code. Each should know
/// how many there are.
pub(crate) fn loops(metadata: &Metadata) -> Vec<String> {
    found(metadata, true)
}

fn found(metadata: &Metadata, in_loops: bool) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = Command::new("git")
        .args(["ls-files", "crates/*.rs", "xtask/*.rs"])
        .current_dir(root)
        .output();
    let Ok(listed) = listed else {
        return vec!["git ls-files does not run".into()];
    };
    let mut found = Vec::new();
    let mut files = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        match syn::parse_file(&text) {
            Ok(file) => files.push((path.to_owned(), file)),
            Err(error) => found.push(format!("{path}: is not read as Rust: {error}")),
        }
    }
    let (shared, rest): (Vec<_>, Vec<_>) =
        files.iter().partition(|(path, _)| path.starts_with("crates/testdata/"));
    let everywhere = reporters(&shared, &BTreeSet::from([REPORT.to_owned()]));
    let mut crates: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for file in rest {
        let folder = file.0.split('/').nth(1).unwrap_or_default();
        crates.entry(folder).or_default().push(file);
    }
    for files in crates.values() {
        let reporters = reporters(files, &everywhere);
        for (path, file) in files {
            let mut tests = Tests { reporters: &reporters, faults: Vec::new() };
            tests.visit_file(file);
            let faults = tests.faults.into_iter();
            let faults = faults.filter(|(name, fault)| {
                !ALLOWED.contains(&name.as_str()) && (*fault == Fault::Loop) == in_loops
            });
            found.extend(faults.map(|(name, fault)| format!("{path}: {name} {}", fault.text())));
        }
    }
    found
}

/// The functions of some files that report a skip, by themselves or through others, beside those
/// that are known to.
fn reporters(files: &[&(String, File)], known: &BTreeSet<String>) -> BTreeSet<String> {
    let mut functions = Functions::default();
    for (path, file) in files {
        functions.in_tests = path.contains("test");
        functions.visit_file(file);
    }
    let mut reporters = known.clone();
    loop {
        let before = reporters.len();
        for (name, called) in &functions.found {
            if !called.is_disjoint(&reporters) {
                reporters.insert(name.clone());
            }
        }
        if reporters.len() == before {
            return reporters;
        }
    }
}

/// Functions of test code that are no tests, and the names of what each calls.
#[derive(Default)]
struct Functions {
    in_tests: bool,
    found: Vec<(String, BTreeSet<String>)>,
}

impl Functions {
    fn add(&mut self, attributes: &[Attribute], name: &syn::Ident, body: &Block) {
        if self.in_tests && !is_test(attributes) {
            let mut calls = Calls::default();
            calls.visit_block(body);
            self.found.push((name.to_string(), calls.names));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let outside = self.in_tests;
        self.in_tests |= item.ident == "tests";
        visit::visit_item_mod(self, item);
        self.in_tests = outside;
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.add(&item.attrs, &item.sig.ident, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.add(&item.attrs, &item.sig.ident, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

/// The names of the functions that are called.
#[derive(Default)]
struct Calls {
    names: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            self.names.insert(last.ident.to_string());
        }
        visit::visit_expr_call(self, call);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("test"))
}

/// How a test may judge nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    End,
    If,
    Loop,
}

impl Fault {
    fn text(self) -> &'static str {
        match self {
            Self::End => "ends early under some condition, and no skip reports it",
            Self::If => "judges only inside of an if",
            Self::Loop => "judges only inside of a loop, which may run over nothing",
        }
    }
}

/// The tests of a file that may judge nothing.
struct Tests<'a> {
    reporters: &'a BTreeSet<String>,
    faults: Vec<(String, Fault)>,
}

impl<'ast> Visit<'ast> for Tests<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if is_test(&item.attrs)
            && let Some(fault) = fault(&item.block, self.reporters)
        {
            self.faults.push((item.sig.ident.to_string(), fault));
        }
        visit::visit_item_fn(self, item);
    }
}

fn fault(body: &Block, reporters: &BTreeSet<String>) -> Option<Fault> {
    let mut ends = Ends { reporters: reporters.clone(), unreported: false };
    ends.visit_block(body);
    let reports = |name: &String| reporters.contains(name);
    match () {
        () if ends.unreported => Some(Fault::End),
        () if judges(body, false)
            || !Judgements::in_block(body)
            || Called::of(body).iter().any(reports) =>
        {
            None
        }
        () if judges(body, true) => Some(Fault::Loop),
        () => Some(Fault::If),
    }
}

/// Early ends of a function, those of closures apart.
struct Ends {
    /// Functions that report a skip, and variables that hold what they returned.
    reporters: BTreeSet<String>,
    unreported: bool,
}

impl Ends {
    fn judge(&mut self, condition: &Expr, body: &Block) {
        let called = Called::of(body).into_iter().chain(Called::of_expr(condition));
        let is_reported = called.into_iter().any(|name| self.reporters.contains(&name));
        let returns = |stmt: &Stmt| matches!(stmt, Stmt::Expr(Expr::Return(_), _));
        self.unreported |= body.stmts.iter().any(returns) && !is_reported;
    }
}

impl<'ast> Visit<'ast> for Ends {
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_expr_if(&mut self, expr: &'ast syn::ExprIf) {
        self.judge(&expr.cond, &expr.then_branch);
        visit::visit_expr_if(self, expr);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            if let Some((_, otherwise)) = &init.diverge
                && let Expr::Block(block) = &**otherwise
            {
                self.judge(&init.expr, &block.block);
            }
            if let Pat::Ident(variable) = &local.pat
                && !Called::of_expr(&init.expr).is_disjoint(&self.reporters)
            {
                self.reporters.insert(variable.ident.to_string());
            }
        }
        visit::visit_local(self, local);
    }
}

/// The names of the functions and variables that are used.
#[derive(Default)]
struct Called {
    names: BTreeSet<String>,
}

impl Called {
    fn of(block: &Block) -> BTreeSet<String> {
        let mut called = Self::default();
        called.visit_block(block);
        called.names
    }

    fn of_expr(expr: &Expr) -> BTreeSet<String> {
        let mut called = Self::default();
        called.visit_expr(expr);
        called.names
    }
}

impl<'ast> Visit<'ast> for Called {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(last) = path.path.segments.last() {
            self.names.insert(last.ident.to_string());
        }
    }
}

/// Whether some statement of a block judges whatever happens: it asserts, or calls a function that
/// may. A loop's body counts where its items stand in the code, or if `any_loop`.
fn judges(block: &Block, any_loop: bool) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Expr(Expr::If(expr), _) => expr.else_branch.as_ref().is_some_and(|(_, other)| {
            judges(&expr.then_branch, any_loop) && Judgements::in_expr(other)
        }),
        Stmt::Expr(Expr::ForLoop(expr), _) => {
            (any_loop || is_written_out(&expr.expr)) && judges(&expr.body, any_loop)
        }
        Stmt::Expr(expr, _) => Judgements::in_expr(expr),
        Stmt::Macro(stmt) => is_judgement(&stmt.mac),
        Stmt::Local(local) => {
            local.init.as_ref().is_some_and(|init| Judgements::in_expr(&init.expr))
        }
        Stmt::Item(_) => false,
    })
}

/// Whether what a loop runs over stands in the code: an array, a range, a constant.
fn is_written_out(expr: &Expr) -> bool {
    match expr {
        Expr::Array(_) | Expr::Range(_) => true,
        Expr::Reference(inner) => is_written_out(&inner.expr),
        Expr::Paren(inner) => is_written_out(&inner.expr),
        Expr::MethodCall(call) => is_written_out(&call.receiver),
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident.to_string().chars().all(|char| !char.is_lowercase())),
        _ => false,
    }
}

fn is_judgement(called: &Macro) -> bool {
    let last = called.path.segments.last().map(|part| part.ident.to_string());
    last.is_some_and(|name| name.contains("assert") || name == "panic" || name == "proptest")
}

/// Whether something is judged.
#[derive(Default)]
struct Judgements {
    found: bool,
}

impl Judgements {
    fn in_expr(expr: &Expr) -> bool {
        let mut found = Self::default();
        found.visit_expr(expr);
        found.found
    }

    fn in_block(block: &Block) -> bool {
        let mut found = Self::default();
        found.visit_block(block);
        found.found
    }
}

impl<'ast> Visit<'ast> for Judgements {
    fn visit_macro(&mut self, called: &'ast Macro) {
        self.found |= is_judgement(called);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.found |= ["expect", "unwrap", "expect_err", "unwrap_err", "success", "failure"]
            .iter()
            .any(|name| call.method == name);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        // A function of the tests' own, by its case; variants of enums are no calls.
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            self.found |= last.ident.to_string().starts_with(char::is_lowercase);
        }
        visit::visit_expr_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(String, Fault)> {
        let file = ("tests/a.rs".to_owned(), syn::parse_file(text).expect("it is Rust"));
        let reporters = reporters(&[&file], &BTreeSet::from([REPORT.to_owned()]));
        let mut tests = Tests { reporters: &reporters, faults: Vec::new() };
        tests.visit_file(&file.1);
        tests.faults
    }

    #[test]
    fn an_early_end_without_a_report_is_found() {
        let found = faults("#[test] fn a() { let Some(b) = c() else { return }; assert!(b); }");
        assert_eq!(found, [("a".to_owned(), Fault::End)]);
        assert_eq!(
            faults("#[test] fn a() { if c() { println!(); return; } assert!(d); }").len(),
            1
        );
    }

    #[test]
    fn what_reports_by_way_of_others_or_is_held_in_a_variable_is_none() {
        let reports = "fn c() -> bool { d() } fn d() -> bool { skip(1); true }";
        for test in [
            "if c() { return; } assert!(e);",
            "let b = c(); if b { return; } assert!(e);",
            "if let Some(b) = c() { assert!(b); }",
            "if e { skip(2); return; } assert!(e);",
            "let b = || { if e { return; } }; b(); assert!(e);",
        ] {
            let found = faults(&format!("{reports} #[test] fn a() {{ {test} }}"));
            assert_eq!(found, [], "{test}");
        }
    }

    #[test]
    fn assertions_only_inside_of_an_if_are_found() {
        let found = faults("#[test] fn a() { let b = 1; if b == c { assert!(d); } }");
        assert_eq!(found[0].1, Fault::If);
        let found = faults("#[test] fn a() { for b in c() { assert!(b); } }");
        assert_eq!(found[0].1, Fault::Loop);
        assert_eq!(faults("#[test] fn a() { for b in [1, 2] { assert!(b); } }"), []);
        assert_eq!(faults("#[test] fn a() { if b { assert!(d); } else { assert!(e); } }"), []);
    }
}
