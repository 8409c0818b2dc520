//! What the contract is tried on: every command, with options that change what it prints or writes.

use rankwise::model::{AbsentFeature, Header, LinearRanker, Model, Precision};

use crate::sandbox::Sandbox;

/// A command that succeeds.
pub(super) struct Case {
    pub(super) line: &'static str,
    pub(super) has_warnings: bool,
}

impl Case {
    pub(super) fn command(&self) -> &'static str {
        self.line.split(' ').next().unwrap()
    }
}

const fn clean(line: &'static str) -> Case {
    Case { line, has_warnings: false }
}

const fn warned(line: &'static str) -> Case {
    Case { line, has_warnings: true }
}

/// At least one for each command.
pub(super) const CASES: &[Case] = &[
    clean("demo --out tour"),
    clean("synth --rows 60 --features 4 --out new.txt"),
    clean("synth --rows 600 --features 4 --split 0.5,0.3,0.2 --out parts.d --quiet"),
    clean("inspect vali.txt"),
    clean("inspect vali.txt --features --against train.txt"),
    warned("inspect named.csv --features --top 1 --against blanks.csv"),
    clean("inspect named.csv"),
    clean("inspect weighted.txt"),
    warned("inspect odd.txt"),
    warned("inspect a.txt b.txt"),
    clean("inspect model.json"),
    clean("inspect grades.json"),
    clean("inspect named.json"),
    clean("inspect linear.json"),
    clean("inspect lgb.txt"),
    clean("auto many.txt --out m.json --steps 2 --set num_trees=5"),
    clean(
        "auto train.txt --valid vali.txt --out m.json --steps 5 --set num_trees=5 --refit --checkpoint run --metric NDCG@5",
    ),
    clean("cv train.txt --set num_trees=3 --folds 3"),
    clean(
        "cv train.txt --set num_trees=3 --rotate --try num_leaves=4 --try num_leaves=8 --metric AP,ndcg@5 --out s.txt --history h.csv --per-query q.tsv",
    ),
    clean("tune many.txt --out m.json --trials 2 --set num_trees=5"),
    warned(
        "tune train.txt --valid vali.txt --test many.txt --out m.json --trials 12 --halving --set num_trees=30 --checkpoint run --metric NDCG@5,map --write-config best.toml",
    ),
    clean("train train.txt --out m.json --set num_trees=3"),
    clean("train train.txt --out m.json --set num_trees=3 --valid vali.txt --metric NDCG@5,AP,ndcg@5- --history h.csv"),
    warned("train train.txt --out m.json --set num_trees=3 --valid vali.txt --valid vali.txt named.txt --trace 1"),
    clean("train train.txt --out m.json --set num_trees=5 --checkpoint run --checkpoint-every 1 --valid vali.txt"),
    clean("train train.txt --out m.json --set num_trees=3 --init-model model.json --valid vali.txt --history h.csv"),
    clean("train named.csv --out m.json --set num_trees=2 --objective multiclass"),
    clean("train train.txt --out m.json --set num_trees=2 --set sample=inliers"),
    warned("train odd.txt --out m.json --set num_trees=2 --valid odd.txt"),
    warned("train odd.txt --out m.json --set num_trees=2 --metric map --set top_rate=0.3 --quiet"),
    clean("train --help-params"),
    clean("train --help-params leaf"),
    clean("predict model.json vali.txt --out s.txt"),
    clean("predict model.json vali.txt --out s.tsv --format tsv --trees 2"),
    clean("predict model.json vali.txt --out s.run --format run --quiet"),
    warned("predict model.json shifted.txt --out s.txt"),
    clean("eval vali.txt --model model.json --metric NDCG@10,ap,auc --per-query q.tsv"),
    clean("eval vali.txt --model model.json --model grades.json --feature 1 --metric Precision@3"),
    clean("eval vali.txt --scores scores.txt --empty skip --ties average"),
    warned("eval train.txt --model model.json"),
    warned("eval --run some.run --qrels some.qrels --metric map,bpref"),
    clean("compare vali.txt --model model.json --scores scores.txt --metric Ndcg@5,map --per-query q.tsv"),
    clean("compare vali.txt --model model.json --scores scores.txt --report r.html --plots plots"),
    clean("eval vali.txt --model model.json --report r.html"),
    clean("train train.txt --out m.json --set num_trees=3 --valid vali.txt --report r.html --plots plots"),
    clean("auto many.txt --out m.json --steps 2 --set num_trees=5 --report r.html"),
    clean("compare vali.txt --model model.json --model grades.json --scores scores.txt --test bootstrap --one-sided"),
    warned("compare train.txt --model model.json --model grades.json --test t --baseline model.json"),
    clean("explain model.json"),
    clean("explain linear.json"),
    clean("explain grades.json vali.txt --repeats 1 --metric ap"),
    clean("explain linear.json vali.txt --repeats 0"),
    clean("explain model.json vali.txt --query 3 --feature 1 --interactions --contributions c.tsv"),
    clean("explain grades.json vali.txt --query 3 --contributions c.tsv"),
    clean("explain model.json vali.txt --query 3 --why 1,12"),
    clean("blend model.json scores.txt vali.txt"),
    clean("blend model.json grades.json vali.txt --metric MRR --out mix.txt"),
    clean("refit model.json vali.txt --out r.json --decay 0.5"),
    clean("prune model.json --valid vali.txt --out p.json --metric NDCG --max-loss 0.1"),
    warned("prune model.json --valid train.txt --out p.json"),
    clean("convert model.json --to onnx --out m.onnx"),
    clean("convert model.json --to c --out m.c --check vali.txt"),
    warned("convert blanks.json --to lightgbm --out l.txt"),
    clean("convert-data weighted.txt w.parquet"),
    clean("convert-data weighted.txt w.txt.gz"),
    clean("convert-data train.txt t.rwcache --set max_bin=15"),
    warned("convert-data named.csv n.txt"),
    clean("completions bash"),
    clean("man --out pages"),
];

