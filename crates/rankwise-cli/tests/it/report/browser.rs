//! Pages in a browser: Chromium without a window, if it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use rankwise_testing::{SkipKind, skip};
use tempfile::TempDir;

/// The names under which systems install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const CHECK: &str = include_str!("check.js");

/// A browser.
pub(super) struct Browser {
    program: PathBuf,
}

/// What a page looked like.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) problems: Vec<String>,
    /// How long it took to load and lay out.
    pub(super) milliseconds: f64,
}

impl Browser {
    /// Finds it on the path; reports a skip if it is missing.
    #[track_caller]
    pub(super) fn find() -> Option<Self> {
        let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        let programs = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        let found = programs.into_iter().find(|program| program.is_file());
        if found.is_none() {
            skip(SkipKind::Missing, "chromium is not installed");
        }
        found.map(|program| Self { program })
    }

    /// Looks at a page in a frame of some width, in the `light` or the `dark` scheme.
    pub(super) fn look(&self, page: &Path, width: u32, scheme: &str) -> Seen {
        let folder = TempDir::new().unwrap();
        let frame = folder.path().join("frame.html");
        let address = format!("file://{}", page.canonicalize().unwrap().display());
        let html = format!(
            "<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin:0\"><script>{CHECK}\nrun({address:?}, {width}, \
             {scheme:?});</script>"
        );
        std::fs::write(&frame, html).unwrap();
        let mut command = Command::new(&self.program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]);
        command.args(["--allow-file-access-from-files", "--enable-logging=stderr", "--window-size=1200,1000"]);
        // Nothing outside this machine has an address.
        command.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking"]);
        command.arg(format!("--blink-settings=preferredColorScheme={}", i32::from(scheme != "dark")));
        command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        let output = command.arg(format!("file://{}", frame.display())).output().unwrap();
        let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let found = dom.split_once("<pre id=\"found\">").and_then(|(_, rest)| Some(rest.split_once("\nend")?.0));
        let found = found.unwrap_or_else(|| panic!("the page was not looked at: {dom:.500}\n{log}"));
        let mut lines = found.lines();
        let mut number = |name: &str| -> f64 {
            let line = lines.next().and_then(|line| line.strip_prefix(name));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("no {name} in {found}"))
        };
        let (milliseconds, height) = (number("milliseconds"), number("height"));
        assert!(height > 500.0, "the page is empty: {found}");
        let mut problems: Vec<String> = lines.map(str::to_owned).collect();
        problems.extend(log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned));
        Seen { problems, milliseconds }
    }

    /// Looks at a page on a desk and on a phone, light and dark, and expects nothing wrong.
    pub(super) fn approve(&self, page: &Path) {
        for (width, scheme) in [(1200, "light"), (1200, "dark"), (390, "light"), (390, "dark")] {
            let seen = self.look(page, width, scheme);
            assert!(seen.problems.is_empty(), "{} at {width}, {scheme}: {:#?}", page.display(), seen.problems);
        }
    }
}
