// Runs the suite in each runtime, from the packed build: `node test/runtimes/run.ts`. `--write` writes the results into
// test/runtimes/results.json. Names of folders select some of the runtimes.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserEnvironment } from '../package/walk.ts'
import { findChromium } from '../support/chromium.ts'
import { traceDifference } from './compare-traces.ts'
import { installRuntime } from './install-runtime.ts'
import { type Result, type Results, readResults, resultsFile, versionsOf } from './results.ts'
import { type Runtime, runtimes } from './runtimes.ts'

/** A line that an adapter prints: see test/runtimes/adapters/register.mjs. */
type Line = { readonly passed: string } | { readonly skipped: string } | { readonly trace: string }

/** What one runtime printed. */
interface Ran {
  readonly result: Omit<Result, 'trace'>
  readonly trace: string | undefined
  readonly failed: number
  readonly output: string
}

const here = new URL('.', import.meta.url).pathname
const expected = 40

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const wanted = words.filter((word) => word !== '--write')
  const place = process.env.STUNTDOUBLE_RUNTIMES ?? mkdtempSync(join(tmpdir(), 'stuntdouble-runtimes-'))
  const results: Record<string, Result> = {}
  let reference: string | undefined
  let failures = 0
  let passes = 0
  try {
    for (const runtime of runtimes) {
      const isReference = runtime === runtimes[0]
      if (!isReference && wanted.length > 0 && !wanted.includes(runtime.folder)) continue
      const why = runtime.missing?.()
      const folder = why === undefined ? installRuntime(runtime.folder, place) : undefined
      if (folder === undefined) {
        console.log(`${runtime.name}: not run, because ${why ?? 'npm could not install its packages'}.`)
        continue
      }
      const ran = await runIn(runtime, folder, place)
      if (isReference) reference = ran.trace
      const difference = ran.trace === undefined ? 'there is none' : differenceFrom(reference, ran.trace)
      const failed = ran.failed + (difference === undefined ? 0 : 1)
      if (ran.failed > 0) console.log(ran.output.replace(/^[# ]*stuntdouble: .*$/gm, ''))
      const { passed, skipped } = ran.result
      console.log(`${runtime.name}: ${passed} passed, ${failed} failed, ${skipped.length} skipped`)
      if (difference !== undefined) console.log(`  The trace is not that of ${runtimes[0]!.name}: ${difference}`)
      results[runtime.name] = { ...ran.result, trace: difference === undefined ? 'equal' : 'different' }
      passes += passed
      failures += failed
    }
  } finally {
    if (process.env.STUNTDOUBLE_RUNTIMES === undefined) rmSync(place, { recursive: true, force: true })
  }
  if (words.includes('--write')) write(results)
  const report = process.env.STUNTDOUBLE_TIER_REPORT
  if (report !== undefined) writeFileSync(report, JSON.stringify({ passed: passes, failed: failures }))
  return failures === 0 ? 0 : 1
}

function differenceFrom(reference: string | undefined, trace: string): string | undefined {
  if (reference === undefined) return `${runtimes[0]!.name} did not run`
  return traceDifference(reference, trace)
}

/** Runs the suite in one runtime. */
async function runIn(runtime: Runtime, folder: string, place: string): Promise<Ran> {
  cpSync(join(here, 'suite'), join(folder, 'suite'), { recursive: true })
  cpSync(join(here, 'adapters/register.mjs'), join(folder, 'register.mjs'))
  cpSync(join(here, `adapters/${runtime.adapter}.test.mjs`), join(folder, 'suite.test.mjs'))
  writeFileSync(join(folder, 'lacks.mjs'), `export const lacks = ${JSON.stringify(runtime.lacks)}\n`)
  const chromium = runtime.missing === undefined ? undefined : findChromium()
  const env = {
    ...process.env,
    ...(chromium !== undefined && browserEnvironment(mkdtempSync(join(place, 'browser-')), folder, chromium)),
    ...runtime.env,
    NO_COLOR: '1',
    PATH: `${join(folder, 'node_modules/.bin')}:${process.env.PATH}`,
  }
  const script = [runtime.command.replace(/^npx /, ''), runtime.more ?? '', 'suite.test.mjs'].join(' ')
  const { code, output } = await run(script, folder, env)
  const lines = [...output.matchAll(/^[# ]*stuntdouble: (\{.*\})$/gm)].map(([, line]) => JSON.parse(line!) as Line)
  const passed = new Set(lines.flatMap((line) => ('passed' in line ? [line.passed] : []))).size
  const skipped = lines.flatMap((line) => ('skipped' in line ? [line.skipped] : []))
  const parts = lines.flatMap((line) => ('trace' in line ? [line.trace] : []))
  const trace = parts.length === 0 ? undefined : parts.join('')
  const failed = expected - passed - skipped.length
  if (trace !== undefined) writeFileSync(join(folder, 'trace.json'), trace)
  return {
    result: { versions: versionsOf(runtime), passed, skipped },
    trace,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    output,
  }
}

function run(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 600_000 })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => {
        output += part
      })
    }
    child.on('close', (code) => resolve({ code, output }))
  })
}

/** Replaces the results of the runtimes that ran. */
function write(ran: Results): void {
  const all = { ...readResults(), ...ran }
  const listed = runtimes.flatMap(({ name }) => (all[name] === undefined ? [] : [[name, all[name]] as const]))
  writeFileSync(resultsFile, `${JSON.stringify(Object.fromEntries(listed), null, 2)}\n`)
}
