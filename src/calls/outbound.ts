import type { FaultSource } from '../faults/fault.js'
import { bindMethods } from '../kernel/bind-methods.js'
import type { Bytes } from '../kernel/bytes.js'
import { type Clock, gateOf, letOutsideContinue } from '../kernel/clock.js'
import { formatDuration } from '../kernel/duration.js'
import { errorText } from '../kernel/error-text.js'
import { type Hints, inProcess } from '../kernel/hints.js'
import { ConnectionBroken, noHeaders } from '../kernel/http.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../kernel/input-recorder.js'
import { type Internals, internals } from '../kernel/internals.js'
import type { Random } from '../kernel/random.js'
import { SandboxDisposed } from '../kernel/running-task.js'
import type { Task } from '../kernel/time.js'
import type { LoggedOutboundResponse, TrafficLog } from '../kernel/traffic-log.js'
import { sentTo } from '../protocol/call.js'
import { soon } from '../protocol/gateway.js'
import type { RawRequest, RawResponse } from '../protocol/service.js'
import { fetchThrough } from '../protocol/web.js'
import { Network, ownRoom } from '../queue/destinations/network.js'
import { type Recorder, RecorderList } from '../queue/destinations/recorder.js'
import { shownPattern, shownUrl } from '../secrets/urls.js'
import { RefusedRequests, refusal } from './blocked-outbound.js'
import type { Caller, Callers } from './callers.js'
import { injectRules, injectStep, type OutboundFaultContext } from './outbound-faults.js'
import { OutboundRequest, outboundRequestInternals } from './outbound-request.js'
import {
  type CalledOutboundHandler,
  type MakesRoom,
  type OutboundHandler,
  type OutboundResponder,
  type OutboundResponderFn,
  type OutboundResponse,
  requested,
  respondedBy,
  responderFor,
  responseOf,
} from './outbound-responses.js'
import { type OutboundRoute, Routes } from './outbound-routes.js'
import { checkedSteps, type OutboundStep, shownStep } from './outbound-steps.js'

export interface OutboundOptions {
  /** Limits the memory for response bodies that are being read. */
  readonly network?: Network | undefined
  readonly clock: Clock
  readonly traffic: TrafficLog
  readonly faults: FaultSource
  readonly random: Random
  readonly callers: Callers
  /**
   * Advice that error messages give, such as how to register a response. Default: advice for a test in the same process
   * as the sandbox.
   */
  readonly hints?: Hints | undefined
  /** Records inputs from outside the sandbox for the journal, together with the cause of each request. */
  readonly inputs?: InputRecorder | undefined
  /** Host time in milliseconds after which a handler that neither ends nor sleeps counts as stalled. */
  readonly patience?: number | undefined
}

/** Unused steps of a script. */
export interface UnusedScript {
  /** URL pattern of the script, as the test registered it. */
  readonly pattern: string
  /** Unused steps in their order. `kind` is the kind of a fault such as `lost-ack`, or `response` or `handler`. */
  readonly steps: readonly { readonly kind: string }[]
}

/** Origin of an outbound request. */
export interface CallOptions {
  /** `true` for a request that arrived through a socket or from a browser. Default `false`. */
  readonly outside?: boolean
}

export type OutboundEffects = MethodEffects<
  Outbound,
  {
    on: 'changes'
    respond: 'changes'
    record: 'changes'
    script: 'changes'
    off: 'changes'
    onOrigin: 'reads'
    reaches: 'reads'
    knows: 'reads'
    isRegistered: 'reads'
    takes: 'reads'
    wrongWith: 'reads'
    exchange: 'reads'
    fetch: 'reads'
  }
>

