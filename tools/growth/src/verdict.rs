//! Decides whether a shape grows too fast.

use std::time::Duration;

use super::measure::Usage;

/// The maximum cost of doubling the input. Linear work is 2, n log n a little more, quadratic 4.
pub(super) const LIMIT: f64 = 2.5;

/// Shapes that take less time at the largest size are not judged: it is noise.
const NOISE: Duration = Duration::from_millis(60);
/// The largest size must cost this much more than a nearly empty input. Otherwise the program did not read the input, and the
/// shape could never fail.
const WORK: Duration = Duration::from_millis(1);
/// The minimum time that the smallest size counts as.
const FLOOR: Duration = Duration::from_millis(4);
/// The same for memory.
const NOISE_BYTES: u64 = 96 << 20;
const FLOOR_BYTES: u64 = 6 << 20;

/// One shape at four sizes: nearly empty, and three that double.
pub(super) struct Row {
    pub(super) name: &'static str,
    size: usize,
    cpu: [Duration; 4],
    peak: [u64; 4],
    ended: bool,
}

impl Row {
    pub(super) const HEADING: &'static str =
        "shape                          size       CPU s at n, 2n, 4n    per doubling   peak MB at 4n  per doubling";
    pub(super) const MARKDOWN_HEADING: &'static str = "| shape | n | CPU s at n / 2n / 4n | per doubling | peak MB at 4n | per doubling |\n|---|---:|---|---:|---:|---:|";

    pub(super) fn new(name: &'static str, size: usize) -> Self {
        Self { name, size, cpu: [Duration::MAX; 4], peak: [u64::MAX; 4], ended: true }
    }

    /// Keeps the minimum for a size.
    pub(super) fn add(&mut self, place: usize, usage: Usage) {
        self.ended &= usage.ended;
        if let (Some(cpu), Some(peak)) = (self.cpu.get_mut(place), self.peak.get_mut(place)) {
            *cpu = usage.cpu.min(*cpu);
            *peak = usage.peak_bytes.min(*peak);
        }
    }

    /// Whether measuring again cannot help.
    pub(super) fn is_hopeless(&self) -> bool {
        !self.ended
    }

    pub(super) fn holds(&self) -> bool {
        self.ended && self.has_work() && self.time_growth().is_none_or(fits) && self.memory_growth().is_none_or(fits)
    }

    fn has_work(&self) -> bool {
        let [start, .., large] = self.cpu;
        large.saturating_sub(start) >= WORK
    }

    /// The mean growth of the two doublings, without the fixed cost of a run; `None` if there is too little to judge.
    fn time_growth(&self) -> Option<f64> {
        let [start, small, _, large] = self.cpu;
        let (small, large) = (small.saturating_sub(start), large.saturating_sub(start));
        (large > NOISE).then(|| (large.as_secs_f64() / small.max(FLOOR).as_secs_f64()).sqrt())
    }

    fn memory_growth(&self) -> Option<f64> {
        let [start, small, _, large] = self.peak;
        let (small, large) = (small.saturating_sub(start), large.saturating_sub(start));
        (large > NOISE_BYTES).then(|| (large as f64 / small.max(FLOOR_BYTES) as f64).sqrt())
    }

    fn parts(&self) -> [String; 4] {
        let [_, cpu @ ..] = self.cpu.map(|cpu| format!("{:.2}", cpu.as_secs_f64()));
        let shown = |growth: Option<f64>| growth.map_or_else(|| "–".to_owned(), |growth| format!("{growth:.2}"));
        let peak = format!("{}", self.peak[3] >> 20);
        [cpu.join(" / "), shown(self.time_growth()), peak, shown(self.memory_growth())]
    }

    pub(super) fn line(&self) -> String {
        let [cpu, time, peak, memory] = self.parts();
        let fault = match (self.ended, self.has_work(), self.holds()) {
            (false, ..) => "  DID NOT END",
            (_, false, _) => "  NO WORK",
            (.., false) => "  TOO FAST",
            _ => "",
        };
        format!("{:28} {:>8}   {cpu:>22}   {time:>8}        {peak:>8}      {memory:>6}{fault}", self.name, self.size)
    }

    pub(super) fn markdown(&self) -> String {
        let [cpu, time, peak, memory] = self.parts();
        format!("| {} | {} | {cpu} | {time} | {peak} | {memory} |", self.name, self.size)
    }
}

fn fits(growth: f64) -> bool {
    growth <= LIMIT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cpu: [u64; 4], peak: [u64; 4]) -> Row {
        let mut row = Row::new("x", 1);
        for (place, (cpu, peak)) in cpu.into_iter().zip(peak).enumerate() {
            row.add(place, Usage { cpu: Duration::from_millis(cpu), peak_bytes: peak << 20, ended: true });
        }
        row
    }

    #[test]
    fn quadratic_work_and_memory_fail_and_linear_work_does_not() {
        let small = [10; 4];
        assert!(row([10, 110, 210, 410], small).holds());
        assert!(row([10, 110, 235, 500], small).holds());
        assert!(!row([10, 110, 410, 1_610], small).holds());
        assert!(row([10, 11, 14, 26], small).holds(), "too little to judge");
        assert!(!row([1, 2, 20, 320], small).holds());
        let little = [10, 11, 12, 14];
        assert!(!row(little, [10, 30, 100, 400]).holds());
        assert!(row(little, [10, 60, 110, 210]).holds());
        assert!(!row([10; 4], small).holds(), "nothing was measured");
        let mut ended = row(little, small);
        ended.add(3, Usage { cpu: Duration::ZERO, peak_bytes: 0, ended: false });
        assert!(!ended.holds() && ended.is_hopeless());
    }
}
