//! A straight line through measurements, corrected for what explains them: `value = a + b * explained + c * time`.
//!
//! No statistics library: three unknowns, three equations.

/// How much `value` grows from the first to the last sample beyond what `explained` explains.
pub(super) fn growth(samples: &[Sample]) -> f64 {
    let count = samples.len() as f64;
    if samples.len() < 4 {
        return 0.0;
    }
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (value, explained) = (mean(|sample| sample.value), mean(|sample| sample.explained));
    let middle = (count - 1.0) / 2.0;
    let (mut tt, mut tx, mut xx, mut ty, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (index, sample) in samples.iter().enumerate() {
        let (t, x, y) = (index as f64 - middle, sample.explained - explained, sample.value - value);
        tt += t * t;
        tx += t * x;
        xx += x * x;
        ty += t * y;
        xy += x * y;
    }
    let determinant = tt * xx - tx * tx;
    // Where the explanation never changes, or only with time, time alone is to blame.
    let slope = if determinant.abs() <= 1e-9 * tt * xx.max(1.0) { ty / tt } else { (ty * xx - xy * tx) / determinant };
    slope * (count - 1.0)
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) explained: f64,
    pub(super) value: f64,
}

#[cfg(test)]
mod tests {
    use super::{Sample, growth};

    fn check(value: fn(f64, f64) -> f64, expected: f64) {
        let samples: Vec<Sample> = (0..101)
            .map(|index| {
                let time = f64::from(index);
                let explained = f64::from(index * 37 % 11);
                Sample { explained, value: value(time, explained) }
            })
            .collect();
        let found = growth(&samples);
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn what_is_explained_is_no_growth() {
        check(|_, _| 5.0, 0.0);
        check(|_, explained| 5.0 + 3.0 * explained, 0.0);
        check(|time, _| 5.0 + 0.5 * time, 50.0);
        check(|time, explained| 5.0 + 3.0 * explained - 0.5 * time, -50.0);
    }

    #[test]
    fn a_constant_or_too_little_explains_nothing() {
        let line = |count: u8| -> Vec<Sample> {
            (0..count).map(|index| Sample { explained: 1.0, value: f64::from(index) }).collect()
        };
        assert!((growth(&line(11)) - 10.0).abs() < 1e-9);
        assert_eq!(growth(&line(3)), 0.0);
    }
}
