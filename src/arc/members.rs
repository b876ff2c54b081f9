//! Taking an event's objects apart: every member is checked as it is taken, and a refusal names it and its
//! bound, never its value.

use serde_json::{Map, Number, Value};

use crate::error::{Error, Result};
use crate::time::Time;

/// How much of an unknown member's name a refusal shows, in characters.
const SHOWN_MAX: usize = 64;

/// One object of an event.
pub(super) struct Members<'a> {
    place: &'static str,
    map: &'a Map<String, Value>,
}

impl<'a> Members<'a> {
    /// The object at a place of the event, empty for the event itself, and nothing but known members in it.
    pub(super) fn of(place: &'static str, value: &'a Value, known: &[&str]) -> Result<Self> {
        let members = Self::any(place, value)?;
        match members
            .map
            .keys()
            .find(|name| !known.contains(&name.as_str()))
        {
            Some(unknown) => Err(members.unknown(unknown)),
            None => Ok(members),
        }
    }

    /// The object at a place of the event, whatever is in it.
    pub(super) fn any(place: &'static str, value: &'a Value) -> Result<Self> {
        match value {
            Value::Object(map) => Ok(Self { place, map }),
            _ if place.is_empty() => Err(Error::input("the event must be a JSON object")),
            _ => Err(Error::input(format!("{place} must be an object"))),
        }
    }

    /// The refusal of a member that does not belong here.
    pub(super) fn unknown(&self, name: &str) -> Error {
        let shown: String = name.chars().take(SHOWN_MAX).collect();
        Error::input(format!(
            "{} does not belong into an ARC 0.2 event of this type",
            self.path(&shown)
        ))
    }

    /// A member's name with the place that it stands at.
    pub(super) fn path(&self, name: &str) -> String {
        match self.place {
            "" => name.to_owned(),
            place => format!("{place}.{name}"),
        }
    }

    /// The names of all members.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.map.keys().map(String::as_str)
    }

    /// A member as it is.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name)
    }

    /// A member that must be there.
    pub(super) fn needed<T>(&self, name: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| Error::input(format!("{} is required", self.path(name))))
    }

    /// A string.
    pub(super) fn string(&self, name: &str) -> Result<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "a string")),
        }
    }

    /// A string of `min` to `max` characters.
    pub(super) fn text(&self, name: &str, min: usize, max: usize) -> Result<Option<String>> {
        let Some(text) = self.string(name)? else {
            return Ok(None);
        };
        let length = text.chars().count();
        if !(min..=max).contains(&length) {
            let must_be = format!("{min} to {max} characters, not {length}");
            return Err(self.wrong(name, &must_be));
        }
        Ok(Some(text.to_owned()))
    }

    /// As [`Members::text`], of one character or more that are not all blank; surrounding blanks go.
    pub(super) fn word(&self, name: &str, max: usize) -> Result<Option<String>> {
        let Some(text) = self.text(name, 1, max)? else {
            return Ok(None);
        };
        match text.trim() {
            "" => Err(self.wrong(name, "more than blanks")),
            word => Ok(Some(word.to_owned())),
        }
    }

    /// A string that is one of some names.
    pub(super) fn one_of<T>(
        &self,
        name: &str,
        all: &[T],
        called: fn(&T) -> &str,
    ) -> Result<Option<T>>
    where
        T: Copy,
    {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let given = value.as_str();
        match all.iter().find(|item| Some(called(item)) == given) {
            Some(item) => Ok(Some(*item)),
            None => {
                let names: Vec<&str> = all.iter().map(called).collect();
                Err(self.wrong(name, &format!("one of {}", names.join(", "))))
            }
        }
    }

    /// A whole number within bounds, however it is spelled; what is larger than any bound counts as
    /// [`u64::MAX`].
    pub(super) fn whole(&self, name: &str, min: u64, max: u64) -> Result<Option<u64>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let whole = match value {
            Value::Number(number) => whole(number),
            _ => None,
        };
        match whole.filter(|n| (min..=max).contains(n)) {
            Some(number) => Ok(Some(number)),
            None if max == u64::MAX => {
                Err(self.wrong(name, &format!("a whole number of at least {min}")))
            }
            None => Err(self.wrong(name, &format!("a whole number of {min} to {max}"))),
        }
    }

    /// A point in time.
    pub(super) fn time(&self, name: &str) -> Result<Option<Time>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_str().and_then(Time::parse_rfc3339) {
            Some(time) => Ok(Some(time)),
            None => Err(self.wrong(name, "a date and time of RFC 3339, as 2030-01-31T12:00:00Z")),
        }
    }

    /// The refusal of a member's value.
    pub(super) fn wrong(&self, name: &str, must_be: &str) -> Error {
        Error::input(format!("{} must be {must_be}", self.path(name)))
    }
}

/// The value of a JSON number that has no fraction and no sign, as `12`, `12.0`, `1.2e1`: JSON Schema counts
/// all three as integers.
fn whole(number: &Number) -> Option<u64> {
    let text = number.to_string();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{before}{after}");
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    if kept.is_empty() {
        return Some(0);
    }
    if negative {
        return None;
    }
    let dropped = i128::try_from(digits.len() - kept.len()).ok()?;
    let after = i128::try_from(after.len()).ok()?;
    let zeros = match exponent.parse::<i64>() {
        Ok(exponent) => i128::from(exponent) - after + dropped,
        // Longer than any number of digits that fits an event.
        Err(_) if exponent.starts_with('-') => return None,
        Err(_) => return Some(u64::MAX),
    };
    let zeros = usize::try_from(zeros).ok()?;
    if kept.len().saturating_add(zeros) > 20 {
        return Some(u64::MAX);
    }
    let value = format!("{kept}{}", "0".repeat(zeros)).parse();
    Some(value.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_whole_by_its_value_not_by_its_spelling() {
        let rows = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("-0.0", Some(0)),
            ("500", Some(500)),
            ("500.0", Some(500)),
            ("5e2", Some(500)),
            ("0.5E+3", Some(500)),
            ("5000e-1", Some(500)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", Some(u64::MAX)),
            ("1e400", Some(u64::MAX)),
            ("1e99999999999999999999", Some(u64::MAX)),
            ("1e-99999999999999999999", None),
            ("0e99999999999999999999", Some(0)),
            ("0.99999999999999999999", None),
            ("1.5", None),
            ("-1", None),
        ];
        for (text, expected) in rows {
            let value: Value = serde_json::from_str(text).unwrap();
            let Value::Number(number) = value else {
                panic!("{text}");
            };
            assert_eq!(whole(&number), expected, "{text}");
        }
    }
}
