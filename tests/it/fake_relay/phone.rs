//! A paired device: its key pair, what it reads, and how it answers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde_json::{Value, json};
use x25519_dalek::{PublicKey, StaticSecret};

use crate::sandbox::text;

/// Nonce, ephemeral public key and tag.
const SEALED_MIN: usize = 24 + 32 + 16;

/// One device.
#[derive(Clone)]
pub struct Phone {
    pub device_id: String,
    pub key_id: String,
    secret: StaticSecret,
}

impl Phone {
    pub fn new(device_id: &str) -> Self {
        Self::with_secret(device_id, rand::random())
    }

    pub fn with_secret(device_id: &str, secret: [u8; 32]) -> Self {
        Self {
            device_id: device_id.into(),
            key_id: format!("key-of-{device_id}"),
            secret: StaticSecret::from(secret),
        }
    }

    pub fn public_key(&self) -> [u8; 32] {
        PublicKey::from(&self.secret).to_bytes()
    }

    /// The device as `GET /v1/devices` lists it.
    pub fn listed(&self) -> Value {
        json!({
            "device_id": self.device_id,
            "key_id": self.key_id,
            "public_key": URL_SAFE_NO_PAD.encode(self.public_key()),
        })
    }

    /// What an envelope holds for this device; none where it holds nothing for it.
    pub fn read(&self, envelope: &Value) -> Option<Result<Vec<u8>, String>> {
        let recipients = envelope["recipients"].as_array()?;
        let mine = recipients
            .iter()
            .find(|r| r["device_id"] == self.device_id.as_str())?;
        let sealed = mine["ciphertext"].as_str()?;
        Some(self.open(sealed, &additional(envelope, mine)))
    }

    /// Opens what was sealed for this device.
    pub fn open(&self, sealed: &str, additional: &str) -> Result<Vec<u8>, String> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|e| e.to_string())?;
        if bytes.len() < SEALED_MIN {
            return Err(format!("{} bytes are too few", bytes.len()));
        }
        let (nonce, rest) = bytes.split_at(24);
        let (ephemeral, ciphertext) = rest.split_at(32);
        let ephemeral: [u8; 32] = ephemeral.try_into().unwrap();
        let shared = self.secret.diffie_hellman(&PublicKey::from(ephemeral));
        if !shared.was_contributory() {
            return Err("the shared secret is zero".into());
        }
        let cipher = XChaCha20Poly1305::new_from_slice(shared.as_bytes()).unwrap();
        let payload = Payload {
            msg: ciphertext,
            aad: additional.as_bytes(),
        };
        let nonce: [u8; 24] = nonce.try_into().unwrap();
        cipher
            .decrypt(&XNonce::from(nonce), payload)
            .map_err(|_| "it does not open".into())
    }

    /// The answer to a question that this device has read, as it is handed to the Relay. `answer` is
    /// `choice_id` or `text` and its value.
    pub fn answer(&self, asked: &Asked, response_id: &str, answer: (&str, &str)) -> Value {
        let question = &asked.payload["interaction"];
        let mut item = json!({
            "contract_version": "1",
            "response_id": response_id,
            "interaction_id": question["id"],
            "request_digest": question["request_digest"],
            "nonce": question["nonce"],
            "installation_id": asked.sender_id,
            "device_id": self.device_id,
        });
        item[answer.0] = answer.1.into();
        item
    }
}

/// A question as a phone has it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The opened payload.
    pub payload: Value,
    /// The installation that asks: from the envelope, not from the payload.
    pub sender_id: String,
}

impl Asked {
    /// The same from a record as `request --json` or `get` prints it.
    pub fn of_record(record: &Value, sender_id: &str) -> Self {
        Self {
            payload: json!({ "interaction": record }),
            sender_id: sender_id.into(),
        }
    }
}

/// The additional data of a recipient, exactly as its parts are on the wire.
pub fn additional(envelope: &Value, recipient: &Value) -> String {
    let of = |object: &Value, name: &str| object[name].as_str().unwrap_or_default().to_owned();
    [
        of(envelope, "envelope_version"),
        of(envelope, "sender_id"),
        of(recipient, "device_id"),
        of(recipient, "key_id"),
        of(envelope, "client_event_id"),
        of(envelope, "expires_at"),
    ]
    .join("|")
}

#[test]
fn a_phone_opens_the_published_vectors_and_nothing_that_was_changed() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../fixtures/relay-seal.json")).unwrap();
    for vector in vectors["vectors"].as_array().unwrap() {
        let secret = URL_SAFE_NO_PAD.decode(text(vector, "recipient_private"));
        let phone = Phone::with_secret("d", secret.unwrap().try_into().unwrap());
        let public = URL_SAFE_NO_PAD.encode(phone.public_key());
        assert_eq!(public, text(vector, "recipient_public"));
        let (sealed, additional) = (text(vector, "sealed"), text(vector, "aad"));
        let opened = phone.open(sealed, additional).unwrap();
        assert_eq!(opened, text(vector, "plaintext").as_bytes());
        for changed in 0..6 {
            let mut parts: Vec<String> = additional.split('|').map(str::to_owned).collect();
            parts[changed].push('x');
            assert!(phone.open(sealed, &parts.join("|")).is_err(), "{changed}");
        }
        let bytes = URL_SAFE_NO_PAD.decode(sealed).unwrap();
        for at in [0, 23, 24, 55, 56, bytes.len() - 17, bytes.len() - 1] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            let changed = URL_SAFE_NO_PAD.encode(bytes);
            assert!(phone.open(&changed, additional).is_err(), "byte {at}");
        }
        let short = URL_SAFE_NO_PAD.encode(&bytes[..SEALED_MIN - 1]);
        assert!(phone.open(&short, additional).is_err());
    }
}
