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

/** The SHA-256 of bytes that grow at their end: each is looked at once. */
export class GrowingHash {
  readonly #state = sha256.create()

  add(bytes: Bytes): void {
    this.#state.update(toArray(bytes))
  }

  /** Of all of them and an end that does not stay. */
  endingIn(end: Bytes): Bytes {
    return fromArray(this.#state.clone().update(toArray(end)).digest())
  }
}

let keyed: { readonly key: Bytes; readonly state: ReturnType<typeof hmac.create> } | undefined

export function hmacSha256(key: Bytes, message: Bytes): Bytes {
  // Nearly all messages are signed with one key: its state is prepared once.
  if (keyed?.key !== key) keyed = { key, state: hmac.create(sha256, toArray(key)) }
  return fromArray(keyed.state.clone().update(toArray(message)).digest())
}
