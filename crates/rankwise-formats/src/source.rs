//! Whose a file is.

/// The programs and formats whose models can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Our own, and everything that is not known: it is best told as a native file what is wrong with it.
    Native,
    /// LightGBM's text, as `save_model` writes it.
    LightGbmText,
}

impl Source {
    /// By content.
    pub fn of(bytes: &[u8]) -> Self {
        let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if first_line.trim_ascii() == b"tree" { Self::LightGbmText } else { Self::Native }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "Rankwise",
            Self::LightGbmText => "LightGBM",
        }
    }
}
