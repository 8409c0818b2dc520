//! Errors as `--json` prints them: one object on one line of stderr.

use clap::error::ErrorKind;
use rankwise::io::Place;
use serde_json::{Value, json};

use super::say;
use crate::files;

/// An error, ready to be printed.
#[derive(Debug)]
pub(super) struct ErrorObject {
    message: String,
    exit_code: u8,
    place: Option<Place>,
    remedy: Option<String>,
}

impl ErrorObject {
    pub(super) fn new(message: &str, exit_code: u8) -> Self {
        Self { message: message.to_owned(), exit_code, place: None, remedy: None }
    }

    /// A clap error, with its tip as the remedy, or with what follows from its kind.
    pub(super) fn of_usage(error: &clap::Error, exit_code: u8) -> Self {
        let text = error.render().to_string();
        let one_line = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
        let parts: Vec<String> = text.split("\n\n").map(one_line).filter(|part| !part.is_empty()).collect();
        let message = parts.first().map(String::as_str).unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let tip = parts.iter().find_map(|part| part.strip_prefix("tip: ")).map(str::to_owned);
        let object = Self::new(message, exit_code);
        Self { remedy: remedy(message).or(tip).or_else(|| Some(usage_advice(error, message))), ..object }
    }

    /// Sets the place, and the remedy from the end of the message.
    pub(super) fn at(self, place: Option<Place>) -> Self {
        // A file name may contain a semicolon.
        let named = place.as_ref().and_then(|place| self.message.strip_prefix(&files::shown(&place.path)));
        Self { remedy: remedy(named.unwrap_or(&self.message)), place, ..self }
    }

    pub(super) fn with_remedy(self, remedy: &str) -> Self {
        Self { remedy: Some(remedy.to_owned()), ..self }
    }

    pub(super) fn print(&self, warnings: &[String]) {
        say(&json!({ "error": self.json(), "warnings": warnings }).to_string());
    }

    fn json(&self) -> Value {
        let place = self.place.as_ref();
        let place = place.map(
            |place| json!({ "file": place.path.display().to_string(), "line": place.line, "column": place.column }),
        );
        json!({ "message": self.message, "exit_code": self.exit_code, "place": place, "remedy": self.remedy })
    }
}

/// What to do about a usage error that does not say it itself.
fn usage_advice(error: &clap::Error, message: &str) -> String {
    let expected = message.rsplit_once(": expected ").map(|(_, expected)| format!("give {expected}"));
    let possible = message.rsplit_once("[possible values: ").map(|(_, values)| values.trim_end_matches(']'));
    match error.kind() {
        ErrorKind::MissingRequiredArgument => "add the missing arguments".into(),
        ErrorKind::ArgumentConflict => "remove one of the two".into(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "name a command; `rankwise --help` lists them".into()
        }
        ErrorKind::InvalidSubcommand => "`rankwise --help` lists the commands".into(),
        _ => expected
            .or_else(|| possible.map(|values| format!("use one of {values}")))
            .unwrap_or_else(|| "add --help to the command to see its options".into()),
    }
}

/// A message says what is wrong and, after the first semicolon outside quotes, what to do.
fn remedy(message: &str) -> Option<String> {
    let mut is_quoted = false;
    for (at, letter) in message.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted => {
                return message[at + 1..].strip_prefix(' ').map(str::to_owned).filter(|remedy| !remedy.is_empty());
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_follows_what_is_wrong() {
        let found = |message: &str| remedy(message).unwrap_or_default();
        assert_eq!(
            found("no label; add a column, or name it; there are a, b"),
            "add a column, or name it; there are a, b"
        );
        assert_eq!(found("label \"a; b\" is not a number; write one"), "write one");
        assert_eq!(found("interrupted"), "");
    }

    #[test]
    fn the_name_of_a_file_is_no_advice() {
        let object = ErrorObject::new("a; b.txt: cannot open; check it", 2).at(Some(Place::file("a; b.txt"))).json();
        let place = json!({ "file": "a; b.txt", "line": null, "column": null });
        assert_eq!((&object["remedy"], &object["place"]), (&"check it".into(), &place));
    }
}
