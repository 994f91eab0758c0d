//! Paths in the input of a macro or attribute, whose grammar no parser knows.

use proc_macro2::{TokenStream, TokenTree};

/// Calls `found` with each path of two steps or more, and with its line.
pub(crate) fn paths(tokens: TokenStream, found: &mut dyn FnMut(Vec<String>, usize)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => paths(group.stream(), found),
            TokenTree::Ident(first) if !follows_colons(&tokens, at) => {
                let line = first.span().start().line;
                let mut path = vec![first.to_string()];
                while let Some(next) = step_after(&tokens, at) {
                    path.push(next);
                    at += 3;
                }
                if path.len() > 1 {
                    found(path, line);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Calls `found` with each path of two steps or more that is the whole of a string.
pub(crate) fn quoted(tokens: TokenStream, found: &mut dyn FnMut(Vec<String>, usize)) {
    for token in tokens {
        let literal = match token {
            TokenTree::Literal(literal) => literal,
            TokenTree::Group(group) => {
                quoted(group.stream(), found);
                continue;
            }
            _ => continue,
        };
        let line = literal.span().start().line;
        let text = literal.to_string();
        let text = text.trim_matches('"');
        let path = syn::parse_str::<syn::Path>(text).ok();
        if let Some(path) = path.filter(|path| path.segments.len() > 1) {
            found(path.segments.iter().map(|step| step.ident.to_string()).collect(), line);
        }
    }
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
}

/// Whether `at` continues a path that began before it, or is a path from outside of the crate.
fn follows_colons(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && is_colon(tokens.get(at - 1)) && is_colon(tokens.get(at - 2))
}

fn step_after(tokens: &[TokenTree], at: usize) -> Option<String> {
    let TokenTree::Ident(next) = tokens.get(at + 3)? else { return None };
    (is_colon(tokens.get(at + 1)) && is_colon(tokens.get(at + 2))).then(|| next.to_string())
}
