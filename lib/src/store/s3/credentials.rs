//! Who asks: the places where the AWS tools look for keys, in their order.

use std::{fs, sync::Mutex, time::Duration};

use jiff::Timestamp;
use serde::Deserialize;
use ureq::http::Uri;

use super::settings::Settings;
use crate::{
    Error, Result,
    store::{read_at_most, wire::var},
};

/// Keys are fetched anew when they end sooner than this, in seconds.
const MARGIN: i64 = 300;

/// The largest answer of a service that hands out keys, in bytes.
const MAX_ANSWER: u64 = 1 << 20;

/// Where ECS and EKS hand out keys; the only addresses but loopback that are asked without TLS.
const CONTAINER_HOSTS: &[&str] =
    &["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost", "127.0.0.1", "[::1]"];

/// Keys to sign with.
#[derive(Clone)]
pub(super) struct Credentials {
    /// The access key's id, which is no secret.
    pub key: String,
    /// The secret access key.
    pub secret: String,
    /// The token of a session.
    pub token: Option<String>,
    /// When they end.
    pub expires: Option<Timestamp>,
    /// Where they come from, in the words of an error.
    pub source: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "credentials {} from {}", self.key, self.source)
    }
}

/// Finds keys, and finds them again before they end.
#[derive(Debug)]
pub(super) struct Provider {
    found: Mutex<Option<Option<Credentials>>>,
}

impl Provider {
    pub fn new() -> Provider {
        Provider { found: Mutex::new(None) }
    }

    /// The keys, or `None` where there are none: then requests are not signed, which a public bucket allows.
    pub fn get(&self, settings: &Settings) -> Result<Option<Credentials>> {
        let mut found = self.found.lock().map_err(|_| Error::fatal("a thread that looked for credentials died"))?;
        let fresh = |credentials: &Option<Credentials>| match credentials.as_ref().and_then(|c| c.expires) {
            Some(end) => end.as_second() - Timestamp::now().as_second() > MARGIN,
            None => true,
        };
        match &*found {
            Some(credentials) if fresh(credentials) => Ok(credentials.clone()),
            _ => Ok(found.insert(find(settings)?).clone()),
        }
    }
}

fn find(settings: &Settings) -> Result<Option<Credentials>> {
    if let Some(credentials) = environment()? {
        return Ok(Some(credentials));
    }
    if let Some(file) = var("AWS_WEB_IDENTITY_TOKEN_FILE")? {
        return web_identity(settings, &file).map(Some);
    }
    if let Some(credentials) = profile(settings)? {
        return Ok(Some(credentials));
    }
    if let Some(credentials) = container()? {
        return Ok(Some(credentials));
    }
    instance()
}

fn environment() -> Result<Option<Credentials>> {
    let source = "AWS_ACCESS_KEY_ID".to_owned();
    match (var("AWS_ACCESS_KEY_ID")?, var("AWS_SECRET_ACCESS_KEY")?) {
        (Some(key), Some(secret)) => {
            Ok(Some(Credentials { key, secret, token: var("AWS_SESSION_TOKEN")?, expires: None, source }))
        }
        (None, None) => Ok(None),
        (Some(_), None) => Err(Error::fatal("AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not")),
        (None, Some(_)) => Err(Error::fatal("AWS_SECRET_ACCESS_KEY is set and AWS_ACCESS_KEY_ID is not")),
    }
}

/// The keys that stand in the profile itself, in either file.
fn profile(settings: &Settings) -> Result<Option<Credentials>> {
    let name = &settings.profile;
    for section in [&settings.credentials, &settings.config] {
        let option = |name: &str| section.get(name).filter(|value| !value.is_empty()).cloned();
        match (option("aws_access_key_id"), option("aws_secret_access_key")) {
            (Some(key), Some(secret)) => {
                let (token, source) = (option("aws_session_token"), format!("the profile '{name}'"));
                return Ok(Some(Credentials { key, secret, token, expires: None, source }));
            }
            (None, None) => {}
            _ => {
                return Err(Error::fatal(format!(
                    "the profile '{name}' has half a key: an id and a secret are wanted"
                )));
            }
        }
    }
    // Ways that start a program or open a browser are left to the tools made for them.
    for way in ["role_arn", "credential_process", "sso_session", "sso_start_url", "login_session"] {
        if settings.config.contains_key(way) || settings.credentials.contains_key(way) {
            return Err(Error::fatal(format!("the profile '{name}' gets its keys by '{way}', which fdl does not do"))
                .hint(format!("run: eval \"$(aws configure export-credentials --profile {name} --format env)\"")));
        }
    }
    Ok(None)
}

/// What the services answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Handed {
    access_key_id: String,
    #[serde(alias = "SecretKey")]
    secret_access_key: String,
    #[serde(alias = "SessionToken")]
    token: Option<String>,
    expiration: Option<Timestamp>,
}

impl Handed {
    fn credentials(self, source: &str) -> Credentials {
        Credentials {
            key: self.access_key_id,
            secret: self.secret_access_key,
            token: self.token,
            expires: self.expiration,
            source: source.into(),
        }
    }
}

