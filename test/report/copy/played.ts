import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './loopback.js'

const root = new URL('../../..', import.meta.url).pathname

/** The runner's result for each file: whether it passed, and everything it printed. */
export interface Played {
  readonly passed: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
  readonly output: string
  /** Files that the tests created in the folder. */
  readonly left: readonly string[]
}

/** Runs copied tests with Vitest in a separate folder, whose `stuntdouble` is the source code. */
export async function playedByVitest(files: Readonly<Record<string, string>>): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'copied-tests-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    mkdirSync(join(folder, 'copied'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(
      join(folder, 'vitest.config.ts'),
      `import { alias } from ${JSON.stringify(join(root, 'vitest.config.ts'))}
export default { resolve: { alias }, server: { fs: { strict: false } }, test: { isolate: false, maxWorkers: 1, include: ['copied/*.test.ts'] } }`,
    )
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'copied', `${name}.test.ts`), text)
    const { stdout, stderr } = await run(
      join(root, 'node_modules/.bin/vitest'),
      ['run', '--root', folder, '--reporter=json', '--reporter=default', '--outputFile.json=report.json'],
      { cwd: folder },
    )
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as {
      testResults: { name: string; status: string }[]
    }
    const named = (status: string): Set<string> =>
      new Set(
        report.testResults
          .filter((result) => result.status === status)
          .map(({ name }) => name.replace(/.*\/(.*)\.test\.ts$/, '$1')),
      )
    const left = readdirSync(folder).filter(
      (name) =>
        !name.startsWith('.') &&
        !['node_modules', 'copied', 'package.json', 'vitest.config.ts', 'report.json'].includes(name),
    )
    return { passed: named('passed'), failed: named('failed'), output: stdout + stderr, left }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
