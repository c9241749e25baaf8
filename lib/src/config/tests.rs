//! What Git makes of a file, `t/t4000-config.sh` compares through the command; here are the kinds and the edits.

use super::{Config, write::Others};

fn config(text: &str) -> Config {
    Config::parse("file".into(), text.into()).unwrap()
}

fn edited(text: &str, edit: impl Fn(&camino::Utf8Path) -> crate::Result<()>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap().join("config");
    std::fs::write(&path, text).unwrap();
    edit(&path).unwrap();
    std::fs::read_to_string(&path).unwrap()
}

#[test]
fn values_are_read_as_git_reads_them() {
    let config =
        config("\u{feff}[a]\n b = x # c\n[A \"B \\\"c\"] K=\" y \\\"\";z\n[d.E]\r\nf\r\ng = 1 \\\n  2\t\r\n h=\n");
    assert_eq!(config.get("A.B").unwrap(), Some("x"));
    assert_eq!(config.get("a.B \"c.k").unwrap(), Some(" y \""));
    assert_eq!(config.boolean("d.e.f").unwrap(), Some(true));
    assert!(config.get("d.e.f").is_err());
    assert_eq!(config.get("d.e.g").unwrap(), Some("1   2"));
    assert_eq!(config.boolean("d.e.h").unwrap(), Some(false));
    assert_eq!(config.get("d.E.g").unwrap(), None);
}

#[test]
fn numbers_have_units_and_do_not_overflow() {
    let config = config("[n]\na = 2k\nb = -1G\nc = 9223372036854775807\nd = 9007199254740993k\ne = 1x\nf =\ng\n");
    assert_eq!(config.integer("n.a").unwrap(), Some(2048));
    assert_eq!(config.integer("n.b").unwrap(), Some(-(1 << 30)));
    assert_eq!(config.integer("n.c").unwrap(), Some(i64::MAX));
    for name in ["n.d", "n.e", "n.f", "n.g"] {
        assert!(config.integer(name).unwrap_err().to_string().starts_with("bad config line"), "{name}");
    }
}

#[test]
fn bad_syntax_is_told_with_its_line() {
    for (text, line) in [
        ("a = b", 1),
        ("[a]\n1 = b", 2),
        ("[a]\nb c", 2),
        ("[a]\n\nb = \"c\nd = e", 3),
        ("[a]\nb = \\x", 2),
        ("[a", 1),
        ("[]", 1),
        ("[a \"b\n\"]", 1),
        ("[a]\nb # c", 2),
        ("[a \"b\" c]", 1),
    ] {
        let error = Config::parse("file".into(), text.into()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("bad config line {line} in 'file': ")), "{text:?}: {error}");
    }
}

#[test]
fn an_edit_keeps_the_rest() {
    let set = |text: &str, value: &str| edited(text, |path| Config::set(path, "a.b", value, Others::Refuse));
    assert_eq!(set("", "x"), "[a]\n\tb = x\n");
    assert_eq!(set("; c\n[A]\n  B=1 # d\n[e]\nf", "x"), "; c\n[A]\n  b = x # d\n[e]\nf");
    assert_eq!(set("[a] c = 1\n[d]", "x"), "[a] c = 1\n\tb = x\n[d]");
    assert_eq!(set("[a]", " x#\n"), "[a]\n\tb = \" x#\\n\"\n");
    assert_eq!(set("[a][b]\n", "x"), "[a]\n\tb = x\n[b]\n");
    let unset = |text: &str| edited(text, |path| Config::unset(path, "a.b", true));
    assert_eq!(unset("[a]\nb = 1\n"), "");
    assert_eq!(unset("[a]\n# c\nb = 1 # d\nb = 2\n[e]"), "[a]\n# c\n[e]");
    assert_eq!(unset("[a] b = 1\nc\n"), "[a] \nc\n");
}

#[test]
fn whatever_is_set_is_read_back() {
    for value in ["", " ", "a b", "\"", "\\", "a\\", "#", ";x", "a\tb\n", "\r", "\u{8}", "é\u{202e}", "x ", "=", "[a]"]
    {
        let text = edited("", |path| Config::set(path, "a.c \"\\].b", value, Others::Refuse));
        assert_eq!(config(&text).get("a.c \"\\].b").unwrap(), Some(value), "{text:?}");
    }
}
