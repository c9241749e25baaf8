//! Prints the least rights that a role needs, as a policy for the store.

use std::process::ExitCode;

use fdl::{
    Error, Result,
    cli::{self, Arg, Args, Output},
    repository::Repository,
    store::S3,
};

const USAGE: &str = "usage: fdl-policy [--repo URL] --role (reader | writer | publisher | janitor)";

fn main() -> ExitCode {
    cli::main(USAGE, run)
}

fn run(args: &mut Args) -> Result<()> {
    let (mut repo, mut role) = (None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("repo") => repo = Some(args.value()?),
            Arg::Long("role") => role = Some(args.value()?),
            arg => return Err(cli::unexpected(arg)),
        }
    }
    let role = cli::required(role, "--role")?;
    let rights = rights(&role)?;
    let repository = cli::repository(repo)?;
    let mut output = Output::new(false);
    output.bytes(policy(&repository, &role, &rights)?.as_bytes())?;
    output.finish()
}

/// Rights beside reading: an action, and the objects below the repository that it is allowed for. `DATA` stands for the
/// data folder.
type Right = (&'static str, &'static [&'static str]);

fn rights(role: &str) -> Result<Vec<Right>> {
    // A writer adds versions that nobody sees until a publisher moves a ref to them. Neither can take anything away.
    const ADDS: &[&str] = &[
        "DATA/*",
        "versions/*/ducklake.duckdb",
        "versions/*/dataset.json",
        "versions/*/files.json",
        "versions/*/version.json",
        "versions/*/version.json.sig",
    ];
    let writer = [("s3:PutObject", ADDS), ("s3:AbortMultipartUpload", ADDS)];
    Ok(match role {
        "reader" => Vec::new(),
        "writer" => writer.to_vec(),
        "publisher" => {
            [writer.as_slice(), &[("s3:PutObject", &["refs/*", "refs.json", "HEAD"]), ("s3:DeleteObject", &["refs/*"])]]
                .concat()
        }
        "janitor" => vec![
            ("s3:PutObject", &["versions/*/expired.json", "gc.json", "probe/*"]),
            ("s3:AbortMultipartUpload", &["*"]),
            ("s3:DeleteObject", &["DATA/*", "versions/*", "gc.json", "probe/*"]),
        ],
        _ => return Err(Error::usage(format!("there is no role '{}'", role.escape_debug()))),
    })
}

fn policy(repository: &Repository, role: &str, rights: &[Right]) -> Result<String> {
    let url = repository.url();
    let Some(place) = url.strip_prefix("s3://") else {
        return Err(Error::fatal(format!("'{url}' is no bucket: the rights in a folder are the file system's")));
    };
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let bucket = format!("arn:{}:s3:::{bucket}", partition(S3::open(place)?.region()));
    let arn = |name: &str| {
        let name = name.replacen("DATA", repository.config().data_dir.as_str(), 1);
        format!("\"{bucket}/{prefix}{name}\"")
    };
    let below = |action: &str| {
        format!(
            "    {{\n      \"Effect\": \"Allow\",\n      \"Action\": \"{action}\",\n      \
             \"Resource\": \"{bucket}\",\n      \
             \"Condition\": {{ \"StringLike\": {{ \"s3:prefix\": \"{prefix}*\" }} }}\n    }}"
        )
    };
    // Without the right to list, a missing object is answered like a forbidden one.
    let mut statements = vec![below("s3:ListBucket"), statement("s3:GetObject", &[arn("*")])];
    if role == "janitor" {
        // AWS knows no condition on the prefix here; the names of others' uploads are seen, too.
        statements.push(statement("s3:ListBucketMultipartUploads", &[format!("\"{bucket}\"")]));
    }
    for (action, names) in rights {
        statements.push(statement(action, &names.iter().map(|name| arn(name)).collect::<Vec<_>>()));
    }
    Ok(format!("{{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": [\n{}\n  ]\n}}\n", statements.join(",\n")))
}

/// The part of AWS that a region is in, which every name of a resource begins with; see "Amazon Resource Names" in the AWS
/// General Reference.
fn partition(region: &str) -> &'static str {
    match region {
        _ if region.starts_with("cn-") => "aws-cn",
        _ if region.starts_with("us-gov-") => "aws-us-gov",
        _ if region.starts_with("eusc-") => "aws-eusc",
        _ if region.starts_with("us-isob-") => "aws-iso-b",
        _ if region.starts_with("us-iso-") => "aws-iso",
        _ => "aws",
    }
}

fn statement(action: &str, resources: &[String]) -> String {
    let resources = resources.join(",\n        ");
    format!(
        "    {{\n      \"Effect\": \"Allow\",\n      \"Action\": \"{action}\",\n      \
         \"Resource\": [\n        {resources}\n      ]\n    }}"
    )
}
