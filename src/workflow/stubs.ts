import { type Bytes, fromArray, toBase64, utf8 } from '../kernel/bytes.js'
import { compactJson } from '../kernel/compact-json.js'
import { nearestName } from '../kernel/nearest-name.js'

/** What a step throws, as its endpoint would tell it. */
export interface StubError {
  /** `WorkflowNonRetryableError` fails the run at once, `WorkflowRetryAfterError` waits for `retryAfter`. Default `Error`. */
  readonly name?: string | undefined
  readonly message: string
  readonly stack?: string | undefined
  /** Seconds. */
  readonly retryAfter?: number | undefined
}

/** What becomes of a step, as plain data. */
export type StubbedStep =
  | { readonly does: 'returns'; readonly value?: unknown }
  | { readonly does: 'throws'; readonly error: StubError }
  | { readonly does: 'timesOut' }

/** What becomes of a wait for an event. */
export type StubbedEvent = { readonly does: 'arrives'; readonly data: Bytes } | { readonly does: 'timesOut' }

interface Verb {
  /** As the test wrote it, for sentences. */
  readonly text: string
  used: number
}

export interface StepStub extends Verb {
  readonly step: string
  /** Which of the steps of this name in a run, from 1; `undefined`: all. */
  readonly nth: number | undefined
  readonly fate: StubbedStep
  readonly times: number
}

export interface EventStub extends Verb {
  readonly eventId: string
  /** How many were promised before it. */
  readonly number: number
  fate: StubbedEvent
}

export type Skip = 'sleeps' | 'retryDelays'

/** Names of steps and events that are remembered for near misses. */
export const maxNames = 1000

/** What a test has said about steps and events, and what of it came to pass. */
export class Stubs {
  readonly #steps: StepStub[] = []
  readonly #events: EventStub[] = []
  readonly #skips = new Map<Skip, Verb>()
  readonly #stepNames = new Set<string>()
  readonly #eventIds = new Set<string>()

  /** Whether any step may still meet a verb: only then are deliveries looked at. */
  get awaitsSteps(): boolean {
    return this.#steps.some(isOpen)
  }

  addStep(step: string, nth: number | undefined, fate: StubbedStep, times: number = Number.POSITIVE_INFINITY): void {
    const name = nth === undefined ? quoted(step) : `${quoted(step)}, ${nth}`
    const verb = { text: `workflow.stubStep(${name}).${fate.does}(…)`, step, nth, fate, times, used: 0 }
    // Of those that hold for ever the latest is meant; the others come first, in their order.
    const before = this.#steps.findIndex((one) => one.step === step && one.nth === nth && one.times === times)
    if (times === Number.POSITIVE_INFINITY && before >= 0) this.#steps.splice(before, 1)
    this.#steps.push(verb)
  }

  addEvent(eventId: string, fate: StubbedEvent): EventStub {
    const verb: EventStub = {
      text: `workflow.stubEvent(${quoted(eventId)})`,
      eventId,
      number: this.#events.length,
      fate,
      used: 0,
    }
    this.#events.push(verb)
    return verb
  }

  /** @throws RangeError for one that was never promised */
  event(number: number): EventStub {
    const verb = this.#events[number]
    if (verb === undefined) throw new RangeError(`There is no promised event ${number}.`)
    return verb
  }

