//! Finding a command among many by words: BM25 over names, summaries and arguments.

use std::collections::HashMap;

use super::catalogue::{Callable, Catalogue};

/// How fast more of the same word stops to count, and how much the length of a text does.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;
/// A word of a name says more than one of a summary.
const NAME_WEIGHT: u32 = 3;

/// The commands of a session, by the words that tell about them.
pub(super) struct Index {
    callables: Vec<Callable>,
    /// Where a word stands, and how often.
    postings: HashMap<String, Vec<(usize, u32)>>,
    lengths: Vec<u32>,
}

impl Index {
    /// Reads every command of the session.
    pub(super) fn of(catalogue: &Catalogue) -> Self {
        let mut index = Self {
            callables: Vec::new(),
            postings: HashMap::new(),
            lengths: Vec::new(),
        };
        for callable in catalogue.callables() {
            index.add(callable);
        }
        index
    }

    /// The commands that tell most about these words, best first.
    pub(super) fn find(&self, query: &str, most: usize) -> Vec<&Callable> {
        let count = as_f64(self.callables.len());
        let total: u32 = self.lengths.iter().sum();
        let mean = (f64::from(total) / count.max(1.0)).max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in words(query) {
            let Some(postings) = self.postings.get(&word) else {
                continue;
            };
            let known = as_f64(postings.len());
            let rarity = ((count - known + 0.5) / (known + 0.5)).ln_1p();
            for (at, times) in postings {
                let length = f64::from(self.lengths.get(*at).copied().unwrap_or(0));
                let often = f64::from(*times);
                let norm = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean);
                *scores.entry(*at).or_default() +=
                    rarity * often * (SATURATION + 1.0) / (often + norm);
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|(a, first), (b, second)| second.total_cmp(first).then(a.cmp(b)));
        let best = ranked.into_iter().take(most);
        best.filter_map(|(at, _)| self.callables.get(at)).collect()
    }

    fn add(&mut self, callable: Callable) {
        let manifest = &callable.pack.manifest;
        let Some(command) = manifest.commands.get(&callable.verb_key) else {
            return;
        };
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut count = |text: &str, weight: u32| {
            for word in words(text) {
                *counts.entry(word).or_default() += weight;
            }
        };
        count(manifest.id.as_str(), NAME_WEIGHT);
        count(callable.verb_key.as_str(), NAME_WEIGHT);
        count(&manifest.summary, 1);
        count(&command.summary, 2);
        for (name, argument) in &command.args {
            count(name, 1);
            count(argument.summary.as_deref().unwrap_or_default(), 1);
        }
        let at = self.callables.len();
        self.lengths.push(counts.values().sum());
        for (word, times) in counts {
            self.postings.entry(word).or_default().push((at, times));
        }
        self.callables.push(callable);
    }
}

/// The words of a text, in lower case, a plural like its singular.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| {
            let word = word.to_lowercase();
            let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2);
            stem.map_or(word.clone(), str::to_owned)
        })
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
