import { type Bytes, fromArray, toBase64, utf8 } from '../kernel/bytes.js'
import { compactJson } from '../kernel/compact-json.js'
import { nearestName } from '../kernel/nearest-name.js'

/** Error of a stubbed step, in the form in which its endpoint reports it. */
export interface StubError {
  /**
   * Class name of the error. With `WorkflowNonRetryableError`, the run fails immediately. With
   * `WorkflowRetryAfterError`, the retry follows after `retryAfter`. Default: `Error`.
   */
  readonly name?: string | undefined
  /** Error text in the response of the endpoint. */
  readonly message: string
  /** Stack trace in the response of the endpoint. Default: none. */
  readonly stack?: string | undefined
  /** Delay before the retry in seconds, for `WorkflowRetryAfterError`. */
  readonly retryAfter?: number | undefined
}

/** Outcome of a stubbed step, as plain data. */
export type StubbedStep =
  | { readonly does: 'returns'; readonly value?: unknown }
  | { readonly does: 'throws'; readonly error: StubError }
  | { readonly does: 'timesOut' }

/** Outcome of a stubbed wait for an event. */
export type StubbedEvent = { readonly does: 'arrives'; readonly data: Bytes } | { readonly does: 'timesOut' }

interface Verb {
  /** The call that created the stub, as source text for messages. */
  readonly text: string
  used: number
}

export interface StepStub extends Verb {
  readonly step: string
  /** Which of the steps with this name in a run, counted from 1. `undefined`: all of them. */
  readonly nth: number | undefined
  readonly fate: StubbedStep
  readonly times: number
}

export interface EventStub extends Verb {
  readonly eventId: string
  /** Number of the event stub: how many event stubs were created before it. */
  readonly number: number
  fate: StubbedEvent
}

export type Skip = 'sleeps' | 'retryDelays'

/** Maximum number of step names, and of event IDs, that are kept for suggestions. */
export const maxNames = 1000

/** The stubs of a test for steps and events. It counts how often each was used. */
export class Stubs {
  readonly #steps: StepStub[] = []
  readonly #events: EventStub[] = []
  readonly #skips = new Map<Skip, Verb>()
  readonly #stepNames = new Set<string>()
  readonly #eventIds = new Set<string>()

  /** Whether any stub of a step can still apply. If none can, deliveries need no check. */
  get awaitsSteps(): boolean {
    return this.#steps.some(isOpen)
  }

