//! The types of the crate `time`.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

use super::NotNull;
use super::iso::{self, Clock, Day};

impl NotNull for Date {
    fn parse(text: &str) -> Option<Self> {
        date(Day::parse(text)?)
    }

    fn print(&self) -> String {
        day(*self).print()
    }
}

impl NotNull for Time {
    fn parse(text: &str) -> Option<Self> {
        of_day(Clock::parse(text)?)
    }

    fn print(&self) -> String {
        clock(*self).print()
    }
}

impl NotNull for PrimitiveDateTime {
    fn parse(text: &str) -> Option<Self> {
        let (day, clock) = iso::moment(text)?;
        Some(Self::new(date(day)?, of_day(clock)?))
    }

    fn print(&self) -> String {
        iso::print_moment(day(self.date()), clock(self.time()))
    }
}

/// With the offset the server wrote; an instant has no other.
impl NotNull for OffsetDateTime {
    fn parse(text: &str) -> Option<Self> {
        let (day, clock, ahead) = iso::instant(text)?;
        let offset = UtcOffset::from_whole_seconds(ahead).ok()?;
        Some(PrimitiveDateTime::new(date(day)?, of_day(clock)?).assume_offset(offset))
    }

    fn print(&self) -> String {
        let ahead = self.offset().whole_seconds();
        iso::print_instant(day(self.date()), clock(self.time()), ahead)
    }
}

fn date(day: Day) -> Option<Date> {
    let month = Month::try_from(day.month).ok()?;
    Date::from_calendar_date(day.year, month, day.day).ok()
}

fn of_day(clock: Clock) -> Option<Time> {
    let Clock {
        hour,
        minute,
        second,
        micro,
    } = clock;
    Time::from_hms_micro(hour, minute, second, micro).ok()
}

fn day(date: Date) -> Day {
    Day {
        year: date.year(),
        month: date.month().into(),
        day: date.day(),
    }
}

fn clock(time: Time) -> Clock {
    Clock {
        hour: time.hour(),
        minute: time.minute(),
        second: time.second(),
        micro: time.microsecond(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::TextForm;
    use super::super::tests::same;
    use super::*;
    use crate::fixture::connect;

    #[test]
    fn an_instant_has_any_offset() {
        let at = |text| OffsetDateTime::read(Some(text)).unwrap();
        assert_eq!(at("1970-01-01 05:30:00+05:30"), OffsetDateTime::UNIX_EPOCH);
        assert_eq!(
            at("1970-01-01 00:53:28+00:53:28"),
            OffsetDateTime::UNIX_EPOCH
        );
        same(Some("2020-01-01 00:00:00-08"), at("2020-01-01 08:00:00+00"));
    }

    #[test]
    fn arrays_and_optional_values_are_read_and_written() {
        let day = Date::from_calendar_date(2020, Month::February, 29).unwrap();
        same(Some("{2020-02-29,NULL}"), vec![Some(day), None]);
        same(Some("2020-02-29"), Some(day));
        same(None, None::<OffsetDateTime>);
    }

    #[test]
    fn what_the_crate_cannot_hold_is_no_value_of_it() {
        assert_eq!(OffsetDateTime::read(Some("infinity")), None);
        assert_eq!(Date::read(Some("2021-02-29")), None);
        assert_eq!(Date::read(Some("5000000-01-01")), None);
        assert_eq!(Time::read(Some("24:00:00")), None);
        assert_eq!(
            PrimitiveDateTime::read(Some("2020-01-01 00:00:00+00")),
            None
        );
    }

    #[tokio::test]
    async fn the_server_prints_what_is_read_and_reads_what_is_printed() {
        let client = connect().await;
        client.batch_execute("set TimeZone = 'UTC'").await.unwrap();
        for (kind, text) in [
            ("date", "4713-01-01 BC"),
            ("date", "9999-12-31"),
            ("time", "23:59:59.999999"),
            ("timestamp", "0044-03-15 12:00:00.5 BC"),
            ("timestamptz", "0044-03-15 12:00:00.000001+00 BC"),
        ] {
            let printed = match kind {
                "date" => Date::read(Some(text)).unwrap().write(),
                "time" => Time::read(Some(text)).unwrap().write(),
                "timestamp" => PrimitiveDateTime::read(Some(text)).unwrap().write(),
                _ => OffsetDateTime::read(Some(text)).unwrap().write(),
            };
            let query = format!(
                "select ($1::pg_catalog.text)::pg_catalog.{kind}::pg_catalog.text, \
                        $2::pg_catalog.text::pg_catalog.{kind}::pg_catalog.text"
            );
            let row = client.query_one(&query, &[&printed, &text]).await.unwrap();
            assert_eq!(row.get::<_, &str>(0), text);
            assert_eq!(row.get::<_, &str>(1), text);
        }
    }
}
