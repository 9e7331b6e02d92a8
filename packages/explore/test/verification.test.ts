import { createServer, type Server } from 'node:http'
import { Receiver } from '@upstash/qstash'
import { verifySignatureAppRouter } from '@upstash/qstash/nextjs'
import { decodeJwt, jwtVerify } from 'jose'
import { createSandbox, type Sandbox, signatureFlaws } from 'stuntdouble'
import { assertVerifiesSignatures, type VerificationCase, type VerificationOptions } from 'stuntdouble/checks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const to = 'https://shop.test/api/orders'
const keys = { current: 'sig_currentcurrentcurrent', next: 'sig_nextnextnextnextnext' }
const upstash: VerificationOptions = { to, keys, sandbox: { dialect: 'upstash' } }
const receiver = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next })

type Handler = (request: Request, task: unknown, sandbox: Sandbox) => Promise<Response>
const signatureOf = (request: Request) =>
  request.headers.get('upstash-signature') ?? request.headers.get('service-signature') ?? ''

/** An app that verifies correctly with the vendor's SDK. */
const right: Handler = async (request) => {
  const body = await request.text()
  const isRight = await receiver.verify({ signature: signatureOf(request), body, url: request.url }).catch(() => false)
  return new Response(null, { status: isRight ? 200 : 401 })
}

const told = (
  app: Parameters<typeof assertVerifiesSignatures>[0],
  options: VerificationOptions = upstash,
): Promise<string> =>
  assertVerifiesSignatures(app, options).then(
    () => 'nothing',
    (error: Error) => `${error.name}: ${error.message}`,
  )
/** Returns the text above the timeline. */
const above = async (...of: Parameters<typeof told>) => (await told(...of)).split('\n\n')[0]!

/** Returns the hash of a body as claim `body` has it, computed without the SDK. */
async function hashOf(body: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  return Buffer.from(hash).toString('base64url')
}

/** Verifies by hand, except one thing. */
function sloppy(leavesOut: string): Handler {
  return async (request) => {
    const token = signatureOf(request)
    if (leavesOut === 'header' && token === '') return new Response()
    const refused = new Response(null, { status: 401 })
    const text = await request.text()
    try {
      let claims = decodeJwt(token)
      if (leavesOut !== 'signature') {
        const known = leavesOut === 'next' ? [keys.current] : [keys.current, keys.next]
        const skipTime = leavesOut === 'exp' || leavesOut === 'nbf'
        const verified = await Promise.allSettled(
          known.map((key) =>
            jwtVerify(token, new TextEncoder().encode(key), {
              ...(leavesOut !== 'iss' && { issuer: 'Upstash' }),
              ...(skipTime && { clockTolerance: Number.MAX_SAFE_INTEGER }),
            }),
          ),
        )
        const found = verified.find((one) => one.status === 'fulfilled')
        if (found === undefined) return refused
        claims = found.value.payload
      }
      const now = Date.now() / 1000
      if (leavesOut !== 'exp' && claims.exp! < now) return refused
      if (leavesOut !== 'nbf' && claims.nbf! > now) return refused
      if (leavesOut !== 'sub' && claims.sub !== request.url) return refused
      const body = leavesOut === 'raw' ? JSON.stringify(JSON.parse(text)) : text
      if (leavesOut !== 'body' && String(claims.body).replace(/=+$/, '') !== (await hashOf(body))) return refused
      return new Response()
    } catch {
      return refused
    }
  }
}

