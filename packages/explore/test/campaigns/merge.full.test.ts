import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amount, runs } from '../../../../test/support/effort.js'
import { blockCount, type Shard } from '../../src/campaign/blocks.js'
import { campaignReport, isWhole } from '../../src/campaign/campaign-report.js'
import { campaignInternals, type IndexResult } from '../../src/campaign/index-space.js'
import { merged, type NamedReport } from '../../src/campaign/merge.js'
import { type ShardReport, shardReportFrom } from '../../src/campaign/shard-report.js'
import { defineCampaign } from '../../src/checks.js'
import { assertResilient } from '../../src/fast-check.js'
import { ShardRun } from '../../src/workers/shard-run.js'
import { JobFailed, type WorkerPool } from '../../src/workers/workers.js'

// One run without shards is the expected result. Any split, loss, repetition and order of shards must give the same
// text.

const size = amount(2300, 2300, 20_300)
const seed = 5
const campaign = defineCampaign(() =>
  assertResilient({
    publish: ({ queue }) => queue.publish({ to: 'https://shop.test/orders', body: '1', retries: 2 }),
    handler: (_, __, { store }) => {
      store.run('INCR', 'count')
      return new Response()
    },
    holds: ({ store, traffic }) => Number(store.get('count')) < 4 || traffic.ofType('fault').length < 4,
  }),
)

/** Each task runs once. Other tests check that its worker and its time do not matter. */
const answers = new Map<string, Promise<IndexResult>>()
let last: Promise<unknown> = Promise.resolve()
const workforce: WorkerPool = {
  perform(task) {
    const name = JSON.stringify(task)
    const known = answers.get(name)
    if (known !== undefined) return known
    const answer = last.then(() =>
      campaignInternals.of(campaign).perform({ seed, runs: size }, { ...task, ended() {} } as never),
    )
    answers.set(name, answer)
    last = answer
    return answer
  },
}

const orders = (shard: Shard) =>
  ({
    format: 'stuntdouble campaign',
    formatVersion: 1,
    version: '0.1.0',
    campaign: { file: 'campaign.ts', digest: 'a'.repeat(64) },
    seed,
    runs: size,
    blockLength: 1000,
    shard,
  }) as const

async function shardOf(nth: number, of: number, workers = workforce): Promise<ShardReport> {
  const run = new ShardRun(orders({ nth, of }), workers)
  await run.count()
  await run.play(() => {})
  return run.report()
}

async function shards(of: number): Promise<readonly NamedReport[]> {
  const reports = await Promise.all(Array.from({ length: of }, (_, at) => shardOf(at + 1, of)))
  // Parses the reports as they come from their files.
  return reports.map((report, at) => {
    const name = `${at + 1}.json`
    return { name, report: shardReportFrom(JSON.stringify(report), name) }
  })
}

const whole = async (): Promise<string> => campaignReport(merged(await shards(1)))

