//! A decoded record as a tree of names and values.

use sounding_diag::layout::{Plmn, Sink, Value};

/// A value that outlives the record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Leaf {
    Number(i64),
    /// A number that may have a name.
    Choice(i64, Option<&'static str>),
    Real(f64),
    Bytes(Vec<u8>),
    Plmn(Plmn),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Leaf(Leaf),
    List(Vec<Item>),
}

/// The fields and lists of a record, or of an item of a list, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Item(pub Vec<(&'static str, Node)>);

impl Item {
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.0.iter().find_map(|(found, node)| match node {
            Node::Leaf(Leaf::Number(number) | Leaf::Choice(number, _)) if *found == name => {
                Some(*number)
            }
            _ => None,
        })
    }

    #[allow(dead_code, reason = "not every user of this file looks at levels")]
    pub(crate) fn real(&self, name: &str) -> Option<f64> {
        self.0.iter().find_map(|(found, node)| match node {
            Node::Leaf(Leaf::Real(real)) if *found == name => Some(*real),
            _ => None,
        })
    }

    #[allow(dead_code, reason = "not every user of this file has records with bytes")]
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find_map(|(found, node)| match node {
            Node::Leaf(Leaf::Bytes(bytes)) if *found == name => Some(bytes.as_slice()),
            _ => None,
        })
    }

    /// A network, printed.
    #[allow(dead_code, reason = "not every user of this file has records with networks")]
    pub(crate) fn plmn(&self, name: &str) -> Option<String> {
        self.0.iter().find_map(|(found, node)| match node {
            Node::Leaf(Leaf::Plmn(plmn)) if *found == name => Some(plmn.to_string()),
            _ => None,
        })
    }

    /// The items of a list; none if there is no such list.
    pub(crate) fn list(&self, name: &str) -> &[Item] {
        let found = self.0.iter().find_map(|(found, node)| match node {
            Node::List(items) if *found == name => Some(items.as_slice()),
            _ => None,
        });
        found.unwrap_or_default()
    }
}

/// Builds the tree: the innermost open item is the last.
pub(crate) struct Builder {
    items: Vec<Item>,
    lists: Vec<(&'static str, Vec<Item>)>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { items: vec![Item::default()], lists: Vec::new() }
    }

    pub(crate) fn finish(mut self) -> Item {
        assert!(self.lists.is_empty(), "every list that begins ends");
        let root = self.items.pop().expect("the root is an item");
        assert!(self.items.is_empty(), "every item that begins ends");
        root
    }

    fn innermost(&mut self) -> &mut Item {
        self.items.last_mut().expect("fields come within an item")
    }
}

impl Sink for Builder {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let leaf = match value {
            Value::Uint(number) | Value::Hex(number, _) => Leaf::Number(number.cast_signed()),
            Value::Name(number, name) => Leaf::Choice(number.cast_signed(), name),
            Value::Int(number) => Leaf::Number(number),
            Value::Flag(set) => Leaf::Number(i64::from(set)),
            Value::Scaled(number) => Leaf::Real(number),
            Value::Bytes(bytes) => Leaf::Bytes(bytes.to_vec()),
            Value::Plmn(plmn) => Leaf::Plmn(plmn),
        };
        self.innermost().0.push((name, Node::Leaf(leaf)));
    }

    fn begin_list(&mut self, name: &'static str) {
        self.lists.push((name, Vec::new()));
    }

    fn begin_item(&mut self) {
        self.items.push(Item::default());
    }

    fn end_item(&mut self) {
        let item = self.items.pop().expect("an item was begun");
        self.lists.last_mut().expect("items come within a list").1.push(item);
    }

    fn end_list(&mut self) {
        let (name, items) = self.lists.pop().expect("a list was begun");
        self.innermost().0.push((name, Node::List(items)));
    }
}