  addStep(step: string, nth: number | undefined, fate: StubbedStep, times: number = Number.POSITIVE_INFINITY): void {
    const name = nth === undefined ? quoted(step) : `${quoted(step)}, ${nth}`
    const verb = { text: `workflow.stubStep(${name}).${fate.does}(…)`, step, nth, fate, times, used: 0 }
    // For each name and `nth`, only one stub without a limit can exist. A new one replaces the old one. Stubs with a
    // limit apply first, in the order of their creation.
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

  /** Returns an event stub by its number. @throws RangeError when no stub has this number */
  event(number: number): EventStub {
    const verb = this.#events[number]
    if (verb === undefined) throw new RangeError(`There is no event stub ${number}.`)
    return verb
  }

  skip(what: Skip): void {
    const text = what === 'sleeps' ? 'workflow.skipSleeps()' : 'workflow.skipRetryDelays()'
    if (!this.#skips.has(what)) this.#skips.set(what, { text, used: 0 })
  }

  skips(what: Skip): boolean {
    return this.#skips.has(what)
  }

  skipped(what: Skip): void {
    const verb = this.#skips.get(what)
    if (verb !== undefined) verb.used++
  }

  /** Remembers the name of a step that occurred. Messages about unused stubs suggest such names. */
  hear(step: string): void {
    if (this.#stepNames.size < maxNames) this.#stepNames.add(step)
  }

  /** Returns the stub for a step, or `undefined`. A stub for this number takes precedence, then a stub with a limit. */
  forStep(step: string, nth: number): StepStub | undefined {
    this.hear(step)
    const open = this.#steps.filter((one) => one.step === step && isOpen(one) && (one.nth ?? nth) === nth)
    return open.sort((one, other) => rank(one) - rank(other))[0]
  }

  forEvent(eventId: string): EventStub | undefined {
    if (this.#eventIds.size < maxNames) this.#eventIds.add(eventId)
    return this.#events.find((one) => one.eventId === eventId && one.used === 0)
  }

  get unused(): readonly string[] {
    const steps = this.#steps.filter(isUnused).map(({ text, step, nth }) => {
      if (!this.#stepNames.has(step))
        return `${text} was never used: no step ${quoted(step)} occurred${near(step, this.#stepNames)}.`
      return `${text} was never used${nth === undefined ? ': another stub applied first' : `: no run had a step ${quoted(step)} number ${nth}`}.`
    })
    const events = this.#events.filter(isUnused).map(({ text, eventId, fate }) => {
      const what = fate.does === 'timesOut' ? `${text}.timesOut()` : text
      return `${what} was never used: no run waited for event ${quoted(eventId)}${this.#eventIds.has(eventId) ? ' again' : near(eventId, this.#eventIds)}.`
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

/**
 * Returns the end of a message about a misspelled name: `; there is 'charge'`. If no known name is similar, the text
 * lists up to five known names.
 */
export function near(name: string, names: Iterable<string>): string {
  const all = [...names]
  const nearest = nearestName(name, all)
  if (nearest !== undefined) return `; there is ${quoted(nearest)}`
  return all.length === 0 ? '' : `; there are ${all.slice(0, 5).map(quoted).join(', ')}`
}

/** Returns a name as a string literal, with control characters escaped. */
export function quoted(name: string): string {
  const inside = JSON.stringify(name.length > 80 ? `${name.slice(0, 79)}…` : name).slice(1, -1)
  return `'${inside.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Returns a value as JSON. @throws TypeError when JSON cannot represent the value */
export function jsonOf(value: unknown, called: string): string | undefined {
  try {
    const json = JSON.stringify(value)
    if (json !== undefined || value === undefined) return json
  } catch (error) {
    throw new TypeError(`${called}: JSON cannot represent the value: ${(error as Error).message}.`)
  }
  throw new TypeError(`${called}: JSON cannot represent the value (got a ${typeof value}).`)
}

/** Encodes the data of an event as `client.notify()` sends it. [workflow.md 7] */
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

/**
 * Returns the result of a stubbed call. A value without the fields `{ status, body, header }` becomes the body of a
 * response with status 200. [workflow.md 6]
 */
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

/**
 * Returns the result of a stubbed invocation. A value without the fields `{ body, isFailed, isCanceled }` becomes the
 * body of the result. [workflow.md 9]
 */
export function invokeOut(value: unknown): string {
  const parts = partsOf(value, ['isFailed', 'isCanceled'])
  const { isFailed = false, isCanceled = false, body } = parts ?? { body: value }
  return JSON.stringify({ body: body === undefined ? undefined : JSON.stringify(body), isFailed, isCanceled })
}

/**
 * Returns the event of a stubbed webhook. A value without the fields `{ method, header, body, url }` becomes the body
 * of the webhook's request. [workflow.md 8]
 */
export function webhookData(value: unknown): Bytes {
  const parts = partsOf(value, ['method', 'header', 'url', 'body'])
  const { method = 'POST', header = {}, body, url } = (parts ?? { body: value }) as UnknownStub & { url?: string }
  const { protocol, host, pathname, search } = new URL(url ?? 'https://webhook.test/')
  const sent = body === undefined ? undefined : toBase64(utf8(typeof body === 'string' ? body : JSON.stringify(body)))
  const proto = protocol.slice(0, -1)
  return utf8(JSON.stringify({ method, header, body: sent, proto, host, url: pathname + search }))
}
