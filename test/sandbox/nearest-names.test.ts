import { createSandbox } from 'stuntdouble'
import { startServer } from 'stuntdouble/server'
import { expect, test } from 'vitest'
import { sandboxOf } from '../../fixtures/world.js'

// A name that is nearly one: what was probably meant is told, wherever options are given.

test.each<[string, () => unknown, string]>([
  [
    'a sandbox',
    () => createSandbox({ vocabluary: 'upstash' } as never),
    'no option "vocabluary". Did you mean "vocabulary"?',
  ],
  [
    'a policy',
    () => createSandbox({ policy: { deduplicationWindw: 1 } as never }),
    'no policy "deduplicationWindw". Did you mean "deduplicationWindow"?',
  ],
  [
    'a fixture',
    () => sandboxOf({ unhandledCall: 'error' } as never),
    'no option "unhandledCall". Did you mean "unhandledCalls"?',
  ],
  ['a fixture, of the sandbox', () => sandboxOf({ sede: 1 } as never), 'no option "sede". Did you mean "seed"?'],
  [
    'a message',
    () => createSandbox().queue.publish({ to: 'https://a.test', retires: 1 } as never),
    'no option "retires". Did you mean "retries"?',
  ],
  ['a region', () => createSandbox().queueIn('us-west-1' as never), 'Did you mean "us-east-1"?'],
])('%s', (_, misuse, sentence) => {
  expect(misuse).toThrow(sentence)
})

test.each([
  [{ prot: 1 }, 'A server has no option "prot". Did you mean "port"?'],
  [{ scenaro: {} }, 'Did you mean "scenario"?'],
  [{ cloc: 'real' }, 'Did you mean "clock"?'],
  [{ name: 'x' }, undefined],
])('a server: %j', async (options, sentence) => {
  const started = startServer({ port: 0, ...options } as never).then((server) => server.close())
  if (sentence === undefined) await started
  else await expect(started).rejects.toThrow(sentence)
})

test('what resembles nothing is told without a guess', () => {
  expect(() => createSandbox({ zzzzzzzzz: 1 } as never)).toThrow('no option "zzzzzzzzz". The options are ')
})
