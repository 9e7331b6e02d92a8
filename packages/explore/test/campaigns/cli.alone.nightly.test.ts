import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { amount } from '../../../../test/support/effort.js'
import { blockCount } from '../../src/campaign/blocks.js'
import type { ShardReport } from '../../src/campaign/shard-report.js'
import { explore, place, read, started, written } from './built.js'
import { files } from './files.js'

const reportIn = (name: string): ShardReport => JSON.parse(read(name))

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) written(`${name}.ts`, text)
})

describe('shards in separate processes print the same report as one run, byte for byte', () => {
  test.each([
    ['shop', 2100, 3],
    ['shop', 1100, amount(2, 2, 8)],
    ['crash', 9999, 2],
    ['race', 9999, 2],
    ['story', amount(2500, 2500, 99_500), amount(3, 3, 100)],
  ])(
    'gives the same report for %s, %i runs, %i shards',
    async (name, runs, of) => {
      const common = [`${name}.ts`, '--runs', String(runs), '--seed', '4']
      const whole = await explore('run', ...common, '--jobs', '2')
      const names: string[] = []
      for (let nth = of; nth >= 1; nth--) {
        const out = `${name}-${nth}-${of}.json`
        const { code, err } = await explore(
          'run',
          ...common,
          '--jobs',
          String(1 + (nth % 3)),
          '--shard',
          `${nth}/${of}`,
          '--out',
          out,
        )
        expect([0, 1], err).toContain(code)
        names.push(out)
      }
      const merged = await explore('merge', ...names, names[0]!, '--file', `${name}.ts`)
      expect([merged.out, merged.code]).toEqual([whole.out, whole.code])
      expect(whole.out).toMatch(/All runs were tried\.\n/)
      expect(whole.code).toBe(name === 'story' ? 0 : 1)
      // Without the file of the first shard, which is the last in the list, its blocks are missing.
      const { out, code } = await explore('merge', ...names.slice(0, -1))
      expect(out).toMatch(/Missing from the files: blocks? .*\(runs 0/)
      expect(code).toBe(/runs? fails?\./.test(out) ? 1 : 4)
    },
    120_000,
  )
})

test('reports a shard without blocks, and does not shrink in a shard', async () => {
  const none = await explore('run', 'story.ts', '--runs', '100', '--shard', '2/2')
  expect(none).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^story\.ts.*seed 1.*shard 2\/2.*\b0 runs hold.*\bAll\b.*\n$/),
  })
  expect(reportIn('story.2-of-2.json')).toMatchObject({ blocks: [], notRun: [], counted: { size: 100 } })
  const { out } = await explore('run', 'shop.ts', '--runs', '100', '--shard', '1/2')
  expect(out).toMatch(/first.*run 4\b.*holds\(\) returned false/)
  expect(out).not.toContain('Replay')
})

test('tries all orders of two clients with three requests; as many fail as counted by hand', async () => {
  const { out } = await explore('run', 'race.ts')
  // An update is lost unless both requests of one client come before the first request of the other. Later reads change
  // nothing.
  let lost = 0
  for (let bits = 0; bits < 64; bits++) {
    const order = [...bits.toString(2).padStart(6, '0')].map(Number)
    if (order.filter((who) => who === 0).length !== 3) continue
    const at = (who: number): number[] => order.flatMap((one, step) => (one === who ? [step] : []))
    const [a, b] = [at(0), at(1)]
    if (!(a[1]! < b[0]! || b[1]! < a[0]!)) lost++
  }
  expect(out).toMatch(new RegExp(`^race\\.ts.*seed 1.*\\b${lost} of 20 runs fail.*\\bAll\\b.*\n`))
})

