import { type Bytes, text, utf8 } from '../kernel/bytes.js'
import {
  bodyHash,
  claimsFor,
  type SignatureClaims,
  type SignatureWindow,
  type SigningKeys,
  signToken,
} from './signing.js'

/** What a signature can have wrong, one thing at a time; everything else about it stays valid. */
export const signatureFlaws = {
  url: 'claim sub names another url',
  body: 'claim body is the hash of another body',
  reserialised: 'claim body is the hash of the same JSON, written with other white space',
  expired: 'claim exp is over',
  'not-yet-valid': 'claim nbf is in the future',
  issuer: 'claim iss is somebody else',
  'rotated-once': 'signed with the key that was current before the last rotation',
  'rotated-twice': 'signed with the key that was current before the last two rotations',
  key: 'signed with a key that was never valid',
  tampered: 'the claims were changed after signing',
} as const
export type SignatureFlaw = keyof typeof signatureFlaws

export interface SignedRequest {
  readonly url: string
  readonly body?: string
}

export interface SignatureOverrides {
  /** Break exactly this. */
  readonly wrong?: SignatureFlaw
  /** Claims to put instead of the valid ones; `undefined` leaves a claim out. */
  readonly claims?: { readonly [Name in keyof SignatureClaims]?: SignatureClaims[Name] | undefined }
  /** The text of a key, or which of ours. Default `current`. */
  readonly key?: 'current' | 'next' | (string & {})
  readonly window?: SignatureWindow
}

/** Mints the signature that a delivery of this request would carry now, or one that is wrong on purpose. */
export function mintSignature(
  request: SignedRequest,
  overrides: SignatureOverrides,
  keys: SigningKeys,
  context: { readonly at: number; readonly issuer: string; readonly jti: string; readonly window: SignatureWindow },
): string {
  const body = utf8(request.body ?? '')
  const valid = claimsFor(
    request.url,
    body,
    context.at,
    context.issuer,
    context.jti,
    overrides.window ?? context.window,
  )
  const claims = { ...valid, ...flawedClaims(overrides.wrong, request.url, body), ...overrides.claims }
  const signed = signToken(claims, keyFor(overrides, keys))
  if (overrides.wrong !== 'tampered') return signed
  const other = signToken({ ...claims, jti: `${context.jti}x` }, keys.current)
  return [signed.split('.')[0], other.split('.')[1], signed.split('.')[2]].join('.')
}

function flawedClaims(flaw: SignatureFlaw | undefined, url: string, body: Bytes): Partial<SignatureClaims> {
  switch (flaw) {
    case 'url':
      return { sub: `${url}${url.includes('?') ? '&' : '?'}other` }
    case 'body':
      return { body: bodyHash(utf8(`${text(body)} `)) }
    case 'reserialised':
      return { body: bodyHash(utf8(otherSpelling(text(body)))) }
    case 'expired':
      // Host dates and virtual times are all later.
      return { iat: 0, exp: 1 }
    case 'not-yet-valid':
      return { nbf: 253_402_300_799 }
    case 'issuer':
      return { iss: 'Somebody Else' }
    default:
      return {}
  }
}

function otherSpelling(json: string): string {
  try {
    const compact = JSON.stringify(JSON.parse(json))
    return compact === json ? JSON.stringify(JSON.parse(json), null, 2) : compact
  } catch {
    throw new TypeError(
      `A re-serialised body needs a JSON body, got ${JSON.stringify(json.slice(0, 40))}. Give a JSON text, or use { wrong: 'body' }.`,
    )
  }
}

function keyFor(overrides: SignatureOverrides, keys: SigningKeys): string {
  if (overrides.key !== undefined) {
    return overrides.key === 'current' ? keys.current : overrides.key === 'next' ? keys.next : overrides.key
  }
  if (overrides.wrong === 'key') return 'sig_1111111111111111111111111111'
  const rotations = overrides.wrong === 'rotated-once' ? 1 : overrides.wrong === 'rotated-twice' ? 2 : 0
  if (rotations === 0) return keys.current
  const former = keys.former[rotations - 1]
  if (former !== undefined) return former
  throw new RangeError(
    `{ wrong: '${overrides.wrong}' } needs a key that was rotated away: call queue.keys.rotate() ${rotations === 1 ? 'once' : 'twice'} first.`,
  )
}
