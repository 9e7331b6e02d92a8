import type { Browser } from '@playwright/test'
import { afterAll, expect } from 'vitest'
import { openBrowser, openPage } from '../contract/ways.js'
import { findChromium } from '../support/chromium.js'
import { broken, faultContract, increment } from '../support/fault-contract.js'

// What a page of Chromium meets behind the route of stuntdouble/playwright.

let browser: Promise<Browser> | undefined
afterAll(async () => (await browser)?.close())

/** As fetch in Node words it: Chromium says as much, in words of its own. */
const words: Readonly<Record<string, string>> = {
  'TypeError: Failed to fetch': 'fetch failed',
  'TypeError: network error': 'terminated',
}

function reworded(error: unknown): TypeError {
  const { message } = error as Error
  return new TypeError(words[message] ?? message)
}

if (findChromium() !== undefined) {
  faultContract(
    'stuntdouble/playwright',
    async (ends) => {
      browser ??= openBrowser()
      const { sandbox, fetch, close } = await openPage({ warn: () => {} }, await browser)
      ends.push(close)
      return {
        sandbox,
        fetch: async (input, init) => {
          const answer = await fetch(input, init).catch((error) => Promise.reject(reworded(error)))
          const reader = answer.body?.getReader()
          const body = new ReadableStream<Uint8Array>({
            start: (controller) =>
              init?.signal?.addEventListener('abort', () => controller.error(new Error('aborted'))),
            async pull(controller) {
              try {
                const { done, value } = await reader!.read()
                if (done) controller.close()
                else controller.enqueue(value)
              } catch (error) {
                controller.error(reworded(error))
              }
            },
            cancel: () => reader?.cancel(),
          })
          const { status, headers } = answer
          return new Response(reader === undefined ? null : body, { status, headers })
        },
      }
    },
    {
      instead: {
        // The page follows a redirect to the body: when it has the head, time may have moved on.
        'half-open': { ...broken(''), end: 20_000 },
        'slow-body': { ...increment, end: 3000 },
        // A browser drops what its page has not read when a body breaks.
        truncate: { ...broken(''), part: expect.stringMatching(/^(\{"result)?$/) },
      },
      streams: 'lose their end',
      networkErrors: /^$/,
      headers: 'hidden',
    },
  )
}
