import { catalog } from '../../../../src/faults/catalog.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { type SignatureFlaw, signatureFlaws } from '../../../../src/queue/signing/signature-lab.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { differences, type Effects, effectsOf } from './delivery-effects.js'
import { type DeliveryUnderTest, runDelivery } from './delivery-run.js'

// Finds out whether the app verifies signatures. Only then does the check try wrong signatures.

type Point = 'queue.delivery' | 'queue.callback'

const maxPlaces = 12

/**
 * Flaws that an app always rejects if it verifies signatures. Excluded are `url`, because the SDK's wrappers do not
 * compare it, and rotated keys, because they only exist after a rotation.
 */
const checkedFlaws: readonly SignatureFlaw[] = (Object.keys(signatureFlaws) as SignatureFlaw[]).filter(
  (flaw) => flaw !== 'url' && !flaw.startsWith('rotated'),
)

/** Result of signing deliveries wrongly: whether the app verifies signatures, and at which URLs. */
export interface Verified {
  /** Number of outbound requests in a run without faults. */
  readonly calls: number
  /**
   * Whether the app rejected any delivery because of its wrong signature, or had other effects than with a correct
   * signature.
   */
  readonly anywhere: boolean
  /** URLs that rejected a wrong signature. */
  readonly refusing: ReadonlySet<string>
  /** Fault plans that sign one delivery wrongly, one plan for each flaw and delivery. */
  readonly schedules: readonly (readonly FaultRule[])[]
}

/** Repeats the undisturbed run once for each accepted delivery, and signs this delivery wrongly. */
export async function verifiedPlaces(subject: DeliveryUnderTest): Promise<Verified> {
  const refusing = new Set<string>()
  const first = await undisturbed(subject)
  let anywhere = false
  for (const place of first.places) {
    const [wrong, again] = [
      await wronglySignedAt(place, 'key', subject),
      await wronglySignedAt(place, 'tampered', subject),
    ]
    if (wrong.struck?.accepted === false && again.struck?.accepted === false) refusing.add(place.url)
    anywhere ||= differences(wrong.effects, first.effects).length > 0
  }
  // An app that fails randomly also fails with a wrong signature. If two undisturbed runs accept different numbers of
  // deliveries, the rejections prove nothing.
  const second = refusing.size === 0 ? first : await undisturbed(subject)
  const isSteady = second.places.length === first.places.length
  if (!isSteady) refusing.clear()
  anywhere ||= refusing.size > 0
  const schedules = anywhere
    ? first.places.flatMap((place) => checkedFlaws.map((flaw) => [wronglySigned(place, flaw)] as const))
    : []
  return { calls: first.calls, anywhere, refusing, schedules }
}

/** Values by which a fault rule matches one delivery. */
interface Place {
  readonly on: Point
  readonly skip: number
  readonly url: string
}

async function undisturbed(
  subject: DeliveryUnderTest,
): Promise<{ places: readonly Place[]; calls: number; effects: Effects }> {
  const run = await runDelivery(subject, [])
  run.end()
  return {
    calls: run.calls.length,
    places: run.error === undefined ? acceptedIn(run.sandbox) : [],
    effects: effectsOf(run),
  }
}

function acceptedIn({ traffic }: Sandbox): readonly Place[] {
  const counts: Record<Point, number> = { 'queue.delivery': 0, 'queue.callback': 0 }
  return traffic
    .ofType('attempt')
    .slice(0, maxPlaces)
    .flatMap(({ kind, url, outcome }) => {
      const on: Point = kind === 'message' ? 'queue.delivery' : 'queue.callback'
      const skip = counts[on]++
      return outcome?.state === 'DELIVERED' ? [{ on, skip, url }] : []
    })
}

async function wronglySignedAt(
  place: Place,
  flaw: SignatureFlaw,
  subject: DeliveryUnderTest,
): Promise<{ struck: Struck | undefined; effects: Effects }> {
  const run = await runDelivery(subject, [wronglySigned(place, flaw)])
  run.end()
  return { struck: wronglySignedIn(run.sandbox)[0], effects: effectsOf(run) }
}

function wronglySigned({ on, skip }: Place, flaw: SignatureFlaw): FaultRule {
  return { on, ...(skip > 0 && { skip }), times: 1, fault: { kind: 'bad-signature', flaw } }
}

interface Struck {
  readonly url: string
  readonly flaw: string
  readonly status: number
  readonly accepted: boolean
}

function wronglySignedIn({ traffic }: Sandbox): readonly Struck[] {
  return traffic.ofType('fault').flatMap(({ fault, cause, effect }) => {
    const attempt = fault === 'bad-signature' && cause !== undefined ? traffic.get(cause) : undefined
    if (attempt?.type !== 'attempt') return []
    const status = attempt.outcome?.status ?? 0
    const flaw = flawTold(effect)
    return [{ url: attempt.url, flaw, status, accepted: status >= 200 && status < 300 }]
  })
}

/** Returns the flaw that the text of an injected fault describes. */
function flawTold(effect = ''): string {
  const flaws = Object.keys(signatureFlaws) as SignatureFlaw[]
  return (
    flaws.find((flaw) => effect === catalog['bad-signature'].sentence({ kind: 'bad-signature', flaw }, 'before')) ?? ''
  )
}

/**
 * Returns an error if a URL accepted a wrong signature, although that URL or another URL of the same origin rejects
 * wrong signatures.
 */
export function takenUnverified(sandbox: Sandbox, { refusing }: Verified): Error | undefined {
  for (const struck of takenIn(sandbox)) {
    const { url } = struck
    if (refusing.has(url))
      return new Error(
        `${takenText(struck)}, although it rejects a delivery that was signed with a wrong key. Run assertVerifiesSignatures() to see what the app does not verify.`,
      )
    const verifying = [...refusing].find((other) => originOf(other) === originOf(url))
    if (verifying !== undefined)
      return new Error(`${takenText(struck)}. ${verifying} rejects such deliveries. Verify signatures at ${url} too.`)
  }
  return undefined
}

/**
 * Returns whether the app rejected a wrongly signed delivery without a retry. In production only an attacker sends such
 * a delivery, so the run has no result.
 */
export function refusedForGood({ traffic }: Sandbox): boolean {
  return traffic.ofType('fault').some(({ fault, cause }) => {
    const attempt = fault === 'bad-signature' && cause !== undefined ? traffic.get(cause) : undefined
    return attempt?.type === 'attempt' && attempt.outcome?.state === 'FAILED' && attempt.retried < attempt.maxRetries
  })
}

/** Returns lines about wrongly signed deliveries that got a success response. */
export function swallowed(sandbox: Sandbox): string[] {
  return takenIn(sandbox).map((struck) => `${takenText(struck)}: the queue counts it as delivered and never retries it`)
}

function takenIn(sandbox: Sandbox): readonly Struck[] {
  return wronglySignedIn(sandbox).filter(
    ({ accepted, flaw }) => accepted && (checkedFlaws as readonly string[]).includes(flaw),
  )
}

function takenText({ url, status, flaw }: Struck): string {
  return `${url} responded ${status} to a delivery that was signed wrongly (${signatureFlaws[flaw as SignatureFlaw]})`
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}
