import { join } from 'node:path'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { replaceFetch } from 'stuntdouble/fetch'
import { type StuntdoubleServer, startServer } from 'stuntdouble/server'
import ts from 'typescript'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { needsAnotherProgram, sceneBefore } from '../support/example-scenes.js'
import { scopeNames, scopeOf } from '../support/example-scope.js'
import { exportedNames, type PublicFunction, programOf, publicMembers, root } from '../support/public-api.js'

// Each name that is exported has a summary, each function and method that users can call also has an example in its
// JSDoc, and each example compiles and runs.

interface Example {
  readonly title: string
  readonly of: PublicFunction
  readonly code: string
  /** Names of the scope that it uses. */
  readonly names: readonly string[]
}

const published = programOf()
const { functions, fields } = publicMembers(published)

/** Lines of an example as statements of a function. */
function statements(example: string): string {
  return example
    .replace(/^import .*\n/gm, '')
    .replace(/^export default /gm, 'void ')
    .replace(/^export /gm, '')
    .replace(/^test\(/gm, 'await test(')
    .trim()
}

const examples: readonly Example[] = functions.flatMap((of) =>
  of.ownExamples.map((example, index) => {
    const code = statements(example)
    const declared = (name: string) => new RegExp(`\\b(?:const|let|using) (?:[[{][^=\\]}]*\\b)?${name}\\b`).test(code)
    const names = scopeNames.filter(
      (name) => !declared(name) && new RegExp(`(?<!(?<!\\.\\.)\\.|[\\w'"/])${name}\\b(?!['"]?:)`).test(code),
    )
    return { title: `${of.name}${index === 0 ? '' : ` (${index + 1})`}`, of, code, names }
  }),
)

/** One module with a function for each example. Declarations of an example may hide names of its scope. */
function moduleOf(all: readonly Example[]): string {
  const functions = all.map(({ of, code, names }, index) => {
    const scope = of.isRemote ? 'RemoteScope' : 'LocalScope'
    return `export async function example${index}({ ${names.join(', ')} }: ${scope}) {{\n${code}\n}}\n`
  })
  return `import type { Bytes } from 'stuntdouble'
import type { SandboxTestFixtures, SandboxWorkerFixtures } from 'stuntdouble/playwright'
import type { LocalScope, RemoteScope } from '../support/example-scope.js'
${functions.join('')}`
}

describe('the public API', () => {
  test('consists of functions with a summary', () => {
    expect(functions.length).toBeGreaterThan(300)
    expect(functions.filter(({ summary }) => summary === '').map(({ name, place }) => `${name} ${place}`)).toEqual([])
  })

  test('consists of types and constants with a summary', () => {
    const names = exportedNames(published)
    expect(names.length).toBeGreaterThan(300)
    expect(names.filter(({ summary }) => summary === '').map(({ name }) => name)).toEqual([])
  })

  test('consists of fields with a summary', () => {
    expect(fields.length).toBeGreaterThan(1000)
    expect(fields.filter(({ summary }) => summary === '').map(({ name, place }) => `${name} ${place}`)).toEqual([])
  })

  test('consists of functions with an example', () => {
    const without = functions.filter((one) => one.examples.length === 0)
    expect(without.map(({ name, place }) => `${name} ${place}`)).toEqual([])
  })

  test('has examples that compile; one with a wrong name does not', () => {
    const wrong: Example = { title: 'a wrong example', of: functions[0]!, code: 'sandbox.advnce()', names: ['sandbox'] }
    const all = [...examples, wrong]
    const file = join(root, 'test/house/compiled-examples.ts')
    const program = programOf({ [file]: moduleOf(all) })
    const source = program.getSourceFile(file)!
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    const found = problems.map(({ start = 0, messageText }) => {
      const before = source.text.slice(0, start).match(/^export async function example\d+/gm) ?? []
      return `${all[before.length - 1]?.title}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
    expect(found).toEqual([expect.stringContaining("a wrong example: Property 'advnce' does not exist")])
  })
})

function isRun({ of: { name, place } }: Example): boolean {
  return !needsAnotherProgram.has(name) && !needsAnotherProgram.has(place.split(':')[0]!)
}

const AsyncFunction = (async () => {}).constructor as new (...code: string[]) => (scope: object) => Promise<void>

function compiled({ code, names }: Example): (scope: object) => Promise<void> {
  const target = ts.ScriptTarget.ES2022
  const text = `async function f() {{\n${code}\n}}`
  const { outputText } = ts.transpileModule(text, { compilerOptions: { target, module: ts.ModuleKind.ESNext } })
  return new AsyncFunction('scope', `const { ${names.join(', ')} } = scope\n${outputText}\nawait f()`)
}

describe('the example of', () => {
  let server: StuntdoubleServer
  beforeAll(async () => {
    server = await startServer({ port: 0, databases: ['us'] })
  })
  afterAll(() => server.close())

  let local: Sandbox | undefined
  afterEach(() => {
    local?.dispose()
    local = undefined
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })

  test.each(examples.filter(isRun))('$title runs', async (example) => {
    const { of, code, names } = example
    const tenant = `t${examples.indexOf(example)}`
    vi.stubEnv('TEST_WORKER_INDEX', '0')
    local = of.isRemote ? server.tenant(tenant) : createSandbox({ onWarning: () => {} })
    const sandbox = of.isRemote ? await connect(server.origin, { tenant }) : local
    if (!of.isRemote) replaceFetch(local)
    for (const [name, value] of Object.entries(local.env)) vi.stubEnv(name, value)
    const scope = await scopeOf(names, sandbox, local)
    await sceneBefore[of.name]?.(local)
    await compiled({ ...example, code: code.replaceAll('http://localhost:4010', server.origin) })(scope)
  })
})
