import { catalog } from '../src/faults/catalog.js'
import type { FaultRule } from '../src/faults/fault.js'
import { type SignatureFlaw, signatureFlaws } from '../src/queue/signing/signature-lab.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import { differences, effectsOf } from './delivery-effects.js'
import { type DeliverySubject, runDelivery } from './delivery-run.js'

// Whether an app verifies signatures anywhere: only then a wrong one can teach something.

type Point = 'queue.delivery' | 'queue.callback'

/** Deliveries that are looked at. */
const mostPlaces = 12

/** Flaws that every receiver refuses; the SDK's wrappers do not compare the url, and old keys need a rotation. */
const checkedFlaws: readonly SignatureFlaw[] = (Object.keys(signatureFlaws) as SignatureFlaw[]).filter(
  (flaw) => flaw !== 'url' && !flaw.startsWith('rotated'),
)

/** What is known about where an app verifies. */
export interface Verified {
  /** Whether a wrong signature changed anything anywhere. */
  readonly anywhere: boolean
  /** Whether a run without faults calls foreign hosts. */
  readonly calls: boolean
  /** Urls that refused one. */
  readonly refusing: ReadonlySet<string>
  /** One schedule for each flaw at each delivery. */
  readonly schedules: readonly (readonly FaultRule[])[]
}

/** Signs each delivery of an undisturbed run wrongly, one at a time. */
export async function verifiedPlaces(subject: DeliverySubject): Promise<Verified> {
  const refusing = new Set<string>()
  const once = await runDelivery(subject, [])
  once.end()
  const places = once.error === undefined ? placesOf(once.sandbox) : []
  let anywhere = false
  for (const place of places) {
    const run = await runDelivery(subject, [wronglySigned(place, 'key')])
    run.end()
    const [struck] = wronglySignedIn(run.sandbox)
    if (struck === undefined) continue
    if (!struck.accepted) refusing.add(struck.url)
    anywhere ||= !struck.accepted || differences(effectsOf(run), effectsOf(once)).length > 0
  }
  const schedules = anywhere
    ? places.flatMap((place) => checkedFlaws.map((flaw) => [wronglySigned(place, flaw)] as const))
    : []
  return { anywhere, calls: once.calls.length > 0, refusing, schedules }
}

interface Place {
  readonly on: Point
  readonly skip: number
}

function placesOf({ traffic }: Sandbox): readonly Place[] {
  const counts: Record<Point, number> = { 'queue.delivery': 0, 'queue.callback': 0 }
  return traffic
    .of('attempt')
    .slice(0, mostPlaces)
    .map(({ kind }) => {
      const on: Point = kind === 'message' ? 'queue.delivery' : 'queue.callback'
      return { on, skip: counts[on]++ }
    })
}

function wronglySigned({ on, skip }: Place, flaw: SignatureFlaw): FaultRule {
  return { on, ...(skip > 0 && { skip }), times: 1, fault: { kind: 'signature', flaw } }
}

interface Struck {
  readonly url: string
  readonly flaw: string
  readonly status: number
  readonly accepted: boolean
}

function wronglySignedIn({ traffic }: Sandbox): readonly Struck[] {
  return traffic.of('fault').flatMap(({ fault, cause, effect }) => {
    const attempt = fault === 'signature' && cause !== undefined ? traffic.find(cause) : undefined
    if (attempt?.type !== 'attempt') return []
    const status = attempt.outcome?.status ?? 0
    const flaw = flawTold(effect)
    return [{ url: attempt.url, flaw, status, accepted: status >= 200 && status < 300 }]
  })
}

/** The flaw, out of the sentence that a strike leaves. */
function flawTold(effect = ''): string {
  const flaws = Object.keys(signatureFlaws)
  return flaws.find((flaw) => effect === catalog.signature.sentence({ kind: 'signature', flaw }, 'before')) ?? ''
}

/** A delivery that was taken although it was signed wrongly, at a host that verifies others, as an error. */
export function takenUnverified(sandbox: Sandbox, { refusing }: Verified): Error | undefined {
  for (const struck of takenIn(sandbox)) {
    const { url } = struck
    if (refusing.has(url))
      return new Error(
        `${takenText(struck)}, although it refuses one that was signed with a wrong key. expectVerified() tells what it does not verify.`,
      )
    const verifying = [...refusing].find((other) => originOf(other) === originOf(url))
    if (verifying !== undefined)
      return new Error(`${takenText(struck)}. ${verifying} refuses those: is the verification missing here?`)
  }
  return undefined
}

/** Whether a delivery that was signed wrongly was refused for good: only forgers send such, so that nothing is learned. */
export function refusedForGood({ traffic }: Sandbox): boolean {
  return traffic.of('fault').some(({ fault, cause }) => {
    const attempt = fault === 'signature' && cause !== undefined ? traffic.find(cause) : undefined
    return attempt?.type === 'attempt' && attempt.outcome?.state === 'FAILED' && attempt.retried < attempt.maxRetries
  })
}

/** Sentences about deliveries that were answered as if all was well although they were signed wrongly. */
export function swallowed(sandbox: Sandbox): string[] {
  return takenIn(sandbox).map(
    (struck) => `${takenText(struck)}: the queue takes it for done and never delivers it again`,
  )
}

function takenIn(sandbox: Sandbox): readonly Struck[] {
  return wronglySignedIn(sandbox).filter(
    ({ accepted, flaw }) => accepted && (checkedFlaws as readonly string[]).includes(flaw),
  )
}

function takenText({ url, status, flaw }: Struck): string {
  return `${url} answered ${status} to a delivery that was signed wrongly (${signatureFlaws[flaw as SignatureFlaw]})`
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}
