import { expect, it } from 'vitest'
import { stemEnglish } from '../../../src/store/search/english.js'

// Words and stems from the page of Snowball's English stemmer, including its exceptions.
const shown = {
  consign: 'consign consigned consigning consignment',
  consist: 'consist consisted consistency consistent consistently consisting consists',
  consol: 'consolation consolations console consoled consoles consoling consolingly consols',
  consolatori: 'consolatory',
  consolid: 'consolidate consolidated consolidating',
  conson: 'consonant',
  consort: 'consort consorted consorting',
  conspicu: 'conspicuous conspicuously',
  conspiraci: 'conspiracy',
  conspir: 'conspirator conspirators conspire conspired conspiring',
  constabl: 'constable constables',
  constanc: 'constance constancy',
  constant: 'constant',
  knack: 'knack knacks',
  knackeri: 'knackeries',
  knave: 'knave knaves',
  knavish: 'knavish',
  knead: 'kneaded kneading',
  knight: 'knight knightly knights',
  knit: 'knit knits knitted knitting',
  knive: 'knives',
  knocker: 'knocker knockers',
  connect: 'connect connected connecting connection connections',
  sky: 'skies sky',
  die: 'dying',
  news: 'news',
  gentl: 'gently',
  onli: 'only',
  inning: 'inning innings',
  proceed: 'proceed proceeds',
  generous: 'generous generously',
  general: 'general generally',
  communism: 'communism',
  hope: 'hope hoped hoping',
  hop: 'hop hopped hopping',
  run: 'run runs running',
  runner: 'runner',
  studi: 'studies studied study',
  experi: 'experiments experience',
}

it.each(Object.entries(shown))('stems %s from %s', (stem, words) => {
  expect(words.split(' ').map(stemEnglish)).toEqual(words.split(' ').map(() => stem))
})

it('keeps texts that are not words unchanged', () => {
  for (const word of ['', 'a', "'", "''", 'über', '2024', 'ß', 'yyy', 'constructor']) {
    expect(stemEnglish(word)).toMatch(/^.*$/)
  }
  expect(stemEnglish('2024')).toBe('2024')
})
