import { describe, expect, test } from 'vitest'
import '../../matchers/vitest.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { failureOf } from './failure.js'

const startAt = '2030-01-01T09:00:00Z'

/** Returns the hints of a failing assertion. */
function hintsOf(assertion: () => void): string[] {
  return [...failureOf(assertion).matchAll(/^Hint: (.*)$/gm)].map(([, hint]) => hint!)
}

/** Sends commands as the app does, each after the response to the one before it. */
async function send(sandbox: Sandbox, ...commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    await sandbox.fetch(sandbox.urls.store, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: JSON.stringify(command.split(' ')),
    })
  }
}

describe('not.toHaveKey()', () => {
  const gone = (sandbox: Sandbox) => hintsOf(() => expect(sandbox.store).not.toHaveKey('lock'))

  test('names when the key expires, and the call that lets it expire', async () => {
    using sandbox = createSandbox({ startAt })
    await send(sandbox, 'SET lock 1 PX 30')
    await sandbox.clock.advance('10ms')
    expect(gone(sandbox)).toEqual([
      "lock expires at 09:00:00.030 in virtual time. To let it expire, await sandbox.clock.advance('20ms') first.",
    ])
    // The advice is true.
    await sandbox.clock.advance('20ms')
    expect(sandbox.store).not.toHaveKey('lock')
  })

  test('says nothing about a key without a TTL, with a real clock, or of an outdated store', async () => {
    using sandbox = createSandbox({ startAt })
    await send(sandbox, 'SET lock 1 PX 30', 'PERSIST lock')
    expect(gone(sandbox)).toEqual([])
    using real = createSandbox({ clock: 'real' })
    await send(real, 'SET lock 1 EX 600')
    expect(gone(real)).toEqual([])
    using other = createSandbox({ startAt, onWarning: () => {} })
    await send(other, 'SET lock 1 PX 30')
    const { store } = other
    other.reset()
    expect(hintsOf(() => expect(store).not.toHaveKey('lock')).join()).not.toContain('expires')
  })

  test('says nothing when the key is expected', async () => {
    using sandbox = createSandbox({ startAt })
    await send(sandbox, 'SET lock 1 PX 30')
    expect(hintsOf(() => expect(sandbox.store).toHaveKey('lock', { value: '2' })).join()).not.toContain('expires')
  })
})

describe('a SET … NX that had no effect', () => {
  const absent = (sandbox: Sandbox) => hintsOf(() => expect(sandbox.store).toHaveKey('lock', { value: 'b' }))

  // Each TTL ends 30 s after the start, at 09:00:30.
  test.each<[string, ...commands: string[]]>([
    ['SET EX', 'SET lock a NX EX 30'],
    ['SET PX', 'set lock a px 30000'],
    ['SET EXAT', `SET lock a EXAT ${Date.parse(startAt) / 1000 + 30}`],
    ['SET PXAT', `SET lock a PXAT ${Date.parse(startAt) + 30_000}`],
    ['SETEX', 'SETEX lock 30 a'],
    ['PSETEX', 'PSETEX lock 30000 a'],
    ['EXPIRE', 'SET lock a', 'EXPIRE lock 30'],
    ['PEXPIRE', 'SET lock a EX 5', 'PEXPIRE lock 30000'],
    ['EXPIREAT', 'SET lock a', `EXPIREAT lock ${Date.parse(startAt) / 1000 + 30}`],
    ['PEXPIREAT', 'SET lock a', `PEXPIREAT lock ${Date.parse(startAt) + 30_000}`],
    ['GETEX', 'SET lock a', 'GETEX lock EX 30'],
    ['KEEPTTL', 'SET lock b EX 30', 'SET lock a KEEPTTL'],
  ])('names when the key expires: %s', async (_, ...commands) => {
    using sandbox = createSandbox({ startAt })
    await send(sandbox, ...commands)
    await sandbox.clock.advance('10s')
    await send(sandbox, 'SET lock b NX EX 30')
    const { seq } = sandbox.traffic.ofType('command').at(-1)!
    const first = sandbox.traffic.ofType('command')[0]!.seq
    expect(absent(sandbox)).toContain(
      `#${seq} SET lock b NX EX 30 had no effect, because the key already existed: #${first} created it at 09:00:00.000, and its TTL lasts until 09:00:30.000. If the command must take effect, let the key expire before it with sandbox.clock.advance('20s'), or delete the key.`,
    )
  })

  test('takes effect after the call that the hint names', async () => {
    using sandbox = createSandbox({ startAt })
    await send(sandbox, 'SET lock a NX PX 30', 'SET lock b NX PX 30')
    const [hint] = absent(sandbox)
    expect(hint).toContain("sandbox.clock.advance('30ms')")
    await sandbox.clock.advance('30ms')
    await send(sandbox, 'SET lock b NX PX 30')
    expect(sandbox.store).toHaveKey('lock', { value: 'b' })
  })

  test.each<[string, ...commands: string[]]>([
    ['no TTL', 'SET lock a'],
    ['a removed TTL', 'SET lock a EX 30', 'PERSIST lock'],
    ['a TTL that a later SET removed', 'SET lock a EX 30', 'SET lock a'],
    ['a new key without TTL', 'SET lock a EX 30', 'DEL lock', 'SET lock a'],
    ['a flushed store', 'SET lock a EX 30', 'FLUSHALL', 'SET lock a'],
    ['a value that looks like an option', 'SET lock EX', 'GET lock'],
    ['another key with a TTL', 'SET lock a', 'SET other a EX 30'],
    // The key has a TTL, but the log does not show which.
    ['a renamed key', 'SET other a EX 30', 'RENAME other lock'],
  ])('says nothing about a TTL with %s', async (_, ...commands) => {
    using sandbox = createSandbox({ startAt })
    await send(sandbox, ...commands)
    await send(sandbox, 'SET lock b NX EX 30')
    const hints = absent(sandbox).join('\n')
    expect(hints).toContain('SET lock b NX EX 30 had no effect')
    expect(hints).not.toMatch(/TTL lasts|clock\.advance/)
    expect(hints).toContain('delete the key before it.')
  })

  test('says nothing about a TTL from before a dump was loaded into the store', async () => {
    using other = createSandbox({ startAt })
    other.store.run('SET', 'lock', 'a')
    using sandbox = createSandbox({ startAt })
    await send(sandbox, 'SET lock a EX 30')
    sandbox.store.load(other.store.dump())
    await send(sandbox, 'SET lock b NX EX 30')
    expect(absent(sandbox).join()).toMatch(/had no effect, because the key already existed\. /)
  })
})
