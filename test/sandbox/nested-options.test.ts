import { createSandbox, type SandboxOptions } from 'stuntdouble'
import { expect, test } from 'vitest'
import { mergedOptions } from '../../src/sandbox/sandbox-options.js'

test('a nested option keeps the other defaults, and the given object does not change', () => {
  const options: SandboxOptions = {
    urls: { queue: 'https://messages.test' },
    tokens: { queue: 'mine' },
    signingKeys: { next: 'sig_next' },
  }
  const before = structuredClone(options)
  using sandbox = createSandbox(options)
  using plain = createSandbox()
  expect(sandbox.tokens).toEqual({ ...plain.tokens, queue: 'mine' })
  expect(sandbox.urls).toMatchObject({ store: plain.urls.store, queue: 'https://messages.test' })
  expect(sandbox.queue.signingKeys.pair()).toEqual({ ...plain.queue.signingKeys.pair(), next: 'sig_next' })
  expect(options).toEqual(before)
})

test('nested options are merged one level deep, and neither argument changes', () => {
  const one: SandboxOptions = { seed: 1, tokens: { store: 's', queue: 'q' }, urls: { base: 'https://a.test' } }
  const other: SandboxOptions = { seed: 2, tokens: { queue: 'own' }, policy: { retries: 1 } }
  const [first, second] = [structuredClone(one), structuredClone(other)]
  expect(mergedOptions(one, other)).toEqual({
    seed: 2,
    tokens: { store: 's', queue: 'own' },
    urls: { base: 'https://a.test' },
    policy: { retries: 1 },
  })
  expect([one, other]).toEqual([first, second])
})

test.each<[object, string]>([
  [{ tokens: { quue: 'x' } }, 'tokens has no option "quue". Did you mean "queue"?'],
  [{ urls: { stor: 'https://a.test' } }, 'urls has no option "stor". Did you mean "store"?'],
  [{ signingKeys: { curent: 'sig_1' } }, 'signingKeys has no option "curent". Did you mean "current"?'],
  [{ tokens: 'mine' }, 'tokens must be an object with store, storeReadonly, queue'],
])('an unknown name in a nested option is reported with the nearest one: %j', (options, sentence) => {
  expect(() => createSandbox(options as never)).toThrow(sentence)
})
