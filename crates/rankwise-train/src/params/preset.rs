//! Defaults of other programs.

use rankwise_params::{Spellings, param_enum};

use super::TrainSpec;

param_enum! {
    /// Another program whose defaults are set at once.
    pub enum Preset {
        /// LightGBM: 100 leaf-wise trees of 31 leaves without regularisation, with a learning rate of 0.1.
        Lightgbm = "lightgbm",
    }
}

impl Preset {
    /// The parameters whose defaults differ from ours.
    pub fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Lightgbm => &[
                ("num_trees", "100"),
                ("learning_rate", "0.1"),
                ("grow", "leafwise"),
                ("num_leaves", "31"),
                ("lambda_l2", "0"),
            ],
        }
    }
}

impl TrainSpec {
    /// Parameters with the defaults of another program in place of ours.
    pub fn preset(preset: Preset) -> Self {
        let mut spec = Self::default();
        spec.set_all(preset.settings().iter().copied()).expect("presets are valid");
        Self { preset: Some(preset), spellings: Spellings::default(), ..spec }
    }
}