describe('assertVerifiesSignatures() passes for an app that verifies', () => {
  test('with the receiver of the SDK', async () => {
    expect(await told(right)).toBe('nothing')
  })

  test('by hand', async () => {
    expect(await told(sloppy('nothing'))).toBe('nothing')
  })

  test('in the neutral dialect', async () => {
    const neutral: Handler = async (request) => {
      const [isCurrent, isNext] = await Promise.all(
        [keys.current, keys.next].map((key) =>
          jwtVerify(request.headers.get('Service-Signature')!, new TextEncoder().encode(key), {
            issuer: 'Service',
            subject: request.url,
          })
            .then(
              async ({ payload }) =>
                String(payload.body).replace(/=+$/, '') === (await hashOf(await request.clone().text())),
            )
            .catch(() => false),
        ),
      )
      return new Response(null, { status: isCurrent || isNext ? 200 : 403 })
    }
    expect(await told(neutral, { to, keys })).toBe('nothing')
  })

  test('and reads its keys from the environment per request', async () => {
    const fromEnvironment: Handler = async (request) => {
      const { QSTASH_CURRENT_SIGNING_KEY: currentSigningKey, QSTASH_NEXT_SIGNING_KEY: nextSigningKey } = process.env
      const known = new Receiver({ currentSigningKey: currentSigningKey!, nextSigningKey: nextSigningKey! })
      await known.verify({ signature: signatureOf(request), body: await request.text(), url: request.url })
      return new Response()
    }
    expect(await told(fromEnvironment, { sandbox: { dialect: 'upstash' } })).toBe('nothing')
  })

  test('with assertions', async () => {
    const asserts: Handler = async (request) => {
      const body = await request.text()
      const isRight = await receiver
        .verify({ signature: signatureOf(request), body, url: request.url })
        .catch(() => false)
      expect(isRight).toBe(true)
      return new Response()
    }
    expect(await told(asserts)).toBe('nothing')
  })

  test('with its own bodies, JSON or not', async () => {
    for (const body of ['text', '{ "a" : [1, "x"] }', '', { a: [1, 'é"\\'] }, '"x"', 7])
      expect(await told(right, { ...upstash, body })).toBe('nothing')
  })

  test('with handlers by URL, each of them', async () => {
    const seen = new Set<string>()
    const route: Handler = (request, task, sandbox) => {
      seen.add(request.url)
      return right(request, task, sandbox)
    }
    const { to: _, ...rest } = upstash
    expect(await told({ 'https://a.test/1': route, 'https://a.test/2': route }, rest)).toBe('nothing')
    expect([...seen]).toEqual(['https://a.test/1', 'https://a.test/2'])
    expect(await above({ 'https://a.test/1': right, 'https://a.test/2': async () => new Response() }, rest)).toContain(
      'https://a.test/2 does not verify signatures',
    )
  })
})

describe('assertVerifiesSignatures() with the wrapper of the SDK', () => {
  const wrapped = (work: () => void = () => {}) =>
    verifySignatureAppRouter(
      () => {
        work()
        return new Response()
      },
      { currentSigningKey: keys.current, nextSigningKey: keys.next },
    ) as unknown as Handler

  test('fails only for a delivery to another URL, and explains that the wrapper never compares it', async () => {
    expect(await above(wrapped(), upstash)).toMatchInlineSnapshot(`
      "NotVerified: https://shop.test/api/orders did not respond as it should:
        ✗ url (claim "sub" contains another URL): accepted with 200
          → the claim \`sub\` is not compared with the app's own URL, so a delivery that was signed for another URL is accepted. The SDK's Receiver compares \`sub\` if verify() gets { url }. The SDK's wrappers, such as verifySignatureAppRouter, never compare it.
      The other 16 deliveries of this check were handled as they should be."
    `)
    expect(await told(wrapped(), { ...upstash, except: ['url'] })).toBe('nothing')
  })
})

