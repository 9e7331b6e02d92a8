// Cost of a request through an adapter, over a constant response.

import { http } from 'msw'
import { setupServer } from 'msw/node'
import { createSandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import type { Figure, Variant } from '../harness.ts'

const answer = '{"result":"hello"}'
const json = { headers: { 'content-type': 'application/json' } }

/** Sends the same command repeatedly and reads each response, as a client does. */
function client(
  name: string,
  send: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
  init: RequestInit,
  expected: string = answer,
): Variant {
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) {
        const text = await (await send(url, init)).text()
        if (text !== expected) throw new Error(`${name} answered ${text}`)
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
  return { sandbox, init, url: `${sandbox.urls.store}/` }
}

/**
 * Clears the log regularly. Without that it would grow during the whole measurement, although no test sends a million
 * requests.
 */
function forgetting(variant: Variant, sandbox: ReturnType<typeof createSandbox>, after = 1000): Variant {
  return {
    name: variant.name,
    async run(times) {
      for (let left = times; left > 0; left -= after) {
        await variant.run(Math.min(left, after))
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

function fetchOverMsw(): Figure {
  const { sandbox, init, url } = prepared()
  const server = setupServer(...mswHandlers(sandbox))
  server.listen({ onUnhandledFrame: 'error' })
  // msw intercepts below fetch; the replacement of fetch is above it.
  const hostFetch = globalThis.fetch
  const restore = replaceFetch(sandbox)
  const throughMsw = client('stuntdouble/msw', (input, given) => hostFetch(input, given), url, init)
  const throughFetch = client('stuntdouble/fetch', (input, given) => fetch(input, given), url, init)
  return {
    name: 'store GET through stuntdouble/fetch over stuntdouble/msw',
    baseline: forgetting(throughMsw, sandbox),
    variants: [forgetting(throughFetch, sandbox)],
    atMost: { 'stuntdouble/fetch': 1 / 20 },
    dispose() {
      restore()
      server.close()
    },
  }
}

function pipeline(): Figure {
  const { sandbox, init, url } = prepared()
  const many: RequestInit = { ...init, body: JSON.stringify(Array.from({ length: 100 }, () => ['GET', 'greeting'])) }
  const expected = JSON.stringify(Array.from({ length: 100 }, () => ({ result: 'hello' })))
  const single = client('single', sandbox.fetch, url, init)
  return {
    name: 'a pipeline of 100 GETs over a single GET',
    baseline: forgetting(single, sandbox),
    variants: [forgetting(client('pipeline', sandbox.fetch, `${url}pipeline`, many, expected), sandbox, 10)],
    atMost: { pipeline: 8 },
  }
}

export const figures = [getThroughFetch, getThroughMsw, fetchOverMsw, pipeline]
