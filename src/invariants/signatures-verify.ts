import { fromBase64, latin1, toBase64Url, utf8 } from '../kernel/bytes.js'
import { hmacSha256, sha256Bytes } from '../kernel/digest.js'
import { parsedJson } from '../kernel/parsed-json.js'
import type { EntryOf } from '../kernel/traffic-log.js'
import type { Findings, Invariant } from './invariant.js'
import type { InvariantIndex } from './invariant-index.js'

/**
 * Maximum number of attempts whose signatures are checked. If there are more attempts, only an evenly distributed
 * sample is checked, because checking a signature takes longer than all other work for an attempt.
 */
const sample = 64

export const signaturesVerify: Invariant = {
  name: 'signatures-verify',
  guarantee:
    'Every delivery is signed for its URL and body, with the signing key that was current when the delivery began. The signature is valid at the time of the delivery.',
  suspendedBy: {
    'bad-signature': 'for the affected delivery',
    'clock-skew': 'for the affected delivery',
    truncate: 'for the affected delivery',
    'corrupt-json': 'for the affected delivery',
  },
  examine(history, findings) {
    const rotations = history.of('setting').filter(({ resource: of }) => of === 'signing-keys')
    const keys = history.world.signingKeys
    for (const attempt of sampled(history.of('attempt'))) {
      if (history.struck(attempt, this.suspendedBy)) continue
      const later = rotations.filter(({ seq }) => seq > attempt.seq).length
      const key = keys[keys.length - 1 - later]
      if (key === undefined) findings.unknown('signatures that were made with a key that a loaded dump has replaced')
      else verify(attempt, key, history, findings)
    }
  },
}

function sampled(attempts: readonly EntryOf<'attempt'>[]): readonly EntryOf<'attempt'>[] {
  if (attempts.length <= sample) return attempts
  return Array.from(
    { length: sample },
    (_, index) => attempts[Math.floor((index * (attempts.length - 1)) / (sample - 1))]!,
  )
}

function verify(attempt: EntryOf<'attempt'>, key: string, { world }: InvariantIndex, findings: Findings): void {
  for (const name of world.signatureHeaders(attempt)) {
    const lower = name.toLowerCase()
    const token = attempt.headers.find(([header]) => header.toLowerCase() === lower)?.[1]
    const problem = token === undefined ? `the header ${name} is missing` : flawOf(token, key, attempt)
    if (problem === undefined) continue
    findings.broken(
      `the signature of attempt ${attempt.retried + 1} of ${attempt.messageId} does not verify: ${problem}`,
      attempt,
    )
  }
}

function flawOf(token: string, key: string, { url, body, at }: EntryOf<'attempt'>): string | undefined {
  const [head, payload, signature, ...more] = token.split('.')
  if (head === undefined || payload === undefined || signature === undefined || more.length > 0)
    return 'it is not a JSON Web Token'
  if (toBase64Url(hmacSha256(utf8(key), latin1(`${head}.${payload}`))) !== signature) {
    return 'it was not made with the signing key that was current when the attempt began'
  }
  const claims = claimsOf(payload)
  if (claims.sub !== url) return `its claim "sub" is ${JSON.stringify(claims.sub)} instead of the URL`
  if (String(claims.body).replace(/=+$/, '') !== toBase64Url(sha256Bytes(body)))
    return 'its claim "body" is the hash of another body'
  const seconds = at / 1000
  if (!(Number(claims.nbf) <= seconds && seconds < Number(claims.exp)))
    return 'it is not valid at the time of the attempt'
  return undefined
}

function claimsOf(payload: string): Readonly<Record<string, unknown>> {
  const standard = payload.replaceAll('-', '+').replaceAll('_', '/')
  return (parsedJson(fromBase64(standard) ?? '') ?? {}) as Readonly<Record<string, unknown>>
}
