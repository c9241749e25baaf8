//! What the AWS tools read too: the environment, `~/.aws/config` and `~/.aws/credentials`.

use std::{collections::HashMap, io};

use camino::Utf8PathBuf;

use crate::{Error, Result, store::wire::var};

/// The region where nobody names one, as the AWS tools have it.
const REGION: &str = "us-east-1";

/// The options of one profile; those of a nested block have the block's name before them, `s3.endpoint_url`.
pub(super) type Section = HashMap<String, String>;

/// Where the bucket is, and what is known of who asks.
#[derive(Debug)]
pub(super) struct Settings {
    /// The region that requests are signed for.
    pub region: String,
    /// Another server than AWS's own.
    pub endpoint: Option<String>,
    /// The profile's name.
    pub profile: String,
    /// The profile in the config file.
    pub config: Section,
    /// The profile in the credentials file.
    pub credentials: Section,
}

impl Settings {
    /// Reads them all.
    pub fn load() -> Result<Settings> {
        let named = var("AWS_PROFILE")?.or(var("AWS_DEFAULT_PROFILE")?);
        let profile = named.clone().unwrap_or_else(|| "default".into());
        let config_file = file("AWS_CONFIG_FILE", ".aws/config")?;
        let credentials_file = file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials")?;
        let mut config_sections = read(config_file.as_ref())?;
        let config = match profile.as_str() {
            "default" => config_sections.remove("default").or_else(|| config_sections.remove("profile default")),
            name => config_sections.remove(&format!("profile {name}")),
        };
        let credentials = read(credentials_file.as_ref())?.remove(&profile);
        if named.is_some() && config.is_none() && credentials.is_none() {
            let name = |file: Option<Utf8PathBuf>| file.map_or("(no HOME)".into(), Utf8PathBuf::into_string);
            return Err(Error::fatal(format!(
                "profile '{profile}' is neither in '{}' nor in '{}'",
                name(config_file),
                name(credentials_file)
            ))
            .hint("it comes from AWS_PROFILE"));
        }
        let (config, credentials) = (config.unwrap_or_default(), credentials.unwrap_or_default());
        let services = config.get("services").and_then(|name| config_sections.get(&format!("services {name}")));
        let region = var("AWS_REGION")?.or(var("AWS_DEFAULT_REGION")?).or_else(|| config.get("region").cloned());
        let endpoint = match var("AWS_ENDPOINT_URL_S3")?.or(var("AWS_ENDPOINT_URL")?) {
            None if !ignores_endpoints(&config)? => services
                .and_then(|services| services.get("s3.endpoint_url"))
                .or_else(|| config.get("s3.endpoint_url"))
                .or_else(|| config.get("endpoint_url"))
                .cloned(),
            _ if ignores_endpoints(&config)? => None,
            endpoint => endpoint,
        };
        let region = region.unwrap_or_else(|| REGION.into());
        if !region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(Error::fatal(format!("'{}' is not the name of a region", region.escape_debug())));
        }
        Ok(Settings { region, endpoint, profile, config, credentials })
    }

    /// Settings as a test wants them.
    #[cfg(test)]
    pub fn plain(region: &str, endpoint: Option<&str>) -> Settings {
        Settings {
            region: region.into(),
            endpoint: endpoint.map(Into::into),
            profile: "default".into(),
            config: Section::new(),
            credentials: Section::new(),
        }
    }
}

fn ignores_endpoints(config: &Section) -> Result<bool> {
    let ignore = var("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")?;
    let ignore = ignore.or_else(|| config.get("ignore_configured_endpoint_urls").cloned());
    Ok(ignore.is_some_and(|value| value.eq_ignore_ascii_case("true")))
}

fn file(variable: &str, below_home: &str) -> Result<Option<Utf8PathBuf>> {
    let home = |home: String| Utf8PathBuf::from(home).join(below_home);
    Ok(var(variable)?.map(Utf8PathBuf::from).or(var("HOME")?.map(home)))
}

fn read(path: Option<&Utf8PathBuf>) -> Result<HashMap<String, Section>> {
    let Some(path) = path else { return Ok(HashMap::new()) };
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(sections(&text)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(HashMap::new()),
        Err(e) => Err(Error::fatal(format!("cannot read '{path}': {e}"))),
    }
}

/// The sections of such a file. An option without a value opens a block of indented ones.
fn sections(text: &str) -> HashMap<String, Section> {
    let mut sections: HashMap<String, Section> = HashMap::new();
    let (mut name, mut block) = (None, None);
    for line in text.lines() {
        let words = line.trim();
        if words.is_empty() || words.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = words.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let header = header.0.split_whitespace().collect::<Vec<_>>().join(" ");
            sections.entry(header.clone()).or_default();
            (name, block) = (Some(header), None);
            continue;
        }
        let (Some(section), Some((option, value))) = (&name, words.split_once('=')) else { continue };
        let option = option.trim().to_ascii_lowercase();
        // A comment ends a value where it follows a space.
        let value = value.split(" #").next().unwrap_or_default().split(" ;").next().unwrap_or_default().trim();
        let indented = line.starts_with([' ', '\t']);
        let option = match &block {
            Some(block) if indented => format!("{block}.{option}"),
            _ => {
                block = value.is_empty().then(|| option.clone());
                option
            }
        };
        sections.entry(section.clone()).or_default().insert(option, value.to_owned());
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_by_section_and_block() {
        let text = "# mine\n[default]\nregion=eu-west-1 # near\n\n[profile  a]\nAWS_x = a=b\ns3 =\n  endpoint_url = http://h\n\
                    \tother = 1\nservices = mine\nrole_arn = r\n[services mine]\ns3 =\n  endpoint_url = http://i\nbroken\n";
        let found = sections(text);
        assert_eq!(found["default"]["region"], "eu-west-1");
        assert_eq!(found["profile a"]["aws_x"], "a=b");
        assert_eq!(found["profile a"]["s3.endpoint_url"], "http://h");
        assert_eq!(found["profile a"]["s3.other"], "1");
        assert_eq!(found["profile a"]["role_arn"], "r");
        assert_eq!(found["services mine"]["s3.endpoint_url"], "http://i");
        assert!(sections("x = 1\n").is_empty());
    }
}
