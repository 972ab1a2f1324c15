//! `DateStyle = ISO`: days, times of day and instants as the server writes them, for the crates that have types of
//! them. Source: PostgreSQL documentation, "Date/Time Output".

/// A day of the calendar. Years before Christ are numbered as astronomers do it: 1 BC is year 0.
#[derive(Clone, Copy)]
pub(super) struct Day {
    pub(super) year: i32,
    pub(super) month: u8,
    pub(super) day: u8,
}

/// A time of day. Within a leap second the microseconds go on counting.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) micro: u32,
}

impl Day {
    /// `2020-02-29`, `0044-03-15 BC`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (text, era) = era(text);
        Self::in_era(text, era)
    }

    fn in_era(text: &str, era: Era) -> Option<Self> {
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let year: i32 = number(year)?;
        Some(Self {
            year: match era {
                Era::Common => year,
                Era::BeforeChrist => 1 - year,
            },
            month: number(month)?,
            day: number(day)?,
        })
    }

    /// The day, and what stands at the end of a text that has it.
    fn parts(self) -> (String, &'static str) {
        let Self { year, month, day } = self;
        let (year, era) = if year > 0 {
            (i64::from(year), "")
        } else {
            (1 - i64::from(year), " BC")
        };
        (format!("{year:04}-{month:02}-{day:02}"), era)
    }

    pub(super) fn print(self) -> String {
        let (day, era) = self.parts();
        day + era
    }
}

impl Clock {
    /// `12:00:00`, `12:00:00.5`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (hour, rest) = text.split_once(':')?;
        let (minute, rest) = rest.split_once(':')?;
        let (second, micro) = match rest.split_once('.') {
            None => (rest, 0),
            Some((second, fraction)) if (1..=6).contains(&fraction.len()) => {
                (second, number(&format!("{fraction:0<6}"))?)
            }
            Some(_) => return None,
        };
        Some(Self {
            hour: number(hour)?,
            minute: number(minute)?,
            second: number(second)?,
            micro,
        })
    }

    pub(super) fn print(self) -> String {
        let Self {
            hour,
            minute,
            second,
            micro,
        } = self;
        let (second, micro) = (u32::from(second) + micro / 1_000_000, micro % 1_000_000);
        format!("{hour:02}:{minute:02}:{second:02}.{micro:06}")
    }
}

/// `2020-01-01 12:00:00.5`, ` BC` after it for years before Christ.
pub(super) fn moment(text: &str) -> Option<(Day, Clock)> {
    let (text, era) = era(text);
    let (day, clock) = text.split_once(' ')?;
    Some((Day::in_era(day, era)?, Clock::parse(clock)?))
}

pub(super) fn print_moment(day: Day, clock: Clock) -> String {
    let (day, era) = day.parts();
    format!("{day} {}{era}", clock.print())
}

/// A moment and the seconds its zone is ahead of UTC: `2020-01-01 12:00:00.5+05:30`.
pub(super) fn instant(text: &str) -> Option<(Day, Clock, i32)> {
    let (text, era) = era(text);
    let (day, rest) = text.split_once(' ')?;
    let (clock, zone) = rest.split_at_checked(rest.find(['+', '-'])?)?;
    Some((Day::in_era(day, era)?, Clock::parse(clock)?, offset(zone)?))
}

pub(super) fn print_instant(day: Day, clock: Clock, ahead: i32) -> String {
    let (day, era) = day.parts();
    let sign = if ahead < 0 { '-' } else { '+' };
    let ahead = ahead.unsigned_abs();
    let (hours, minutes, seconds) = (ahead / 3600, ahead / 60 % 60, ahead % 60);
    format!(
        "{day} {}{sign}{hours:02}:{minutes:02}:{seconds:02}{era}",
        clock.print()
    )
}

/// `+00`, `-08`, `+05:30`, `+00:53:28`.
fn offset(text: &str) -> Option<i32> {
    let (ahead, text) = match text.split_at_checked(1)? {
        ("+", text) => (1, text),
        ("-", text) => (-1, text),
        _ => return None,
    };
    let mut parts = text.split(':').map(number::<i32>);
    let hours = parts.next()??;
    let minutes = parts.next().unwrap_or(Some(0))?;
    let seconds = parts.next().unwrap_or(Some(0))?;
    let small = hours < 24 && minutes < 60 && seconds < 60;
    (small && parts.next().is_none()).then(|| ahead * (hours * 3600 + minutes * 60 + seconds))
}

#[derive(Clone, Copy)]
enum Era {
    Common,
    BeforeChrist,
}

fn era(text: &str) -> (&str, Era) {
    match text.strip_suffix(" BC") {
        Some(text) => (text, Era::BeforeChrist),
        None => (text, Era::Common),
    }
}

/// Digits and nothing else: `parse` alone would take a sign.
fn number<N: std::str::FromStr>(digits: &str) -> Option<N> {
    let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    all.then(|| digits.parse().ok()).flatten()
}
