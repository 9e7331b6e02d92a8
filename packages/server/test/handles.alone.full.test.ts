import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { programBundle } from '../../../test/support/bundle.js'
import { place } from './command-line.js'

test('a stopped server leaves no open handle, so its process ends', async () => {
  const outfile = join(place, 'handles.mjs')
  await build({ ...programBundle, entryPoints: [new URL('./handles-child.ts', import.meta.url).pathname], outfile })
  // A process that does not end is killed, which fails this test.
  const { stdout } = await promisify(execFile)(process.execPath, [outfile, place], { timeout: 20_000 })
  const { before, left } = JSON.parse(stdout) as { before: string[]; left: string[] }
  const open = (list: string[]): string[] => list.filter((name) => /TCP|Timeout|FSReq|FSEvent|Pipe.*Server/.test(name))
  expect(open(left)).toEqual(open(before))
})
