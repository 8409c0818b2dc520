//! RankLib's tree ensembles (MART, LambdaMART), in XML after lines that begin with `#`.
//!
//! All numbers are f32. Absent features are 0, and values go left if they are at most the threshold. Each tree has a
//! weight.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rankwise_model::{AbsentFeature, Header, Model, Precision};

use crate::FormatError;
use crate::draft::{DraftNode, Split, ensemble, features_of};
use crate::error::shown;
use crate::source::contains;

pub(crate) const FORMAT: &str = "RankLib";

/// Whether the text begins like a RankLib file.
pub(crate) fn is_ours(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    start.starts_with(b"<ensemble>") || (start.starts_with(b"##") && contains(start, b"<ensemble>"))
}

/// Reads the file.
pub(crate) fn from_text(bytes: &[u8]) -> Result<Model, FormatError> {
    let start = bytes.windows(9).position(|window| window == b"<ensemble").unwrap_or(bytes.len());
    let mut ensemble = Ensemble::default();
    let mut reader = Reader::from_reader(&bytes[start..]);
    reader.config_mut().trim_text(true);
    loop {
        let event = reader.read_event();
        let at = start + reader.buffer_position() as usize;
        let problem = match event {
            Ok(Event::Start(tag)) => ensemble.open(&tag),
            Ok(Event::Text(text)) => ensemble.text(&text),
            Ok(Event::End(tag)) => ensemble.close(tag.name().as_ref()),
            Ok(Event::Eof) => break,
            Ok(_) => Ok(()),
            Err(error) => Err(shown(&error.to_string())),
        };
        problem.map_err(|problem| FormatError::Line { format: FORMAT, line: line_of(bytes, at), problem })?;
    }
    if !ensemble.open.is_empty() || ensemble.n_ensembles != 1 {
        let (line, problem) = (line_of(bytes, bytes.len()), "not one complete ensemble".to_owned());
        return Err(FormatError::Line { format: FORMAT, line, problem });
    }
    ensemble.model(bytes)
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes[..at.min(bytes.len())].split(|byte| *byte == b'\n').count()
}

/// What has been read so far.
#[derive(Default)]
struct Ensemble {
    trees: Vec<Vec<DraftNode>>,
    weight: f32,
    n_ensembles: usize,
    open: Vec<Open>,
    /// The text of the last opened element.
    text: String,
}

/// An open element.
enum Open {
    Ensemble,
    Tree,
    Split(OpenSplit),
    /// `feature`, `threshold` or `output`.
    Number,
}

#[derive(Default)]
struct OpenSplit {
    place: usize,
    is_right: bool,
    feature: Option<u32>,
    threshold: Option<f32>,
    output: Option<f32>,
    children: [Option<usize>; 2],
}

