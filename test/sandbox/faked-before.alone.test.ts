import { expect, test, vi } from 'vitest'

// Test runners may fake the timers before the package is loaded: Jest with `fakeTimers: { enableGlobally: true }`,
// Vitest in a setup file.

test('a loop of requests ends if immediates were faked before the package was loaded, and one of them has fired', async () => {
  vi.useFakeTimers()
  vi.resetModules()
  const { createSandbox } = await import('../../src/index.js')
  using sandbox = createSandbox({ onWarning() {} })
  const reads = async (times: number): Promise<number> => {
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    for (let left = times; left > 0; left--) await sandbox.fetch(`${sandbox.urls.store}/get/a`, { headers })
    return times
  }
  const first = reads(200)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await first).toBe(200)
  expect(await reads(1_000)).toBe(1_000)
  vi.useRealTimers()
  expect(await reads(200)).toBe(200)
})