/// A folder with all that the cases read.
pub(super) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_model();
    write_data(&sandbox);
    sandbox.train("grades.json", "--objective multiclass --set seed=5");
    sandbox.train_on("named.csv", "named.json", "--set min_data_in_leaf=3");
    sandbox.train_on("blanks.csv", "blanks.json", "--set min_data_in_leaf=3");
    sandbox.ok("convert model.json --to lightgbm --out lgb.txt");
    let header = Header::new(AbsentFeature::Missing, Precision::F32, vec![2, 5]);
    let linear = Model::new(header, LinearRanker::new(0.5, vec![1.0, -2.0]).unwrap()).unwrap();
    sandbox.write("linear.json", linear.to_json());
    sandbox
}

fn write_data(sandbox: &Sandbox) {
    // Grades that follow a feature, so that there is something to learn.
    let rows = || (0..120).map(|row| (row % 3, row / 12, (row % 3) * 10 + row % 7, (row * 7) % 11));
    let csv = |head: &str| -> String {
        let lines = rows().map(|(label, qid, a, b)| format!("{label},{qid},{a},{b}\n"));
        std::iter::once(format!("{head}\n")).chain(lines).collect()
    };
    sandbox.write("named.csv", csv("label,qid,price,stock"));
    sandbox.write("blanks.csv", csv("label,qid,unit price,in stock"));
    let letor = |shift: usize| -> String {
        rows().map(|(label, qid, a, b)| format!("{label} qid:{qid} {}:{a} {}:{b}\n", 1 + shift, 2 + shift)).collect()
    };
    sandbox.write("named.txt", letor(0));
    let many =
        (0..600).map(|row| format!("{} qid:{} 1:{} 2:{}\n", row % 3, row / 12, (row % 3) * 10 + row % 7, row % 11));
    sandbox.write("many.txt", many.collect::<String>());
    sandbox.write("shifted.txt", letor(1000));
    sandbox.write("weighted.txt", letor(0));
    sandbox.write("weighted.txt.weight", (0..120).map(|row| format!("{}\n", 1 + row % 2)).collect::<String>());
    sandbox.write(
        "odd.txt",
        rows().map(|(label, qid, a, _)| format!("{label} qid:{qid} 1:{a} 2:5\n")).collect::<String>(),
    );
    sandbox.write("a.txt", "1 qid:1 1:2\n0 qid:1 1:3\n0 qid:2 1:1\n1 qid:2 1:9\n");
    sandbox.write("b.txt", "1 qid:3 1:2\n0 qid:3 1:4\n0 qid:1 1:5\n");
    let n_rows = sandbox.text("vali.txt").lines().count();
    sandbox.write("scores.txt", (0..n_rows).map(|row| format!("{}\n", (row * 31) % 17)).collect::<String>());
    sandbox.write("some.run", "1 Q0 d1 1 2.5 x\n1 Q0 d2 2 1.5 x\n7 Q0 d1 1 2.5 x\n");
    sandbox.write("some.qrels", "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n");
}
