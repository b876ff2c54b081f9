//! Changes a rule in the text of a configuration; comments and layout stay as they are.
//!
//! Promise: a pure function of the text. Nothing but the one list changes, except that an agent's table is
//! made where it has none.

use toml_edit::{Array, DocumentMut, InlineTable, Item, RawString, Table, Value};

/// Where a rule stands.
#[derive(Clone, Copy, Debug)]
pub struct Rule<'a> {
    /// The name of the agent's table as the file has it, or is to have it.
    pub agent: &'a str,
    /// `auto_allow` or `auto_deny`.
    pub list: &'a str,
    /// The pattern.
    pub pattern: &'a str,
}

/// The text with the rule at the end of its list. An agent without a table gets a copy of the one of
/// `like`, if that is given.
///
/// # Errors
/// Says what is in the way, without the file's name.
pub fn add(text: &str, rule: Rule, like: Option<&str>) -> Result<String, String> {
    let mut document = parse(text)?;
    if policy_of(&document, rule.agent).is_none() {
        let model = like.and_then(|like| policy_of(&document, like));
        let model = model.cloned().map(alone);
        make(&mut document, rule.agent, model)?;
    }
    push(list(&mut document, rule)?, rule.pattern);
    Ok(document.to_string())
}

/// The text without the rule, wherever its list has it.
///
/// # Errors
/// Says what is in the way, without the file's name.
pub fn remove(text: &str, rule: Rule) -> Result<String, String> {
    let mut document = parse(text)?;
    let array = list(&mut document, rule)?;
    let is_rule = |value: &Value| value.as_str() == Some(rule.pattern);
    for index in (0..array.len()).rev() {
        if array.get(index).is_some_and(is_rule) {
            take(array, index);
        }
    }
    Ok(document.to_string())
}

/// A table's name as it is written in a header.
pub fn quoted(name: &str) -> String {
    toml_edit::Key::new(name).to_string()
}

const TABLE: &str = "approval_policy";
const NO_TABLE: &str = "the policy is no table";

fn policy_of<'d>(document: &'d DocumentMut, agent: &str) -> Option<&'d Item> {
    let agents = document.get("agents")?.as_table_like()?;
    agents.get(agent)?.as_table_like()?.get(TABLE)
}

/// Makes an agent's table, below everything that is there.
fn make(document: &mut DocumentMut, agent: &str, model: Option<Item>) -> Result<(), String> {
    let end = raw(Some(document.trailing()));
    let above = match end.trim_end() {
        "" if document.is_empty() => String::new(),
        "" => "\n".to_owned(),
        comments => format!("{comments}\n\n"),
    };
    let agents = child(document.as_item_mut(), "agents", None)?;
    let policy = child(child(agents, agent, None)?, TABLE, model)?;
    if let Some(table) = policy.as_table_mut() {
        table.decor_mut().set_prefix(above);
        document.set_trailing("");
    }
    Ok(())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| error.message().to_owned())
}

/// A table to copy: without what stood around it.
fn alone(mut item: Item) -> Item {
    if let Some(table) = item.as_table_mut() {
        table.set_position(None);
        table.decor_mut().clear();
    }
    item
}

/// The table of that name, made as its parent is written if it is not there.
fn child<'t>(parent: &'t mut Item, key: &str, model: Option<Item>) -> Result<&'t mut Item, String> {
    let inline = parent.is_inline_table();
    let parent = parent.as_table_like_mut().ok_or(NO_TABLE)?;
    if !parent.contains_key(key) {
        let new = match model {
            Some(Item::Table(table)) if inline => Item::Value(table.into_inline_table().into()),
            Some(item) => item,
            None if inline => Item::Value(InlineTable::new().into()),
            None => {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            }
        };
        parent.insert(key, new);
    }
    parent.get_mut(key).ok_or_else(|| NO_TABLE.to_owned())
}

fn list<'d>(document: &'d mut DocumentMut, rule: Rule) -> Result<&'d mut Array, String> {
    let agents = child(document.as_item_mut(), "agents", None)?;
    let agent = child(agents, rule.agent, None)?;
    let policy = child(agent, TABLE, None)?;
    let policy = policy.as_table_like_mut().ok_or(NO_TABLE)?;
    if !policy.contains_key(rule.list) {
        policy.insert(rule.list, Item::Value(Array::new().into()));
    }
    let list = policy.get_mut(rule.list).and_then(Item::as_array_mut);
    list.ok_or_else(|| format!("{} is no list", rule.list))
}

