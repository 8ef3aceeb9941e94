//! Fixed-point numbers. The ranking must be bit-identical on every platform, and the platforms' `ln` and `exp` are not.
//!
//! 32 fractional bits. Sums and products saturate, so that hostile counts cannot overflow.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A signed number with 32 fractional bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fixed(i64);

const FRACTION: u32 = 32;
/// ln 2 with 63 fractional bits.
const LN_2: i128 = 6_393_154_322_601_327_829;
/// 1 / ln 2 with 32 fractional bits.
const LOG2_E: Fixed = Fixed(6_196_328_019);
/// 2^-(2^-i) for i = 1, 2, …, 32, with 63 fractional bits.
const ROOTS_OF_HALF: [u64; 32] = roots_of_half();

const fn roots_of_half() -> [u64; 32] {
    let mut roots = [0; 32];
    let mut root: u128 = 1 << 62;
    let mut index = 0;
    while index < roots.len() {
        root = (root << 63).isqrt();
        roots[index] = root as u64;
        index += 1;
    }
    roots
}

impl Fixed {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(1 << FRACTION);
    pub const HALF: Self = Self(1 << (FRACTION - 1));

    pub fn int(value: impl Into<i64>) -> Self {
        Self(value.into().saturating_mul(1 << FRACTION))
    }

    /// A number in thousandths, for constants.
    pub const fn per_mille(value: i32) -> Self {
        Self(((value as i64) << FRACTION) / 1000)
    }

    /// A count; saturates.
    pub fn count(value: usize) -> Self {
        Self::int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// `numerator / denominator`; 0 if the denominator is 0.
    pub fn ratio(numerator: i64, denominator: i64) -> Self {
        Self(quotient(numerator, denominator))
    }

    /// The natural logarithm; 0 where it is undefined.
    pub fn ln(self) -> Self {
        let Ok(bits) = u64::try_from(self.0) else { return Self::ZERO };
        if bits == 0 {
            return Self::ZERO;
        }
        let zeros = bits.leading_zeros();
        let exponent = i64::from(63 - zeros) - i64::from(FRACTION);
        // Each squaring of the mantissa yields one binary digit of the logarithm.
        let mut mantissa = bits << zeros;
        let mut fraction = 0i64;
        for digit in (0..FRACTION).rev() {
            let square = (u128::from(mantissa) * u128::from(mantissa)) >> 63;
            if square >> 64 != 0 {
                fraction |= 1 << digit;
                mantissa = (square >> 1) as u64;
            } else {
                mantissa = square as u64;
            }
        }
        let log2 = (exponent << FRACTION) + fraction;
        Self(clamp((i128::from(log2) * LN_2) >> 63))
    }

    /// ln(1 + x).
    pub fn ln_1p(self) -> Self {
        (self + Self::ONE).ln()
    }

    /// 2^-x for x ≥ 0.
    pub fn halved(self) -> Self {
        let bits = self.0.max(0);
        let whole = u32::try_from(bits >> FRACTION).unwrap_or(u32::MAX);
        if whole > FRACTION {
            return Self::ZERO;
        }
        let mut value: u64 = 1 << 63;
        for (index, root) in ROOTS_OF_HALF.iter().enumerate() {
            if bits >> (FRACTION as usize - 1 - index) & 1 != 0 {
                value = ((u128::from(value) * u128::from(*root)) >> 63) as u64;
            }
        }
        Self((value >> (63 - FRACTION) >> whole) as i64)
    }

    /// e^-x for x ≥ 0.
    pub fn exp_negative(self) -> Self {
        (self * LOG2_E).halved()
    }

    /// The square root; 0 for negative numbers.
    pub fn sqrt(self) -> Self {
        let bits = u128::try_from(self.0).unwrap_or(0);
        Self(i64::try_from((bits << FRACTION).isqrt()).unwrap_or(i64::MAX))
    }

    /// All 64 bits, for a cache.
    pub const fn bits(self) -> i64 {
        self.0
    }

    pub const fn from_bits(bits: i64) -> Self {
        Self(bits)
    }

    /// The number in thousandths, rounded down, for reports.
    pub fn thousandths(self) -> i64 {
        clamp((i128::from(self.0) * 1000) >> FRACTION)
    }

    pub fn is_positive(self) -> bool {
        self.0 > 0
    }
}

/// `2^32 · numerator / denominator`, rounded towards 0; 0 if the denominator is 0.
fn quotient(numerator: i64, denominator: i64) -> i64 {
    if denominator == 0 {
        return 0;
    }
    // Most numerators are below 1: then one 64-bit division gives the same result as a 128-bit one.
    if let (Ok(small), Ok(positive)) = (u32::try_from(numerator), u64::try_from(denominator)) {
        let value = (u64::from(small) << FRACTION) / positive;
        return i64::try_from(value).unwrap_or(i64::MAX);
    }
    clamp((i128::from(numerator) << FRACTION) / i128::from(denominator))
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

impl Add for Fixed {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Fixed {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul for Fixed {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(clamp((i128::from(self.0) * i128::from(other.0)) >> FRACTION))
    }
}

impl Div for Fixed {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self(quotient(self.0, other.0))
    }
}

impl AddAssign for Fixed {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Fixed {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self::ZERO, Add::add)
    }
}

/// Divides each value by the largest; all zeros stay zeros.
pub(crate) fn unit(values: &mut [Fixed]) {
    let largest = values.iter().copied().max().unwrap_or_default();
    if largest.is_positive() {
        values.iter_mut().filter(|value| **value != Fixed::ZERO).for_each(|value| *value = *value / largest);
    }
}

/// As [`unit`], then on a logarithmic scale: raises small values, keeps 0 and 1.
pub(crate) fn log_unit(values: &mut [Fixed], scale: u32) {
    unit(values);
    let scale = Fixed::int(scale);
    let full = scale.ln_1p();
    let mut memo = Memo::new(|value: Fixed| (scale * value).ln_1p() / full);
    values.iter_mut().filter(|value| **value != Fixed::ZERO).for_each(|value| *value = memo.get(*value));
}

/// A function of numbers with a small cache of its results: similar files have equal numbers, and a logarithm takes as long as
/// some hundred comparisons.
pub(crate) struct Memo<F> {
    function: F,
    /// Arguments with their results, indexed by the last bits of a hash of the argument.
    known: [(Fixed, Fixed); 256],
}

impl<F: Fn(Fixed) -> Fixed> Memo<F> {
    pub(crate) fn new(function: F) -> Self {
        let zero = function(Fixed::ZERO);
        Self { function, known: [(Fixed::ZERO, zero); 256] }
    }

