import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { createSandbox, type Sandbox, type SandboxOptions } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'

/** Something that not every runtime has. A test that needs it is skipped there, with a reason. */
export type Need = 'environment' | 'sockets'

/** The `expect` of the runner, with the matchers of this package. */
export interface Expect {
  // biome-ignore lint/suspicious/noExplicitAny: the runners have different types, and the suite runs on all of them
  (received: unknown): any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  objectContaining(fields: Readonly<Record<string, unknown>>): any
}

/** What a test gets: a sandbox that takes the requests of `fetch`, and clients that use it. */
export interface Kit {
  readonly expect: Expect
  readonly sandbox: Sandbox
  readonly redis: Redis
  readonly client: Client
  readonly receiver: Receiver
}

/** One test of the suite, without a runner. */
export interface SuiteTest {
  readonly name: string
  readonly needs?: Need
  readonly options?: SandboxOptions
  readonly run: (kit: Kit) => Promise<void> | void
}

/** Runs one test with a sandbox of its own. */
export async function runSuiteTest({ options, run }: SuiteTest, expect: Expect): Promise<void> {
  const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z', onWarning: () => {}, ...options })
  replaceFetch(sandbox)
  const { urls, tokens, queue } = sandbox
  const { current, next } = queue.signingKeys.pair()
  // Created on demand, because the SDKs read the environment, which Deno permits only with --allow-env.
  const kit: Kit = {
    sandbox,
    expect,
    get redis() {
      return new Redis({ url: urls.store, token: tokens.store, enableTelemetry: false })
    },
    get client() {
      return new Client({ baseUrl: urls.queue, token: tokens.queue, enableTelemetry: false })
    },
    get receiver() {
      return new Receiver({ currentSigningKey: current, nextSigningKey: next })
    },
  }
  try {
    await run(kit)
  } finally {
    await sandbox.dispose()
  }
}

/** Returns the message of the error that a call throws. */
export async function messageOf(call: () => unknown): Promise<string> {
  try {
    await call()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The call must fail, and it did not.')
}
