//! Reports of skips, as lines of a file.

use std::fmt;
use std::io::Write as _;
use std::panic::Location;

/// The environment variable that names the file to which skips are appended.
pub const SKIPS: &str = "RANKWISE_SKIPS";

/// Why something was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipKind {
    /// A public dataset, because `RANKWISE_DATA` is not set.
    PublicData,
    /// Instructions that this machine does not support.
    InstructionSet,
    /// A device, such as a GPU, that this machine does not have.
    Device,
    /// Anything else: a program, a library, a file, the network.
    Missing,
}

/// Something that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Why.
    pub kind: SkipKind,
    /// The step or test.
    pub what: String,
    /// What was missing.
    pub why: String,
}

impl SkipKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::PublicData, Self::InstructionSet, Self::Device, Self::Missing];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::PublicData => "public data",
            Self::InstructionSet => "instruction set",
            Self::Device => "device",
            Self::Missing => "missing",
        }
    }

    /// Whether a complete run may skip it: if no installation on this machine could provide it, or the data belongs to
    /// others.
    pub fn is_allowed(self) -> bool {
        self != Self::Missing
    }
}

impl Skip {
    /// Reads a line of the file.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, '\t');
        let name = parts.next()?;
        let kind = SkipKind::ALL.into_iter().find(|kind| kind.name() == name)?;
        Some(Self { kind, what: parts.next()?.to_owned(), why: parts.next()?.to_owned() })
    }

    /// The line for the file, with its newline.
    pub fn to_line(&self) -> String {
        let one_line = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        format!("{}\t{}\t{}\n", self.kind.name(), one_line(&self.what), one_line(&self.why))
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.what, self.kind.name(), self.why)
    }
}

/// Reports that the calling test skips something. The test itself must return.
#[track_caller]
pub fn skip(kind: SkipKind, why: &str) {
    let place = Location::caller();
    // The harness names threads after their tests.
    let what = match std::thread::current().name() {
        Some(test) if test != "main" => format!("{test} in {}", place.file()),
        _ => format!("a test at {}:{}", place.file(), place.line()),
    };
    let skip = Skip { kind, what, why: why.to_owned() };
    eprintln!("skipped: {skip}");
    if let Some(path) = std::env::var_os(SKIPS).filter(|path| !path.is_empty()) {
        // Tests run in parallel, so a line is appended in one write.
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(skip.to_line().as_bytes()))
            .unwrap_or_else(|error| panic!("{SKIPS}={}: {error}", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_a_line() {
        for kind in SkipKind::ALL {
            let skip = Skip { kind, what: "a test".into(), why: "no\ttab\nhere".into() };
            let line = skip.to_line();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(Skip::parse(line.trim_end()), Some(Skip { why: "no tab here".into(), ..skip }));
        }
        assert_eq!(Skip::parse("some other\tline\tof text"), None);
        assert_eq!(Skip::parse("device\tonly two"), None);
    }

    #[test]
    fn three_kinds_are_allowed() {
        let allowed: Vec<&str> =
            SkipKind::ALL.into_iter().filter(|kind| kind.is_allowed()).map(SkipKind::name).collect();
        assert_eq!(allowed, ["public data", "instruction set", "device"]);
    }
}