describe('assertVerifiesSignatures() names the missing check', () => {
  type Finding = readonly [cases: readonly VerificationCase[], cause: string]
  const found: Readonly<Record<string, Finding>> = {
    header: [['unsigned'], 'the signature is only checked if there is one'],
    signature: [
      ['issuer', 'rotated-once', 'rotated-twice', 'key', 'tampered'],
      '✗ rotated-once, rotated-twice, key, tampered (signed with the key that was current before the last rotation): accepted with 200\n    → the signature itself is not verified',
    ],
    iss: [['issuer'], 'the claim `iss` is not compared'],
    exp: [['expired'], 'the claim `exp` is not compared with the time: an old delivery can be sent again'],
    nbf: [['not-yet-valid'], 'the claim `nbf` is not compared with the time'],
    sub: [['url'], "the claim `sub` is not compared with the app's own URL"],
    body: [['body', 'reserialized'], 'the claim `body` is not compared with the hash of the body'],
    raw: [
      ['indented', 'tabs', 'spaced', 'escaped', 'reserialized'],
      'the body is parsed and serialized again before it is verified. Verify the raw text: await request.text().',
    ],
    next: [['next'], 'only the current key is known: every delivery is rejected after the keys are rotated'],
  }
  test.each(Object.entries(found))('%s', async (leavesOut, [cases, cause]) => {
    const message = await told(sloppy(leavesOut))
    const only = cases.map((name) => `'${name}'`).join(', ')
    expect(message.split('\n').at(-1)).toBe(`Replay: assertVerifiesSignatures(app, { …, only: [${only}] })`)
    const lines = message.split('\n\n')[0]!.split('\n')
    expect(lines.length).toBeLessThanOrEqual(15)
    expect(lines[0]).toMatch(new RegExp(`^NotVerified: ${to} .*:$`))
    expect(message.split(cause)).toHaveLength(2)
    expect(lines.at(-1)).toMatch(new RegExp(`\\bother ${asked - cases.length} deliveries`))
    // The printed line reproduces this case alone.
    const again = await told(sloppy(leavesOut), { ...upstash, only: cases })
    expect(again.split('\n\n')[0]!.split('\n')).toEqual(lines.slice(0, -1))
  })

  test('nothing is verified at all', async () => {
    expect(await above(async () => new Response())).toMatchInlineSnapshot(`
      "NotVerified: https://shop.test/api/orders does not verify signatures: it accepted every delivery that was signed wrongly, and a delivery without any signature.
        → Anyone who knows the URL can call it. Verify each delivery before anything else, with the signing keys."
    `)
  })

  test('a key from before the last rotation', async () => {
    const old = 'sig_oldoldoldold'
    const hoards: Handler = async (request, task, sandbox) => {
      const forgotten = new Receiver({ currentSigningKey: old, nextSigningKey: 'sig_none' })
      const body = await request.clone().text()
      const isOld = await forgotten.verify({ signature: signatureOf(request), body }).catch(() => false)
      return isOld ? new Response() : right(request, task, sandbox)
    }
    expect(await told(hoards)).toBe('nothing')
    expect(await above(hoards, { ...upstash, keys: { ...keys, former: [old] } })).toMatch(
      /✗ rotated-once .*: accepted with 200\n {4}→ .*rotated key.*still accepted/,
    )
    expect(await above(hoards, { ...upstash, keys: { ...keys, former: ['sig_other', old] } })).toContain(
      '✗ rotated-twice (',
    )
  })

  test('an app that serializes JSON before it verifies, and so rejects compact JSON', async () => {
    const indents: Handler = async (request) => {
      const body = JSON.stringify(await request.json(), null, 2)
      await receiver.verify({ signature: signatureOf(request), body, url: request.url })
      return new Response()
    }
    expect(await above(indents)).toMatchInlineSnapshot(`
      "NotVerified: https://shop.test/api/orders did not respond as it should:
        ✗ current, next, tabs, spaced, escaped (signed with the current key): the handler threw SignatureError: body hash does not match, want: A3ySFO73TMOIfzpPCFtOF9digNr9JzsO4WDAnEuhz9Q=, got: eDz… (160 chars)
        ✗ reserialized (claim "body" is the hash of the same JSON with other white space): accepted with 200
          → the body is parsed and serialized again before it is verified. Verify the raw text: await request.text().
      The other 11 deliveries of this check were handled as they should be."
    `)
  })

  test('swapped keys, or only the next key', async () => {
    const next = new Receiver({ currentSigningKey: 'sig_stale', nextSigningKey: keys.next })
    const stale: Handler = async (request) => {
      await next.verify({ signature: signatureOf(request), body: await request.text(), url: request.url })
      return new Response()
    }
    expect(await above(stale)).toMatchInlineSnapshot(`
      "NotVerified: https://shop.test/api/orders did not respond as it should:
        ✗ current, indented, tabs, spaced, escaped (signed with the current key): the handler threw SignatureError: signature verification failed
          → the app does not know the current key.
      The other 12 deliveries of this check were handled as they should be."
    `)
  })
})

const asked = 6 + 1 + Object.keys(signatureFlaws).length

describe('assertVerifiesSignatures() suggests why an app accepts nothing', () => {
  test('because it knows other keys', async () => {
    expect(await above(right, { ...upstash, keys: { current: 'sig_a', next: 'sig_b' } })).toMatchInlineSnapshot(`
      "NotVerified: https://shop.test/api/orders does not accept a delivery that is correctly signed: rejected with 401.
        → Does the app know the keys? They are in QSTASH_CURRENT_SIGNING_KEY and QSTASH_NEXT_SIGNING_KEY during the check; if the app has read other keys before, pass those: { keys: { current, next } }.
        → Does the app compare the URL? Pass the URL that it expects: { to }.
        → Does the app verify the raw text of the body? Use await request.text(), not JSON that is serialized again.
        → Can the app handle the body {"id":1}? Pass a body that it can handle: { body }."
    `)
  })

  test('because it expects the dialect of a vendor', async () => {
    expect(await above(right, { to, keys, sandbox: { dialect: 'neutral' } })).toMatchInlineSnapshot(`
      "NotVerified: https://shop.test/api/orders does not accept a delivery that is correctly signed: rejected with 401.
        → The app expects the dialect of another vendor: leave the option dialect out, or set { sandbox: { dialect: 'auto' } }."
    `)
  })

  test('because it cannot handle the body', async () => {
    const picky: Handler = async (request, task, sandbox) => {
      const answer = await right(request.clone(), task, sandbox)
      if (answer.ok && !('order' in (await request.json()))) throw new TypeError('order is missing')
      return answer
    }
    expect(await above(picky)).toMatch(/threw TypeError: order is missing/)
    expect(await told(picky, { ...upstash, body: { order: 1 } })).toBe('nothing')
  })
})

