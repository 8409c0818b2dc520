//! Names as people type them.

/// The form in which names are compared: lower case, `_` for `-`.
pub fn normalise(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

/// The candidate most similar to `name`, if at most a quarter of the letters differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = normalise(name);
    let reach = (name.chars().count() / 4).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, &normalise(candidate)), candidate))
        .filter(|(distance, _)| *distance <= reach)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_noise_finds_none() {
        let known = ["num_leaves", "learning_rate", "max_bin"];
        assert_eq!(nearest("num-leafs", known), Some("num_leaves"));
        assert_eq!(nearest("lerning_rate", known), Some("learning_rate"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest("cat_features", ["sub_feature"]), None);
        // Short names are near only if one letter differs.
        assert_eq!(nearest("out", ["mu"]), None);
        assert_eq!(nearest("data", ["eta"]), None);
        assert_eq!(nearest("eat", ["eta"]), Some("eta"));
    }
}