    pub(crate) fn get(&mut self, value: Fixed) -> Fixed {
        let hash = (value.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let Some(place) = self.known.get_mut(hash as usize) else { return (self.function)(value) };
        if place.0 != value {
            *place = (value, (self.function)(value));
        }
        place.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: Fixed) -> f64 {
        value.0 as f64 / (1u64 << FRACTION) as f64
    }

    fn fixed(value: f64) -> Fixed {
        Fixed((value * (1u64 << FRACTION) as f64) as i64)
    }

    #[test]
    fn functions_agree_with_floating_point() {
        for value in [1e-6, 0.001, 0.3, 0.5, 1.0, 1.5, 2.0, std::f64::consts::E, 10.0, 365.25, 1e6, 2e9] {
            let number = fixed(value);
            let exact = float(number);
            assert!((float(number.ln()) - exact.ln()).abs() < 4e-9, "ln {value}");
            assert!((float(number.sqrt()) - exact.sqrt()).abs() < 1e-9, "sqrt {value}");
            assert!((float(number.halved()) - (-exact).exp2()).abs() < 1e-9, "2^-{value}");
            assert!((float(number.exp_negative()) - (-exact).exp()).abs() < 1e-9, "e^-{value}");
        }
    }

    #[test]
    fn arithmetic_saturates_at_the_limits() {
        let largest = Fixed(i64::MAX);
        assert_eq!(largest + Fixed::ONE, largest);
        assert_eq!(largest * largest, largest);
        assert_eq!(largest / fixed(0.001), largest);
        assert_eq!(Fixed::ONE / Fixed::ZERO, Fixed::ZERO);
        assert_eq!(
            (Fixed::ZERO.ln(), Fixed::int(-1).ln(), Fixed::int(-1).sqrt()),
            (Fixed::ZERO, Fixed::ZERO, Fixed::ZERO)
        );
        assert_eq!((Fixed::ZERO.halved(), Fixed::ONE.halved()), (Fixed::ONE, Fixed::HALF));
        assert_eq!(Fixed::int(33).halved(), Fixed::ZERO);
        assert_eq!(Fixed::count(usize::MAX), Fixed::int(i64::MAX));
    }

    #[test]
    fn quotients_of_any_size_are_the_same() {
        let numbers = [i64::MIN, -5, -1, 0, 1, 2, 3, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 33, i64::MAX];
        for left in numbers {
            for right in numbers {
                let exact = if right == 0 { 0 } else { clamp((i128::from(left) << FRACTION) / i128::from(right)) };
                assert_eq!((Fixed(left) / Fixed(right)).0, exact, "{left} / {right}");
            }
        }
    }

    #[test]
    fn values_are_scaled_to_the_largest() {
        let mut values = [fixed(2.0), Fixed::ZERO, fixed(8.0)];
        unit(&mut values);
        assert_eq!(values, [fixed(0.25), Fixed::ZERO, Fixed::ONE]);
        log_unit(&mut values, 100);
        assert!((float(values[0]) - 26f64.ln() / 101f64.ln()).abs() < 1e-8);
        assert_eq!((values[1], values[2]), (Fixed::ZERO, Fixed::ONE));
        let mut none = [Fixed::ZERO; 2];
        unit(&mut none);
        assert_eq!(none, [Fixed::ZERO; 2]);
    }
}
