/** A word that sentences of this repository no longer use. */
export interface RetiredWord {
  /** A regular expression, matched without regard to case and between word boundaries. */
  readonly words: string
  /** What to write instead. */
  readonly write: string
  /** Folders in which the word is the term of the field. */
  readonly allowedIn?: readonly string[]
}

// Only words without a legitimate use are listed: "says", "gone" and "room" stay, because each of them can be right.
export const retiredWords: readonly RetiredWord[] = [
  // Sentences without a subject.
  { words: 'whoever|whatever|(?:some|no|every|any)body', write: 'name the subject: the app, the queue, a client, you' },
  { words: 'whose words', write: 'dialect' },
  { words: 'told|telling', write: 'reports, prints, returns, throws' },
  { words: 'ours', write: 'of this package' },

  // The product.
  { words: 'vocabular(?:y|ies)|tongues?', write: 'dialect' },
  { words: '(?<!hello,? |hello, )worlds?', write: 'sandbox' },
  { words: 'houses?|doors?|drawers?|deeds?', write: 'the name of the thing: module, endpoint, check' },
  { words: 'twins?', write: 'shadow' },

  // HTTP and time.
  { words: '(?:un)?answer(?:s|ed|ing)?', write: 'response, respond (HTTP); reply (Redis); return (functions)' },
  { words: 'foreign (?:calls?|hosts?)', write: 'outbound request, external host' },
  { words: 'patience', write: 'timeout, or stall' },
  { words: 'stands? still', write: 'stops, does not move' },

  // Queue, workflow, faults.
  { words: 'lanes?', write: 'FIFO queue', allowedIn: ['packages/inspector'] },
  { words: 'couriers?|left ?overs?', write: 'delivery; pending' },
  { words: 'fates?|(?<!http )verbs?', write: 'stub' },
  { words: 'struck|strik(?:e|es|ing)|befall\\w*', write: 'inject, injected' },
  { words: 'weather', write: 'fault rules' },
  { words: 'unplayed|in vain|for nothing', write: 'unused' },
  { words: 'strays?', write: 'real host; non-determinism' },
  { words: 'story|stories', write: 'timeline, script, lifecycle' },
  { words: 'sentences?', write: 'message' },

  // Checks.
  { words: 'broken promises?|keeps? (?:its|their|every) promises?|breach(?:es)?', write: 'invariant, violation' },
  { words: 'judge[sd]?', write: 'check' },

  // Phrases.
  { words: 'stands? (?:for|in|at|on|below|above|there|before|behind|beside)', write: 'means; is in, is listed under' },
  { words: 'c[oa]mes? of', write: 'results from' },
  { words: 'lay out|la(?:id|ys) out', write: 'formatted' },
  { words: 'beside|one thing more', write: 'in addition to, with' },
  { words: 'goes on|go on', write: 'continues' },
  { words: 'let through', write: 'admitted, passed on' },
  { words: 'mend(?:s|ed)?', write: 'fixed' },
  { words: 'parted', write: 'separated' },
  { words: 'as ever', write: 'as before' },
  { words: 'e\\.g\\.|i\\.e\\.|etc\\.', write: 'for example; that is; such as' },

  // Spellings that the dictionary of cspell accepts.
  { words: 'for ever', write: 'forever' },
  { words: 'time-outs?', write: 'timeout' },
  { words: 'set-ups?', write: 'setup (noun), set up (verb)' },
  { words: 'data base', write: 'database' },
  { words: 'misspelt|spelt', write: 'misspelled; escaped' },
]
