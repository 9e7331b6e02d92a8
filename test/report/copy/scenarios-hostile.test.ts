import { expect, test } from 'vitest'
import { playScenario } from '../../../packages/explore/src/scenarios.js'
import { readScenarioFile } from '../../../packages/server/src/tenant-scenario/scenario-file.js'
import { copyFormats } from '../../../src/report/copy/copy-forms.js'
import type { CopySelection } from '../../../src/report/copy/selection.js'
import type { Trace } from '../../../src/report/trace.js'
import { hostile, randomHostile } from './hostile-texts.js'
import { captured, capturedWorlds, hostileWorld } from './worlds.js'

const { render: of } = copyFormats.find(({ name }) => name === 'scenario')!

function copied(trace: Trace, selection: Partial<CopySelection> = {}): string {
  const { entries } = trace
  const all: [number, number] = [entries[0]!.seq, entries.at(-1)!.seq]
  return of({ entries, ...(Object.keys(selection).length === 0 && { range: all }), ...selection }, trace as never)
}

async function verdict(text: string): Promise<string> {
  const { scenario } = readScenarioFile(text, 'copied.yaml')
  const play = await playScenario(scenario, { sandbox: { onWarning: () => {} } })
  // Without the checks that hold, because captured text may be long.
  const lines = play.verdict().split('\n')
  return play.holds
    ? 'holds'
    : lines
        .filter((line) => !line.startsWith('✓'))
        .slice(0, 100)
        .join('\n')
}

test.each(capturedWorlds)('$name: a copied scenario holds', async (world) => {
  expect(await verdict(copied(await captured(world)))).toBe('holds')
})

test('a copied scenario does not hold if the sandbox differs', async () => {
  const text = copied(await captured(capturedWorlds[0]!))
  expect(await verdict(text.replace(' 503,', ' 404,'))).toContain('✗ expect[0].delivered')
})

test('the copied scenario of each message holds', async () => {
  for (const world of capturedWorlds) {
    const trace = await captured(world)
    const messages = trace.entries.filter(
      ({ type, kind, deduplicated }) => type === 'published' && kind === 'message' && !deduplicated,
    )
    for (const { messageId } of messages)
      expect(await verdict(copied(trace, { message: String(messageId) }))).toBe('holds')
  }
})

test('any captured text stays data, and the copied scenario holds', async () => {
  const trace = await captured(hostileWorld([...hostile, ...randomHostile(60)]))
  expect(await verdict(copied(trace))).toBe('holds')
})
