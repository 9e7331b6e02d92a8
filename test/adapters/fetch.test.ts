import { createSandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const original = globalThis.fetch
const foreign: string[] = []
const stub: typeof fetch = async (input) => {
  foreign.push(String(input))
  return new Response('foreign')
}

beforeEach(() => {
  foreign.length = 0
  globalThis.fetch = stub
})
afterEach(() => {
  globalThis.fetch = original
})

const ping = async (sandbox: ReturnType<typeof createSandbox>): Promise<string> => {
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  return (await fetch(`${sandbox.urls.store}/ping`, { headers })).text()
}

test("intercepts the sandbox's URLs and no others", async () => {
  using sandbox = createSandbox()
  replaceFetch(sandbox)
  expect(await ping(sandbox)).toBe('{"result":"PONG"}')
  expect(await (await fetch('https://shop.test/a')).text()).toBe('foreign')
  expect(foreign).toEqual(['https://shop.test/a'])
})

test('restores the previous fetch when the sandbox is disposed', () => {
  const sandbox = createSandbox()
  replaceFetch(sandbox)
  expect(globalThis.fetch).not.toBe(stub)
  sandbox.dispose()
  expect(globalThis.fetch).toBe(stub)
})

test('restores the previous fetch at the end of its scope; restoring twice does nothing', () => {
  using sandbox = createSandbox()
  {
    using restore = replaceFetch(sandbox)
    expect(globalThis.fetch).not.toBe(stub)
    restore()
    restore()
  }
  expect(globalThis.fetch).toBe(stub)
})

describe('several replacements', () => {
  test.each([
    ['the newest first', [1, 0]],
    ['the oldest first', [0, 1]],
  ])('can end in any order: %s', async (_, order) => {
    const sandboxes = [createSandbox({ name: 'a' }), createSandbox({ name: 'b' })]
    const replacements = sandboxes.map((sandbox) => replaceFetch(sandbox))
    expect(await ping(sandboxes[0]!)).toBe('{"result":"PONG"}')
    expect(await ping(sandboxes[1]!)).toBe('{"result":"PONG"}')
    replacements[order[0]!]!()
    expect(await ping(sandboxes[order[0]!]!)).toBe('foreign')
    expect(await ping(sandboxes[order[1]!]!)).toBe('{"result":"PONG"}')
    replacements[order[1]!]!()
    expect(globalThis.fetch).toBe(stub)
  })

  test('of the same URLs: the latest one responds', async () => {
    using older = createSandbox()
    using newer = createSandbox()
    replaceFetch(older)
    replaceFetch(newer)
    await ping(newer)
    expect([older.traffic.size > 0, newer.traffic.size > 0]).toEqual([false, true])
  })
})

test('rejects requests to a real host of the vendor while a sandbox is active', async () => {
  using sandbox = createSandbox()
  const restore = replaceFetch(sandbox)
  for (const url of ['https://eu1-x.upstash.io/get/a', new URL('https://qstash-us-east-1.upstash.io/v2/keys')]) {
    await expect(fetch(url)).rejects.toThrow(/real host.*blocked.*Point the client/)
  }
  expect(foreign).toEqual([])
  await fetch('https://upstash.io.shop.test/')
  restore()
  await fetch('https://eu1-x.upstash.io/get/a')
  expect(foreign).toEqual(['https://upstash.io.shop.test/', 'https://eu1-x.upstash.io/get/a'])
})

test('keeps a wrapper that other code put around the replacement, which then only passes requests', async () => {
  const sandbox = createSandbox()
  replaceFetch(sandbox)
  const covered = globalThis.fetch
  const cover: typeof fetch = (input, init) => covered(input, init)
  globalThis.fetch = cover
  sandbox.dispose()
  expect(globalThis.fetch).toBe(cover)
  expect(await ping(sandbox)).toBe('foreign')
})

test('restores a host without fetch, whose requests then fail with an explanation', async () => {
  Reflect.deleteProperty(globalThis, 'fetch')
  using sandbox = createSandbox()
  const restore = replaceFetch(sandbox)
  expect(await ping(sandbox)).toBe('{"result":"PONG"}')
  await expect(fetch('https://shop.test/')).rejects.toThrow(/https:\/\/shop\.test\/ .*sandbox/)
  restore()
  expect('fetch' in globalThis).toBe(false)
})
