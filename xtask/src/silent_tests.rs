//! A test that judges nothing under some condition passes when it should fail: an early end that no skip reports, or
//! assertions that are all inside of an `if` or a loop.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, File, ImplItemFn, ItemFn, Macro, Pat, Stmt};

/// What reports a skip; with `SOUNDING_REQUIRE` it fails.
const REPORT: &str = "skip";

/// Tests that may judge nothing under some condition.
const ALLOWED: &[&str] = &[
    // The part of another test that it runs as a process.
    "victim",
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
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
        let folder = file.0.splitn(3, '/').nth(1).unwrap_or_default();
        crates.entry(folder).or_default().push(file);
    }
    for files in crates.values() {
        let reporters = reporters(files, &everywhere);
        for (path, file) in files {
            let mut tests = Tests { reporters: &reporters, faults: Vec::new() };
            tests.visit_file(file);
            let faults = tests.faults.into_iter();
            let faults = faults.filter(|(name, _)| !ALLOWED.contains(&name.as_str()));
            found.extend(faults.map(|(name, fault)| format!("{path}: {name} {fault}")));
        }
    }
    found
}

/// The functions of some files that report a skip, by themselves or through others, beside those that are known to.
fn reporters(files: &[&(String, File)], known: &BTreeSet<String>) -> BTreeSet<String> {
    let mut functions = Functions::default();
    for (_, file) in files {
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

/// Functions that are no tests, and the names of what each calls.
#[derive(Default)]
struct Functions {
    found: Vec<(String, BTreeSet<String>)>,
}

impl Functions {
    fn add(&mut self, attributes: &[Attribute], name: &syn::Ident, body: &Block) {
        if !is_test(attributes) {
            self.found.push((name.to_string(), Called::of(body)));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.add(&item.attrs, &item.sig.ident, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.add(&item.attrs, &item.sig.ident, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("test"))
}

/// The tests of a file that may judge nothing.
struct Tests<'a> {
    reporters: &'a BTreeSet<String>,
    faults: Vec<(String, &'static str)>,
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

fn fault(body: &Block, reporters: &BTreeSet<String>) -> Option<&'static str> {
    let mut ends = Ends { reporters: reporters.clone(), unreported: false };
    ends.visit_block(body);
    if ends.unreported {
        return Some("ends early under some condition, and no skip reports it");
    }
    let reports = |name: &String| reporters.contains(name);
    let is_conditional = !judges(body)
        && Judgements::in_block(body)
        && !Called::of(body).iter().any(reports);
    is_conditional.then_some("judges only inside of an if")
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

/// Whether some statement of a block judges whatever happens: it asserts, or calls a function that may.
fn judges(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Expr(Expr::If(expr), _) => {
            expr.else_branch.as_ref().is_some_and(|(_, other)| {
                judges(&expr.then_branch) && Judgements::in_expr(other)
            })
        }
        Stmt::Expr(expr, _) => Judgements::in_expr(expr),
        Stmt::Macro(stmt) => is_judgement(&stmt.mac),
        Stmt::Local(local) => {
            local.init.as_ref().is_some_and(|init| Judgements::in_expr(&init.expr))
        }
        Stmt::Item(_) => false,
    })
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

    fn faults(text: &str) -> Vec<(String, &'static str)> {
        let file = ("a.rs".to_owned(), syn::parse_file(text).expect("it is Rust"));
        let reporters = reporters(&[&file], &BTreeSet::from([REPORT.to_owned()]));
        let mut tests = Tests { reporters: &reporters, faults: Vec::new() };
        tests.visit_file(&file.1);
        tests.faults
    }

    #[test]
    fn an_early_end_without_a_report_is_found() {
        let found = faults("#[test] fn a() { let Some(b) = c() else { return }; assert!(b); }");
        assert_eq!(found[0].0, "a");
        assert!(found[0].1.contains("ends early"), "{found:?}");
        assert_eq!(faults("#[test] fn a() { if c() { println!(); return; } assert!(d); }").len(), 1);
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
        assert!(found[0].1.contains("only inside of an if"), "{found:?}");
        assert_eq!(faults("#[test] fn a() { if b { assert!(d); } else { assert!(e); } }"), []);
    }
}
