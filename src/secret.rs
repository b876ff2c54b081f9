//! Values that must not be printed by accident, and comparison that takes the same time whatever differs.

use std::fmt;

/// A nonce: 32 characters of base64url that prove its holder has read the request.
///
/// `Debug` is redacted and there is no `Display`; [`Nonce::expose`] is the only way to the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Nonce(String);

const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Nonce {
    /// From 24 random bytes.
    pub fn from_bytes(bytes: &[u8; 24]) -> Self {
        let mut text = String::with_capacity(32);
        for group in bytes.chunks_exact(3) {
            let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
            for shift in [18, 12, 6, 0] {
                text.push(char::from(BASE64URL[(bits >> shift & 63) as usize]));
            }
        }
        Self(text)
    }

    /// From text as it stands in a record; `None` unless it is 32 characters of base64url.
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = text.len() == 32 && text.bytes().all(|b| BASE64URL.contains(&b));
        well_formed.then(|| Self(text.to_owned()))
    }

    /// The text, for the one who asked and for the record.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `other` is this nonce, in constant time.
    pub fn matches(&self, other: &str) -> bool {
        same(self.0.as_bytes(), other.as_bytes())
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(redacted)")
    }
}

/// The bound of a token, in bytes.
const TOKEN_MAX: usize = 4096;

/// What proves to a service who is asking: visible ASCII without blanks.
///
/// `Debug` is redacted and there is no `Display`; [`Token::expose`] is the only way to the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// From text that may have blanks around it; `None` unless it is 1 to 4096 visible ASCII characters.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let visible = text.bytes().all(|b| b.is_ascii_graphic());
        (visible && !text.is_empty() && text.len() <= TOKEN_MAX).then(|| Self(text.to_owned()))
    }

    /// The text, for the service alone.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(redacted)")
    }
}

/// Whether two byte strings are equal, in a time that depends on their lengths only.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let difference = a.iter().zip(b).fold(0u8, |acc, (x, y)| acc | (x ^ y));
    std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_32_characters_and_never_printed() {
        let nonce = Nonce::from_bytes(&[0xff; 24]);
        assert_eq!(nonce.expose(), "_".repeat(32));
        assert_eq!(format!("{nonce:?}"), "Nonce(redacted)");
        assert!(Nonce::parse(nonce.expose()).is_some());
        assert!(Nonce::parse("short").is_none());
        let token = Token::parse(" inst_secret\n").unwrap();
        assert_eq!(token.expose(), "inst_secret");
        assert_eq!(format!("{token:?}"), "Token(redacted)");
        assert!(Token::parse("two words").is_none() && Token::parse(" ").is_none());
        assert!(nonce.matches(&"_".repeat(32)) && !nonce.matches(&"-".repeat(32)));
    }
}
