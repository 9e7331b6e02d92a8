import { createSandbox as create, type Sandbox, type SandboxOptions } from '../../../src/index.ts'
import type { PlayedTest } from './messages.ts'
import { rowsOf, withoutTimeline } from './rows.ts'

// `test` of the playground. Each test gets its own sandbox, as with stuntdouble/vitest.

type Body = (fixtures: { sandbox: Sandbox }) => unknown

const start = '2030-01-01T09:00:00Z'

let registered: { readonly name: string; readonly body: Body; readonly options: SandboxOptions }[] = []
let options: SandboxOptions = {}
/** Sandboxes that the code has created with `createSandbox()`. */
let sandboxes: Sandbox[] = []

function register(name: string, body: Body): void {
  registered.push({ name, body, options })
}

export const test: typeof register & { override(name: 'sandboxOptions', value: SandboxOptions): typeof test } =
  Object.assign(register, {
    override(_name: 'sandboxOptions', value: SandboxOptions) {
      options = value
      return test
    },
  })
export const it: typeof test = test

/** Groups tests. The playground shows them in one list. */
export function describe(_name: string, group: () => void): void {
  group()
}

/** Creates a sandbox. If the code has no test, the page shows the timelines of these sandboxes. */
export function createSandbox(given: SandboxOptions = {}): Sandbox {
  const sandbox = create({ seed: 1, startAt: start, ...given })
  sandboxes.push(sandbox)
  return sandbox
}

/** Removes the tests and sandboxes of an earlier run. */
export function forget(): void {
  registered = []
  options = {}
  sandboxes = []
}

/** Runs the tests that the code has registered. */
export async function playTests(): Promise<readonly PlayedTest[]> {
  const played: PlayedTest[] = []
  for (const { name, body, options: own } of registered) {
    const sandbox = create({ seed: 1, startAt: start, ...own })
    played.push(await playOne(name, sandbox, () => body({ sandbox })))
  }
  if (played.length > 0) return played
  return sandboxes.map((sandbox, nth) => ({ name: `sandbox ${nth + 1}`, passed: true, rows: rowsOf(sandbox) }))
}

async function playOne(name: string, sandbox: Sandbox, run: () => unknown): Promise<PlayedTest> {
  const endFetch = interceptFetch(sandbox)
  try {
    await run()
    return { name, passed: true, rows: rowsOf(sandbox) }
  } catch (error) {
    return { name, passed: false, failure: withoutTimeline(textOf(error)), rows: rowsOf(sandbox) }
  } finally {
    endFetch()
  }
}

/** Intercepts `fetch` like the fixture: requests to the URLs of the sandbox reach it. Other requests fail, without a network. */
function interceptFetch(sandbox: Sandbox): () => void {
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
