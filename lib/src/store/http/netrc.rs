//! `~/.netrc`: who asks, by the host that is asked, as curl and Git read it.

/// A login and its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Login {
    pub user: String,
    pub password: String,
}

/// The login for `host`: of its own `machine`, or of the `default`. The first entry counts.
pub(super) fn find(text: &str, host: &str) -> Option<Login> {
    let mut words = words(text).into_iter();
    let mut entry: Option<(Option<String>, Option<String>)> = None;
    // The entry that is being read belongs to another host.
    let mut other = true;
    loop {
        let word = words.next();
        match word.as_deref() {
            None | Some("machine" | "default") => {
                if let Some((Some(user), Some(password))) = entry.take().filter(|_| !other) {
                    return Some(Login { user, password });
                }
                match word.as_deref() {
                    None => return None,
                    Some("machine") => other = !words.next()?.eq_ignore_ascii_case(host),
                    _ => other = false,
                }
                entry = Some((None, None));
            }
            Some(field @ ("login" | "password" | "account")) => {
                let value = words.next()?;
                match (field, &mut entry) {
                    ("login", Some((user, _))) => *user = Some(value),
                    ("password", Some((_, password))) => *password = Some(value),
                    _ => {}
                }
            }
            Some(_) => {}
        }
    }
}

/// The words of the file. One in quotes may hold spaces; a macro, which ends at an empty line, and comments are left out.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with('#') {
            let (word, after) = match rest.strip_prefix('"') {
                Some(quoted) => unquoted(quoted),
                None => {
                    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                    (rest[..end].to_owned(), &rest[end..])
                }
            };
            if word == "macdef" {
                lines.by_ref().take_while(|line| !line.trim().is_empty()).for_each(drop);
                break;
            }
            words.push(word);
            rest = after.trim_start();
        }
    }
    words
}

/// The word up to the closing quote, and what follows it.
fn unquoted(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (word, &text[at + 1..]),
            '\\' => word.extend(chars.next().map(|(_, c)| c)),
            c => word.push(c),
        }
    }
    (word, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, host: &str) -> Option<(String, String)> {
        find(text, host).map(|login| (login.user, login.password))
    }

    fn pair(user: &str, password: &str) -> Option<(String, String)> {
        Some((user.into(), password.into()))
    }

    #[test]
    fn a_host_finds_its_own_login() {
        let text = "# mine\nmachine a.example login u password p#1\nmachine b login v account x\n  password \"q \\\" r\"\n\
                    macdef init\nmachine c login m password m\n\nmachine c\nlogin w\npassword machine\ndefault login d password e";
        assert_eq!(found(text, "A.example"), pair("u", "p#1"));
        assert_eq!(found(text, "b"), pair("v", "q \" r"));
        assert_eq!(found(text, "c"), pair("w", "machine"));
        assert_eq!(found(text, "elsewhere"), pair("d", "e"));
    }

    #[test]
    fn an_entry_that_lacks_something_is_none() {
        for text in
            ["", "machine", "machine h", "machine h login u", "login u password p", "machine i login u password p"]
        {
            assert_eq!(found(text, "h"), None, "{text:?}");
        }
        assert_eq!(found("machine h login u\nmachine h login v password w", "h"), pair("v", "w"));
    }
}
