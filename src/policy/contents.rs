//! What a `SPEC` is matched against: the principal argument of a call that is no command.

use super::address::{Address, AddressPattern};
use super::pattern::Pattern;

/// A text that a call is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Argument {
    text: String,
    /// Whether a name of other case is the same place.
    caseless: bool,
    /// The address that it is to every reader.
    address: Option<Address>,
    /// The addresses that it is to some reader.
    readings: Vec<Address>,
}

impl Argument {
    /// Text that is matched as it is.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A path on a file system that does or does not tell upper from lower case.
    pub(super) fn path(text: impl Into<String>, caseless: bool) -> Self {
        Self {
            caseless,
            ..Self::text(text)
        }
    }

    /// Text that may be an address.
    pub(super) fn address(text: &str) -> Self {
        Self {
            address: Address::plain(text).ok(),
            readings: Address::readings(text),
            ..Self::text(text)
        }
    }
}

/// The `SPEC` of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    /// The pattern for the whole text.
    pub(super) whole: Pattern,
    /// The same as an address, or why it is none that could match; absent for one of another form.
    pub(super) address: Option<Result<AddressPattern, &'static str>>,
}

impl Spec {
    /// From text.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        Ok(Self {
            whole: Pattern::parse(text)?,
            address: AddressPattern::parse(text),
        })
    }

    /// Whether it matches the argument for certain.
    pub(super) fn allows(&self, argument: &Argument) -> bool {
        match &self.address {
            None => self.whole.matches(&argument.text),
            Some(Ok(pattern)) => {
                let address = argument.address.as_ref();
                address.is_some_and(|address| pattern.matches(address))
            }
            Some(Err(_)) => false,
        }
    }

    /// Whether it matches the argument in any way in which it can be read.
    pub(super) fn denies(&self, argument: &Argument) -> bool {
        let text = &argument.text;
        if self.whole.matches(text) {
            return true;
        }
        if argument.caseless {
            let lower = self.whole.map(str::to_lowercase);
            return lower.matches(&text.to_lowercase());
        }
        let as_address = |address: &Address| match &self.address {
            Some(Ok(pattern)) if pattern.matches(address) => true,
            _ => self.whole.matches(&address.to_string()),
        };
        argument.readings.iter().any(as_address)
    }
}
