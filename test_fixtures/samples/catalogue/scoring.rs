//! Orders the titles that share words with a query.
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    pub title: u32,
    pub score: f64,
}

pub trait Popularity {
    fn loans_last_year(&self, title: u32) -> u32;
}

pub fn rank_titles(lists: &[&Vec<u32>], total: usize, limit: usize) -> Vec<Scored> {
    // A rare word tells more than a frequent one: weigh by the inverse document frequency.
    let mut scores: BTreeMap<u32, f64> = BTreeMap::new();
    for list in lists {
        let weight = (total as f64 / list.len() as f64).ln() + 1.0;
        for title in list.iter() {
            *scores.entry(*title).or_insert(0.0) += weight;
        }
    }
    let mut ranked: Vec<Scored> =
        scores.into_iter().map(|(title, score)| Scored { title, score }).collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.title.cmp(&b.title)));
    ranked.truncate(limit);
    ranked
}

pub fn boost_popular(ranked: &mut [Scored], source: &dyn Popularity) {
    // Popular titles move up a little, never past a better match by more than a tenth.
    for scored in ranked.iter_mut() {
        let loans = source.loans_last_year(scored.title).min(100);
        scored.score *= 1.0 + f64::from(loans) / 1000.0;
    }
}
