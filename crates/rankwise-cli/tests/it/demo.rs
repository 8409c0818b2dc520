//! `rankwise demo`, and the commands that it proposes.

use crate::sandbox::Sandbox;

#[test]
fn shows_rankers_and_commands_that_work() {
    let sandbox = Sandbox::new();
    // A blank in the name: the proposed commands must survive being pasted into a shell.
    let outcome = sandbox.run_args(&["demo", "--out", "my demo"]);
    assert!(outcome.stderr.contains("1. generating") && outcome.stderr.contains("4. evaluating"), "{}", outcome.stderr);
    let report = outcome.expect_ok("demo");
    for name in ["train.txt", "vali.txt", "test.txt", "model.json", "model-rmse.json", "report.html"] {
        assert!(!sandbox.bytes(&format!("my demo/{name}")).is_empty(), "{name}");
    }

    assert!(report.contains("Open my demo/report.html in a browser"), "{report}");

    let value = |ranker: &str| -> f64 {
        let line = report.lines().find(|line| line.starts_with(ranker)).unwrap_or_else(|| panic!("{report}"));
        // The mean, and behind it the two words of its interval.
        line.split_whitespace().rev().nth(2).unwrap().parse().unwrap()
    };
    let values = [value("random order"), value("best feature"), value("squared error"), value("LambdaMART")];
    assert!(values.is_sorted() && values[3] < 1.0, "{values:?}");
    assert!(report.contains("  LambdaMART is better than squared error, best feature ("), "{report}");

    let proposed: Vec<&str> = report.lines().filter_map(|line| line.strip_prefix("  rankwise ")).collect();
    let commands: Vec<&str> = proposed.iter().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(commands, ["inspect", "eval", "compare", "predict", "train", "auto"]);
    for line in proposed {
        let args: Vec<String> = shell_words(line);
        let outcome = sandbox.run_args(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
    }
    assert!(!sandbox.bytes("my demo/test.run").is_empty());
    assert!(!sandbox.bytes("my demo/best.json").is_empty());
}

/// Words as a shell reads them, as far as single quotes go.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (idx, piece) in line.split('\'').enumerate() {
        if idx % 2 == 1 {
            words.last_mut().unwrap().push_str(piece);
            continue;
        }
        for (blank, word) in piece.split(' ').enumerate() {
            if blank > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(word);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
