//! Many short strings in one allocation.

/// An append-only list of strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StringTable {
    text: String,
    ends: Vec<usize>,
}

impl StringTable {
    /// Appends a string.
    pub fn push(&mut self, string: &str) {
        self.text.push_str(string);
        self.ends.push(self.text.len());
    }

    /// Reserves memory for more strings if possible.
    pub(crate) fn reserve(&mut self, n_strings: usize) {
        let _ = self.ends.try_reserve_exact(n_strings);
    }

    /// The string at `idx`.
    pub fn get(&self, idx: usize) -> &str {
        let start = if idx == 0 { 0 } else { self.ends[idx - 1] };
        &self.text[start..self.ends[idx]]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|idx| self.get(idx))
    }
}

impl<'a> FromIterator<&'a str> for StringTable {
    fn from_iter<I: IntoIterator<Item = &'a str>>(strings: I) -> Self {
        let mut table = Self::default();
        strings.into_iter().for_each(|string| table.push(string));
        table
    }
}
