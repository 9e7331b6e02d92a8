import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** Functions that one walk through the library called, after a warm-up by the same walk. */
export interface Walk {
  /** Calls by file of `src` and name of function. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly calls: number
}

const root = new URL('../..', import.meta.url).pathname
const run = promisify(execFile)

interface FunctionCoverage {
  readonly functionName: string
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
}

/**
 * Counts the calls of a walk, by V8's precise coverage of the whole library in one file, in a process of its own.
 * @param prepare statements before the walk; `lib` is the main entry
 * @param walk statements of the walk; it is walked three times before it is counted
 */
export async function walked(prepare: string, walk: string): Promise<Walk> {
  const place = await mkdtemp(join(tmpdir(), 'walk-'))
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ['src/index.ts'],
      bundle: true,
      write: false,
      platform: 'neutral',
      mainFields: ['module', 'main'],
      format: 'esm',
      target: 'esnext',
      logLevel: 'silent',
    })
    const code = outputFiles[0]!.text
    await writeFile(join(place, 'lib.mjs'), code)
    await writeFile(join(place, 'walk.mjs'), program(prepare, walk))
    const { stdout } = await run(process.execPath, [join(place, 'walk.mjs')], { maxBuffer: 1 << 28 })
    return counted(code, JSON.parse(stdout))
  } finally {
    await rm(place, { recursive: true })
  }
}

function program(prepare: string, walk: string): string {
  return `import { Session } from 'node:inspector/promises'
import * as lib from './lib.mjs'
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
${prepare}
const walk = async () => {
${walk}
}
for (let times = 0; times < 3; times++) await walk()
await session.post('Profiler.takePreciseCoverage')
await walk()
const { result } = await session.post('Profiler.takePreciseCoverage')
const { functions } = result.find(({ url }) => url.endsWith('/lib.mjs'))
process.stdout.write(JSON.stringify(functions))
process.exit()
`
}

/** The bundler writes the name of each file above what it takes from it; a linked node_modules is somewhere else. */
function counted(code: string, functions: readonly FunctionCoverage[]): Walk {
  const starts = [...code.matchAll(/^\/\/ ((?:src|\S*node_modules)\/\S+\.\w+)$/gm)].map((match) => ({
    at: match.index,
    file: match[1]!,
  }))
  const files = new Map<string, Map<string, number>>()
  let calls = 0
  for (const { functionName, ranges } of functions) {
    const { startOffset, count } = ranges[0]!
    const file = starts.findLast(({ at }) => at <= startOffset)?.file
    if (count === 0 || file === undefined || !file.startsWith('src/')) continue
    calls += count
    const names = files.get(file) ?? new Map<string, number>()
    // The bundler numbers a name that two files use.
    const name = functionName.replace(/(?<=[a-z])\d$/i, '') || '(anonymous)'
    names.set(name, (names.get(name) ?? 0) + count)
    files.set(file, names)
  }
  return { files, calls }
}
