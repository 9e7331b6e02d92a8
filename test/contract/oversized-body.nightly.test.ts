import { describe, expect, test } from 'vitest'
import { openSandbox, options } from './adapter.js'
import { msw } from './adapters/msw.js'
import { playwright } from './adapters/playwright.js'
import { nodeListener, serve } from './adapters/server.js'
import { Client, post } from './client.js'

// Bodies at the size limit of the service. The contract lowers the limit, so it does not send them.

const { policy: _, ...unlimited } = options
const limit = 10_485_760
/** Bytes of the arguments SET and large. */
const words = 100

describe.each([msw, nodeListener, serve, playwright])('$name', (adapter) => {
  test.skipIf(adapter.missing !== undefined)(
    'carries a body of almost 10 MB, and rejects one over the limit',
    async () => {
      const opened = await openSandbox(adapter, unlimited)
      try {
        const client = new Client(opened, adapter.visibility)
        const send = async (bytes: number) => (await client.store('/set/large', post('x'.repeat(bytes)))).status
        expect(await send(limit - words)).toBe(200)
        expect(await client.command('STRLEN', 'large')).toEqual({ result: limit - words })
        expect(await send(limit + 1)).toBe(413)
      } finally {
        await opened.close()
      }
    },
  )
})
