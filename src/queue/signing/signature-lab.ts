import { type Bytes, text, utf8 } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import { didYouMean } from '../../kernel/nearest-name.js'
import { parsedJson } from '../../kernel/parsed-json.js'
import type { SigningFault } from '../message/message-entries.js'
import {
  bodyHash,
  claimsFor,
  farFuture,
  longAgo,
  type SignatureClaims,
  type SignatureWindow,
  type SigningKeys,
  signatureLifetime,
  signToken,
} from './signing.js'

/** Defects that a signature can have. Each changes one part of the signature and leaves all other parts valid. */
export const signatureFlaws = {
  url: 'claim "sub" contains another URL',
  body: 'claim "body" is the hash of another body',
  reserialized: 'claim "body" is the hash of the same JSON with other white space',
  expired: 'claim "exp" is in the past',
  'not-yet-valid': 'claim "nbf" is in the future',
  issuer: 'claim "iss" names another issuer',
  'rotated-once': 'signed with the key that was current before the last rotation',
  'rotated-twice': 'signed with the key that was current two rotations ago',
  key: 'signed with a key that was never valid',
  tampered: 'the claims were changed after signing',
} as const
/** Name of a deliberate defect of a signature, such as `expired`. */
export type SignatureFlaw = keyof typeof signatureFlaws

/** Request that `queue.sign()` signs. */
export interface SignedRequest {
  /** URL of the destination, which becomes the claim `sub`. */
  readonly url: string
  /** Body of the request as text. Default: empty. */
  readonly body?: string
}

/** Options of `queue.sign()`. Each changes a part of the signature. */
export interface SignOptions {
  /** Defect of the signature; none by default. */
  readonly flaw?: SignatureFlaw
  /** Claims to replace. A claim that is `undefined` is omitted. */
  readonly claims?: { readonly [Name in keyof SignatureClaims]?: SignatureClaims[Name] | undefined }
  /** Key that signs: `current` or `next` for a key of the sandbox, or the text of any key. Default `current`. */
  readonly key?: 'current' | 'next' | (string & {})
  /** Period in which the signature is valid. Default: the `signatureWindow` of the sandbox. */
  readonly window?: SignatureWindow
  /**
   * Dialect of the signature, which determines the claim `iss`. Default: the dialect of the sandbox. If that is `auto`,
   * the default is the vendor's dialect, because the vendor's SDKs check the claim.
   */
  readonly dialect?: string
}

interface SigningContext {
  readonly at: number
  readonly issuer: string
  readonly jti: string
  readonly window: SignatureWindow
}

/**
 * Returns the signature that the queue would send now with a delivery of this request. With `flaw`, the signature has a
 * deliberate defect.
 */
export function mintSignature(
  request: SignedRequest,
  overrides: SignOptions,
  keys: SigningKeys,
  context: SigningContext,
): string {
  const { flaw: wrong } = overrides
  if (wrong !== undefined && !Object.hasOwn(signatureFlaws, wrong)) {
    const flaws = Object.keys(signatureFlaws)
    throw new TypeError(
      `queue.sign(): there is no flaw ${JSON.stringify(wrong)}.${didYouMean(wrong, flaws)} Use one of ${flaws.join(', ')}.`,
    )
  }
  return mint(request.url, utf8(request.body ?? ''), overrides, keys, context)
}

function mint(url: string, body: Bytes, overrides: SignOptions, keys: SigningKeys, context: SigningContext): string {
  const { at, issuer, jti } = context
  const valid = claimsFor(url, sha256Bytes(body), at, issuer, jti, overrides.window ?? context.window)
  const claims = { ...valid, ...flawedClaims(overrides.flaw, url, body), ...overrides.claims }
  const signed = signToken(claims, keyFor(overrides, keys))
  if (overrides.flaw !== 'tampered') return signed
  const other = signToken({ ...claims, jti: `${context.jti}x` }, keys.current)
  return [signed.split('.')[0], other.split('.')[1], signed.split('.')[2]].join('.')
}

