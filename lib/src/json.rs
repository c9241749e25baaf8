//! JSON as the format wants it: an object that names a key twice is refused, since two readers would read it in two
//! ways; the major version is checked before anything else is believed; fields that are not known are kept.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// The format version that this program writes.
pub const FORMAT: &str = "1.0";

/// The major format version that this program reads.
const MAJOR: &str = "1";

/// Parses the bytes of one of the format's JSON objects, whose `fdl` field names a format version that we know.
///
/// `what` names the object in the error.
pub fn parse<T: DeserializeOwned>(what: impl fmt::Display, bytes: &[u8]) -> Result<T> {
    let damaged = |e: serde_json::Error| Error::fatal(format!("{what} is damaged: {e}"));
    let Unambiguous(value) = serde_json::from_slice(bytes).map_err(damaged)?;
    check_format(&what, value.get("fdl"))?;
    serde_json::from_value(value).map_err(damaged)
}

/// Refuses a format version whose major number is not ours; `field` is what stands at `fdl`.
pub fn check_format(what: impl fmt::Display, field: Option<&Value>) -> Result<()> {
    let version = field
        .and_then(Value::as_str)
        .ok_or_else(|| Error::fatal(format!("{what} is damaged: it does not say its format version in 'fdl'")))?;
    let major = version.split('.').next().unwrap_or_default();
    if major == MAJOR {
        return Ok(());
    }
    Err(Error::fatal(format!("{what} has format version '{}'; this fdl knows version {MAJOR}", version.escape_debug()))
        .hint("a newer fdl may know it"))
}

/// The bytes of an object as the format stores it: two-space indent, fields in order, a final newline.
pub fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| Error::fatal(format!("cannot write JSON: {e}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A JSON value in which no object names a key twice. (`serde_json::Value` silently keeps the last.)
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
                Ok(v.into())
            }

            fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
                Ok(v.into())
            }

            fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
                Ok(v.into())
            }

            fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
                Ok(v.into())
            }

            fn visit_str<E>(self, v: &str) -> Result<Value, E> {
                Ok(v.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(Unambiguous(value)) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Value::Array(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut object = Map::new();
                while let Some((key, Unambiguous(value))) = map.next_entry::<String, _>()? {
                    if object.insert(key.clone(), value).is_some() {
                        return Err(de::Error::custom(format!("'{key}' stands twice in one object")));
                    }
                }
                Ok(Value::Object(object))
            }
        }

        from.deserialize_any(Any).map(Unambiguous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Value> {
        parse("x.json", text.as_bytes())
    }

    #[test]
    fn an_object_of_our_major_version_is_read_with_all_its_fields() {
        let value = parsed(r#"{"fdl":"1.7","a":[1,-2,0.5,null,true,{"b":"c"}]}"#).unwrap();
        assert_eq!(value["a"], serde_json::json!([1, -2, 0.5, null, true, {"b": "c"}]));
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{"fdl":"1.0","a":1,"a":1}"#, r#"{"fdl":"1.0","a":[{"b":1,"b":2}]}"#] {
            assert!(parsed(text).unwrap_err().to_string().contains("stands twice"));
        }
    }

    #[test]
    fn another_major_version_and_damage_are_told_apart() {
        assert!(parsed(r#"{"fdl":"2.0"}"#).unwrap_err().to_string().contains("format version '2.0'"));
        for text in ["", "{", r#"{"fdl":"1.0"} x"#, r#"{"a":1}"#, r#"{"fdl":1}"#, "[]", "\u{0}"] {
            assert!(parsed(text).unwrap_err().to_string().contains("is damaged"), "{text:?}");
        }
    }
}
