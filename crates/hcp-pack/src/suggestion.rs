//! Did you mean: the nearest of the words that would have been right.

/// Words longer than this are not typing mistakes, and comparing them would cost time that the one
/// who wrote them decides.
const LONGEST: usize = 128;

/// How alike two words have to be, from 0 to 1, before one is offered for the other.
const ALIKE: f64 = 0.75;

/// The candidate that is most like `word`, if one is like it at all. Of equals the first wins.
pub fn closest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let mut best = None;
    let mut best_score = ALIKE;
    for candidate in candidates.filter(|candidate| candidate.len() <= LONGEST) {
        if candidate.len() > 2 * word.len() + 1 {
            // A letter or two at the beginning are no sign of what was meant.
            continue;
        }
        let score = strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase());
        if score > best_score {
            best = Some(candidate);
            best_score = score;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn near_words_are_offered_and_others_are_not() {
        let names = ["from", "to", "amount", "confirm"];
        for (word, expected) in [
            ("config", Some("confirm")),
            ("ammount", Some("amount")),
            ("From", Some("from")),
            ("", None),
            ("zzz", None),
            ("a", None),
            (&"amount".repeat(1000), None),
        ] {
            assert_eq!(closest(word, names.into_iter()), expected, "{word}");
        }
    }
}
