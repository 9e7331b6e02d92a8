import { createSandbox as create, type Sandbox, type SandboxOptions } from '../../../src/index.ts'
import type { PlayedTest } from './messages.ts'
import { rowsOf, withoutTimeline } from './rows.ts'

// `test` of the playground: each test has a world of its own, as that of stuntdouble/vitest has.

type Body = (fixtures: { sandbox: Sandbox }) => unknown

const start = '2030-01-01T09:00:00Z'

let written: { readonly name: string; readonly body: Body; readonly options: SandboxOptions }[] = []
let options: SandboxOptions = {}
/** What the code made by itself. */
let worlds: Sandbox[] = []

function register(name: string, body: Body): void {
  written.push({ name, body, options })
}

export const test: typeof register & { override(name: 'sandboxOptions', value: SandboxOptions): typeof test } =
  Object.assign(register, {
    override(_name: 'sandboxOptions', value: SandboxOptions) {
      options = value
      return test
    },
  })
export const it: typeof test = test

/** Groups tests, which the playground shows one below the other. */
export function describe(_name: string, group: () => void): void {
  group()
}

/** `createSandbox()`, whose world the page shows when the code has no test. */
export function createSandbox(given: SandboxOptions = {}): Sandbox {
  const sandbox = create({ seed: 1, startAt: start, ...given })
  worlds.push(sandbox)
  return sandbox
}

/** Forgets what an earlier run has left. */
export function forget(): void {
  written = []
  options = {}
  worlds = []
}

/** Runs what the code has written down. */
export async function playTests(): Promise<readonly PlayedTest[]> {
  const played: PlayedTest[] = []
  for (const { name, body, options: own } of written) {
    const sandbox = create({ seed: 1, startAt: start, ...own })
    played.push(await playOne(name, sandbox, () => body({ sandbox })))
  }
  if (played.length > 0) return played
  return worlds.map((sandbox, nth) => ({ name: `sandbox ${nth + 1}`, passed: true, rows: rowsOf(sandbox) }))
}

async function playOne(name: string, sandbox: Sandbox, run: () => unknown): Promise<PlayedTest> {
  const endFetch = answerFetch(sandbox)
  try {
    await run()
    return { name, passed: true, rows: rowsOf(sandbox) }
  } catch (error) {
    return { name, passed: false, failure: withoutTimeline(textOf(error)), rows: rowsOf(sandbox) }
  } finally {
    endFetch()
  }
}

/** As the fixture does: the sandbox answers at its addresses, and the page has no network behind it. */
function answerFetch(sandbox: Sandbox): () => void {
  const before = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    return sandbox.owns(url) ? sandbox.fetch(input, init) : before(input, init)
  }
  return () => {
    globalThis.fetch = before
  }
}

export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`
}
