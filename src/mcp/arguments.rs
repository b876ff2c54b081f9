//! A call's arguments, verbatim; `null` counts as absent.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::model::json::Json;

/// The bound of all arguments together, in bytes.
const ARGUMENTS_MAX: usize = 16 << 20;

/// An object's members, in order.
#[derive(Debug, Default)]
pub(super) struct Arguments(Vec<(String, Json)>);

impl Arguments {
    /// From text; absent arguments are empty ones.
    ///
    /// # Errors
    /// `invalid_input` unless it is one JSON object that names no member twice.
    pub(super) fn parse(text: Option<&str>) -> Result<Self> {
        let json = Json::parse("arguments", text.unwrap_or("{}"), ARGUMENTS_MAX)?;
        if !json.is_object() {
            return Err(Error::input("arguments must be a JSON object"));
        }
        Ok(Self(json.members()))
    }

    /// Refuses members of other names than these: one that was misspelt must not count for nothing.
    pub(super) fn only(&self, names: &[String]) -> Result<()> {
        match self.0.iter().find(|(name, _)| !names.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::input(format!("there is no argument '{name}'"))
                .hint(format!("arguments: {}", names.join(", ")))),
        }
    }

    /// A member.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        let (_, value) = self.0.iter().find(|(n, _)| n == name)?;
        (value.as_str() != "null").then_some(value)
    }

    /// A member of at most `max` bytes.
    pub(super) fn json(&self, name: &str, max: usize) -> Result<Option<Json>> {
        self.get(name)
            .map(|json| Json::parse(name, json.as_str(), max))
            .transpose()
    }

    /// An object of at most `max` bytes.
    pub(super) fn object(&self, name: &str, max: usize) -> Result<Option<Json>> {
        match self.json(name, max)? {
            Some(json) if !json.is_object() => {
                Err(Error::input(format!("{name} must be a JSON object")))
            }
            other => Ok(other),
        }
    }

    /// A member as a type.
    pub(super) fn read<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        shape: &str,
    ) -> Result<Option<T>> {
        let Some(json) = self.get(name) else {
            return Ok(None);
        };
        serde_json::from_str(json.as_str())
            .map(Some)
            .map_err(|_| Error::input(format!("{name} must be {shape}")))
    }

    /// A text; a blank one counts as absent.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        let text: Option<String> = self.read(name, "a string")?;
        Ok(text.filter(|text| !text.trim().is_empty()))
    }

    /// An array of at most `max` bytes.
    pub(super) fn array(&self, name: &str, max: usize) -> Result<Option<Json>> {
        match self.json(name, max)? {
            Some(json) if !json.as_str().starts_with('[') => {
                Err(Error::input(format!("{name} must be a JSON array")))
            }
            other => Ok(other),
        }
    }

    /// One of a few words, as it is written; of a wrong type it is told which there are.
    pub(super) fn word(&self, name: &str, words: &str) -> Result<Option<String>> {
        let text = self.text(name);
        text.map_err(|_| Error::input(format!("{name} is {words}")))
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.read(name, "true or false")?.unwrap_or(false))
    }

    /// A number of seconds, clamped.
    pub(super) fn seconds(&self, name: &str, bounds: (u64, u64)) -> Result<Option<Duration>> {
        let Some(json) = self.get(name) else {
            return Ok(None);
        };
        let number: f64 = json
            .as_str()
            .parse()
            .map_err(|_| Error::input(format!("{name} must be a number of seconds")))?;
        let clamped = number.clamp(bounds.0 as f64, bounds.1 as f64);
        Ok(Some(Duration::from_secs_f64(clamped)))
    }
}
