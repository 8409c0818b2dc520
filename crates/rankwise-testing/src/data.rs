//! Public datasets, which are not in the repository.

use std::path::{Path, PathBuf};

use crate::{SkipKind, skip};

/// The environment variable that names the folder of public datasets.
pub const DATA: &str = "RANKWISE_DATA";

/// The path of a file or folder of public data, such as `mq2008/S1.txt.zst`. Without the data, reports a skip and
/// returns `None`.
#[track_caller]
pub fn public_data(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os(DATA).filter(|folder| !folder.is_empty()) else {
        skip(SkipKind::PublicData, &format!("{name}: {DATA} is not set"));
        return None;
    };
    let path = Path::new(&folder).join(name);
    if !path.exists() {
        skip(SkipKind::Missing, &format!("{name} is not in the folder that {DATA} names"));
        return None;
    }
    Some(path)
}
