//! Title search: an inverted index from words to titles.
mod scoring;

use std::collections::HashMap;

use scoring::{rank_titles, Scored};

pub struct TitleIndex {
    postings: HashMap<String, Vec<u32>>,
    titles: Vec<String>,
}

impl TitleIndex {
    pub fn new() -> Self {
        TitleIndex { postings: HashMap::new(), titles: Vec::new() }
    }

    pub fn add_title(&mut self, title: &str) -> u32 {
        let number = self.titles.len() as u32;
        for word in fold_words(title) {
            self.postings.entry(word).or_default().push(number);
        }
        self.titles.push(title.to_string());
        number
    }

    pub fn search(&self, query: &str, limit: usize) -> Vec<Scored> {
        // Unknown words are dropped rather than emptying the answer.
        let lists: Vec<&Vec<u32>> =
            fold_words(query).iter().filter_map(|word| self.postings.get(word)).collect();
        rank_titles(&lists, self.titles.len(), limit)
    }
}

fn fold_words(text: &str) -> Vec<String> {
    // Lower case, accents removed, leading articles kept: "The Hobbit" must find itself.
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().chars().map(strip_accent).collect())
        .collect()
}

fn strip_accent(c: char) -> char {
    match c {
        'à' | 'á' | 'â' | 'ä' => 'a',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ò' | 'ó' | 'ô' | 'ö' => 'o',
        other => other,
    }
}