function flawedClaims(flaw: SignatureFlaw | undefined, url: string, body: Bytes): Partial<SignatureClaims> {
  switch (flaw) {
    case 'url':
      return { sub: `${url}${url.includes('?') ? '&' : '?'}other` }
    case 'body':
      return { body: bodyHash(utf8(`${text(body)} `)) }
    case 'reserialized':
      return { body: bodyHash(utf8(otherSpelling(text(body)))) }
    case 'expired':
      // This signature expired 1 second after the beginning of 1970. Every host date and every virtual time is later.
      return { iat: 0, exp: 1 }
    case 'not-yet-valid':
      return { nbf: 253_402_300_799 }
    case 'issuer':
      return { iss: 'Another Issuer' }
    default:
      return {}
  }
}

function otherSpelling(json: string): string {
  const value = parsedJson(json)
  if (value === undefined) {
    throw new TypeError(
      `queue.sign(): flaw "reserialized" needs a JSON body (got ${JSON.stringify(json.slice(0, 40))}). Pass a JSON text, or use { flaw: 'body' }.`,
    )
  }
  const compact = JSON.stringify(value)
  return compact === json ? JSON.stringify(value, null, 2) : compact
}

function keyFor(overrides: SignOptions, keys: SigningKeys): string {
  if (overrides.key !== undefined) {
    return overrides.key === 'current' ? keys.current : overrides.key === 'next' ? keys.next : overrides.key
  }
  if (overrides.flaw === 'key') return 'sig_1111111111111111111111111111'
  const rotations = overrides.flaw === 'rotated-once' ? 1 : overrides.flaw === 'rotated-twice' ? 2 : 0
  if (rotations === 0) return keys.current
  const former = keys.former[rotations - 1]
  if (former !== undefined) return former
  throw new RangeError(
    `queue.sign(): flaw "${overrides.flaw}" needs a key that was current before a rotation. Call queue.signingKeys.rotate() ${rotations === 1 ? 'once' : 'twice'} first.`,
  )
}

/**
 * Applies a fault to the signature of a delivery and returns the changed signature. If the flaw is not possible, uses a
 * similar flaw: `key` if the keys were not rotated often enough, and `body` if the body is not JSON.
 */
export function faultySignature(
  { flaw, skewMs }: SigningFault,
  url: string,
  body: Bytes,
  key: string,
  keys: SigningKeys,
  context: SigningContext,
): string {
  if (skewMs !== undefined) return mint(url, body, { claims: skewedTimes(skewMs, context), key }, keys, context)
  if (flaw === 'rotated') return mint(url, body, { key: 'next' }, keys, context)
  const rotations = flaw === 'rotated-once' ? 1 : flaw === 'rotated-twice' ? 2 : 0
  if (rotations > keys.former.length) return mint(url, body, { flaw: 'key' }, keys, context)
  const wrong = flaw === 'reserialized' && parsedJson(text(body)) === undefined ? 'body' : (flaw as SignatureFlaw)
  return mint(url, body, { flaw: wrong, ...(rotations === 0 && wrong !== 'key' && { key }) }, keys, context)
}

/**
 * Returns the time claims that a server sets if its clock is `skewMs` milliseconds fast, or slow if the number is
 * negative. In the window `wide`, receivers compare the claims with the date of the host. A fast clock then gives
 * claims in the far future. A clock that is slow by more than the lifetime of a signature gives claims that expired
 * long ago.
 */
function skewedTimes(skewMs: number, { at, window }: SigningContext): Partial<SignatureClaims> {
  if (window === 'real') {
    const iat = Math.floor((at + skewMs) / 1000)
    return { iat, exp: iat + signatureLifetime }
  }
  if (skewMs > 0) return { iat: farFuture - signatureLifetime, exp: farFuture }
  return skewMs < -signatureLifetime * 1000 ? { iat: longAgo, exp: longAgo + signatureLifetime } : {}
}
