import { type Bytes, fromArray, fromBase64, text, toBase64Url, utf8 } from '../src/kernel/bytes.js'
import { hmacSha256, sha256Bytes } from '../src/kernel/digest.js'
import type { HeaderList } from '../src/kernel/http.js'
import { instant, iso } from '../src/kernel/instant.js'
import { checkOptionNames } from '../src/kernel/nearest-name.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import type { Entry, EntryOf, MessageKind } from '../src/kernel/traffic-log.js'
import type { Queue } from '../src/queue/direct-queue.js'
import { urlText } from '../src/report/describe.js'
import { compare, ValueDifference } from './compare-values.js'
import { headerMap } from './comparison-kinds.js'
import { isPlainObject, literal } from './literal.js'
import { messageKinds, ofMessages } from './message-lifecycle.js'
import { type ComparedField, type PatternTest, testOf } from './near-misses.js'
import {
  anyField,
  checkPattern,
  type FieldsOf,
  instantField,
  textField,
  urlField,
  wordField,
} from './pattern-fields.js'
import type { Or, Text } from './patterns.js'
import { evidenceOf, isEntry, type MatcherInput, roleOf } from './received.js'
import { otherSpelling } from './spellings.js'
import { callOf, type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** Signing keys of a receiver. */
export interface ReceiverKeys {
  /** Current signing key, `sig_…`. */
  readonly current: string
  /** Signing key that becomes the current one with the next rotation, `sig_…`. */
  readonly next: string
  /** Former signing keys, the most recent one first. */
  readonly former?: readonly string[]
}

/** Fields of a delivery with a valid signature. All fields in the pattern must match. */
export interface SignaturePattern {
  /** URL of the destination; `*` matches any characters. */
  readonly to?: Text
  /** ID of the delivered message, `msg_…`. */
  readonly messageId?: Text
  /** Kind of the message: `message`, `callback` or `failure-callback`. */
  readonly kind?: Or<MessageKind>
  /**
   * Key that signed the delivery: `current`, `next` or `former`, or the key itself. Default: the current or the next
   * key.
   */
  readonly key?: 'current' | 'next' | 'former' | (string & {})
  /** Keys of the receiver. Default: the keys of the sandbox or queue in `expect()`. */
  readonly keys?: ReceiverKeys
  /** Instant of the verification: ISO text, `Date` or milliseconds since the epoch. Default: time of the attempt. */
  readonly at?: string | number | Date
  /** Some claims of the token: `iss`, `sub`, `exp`, `nbf`, `iat`, `jti`, `body`. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/** A request whose signature is verified. It need not be in the log. */
interface Signed {
  readonly seq: number
  readonly at: number | undefined
  readonly url: string
  readonly body: Bytes
  readonly messageId?: string
  readonly kind?: MessageKind
  readonly headers: HeaderList
  readonly key?: string
}

const fields: FieldsOf<Pick<SignaturePattern, 'to' | 'messageId' | 'kind'>, Signed> = {
  to: urlField(({ url }) => url),
  messageId: textField(({ messageId }) => messageId),
  kind: wordField(messageKinds, ({ kind }) => kind),
}

const checked: FieldsOf<SignaturePattern, Signed> = {
  ...fields,
  key: textField(() => undefined),
  keys: anyField(() => undefined),
  at: instantField(() => undefined),
  claims: anyField(() => undefined),
}

/**
 * Searches deliveries whose signature a receiver would accept. Receivers verify the key, the hash of the body, the URL
 * and the times.
 */
export function signed(received: unknown, pattern: SignaturePattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveValidSignature'
  checkPattern(matcher, pattern, checked)
  if (isPlainObject(pattern.keys)) checkOptionNames(`keys of ${matcher}()`, pattern.keys, ['current', 'next', 'former'])
  const { evidence, things } = signedIn(matcher, received)
  const known = (pattern.keys as ReceiverKeys | undefined) ?? keysOf(received)
  const { to, messageId, kind } = pattern
  const named = Object.fromEntries(Object.entries({ to, messageId, kind }).filter(([name]) => name in pattern))
  const own = testOf(fields, named)
  const verify = (thing: Signed): ComparedField[] => verification(thing, pattern, known)
  const test: PatternTest<Signed> = {
    fits: (thing) => own.fits(thing) && verify(thing).every(({ differences }) => differences.length === 0),
    rough: own.rough,
    compare: (thing) => [...own.compare(thing), ...verify(thing)],
    work: () => 80,
  }
  return search({
    matcher,
    call: callOf(shownPattern(pattern), options),
    evidence,
    things,
    test,
    candidate: ({ seq, at, url, messageId: id }) => ({
      seq,
      at: at ?? 0,
      title: `${id === undefined ? 'request' : `attempt of ${evidence.name(id)}`}   to ${urlText(url, evidence.redaction)}`,
    }),
    times: timesOf(matcher, options),
    noun: ['signed delivery', 'deliveries'],
    hints: (nearest) => (known === undefined && nearest.length > 0 && !nearest[0]!.thing.key ? [keysHint] : []),
    shown: ofMessages,
  })
}

const keysHint =
  "No signing keys are known for this request. Write toHaveValidSignature({ keys: sandbox.queue.signingKeys }), or the key itself as { key: 'sig_…' }."

/** Hides the keys of a pattern, because keys are secrets. */
function shownPattern({ keys, ...pattern }: SignaturePattern): object {
  return keys === undefined ? pattern : { ...pattern, keys: '***' }
}

function keysOf(received: unknown): ReceiverKeys | undefined {
  const { signingKeys, queue } = received as Partial<Pick<Queue, 'signingKeys'>> & {
    readonly queue?: Partial<Pick<Queue, 'signingKeys'>>
  }
  const found = signingKeys ?? queue?.signingKeys
  return typeof found?.current === 'string' ? found : undefined
}

/** Returns the requests to verify: the deliveries of a log or of a recorder, or a single request. */
function signedIn(matcher: string, received: unknown): { evidence: MatcherInput; things: () => Iterable<Signed> } {
  if (roleOf(received) !== undefined && !isAttempts(received)) {
    const evidence = evidenceOf(matcher, received, 'queue')
    return { evidence, things: () => evidence.ofType('attempt').map(signedAttempt) }
  }
  const single = singleOf(received)
  if (single === undefined) throw new TypeError(cannotLook(matcher, received))
  const entries = single.filter(isEntry)
  const evidence = { ...evidenceOf(matcher, entries, 'queue'), role: roleOfSingle(received) }
  return { evidence, things: () => single.map(signedOf) }
}

function roleOfSingle(received: unknown): MatcherInput['role'] {
  return (
    Array.isArray((received as { requests?: unknown }).requests) ? 'recorder' : 'delivery'
  ) as MatcherInput['role']
}

function isAttempts(received: unknown): boolean {
  return Array.isArray((received as { requests?: unknown } | null)?.requests)
}

interface PlainRequest {
  readonly url: string
  readonly headers: unknown
  readonly body?: unknown
}

function singleOf(received: unknown): readonly (Entry | PlainRequest)[] | undefined {
  if (typeof received !== 'object' || received === null) return undefined
  const { requests, url, headers } = received as Record<string, unknown>
  if (Array.isArray(requests)) return requests
  if (typeof url !== 'string' || typeof headers !== 'object' || headers === null || isMessage(received))
    return undefined
  // A `Request` is rejected: its body can be read only once and only asynchronously.
  if (typeof (received as { arrayBuffer?: unknown }).arrayBuffer === 'function') return undefined
  return [received as PlainRequest]
}

/** Returns whether a value is a message that `queue.publish()` returned. Such a message contains no deliveries. */
function isMessage(received: unknown): boolean {
  const { id, settings } = (received ?? {}) as Record<string, unknown>
  return typeof id === 'string' && typeof settings === 'object'
}

function cannotLook(matcher: string, received: unknown): string {
  if (typeof (received as { arrayBuffer?: unknown } | null)?.arrayBuffer === 'function') {
    return `${matcher}(): the body of a Request cannot be read by a matcher. Write expect({ url: request.url, headers: request.headers, body: await request.text() }).${matcher}({ keys: sandbox.queue.signingKeys }), or expect(sandbox.queue).`
  }
  if (isMessage(received)) {
    return `${matcher}(): expect() must get a delivery (got a message). Write expect(sandbox.queue).${matcher}({ messageId: message.id }).`
  }
  return `${matcher}(): expect() must get the queue, a recorder, a delivery or { url, headers, body } (got ${literal(received)}). Write expect(sandbox.queue).${matcher}(…) or expect(recorder.last()).${matcher}().`
}

function signedOf(given: Entry | PlainRequest): Signed {
  if (!isEntry(given)) return signedRequest(given)
  if (given.type === 'attempt') return signedAttempt(given)
  const { seq, at, url, headers, body } = given as EntryOf<'request'>
  return { seq, at, url, headers, body }
}

function signedAttempt(entry: EntryOf<'attempt'>): Signed {
  const { seq, at, url, body, messageId, kind } = entry
  const { key } = entry as { key?: unknown }
  return {
    seq,
    at,
    url,
    body,
    messageId,
    kind,
    ...(typeof key === 'string' && { key }),
    // This must be a getter, because reading the headers of an attempt computes its signature.
    get headers() {
      return entry.headers
    },
  }
}

function signedRequest({ url, headers, body }: PlainRequest): Signed {
  const bytes = body instanceof Uint8Array ? fromArray(body) : utf8(typeof body === 'string' ? body : '')
  return { seq: 0, at: undefined, url, body: bytes, headers: headerList(headers) }
}

function headerList(headers: unknown): HeaderList {
  const listed =
    typeof (headers as Headers).entries === 'function'
      ? [...(headers as Headers).entries()]
      : Object.entries(headers as object)
  return (Array.isArray(headers) ? headers : listed) as HeaderList
}

/** Verifies a request as a receiver does. Returns one result per check, with the differences that the check found. */
function verification(thing: Signed, pattern: SignaturePattern, known: ReceiverKeys | undefined): ComparedField[] {
  const token = tokenOf(thing.headers)
  if (token === undefined) return [miss('signature', 'one', 'no header that ends in -Signature')]
  const [head = '', payload = '', signature = '', ...rest] = token.split('.')
  const claims = claimsOf(payload)
  if (claims === undefined || rest.length > 0 || algorithmOf(head) !== 'HS256') {
    return [miss('signature', 'a token signed with HS256', 'another text')]
  }
  const isBy = (key: string): boolean => toBase64Url(hmacSha256(utf8(key), `${head}.${payload}` as Bytes)) === signature
  const compared: ComparedField[] = [
    { name: 'signature', differences: keyDifferences(isBy, pattern.key, known, thing.key) },
    { name: 'body', differences: bodyDifferences(claims.body, thing.body) },
    { name: 'sub', differences: compare(claims.sub, thing.url) },
    ...timeChecks(claims, pattern.at === undefined ? thing.at : instant(pattern.at)),
  ]
  if (pattern.claims !== undefined) compared.push({ name: 'claims', differences: compare(claims, pattern.claims) })
  return compared
}

/**
 * Returns the names of the checks that a delivery's signature fails. The list is empty for a valid signature. Returns
 * `undefined` if no key is known.
 */
export function wrongWithSignature(evidence: MatcherInput, entry: EntryOf<'attempt'>): readonly string[] | undefined {
  const thing = signedAttempt(entry)
  const known = keysOf(evidence.received)
  if (thing.key === undefined && known === undefined) return undefined
  return verification(thing, {}, known).flatMap(({ name, differences }) => (differences.length > 0 ? [name] : []))
}

function miss(name: string, expected: string, received: string): ComparedField {
  return { name, differences: [new ValueDifference(undefined, undefined, '', { expected, received, distance: 1 })] }
}

function tokenOf(headers: HeaderList): string | undefined {
  for (const [name, value] of headerMap(headers)) if (name.endsWith('-signature')) return value
  return undefined
}

function claimsOf(payload: string): Readonly<Record<string, unknown>> | undefined {
  const decoded = fromBase64(payload)
  const claims = decoded === undefined ? undefined : parsedJson(text(decoded))
  return isPlainObject(claims) ? claims : undefined
}

function algorithmOf(head: string): unknown {
  return claimsOf(head)?.alg
}

function keyDifferences(
  isBy: (key: string) => boolean,
  wanted: SignaturePattern['key'],
  known: ReceiverKeys | undefined,
  ofAttempt: string | undefined,
): readonly ValueDifference[] {
  const signer = signerOf(isBy, known, wanted, ofAttempt)
  const isRight =
    wanted === undefined
      ? signer !== undefined && (!signer.startsWith('former') || isByAttempt(isBy, ofAttempt))
      : signer?.split(' ')[0] === placeOf(wanted)
  if (isRight) return []
  const wording = {
    expected:
      wanted === undefined ? 'the current or the next key' : isPlace(wanted) ? `the ${wanted} key` : 'the given key',
    received: signer === undefined ? 'an unknown key, or changed claims' : signerText(signer),
  }
  return [new ValueDifference(undefined, undefined, '', { ...wording, distance: 0.5 })]
}

function isByAttempt(isBy: (key: string) => boolean, key: string | undefined): boolean {
  return key !== undefined && isBy(key)
}

function isPlace(key: string): boolean {
  return key === 'current' || key === 'next' || key === 'former'
}

function placeOf(key: string): string {
  return isPlace(key) ? key : 'given'
}

/**
 * Returns the role of the key that signed the request: `current`, `next`, `former 1` or `given`. Returns `undefined`
 * for an unknown key.
 */
function signerOf(
  isBy: (key: string) => boolean,
  known: ReceiverKeys | undefined,
  wanted: SignaturePattern['key'],
  ofAttempt: string | undefined,
): string | undefined {
  if (wanted !== undefined && !isPlace(wanted) && isBy(wanted)) return 'given'
  if (known !== undefined) {
    if (isBy(known.current)) return 'current'
    if (isBy(known.next)) return 'next'
    const rotations = known.former?.findIndex(isBy) ?? -1
    if (rotations !== -1) return `former ${rotations + 1}`
  }
  if (ofAttempt === undefined || !isBy(ofAttempt)) return undefined
  // Only the attempt contains this key. It was the current key when the attempt started.
  return known === undefined ? 'current' : 'former'
}

function signerText(signer: string): string {
  const [place, rotations] = signer.split(' ')
  if (place !== 'former') return place === 'given' ? 'the given key' : `the ${place} key`
  return rotations === undefined || rotations === '1'
    ? 'the key that was current before the last rotation'
    : `the key that was current before the last ${rotations} rotations`
}

function bodyDifferences(claim: unknown, body: Bytes): readonly ValueDifference[] {
  const wanted = bodyHash(body)
  if (typeof claim === 'string' && unpadded(claim) === wanted) return []
  const how = otherSpelling(body, (bytes) => bodyHash(bytes) === unpadded(String(claim)))
  const received =
    how !== undefined
      ? `the hash of the same JSON, written ${how}. Verify the raw body, not JSON that was parsed and serialized again`
      : claim === undefined
        ? 'no claim body'
        : `the hash of another body, ${literal(claim)}`
  return [
    new ValueDifference(undefined, undefined, '', {
      expected: `the hash of these ${body.length} bytes`,
      received,
      distance: how === undefined ? 0.6 : 0.2,
    }),
  ]
}

function bodyHash(body: Bytes): string {
  return toBase64Url(sha256Bytes(body))
}

function unpadded(hash: string): string {
  return hash.replace(/=+$/, '')
}

/** Returns the checks of the claims `exp` and `nbf`. Without a time of verification, the list is empty. */
function timeChecks(claims: Readonly<Record<string, unknown>>, at: number | undefined): ComparedField[] {
  if (at === undefined) return []
  const { exp, nbf } = claims
  const time = (seconds: unknown): string =>
    typeof seconds === 'number' ? literal(iso(seconds * 1000)) : literal(seconds)
  const checks: ComparedField[] = []
  const seconds = at / 1000
  const isExpired = typeof exp !== 'number' || exp <= seconds
  checks.push(
    isExpired ? miss('exp', `later than ${time(Math.floor(seconds))}`, time(exp)) : { name: 'exp', differences: [] },
  )
  const isEarly = nbf !== undefined && (typeof nbf !== 'number' || nbf > seconds)
  checks.push(
    isEarly ? miss('nbf', `not later than ${time(Math.floor(seconds))}`, time(nbf)) : { name: 'nbf', differences: [] },
  )
  return checks
}
