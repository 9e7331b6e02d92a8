import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { HeaderList } from '../../../../src/kernel/http.js'
import { isSameText } from '../same-text.js'

/** What one node hands on to another, as both see it. */
export interface ForwardedRequest extends PassageHead {
  /** One char a byte. */
  readonly body: string
}

/** What is there before the body has come. */
export interface PassageHead {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: HeaderList
}

/** Clocks of two nodes may be so far apart, in milliseconds, and a request under way for so long. */
export const maxApart = 60_000
/** Requests of one node overtake each other by no more than this. */
export const maxOvertaking = 100_000

/** Signs what this node hands on. */
export class Signer {
  readonly #key: Buffer
  readonly #node: string
  readonly #now: () => number
  #count = 0

  /** @param node the id of this one */
  constructor(secret: string, node: string, now: () => number) {
    this.#key = keyOf(secret)
    this.#node = node
    this.#now = now
  }

  /** The header to send along. @param to the id of the node that shall take it, and no other one */
  sign(passage: ForwardedRequest, to: string): string {
    const names = [...new Set(passage.headers.map(([name]) => name.toLowerCase()))].sort().join(',')
    const facts = [this.#node, to, String(this.#now()), String(++this.#count), names, digestOf(passage.body)]
    return [...facts, signatureOf(this.#key, facts, passage)].join(';')
  }
}

/** Judges what claims to come from another node. A request counts once, at the node it is for, and for a minute. */
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

  /** The headers that are vouched for, or a sentence with what is wrong. */
  verify(header: string, passage: ForwardedRequest): { readonly headers: HeaderList } | Wrong {
    const wrong = this.wrongWith(header, passage)
    if (wrong !== undefined) return { wrong }
    const [node = '', , , number = '', names = '', digest] = header.split(';')
    if (digest !== digestOf(passage.body)) return { wrong: 'its body is not the one that was signed' }
    if (!this.#isFirst(node, Number(number))) return { wrong: 'it has been here before' }
    const vouched = new Set(names.split(','))
    return { headers: passage.headers.filter(([name]) => vouched.has(name.toLowerCase())) }
  }

  /** What is wrong with a request whose body has not come yet, as a sentence; `undefined` makes its body worth reading. */
  wrongWith(header: string, head: PassageHead): string | undefined {
    const words = header.split(';')
    const [, to = '', time = ''] = words
    const signature = words.at(-1) ?? ''
    const facts = words.slice(0, -1)
    if (words.length !== 7 || !isSameText(signature, signatureOf(this.#key, facts, head))) {
      return 'it was not signed with the secret of this cluster. Give all nodes the same --cluster-secret'
    }
    if (to !== this.#node) return 'it was signed for another node, which perhaps was here before'
    const apart = Math.abs(this.#now() - Number(time))
    if (apart <= maxApart) return undefined
    return `it was signed ${Math.round(apart / 1000)} s from now by the clocks of the two nodes: set them`
  }

  /** Numbers of one node grow: what is far behind its highest is taken for seen. */
  #isFirst(node: string, number: number): boolean {
    const now = this.#now()
    let sender = this.#senders.get(node)
    if (sender === undefined) {
      // What a node signed that is silent for so long is too old by now.
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

/** The secret may serve elsewhere as well. */
function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'stuntdouble cluster: requests between nodes', 32))
}

function digestOf(body: string): string {
  return createHash('sha256').update(body, 'latin1').digest('base64url')
}

/** Over all that decides what a request does; its body by the digest among the facts. Headers that are not named in `facts` are not signed, and do not count. */
function signatureOf(key: Buffer, facts: readonly string[], { method, target, headers }: PassageHead): string {
  const names = new Set((facts[4] ?? '').split(','))
  const signed = headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => names.has(name))
  // Values of one name keep their order; whoever carries the request may sort names.
  signed.sort(([one], [other]) => (one < other ? -1 : Number(one > other)))
  return createHmac('sha256', key)
    .update(JSON.stringify([facts, method, target, signed]))
    .digest('base64url')
}
