import { type Bytes, toBase64Url, utf8 } from '../../kernel/bytes.js'
import { hmacSha256, sha256Bytes } from '../../kernel/digest.js'
import { IdSource, type Random } from '../../kernel/random.js'

/** The current and the next signing key. */
export interface SigningKeyPair {
  /** Key that signs deliveries, such as `sig_…`. */
  readonly current: string
  /** Key that becomes the current key at the next rotation. */
  readonly next: string
}

/** Claims of a delivery signature. [queue.md 9] */
export interface SignatureClaims {
  /** Issuer in the dialect of the delivery, such as `Service` or `Upstash`. */
  readonly iss: string
  /** Full destination URL. */
  readonly sub: string
  /** Expiration in Unix seconds. The times in all claims are in seconds. */
  readonly exp: number
  /** Time from which the signature is valid, in Unix seconds. Always 0, unless a test or a fault changes the claim. */
  readonly nbf: number
  /** Time of signing in Unix seconds. In the window `wide`, never later than the beginning of 2020. */
  readonly iat: number
  /** ID of the signature: `jwt_…`. */
  readonly jti: string
  /** base64url of the SHA-256 of the raw body. */
  readonly body: string
}

/**
 * Period in which signatures are valid. `wide`: from 1970 until 9999, so that a receiver with the date of the host
 * accepts signatures of any virtual time. `real`: five minutes of virtual time, for tests that also set the receiver's
 * date.
 */
export type SignatureWindow = 'wide' | 'real'

/** Period in which a signature is valid in the window `real`, in seconds. [queue.md 9] */
export const signatureLifetime = 300
/** Last second of the year 9999. */
export const farFuture = 253_402_300_799
/**
 * First second of 2020. Some receivers, such as those in Python, reject a signature whose `iat` is later than their
 * current date. In the window `wide`, `iat` is never later than this.
 */
export const longAgo = 1_577_836_800

/** Signing keys of a queue: the current one, the next one and former ones. */
export class SigningKeys implements SigningKeyPair {
  /** Key that signs deliveries, such as `sig_…`. */
  current: string
  /** Key that becomes the current key at the next rotation. */
  next: string
  /** Keys that were current before a rotation, the latest first. */
  former: readonly string[] = []
  readonly #ids: IdSource

  /** @internal */
  constructor(
    random: Random,
    given: Partial<SigningKeyPair> = {},
    private readonly rotated: () => void = () => {},
  ) {
    this.#ids = new IdSource(random.fork('signing-key'), 'sig_', 28)
    this.current = given.current ?? this.#ids.next()
    this.next = given.next ?? this.#ids.next()
  }

  /** Restores the keys of a dump. @internal */
  replace({ current, next, former }: SigningKeyPair & { readonly former: readonly string[] }): void {
    this.current = current
    this.next = next
    this.former = [...former]
  }

  /**
   * Rotates the signing keys: the next key becomes the current one, and a new key becomes the next one.
   * @example
   * const { next } = sandbox.queue.signingKeys
   * sandbox.queue.signingKeys.rotate()
   * expect(sandbox.queue.signingKeys.current).toBe(next)
   */
  rotate(): SigningKeyPair {
    this.former = [this.current, ...this.former]
    this.current = this.next
    this.next = this.#ids.next()
    this.rotated()
    return this.pair()
  }

  /**
   * Returns the current and the next key.
   * @example
   * const { current, next } = sandbox.queue.signingKeys.pair()
   * const receiver = { currentSigningKey: current, nextSigningKey: next }
   */
  pair(): SigningKeyPair {
    return { current: this.current, next: this.next }
  }
}

const header = toBase64Url(utf8('{"alg":"HS256","typ":"JWT"}'))

/**
 * Returns a signed JSON Web Token with these claims. The signing key is used as text and is not decoded. [queue.md 9]
 */
export function signToken(claims: object, key: string): string {
  const signed = `${header}.${toBase64Url(utf8(JSON.stringify(claims)))}`
  return `${signed}.${toBase64Url(hmacSha256(utf8(key), signed as Bytes))}`
}

/** Returns the value of the claim `body`: the hash of a body. */
export function bodyHash(body: Bytes): string {
  return hashClaim(sha256Bytes(body))
}

/** Encodes a hash as base64url. The text has padding, as in the example of the service. */
function hashClaim(hash: Bytes): string {
  const claim = toBase64Url(hash)
  return claim + '='.repeat((4 - (claim.length % 4)) % 4)
}

/**
 * Returns the claims of a valid signature that is made at the time `at`.
 * @param hash SHA-256 of the body
 */
export function claimsFor(
  url: string,
  hash: Bytes,
  at: number,
  issuer: string,
  jti: string,
  window: SignatureWindow,
): SignatureClaims {
  const issued = Math.floor(at / 1000)
  const iat = window === 'wide' ? Math.min(issued, longAgo) : issued
  return {
    iss: issuer,
    sub: url,
    exp: window === 'wide' ? Math.max(farFuture, issued + signatureLifetime) : issued + signatureLifetime,
    nbf: 0,
    iat,
    jti,
    body: hashClaim(hash),
  }
}
