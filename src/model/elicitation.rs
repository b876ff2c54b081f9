//! MCP elicitation (modelcontextprotocol.io, "Elicitation", form mode): a flat object of primitive
//! properties, asked as a form and answered as JSON that fits the schema.

use serde_json::{Map, Number, Value};

use super::form::{FormAnswer, FormReply};
use super::interaction::{FormOption, FormQuestion};
use super::json::Json;
use crate::error::{Code, Error, Result};
use crate::time::Time;

/// The name under which an elicitation stands as a form's tool.
pub const TOOL: &str = "Elicitation";

struct Property {
    name: String,
    schema: Map<String, Value>,
    required: bool,
}

/// One question per property, in order: its text is the title or the name, its header the name.
///
/// # Errors
/// `invalid_input` for a schema that is no flat object of primitives.
pub fn questions(input: Option<&Json>) -> Result<Vec<FormQuestion>> {
    let properties = properties(input)?;
    let title = |p: &Property| text(&p.schema, "title").unwrap_or(&p.name).to_owned();
    let titles: Vec<String> = properties.iter().map(title).collect();
    properties
        .iter()
        .zip(&titles)
        .map(|(property, title)| {
            let repeated = titles.iter().filter(|t| *t == title).count() > 1;
            let question = if repeated { &property.name } else { title };
            let options = options(property)?;
            Ok(FormQuestion {
                header: Some(property.name.clone()),
                question: question.clone(),
                options: options
                    .into_iter()
                    .map(|(label, _)| FormOption {
                        label,
                        description: None,
                    })
                    .collect(),
                multi_select: text(&property.schema, "type") == Some("array"),
            })
        })
        .collect()
}

/// The reply as the JSON object that the server asked for.
///
/// # Errors
/// `invalid_answer` where a value does not fit its property, or a required one is missing.
pub fn content(input: Option<&Json>, reply: &FormReply) -> Result<String> {
    if reply.response.is_some() {
        return Err(misfit(
            "a server's form takes answers only, no free response",
        ));
    }
    let questions = questions(input)?;
    let mut object = Map::new();
    for (property, question) in properties(input)?.iter().zip(&questions) {
        let answer = reply
            .answers
            .iter()
            .flatten()
            .find(|(text, _)| *text == question.question);
        match answer {
            Some((_, answer)) if answer.note.is_some() => {
                return Err(misfit("a server's form takes answers only, no notes"));
            }
            Some((_, answer)) => {
                object.insert(property.name.clone(), value(property, answer)?);
            }
            None if property.required => {
                return Err(misfit(format!("'{}' is required", property.name)));
            }
            None => {}
        }
    }
    Ok(Value::Object(object).to_string())
}

fn properties(input: Option<&Json>) -> Result<Vec<Property>> {
    let input = input.map(Json::value).unwrap_or_default();
    let schema = input.get("requested_schema");
    let required: Vec<&str> = schema
        .and_then(|s| s.get("required")?.as_array())
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema
        .and_then(|s| s.get("properties")?.as_object())
        .ok_or_else(|| Error::input("the requested schema has no properties"))?;
    properties
        .iter()
        .map(|(name, schema)| {
            let schema = schema.as_object().cloned().ok_or_else(|| unaskable(name))?;
            // What is not checked here would reach the server unchecked.
            if schema.contains_key("pattern") {
                return Err(unaskable(name));
            }
            Ok(Property {
                name: name.clone(),
                schema,
                required: required.contains(&name.as_str()),
            })
        })
        .collect()
}

fn unaskable(name: &str) -> Error {
    Error::input(format!("the property '{name}' cannot be asked for"))
}

fn text<'a>(schema: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
    schema.get(member)?.as_str()
}

/// The labels that a property offers, each with its value; none for free text and numbers.
fn options(property: &Property) -> Result<Vec<(String, Value)>> {
    let unaskable = || unaskable(&property.name);
    match text(&property.schema, "type") {
        Some("boolean") => Ok(vec![
            ("true".into(), true.into()),
            ("false".into(), false.into()),
        ]),
        Some("number" | "integer") => Ok(Vec::new()),
        Some("string") => enumerated(&property.schema),
        Some("array") => {
            let items = property.schema.get("items").and_then(Value::as_object);
            let options = enumerated(items.ok_or_else(unaskable)?)?;
            if options.is_empty() {
                Err(unaskable())
            } else {
                Ok(options)
            }
        }
        _ => Err(unaskable()),
    }
}

