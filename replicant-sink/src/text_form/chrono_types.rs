//! The types of chrono.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};

use super::NotNull;
use super::iso::{self, Clock, Day};

impl NotNull for NaiveDate {
    fn parse(text: &str) -> Option<Self> {
        date(Day::parse(text)?)
    }

    fn print(&self) -> String {
        day(*self).print()
    }
}

impl NotNull for NaiveTime {
    fn parse(text: &str) -> Option<Self> {
        time(Clock::parse(text)?)
    }

    fn print(&self) -> String {
        clock(*self).print()
    }
}

impl NotNull for NaiveDateTime {
    fn parse(text: &str) -> Option<Self> {
        let (day, clock) = iso::moment(text)?;
        Some(Self::new(date(day)?, time(clock)?))
    }

    fn print(&self) -> String {
        iso::print_moment(day(self.date()), clock(self.time()))
    }
}

impl NotNull for DateTime<Utc> {
    fn parse(text: &str) -> Option<Self> {
        DateTime::<FixedOffset>::parse(text).map(|instant| instant.with_timezone(&Utc))
    }

    fn print(&self) -> String {
        self.fixed_offset().print()
    }
}

/// With the offset the server wrote; an instant has no other.
impl NotNull for DateTime<FixedOffset> {
    fn parse(text: &str) -> Option<Self> {
        let (day, clock, ahead) = iso::instant(text)?;
        let local = NaiveDateTime::new(date(day)?, time(clock)?);
        let offset = FixedOffset::east_opt(ahead)?;
        local.and_local_timezone(offset).single()
    }

    fn print(&self) -> String {
        let local = self.naive_local();
        let ahead = self.offset().local_minus_utc();
        iso::print_instant(day(local.date()), clock(local.time()), ahead)
    }
}

fn date(day: Day) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(day.year, day.month.into(), day.day.into())
}

fn time(clock: Clock) -> Option<NaiveTime> {
    let Clock {
        hour,
        minute,
        second,
        micro,
    } = clock;
    NaiveTime::from_hms_micro_opt(hour.into(), minute.into(), second.into(), micro)
}

fn day(date: NaiveDate) -> Day {
    Day {
        year: date.year(),
        month: small(date.month()),
        day: small(date.day()),
    }
}

fn clock(time: NaiveTime) -> Clock {
    Clock {
        hour: small(time.hour()),
        minute: small(time.minute()),
        second: small(time.second()),
        micro: time.nanosecond() / 1000,
    }
}

/// A part of a date or a time of day: never more than 60.
fn small(part: u32) -> u8 {
    u8::try_from(part).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::TextForm;
    use super::super::tests::same;
    use super::*;
    use crate::fixture::connect;

    #[test]
    fn an_instant_has_any_offset() {
        let at = |text| {
            DateTime::<Utc>::read(Some(text))
                .unwrap()
                .timestamp_micros()
        };
        assert_eq!(at("1970-01-01 05:30:00.000001+05:30"), 1);
        assert_eq!(at("1970-01-01 00:00:01+00"), 1_000_000);
        assert_eq!(at("1970-01-01 00:53:28+00:53:28"), 0);
        same(
            Some("2020-01-01 00:00:00-08"),
            DateTime::<Utc>::read(Some("2020-01-01 08:00:00+00")).unwrap(),
        );
        same(
            Some("2020-01-01 00:00:00-08"),
            DateTime::<FixedOffset>::read(Some("2020-01-01 00:00:00-08:00:00")).unwrap(),
        );
    }

    #[test]
    fn what_chrono_cannot_hold_is_no_value_of_it() {
        assert_eq!(DateTime::<Utc>::read(Some("infinity")), None);
        assert_eq!(NaiveDate::read(Some("-infinity")), None);
        assert_eq!(NaiveDate::read(Some("2021-02-29")), None);
        assert_eq!(NaiveDate::read(Some("5000000-01-01")), None);
        assert_eq!(NaiveTime::read(Some("24:00:00")), None);
        assert_eq!(NaiveTime::read(Some("12:00:00.1234567")), None);
        assert_eq!(NaiveDateTime::read(Some("2020-01-01")), None);
        assert_eq!(NaiveDateTime::read(Some("2020-01-01 00:00:00+00")), None);
    }

    #[tokio::test]
    async fn the_server_prints_what_is_read_and_reads_what_is_printed() {
        let client = connect().await;
        for (kind, text) in [
            ("date", "4713-01-01 BC"),
            ("date", "0001-01-01"),
            ("date", "10000-12-31"),
            ("time", "23:59:59.999999"),
            ("timestamp", "0044-03-15 12:00:00.5 BC"),
            ("timestamptz", "0044-03-15 12:00:00.000001+00 BC"),
            ("timestamptz", "1890-01-01 00:00:00+00"),
        ] {
            let printed = match kind {
                "date" => NaiveDate::read(Some(text)).unwrap().write(),
                "time" => NaiveTime::read(Some(text)).unwrap().write(),
                "timestamp" => NaiveDateTime::read(Some(text)).unwrap().write(),
                _ => DateTime::<Utc>::read(Some(text)).unwrap().write(),
            };
            let query = format!(
                "select ($1::pg_catalog.text)::pg_catalog.{kind}::pg_catalog.text, \
                        $2::pg_catalog.text::pg_catalog.{kind}::pg_catalog.text"
            );
            client.batch_execute("set TimeZone = 'UTC'").await.unwrap();
            let row = client.query_one(&query, &[&printed, &text]).await.unwrap();
            assert_eq!(row.get::<_, &str>(0), text);
            assert_eq!(row.get::<_, &str>(1), text);
        }
    }
}
