//! What a page says: its blocks, the output that it shows, and the same page with other output.

use std::ops::Range;

/// Stands for any number of lines in the output that a page shows.
const DOTS: &str = "...";

/// A page of Markdown and what is to be run of it.
pub(super) struct Page {
    lines: Vec<String>,
    /// Each with the number of its first line, from 1.
    pub(super) blocks: Vec<(usize, Block)>,
}

/// Something on a page that is run.
pub(super) enum Block {
    File { name: String, content: String },
    Script(String),
    Console { commands: Vec<Shown>, exit: i32 },
}

/// A command and where its output stands on the page, as indices of lines.
pub(super) struct Shown {
    pub(super) script: String,
    output: Range<usize>,
}

impl Page {
    pub(super) fn parse(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut blocks = Vec::new();
        let mut start = 0;
        while start < lines.len() {
            let Some(end_mark) = end_mark(&lines[start]) else {
                start += 1;
                continue;
            };
            let body = start + 1;
            let length = lines[body..].iter().position(|line| line.trim_end() == end_mark);
            let end = body + length.unwrap_or_else(|| panic!("line {}: the block has no end", start + 1));
            if let Some(block) = block(&lines, &lines[start], body..end) {
                blocks.push((start + 1, block));
            }
            start = end + 1;
        }
        Self { lines, blocks }
    }

    fn commands(&self) -> impl Iterator<Item = &Shown> {
        self.blocks.iter().flat_map(|(_, block)| match block {
            Block::Console { commands, .. } => commands.as_slice(),
            Block::File { .. } | Block::Script(_) => &[],
        })
    }

    /// Commands that print something else than the page shows: `line: what`.
    pub(super) fn differences(&self, printed: &[Vec<String>]) -> impl Iterator<Item = String> {
        self.commands().zip(printed).filter_map(|(command, printed)| {
            let shown = &self.lines[command.output.clone()];
            let differs = !matches(shown, printed);
            differs.then(|| {
                let line = command.output.start;
                let script = &command.script;
                format!("{line}: {script}\nthe page shows:\n{}\nit prints:\n{}\n", shown.join("\n"), printed.join("\n"))
            })
        })
    }

    /// The page with what was printed; outputs that match stay as they are, and so do dots.
    pub(super) fn with_outputs(&self, printed: &[Vec<String>]) -> String {
        let mut lines = Vec::new();
        let mut copied = 0;
        for (command, printed) in self.commands().zip(printed) {
            let shown = &self.lines[command.output.clone()];
            lines.extend_from_slice(&self.lines[copied..command.output.start]);
            lines.extend(if matches(shown, printed) { shown.to_vec() } else { replaced(shown, printed) });
            copied = command.output.end;
        }
        lines.extend_from_slice(&self.lines[copied..]);
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// How the block ends that a line begins, if it begins one.
fn end_mark(line: &str) -> Option<&'static str> {
    if line.starts_with("```") {
        Some("```")
    } else if line.starts_with("<!-- setup") {
        Some("-->")
    } else {
        None
    }
}

fn block(lines: &[String], first: &str, body: Range<usize>) -> Option<Block> {
    let text = || lines[body.clone()].iter().map(|line| format!("{line}\n")).collect::<String>();
    if first.starts_with("<!-- setup") {
        return Some(Block::Script(text()));
    }
    let words: Vec<&str> = first.trim_start_matches('`').split_whitespace().collect();
    let option = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    if let Some(name) = option("file:") {
        return Some(Block::File { name: name.to_owned(), content: text() });
    }
    match words.as_slice() {
        ["sh"] => Some(Block::Script(text())),
        ["console", ..] => {
            let exit = option("exit:").map_or(0, |code| code.parse().expect("an exit code"));
            Some(Block::Console { commands: commands(lines, body), exit })
        }
        _ => None,
    }
}

fn commands(lines: &[String], body: Range<usize>) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    let mut at = body.start;
    while at < body.end {
        if let Some(command) = lines[at].strip_prefix("$ ") {
            let mut script = command.to_owned();
            while script.ends_with('\\') && at + 1 < body.end {
                at += 1;
                script.push('\n');
                script.push_str(&lines[at]);
            }
            commands.push(Shown { script, output: at + 1..at + 1 });
        } else {
            commands.last_mut().expect("a console block starts with a command").output.end = at + 1;
        }
        at += 1;
    }
    commands
}

/// Whether the output that a page shows is what was printed.
pub(super) fn matches(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == DOTS => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, more)| without_times(first) == without_times(line) && matches(rest, more)),
    }
}

/// What to show instead: as many lines before the first dots and behind the last ones as there were.
fn replaced(shown: &[String], printed: &[String]) -> Vec<String> {
    let is_dots = |line: &String| line == DOTS;
    let (Some(first), Some(last)) = (shown.iter().position(is_dots), shown.iter().rposition(is_dots)) else {
        return printed.to_vec();
    };
    let tail = shown.len() - last - 1;
    if first + tail >= printed.len() {
        return printed.to_vec();
    }
    [&printed[..first], &[DOTS.to_owned()], &printed[printed.len() - tail..]].concat()
}

/// The lines of an output, without those that show how far training has come.
pub(super) fn normalised(text: &str) -> Vec<String> {
    let is_progress = |line: &&str| {
        ["tree", "epoch"]
            .iter()
            .any(|unit| line.starts_with(&format!("{unit} ")) && line.contains(&format!(" {unit}s/s")))
    };
    text.lines().filter(|line| !is_progress(line)).map(|line| line.trim_end().to_owned()).collect()
}

/// The line with every number before `s`, `ms` or `MB` left open.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_unit = |word: &str| ["s", "ms", "MB"].contains(&word.trim_end_matches(['.', ',', ';', ')']));
    let is_number = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok();
    let open = |(idx, word): (usize, &&str)| {
        let is_time = is_number(word) && words.get(idx + 1).is_some_and(|next| is_unit(next));
        if is_time { "N".to_owned() } else { (*word).to_owned() }
    };
    words.iter().enumerate().map(open).collect::<Vec<_>>().join(" ")
}
