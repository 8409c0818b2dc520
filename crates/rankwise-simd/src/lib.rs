//! Selects the vector instructions that kernels may use.
//!
//! Kernels are written once, over arrays of lanes, and compiled for each level: the same operations in the same order,
//! so all levels give the same bits. A level can be created only if the machine supports it, which makes calls to the
//! code compiled for it sound.
#![deny(unsafe_code)]

pub mod matrix;
pub mod philox;

/// Vector instructions that this machine supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimdLevel(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Avx512,
    Avx2,
    Portable,
}

/// `RANKWISE_SIMD` names an instruction set that is unknown or not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimdError {
    /// No level has this name.
    #[error("RANKWISE_SIMD={name} is unknown; use avx512, avx2 or portable, or unset it")]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The machine does not support it.
    #[error("RANKWISE_SIMD={name}: this machine does not support these instructions; unset it")]
    Lacking {
        /// The name as given.
        name: String,
    },
}

impl SimdLevel {
    /// Portable code for all machines.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// The level that `RANKWISE_SIMD` names, or the best one available.
    pub fn from_env() -> Result<Self, SimdError> {
        let name = std::env::var("RANKWISE_SIMD").unwrap_or_default();
        if name.is_empty() {
            return Ok(Self::best());
        }
        let level = match name.as_str() {
            "avx512" => Self(Kind::Avx512),
            "avx2" => Self(Kind::Avx2),
            "portable" => Self(Kind::Portable),
            _ => return Err(SimdError::Unknown { name }),
        };
        if Self::available().contains(&level) { Ok(level) } else { Err(SimdError::Lacking { name }) }
    }

    /// The best level available.
    pub fn best() -> Self {
        Self::available()[0]
    }

    /// The levels available, best first.
    pub fn available() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("popcnt");
            if has_avx512 {
                levels.push(Self(Kind::Avx512));
            }
            if is_x86_feature_detected!("avx2") {
                levels.push(Self(Kind::Avx2));
            }
        }
        levels.push(Self::PORTABLE);
        levels
    }

    /// Whether this is the level of AVX-512 (F, BW, DQ, VL, and POPCNT).
    pub fn is_avx512(self) -> bool {
        self.0 == Kind::Avx512
    }

    /// Whether this is the level of AVX2.
    pub fn is_avx2(self) -> bool {
        self.0 == Kind::Avx2
    }

    /// The level's name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Avx512 => "avx512",
            Kind::Avx2 => "avx2",
            Kind::Portable => "portable",
        }
    }
}

/// Declares a function that runs `$body` compiled for the instructions of a [`SimdLevel`].
///
/// `simd_kernel! { pub fn name(args) = body; }` declares `name(level, args)`. `body` must be `#[inline(always)]`, so
/// that it is compiled for each level.
#[macro_export]
macro_rules! simd_kernel {
    ($(#[doc = $doc:literal])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path;) => {
        $(#[doc = $doc])*
        #[allow(unsafe_code)]
        $vis fn $name(level: $crate::SimdLevel, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                if level.is_avx512() {
                    // SAFETY: a level with AVX-512 is created only if these features were detected on this machine.
                    return unsafe { avx512($($arg),*) };
                }
                if level.is_avx2() {
                    // SAFETY: a level with AVX2 is created only if the feature was detected on this machine.
                    return unsafe { avx2($($arg),*) };
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_is_always_there_and_the_best_comes_first() {
        let levels = SimdLevel::available();
        assert_eq!(levels.last(), Some(&SimdLevel::PORTABLE));
        assert_eq!(SimdLevel::best(), levels[0]);
    }

    /// Tests of kernels run on the available levels. The others are reported as skipped here, once for all of them.
    #[test]
    fn every_level_is_available_or_reported_as_skipped() {
        let levels = SimdLevel::available();
        for kind in [Kind::Avx512, Kind::Avx2, Kind::Portable] {
            let level = SimdLevel(kind);
            if !levels.contains(&level) {
                let why = format!("the kernels' tests did not run with {}, which this machine lacks", level.name());
                rankwise_testing::skip(rankwise_testing::SkipKind::InstructionSet, &why);
            }
        }
    }
}
