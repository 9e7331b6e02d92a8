import { expect, test } from 'vitest'
import { copyFormats } from '../../../src/report/copy/copy-forms.js'
import type { Trace } from '../../../src/report/trace.js'
import { hostile, randomHostile } from './hostile-texts.js'
import { playedByVitest } from './played.js'
import { captured, capturedWorlds, hostileWorld } from './worlds.js'

const form = (name: string) => copyFormats.find((one) => one.name === name)!

function copied(name: string, trace: Trace): string {
  const { entries } = trace
  return form(name).render({ entries, range: [entries[0]!.seq, entries.at(-1)!.seq] }, trace as never)
}

test('copied Vitest tests pass, and fail if the sandbox differs', async () => {
  const files: Record<string, string> = {}
  for (const world of capturedWorlds) files[world.name] = copied('vitest', await captured(world))
  const [retries] = capturedWorlds
  const same = files[retries!.name]!
  const differing = {
    'another answer': same.replace('503,', '404,'),
    'fewer retries': same.replace('retries: 3', 'retries: 1'),
    'no callback': same.replace(/callback: .*\n/, ''),
  }
  const trace = await captured(hostileWorld([...hostile, ...randomHostile(12)]))
  const { passed, failed, output, left } = await playedByVitest({
    ...files,
    ...differing,
    hostile: copied('vitest', trace),
  })
  expect([...passed].sort(), output).toEqual([...Object.keys(files), 'hostile'].sort())
  expect([...failed].sort()).toEqual(Object.keys(differing).sort())
  expect(left).toEqual([])
}, 300_000)
