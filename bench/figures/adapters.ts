// What a request costs on its way through an adapter, over an answer that is always the same.

import { http } from 'msw'
import { setupServer } from 'msw/node'
import { createSandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import type { Figure, Variant } from '../harness.ts'

const answer = '{"result":"hello"}'
const json = { headers: { 'content-type': 'application/json' } }

/** Sends the same command again and again and reads each answer, as a client does. */
function client(
  name: string,
  send: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
  init: RequestInit,
): Variant {
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) {
        const text = await (await send(url, init)).text()
        if (text !== answer) throw new Error(`${name} answered ${text}`)
      }
    },
  }
}

function prepared() {
  const sandbox = createSandbox()
  sandbox.store.run('SET', 'greeting', 'hello')
  const init: RequestInit = {
    method: 'POST',
    body: '["GET","greeting"]',
    headers: { authorization: `Bearer ${sandbox.tokens.store}`, 'content-type': 'application/json' },
  }
  return { sandbox, init, url: `${sandbox.addresses.store}/` }
}

/** The log would grow through the whole measurement: no test sends a million requests. */
function forgetting(variant: Variant, sandbox: ReturnType<typeof createSandbox>): Variant {
  return {
    name: variant.name,
    async run(times) {
      for (let left = times; left > 0; left -= 1000) {
        await variant.run(Math.min(left, 1000))
        sandbox.traffic.clear()
      }
    },
  }
}

function getThroughFetch(): Figure {
  const { sandbox, init, url } = prepared()
  const constant = async (input: string, given: RequestInit): Promise<Response> => {
    await new Request(input, given).text()
    return new Response(answer, json)
  }
  const restore = replaceFetch(sandbox)
  return {
    name: 'store GET through stuntdouble/fetch over a constant Request → Response function',
    baseline: client('constant', constant, url, init),
    variants: [
      forgetting(
        client('stuntdouble/fetch', (input, given) => fetch(input, given), url, init),
        sandbox,
      ),
    ],
    atMost: { 'stuntdouble/fetch': 1.5 },
    dispose: restore,
  }
}

function getThroughMsw(): Figure {
  const { sandbox, init, url } = prepared()
  const constant = http.post('https://constant.test/', async ({ request }) => {
    await request.text()
    return new Response(answer, json)
  })
  const server = setupServer(...mswHandlers(sandbox), constant)
  server.listen({ onUnhandledFrame: 'error' })
  const send = (input: string, given: RequestInit): Promise<Response> => fetch(input, given)
  return {
    name: 'store GET through stuntdouble/msw over a constant msw handler that reads the body',
    baseline: client('constant', send, 'https://constant.test/', init),
    variants: [forgetting(client('stuntdouble/msw', send, url, init), sandbox)],
    atMost: { 'stuntdouble/msw': 1.1 },
    rounds: 21,
    turn: 100,
    dispose: () => server.close(),
  }
}

export const figures = [getThroughFetch, getThroughMsw]
