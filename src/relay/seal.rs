//! Sealing a payload for one device, so that Relay carries what it cannot read.
//!
//! X25519 with a fresh key pair for each recipient; the raw shared secret is the key of
//! XChaCha20-Poly1305. The wire form is base64url without padding of nonce, ephemeral public key,
//! ciphertext and tag.

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use rand::RngExt;
use x25519_dalek::{PublicKey, StaticSecret};

/// What must be new for every seal.
pub(super) struct Fresh {
    secret: StaticSecret,
    nonce: [u8; 24],
}

impl Fresh {
    /// From the system's randomness.
    pub(super) fn random() -> Self {
        let mut rng = rand::rng();
        Self::from_bytes(rng.random(), rng.random())
    }

    /// From given bytes: the ephemeral private key and the nonce.
    pub(super) fn from_bytes(secret: [u8; 32], nonce: [u8; 24]) -> Self {
        Self {
            secret: StaticSecret::from(secret),
            nonce,
        }
    }
}

/// A device's key that can be sealed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeviceKey(PublicKey);

impl DeviceKey {
    /// From base64url, padded or not; none for what is not 32 bytes, or a point of low order, with which
    /// every shared secret would be all zero.
    pub(super) fn parse(text: &str) -> Option<Self> {
        const LENIENT: GeneralPurpose = GeneralPurpose::new(
            &base64::alphabet::URL_SAFE,
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
        );
        let bytes: [u8; 32] = LENIENT.decode(text).ok()?.try_into().ok()?;
        let key = PublicKey::from(bytes);
        let probe = StaticSecret::from([0x42; 32]);
        let sound = probe.diffie_hellman(&key).was_contributory();
        sound.then_some(Self(key))
    }

    /// As base64url without padding.
    pub(super) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.as_bytes())
    }
}

/// Seals a text for a device; none where the key turns out to be of low order.
pub(super) fn seal(text: &[u8], aad: &str, device: &DeviceKey, fresh: &Fresh) -> Option<String> {
    let shared = fresh.secret.diffie_hellman(&device.0);
    if !shared.was_contributory() {
        return None;
    }
    let cipher = XChaCha20Poly1305::new(&Key::from(*shared.as_bytes()));
    let payload = Payload {
        msg: text,
        aad: aad.as_bytes(),
    };
    let sealed = cipher.encrypt(&XNonce::from(fresh.nonce), payload).ok()?;
    let public = PublicKey::from(&fresh.secret);
    let mut wire = Vec::with_capacity(24 + 32 + sealed.len());
    wire.extend_from_slice(&fresh.nonce);
    wire.extend_from_slice(public.as_bytes());
    wire.extend_from_slice(&sealed);
    Some(URL_SAFE_NO_PAD.encode(wire))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Vectors {
        vectors: Vec<Vector>,
    }

    #[derive(serde::Deserialize)]
    struct Vector {
        aad: String,
        plaintext: String,
        recipient_private: String,
        recipient_public: String,
        ephemeral_private: String,
        nonce: String,
        sealed: String,
    }

    fn vectors() -> Vec<Vector> {
        let text = include_str!("../../tests/fixtures/relay-seal.json");
        serde_json::from_str::<Vectors>(text).unwrap().vectors
    }

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        URL_SAFE_NO_PAD.decode(text).unwrap().try_into().unwrap()
    }

    fn open(sealed: &str, aad: &str, private: [u8; 32]) -> Option<Vec<u8>> {
        let wire = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, rest) = wire.split_at_checked(24)?;
        let (public, sealed) = rest.split_at_checked(32)?;
        let public: [u8; 32] = public.try_into().ok()?;
        let shared = StaticSecret::from(private).diffie_hellman(&PublicKey::from(public));
        let nonce: [u8; 24] = nonce.try_into().ok()?;
        let payload = Payload {
            msg: sealed,
            aad: aad.as_bytes(),
        };
        XChaCha20Poly1305::new(&Key::from(*shared.as_bytes()))
            .decrypt(&XNonce::from(nonce), payload)
            .ok()
    }

    #[test]
    fn the_published_vectors_byte_for_byte() {
        let vectors = vectors();
        assert_eq!(vectors.len(), 2);
        for v in vectors {
            let key = DeviceKey::parse(&v.recipient_public).unwrap();
            let fresh = Fresh::from_bytes(bytes(&v.ephemeral_private), bytes(&v.nonce));
            let sealed = seal(v.plaintext.as_bytes(), &v.aad, &key, &fresh);
            assert_eq!(sealed.as_deref(), Some(v.sealed.as_str()));
            let private = bytes(&v.recipient_private);
            let opened = open(&v.sealed, &v.aad, private);
            assert_eq!(opened.as_deref(), Some(v.plaintext.as_bytes()));
        }
    }

    #[test]
    fn any_change_of_any_part_keeps_it_shut() {
        let v = vectors().remove(0);
        let private: [u8; 32] = bytes(&v.recipient_private);
        for field in 0..6 {
            let mut fields: Vec<String> = v.aad.split('|').map(str::to_owned).collect();
            fields[field].push('x');
            assert_eq!(open(&v.sealed, &fields.join("|"), private), None, "{field}");
        }
        let wire = URL_SAFE_NO_PAD.decode(&v.sealed).unwrap();
        for at in [0, 24, 56, wire.len() - 1] {
            let mut changed = wire.clone();
            changed[at] ^= 1;
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(open(&changed, &v.aad, private), None, "byte {at}");
        }
    }

    #[test]
    fn two_seals_of_one_text_differ() {
        let key = DeviceKey::parse(&vectors()[0].recipient_public).unwrap();
        let once = || seal(b"text", "aad", &key, &Fresh::random()).unwrap();
        assert_ne!(once(), once());
    }

    #[test]
    fn short_long_and_low_order_keys_are_no_keys() {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut one = [0; 32];
        one[0] = 1;
        assert!(DeviceKey::parse(&encode(&[9; 32])).is_some());
        assert!(DeviceKey::parse(&(encode(&[9; 32]) + "=")).is_some());
        for bad in [&[9; 31][..], &[9; 33], &[0; 32], &one, &[]] {
            assert_eq!(DeviceKey::parse(&encode(bad)), None, "{bad:?}");
        }
        assert_eq!(DeviceKey::parse("not base64!"), None);
    }
}
