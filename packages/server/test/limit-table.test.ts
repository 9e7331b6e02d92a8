import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { withLimitTable } from '../../../test/support/limit-table.js'
import { serveArguments } from '../src/config.js'
import { defaultLimits } from '../src/server-limits.js'
import { attacks, refusedForItsForm, takesTheTimeOfItsLength } from './endurance/attack-list.js'
import { limitRows } from './limit-rows.js'

test('docs/server-options.md lists every limit of the table (`npm run docs` writes it)', () => {
  const page = readFileSync(new URL('../../../docs/server-options.md', import.meta.url), 'utf8')
  expect(page).toBe(withLimitTable(page))
})

test('every limit of the server has a row and an option of the command line', () => {
  const options = limitRows.flatMap(({ set }) => (set.startsWith('--') ? [set.slice(2)] : []))
  expect(new Set(options).size).toBe(Object.keys(defaultLimits).length)
  for (const name of options) expect(serveArguments).toHaveProperty(name)
})

test('every attack is stopped by a limit of the table', () => {
  const names = new Set(attacks.map(({ limit }) => limit))
  expect(names.size).toBeGreaterThan(15)
  for (const name of [refusedForItsForm, takesTheTimeOfItsLength]) names.delete(name)
  expect([...names].filter((name) => !limitRows.some(({ set, what }) => name === set || name === what))).toEqual([])
})

/** Constants with names like limits that reject nothing. */
const noLimits: readonly (readonly [RegExp, string])[] = [
  [
    /^src\/(?:report|invariants|queue\/explain)\/|^packages\/inspector\/|^src\/workflow\/explain-run|^packages\/server\/src\/(?:mcp\/(?:printable|fenced-response|prompts)|programs\/live-timeline|step-summary-file)/,
    'how much of something is shown',
  ],
  [/ (?:maxShown|maxProblems|maxTold|maxStatesShown|maxRanges)$/, 'the same'],
  [
    /(?:search-errors|error-text|nearest-name|dumped|secret-names|recorded|problems|placeholders)\.ts \w+$|waiting\.ts maxKey|command\.ts maxValues/,
    'how much of something a message or a search uses; longer input is cut or not searched',
  ],
  [
    /[cC]ached|cacheLimit|checkedAtMost|sharedAtMost|maxRemembered|maxMoments|maxFree$/,
    'caches: beyond the limit, something is computed again',
  ],
  [
    /values\/(?:compact|hyperloglog|geo|stream-id)[\w-]*\.ts|sorted-values|scalar-field|maxEmbedded|maxSplices|maxReplicas/,
    'memory layout of values, as in redis-server',
  ],
  [
    / (?:maxUnsigned|maxInt|maxBits|maxTime|maxBlock|maxNumber|largestFloat|scanLimit)$/,
    'range of a number of a command',
  ],
  [
    /kernel\/(?:clock(?:-\w+)?|gate|cron|weight)\.ts|real-redis\/(?:real-redis|redis-node)\.ts|cluster\/(?:group-commit|cluster-\w+|redis-\w+)\.ts|maxRecord$|maxStemmed|storage-meter\.ts maxChanged|heap-watch\.ts maxPause|network\.ts maxAtOnce/,
    'tuning: the size of work units, or the number of retries',
  ],
  [/ maxEscape$/, 'length of a JSON escape'],
  [/ defaultBufferLimit$/, 'policy.maxStreamBuffer, if the store has none'],
  [/^packages\/drift\//, 'client of a command that calls the real service for its user'],
  [/^packages\/explore\/src\/(?!campaign|workers)/, 'how far a check searches, which its options or its report state'],
  [/^packages\/lua\//, 'limits of the language, from its reference; limits that protect the host have rows'],
  [/limits\.ts (?:defaultLimits|maxBuffered)$/, 'options, which have their own rows'],
]

test('every constant with a name like a limit has a row or is known as an exception', () => {
  const rows = readFileSync(new URL('./limit-rows.ts', import.meta.url), 'utf8')
  const named = new Set(
    [...rows.matchAll(/^import \{([^}]*)\} from '([^']+)'/gm)].flatMap(([, names = '', from = '']) => {
      const file = from.startsWith('.')
        ? new URL(from.replace(/\.js$/, '.ts'), 'file:///packages/server/test/').pathname.slice(1)
        : from.replace(/^@stuntdouble\/(\w+).*$/, 'packages/$1')
      return names.split(',').map((name) => `${file} ${name.trim().split(' ')[0]}`)
    }),
  )
  const root = new URL('../../..', import.meta.url).pathname
  const found = globSync('{src,packages/*/src}/**/*.{ts,tsx}', { cwd: root }).flatMap((file) =>
    [
      ...readFileSync(root + file, 'utf8').matchAll(
        /^(?:export )?const ((?:most|max|longest|largest|deepest|furthest)[A-Z]?\w*|\w+(?:Limit|AtMost))(?:: [^=]+)? = (?=[-\d{(]|Math)/gm,
      ),
    ].map(([, name]) => `${file} ${name}`),
  )
  expect(found.length).toBeGreaterThan(100)
  expect(
    found.filter(
      (one) =>
        !named.has(one) &&
        !named.has(one.replace(/^(packages\/\w+)\S*/, '$1')) &&
        !noLimits.some(([none]) => none.test(one)),
    ),
  ).toEqual([])
})

test('every policy that is a limit with a number has a row', () => {
  // The limit of traffic log entries has a row as an option of the server.
  const limits = Object.entries(defaultPolicy).filter(
    ([name, value]) => /^max/.test(name) && value !== undefined && name !== 'maxTrafficEntries',
  )
  expect(limits.length).toBeGreaterThan(10)
  const missing = limits.filter(([name]) => !limitRows.some(({ set }) => set === `policy.${name}`))
  expect(missing).toEqual([])
})

test('no row contains a literal number', () => {
  const rows = readFileSync(new URL('./limit-rows.ts', import.meta.url), 'utf8')
  const table = rows.slice(rows.indexOf('export const limitAreas'))
  // Allowed are units: bytes of a mebibyte, milliseconds of a second or an hour, and percentages; 408 is a status.
  const units = /(?:\b100 \*|`408,|\/ (?:1_048_576|1024|1000|3_600_000))/g
  const numbers = table.replace(/'(?:[^'\\]|\\.)*'|"[^"]*"/g, "''").replace(units, '')
  expect(numbers.match(/(?<![\w$.])\d[\d_]*(?![\w])(?=,|\s\*)/g) ?? []).toEqual([])
})
