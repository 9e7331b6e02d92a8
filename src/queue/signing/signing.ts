import { type Bytes, toBase64Url, utf8 } from '../../kernel/bytes.js'
import { hmacSha256, sha256Bytes } from '../../kernel/digest.js'
import { IdSource, type Random } from '../../kernel/random.js'

/** The current and the next signing key. */
export interface SigningKeyPair {
  readonly current: string
  readonly next: string
}

/** What a delivery signature says. [queue.md 9] */
export interface SignatureClaims {
  readonly iss: string
  /** The full destination url. */
  readonly sub: string
  /** Seconds, as all times of a token. */
  readonly exp: number
  readonly nbf: number
  readonly iat: number
  readonly jti: string
  /** base64url of the SHA-256 of the raw body. */
  readonly body: string
}

/**
 * `wide`: valid from 1970 on and for ever, so that a receiver with the host's date accepts any virtual time.
 * `real`: expires five minutes after it was issued, in virtual time; for suites that move the receiver's date along.
 */
export type SignatureWindow = 'wide' | 'real'

/** Seconds a signature lives in the window `real`. [queue.md 9] */
export const signatureLifetime = 300
/** The last second of the year 9999. */
export const farFuture = 253_402_300_799
/** The first second of 2020: receivers that look at `iat`, as Python's do, refuse what was issued in their future. */
export const longAgo = 1_577_836_800

/** The keys that deliveries of a queue are signed with. */
export class SigningKeys implements SigningKeyPair {
  current: string
  next: string
  /** Keys that were current once, the latest first. */
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

  /** Restores earlier keys. @internal */
  replace({ current, next, former }: SigningKeyPair & { readonly former: readonly string[] }): void {
    this.current = current
    this.next = next
    this.former = [...former]
  }

  /**
   * The next key becomes the current one, a fresh one the next.
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
   * Returns the current and the next signing key.
   * @example
   * const { current, next } = sandbox.queue.signingKeys.pair()
   * const receiver = { currentSigningKey: current, nextSigningKey: next }
   */
  pair(): SigningKeyPair {
    return { current: this.current, next: this.next }
  }
}

const header = toBase64Url(utf8('{"alg":"HS256","typ":"JWT"}'))

/** A compact JSON Web Token over the claims. The key is the text of the signing key, not decoded. [queue.md 9] */
export function signToken(claims: object, key: string): string {
  const signed = `${header}.${toBase64Url(utf8(JSON.stringify(claims)))}`
  return `${signed}.${toBase64Url(hmacSha256(utf8(key), signed as Bytes))}`
}

/** The hash that claim `body` carries. */
export function bodyHash(body: Bytes): string {
  return hashClaim(sha256Bytes(body))
}

/** With the padding that the service's own example keeps. */
function hashClaim(hash: Bytes): string {
  const claim = toBase64Url(hash)
  return claim + '='.repeat((4 - (claim.length % 4)) % 4)
}

/** The claims of a valid signature at an instant of virtual time. @param hash SHA-256 of the body */
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