fn raw(text: Option<&RawString>) -> String {
    text.and_then(RawString::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Blanks, line ends and comments before an element.
fn before(value: &Value) -> String {
    raw(value.decor().prefix())
}

/// The same behind an element, before its comma if it has one.
fn behind(value: &Value) -> String {
    raw(value.decor().suffix())
}

/// The same between the last element, or its comma, and the closing bracket.
fn end(array: &Array) -> String {
    let last = array.iter().last().filter(|_| !array.trailing_comma());
    last.map(behind).unwrap_or_default() + &raw(Some(array.trailing()))
}

fn set_end(array: &mut Array, end: &str) {
    if let (false, Some(last)) = (array.trailing_comma(), array.iter_mut().last()) {
        last.decor_mut().set_suffix("");
    }
    array.set_trailing(end);
}

/// Adds an element as the others are written.
fn push(array: &mut Array, pattern: &str) {
    let after = end(array);
    let last = array.iter().last().map(before);
    let indent = last
        .as_deref()
        .and_then(|last| last.rsplit_once('\n'))
        .map(|(_, indent)| indent);
    let (prefix, closing) = match (after.rsplit_once('\n'), indent) {
        (Some((body, closing)), indent) => (
            format!("{body}\n{}", indent.unwrap_or("  ")),
            format!("\n{closing}"),
        ),
        (None, Some(indent)) => (format!("\n{indent}"), after.clone()),
        (None, None) if array.is_empty() => (String::new(), String::new()),
        (None, None) => (" ".to_owned(), after.clone()),
    };
    let many_lines = closing.contains('\n');
    if array.is_empty() {
        array.set_trailing_comma(many_lines);
    }
    set_end(array, &closing);
    let mut value = Value::from(pattern);
    value.decor_mut().set_prefix(prefix);
    value.decor_mut().set_suffix("");
    array.push_formatted(value);
}

/// Takes an element out, and the comment behind it on its line.
fn take(array: &mut Array, index: usize) {
    let Some(value) = array.get(index) else {
        return;
    };
    let above = before(value);
    let is_last = index + 1 == array.len();
    let after = match array.get(index + 1) {
        Some(next) => behind(value) + &before(next),
        None if array.trailing_comma() => behind(value) + &end(array),
        None => end(array),
    };
    let kept = above.rfind('\n').map(|at| &above[..=at]);
    let joined = match (after.split_once('\n'), kept) {
        (Some((_, below)), Some(kept)) => format!("{kept}{below}"),
        (None, Some(kept)) if is_last && kept.contains('#') => kept.to_owned(),
        (None, _) if !is_last => above,
        _ => after,
    };
    array.remove(index);
    match array.get_mut(index) {
        Some(next) => next.decor_mut().set_prefix(joined),
        None => set_end(array, &joined),
    }
    if array.is_empty() {
        array.set_trailing_comma(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(pattern: &str) -> Rule<'_> {
        Rule {
            agent: "a",
            list: "auto_allow",
            pattern,
        }
    }

    const HEAD: &str = "[agents.a.approval_policy]\n";

    fn added(list: &str) -> String {
        let text = format!("{HEAD}auto_allow = {list} # end\n");
        let new = add(&text, rule("new"), None).unwrap();
        let new = new
            .strip_prefix(HEAD)
            .unwrap()
            .strip_prefix("auto_allow = ");
        new.unwrap().strip_suffix(" # end\n").unwrap().to_owned()
    }

    fn removed(list: &str) -> String {
        let text = format!("{HEAD}auto_allow = {list} # end\n");
        let new = remove(&text, rule("x")).unwrap();
        let new = new
            .strip_prefix(HEAD)
            .unwrap()
            .strip_prefix("auto_allow = ");
        new.unwrap().strip_suffix(" # end\n").unwrap().to_owned()
    }

    #[test]
    fn an_element_is_added_as_the_others_are_written() {
        for (list, want) in [
            ("[]", "[\"new\"]"),
            ("[\"a\"]", "[\"a\", \"new\"]"),
            ("[ 'a' , 'b' ]", "[ 'a' , 'b', \"new\" ]"),
            ("[\n  \"a\",\n]", "[\n  \"a\",\n  \"new\",\n]"),
            ("[\n\t'a'\n]", "[\n\t'a',\n\t\"new\"\n]"),
            (
                "[\n  \"a\", # one\n  # last\n]",
                "[\n  \"a\", # one\n  # last\n  \"new\",\n]",
            ),
            ("[\n  \"a\" # one\n  ]", "[\n  \"a\", # one\n  \"new\"\n  ]"),
            ("[\n  \"a\",\n  \"b\"]", "[\n  \"a\",\n  \"b\",\n  \"new\"]"),
            ("[\n  # none yet\n]", "[\n  # none yet\n  \"new\",\n]"),
        ] {
            assert_eq!(added(list), want, "{list}");
        }
    }

    #[test]
    fn an_element_goes_with_its_comment_and_no_other() {
        for (list, want) in [
            ("[\"x\"]", "[]"),
            ("[\"x\", \"b\"]", "[\"b\"]"),
            ("[\"a\", \"x\"]", "[\"a\"]"),
            ("[\"a\", \"x\", 'b']", "[\"a\", 'b']"),
            ("[\"x\", \"a\", \"x\"]", "[\"a\"]"),
            (
                "[\n  \"a\", # one\n  \"x\", # two\n  \"b\", # three\n]",
                "[\n  \"a\", # one\n  \"b\", # three\n]",
            ),
            (
                "[\n  # above\n  \"x\", # two\n  \"b\"\n]",
                "[\n  # above\n  \"b\"\n]",
            ),
            ("[\n  \"a\", # one\n  \"x\" # two\n]", "[\n  \"a\" # one\n]"),
            ("[\n  \"a\", # one\n  \"x\"]", "[\n  \"a\" # one\n]"),
            ("[\n  \"x\", # two\n]", "[\n]"),
        ] {
            assert_eq!(removed(list), want, "{list}");
        }
    }

    #[test]
    fn a_table_is_made_where_and_as_it_belongs() {
        for (text, want) in [
            ("", "[agents.a.approval_policy]\nauto_allow = [\"new\"]\n"),
            (
                "# mine\n",
                "# mine\n\n[agents.a.approval_policy]\nauto_allow = [\"new\"]\n",
            ),
            (
                "max_pending = 5",
                "max_pending = 5\n\n[agents.a.approval_policy]\nauto_allow = [\"new\"]\n",
            ),
            (
                "[agents.b.approval_policy]\ndefault = \"deny\"\n\n# end\n",
                "[agents.b.approval_policy]\ndefault = \"deny\"\n\n# end\n\n[agents.a.approval_policy]\nauto_allow = [\"new\"]\n",
            ),
            (
                "[agents.a.approval_policy]\ndefault = \"deny\" # no\n[resume]\n",
                "[agents.a.approval_policy]\ndefault = \"deny\" # no\nauto_allow = [\"new\"]\n[resume]\n",
            ),
            (
                "agents.a.approval_policy.default = \"deny\"\n",
                "agents.a.approval_policy.default = \"deny\"\nagents.a.approval_policy.auto_allow = [\"new\"]\n",
            ),
            (
                "agents = { b = {} }\n",
                "agents = { b = {} , a = { approval_policy = { auto_allow = [\"new\"] } } }\n",
            ),
        ] {
            assert_eq!(add(text, rule("new"), None).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn a_new_table_begins_as_a_copy_of_the_one_that_was_in_force() {
        let text = "# all\n[agents.\"*\".approval_policy]\nauto_deny = [\"rm *\"] # never\ndefault = \"deny\"\n";
        let want = format!(
            "{text}\n[agents.a.approval_policy]\nauto_deny = [\"rm *\"] # never\ndefault = \"deny\"\nauto_allow = [\"new\"]\n"
        );
        assert_eq!(add(text, rule("new"), Some("*")).unwrap(), want);
    }

    #[test]
    fn what_is_no_list_is_left_alone() {
        for text in [
            "agents = 1",
            "[agents]\na = 1",
            "[agents.a.approval_policy]\nauto_allow = 1",
            "[",
        ] {
            assert!(add(text, rule("new"), None).is_err(), "{text}");
        }
        assert_eq!(quoted("*"), "\"*\"");
    }

    fn lines() -> impl Strategy<Value = String> {
        let gap = prop_oneof![
            Just(" "),
            Just(""),
            Just("\n  "),
            Just(" # c\n\t"),
            Just("\n\n # d\n")
        ];
        let item = (
            gap.clone(),
            prop_oneof![Just("'a'"), Just("\"x\""), Just("'b,# '")],
            gap.clone(),
        );
        (proptest::collection::vec(item, 0..5), gap, any::<bool>()).prop_map(
            |(items, end, comma)| {
                let items: Vec<_> = items
                    .iter()
                    .map(|(a, item, b)| format!("{a}{item}{b}"))
                    .collect();
                let comma = if comma && !items.is_empty() { "," } else { "" };
                format!("[{}{comma}{end}]", items.join(","))
            },
        )
    }

    fn read(text: &str) -> Vec<String> {
        let value: toml::Value = toml::from_str(text).unwrap();
        let list = value["agents"]["a"]["approval_policy"]["auto_allow"]
            .as_array()
            .unwrap();
        list.iter()
            .map(|v| v.as_str().unwrap().to_owned())
            .collect()
    }

    proptest! {
        #[test]
        fn whatever_the_layout_exactly_the_rule_comes_and_goes(list in lines(), pattern in "[a-z*\"\\\\#' ]{1,6}") {
            let text = format!("{HEAD}auto_allow = {list}\n[resume] # r\n");
            let old = read(&text);
            let more = add(&text, rule(&pattern), None).unwrap();
            let mut want = old.clone();
            want.push(pattern.clone());
            prop_assert_eq!(read(&more), want, "{}", more);
            let less = remove(&more, rule(&pattern)).unwrap();
            let want: Vec<_> = old.into_iter().filter(|old| *old != pattern).collect();
            prop_assert_eq!(read(&less), want, "{}", less);
            let comments = |text: &str| text.matches("# d").count();
            prop_assert_eq!(comments(&text), comments(&less), "{} {}", text, less);
        }
    }
}