/** Operations on `Outbound` for other code of this package. */
export interface OutboundInternals {
  /** Returns the recorder that was registered first for a pattern. */
  recorderAt(pattern: string): Recorder<OutboundRequest> | undefined
  /**
   * Returns the registered handlers and fixed responses, which respond after all script steps are used. Use the values
   * only to check with `===` whether two of them are the same.
   */
  answerers(): ReadonlySet<unknown>
  /**
   * Returns the handler or response that is registered for a request. Returns `undefined` if only scripts and recorders
   * are registered.
   */
  responderAt(method: string, url: string): unknown
  /**
   * Whether a registered handler or fixed response was used at least once. It is never used if a script determines the
   * response to every request.
   */
  hasAsked(answerer: unknown): boolean
  /**
   * Sends a request that `caller` caused. `exchange()` and `fetch` call this function. Crash checks replace it with
   * their own function.
   */
  exchangeFor: (caller: Caller, call: RawRequest) => Promise<RawResponse>
  /**
   * Remembers a request of the app for which no handler is registered. Fixtures call this before the request goes to
   * the network or to another interception tool.
   * @returns a function that reports the request; call it if the request is then blocked
   */
  leaves(method: string, url: string): () => void
  /**
   * Reports a request that `stuntdouble serve` has blocked, with the text `sentence`. A server never sends a request of
   * the app to another host.
   */
  refuse(method: string, url: string, sentence: string): void
  /** Starts tracking the causes of requests for fixtures, even if nothing is registered. */
  watch(): void
}

export const outboundInternals: Internals<Outbound, OutboundInternals> = internals('outbound')

/**
 * Outbound requests of the app: handlers, responses and scripts for hosts other than the sandbox and the app itself.
 */
export class Outbound {
  static {
    bindMethods(Outbound)
  }

  readonly #options: OutboundOptions
  readonly #inputs: InputRecorder<Changes<OutboundEffects>>
  readonly #hints: Hints
  readonly #network: Network
  readonly #room: MakesRoom = () => this.#network.answer()
  readonly #routes = new Routes()
  readonly #unhandled = new Map<string, string>()
  /** For each host name, the latest request that the sandbox did not intercept. */
  readonly #passed = new Map<string, { readonly method: string; readonly url: string }>()
  /** Messages about requests that reached the network although their host is registered. */
  readonly #missed = new Set<string>()
  readonly #refused = new RefusedRequests()
  readonly #listeners = new Set<(route: OutboundRoute) => void>()
  readonly #asked = new Set<unknown>()
  #random: Random | undefined
  /**
   * Errors that handlers threw. The app received a response with the status 500, and a test can check the errors here.
   */
  readonly errors: unknown[] = []