fn enumerated(schema: &Map<String, Value>) -> Result<Vec<(String, Value)>> {
    let list = |name: &str| schema.get(name).and_then(Value::as_array);
    if let Some(titled) = list("oneOf").or_else(|| list("anyOf")) {
        let option = |one: &Value| {
            let value = one.get("const")?.as_str()?;
            let label = one.get("title").and_then(Value::as_str).unwrap_or(value);
            Some((label.to_owned(), Value::from(value)))
        };
        let options: Option<Vec<_>> = titled.iter().map(option).collect();
        return options.ok_or_else(|| Error::input("a titled choice has no string 'const'"));
    }
    let values = list("enum").cloned().unwrap_or_default();
    let names = list("enumNames").cloned().unwrap_or_default();
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            let plain = value
                .as_str()
                .ok_or_else(|| Error::input("an enum value is no string"))?;
            let label = names.get(index).and_then(Value::as_str).unwrap_or(plain);
            Ok((label.to_owned(), value.clone()))
        })
        .collect()
}

fn value(property: &Property, answer: &FormAnswer) -> Result<Value> {
    let options = options(property)?;
    let name = &property.name;
    let of_label = |label: &String| {
        let found = options
            .iter()
            .find(|(l, _)| l == label)
            .map(|(_, value)| value.clone());
        found.ok_or_else(|| misfit(format!("'{name}' takes one of the offered values")))
    };
    let wrong = || misfit(format!("'{name}' takes one of the offered values"));
    match (text(&property.schema, "type"), &answer.other) {
        (Some("number" | "integer"), _) => number(property, &answer.readable()),
        (Some("string"), Some(text)) if options.is_empty() => {
            check_range(
                property,
                "minLength",
                "maxLength",
                text.chars().count() as f64,
            )?;
            check_format(property, text)?;
            Ok(text.as_str().into())
        }
        (_, Some(_)) => Err(wrong()),
        (Some("array"), None) => {
            let values: Result<Vec<Value>> = answer.labels().iter().map(of_label).collect();
            let values = values?;
            check_range(property, "minItems", "maxItems", values.len() as f64)?;
            Ok(values.into())
        }
        (_, None) => match answer.labels() {
            [label] => of_label(label),
            _ => Err(wrong()),
        },
    }
}

fn number(property: &Property, text: &str) -> Result<Value> {
    let whole = self::text(&property.schema, "type") == Some("integer");
    let wrong = || {
        misfit(format!(
            "'{}' takes a {}",
            property.name,
            if whole { "whole number" } else { "number" }
        ))
    };
    let number: Number = serde_json::from_str(text.trim()).map_err(|_| wrong())?;
    let size = number
        .as_f64()
        .filter(|n| n.is_finite())
        .ok_or_else(wrong)?;
    if whole && size.fract() != 0.0 {
        return Err(wrong());
    }
    check_range(property, "minimum", "maximum", size)?;
    Ok(Value::Number(number))
}

fn check_range(property: &Property, least: &str, most: &str, size: f64) -> Result<()> {
    let bound = |name: &str| property.schema.get(name).and_then(Value::as_f64);
    let name = &property.name;
    match (bound(least), bound(most)) {
        (Some(bound), _) if size < bound => {
            Err(misfit(format!("'{name}' is below its {least} of {bound}")))
        }
        (_, Some(bound)) if size > bound => {
            Err(misfit(format!("'{name}' is above its {most} of {bound}")))
        }
        _ => Ok(()),
    }
}

fn check_format(property: &Property, text: &str) -> Result<()> {
    let midnight = || Time::parse_loose(&format!("{text}T00:00:00Z")).is_some();
    let fits = match self::text(&property.schema, "format") {
        Some("email") => text
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && !host.is_empty()),
        Some("uri") => text
            .split_once(':')
            .is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty()),
        Some("date") => text.len() == 10 && midnight(),
        Some("date-time") => Time::parse_loose(text).is_some(),
        _ => true,
    };
    if fits {
        Ok(())
    } else {
        Err(misfit(format!(
            "'{}' does not have the format that it needs",
            property.name
        )))
    }
}

fn misfit(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidAnswer, message)
}
