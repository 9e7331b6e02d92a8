// Cost of sharing one process for a campaign: two jobs of it over two programs with one job each, side by side.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Figure } from '../harness.ts'

const root = new URL('../..', import.meta.url).pathname

function jobs(): Figure {
  const place = mkdtempSync(join(tmpdir(), 'stuntdouble-bench-'))
  const program = (runs: number, ...words: string[]): Promise<unknown> =>
    promisify(execFile)(
      process.execPath,
      ['dist/cli.js', 'campaign', 'run', 'bench/campaign.ts', '--runs', String(runs), ...words],
      { cwd: root },
    )
  // Elapsed time, because other processes do the work and both variants keep two processors busy.
  let took = 0
  const timed = async (work: Promise<unknown>): Promise<void> => {
    const begun = performance.now()
    await work
    took = (performance.now() - begun) * 1000
  }
  const shard = (runs: number, nth: number): Promise<unknown> =>
    program(runs, '--jobs', '1', '--shard', `${nth}/2`, '--out', join(place, `${nth}.json`))
  return {
    name: 'a run of a campaign: two jobs over two processes of one job side by side',
    baseline: {
      name: 'two processes',
      run: (runs) => timed(Promise.all([shard(runs, 1), shard(runs, 2)])),
    },
    variants: [{ name: '--jobs 2', run: (runs) => timed(program(runs, '--jobs', '2')) }],
    rounds: 5,
    times: 6000,
    reading: () => took,
    // At least 0.85 of their throughput.
    atMost: { '--jobs 2': 1 / 0.85 },
    dispose: () => rmSync(place, { recursive: true }),
  }
}

export const figures = [jobs]
