//! Which versions of a branch are kept: the rules that restic and borg have, by the time at which the store took a version.

use std::{collections::BTreeSet, fmt};

use jiff::{Span, Timestamp, civil::DateTime, tz::Offset};

use crate::{Error, Result, id::VersionId};

/// A rule that keeps versions.
#[derive(Clone, Debug)]
pub enum Rule {
    /// The newest so many.
    Last(usize),
    /// The newest of each of the last so many periods in which there is one.
    Each(Period, usize),
    /// All that are younger than the branch's newest by less than this.
    Within(Span),
}

/// A stretch of the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// From midnight to midnight.
    Day,
    /// From Monday to Sunday.
    Week,
    /// A month of the calendar.
    Month,
    /// A year of the calendar.
    Year,
}

impl Rule {
    /// The rule of `--keep-<name> <value>`, such as `daily` and `7`; `None` where there is no such rule.
    pub fn parse(name: &str, value: &str) -> Result<Option<Rule>> {
        let number = || {
            value.parse().map_err(|_| Error::usage(format!("'{}' is not a number of versions", value.escape_debug())))
        };
        let rule = match name {
            "last" => Rule::Last(number()?),
            "daily" => Rule::Each(Period::Day, number()?),
            "weekly" => Rule::Each(Period::Week, number()?),
            "monthly" => Rule::Each(Period::Month, number()?),
            "yearly" => Rule::Each(Period::Year, number()?),
            "within" => Rule::Within(parse_age(value)?),
            _ => return Ok(None),
        };
        Ok(Some(rule))
    }

    /// Those of a branch's versions, newest first, that the rule keeps.
    pub fn keeps(&self, versions: &[(VersionId, Timestamp)]) -> Result<BTreeSet<VersionId>> {
        let Some((_, newest)) = versions.first() else { return Ok(BTreeSet::new()) };
        Ok(match self {
            Rule::Last(count) => versions.iter().take(*count).map(|(id, _)| *id).collect(),
            Rule::Each(period, count) => {
                let mut seen = BTreeSet::new();
                let mut first_of_period = |time: &Timestamp| seen.insert(period.number(*time));
                versions.iter().filter(|(_, time)| first_of_period(time)).take(*count).map(|(id, _)| *id).collect()
            }
            Rule::Within(age) => {
                let cutoff = before(*newest, *age)?;
                versions.iter().filter(|(_, time)| *time > cutoff).map(|(id, _)| *id).collect()
            }
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Last(count) => write!(f, "last {count}"),
            Rule::Each(Period::Day, count) => write!(f, "daily {count}"),
            Rule::Each(Period::Week, count) => write!(f, "weekly {count}"),
            Rule::Each(Period::Month, count) => write!(f, "monthly {count}"),
            Rule::Each(Period::Year, count) => write!(f, "yearly {count}"),
            Rule::Within(age) => write!(f, "within {age:#}"),
        }
    }
}

impl Period {
    /// What all times of one period have in common, and no time of another.
    fn number(self, time: Timestamp) -> (i16, i8, i8) {
        let day = utc(time).date();
        let week = day.iso_week_date();
        match self {
            Period::Day => (day.year(), day.month(), day.day()),
            Period::Week => (week.year(), week.week(), 0),
            Period::Month => (day.year(), day.month(), 0),
            Period::Year => (day.year(), 0, 0),
        }
    }
}

/// An age such as `14d`, `36h` or `1y 6mo`.
pub fn parse_age(text: &str) -> Result<Span> {
    let bad = || Error::usage(format!("'{}' is not an age such as 14d, 36h or 6mo", text.escape_debug()));
    let age: Span = if text == "0" { Span::new() } else { text.parse().map_err(|_| bad())? };
    if age.is_negative() { Err(bad()) } else { Ok(age) }
}

/// The time that lies `age` before another.
pub fn before(time: Timestamp, age: Span) -> Result<Timestamp> {
    let too_long = |e| Error::usage(format!("an age of {age:#} is too long: {e}"));
    utc(time).checked_sub(age).and_then(|time| Offset::UTC.to_timestamp(time)).map_err(too_long)
}

fn utc(time: Timestamp) -> DateTime {
    Offset::UTC.to_datetime(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions of these times, newest first, and the numbers in the list of those that a rule keeps.
    fn kept(name: &str, value: &str, times: &[&str]) -> Vec<usize> {
        let versions: Vec<_> = times.iter().map(|time| (VersionId::fresh(), time.parse().unwrap())).collect();
        let kept = Rule::parse(name, value).unwrap().unwrap().keeps(&versions).unwrap();
        (0..times.len()).filter(|n| kept.contains(&versions[*n].0)).collect()
    }

    const TIMES: &[&str] = &[
        "2026-01-02T09:00:00Z",
        "2026-01-01T23:59:59Z",
        "2026-01-01T00:00:00Z",
        "2025-12-31T23:59:59Z",
        "2025-12-29T00:00:00Z",
        "2025-12-28T23:59:59Z",
        "2024-02-29T12:00:00Z",
    ];

    #[test]
    fn each_rule_keeps_the_newest_of_its_periods() {
        for (name, value, expected) in [
            ("last", "0", vec![]),
            ("last", "2", vec![0, 1]),
            ("last", "99", vec![0, 1, 2, 3, 4, 5, 6]),
            ("daily", "3", vec![0, 1, 3]),
            ("daily", "99", vec![0, 1, 3, 4, 5, 6]),
            ("weekly", "2", vec![0, 5]),
            ("monthly", "2", vec![0, 3]),
            ("yearly", "9", vec![0, 3, 6]),
        ] {
            assert_eq!(kept(name, value, TIMES), expected, "{name} {value}");
        }
    }

    #[test]
    fn an_age_counts_from_the_newest_and_its_end_is_outside() {
        assert_eq!(kept("within", "33h", TIMES), [0, 1]);
        assert_eq!(kept("within", "33h 1s", TIMES), [0, 1, 2]);
        assert_eq!(kept("within", "2y", TIMES), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(kept("within", "0", TIMES), [] as [usize; 0]);
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        assert!(Rule::parse("hourly", "1").unwrap().is_none());
        for (name, value) in [("last", "-1"), ("last", "x"), ("within", "-1d"), ("within", "1"), ("within", "")] {
            assert!(Rule::parse(name, value).is_err(), "{name} {value}");
        }
        assert!(before(Timestamp::now(), parse_age("19000y").unwrap()).is_err());
    }
}
