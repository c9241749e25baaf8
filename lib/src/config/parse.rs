//! Git's config syntax.

use std::ops::Range;

use super::{Entry, Name, Section};

/// What may stand in the name of a section or a key.
pub fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// A section's header as it stands in the file.
#[derive(Clone, Debug)]
pub struct Header {
    pub section: Section,
    /// From `[` to `]`.
    pub span: Range<usize>,
    /// Where its line ends, with the newline.
    pub end: usize,
}

/// The text of a file, and what stands where in it.
#[derive(Clone, Debug)]
pub struct File {
    pub text: String,
    pub headers: Vec<Header>,
    pub entries: Vec<Entry>,
}

/// The line of a fault, and what it is.
pub type Fault = (usize, String);

impl File {
    pub fn parse(text: String) -> Result<File, Fault> {
        let mut file = File { text: String::new(), headers: Vec::new(), entries: Vec::new() };
        Parser { text: &text, at: 0 }.file(&mut file)?;
        file.text = text;
        Ok(file)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn file(&mut self, file: &mut File) -> Result<(), Fault> {
        // A byte order mark is not a part of the text.
        self.eat("\u{feff}");
        while let Some(c) = self.peek() {
            match c {
                '#' | ';' => self.at = self.line_end(),
                '[' => {
                    let start = self.at;
                    let section = self.section()?;
                    file.headers.push(Header { section, span: start..self.at, end: self.line_end() });
                }
                c if c.is_ascii_alphabetic() => {
                    let section = file.headers.last().map(|header| header.section.clone());
                    let section = section.ok_or_else(|| self.fault("a key stands before any section"))?;
                    file.entries.push(self.entry(section)?);
                }
                ' ' | '\t' | '\r' | '\n' => self.at += 1,
                c => return Err(self.fault(format!("a key cannot begin with '{}'", c.escape_debug()))),
            }
        }
        Ok(())
    }

    /// `[section]`, `[section "subsection"]`, or in the old way `[section.subsection]`.
    fn section(&mut self) -> Result<Section, Fault> {
        self.at += 1;
        let name = self.take_while(|c| is_name(c) || c == '.').to_ascii_lowercase();
        let (name, mut subsection) = match name.split_once('.') {
            Some((name, subsection)) => (name.to_owned(), Some(subsection.to_owned())),
            None => (name, None),
        };
        if name.is_empty() {
            return Err(self.fault("a section has no name"));
        }
        let blank = !self.take_while(|c| c == ' ' || c == '\t').is_empty();
        if blank {
            if self.peek() != Some('"') {
                return Err(self.fault("a subsection's name has no quotes"));
            }
            let quoted = self.subsection()?;
            subsection = Some(subsection.map_or(quoted.clone(), |before| format!("{before}.{quoted}")));
        }
        match self.peek() {
            Some(']') => self.at += 1,
            _ => return Err(self.fault("a section's name has no ']' after it")),
        }
        Ok(Section { name, subsection })
    }

    fn subsection(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut name = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(name),
                Some('\\') => match self.next() {
                    Some(c) if c != '\n' => name.push(c),
                    _ => return Err(self.fault_before("a subsection's name has no end")),
                },
                Some(c) if c != '\n' => name.push(c),
                _ => return Err(self.fault_before("a subsection's name has no end")),
            }
        }
    }

    fn entry(&mut self, section: Section) -> Result<Entry, Fault> {
        let (start, line) = (self.at, self.line());
        let key = self.take_while(is_name).to_ascii_lowercase();
        let mut end = self.at;
        self.take_while(|c| c == ' ' || c == '\t');
        let value = match self.peek() {
            Some('=') => {
                self.at += 1;
                let (value, value_end) = self.value()?;
                end = value_end;
                Some(value)
            }
            None | Some('\n') => None,
            Some('\r') if self.text[self.at..].starts_with("\r\n") => None,
            Some(_) => return Err(self.fault(format!("'{key}' has no '=' after it"))),
        };
        Ok(Entry { name: Name { section, key }, value, line, span: start..end, end: self.line_end() })
    }

    /// The value after a `=`, and where it ends in the text; blanks and a comment may follow it.
    fn value(&mut self) -> Result<(String, usize), Fault> {
        let (mut value, mut quoted, mut end) = (String::new(), false, self.at);
        // How much of the value stays when blanks at its end go.
        let mut kept = 0;
        loop {
            let stop = self.at;
            if self.eat("\r\n") || self.eat("\n") || self.peek().is_none() {
                if quoted {
                    return Err(self.fault_before("a quote has no end"));
                }
                self.at = stop;
                break;
            }
            match self.next() {
                Some('#' | ';') if !quoted => {
                    self.at = stop;
                    break;
                }
                Some('"') => quoted = !quoted,
                Some('\\') => match self.next() {
                    Some('\n') => continue,
                    Some('\r') if self.eat("\n") => continue,
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some(c @ ('\\' | '"')) => value.push(c),
                    None => continue,
                    Some(c) => return Err(self.fault_before(format!("'\\{}' means nothing", c.escape_debug()))),
                },
                Some(c @ (' ' | '\t' | '\r')) if !quoted => {
                    if !value.is_empty() || kept > 0 {
                        value.push(c);
                    }
                    continue;
                }
                Some('\0') => return Err(self.fault_before("a value holds a NUL character")),
                Some(c) => value.push(c),
                None => {}
            }
            (kept, end) = (value.len(), self.at);
        }
        value.truncate(kept);
        Ok((value, end))
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.text[self.at..].starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        while self.peek().is_some_and(&holds) {
            self.next();
        }
        &self.text[start..self.at]
    }

    /// Where the line ends, with its newline.
    fn line_end(&self) -> usize {
        self.text[self.at..].find('\n').map_or(self.text.len(), |n| self.at + n + 1)
    }

    fn line(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    fn fault(&self, why: impl Into<String>) -> Fault {
        (self.line(), why.into())
    }

    /// A fault in the character before this place, which may be the end of a line.
    fn fault_before(&self, why: impl Into<String>) -> Fault {
        let before = self.text[..self.at].strip_suffix('\n').unwrap_or(&self.text[..self.at]);
        (1 + before.matches('\n').count(), why.into())
    }
}