  /** @internal */
  constructor(options: OutboundOptions) {
    this.#options = options
    this.#inputs = options.inputs ?? unrecorded
    this.#hints = options.hints ?? inProcess
    this.#network = options.network ?? new Network(ownRoom())
    outboundInternals.attach(this, {
      recorderAt: (pattern) => this.#routes.all.find(({ text }) => text === pattern)?.recorders[0],
      answerers: () => new Set(this.#routes.all.flatMap(({ handler }) => handler ?? [])),
      responderAt: (method, url) => underneath(this.#routes.for(method, url)),
      hasAsked: (answerer) => this.#asked.has(answerer),
      exchangeFor: (caller, call) => this.#exchange(call, caller),
      leaves: (method, url) => this.#leaves(method, url),
      refuse: (method, url, sentence) => {
        if (this.#unhandled.size < maxReportedOutbound) this.#unhandled.set(`${method} ${url}`, sentence)
        if (this.#missed.size < maxReportedOutbound) this.#missed.add(sentence)
      },
      watch: () => this.#options.callers.watch(),
    })
  }

  /**
   * Registers a handler for a URL that the app requests. `*` matches any characters, and a method may precede the URL.
   * A pattern without `?` matches any query. Exact patterns win over wildcards, later ones over earlier ones.
   * @throws TypeError when the pattern is not a URL or the handler is not a function
   * @example sandbox.outbound.on('POST https://bank.test/charges', () => Response.json({ id: 'ch_1' }, { status: 201 }))
   */
  on(pattern: string | URL, handler: OutboundHandler): this {
    const [at] = this.#inputs.record('on', pattern, handler)
    if (typeof handler !== 'function') {
      throw new TypeError(
        `${called('on', at)}: the second argument must be a function (request, task) => Response (got ${errorText(handler)}).`,
      )
    }
    return this.#handle(at, this.#by(requested(handler)))
  }

  /**
   * Registers a fixed response, or a plain function that receives the outbound request and returns one.
   * @throws TypeError when the second argument is not a response that a host can send
   * @example sandbox.outbound.respond('https://bank.test/charges', { status: 201, body: { id: 'ch_1' } })
   */
  respond(pattern: string | URL, answer: OutboundResponder | OutboundResponse): this {
    const [at, given] = this.#inputs.record('respond', pattern, answer)
    const name = called('respond', at)
    if (given === undefined || given === null) {
      throw new TypeError(
        `${name}: the second argument must be a status, { status, headers, body }, or a function that receives the request and returns a response (got ${given}).`,
      )
    }
    return this.#handle(
      at,
      typeof given === 'function' ? this.#by((call, task) => given(call, task)) : responderFor(given, this.#room, name),
    )
  }

  /**
   * Records the requests of the app to a URL. Responds 200 unless a response is registered for the URL or passed as the
   * second argument.
   * @example
   * const charges = sandbox.outbound.record('https://bank.test/charges')
   * await fetch('https://bank.test/charges', { method: 'POST' })
   * expect(charges.count).toBe(1)
   */
  record(pattern: string | URL, answer?: OutboundResponse): Recorder<OutboundRequest> {
    const [at, given] = this.#inputs.record('record', pattern, answer)
    const handler = given === undefined ? undefined : responderFor(given, this.#room, called('record', at))
    const recorder = new RecorderList<OutboundRequest>(String(at))
    const route = this.#route(at)
    route.recorders.push(recorder)
    if (handler !== undefined) route.handler = handler
    return recorder
  }

  /**
   * Sets a list of steps for the next requests. Each request uses up one step: a status, a fault such as
   * `fault.lostAck()`, `fault.pass()`, a `Response`, or a handler. After the last step, the registered handler
   * responds. Without a handler, the status is 200.
   * @throws TypeError when a step is none of these
   * @example sandbox.outbound.script('https://bank.test/charges', [fault.lostAck(), 503])
   */
  script(pattern: string | URL, steps: readonly (OutboundStep | number)[]): this {
    const [at, given] = this.#inputs.record('script', pattern, steps)
    const checked = checkedSteps(given, called('script', at))
    this.#route(at).script.push(...checked)
    return this
  }

  /**
   * Script steps that no request has used. `kind` is the kind of a fault such as `lost-ack`, or `response` or
   * `handler`.
   */
  get unused(): readonly UnusedScript[] {
    return this.#routes.all
      .filter(({ script }) => script.length > 0)
      .map(({ text, script }) => ({ pattern: text, steps: script.map(shownStep) }))
  }

  /**
   * Removes the registration of a pattern, or without a pattern all registrations.
   * @example
   * sandbox.outbound.respond('https://bank.test/*', 200)
   * sandbox.outbound.off('https://bank.test/*')
   */
  off(pattern?: string | URL): void {
    this.#inputs.record('off', pattern)
    this.#routes.off(pattern)
  }

  /**
   * Calls the listener for each origin, such as `https://bank.test`, that is registered now or later. Some interception
   * tools need these origins before the first request.
   * @internal
   */
  onOrigin(listener: (origin: string) => void): () => void {
    const seen = new Set<string>()
    const tell = ({ pattern: { text } }: OutboundRoute): void => {
      const origin = /^https?:\/\/[^/?#*]+(?=[/?#]|$)/i.exec(text)?.[0]
      if (origin === undefined || seen.has(origin)) return
      seen.add(origin)
      listener(origin)
    }
    for (const route of this.#routes.all) tell(route)
    this.#listeners.add(tell)
    return () => this.#listeners.delete(tell)
  }

  /** Whether anything is registered. @internal */
  get isEmpty(): boolean {
    return this.#routes.all.length === 0
  }

  /** Patterns as they were registered. @internal */
  get patterns(): readonly string[] {
    return this.#routes.all.map(({ text }) => text)
  }

  /**
   * Messages about two kinds of requests: those that were not intercepted although their host is registered, and those
   * that a server blocked.
   */
  get unhandled(): readonly string[] {
    return [...this.#unhandled.values()]
  }

  /**
   * Messages about requests that got no response from the sandbox or from another interception tool. Only fixtures
   * track such requests.
   * @internal
   */
  get unanswered(): readonly string[] {
    return [...new Set([...this.#refused.sentences, ...this.#missed])]
  }

  /**
   * Reports that the app looked up a host name for a network connection. A look-up means that no interception tool has
   * responded to the request. Fixtures call this.
   * @param refused `true`: report every host; `false`: report only hosts with a registration
   * @returns the error message; `undefined` if the host is not reported
   * @internal
   */
  reaches(hostname: string, refused: boolean): string | undefined {
    const request = this.#passed.get(hostname)
    const near = request && this.wrongWith(request.method, request.url)
    if (!refused) {
      if (near !== undefined && this.#missed.size < maxReportedOutbound) this.#missed.add(near)
      return near
    }
    // A DNS look-up shows only the host and not the request that caused it. `leaves()` reports the requests of `fetch`,
    // because it knows their URL.
    this.#refused.add({ hostname, near }, this.#attempt())
    return refusal({ hostname, request, near })
  }

  #leaves(method: string, url: string): () => void {
    const attempt = this.#attempt()
    const near = this.wrongWith(method, url)
    return () => this.#refused.add({ hostname: new URL(url).hostname, request: { method, url }, near }, attempt)
  }

  /** Returns the `seq` of the delivery attempt whose handler is running. */
  #attempt(): number | undefined {
    const { callers, traffic } = this.#options
    const { cause } = callers.caller(false)
    return cause !== undefined && traffic.get(cause)?.type === 'attempt' ? cause : undefined
  }

  /** Whether a URL is registered, for any method. @internal */
  knows(url: string): boolean {
    return this.#routes.all.some(({ pattern }) => pattern.matches(url))
  }

  /**
   * Whether a registration matches a request. Unlike `takes()`, this call does not record requests without a match.
   * @internal
   */
  isRegistered(method: string, url: string): boolean {
    return this.#routes.for(method, url).length > 0
  }

  /**
   * Whether an adapter must intercept a request. If not, the request is recorded. If its host is registered with
   * another method or path, the sandbox can then report this.
   * @internal
   */
  takes(method: string, url: string): boolean {
    if (this.#routes.for(method, url).length > 0) return true
    if (this.#passed.size < maxReportedOutbound && URL.canParse(url))
      this.#passed.set(new URL(url).hostname, { method, url })
    if (this.isEmpty) return false
    const sentence = this.wrongWith(method, url)
    const key = `${method} ${url}`
    if (sentence !== undefined && this.#unhandled.size < maxReportedOutbound) this.#unhandled.set(key, sentence)
    return false
  }

  /**
   * Returns a message if a registration has the host of a request but another method or path. Returns `undefined` for
   * hosts without a registration.
   * @internal
   */
  wrongWith(method: string, url: string): string | undefined {
    const near = this.#routes.near(method, url)
    if (near === undefined) return undefined
    const { route, wrong } = near
    return (
      `${method} ${shownUrl(url)} is unhandled: ${shownPattern(route.text)} is registered, but its ${wrong} differs. ` +
      `${this.#hints.call(shownPattern(url))}, or use '*' in the pattern.`
    )
  }

  /**
   * Sends one outbound request as plain values, for adapters. Rejects with `ConnectionBroken` if no response arrives.
   * @internal
   */
  exchange(call: RawRequest, { outside = false }: CallOptions = {}): Promise<RawResponse> {
    // Read the cause synchronously, because the asynchronous context of the caller is lost later.
    return outboundInternals.of(this).exchangeFor(this.#options.callers.caller(outside), call)
  }

  #exchange(call: RawRequest, caller: Caller): Promise<RawResponse> {
    const label = `request ${call.method} ${shownUrl(call.url)}`
    const body = call.body()
    const track = <T>(work: (task: Task) => Promise<T>): Promise<T> => this.#options.clock.track(label, work)
    if (typeof body === 'string') return track((task) => this.#answer(call, body, caller, task))
    return track(async (task) => {
      const bytes = await soon(body)
      const gate = gateOf(this.#options.clock)
      while (!gate.isOpen) await gate.turn()
      return bytes === undefined ? undefined : this.#answer(call, bytes, caller, task)
    }).then((given) => given ?? body.then((bytes) => track((task) => this.#answer(call, bytes, caller, task))))
  }

  /**
   * `fetch` function for the registered hosts. You can pass it to a client by itself, without the `outbound` object.
   */
  readonly fetch: (input: Request | string | URL, init?: RequestInit) => Promise<Response> = (input, init) =>
    this.#fetch(input, init)

  #fetch(input: Request | string | URL, init: RequestInit | undefined): Promise<Response> {
    const { clock, callers } = this.#options
    // Read the cause now: the clock may delay the request, and the asynchronous context is lost by then.
    const caller = callers.caller(false)
    return fetchThrough(gateOf(clock), (call) => this.#exchangeOnly(call, caller), input, init)
  }

  #exchangeOnly(call: RawRequest, caller: Caller): Promise<RawResponse> {
    if (this.takes(call.method, call.url)) return outboundInternals.of(this).exchangeFor(caller, call)
    letOutsideContinue(this.#options.clock)
    throw new Error(
      this.wrongWith(call.method, call.url) ??
        `outbound.fetch(): ${shownUrl(call.url)} is not registered. ${this.#hints.call(shownPattern(call.url))}.`,
    )
  }

  async #answer(given: RawRequest, body: Bytes, caller: Caller, task: Task): Promise<RawResponse> {
    const { clock, traffic, callers } = this.#options
    const { journal } = this.#inputs
    const { method, url, headers } = given
    const { signal } = given
    const gone = signal?.aborted === true ? { gone: { reason: signal.reason as unknown } } : undefined
    const number = journal?.call({ method, url, headers, body, caller, ...gone })
    const call = new OutboundRequest(given.method, given.url, given.headers, body)
    if (caller.possibleCauses !== undefined) call.possibleCauses = caller.possibleCauses
    traffic.adopt(call, caller.cause)
    const routes = this.#routes.for(call.method, call.url)
    for (const { recorders } of routes) for (const recorder of recorders) recorder.requests.push(call)
    this.#watch(call, task)
    let last: string | undefined
    const scene: OutboundFaultContext = {
      call,
      task,
      clock,
      signal,
      faults: this.#options.faults,
      draw: (below) => this.#draw(below),
      handle: () => callers.runs(call.seq, () => this.#meet(call, routes, scene, (told) => (last = told))),
    }
    const end = (seen: Omit<LoggedOutboundResponse, 'at' | 'note'>): void => {
      if (call.response !== undefined) return
      const note = noteOf(call, last, seen)
      call.response = { at: clock.now(), ...seen, ...(note !== undefined && { note }) }
      traffic.complete(call)
      letOutsideContinue(clock)
    }
    const giveUp = (): void => end(noAnswer(`the app gave up: ${errorText(signal?.reason)}`))
    const abort = (): void => {
      journal?.note('gaveUp', { call: number!, reason: signal?.reason })
      giveUp()
    }
    if (gone !== undefined) giveUp()
    signal?.addEventListener('abort', abort, { once: true })
    const finish = (answer: RawResponse): RawResponse => {
      const { status, headers, body } = answer
      end({ status, headers, body: body === null ? ('' as Bytes) : typeof body === 'string' ? body : undefined })
      return sentTo(call, answer)
    }
    const fail = (error: unknown): never => {
      if (error instanceof ConnectionBroken || error instanceof SandboxDisposed) end(noAnswer(error.message))
      throw error instanceof SandboxDisposed ? new ConnectionBroken('ECONNRESET', error.message) : error
    }
    try {
      return await gateOf(clock).after(injectRules(scene), finish, fail)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Carries out the next step of a script, or runs the handler. */
  #meet(
    call: OutboundRequest,
    routes: readonly OutboundRoute[],
    scene: OutboundFaultContext,
    tell: (deed: string) => void,
  ): Promise<RawResponse> {
    const step = routes.find(({ script }) => script.length > 0)?.script.shift()
    const handler = underneath(routes) ?? (async () => responseOf(plain))
    const handled = (answering: OutboundResponderFn): Promise<RawResponse> => {
      call.handlerRuns++
      return answering(call, scene.task, scene.signal).then(
        (answer) => {
          tell(`responded ${answer.status}`)
          return answer
        },
        (error) => {
          tell('broke the connection')
          throw error
        },
      )
    }
    const asked = (): Promise<RawResponse> => {
      this.#asked.add(handler)
      return handled(handler)
    }
    if (step === undefined) return asked()
    if (typeof step === 'function') return handled(this.#by(requested(step)))
    if ('kind' in step) return injectStep(step, scene, asked)
    return handled(responderFor(step, this.#room, called('script', call.url)))
  }

  /** Makes a stalled handler count as asleep after the stall timeout, so that virtual time can continue. */
  #watch({ method, url }: OutboundRequest, task: Task): void {
    const { patience } = this.#options
    task.whenStuck?.(
      () => patience,
      () =>
        `${method} ${shownUrl(url)}: the handler has neither ended nor slept for ${formatDuration(patience!)} of host time (policy.handlerStallTimeout), so it counts as a handler that never responds. ` +
        'Make sure that the handler returns or throws. It can let virtual time pass with task.sleep().',
    )
  }

  #by(handler: CalledOutboundHandler): OutboundResponderFn {
    const { journal } = this.#inputs
    const answering = respondedBy(handler, this.#room, (error) => void this.errors.push(error))
    if (journal === undefined) return answering
    return async (call, task, signal) => journal.outside(task, (own) => answering(call, own, signal))
  }

  #handle(pattern: string | URL, handler: OutboundResponderFn): this {
    this.#route(pattern).handler = handler
    return this
  }

  #route(pattern: string | URL): OutboundRoute {
    const route = this.#routes.at(pattern)
    this.#options.callers.watch()
    for (const tell of this.#listeners) tell(route)
    return route
  }

  #draw(below: number): number {
    this.#random ??= this.#options.random.fork('script')
    return this.#random.int(below)
  }
}

export const maxReportedOutbound = 1000
const plain = { status: 200, headers: noHeaders, body: '' as Bytes }

function underneath(routes: readonly OutboundRoute[]): OutboundResponderFn | undefined {
  return routes.find(({ handler }) => handler !== undefined)?.handler
}

function called(verb: string, pattern: string | URL): string {
  return `outbound.${verb}(${JSON.stringify(String(pattern))})`
}

function noAnswer(error: string): Omit<LoggedOutboundResponse, 'at' | 'note'> {
  return { status: 0, headers: noHeaders, body: '' as Bytes, error }
}

/**
 * Returns the note of the log entry: facts that the app cannot see. For example, the handler ran twice, or the handler
 * ran but its response was lost.
 */
function noteOf(
  call: OutboundRequest,
  last: string | undefined,
  { status }: Pick<LoggedOutboundResponse, 'status'>,
): string | undefined {
  const { handlerRuns: handled } = call
  const times = handled > 1 ? ` ${handled} times` : ''
  const seen = last === `responded ${status}`
  const deed =
    handled === 0 ? 'the handler did not run' : `the handler ran${times}${last === undefined ? '' : ` and ${last}`}`
  const parts = [...(handled === 1 && seen ? [] : [deed]), ...outboundRequestInternals.of(call).told]
  return parts.length === 0 ? undefined : parts.join('; ')
}