describe('campaign run', () => {
  test('explains how to make a file an ES module when Node.js takes it as CommonJS', async () => {
    written('bad.cjs', "import 'stuntdouble/scenarios'")
    const { code, err } = await explore('run', 'bad.cjs', '--runs', '10')
    expect([code, err]).toEqual([2, expect.stringMatching(/campaign\.mts.*"type": "module"/)])
  })

  test.each<[string, string, RegExp]>([
    [
      'no default export',
      'export const campaign = 1',
      /Its default export is missing\. Write export default defineCampaign/,
    ],
    ['another default export', 'export default { holds: true }', /Its default export is not a campaign\./],
    ['throws on import', "throw new Error('no database')", /cannot be run\. Error: no database\n +at .*bad\.ts:1/],
    ['does not parse', 'export default (', /cannot be run\. .*bad\.ts/],
    [
      'checks nothing',
      body('() => 1'),
      /called none of assertResilient\(\), assertCrashSafe\(\) and exploreInterleavings\(\)/,
    ],
    [
      'publishes nothing',
      body('() => assertResilient({ publish() {}, handler: () => new Response(), holds: () => true })'),
      /nothing was published/,
    ],
    [
      'plays the same every time',
      body("() => playScenario({ name: 'a', steps: [{ drain: true }] }, { seed: 8 })"),
      /got 8, expected 1/,
    ],
    ['leaves while it is imported', 'process.exit(7)', /called process\.exit\(7\)/],
    ['ends its thread', 'process.reallyExit(7)', /The worker thread ended with code 7/],
    [
      'throws where nobody catches',
      body("() => { setTimeout(() => { throw new Error('later') }, 0); return new Promise(() => {}) }"),
      /The worker thread ended: later/,
    ],
    [
      'rejects where nobody catches',
      body("() => { void Promise.reject(new Error('later')); return new Promise(() => {}) }"),
      /The worker thread ended: later/,
    ],
  ])(
    'rejects one that %s with a message, and writes that nothing was run into the file of its shard',
    async (_, text, sentence) => {
      written('bad.ts', text)
      const { code, out, err } = await explore('run', 'bad.ts', '--runs', '10', '--jobs', '1', '--out', 'bad.json')
      expect([code, out]).toEqual([2, ''])
      expect(err).toMatch(/^stuntdouble: bad\.ts cannot be run\. /)
      expect(err).toMatch(sentence)
      expect(reportIn('bad.json')).toMatchObject({
        blocks: [],
        notRun: [{ blocks: [], why: expect.stringMatching(/./) }],
      })
      const merged = await explore('merge', 'bad.json')
      expect([merged.code, merged.out]).toEqual([4, expect.stringMatching(/runs.*unknown.*\nNot run: /)])
    },
  )

  test('keeps the output of the code under test out of the report', async () => {
    written(
      'loud.ts',
      body(
        "({ seed }) => (console.log('loud'), process.stdout.write('louder'), playScenario({ name: 'a', steps: [{ drain: true }] }, { seed }))",
      ),
    )
    const { code, out, err } = await explore('run', 'loud.ts', '--runs', '3', '--jobs', '1')
    expect([code, out]).toEqual([0, expect.stringMatching(/^loud\.ts.*seed 1.*\b3 runs hold.*\bAll\b.*\n$/)])
    expect(err).toContain('louder')
  })

  test('loses only one block when a worker dies, and names it in the file', async () => {
    written(
      'dying.ts',
      body(
        "({ seed }) => { if (seed === 1500) process.reallyExit(9); if (seed === 2500) setTimeout(() => { throw new Error('later') }); return playScenario({ name: 'a', steps: [{ drain: true }] }, { seed }) }",
      ),
    )
    const { code, out } = await explore('run', 'dying.ts', '--runs', '4000', '--jobs', '2', '--out', 'dying.json')
    expect(code).toBe(4)
    expect(out).toMatch(/^dying\.ts.*seed 1.*\b2,000 runs hold.*\b4,000 runs.*not all/m)
    expect(out).toMatch(/Not run: block 1 .*\b1000–1999\b.*ended with code 9\b/)
    expect(out).toMatch(/Not run: block 2 \(runs 2000–2999\): The worker thread ended: .*later/)
    expect(reportIn('dying.json').notRun.map(({ blocks }) => blocks)).toEqual([[1], [2]])
  })

  test.each([
    ['loops for ever', 'for (;;);', 'SIGINT'],
    ['waits for ever', 'return new Promise(() => {})', 'SIGTERM'],
  ] as const)('ends one that %s on a signal, and writes what was not run into the file', async (_, never, signal) => {
    written(
      'endless.ts',
      body(
        `async ({ seed }) => { if (seed > 1200) { console.error('endless now'); ${never} }; return playScenario({ name: 'a', steps: [{ drain: true }] }, { seed }) }`,
      ),
    )
    const { child, ended, printed } = started(
      'run',
      'endless.ts',
      '--runs',
      '3000',
      '--jobs',
      '1',
      '--out',
      `${signal}.json`,
    )
    await printed(/endless now|\d of 3,000 runs/)
    while (reportIn(`${signal}.json`).blocks.length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill(signal)
    const { code, out } = await ended
    expect(code).toBe(4)
    expect(out).toMatch(/^endless\.ts.*seed 1.*\b1,000 runs hold.*\b3,000 runs.*not all/m)
    expect(out).toMatch(new RegExp(`Not run: blocks 1–2 .*\\b1000–2999\\b.*stopped by ${signal}`))
    expect(reportIn(`${signal}.json`)).toMatchObject({
      blocks: [{ block: 0, failed: 0, skipped: 0 }],
      notRun: [{ blocks: [1, 2], why: expect.stringContaining(`stopped by ${signal}`) }],
    })
  })

  test('ends one that never loads on a signal', async () => {
    written('asleep.ts', "console.error('asleep now'); await new Promise(() => {})")
    const { child, ended, printed } = started('run', 'asleep.ts', '--out', 'asleep.json')
    await printed(/asleep now/)
    child.kill('SIGINT')
    const { code, out } = await ended
    expect([code, out]).toEqual([4, expect.stringMatching(/Not run: .*stopped by SIGINT/)])
    expect(reportIn('asleep.json').notRun).toEqual([{ blocks: [], why: expect.stringContaining('stopped by SIGINT') }])
  })

  test('leaves a file that names the unfinished blocks when it is killed', async () => {
    written(
      'killed.ts',
      body(
        "async ({ seed }) => (seed > 900 ? new Promise(() => {}) : playScenario({ name: 'a', steps: [{ drain: true }] }, { seed }))",
      ),
    )
    const { child, ended } = started('run', 'killed.ts', '--runs', '3000', '--out', 'killed.json')
    while (!existsSync(join(place, 'killed.json')) || reportIn('killed.json').counted === undefined)
      await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill('SIGKILL')
    await ended
    expect(reportIn('killed.json').notRun).toEqual([
      {
        blocks: Array.from({ length: blockCount(3000) }, (__, block) => block),
        why: 'no worker has run this part yet',
      },
    ])
  })
})

/** Returns the source of a campaign around a function. */
function body(text: string): string {
  return `import { assertResilient } from 'stuntdouble/fast-check'
import { defineCampaign } from 'stuntdouble/checks'
import { playScenario } from 'stuntdouble/scenarios'
export default defineCampaign(${text})
void assertResilient
`
}

describe('invalid arguments', () => {
  test.each<[string[], RegExp]>([
    ...['0/8', '9/8', '1/0', 'NaN', '1', '-1/8', '1/8/2', '1.5/8', ''].map((shard): [string[], RegExp] => [
      ['run', 'story.ts', `--shard=${shard}`],
      shard === '' ? /--shard needs a value/ : /--shard must be I\/N, such as 1\/8 to 8\/8 .*\(got /,
    ]),
    ...['0', '-1', 'NaN', '1e9', '1.5', '10000000000'].map((runs): [string[], RegExp] => [
      ['run', 'story.ts', `--runs=${runs}`],
      /--runs must be a number from 1 to 1000000000 \(got /,
    ]),
    [['run', 'story.ts', '--jobs', '0'], /--jobs must be a number from 1 to 256/],
    [['run', 'story.ts', '--seed', 'abc'], /--seed must be a whole number of up to nine digits/],
    [['run', 'nowhere.ts'], /nowhere\.ts cannot be read\. The file does not exist\./],
    [['run', 'story.ts', 'shop.ts'], /at most 1 argument .*Write stuntdouble campaign run \[OPTIONS\] FILE\./],
    [['run', 'story.ts', '--runs', '1', '--out', 'nowhere/a.json'], /nowhere\/a\.json cannot be written/],
    [
      ['run', 'story.ts', '--runs', '1', '--out', '/dev/null'],
      /\/dev\/null cannot be written: it exists and is not a file\./,
    ],
    [['run', 'story.ts', '--out', './story.ts'], /--out \.\/story\.ts is the file of the campaign/],
    [['run', 'story.ts', '--file', 'a.ts'], /campaign run has no option --file\./],
    [['merge', 'a.json', '--out', 'b.json'], /campaign merge has no option --out\./],
    [['merge'], /argument is missing\. Write stuntdouble campaign merge \[OPTIONS\] FILE…\./],
    [['merge', 'nowhere.json'], /nowhere\.json cannot be read/],
    [['merge', 'story.ts'], /story\.ts is not JSON/],
    [['run'], /argument is missing\. Write stuntdouble campaign run \[OPTIONS\] FILE\./],
    [[], /subcommand .*stuntdouble campaign run or stuntdouble campaign merge\./],
    [['rum', 'story.ts'], /no command campaign rum\. Did you mean campaign run\?/],
  ])('print one message and exit with code 2: %j', async (args, sentence) => {
    const { code, out, err } = await explore(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('campaign merge', () => {
  test('shrinks the campaign that the user passes, and no other one', async () => {
    written('moved.ts', files.shop)
    await explore('run', 'moved.ts', '--runs', '60', '--out', 'moved.json')
    const told = await explore('merge', 'moved.json', '--file', 'moved.ts')
    expect(told.out).toContain("Replay: assertResilient({ …, seed: 1, path: '4:")
    const elsewhere = await explore('merge', 'moved.json', '--file', 'shop.ts')
    expect(elsewhere.out).toBe(told.out)
    const untold = await explore('merge', 'moved.json')
    expect([untold.code, untold.out]).toEqual([1, expect.stringMatching(/The failure was not shrunk\. .*--file FILE/)])
    expect(untold.out).not.toContain('Replay')
    written('moved.ts', `${files.shop}\n// changed`)
    const changed = await explore('merge', 'moved.json', '--file', 'moved.ts')
    expect([changed.code, changed.out]).toEqual([2, ''])
    expect(changed.err).toMatch(/--file moved\.ts differs/)
    const gone = await explore('merge', 'moved.json', '--file', 'gone.ts')
    expect([gone.code, gone.out]).toEqual([2, ''])
  })
})

describe('forged files of shards', () => {
  const planted = "import { writeFileSync } from 'node:fs'\nwriteFileSync('ran', '')\nexport default () => {}\n"

  function forged(change: Partial<ShardReport> = {}): string {
    const version = JSON.parse(readFileSync('package.json', 'utf8')).version as string
    const report: ShardReport = {
      format: 'stuntdouble campaign',
      formatVersion: 1,
      version,
      campaign: { file: 'planted.mjs', digest: createHash('sha256').update(planted).digest('hex') },
      seed: 1,
      runs: 10,
      blockLength: 1000,
      shard: { nth: 1, of: 1 },
      counted: { check: 'playScenario', size: 10 },
      blocks: [{ block: 0, failed: 1, skipped: 0, first: { run: 3, why: 'x\n::error::forged' } }],
      notRun: [],
      coverage: [],
      notes: [],
      ...change,
    }
    return JSON.stringify(report)
  }

  test('cannot choose code: a path in them is not opened', async () => {
    written('planted.mjs', planted)
    written('forged.json', forged())
    const { code, out } = await explore('merge', 'forged.json')
    expect(code).toBe(1)
    expect(existsSync(join(place, 'ran'))).toBe(false)
    expect(out.split('\n').filter((line) => /^\s*::/.test(line))).toEqual([])
    const other = await explore('merge', 'forged.json', '--file', 'shop.ts')
    expect([other.code, other.out]).toEqual([2, ''])
    expect(existsSync(join(place, 'ran'))).toBe(false)
  })

  test('are rejected with exit code 2 if they have 300,000 notes', async () => {
    written('notes.json', forged({ notes: Array.from({ length: 300_000 }, (_, nth) => `note ${nth}`) }))
    const { code, out, err } = await explore('merge', 'notes.json')
    expect([code, out]).toEqual([2, ''])
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('are rejected on one line that is not a workflow command, even under the name of one', async () => {
    written('a\n::error::b.json', '{')
    const { code, err } = await explore('merge', 'a\n::error::b.json')
    expect(code).toBe(2)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })
})
