//! Compiles and runs the exported C code, if there is a compiler.

use std::fmt::Write as _;
use std::process::Command;

use rankwise_formats::{ExportOptions, Target, export};
use rankwise_model::Precision;
use rankwise_testing::{SkipKind, skip};

use crate::random::{self, Kind, Shapes};

/// Reads the bits of doubles, one document per line, and prints those of its score.
const MAIN: &str = "
#include <stdio.h>
#include <string.h>
int main(void)
{
    static double values[RANKWISE_N_VALUES];
    unsigned long long bits;
    for (;;) {
        double score;
        int i;
        for (i = 0; i < RANKWISE_N_VALUES; i++) {
            if (scanf(\"%llx\", &bits) != 1)
                return 0;
            memcpy(&values[i], &bits, sizeof bits);
        }
        score = rankwise_score(values);
        memcpy(&bits, &score, sizeof bits);
        printf(\"%016llx\\n\", bits);
    }
}
";

#[test]
fn compiled_c_gives_our_scores_bit_for_bit() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    if !Command::new(&compiler).arg("--version").output().is_ok_and(|output| output.status.success()) {
        skip(SkipKind::Missing, &format!("there is no C compiler '{compiler}'"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (seed, precision) in [Precision::F32, Precision::F64, Precision::F32].into_iter().enumerate() {
        // The last one has no splits.
        let max_leaves = if seed == 2 { 1 } else { 16 };
        let shapes = Shapes { n_trees: 30, max_leaves, n_features: 5, n_thresholds: 40, precision, kind: Kind::Any };
        let model = random::model(&shapes, seed as u64);
        let mut source = String::from_utf8(export(&model, Target::C, &ExportOptions::default()).unwrap()).unwrap();
        source.push_str(MAIN);
        let (file, program) = (folder.path().join("model.c"), folder.path().join("model"));
        std::fs::write(&file, source).unwrap();
        let strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-o"];
        let built = Command::new(&compiler).args(strict).arg(&program).arg(&file).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));

        let n_columns = *model.features().last().unwrap() as usize + 1;
        let values = random::values(&model, 400, seed as u64);
        let (mut input, mut expected) = (String::new(), String::new());
        for row in values.chunks(model.features().len()) {
            let mut columns = vec![0.0; n_columns];
            for (feature, value) in model.features().iter().zip(row) {
                columns[*feature as usize] = *value;
            }
            for value in columns {
                let _ = write!(input, "{:016x} ", value.to_bits());
            }
            let _ = writeln!(expected, "{:016x}", model.score(row).to_bits());
        }
        std::fs::write(folder.path().join("values"), input).unwrap();
        let values = std::fs::File::open(folder.path().join("values")).unwrap();
        let run = Command::new(&program).stdin(values).output().unwrap();
        assert_eq!(String::from_utf8(run.stdout).unwrap(), expected, "{precision:?}");
    }
}