impl Ensemble {
    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        let attribute = |name: &str| {
            let found = tag.try_get_attribute(name).map_err(|error| shown(&error.to_string()))?;
            Ok::<_, String>(found.map(|attribute| String::from_utf8_lossy(&attribute.value).into_owned()))
        };
        let opened = match (tag.name().as_ref(), self.open.last()) {
            (b"ensemble", None) => {
                self.n_ensembles += 1;
                Open::Ensemble
            }
            (b"tree", Some(Open::Ensemble)) => {
                let weight = attribute("weight")?.map_or(Some(1.0), |weight| number(&weight));
                self.weight = weight.ok_or("the weight of a tree is not a number")?;
                self.trees.push(Vec::new());
                Open::Tree
            }
            (b"split", Some(Open::Tree | Open::Split(_))) => {
                let nodes = self.trees.last_mut().ok_or("a split outside of a tree")?;
                nodes.push(DraftNode::Leaf { value: 0.0, cover: 0.0 });
                let is_right = attribute("pos")?.is_some_and(|side| side == "right");
                Open::Split(OpenSplit { place: nodes.len() - 1, is_right, ..OpenSplit::default() })
            }
            (b"feature" | b"threshold" | b"output", Some(Open::Split(_))) => Open::Number,
            (name, _) => return Err(format!("<{}> does not belong here", shown(&String::from_utf8_lossy(name)))),
        };
        self.text.clear();
        self.open.push(opened);
        Ok(())
    }

    fn text(&mut self, text: &[u8]) -> Result<(), String> {
        self.text.push_str(std::str::from_utf8(text).map_err(|_| "not UTF-8")?);
        Ok(())
    }

    fn close(&mut self, name: &[u8]) -> Result<(), String> {
        let closed = self.open.pop().ok_or("a closing tag without an opening tag")?;
        match closed {
            Open::Tree if self.trees.last().is_none_or(Vec::is_empty) => return Err("a tree has no split".into()),
            Open::Ensemble | Open::Tree => {}
            Open::Number => {
                let Some(Open::Split(split)) = self.open.last_mut() else { return Ok(()) };
                let text = self.text.trim();
                let wrong = || format!("'{}' is not a number", shown(text));
                match name {
                    b"feature" => split.feature = Some(text.parse().map_err(|_| wrong())?),
                    b"threshold" => split.threshold = Some(number(text).ok_or_else(wrong)?),
                    _ => split.output = Some(number(text).ok_or_else(wrong)?),
                }
            }
            Open::Split(split) => {
                self.set(&split)?;
                if let Some(Open::Split(parent)) = self.open.last_mut()
                    && parent.children[usize::from(split.is_right)].replace(split.place).is_some()
                {
                    return Err("a split has two children on one side".into());
                }
            }
        }
        Ok(())
    }

    /// Stores a complete split at its index.
    fn set(&mut self, split: &OpenSplit) -> Result<(), String> {
        let node = match (split.output, split.feature, split.threshold, split.children) {
            (Some(output), None, None, [None, None]) => {
                DraftNode::Leaf { value: (output * self.weight).into(), cover: 0.0 }
            }
            (None, Some(feature), Some(threshold), [Some(left), Some(right)]) => DraftNode::Split(Split {
                feature,
                threshold: threshold.into(),
                missing_left: 0.0 <= threshold,
                left,
                right,
                gain: 0.0,
                count: 0,
            }),
            _ => return Err("a split needs an output, or a feature, a threshold and two children".into()),
        };
        let nodes = self.trees.last_mut().ok_or("a split outside of a tree")?;
        nodes[split.place] = node;
        Ok(())
    }

    fn model(self, bytes: &[u8]) -> Result<Model, FormatError> {
        let features = features_of(&self.trees);
        let ensemble = ensemble(0.0, self.trees, &features)?;
        let header =
            Header { objective: algorithm(bytes), ..Header::new(AbsentFeature::Zero, Precision::F32, features) };
        Ok(Model::new(header, ensemble)?)
    }
}

/// A finite f32.
fn number(text: &str) -> Option<f32> {
    fast_float2::parse::<f32, _>(text.trim()).ok().filter(|number| number.is_finite())
}

/// The first line names the algorithm: `## LambdaMART`.
fn algorithm(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name = line.strip_prefix(b"##").unwrap_or_default().trim_ascii();
    String::from_utf8_lossy(&name[..name.len().min(40)]).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "## LambdaMART\n## No. of trees = 2\n\n<ensemble>\n\t<tree id=\"1\" weight=\"0.5\">\n\t\t<split>\n\
        <feature> 7 </feature><threshold> -0.25 </threshold>\n<split pos=\"left\"><output> 1.5 </output></split>\n\
        <split pos=\"right\"><feature> 2 </feature><threshold> 3 </threshold><split pos=\"left\"><output> -1 </output></split>\
        <split pos=\"right\"><output> 4 </output></split></split></split></tree>\n\
        <tree id=\"2\" weight=\"1\"><split><output> 0.125 </output></split></tree></ensemble>\n";

    #[test]
    fn an_ensemble_is_read() {
        assert!(is_ours(FILE.as_bytes()));
        let model = from_text(FILE.as_bytes()).unwrap();
        assert_eq!((model.objective(), model.features()), ("lambdamart", &[2, 7][..]));
        // The features are 2 and 7.
        for (values, score) in [([0.0, -0.25], 0.75), ([3.0, 0.0], -0.5), ([3.5, 0.0], 2.0), ([9.0, f64::NAN], 2.0)] {
            assert_eq!(model.score(&values), score + 0.125, "{values:?}");
        }
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (from, to) in [
            ("<feature> 7 </feature>", ""),
            ("<feature> 7", "<feature> x"),
            ("pos=\"right\"><feature>", "pos=\"left\"><feature>"),
            ("</tree>\n<tree", "<tree"),
            ("</ensemble>", ""),
            ("<output> 4 </output>", "<output> 4 </output><output> inf </output>"),
            ("<split><output> 0.125 </output></split>", ""),
            ("weight=\"0.5\"", "weight=\"nan\""),
        ] {
            let damaged = FILE.replace(from, to);
            assert_ne!(damaged, FILE, "{from}");
            assert!(matches!(from_text(damaged.as_bytes()), Err(FormatError::Line { .. })), "{from}: {damaged}");
        }
    }
}
