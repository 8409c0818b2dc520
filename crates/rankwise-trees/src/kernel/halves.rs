//! A row of cells as two vectors of 32-bit numbers: gradients, and Hessians.
//!
//! ```text
//! cells     g0 h0   g1 h1  ...  g7 h7   g8 h8  ...  g15 h15       two vectors, or four
//! hess      h0 h8   h1 h9  ...  h7 h15                            the others' Hessians in the place of these gradients
//! grad      g0 g8   g1 g9  ...  g7 g15
//! ```
//!
//! Lanes stand in places that need a shift and a blend. To keep them in their order, each vector would be narrowed and joined with
//! another: that took as long as judging the splits, and twice as long with AVX2.

use crate::blocks::BLOCK_FEATURES;

use super::CellRow;

const HALF: usize = BLOCK_FEATURES / 2;

/// Gradients and Hessians by place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves {
    pub(super) grad: [i32; BLOCK_FEATURES],
    pub(super) hess: [i32; BLOCK_FEATURES],
}

/// Where a lane stands.
pub(crate) const fn place_of(lane: usize) -> usize {
    let is_first = (lane < HALF) == cfg!(target_endian = "little");
    2 * (lane % HALF) + if is_first { 0 } else { 1 }
}

/// The halves of each cell.
#[inline(always)]
#[allow(unsafe_code)]
pub(super) fn halves(cells: &CellRow) -> Halves {
    const LOW: u64 = u32::MAX as u64;
    let (mut grad, mut hess) = ([0u64; HALF], [0u64; HALF]);
    for lane in 0..HALF {
        let (first, second) = (cells[lane], cells[lane + HALF]);
        hess[lane] = (first & LOW) | (second << 32);
        grad[lane] = (first >> 32) | (second & !LOW);
    }
    // SAFETY: both are 64 bytes of integers, for which any bits are a value.
    unsafe {
        Halves {
            grad: std::mem::transmute::<[u64; HALF], [i32; BLOCK_FEATURES]>(grad),
            hess: std::mem::transmute::<[u64; HALF], [i32; BLOCK_FEATURES]>(hess),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_lane_is_at_its_place(cells in prop::array::uniform16(any::<u64>())) {
            let Halves { grad, hess } = halves(&cells);
            for (lane, cell) in cells.into_iter().enumerate() {
                let place = place_of(lane);
                prop_assert_eq!((grad[place], hess[place]), ((cell >> 32) as i32, cell as i32));
            }
        }
    }
}
