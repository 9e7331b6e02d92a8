import type { FixtureOptions } from '../../../../fixtures/fixture-sandbox.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import { engineOf } from '../../../../src/queue/queue-internals.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { type Effects, effectsOf } from '../delivery/delivery-effects.js'
import { type DeliveryHandler, type DeliveryUnderTest, runDelivery } from '../delivery/delivery-run.js'
import type { Question, SignedDelivery } from './verification-cases.js'
import type { AppUnderTest, VerificationOptions } from './verification-options.js'
import { isElsewhere } from './verification-options.js'

/** What an app did with one delivery. */
export interface Reaction {
  /** Whether the app responded with 2xx. */
  readonly accepted: boolean
  readonly attempt: EntryOf<'attempt'>
  readonly sandbox: Sandbox
  readonly effects: Effects
}

export interface VerificationAnswer extends Reaction {
  readonly question: Question
}

/** Options of the check, with a URL for the delivery. */
export interface VerificationRequest extends VerificationOptions {
  readonly to: string
}

/** The app under test, and the options of the sandbox in which it runs. */
export interface VerificationSandbox extends Omit<DeliveryUnderTest, 'handler' | 'publish'> {
  readonly sandbox: FixtureOptions
  readonly app: AppUnderTest
}

export function verificationSandboxOf(app: AppUnderTest, options: VerificationOptions): VerificationSandbox {
  const { outbound, drain: settle, keys, hosts = [] } = options
  const deliver = ['127.0.0.1', 'localhost', '[::1]', ...hosts]
  return {
    app,
    ...(outbound !== undefined && { outbound }),
    ...(settle !== undefined && { drain: settle }),
    sandbox: {
      ...options.sandbox,
      ...(keys !== undefined && { signingKeys: { current: keys.current, next: keys.next } }),
      ...(isElsewhere(app) && { deliverTo: deliver, fetch: options.sandbox?.fetch ?? globalThis.fetch }),
    },
  }
}

/** Sends one delivery in a new sandbox. */
export async function ask(
  world: VerificationSandbox,
  delivery: SignedDelivery,
  options: VerificationRequest,
): Promise<Reaction> {
  const { flaw } = delivery
  const wrong: FaultRule[] =
    flaw === undefined ? [] : [{ on: 'queue.delivery', times: 1, fault: { kind: 'bad-signature', flaw } }]
  const deliver = (sandbox: Sandbox): void => publish(sandbox, delivery, options)
  const run = await runDelivery({ ...taking(world, delivery), publish: deliver }, wrong)
  run.end()
  const [attempt] = run.sandbox.traffic.ofType('attempt')
  // Returns the app as the handler of a delivery. If the delivery must be unsigned, the app gets it without the
  // signature.
  if (run.error !== undefined && attempt?.outcome === undefined) throw run.error
  if (attempt === undefined)
    throw new TypeError('assertVerifiesSignatures(): nothing was delivered. Move time in `drain`.')
  const { status = 0 } = attempt.outcome ?? {}
  const effects = effectsOf(run, { ...options, given: false })
  return { accepted: status >= 200 && status < 300, attempt, sandbox: run.sandbox, effects }
}

function publish(
  { queue }: Sandbox,
  { body }: SignedDelivery,
  { to, method = 'POST', headers, keys }: VerificationRequest,
): void {
  const { former = [] } = keys ?? {}
  if (former.length > 0) engineOf(queue).keys.replace({ ...queue.signingKeys.pair(), former })
  queue.publish({ to, method, retries: 0, headers: { 'content-type': 'application/json', ...headers }, body })
}

/** Returns the app as the receiver of a delivery. An unsigned delivery loses its signature before the app gets it. */
function taking(
  { app, sandbox, ...world }: VerificationSandbox,
  { unsigned }: SignedDelivery,
): Omit<DeliveryUnderTest, 'publish'> {
  if (isElsewhere(app)) {
    const { fetch } = sandbox
    const lossy: typeof fetch = (input, init) => fetch!(stripped(new Request(input, init)), { redirect: 'manual' })
    return { ...world, handler: {}, sandbox: { ...sandbox, ...(unsigned === true && { fetch: lossy }) } }
  }
  const lossy =
    (handler: DeliveryHandler): DeliveryHandler =>
    (request, task, world) =>
      handler(stripped(request), task, world)
  if (unsigned !== true) return { ...world, sandbox, handler: app }
  if (typeof app === 'function') return { ...world, sandbox, handler: lossy(app) }
  const routes = Object.entries(app).map(([url, handler]) => [url, lossy(handler)] as const)
  return { ...world, sandbox, handler: Object.fromEntries(routes) }
}

function stripped(request: Request): Request {
  const headers = new Headers(request.headers)
  for (const name of [...headers.keys()]) if (name.endsWith('-signature')) headers.delete(name)
  return new Request(request, { headers })
}
