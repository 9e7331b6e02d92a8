import { createRequire } from 'node:module'
import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { methodsOfClient } from '../../support/sdk-methods.js'
import { startAt, table } from './method-table.js'

// The store replies to every method of the client that sends a command. The methods are read from the types of the package.

let sandbox: Sandbox
beforeEach(() => {
  sandbox = createSandbox({ startAt, onWarning: () => {} })
  replaceFetch(sandbox)
})
afterEach(() => sandbox.dispose())

test('the table has every method of the client, once', () => {
  const declared = methodsOfClient(createRequire(import.meta.url).resolve('@upstash/redis'))
  expect(declared.length).toBeGreaterThan(200)
  expect(table.map(({ method }) => method).sort()).toEqual(declared)
})

/** Splits a command into words, at spaces or, if it contains one, at `|`. */
const wordsOf = (line: string): [string, ...string[]] =>
  line.split(/^\w+\|/.test(line) ? '|' : ' ') as [string, ...string[]]

/** Runs the commands that fill the store. A line that begins with a name and `|` is one command with line breaks. */
async function fill(before: string): Promise<void> {
  const connection = sandbox.store.connect()
  const lines = /^\w+\|/.test(before) ? [before] : before.split('\n')
  for (const line of lines) if (line !== '') await connection.run(...wordsOf(line))
}

describe.each(['base64', false] as const)('with responseEncoding %s', (responseEncoding) => {
  test.each(table)('replies to $method()', async ({ before, call, reply, rejects, sendsNothing }) => {
    await fill(before)
    const { env, traffic } = sandbox
    const at = { url: env.UPSTASH_REDIS_REST_URL!, token: env.UPSTASH_REDIS_REST_TOKEN! }
    const redis = new Redis({ ...at, retry: false, responseEncoding, enableAutoPipelining: false })
    const asked = (async () => call(redis))()
    if (rejects === undefined) expect(await asked).toEqual(reply)
    else await expect(asked).rejects.toThrow(rejects)
    if (sendsNothing !== undefined) return
    const sent = traffic.ofType('request')
    expect(sent.length).toBeGreaterThan(0)
    for (const { response } of sent) expect(String(response?.body)).not.toContain('Command is not available')
  })
})
