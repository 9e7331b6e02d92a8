import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { programBundle } from '../../../test/support/bundle.js'
import { place } from './command-line.js'

test('started and stopped, a server leaves nothing open: its process ends by itself', async () => {
  const outfile = join(place, 'handles.mjs')
  await build({ ...programBundle, entryPoints: [new URL('./handles-child.ts', import.meta.url).pathname], outfile })
  // Whoever does not end by itself is killed, which is an error here.
  const { stdout } = await promisify(execFile)(process.execPath, [outfile, place], { timeout: 20_000 })
  const { before, left } = JSON.parse(stdout) as { before: string[]; left: string[] }
  const open = (list: string[]): string[] => list.filter((name) => /TCP|Timeout|FSReq|FSEvent|Pipe.*Server/.test(name))
  expect(open(left)).toEqual(open(before))
}, 30_000)
