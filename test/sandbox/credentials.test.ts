import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { devUsers } from '../../src/queue/signing/public-users.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'
import { storeInternals } from '../../src/store/store-internals.js'
import { runs } from '../support/effort.js'

const secret = 'a secret of the server, 32 bytes'

const everything = ({ tokens, queue, store }: Sandbox): readonly string[] => [
  tokens.store,
  tokens.storeReadonly,
  tokens.queue,
  tokens.queueReadonly,
  tokens.mgmtKey,
  queue.signingKeys.current,
  queue.signingKeys.next,
  String(store.run('ACL', 'GENTOKEN', 'alice')),
  String(store.run('ACL', 'GENPASS')),
  ...Object.values(store.resetPassword()),
  queue.signingKeys.rotate().next,
]

const made = (options: SandboxOptions): readonly string[] => {
  using sandbox = createSandbox(options)
  return everything(sandbox)
}

/** Public tokens and keys of the package, which any user can read. */
const known = new Set([
  ...made({}),
  ...made({ name: 'w1' }),
  ...devUsers.flatMap(({ token, current, next }) => [token, current, next]),
])

describe('a sandbox with a secret', () => {
  test('never has a token or key that can be obtained without the secret', () => {
    for (const name of [undefined, 'w1']) {
      const credentials = made({ secret, name })
      expect(credentials.filter((one) => known.has(one))).toEqual([])
      expect(new Set(credentials).size).toBe(credentials.length)
    }
  })

  test('has the same tokens and keys for the same secret and name, and others for others', () => {
    const text = fc.string({ minLength: 16, maxLength: 40 })
    const name = fc.stringMatching(/^[a-z0-9]{1,6}$/)
    fc.assert(
      fc.property(text, text, name, name, (secret, otherSecret, name, otherName) => {
        const own = made({ secret, name })
        expect(made({ secret, name, seed: 'another' })).toEqual(own)
        fc.pre(secret !== otherSecret && name !== otherName)
        const others = [...made({ secret: otherSecret, name }), ...made({ secret, name: otherName })]
        expect(own.filter((one) => others.includes(one))).toEqual([])
      }),
      { numRuns: runs(20, 20, 200) },
    )
  })

  test('has the tokens that HMAC-SHA256 gives in a reference implementation', () => {
    using sandbox = createSandbox({ secret, name: 'w1' })
    const proof = (what: string): string =>
      createHmac('sha256', secret).update(`stuntdouble\0${what}\0w1`).digest('base64url')
    const { tokens } = sandbox
    expect(tokens.store).toBe(proof('storeToken'))
    expect(tokens.storeReadonly).toBe(proof('readonlyToken'))
    expect(tokens.mgmtKey).toBe(proof('mgmtKey'))
    // The token as the workflow SDK parses it.
    expect(JSON.parse(atob(tokens.queue))).toEqual({ UserID: 'w1', Password: proof('queueToken') })
    expect(JSON.parse(atob(tokens.queueReadonly))).toEqual({ UserID: 'w1', Password: proof('queueReadonlyToken') })
    expect(sandbox.queue.signingKeys.pair()).toEqual({
      current: expect.stringMatching(/^sig_[1-9A-HJ-NP-Za-km-z]{28}$/),
      next: expect.stringMatching(/^sig_[1-9A-HJ-NP-Za-km-z]{28}$/),
    })
  })

  test('has a user that the workflow SDK accepts, also without a name', () => {
    using sandbox = createSandbox({ secret })
    expect(JSON.parse(atob(sandbox.tokens.queue))).toMatchObject({ UserID: 'defaultUser' })
  })

  test('has the initial tokens again after a reset', () => {
    using sandbox = createSandbox({ secret })
    const before = everything(sandbox)
    sandbox.reset()
    expect(everything(sandbox)).toEqual(before)
  })

  test('uses explicit tokens and keys', () => {
    using sandbox = createSandbox({
      secret,
      tokens: { store: 's', queue: 'q', mgmtKey: 'm' },
      signingKeys: { current: 'sig' },
    })
    expect(sandbox.tokens).toMatchObject({ store: 's', queue: 'q', mgmtKey: 'm' })
    expect(sandbox.queue.signingKeys.current).toBe('sig')
  })

  test.each(['', 'short', 'fifteen letters', 42 as unknown as string])('throws for %j as a secret', (wrong) => {
    expect(() => createSandbox({ secret: wrong })).toThrow('must have at least 16 characters')
  })
})

describe('a dump', () => {
  const withUser = (options: SandboxOptions): { sandbox: Sandbox; token: string } => {
    const sandbox = createSandbox(options)
    const token = String(sandbox.store.run('ACL', 'GENTOKEN', 'alice'))
    sandbox.store.run('ACL', 'SETUSER', 'alice', 'on', `>${token}`, '+@all', '~*')
    sandbox.store.run('SET', 'k', 'v')
    sandbox.store.resetPassword()
    sandbox.queue.signingKeys.rotate()
    return { sandbox, token }
  }
  const holder = ({ store }: Sandbox, token: string): string | undefined =>
    storeInternals.of(store).engine.access.userOf(token)?.name

  test.each<[string, SandboxOptions]>([
    ['without a secret', {}],
    ['with another secret', { secret: 'another secret, too' }],
    ['with another name', { secret, name: 'w2' }],
    ['with another token that was given', { secret, tokens: { store: 'given' } }],
  ])('of a sandbox %s contains everything except valid credentials', (_, options) => {
    const from = withUser(options)
    using to = createSandbox({ secret })
    const { tokens } = to
    const keys = to.queue.signingKeys.pair()
    to.load(from.sandbox.dump())
    expect(to.store.get('k')).toBe('v')
    expect(to.tokens).toEqual(tokens)
    expect(to.queue.signingKeys.pair()).toEqual(keys)
    expect(to.queue.signingKeys.former).toEqual([])
    expect(holder(to, from.token)).toBeUndefined()
    expect(to.store.run('ACL', 'LIST')).toContainEqual(expect.stringMatching(/^user alice on ~\* .*\+@all$/))
    for (const token of Object.values(from.sandbox.tokens)) expect(holder(to, token)).toBeUndefined()
    // A new token can be created.
    const token = String(to.store.run('ACL', 'GENTOKEN', 'alice'))
    to.store.run('ACL', 'SETUSER', 'alice', `>${token}`)
    expect(holder(to, token)).toBe('alice')
  })

  test.each<[string, SandboxOptions]>([
    ['without a secret', {}],
    ['with one', { secret }],
  ])('of a sandbox of the same kind contains changed tokens and keys: %s', (_, options) => {
    const { sandbox, token } = withUser(options)
    using to = createSandbox(options)
    to.load(sandbox.dump())
    expect(to.tokens).toEqual(sandbox.tokens)
    expect(to.queue.signingKeys.pair()).toEqual(sandbox.queue.signingKeys.pair())
    expect(holder(to, token)).toBe('alice')
    const later = [...Object.values(to.store.resetPassword()), to.queue.signingKeys.rotate().next]
    const before = [...Object.values(sandbox.tokens), ...Object.values(sandbox.queue.signingKeys.pair())]
    expect(later.filter((one) => before.includes(one))).toEqual([])
  })

  test('does not reveal the secret, and has no seal without one', () => {
    using sandbox = createSandbox({ secret })
    expect(JSON.stringify(sandbox.dump())).not.toContain(secret)
    using plain = createSandbox()
    expect(plain.dump()).not.toHaveProperty('seal')
  })
})