describe('one run of all blocks', () => {
  test('has failures, coverage and notes to report', { timeout: 240_000 }, async () => {
    const all = merged(await shards(1))
    const text = await whole()
    expect(all.failed).toBeGreaterThan(0)
    expect(isWhole(all)).toBe(true)
    expect(text).toMatch(/^campaign\.ts.*seed 5.*\d+ of [\d,]+ runs fail.*\bAll\b.*\n.*\nReached \d+ of \d+ \(/)
    expect(text).toMatch(new RegExp(`first.*\\brun ${all.first!.run}\\b.*holds\\(\\) returned false`))
    // Its coverage equals that of the check itself.
    const { coverage } = await assertResilient({
      publish: ({ queue }) => queue.publish({ to: 'https://shop.test/orders', body: '1', retries: 2 }),
      handler: () => new Response(),
      holds: () => true,
      seed,
      runs: size,
    })
    expect(text).toContain(coverage.toString())
  })

  test.each([1, 2, 3, 5, 8, 100])('equals the merged report of %i shards, byte for byte', async (of) => {
    const files = await shards(of)
    expect(campaignReport(merged(files))).toBe(await whole())
    expect(campaignReport(merged(files.toReversed()))).toBe(await whole())
  })

  test('equals the merged report of shards in any order, with repetitions and overlaps (property)', async () => {
    const cuts = await Promise.all([2, 3, 8].map(shards))
    const text = await whole()
    const parts = fc
      .tuple(fc.constantFrom(...cuts), fc.subarray(cuts.flat()))
      .chain(([all, more]) => fc.shuffledSubarray([...all, ...more], { minLength: all.length + more.length }))
    fc.assert(
      fc.property(parts, (files) => {
        expect(campaignReport(merged(files)) === text, files.map(({ name }) => name).join(' ')).toBe(true)
      }),
    )
  })
})

describe('a merged report', () => {
  test('names the blocks of missing shards', async () => {
    const files = (await shards(3)).filter((_, at) => at !== 1)
    const all = merged(files)
    expect(isWhole(all)).toBe(false)
    expect(campaignReport(all)).toMatch(
      /runs fail\..*[\d,]+ runs.*not all.*\n.*\nMissing.* blocks? 1.*\b1000–1999\b.*all shards/,
    )
  })

  test('names blocks whose worker died, with the reason, until another shard has run them', async () => {
    const dying: WorkerPool = {
      perform: (task) =>
        task.do === 'attempt' && task.from === 2000
          ? Promise.reject(new JobFailed('The worker thread ended with code 9.'))
          : workforce.perform(task),
    }
    const broken = { name: 'broken.json', report: await shardOf(1, 1, dying) }
    expect(broken.report.notRun).toEqual([{ blocks: [2], why: 'The worker thread ended with code 9.' }])
    expect(campaignReport(merged([broken]))).toMatch(
      /Not run: block 2 .*\b2000–2299\b.*: The worker thread ended with code 9\./,
    )
    const mended = { name: 'mended.json', report: await shardOf(3, blockCount(size)) }
    expect(campaignReport(merged([broken, mended]))).toBe(await whole())
  })

  test('reports a campaign whose runs could not be counted', async () => {
    const run = new ShardRun(orders({ nth: 1, of: 2 }), {
      perform: () => Promise.reject(new JobFailed('It throws.')),
    })
    await expect(run.count()).rejects.toThrow('It throws.')
    const report = shardReportFrom(JSON.stringify(run.report()), 'a.json')
    expect(campaignReport(merged([{ name: 'a.json', report }]))).toMatch(
      /^campaign\.ts.*seed 5.*\b0 runs hold.*runs.*unknown.*\nNot run: It throws\.$/,
    )
    const [, second] = await shards(2)
    expect(campaignReport(merged([{ name: 'a.json', report }, second!]))).toMatch(
      /Not run: It throws\.\nMissing.* blocks 0, 2/,
    )
  })
})

describe('merged() rejects files that do not belong together:', () => {
  const of = async (change: (report: ShardReport) => object): Promise<readonly NamedReport[]> => {
    const [one, two] = await shards(2)
    return [one!, { name: 'other.json', report: { ...two!.report, ...change(two!.report) } as ShardReport }]
  }

  test.each([
    [
      'another campaign',
      (r: ShardReport) => ({ campaign: { ...r.campaign, digest: 'b'.repeat(64) } }),
      /different campaigns, campaign\.ts \(aaaaaaaa\) in the first file and campaign\.ts \(bbbbbbbb\)/,
    ],
    ['another seed', () => ({ seed: 6 }), /the seed is 5 in the first file and 6/],
    ['other runs', () => ({ runs: 9000 }), /the number of runs is \d+ in the first file and 9000/],
    [
      'another version',
      () => ({ version: '0.2.0' }),
      /the version of stuntdouble is 0\.1\.0 in the first file and 0\.2\.0/,
    ],
    ['another size', () => ({ counted: { check: 'assertResilient', size: 2290 } }), /the code under test differs/],
  ])('%s', async (_, change, sentence) => {
    const files = await of(change)
    expect(() => merged(files)).toThrow(sentence)
    expect(() => merged(files)).toThrow(/1\.json .*other\.json/)
  })

  test('merged() rejects a block with two different results', async () => {
    const [one] = await shards(1)
    const blocks = one!.report.blocks.map((block) => ({ ...block, skipped: block.skipped + 1 }))
    const two = { name: 'two.json', report: { ...one!.report, blocks } }
    expect(() => merged([one!, two])).toThrow(/1\.json and two\.json have different results for block 0/)
  })
})

describe('shardReportFrom()', () => {
  test('rejects a truncated or changed file with a message, or reads the same (property)', async () => {
    const text = JSON.stringify((await shards(2))[0]!.report)
    const damage = fc.tuple(
      fc.nat({ max: text.length - 1 }),
      fc.constantFrom('', '0', '9', '"', '}', ']', ',', 'x', '\0'),
    )
    fc.assert(
      fc.property(damage, fc.boolean(), ([at, put], isCut) => {
        const damaged = isCut ? text.slice(0, at) : text.slice(0, at) + put + text.slice(at + 1)
        try {
          merged([{ name: 'a.json', report: shardReportFrom(damaged, 'a.json') }])
        } catch (error) {
          expect((error as Error).message).toMatch(/^a\.json is (?:not|damaged)/)
          expect((error as Error).message.split('\n')).toHaveLength(1)
        }
      }),
      { numRuns: runs(100, 500, 5000) },
    )
  })

  test.each<[string, (report: ShardReport) => object, RegExp]>([
    [
      'a block of another shard',
      ({ blocks }) => ({ blocks: blocks.map((b) => ({ ...b, block: b.block + 1 })) }),
      /block 1 does not belong to shard 1\/2/,
    ],
    ['a block twice', ({ blocks }) => ({ blocks: [...blocks, blocks[0]] }), /block 0 .* twice/],
    ['a block that is forgotten', ({ blocks }) => ({ blocks: blocks.slice(1) }), /block 0 is missing/],
    [
      'more failures than runs',
      ({ blocks }) => ({ blocks: blocks.map((b) => ({ ...b, failed: 1001 })) }),
      /more failures than runs/,
    ],
    [
      'a failure nowhere',
      ({ blocks }) => ({ blocks: blocks.map(({ first: _, ...b }) => ({ ...b, failed: 1 })) }),
      /first failing run contradict/,
    ],
    [
      'a run of another block',
      ({ blocks }) => ({ blocks: blocks.map((b) => ({ ...b, failed: 1, first: { run: 1500, why: '' } })) }),
      /run 1500 is not in block 0/,
    ],
    ['a shard that cannot be', () => ({ shard: { nth: 3, of: 2 } }), /it is shard 3 of 2/],
    [
      'a size without end',
      () => ({ counted: { check: 'assertResilient', size: Number.MAX_SAFE_INTEGER } }),
      /it has \d+ blocks/,
    ],
    [
      'coverage from nowhere',
      ({ coverage }) => ({ coverage: [{ ...coverage[0]!, seen: 99_999 }] }),
      /names a run that it does not have/,
    ],
    [
      'coverage without a run',
      ({ blocks }) => ({ blocks: [], notRun: [{ blocks: blocks.map(({ block }) => block), why: 'ended' }] }),
      /names a run that it does not have/,
    ],
    ['a prototype', () => ({ coverage: JSON.parse('[{"__proto__":{}}]') }), /coverage\.0/],
  ])('rejects %s', async (_, change, sentence) => {
    const [{ report }] = (await shards(2)) as [NamedReport]
    expect(() => shardReportFrom(JSON.stringify({ ...report, ...change(report) }), 'a.json')).toThrow(sentence)
  })
})
