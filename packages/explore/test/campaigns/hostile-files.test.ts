import { describe, expect, test } from 'vitest'
import { consoleText } from '../../../../src/report/safe-text.js'
import { merged } from '../../src/campaign/merge.js'
import { ShardError, type ShardReport, shardReportFrom } from '../../src/campaign/shard-report.js'
import { printedReport } from '../../src/workers/printed.js'

// Files of shards come from other jobs, which may run the code of a pull request.

const whole: ShardReport = {
  format: 'stuntdouble campaign',
  formatVersion: 1,
  version: '0.0.0',
  campaign: { file: 'campaign.ts', digest: 'a'.repeat(64) },
  seed: 1,
  runs: 10,
  blockLength: 1000,
  shard: { nth: 1, of: 1 },
  counted: { check: 'playScenario', size: 10 },
  blocks: [{ block: 0, failed: 0, skipped: 0 }],
  notRun: [],
  coverage: [],
  notes: [],
}

function report(change: Partial<ShardReport>): string {
  return printedReport(merged([{ name: 'a.json', report: read({ ...whole, ...change }) }]))
}

function read(given: unknown): ShardReport {
  return shardReportFrom(JSON.stringify(given), 'a.json')
}

const forgery = 'x\n::error file=a.ts::forged\r\n  ::stop-commands::x\u2028::x\n##[error]x ##vso[task.setvariable]x'
/** Commands of GitHub Actions, Azure Pipelines and TeamCity. */
const commands = /^\s*::|##\[|##vso\[|##teamcity\[/m

describe('report of a campaign', () => {
  test.each<[string, Partial<ShardReport>]>([
    ['a note', { notes: [forgery, `::error::${forgery}`, ` \u3000::error::x`] }],
    ['a reason', { blocks: [], notRun: [{ blocks: [0], why: forgery }] }],
    ['the name of the campaign', { campaign: { file: `::x::${forgery}`, digest: 'a'.repeat(64) } }],
    ['a failure', { blocks: [{ block: 0, failed: 1, skipped: 0, first: { run: 3, why: forgery } }] }],
    [
      'a state',
      { coverage: [{ state: forgery, point: forgery, seen: 1, moment: 0, could: [forgery, 'b'], struck: {} }] },
    ],
  ])('has no line that %s forges', (_, change) => {
    const text = report(change)
    expect(text).toContain('forged')
    expect(text).not.toMatch(commands)
    expect(text.split('\n').length).toBeLessThanOrEqual(1 + 4)
  })

  test('counts notes and reasons beyond the first hundred', () => {
    const text = report({ notes: Array.from({ length: 1_000 }, (_, nth) => `note ${nth}`) })
    expect(text.split('\n').filter((line) => line.startsWith('note '))).toHaveLength(100)
    expect(text).toMatch(/900 more notes/)
  })
})

describe('file of a shard', () => {
  test.each<[string, unknown]>([
    ['more notes than a shard writes', { ...whole, notes: Array.from({ length: 300_000 }, () => '') }],
    [
      'more faults than there are',
      {
        ...whole,
        coverage: [{ state: 's', point: 'p', seen: 1, moment: 0, could: Array(2_000).fill('x'), struck: {} }],
      },
    ],
    ['blocks beyond the last one', { ...whole, blocks: [{ block: 1, failed: 0, skipped: 0 }] }],
    ['none of the blocks that it counts', { ...whole, counted: { check: 'playScenario', size: 1e10 }, blocks: [] }],
    ['a size beyond all', { ...whole, counted: { check: 'playScenario', size: Number.MAX_SAFE_INTEGER } }],
  ])('is rejected with %s', (_, given) => {
    expect(() => read(given)).toThrow(ShardError)
  })
})

test('consoleText() keeps colons and numbers that are not commands of a CI', () => {
  for (const text of ['a::b', 'http://[::1]:80', ': x', '# [a]', '## title\n- a: ::b'])
    expect(consoleText(text)).toBe(text)
})
