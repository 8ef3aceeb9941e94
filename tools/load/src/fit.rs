//! Least squares through measurements, corrected for an explaining variable: `value = a + b * explained + c * time`.
//!
//! No statistics library: three unknowns, three equations.

/// How much a value grows from the first to the last sample beyond what is explained, with its standard error.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    pub(super) total: f64,
    /// Standard error of the total.
    pub(super) error: f64,
}

pub(super) fn growth(samples: &[Sample]) -> Growth {
    let count = samples.len() as f64;
    if samples.len() < 4 {
        return Growth::default();
    }
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (value, explained) = (mean(|sample| sample.value), mean(|sample| sample.explained));
    let centred = samples.iter().enumerate().map(|(index, sample)| {
        (index as f64 - (count - 1.0) / 2.0, sample.explained - explained, sample.value - value)
    });
    let sum = |of: fn((f64, f64, f64)) -> f64| centred.clone().map(of).sum::<f64>();
    let (tt, tx, xx) = (sum(|(t, _, _)| t * t), sum(|(t, x, _)| t * x), sum(|(_, x, _)| x * x));
    let (ty, xy) = (sum(|(t, _, y)| t * y), sum(|(_, x, y)| x * y));
    let determinant = tt * xx - tx * tx;
    // If the explaining variable is constant or proportional to time, attribute all growth to time.
    let (slope, share, certainty) = if determinant <= 1e-9 * tt * xx.max(1.0) {
        (ty / tt, 0.0, 1.0 / tt)
    } else {
        ((ty * xx - xy * tx) / determinant, (xy * tt - ty * tx) / determinant, xx / determinant)
    };
    let residue: f64 = centred.map(|(t, x, y)| (y - slope * t - share * x).powi(2)).sum();
    let error = (residue / (count - 3.0) * certainty).sqrt();
    Growth { total: slope * (count - 1.0), error: error * (count - 1.0) }
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
        assert!((found.total - expected).abs() < 1e-6 && found.error < 1e-6, "{found:?} is not {expected}");
    }

    #[test]
    fn explained_growth_does_not_count() {
        check(|_, _| 5.0, 0.0);
        check(|_, explained| 5.0 + 3.0 * explained, 0.0);
        check(|time, _| 5.0 + 0.5 * time, 50.0);
        check(|time, explained| 5.0 + 3.0 * explained - 0.5 * time, -50.0);
    }

    #[test]
    fn constant_or_too_few_samples_give_no_growth() {
        let line = |count: u8| -> Vec<Sample> {
            (0..count).map(|index| Sample { explained: 1.0, value: f64::from(index) }).collect()
        };
        assert!((growth(&line(11)).total - 10.0).abs() < 1e-9);
        assert_eq!(growth(&line(3)).total, 0.0);
    }

    #[test]
    fn noise_without_a_trend_is_not_reported_as_growth() {
        // Alternates by one, without a trend.
        let samples: Vec<Sample> =
            (0..400).map(|index| Sample { explained: 1.0, value: f64::from(index % 2 * 2 - 1) }).collect();
        let found = growth(&samples);
        assert!(found.total.abs() < 2.0 * found.error && found.error < 0.3, "{found:?}");
    }
}
