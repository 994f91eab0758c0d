//! Tables with keys of the plan and keys of another type.
//!
//! `serde(flatten)` could do it, but would lose an error's place in the file and the list of known
//! keys.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// A plan's own keys of a table.
pub(super) trait Own: Default {
    /// Their names.
    const KEYS: &'static [&'static str];

    /// Takes the value of one of them.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Reads a table as both.
pub(super) fn split<'de, O: Own, T: Deserialize<'de>, D: Deserializer<'de>>(
    input: D,
) -> Result<(O, T), D::Error> {
    let mut own = O::default();
    let theirs = T::deserialize(Splitter { input, own: &mut own })?;
    Ok((own, theirs))
}

struct Splitter<'a, D, O> {
    input: D,
    own: &'a mut O,
}

impl<'de, D: Deserializer<'de>, O: Own> Deserializer<'de> for Splitter<'_, D, O> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.input.deserialize_map(Table { own: self.own, fields, visitor })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Table<'a, O, V> {
    own: &'a mut O,
    fields: &'static [&'static str],
    visitor: V,
}

impl<'de, O: Own, V: Visitor<'de>> Visitor<'de> for Table<'_, O, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Theirs { map, own: self.own, fields: self.fields })
    }
}

/// The table without the plan's own keys.
struct Theirs<'a, A, O> {
    map: A,
    own: &'a mut O,
    fields: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>, O: Own> MapAccess<'de> for Theirs<'_, A, O> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let mut seed = seed;
        loop {
            let key = Key::<K, O> { seed, fields: self.fields, own: PhantomData };
            match self.map.next_key_seed(key)? {
                None => return Ok(None),
                Some(Whose::Theirs(key)) => return Ok(Some(key)),
                Some(Whose::Own(key, back)) => {
                    self.own.take(&key, &mut self.map)?;
                    seed = back;
                }
            }
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

struct Key<K, O> {
    seed: K,
    fields: &'static [&'static str],
    own: PhantomData<O>,
}

enum Whose<K, T> {
    Own(String, K),
    Theirs(T),
}

impl<'de, K: DeserializeSeed<'de>, O: Own> DeserializeSeed<'de> for Key<K, O> {
    type Value = Whose<K, K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        let key = String::deserialize(input)?;
        if O::KEYS.contains(&key.as_str()) {
            return Ok(Whose::Own(key, self.seed));
        }
        if !self.fields.contains(&key.as_str()) {
            let known = O::KEYS.iter().chain(self.fields).map(|known| format!("`{known}`"));
            let known = known.collect::<Vec<_>>().join(", ");
            let unknown = format_args!("unknown field `{key}`, expected one of {known}");
            return Err(D::Error::custom(unknown));
        }
        self.seed.deserialize(key.into_deserializer()).map(Whose::Theirs)
    }
}
