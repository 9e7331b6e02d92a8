import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

// Checks that completion after `sandbox.queue.` offers exactly the members on the page, by the types that users
// have.

const root = new URL('../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/sandbox.md'), 'utf8')

/** Returns the names that a section of the page lists: `queue.cancel(id)` → `cancel`. */
function listed(part: string, where: 'in process' | 'remote'): string[] {
  const rows = page.split('\n').filter((line) => line.startsWith(`| \`${part}.`))
  return rows
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .filter(([, , isRemote]) => where === 'in process' || isRemote === '✓')
    .flatMap(([, names]) => [...names!.matchAll(/`\w+\.(\w+)/g)].map(([, name]) => name!))
    .sort()
}

const probe = join(root, 'test/house/completed.ts')
const text = `
import { createSandbox } from '../../src/index.js'
import { connect } from '../../src/client/connect.js'
const sandbox = createSandbox()
const remote = await connect('http://localhost:4010')
sandbox./*in process sandbox*/; remote./*remote sandbox*/;
sandbox.queue./*in process queue*/; remote.queue./*remote queue*/;
sandbox.store./*in process store*/; remote.store./*remote store*/;
sandbox.clock./*in process clock*/; remote.clock./*remote clock*/;
sandbox.workflow./*in process workflow*/; remote.workflow./*remote workflow*/;
`

function completions(): ReadonlyMap<string, readonly string[]> {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: [] }, root)
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getScriptFileNames: () => [probe],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const found = path === probe ? text : ts.sys.readFile(path)
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found)
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (path) => path === probe || ts.sys.fileExists(path),
  })
  const found = new Map<string, readonly string[]>()
  for (const { index, 1: place } of text.matchAll(/\/\*(.*?)\*\//g)) {
    const entries = service.getCompletionsAtPosition(probe, index, {})?.entries ?? []
    // The published declarations contain no internal members.
    const isInternal = (name: string): boolean =>
      service
        .getCompletionEntryDetails(probe, index, name, undefined, undefined, undefined, undefined)
        ?.tags?.some((tag) => tag.name === 'internal') === true
    found.set(
      place!,
      entries
        .map(({ name }) => name)
        .filter((name) => !isInternal(name))
        .sort(),
    )
  }
  return found
}

describe('completion', () => {
  const shown = completions()
  for (const part of ['sandbox', 'queue', 'store', 'clock', 'workflow']) {
    for (const where of ['in process', 'remote'] as const) {
      test(`of ${part}, ${where}, is what docs/sandbox.md lists`, () => {
        const names = listed(part, where)
        expect(names.length).toBeGreaterThan(part === 'workflow' ? 2 : 5)
        expect(shown.get(`${where} ${part}`)).toEqual(names)
      })
    }
  }
})