  skip(what: Skip): void {
    const text = what === 'sleeps' ? 'workflow.skipSleeps()' : 'workflow.skipRetryDelays()'
    if (!this.#skips.has(what)) this.#skips.set(what, { text, used: 0 })
  }

  skips(what: Skip): boolean {
    return this.#skips.has(what)
  }

  /** It skipped one. */
  skipped(what: Skip): void {
    const verb = this.#skips.get(what)
    if (verb !== undefined) verb.used++
  }

  /** A step of this name is there. */
  hear(step: string): void {
    if (this.#stepNames.size < maxNames) this.#stepNames.add(step)
  }

  /** What a step meets, if anything: a verb for this very one first, then those that last for some times only. */
  forStep(step: string, nth: number): StepStub | undefined {
    this.hear(step)
    const open = this.#steps.filter((one) => one.step === step && isOpen(one) && (one.nth ?? nth) === nth)
    return open.sort((one, other) => rank(one) - rank(other))[0]
  }

  /** The next thing that happens to a wait for an event. */
  forEvent(eventId: string): EventStub | undefined {
    if (this.#eventIds.size < maxNames) this.#eventIds.add(eventId)
    return this.#events.find((one) => one.eventId === eventId && one.used === 0)
  }

  /** A sentence for each that nothing has met. */
  get unused(): readonly string[] {
    const steps = this.#steps.filter(isUnused).map(({ text, step, nth }) => {
      if (!this.#stepNames.has(step))
        return `${text} was never used: no step ${quoted(step)} came${near(step, this.#stepNames)}.`
      return `${text} was never used${nth === undefined ? ': another verb came first' : `: there was no step ${quoted(step)} number ${nth}`}.`
    })
    const events = this.#events.filter(isUnused).map(({ text, eventId, fate }) => {
      const what = fate.does === 'timesOut' ? `${text}.timesOut()` : text
      return `${what} was never used: nobody waited for event ${quoted(eventId)}${this.#eventIds.has(eventId) ? ' any more' : near(eventId, this.#eventIds)}.`
    })
    const nothing = { sleeps: 'no step slept', retryDelays: 'no delivery of a run was retried' }
    const skips = [...this.#skips].filter(([, verb]) => isUnused(verb))
    return [...steps, ...events, ...skips.map(([what, { text }]) => `${text} was never used: ${nothing[what]}.`)]
  }
}

function isOpen({ used, times }: StepStub): boolean {
  return used < times
}

function isUnused({ used }: Verb): boolean {
  return used === 0
}

function rank({ nth, times }: StepStub): number {
  return (nth === undefined ? 2 : 0) + (times === Number.POSITIVE_INFINITY ? 1 : 0)
}

/** `; there is 'charge'`, or all that there are. */
export function near(name: string, names: Iterable<string>): string {
  const all = [...names]
  const nearest = nearestName(name, all)
  if (nearest !== undefined) return `; there is ${quoted(nearest)}`
  return all.length === 0 ? '' : `; there are ${all.slice(0, 5).map(quoted).join(', ')}`
}

/** As a test writes it; control characters are spelt out. */
export function quoted(name: string): string {
  const inside = JSON.stringify(name.length > 80 ? `${name.slice(0, 79)}…` : name).slice(1, -1)
  return `'${inside.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** @throws TypeError for what is no JSON */
export function jsonOf(value: unknown, called: string): string | undefined {
  try {
    const json = JSON.stringify(value)
    if (json !== undefined || value === undefined) return json
  } catch (error) {
    throw new TypeError(`${called} needs a value that JSON can hold: ${(error as Error).message}.`)
  }
  throw new TypeError(`${called} needs a value that JSON can hold, got a ${typeof value}.`)
}

/** An event's data as `client.notify()` sends it. [workflow.md 7] */
export function eventBytes(data: unknown): Bytes {
  if (data === undefined) return '' as Bytes
  if (data instanceof Uint8Array) return fromArray(data)
  return utf8(typeof data === 'string' ? data : compactJson(data))
}

type UnknownStub = Readonly<Record<string, unknown>>

function partsOf(value: unknown, names: readonly string[]): UnknownStub | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return names.some((name) => Object.hasOwn(value, name)) ? (value as UnknownStub) : undefined
}

/** What a call came to: `{ status, body, header }`, or any other value as the body of a 200. [workflow.md 6] */
export function callResult(value: unknown): string {
  const parts = partsOf(value, ['status', 'header'])
  const { status = 200, header, body = '' } = parts ?? { body: value }
  const isText = typeof body === 'string'
  return JSON.stringify({
    status,
    body: isText ? body : JSON.stringify(body),
    header: header ?? (isText ? {} : { 'Content-Type': ['application/json'] }),
  })
}

/** What an invoked run came to: `{ body, isFailed, isCanceled }`, or any other value as its body. [workflow.md 9] */
export function invokeOut(value: unknown): string {
  const parts = partsOf(value, ['isFailed', 'isCanceled'])
  const { isFailed = false, isCanceled = false, body } = parts ?? { body: value }
  return JSON.stringify({ body: body === undefined ? undefined : JSON.stringify(body), isFailed, isCanceled })
}

/** The event of a webhook: `{ method, header, body, url }` of the request, or any other value as its body. [workflow.md 8] */
export function webhookData(value: unknown): Bytes {
  const parts = partsOf(value, ['method', 'header', 'url', 'body'])
  const { method = 'POST', header = {}, body, url } = (parts ?? { body: value }) as UnknownStub & { url?: string }
  const { protocol, host, pathname, search } = new URL(url ?? 'https://webhook.test/')
  const sent = body === undefined ? undefined : toBase64(utf8(typeof body === 'string' ? body : JSON.stringify(body)))
  const proto = protocol.slice(0, -1)
  return utf8(JSON.stringify({ method, header, body: sent, proto, host, url: pathname + search }))
}
