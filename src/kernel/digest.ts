import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, fromArray, toArray, toHex } from './bytes.js'

// Synchronous on purpose: with WebCrypto a delivery would span several turns of the event loop, and the order of
// two deliveries at the same virtual instant would be up to the host.

export function sha1Hex(bytes: Bytes): string {
  return toHex(fromArray(sha1(toArray(bytes))))
}

export function sha256Bytes(bytes: Bytes): Bytes {
  return fromArray(sha256(toArray(bytes)))
}

/** Bytes behind which a state is remembered, so that the hash of fewer does not begin at the first one. */
const stride = 65_536

/** The SHA-256 of bytes that grow at their end: each is looked at once, or again for a hash of fewer. */
export class GrowingHash {
  readonly #states = [{ length: 0, state: sha256.create() }]
  /** Of all bytes that were looked at. */
  readonly #tip = { length: 0, state: sha256.create() }

  /** Of the first so many of the bytes, which were the same before as far as they went, and an end that does not stay. */
  of(bytes: Bytes, length: number, end: Bytes): Bytes {
    const tip = this.#tip
    while (tip.length < length) {
      const next = Math.min(length, tip.length - (tip.length % stride) + stride)
      tip.state.update(toArray(bytes.slice(tip.length, next) as Bytes))
      tip.length = next
      if (next % stride === 0) this.#states.push({ length: next, state: tip.state.clone() })
    }
    const known = tip.length === length ? tip : this.#states[Math.floor(length / stride)]!
    const rest = bytes.slice(known.length, length) + end
    return fromArray(
      known.state
        .clone()
        .update(toArray(rest as Bytes))
        .digest(),
    )
  }
}

let keyed: { readonly key: Bytes; readonly state: ReturnType<typeof hmac.create> } | undefined

export function hmacSha256(key: Bytes, message: Bytes): Bytes {
  // Nearly all messages are signed with one key: its state is prepared once.
  if (keyed?.key !== key) keyed = { key, state: hmac.create(sha256, toArray(key)) }
  return fromArray(keyed.state.clone().update(toArray(message)).digest())
}
