import { fromArray, fromBase64, text, toBase64Url } from '../../../../src/kernel/bytes.js'
import { sha256Bytes } from '../../../../src/kernel/digest.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { type PortableBody, readBody } from '../readable-bytes.js'
import { shownDate, shownTime } from '../shown-dates.js'

export interface Claim {
  readonly name: string
  readonly text: string
  /** Whether the claim is correct. Absent if the page cannot check the claim. */
  readonly holds?: boolean
  /** Reason why the claim is wrong or cannot be checked. */
  readonly because?: string
}

export interface Signature {
  readonly header: string
  readonly algorithm: string
  readonly claims: readonly Claim[]
  /** Reason why the page does not check the last part, the signature itself. */
  readonly seal: string
}

type Headers = readonly (readonly [name: string, value: string])[]

/**
 * Returns the signatures of a delivery with their claims. The log redacts the last part of each signature, so the page
 * cannot check that part.
 */
export function signaturesOf(entry: TraceEntry): readonly Signature[] {
  const headers = Array.isArray(entry.headers) ? (entry.headers as Headers) : []
  return headers.flatMap(([name, value]) => {
    if (!/signature/i.test(name)) return []
    const [head, claims, seal] = value.split('.')
    const [read, told] = [part(head), part(claims)]
    if (read === undefined || told === undefined) return []
    return [
      {
        header: name,
        algorithm: String(read.alg ?? 'not named'),
        claims: Object.entries(told).map(([claim, given]) => judged(claim, given, entry)),
        seal: /^[\w-]{20,}$/.test(seal ?? '')
          ? 'The signature itself is not checked, because this page has no signing key.'
          : 'The signature itself is redacted, because it is a secret. The invariant signatures-verify of sandbox.assertInvariants() checks it.',
      },
    ]
  })
}

function part(encoded: string | undefined): Record<string, unknown> | undefined {
  if (encoded === undefined || !/^[\w-]+=*$/.test(encoded)) return undefined
  const bytes = fromBase64(encoded)
  const value = bytes === undefined ? undefined : parsedJson(text(bytes))
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

function judged(name: string, given: unknown, entry: TraceEntry): Claim {
  const shown = typeof given === 'string' ? given : JSON.stringify(given)
  const seconds = typeof given === 'number' ? given * 1000 : Number.NaN
  switch (name) {
    case 'sub':
      return {
        name: 'Destination (sub)',
        text: shown,
        ...verdict(given === entry.url, 'the delivery went to another URL'),
      }
    case 'body':
      return { name: 'Digest of the body (body)', text: shown, ...bodyVerdict(given, entry.body as PortableBody) }
    case 'exp':
      return {
        name: 'Valid until (exp)',
        text: moment(seconds),
        ...verdict(seconds >= entry.at, 'the signature had expired'),
      }
    case 'nbf':
      return {
        name: 'Valid from (nbf)',
        text: moment(seconds),
        ...verdict(seconds <= entry.at, 'the signature was not valid yet'),
      }
    case 'iat':
      return {
        name: 'Made (iat)',
        text: moment(seconds),
        ...verdict(seconds <= entry.at, 'the signature was made after the delivery'),
      }
    case 'iss':
      return { name: 'Issuer (iss)', text: shown }
    case 'jti':
      return { name: 'Number (jti)', text: shown }
    default:
      return { name, text: shown }
  }
}

function verdict(holds: boolean, otherwise: string): Pick<Claim, 'holds' | 'because'> {
  return holds ? { holds } : { holds, because: otherwise }
}

function bodyVerdict(claimed: unknown, body: PortableBody): Pick<Claim, 'holds' | 'because'> {
  const reading = readBody(body)
  if (reading === undefined || reading.cutFrom !== undefined) return { because: 'the recorded body is incomplete' }
  const digest = toBase64Url(sha256Bytes(fromArray(reading.bytes)))
  if (digest === String(claimed).replace(/=+$/, '')) return { holds: true }
  return reading.text?.includes('***')
    ? { because: 'parts of the body are hidden' }
    : { holds: false, because: 'the signature is for another body' }
}

function moment(at: number): string {
  return Number.isFinite(at) ? `${shownDate(at)} ${shownTime(at)}` : 'not a time'
}