fn container() -> Result<Option<Credentials>> {
    let url = match (var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")?, var("AWS_CONTAINER_CREDENTIALS_FULL_URI")?) {
        (Some(path), _) => format!("http://169.254.170.2{path}"),
        (None, Some(url)) => url,
        (None, None) => return Ok(None),
    };
    let source = "the container's role";
    let uri: Uri = url.parse().map_err(|_| Error::fatal(format!("'{}' is no URL", url.escape_debug())))?;
    let safe = uri.scheme_str() == Some("https") || uri.host().is_some_and(|host| CONTAINER_HOSTS.contains(&host));
    if !safe {
        return Err(Error::fatal(format!(
            "keys are not asked from '{url}': it is neither https nor the machine itself"
        ))
        .hint("it comes from AWS_CONTAINER_CREDENTIALS_FULL_URI"));
    }
    let token = match var("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")? {
        Some(file) => Some(token_file(&file)?),
        None => var("AWS_CONTAINER_AUTHORIZATION_TOKEN")?,
    };
    let headers: Vec<_> = token.iter().map(|token| ("authorization", token.as_str())).collect();
    json(&ask(source, "GET", &url, &headers)?, source).map(Some)
}

/// Keys of the machine's own role, on a machine that says it is one of EC2's; others need not wait for an answer.
fn instance() -> Result<Option<Credentials>> {
    if var("AWS_EC2_METADATA_DISABLED")?.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let service = match var("AWS_EC2_METADATA_SERVICE_ENDPOINT")? {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None if is_ec2() => "http://169.254.169.254".into(),
        None => return Ok(None),
    };
    let source = "the instance's role";
    let token = ask(
        source,
        "PUT",
        &format!("{service}/latest/api/token"),
        &[("x-aws-ec2-metadata-token-ttl-seconds", "21600")],
    )?;
    let headers = [("x-aws-ec2-metadata-token", token.trim())];
    let roles = format!("{service}/latest/meta-data/iam/security-credentials/");
    let role = match try_ask("GET", &roles, &headers, "") {
        Ok((404, _)) => return Ok(None),
        answer => accepted(source, &roles, answer)?,
    };
    let role = role.lines().next().unwrap_or_default().trim();
    json(&ask(source, "GET", &format!("{roles}{role}"), &headers)?, source).map(Some)
}

fn is_ec2() -> bool {
    let says = |file: &str, word: &str| {
        fs::read_to_string(format!("/sys/class/dmi/id/{file}"))
            .is_ok_and(|text| text.to_ascii_lowercase().contains(word))
    };
    says("sys_vendor", "amazon") || says("bios_version", "amazon") || says("bios_vendor", "amazon")
}

/// Exchanges the token that Kubernetes hands to a pod for keys of a role.
fn web_identity(settings: &Settings, file: &str) -> Result<Credentials> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Answer {
        assume_role_with_web_identity_result: Outcome,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Outcome {
        credentials: Handed,
    }
    let source = "the web identity's role";
    let role = var("AWS_ROLE_ARN")?
        .ok_or_else(|| Error::fatal("AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not"))?;
    let session = var("AWS_ROLE_SESSION_NAME")?.unwrap_or_else(|| "fdl".into());
    let service = match var("AWS_ENDPOINT_URL_STS")?.or(var("AWS_ENDPOINT_URL")?) {
        Some(url) => url,
        None => format!("https://sts.{}.amazonaws.com", settings.region),
    };
    url::Url::parse(&service).map_err(|e| Error::fatal(format!("'{service}' is no URL: {e}")))?;
    // As a form: what is in a URL is in the logs of those between.
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("Action", "AssumeRoleWithWebIdentity")
        .append_pair("Version", "2011-06-15")
        .append_pair("RoleArn", &role)
        .append_pair("RoleSessionName", &session)
        .append_pair("WebIdentityToken", &token_file(file)?)
        .finish();
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let text = accepted(source, &service, try_ask("POST", &service, &headers, &form))?;
    let answer: Answer = quick_xml::de::from_str(&text)
        .map_err(|e| Error::store(format!("cannot read the answer with the keys of {source}: {e}")))?;
    Ok(answer.assume_role_with_web_identity_result.credentials.credentials(source))
}

fn token_file(path: &str) -> Result<String> {
    match fs::read_to_string(path) {
        Ok(token) => Ok(token.trim().to_owned()),
        Err(e) => Err(Error::fatal(format!("cannot read the token in '{path}': {e}"))),
    }
}

fn json(text: &str, source: &str) -> Result<Credentials> {
    let handed: Handed = serde_json::from_str(text)
        .map_err(|e| Error::store(format!("cannot read the answer with the keys of {source}: {e}")))?;
    Ok(handed.credentials(source))
}

fn ask(source: &str, method: &str, url: &str, headers: &[(&str, &str)]) -> Result<String> {
    accepted(source, url, try_ask(method, url, headers, ""))
}

fn accepted(source: &str, url: &str, answer: Result<(u16, String), ureq::Error>) -> Result<String> {
    match answer {
        Ok((200, text)) => Ok(text),
        Ok((status, _)) => Err(Error::store(format!("no keys of {source}: '{url}' answers {status}"))),
        Err(e) => Err(Error::store(format!("no keys of {source}: cannot ask '{url}': {e}"))),
    }
}

/// Asks a service near at hand; never through a proxy, which could keep the keys.
fn try_ask(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Result<(u16, String), ureq::Error> {
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_connect(Some(Duration::from_secs(2)))
        .timeout_global(Some(Duration::from_secs(10)))
        .build()
        .new_agent();
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut answer = agent.run(request.body(body)?)?;
    let bytes = read_at_most(&mut answer.body_mut().as_reader(), MAX_ANSWER)?.unwrap_or_default();
    Ok((answer.status().as_u16(), String::from_utf8_lossy(&bytes).into_owned()))
}
