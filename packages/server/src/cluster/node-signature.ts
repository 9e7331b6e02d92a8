import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { HeaderList } from '../../../../src/kernel/http.js'
import { isSameText } from '../same-text.js'

/** A request that one node forwards to another. */
export interface ForwardedRequest extends PassageHead {
  /** Body with one character per byte. */
  readonly body: string
}

/** The parts of a forwarded request that are known before its body has arrived. */
export interface PassageHead {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: HeaderList
}

/**
 * Maximum difference between the time of a signature and the clock of the receiving node, in milliseconds. It covers
 * the difference between the clocks of two nodes and the time of a request in transit.
 */
export const maxApart = 60_000
/** A delayed request is rejected if this many later requests of the same node have arrived before it. */
export const maxOvertaking = 100_000

/** Signs the requests that this node forwards. */
export class Signer {
  readonly #key: Buffer
  readonly #node: string
  readonly #now: () => number
  #count = 0

  constructor(secret: string, node: string, now: () => number) {
    this.#key = keyOf(secret)
    this.#node = node
    this.#now = now
  }

  /**
   * Returns the value of the header that signs a forwarded request.
   * @param to ID of the only node that may accept the request
   */
  sign(passage: ForwardedRequest, to: string): string {
    const names = [...new Set(passage.headers.map(([name]) => name.toLowerCase()))].sort().join(',')
    const facts = [this.#node, to, String(this.#now()), String(++this.#count), names, digestOf(passage.body)]
    return [...facts, signatureOf(this.#key, facts, passage)].join(';')
  }
}

/**
 * Verifies requests that claim to come from another node. A signed request is valid once, only on the node that it is
 * addressed to, and for one minute.
 */
export class Verifier {
  readonly #key: Buffer
  readonly #node: string
  readonly #now: () => number
  readonly #senders = new Map<string, Sender>()

  constructor(secret: string, node: string, now: () => number) {
    this.#key = keyOf(secret)
    this.#node = node
    this.#now = now
  }

  /** Returns the signed headers of a request, or the reason why its signature is invalid. */
  verify(header: string, passage: ForwardedRequest): { readonly headers: HeaderList } | Wrong {
    const wrong = this.wrongWith(header, passage)
    if (wrong !== undefined) return { wrong }
    const [node = '', , , number = '', names = '', digest] = header.split(';')
    if (digest !== digestOf(passage.body)) return { wrong: 'its body differs from the signed body' }
    if (!this.#isFirst(node, Number(number))) return { wrong: 'the same request was received before' }
    const vouched = new Set(names.split(','))
    return { headers: passage.headers.filter(([name]) => vouched.has(name.toLowerCase())) }
  }

  /**
   * Checks a request before its body has arrived. Returns the reason why its signature is invalid, or `undefined` if it
   * is valid so far.
   */
  wrongWith(header: string, head: PassageHead): string | undefined {
    const words = header.split(';')
    const [, to = '', time = ''] = words
    const signature = words.at(-1) ?? ''
    const facts = words.slice(0, -1)
    if (words.length !== 7 || !isSameText(signature, signatureOf(this.#key, facts, head))) {
      return 'it was not signed with the secret of this cluster. Use the same --cluster-secret on all nodes'
    }
    if (to !== this.#node) return 'it was signed for another node, perhaps for a former node at this URL'
    const apart = Math.abs(this.#now() - Number(time))
    if (apart <= maxApart) return undefined
    return `the clocks of the two nodes differ by ${Math.round(apart / 1000)} s. Synchronize them`
  }

  /**
   * Returns whether a node uses a request number for the first time. Each node counts its requests. A number far below
   * the highest number of the node counts as used.
   */
  #isFirst(node: string, number: number): boolean {
    const now = this.#now()
    let sender = this.#senders.get(node)
    if (sender === undefined) {
      // Forget nodes that have been silent for `3 * maxApart`. Their signatures have expired, so their request numbers
      // are no longer needed.
      for (const [other, { heard }] of this.#senders) if (now - heard > 3 * maxApart) this.#senders.delete(other)
      sender = { highest: 0, seen: new Set(), heard: now }
      this.#senders.set(node, sender)
    }
    sender.heard = now
    if (number <= sender.highest - maxOvertaking || sender.seen.has(number)) return false
    sender.seen.add(number)
    sender.highest = Math.max(sender.highest, number)
    if (sender.seen.size > 2 * maxOvertaking) {
      for (const old of sender.seen) if (old <= sender.highest - maxOvertaking) sender.seen.delete(old)
    }
    return true
  }
}

interface Wrong {
  readonly wrong: string
}

interface Sender {
  highest: number
  readonly seen: Set<number>
  heard: number
}

/**
 * Derives the signing key from the secret. The secret itself is not used as the key, because it may also have other
 * uses.
 */
function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'stuntdouble cluster: requests between nodes', 32))
}

function digestOf(body: string): string {
  return createHash('sha256').update(body, 'latin1').digest('base64url')
}

/**
 * Returns the signature of a request. The signature covers the method, the target, the headers that `facts` names, and
 * `facts` itself, which contains a digest of the body. The receiving node ignores all other headers.
 */
function signatureOf(key: Buffer, facts: readonly string[], { method, target, headers }: PassageHead): string {
  const names = new Set((facts[4] ?? '').split(','))
  const signed = headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => names.has(name))
  // Sort the headers by name, because a proxy may change the order of names. A proxy must not change the order of
  // values with the same name.
  signed.sort(([one], [other]) => (one < other ? -1 : Number(one > other)))
  return createHmac('sha256', key)
    .update(JSON.stringify([facts, method, target, signed]))
    .digest('base64url')
}