describe('assertVerifiesSignatures() checks the effects of rejected deliveries', () => {
  const charge = ({ store, queue }: Sandbox): void => {
    store.run('INCR', 'charged:1')
    queue.publish({ to: 'https://mail.test/', body: 'paid' })
  }
  const chargesFirst: Handler = (request, task, sandbox) => {
    if (request.url === to) charge(sandbox)
    return right(request, task, sandbox)
  }
  const chargesLater: Handler = async (request, task, sandbox) => {
    const answer = await right(request, task, sandbox)
    if (answer.ok && request.url === to) charge(sandbox)
    return answer
  }

  test('fails for an app that rejects after the work', async () => {
    expect(await told(chargesLater)).toBe('nothing')
    expect(await above(chargesFirst)).toMatchInlineSnapshot(`
      "NotVerified: https://shop.test/api/orders did not respond as it should:
        ✗ unsigned, url, body, reserialized, expired, not-yet-valid, issuer, rotated-once, rotated-twice, key, tampered (without any signature): rejected with 401, but charged:1 was written, POST https://mail.test/ "paid" was sent
          → the delivery is rejected only after the work was done. Verify the signature first, or exclude other effects: ignoreKeys, ignoreOutbound.
      The other 6 deliveries of this check were handled as they should be."
    `)
  })

  test('passes if the effects are ignored', async () => {
    const counts: Handler = (request, task, sandbox) => {
      sandbox.store.run('INCR', 'requests')
      return chargesLater(request, task, sandbox)
    }
    expect(await above(counts)).toContain('but requests was written')
    expect(await told(counts, { ...upstash, ignoreKeys: ['requests'] })).toBe('nothing')
  })
})

describe('assertVerifiesSignatures() with an app in another process', () => {
  let server: Server
  let address = ''
  let leavesOut = 'nothing'
  const seen: string[] = []
  beforeAll(async () => {
    server = createServer(async (incoming, outgoing) => {
      seen.push(incoming.url!)
      if (incoming.url === '/moved') return void outgoing.writeHead(302, { location: '/api' }).end()
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const headers = incoming.headers as Record<string, string>
      const body = Buffer.concat(chunks)
      const request = new Request(`${address}${incoming.url}`, { method: 'POST', headers, body })
      const { status } = await sloppy(leavesOut)(request, undefined, createSandbox())
      outgoing.writeHead(status).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))
  const { to: _, ...rest } = upstash

  test('passes and fails', async () => {
    expect(await told(new URL(`${address}/api?x=1`), rest)).toBe('nothing')
    expect(seen).toContain('/api?x=1')
    leavesOut = 'header'
    expect(await above(`${address}/api`, rest)).toMatch(/✗ unsigned .*: accepted with 200/)
    leavesOut = 'nothing'
  })

  test('does not count a redirect as accepted', async () => {
    expect(await above(`${address}/moved`, rest)).toMatch(/not accept.*correctly signed: /)
  })

  test('delivers to other machines only if their hosts are listed', async () => {
    expect(await above('https://elsewhere.test/api', rest)).toContain(
      'Delivery to https://elsewhere.test/api was refused',
    )
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init)
      asked.push(request.url)
      return right(request, undefined, createSandbox())
    }
    const sandbox = { ...rest.sandbox, fetch }
    expect(await told('https://elsewhere.test/api', { ...rest, sandbox, hosts: ['elsewhere.test'] })).toBe('nothing')
    expect(new Set(asked)).toEqual(new Set(['https://elsewhere.test/api']))
  })
})

test('counts no response as rejected, and fails if nothing was delivered', async () => {
  expect(
    await above(() => new Promise(() => {}), {
      ...upstash,
      sandbox: { ...upstash.sandbox, policy: { handlerStallTimeout: 20 }, onWarning: () => {} },
      only: ['current'],
    }),
  ).toMatch(/not accept.*correctly signed: /)
  expect(await told(right, { ...upstash, drain: () => undefined })).toMatch(/nothing was delivered.*`drain`/)
})

test('assertVerifiesSignatures() throws a TypeError for invalid options', async () => {
  expect(await told(undefined as never)).toContain('TypeError: assertVerifiesSignatures(): handler is missing')
  expect(await told(right, { only: ['expird' as VerificationCase] })).toMatch(/`only`.*"expird".*"expired"/)
  expect(await told(right, { except: 'url' as never })).toMatch(/`except`.*list of current, next/)
  expect(await told(right, { only: [] })).toContain('`only` must be a list of')
  expect(await told(right, { keys: { current: 'x' } as never })).toContain('keys must be two texts')
  expect(await told(right, { to: 'orders' })).toMatch(/destination.*URL.*"orders"/)
  expect(await told({ 'https://shop.test/*': right })).toBe('nothing')
  expect(await told({ 'https://shop.test/*': right }, {})).toMatch(/destination.*URL.*"https:\/\/shop\.test\/\*"/)
})
