//! Text from outside on its way to a terminal or into a line of output.

use std::{
    fmt::{self, Write},
    io,
};

/// Shows text with everything escaped that could drive a terminal, break a line or reorder what is read: control
/// characters (C0, DEL, C1), line and paragraph separators, and the marks that change the direction of writing.
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\n' => f.write_str("\\n"),
            '\t' => f.write_str("\\t"),
            '\r' => f.write_str("\\r"),
            c if is_unsafe(c) => write!(f, "\\u{{{:x}}}", c as u32),
            c => f.write_char(c),
        })
    }
}

/// Shows JSON, as `serde_json` writes it on one line, with the same characters escaped as [`Escaped`] does, in JSON's way.
/// They stand only within strings there, and none needs more than one `\uXXXX`.
pub struct JsonEscaped<'a>(pub &'a str);

impl fmt::Display for JsonEscaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| if is_unsafe(c) { write!(f, "\\u{:04x}", c as u32) } else { f.write_char(c) })
    }
}

/// The system's words for an error, without Rust's "(os error N)".
pub fn system_text(e: &io::Error) -> String {
    let text = e.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_is_escaped_and_the_rest_is_not() {
        assert_eq!(Escaped("a\x1b[2J\tb\u{202e}\u{9b}é").to_string(), "a\\u{1b}[2J\\tb\\u{202e}\\u{9b}é");
    }

    #[test]
    fn escaped_json_is_the_same_json() {
        let text = serde_json::json!({"a": "\x1b \u{7f} \u{9b} \u{202e} é"}).to_string();
        let escaped = JsonEscaped(&text).to_string();
        assert_eq!(escaped, r#"{"a":"\u001b \u007f \u009b \u202e é"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap().to_string(), text);
    }
}
