import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, fromArray, toArray, toHex } from './bytes.js'

// These functions are synchronous, because a delivery would take several turns of the event loop with WebCrypto.
// The host would then decide the order of two deliveries at the same virtual instant.

export function sha1Hex(bytes: Bytes): string {
  return toHex(fromArray(sha1(toArray(bytes))))
}

export function sha256Bytes(bytes: Bytes): Bytes {
  return fromArray(sha256(toArray(bytes)))
}

/**
 * Number of bytes between two saved states. To hash a prefix, start at the nearest saved state and not at the first
 * byte.
 */
const stride = 65_536

/**
 * Computes SHA-256 of bytes to which more bytes are appended over time. Bytes are hashed again only if the hash of a
 * prefix is needed.
 */
export class GrowingHash {
  readonly #states = [{ length: 0, state: sha256.create() }]
  /** State after all bytes that were hashed so far. */
  readonly #tip = { length: 0, state: sha256.create() }

  /**
   * Returns the hash of the first `length` bytes of `bytes`, followed by `end`. In later calls, `bytes` may be longer,
   * but it must begin with the bytes of earlier calls. `end` may differ in each call.
   */
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
  // Nearly all messages are signed with the same key, so the HMAC state for this key is cached.
  if (keyed?.key !== key) keyed = { key, state: hmac.create(sha256, toArray(key)) }
  return fromArray(keyed.state.clone().update(toArray(message)).digest())
}
