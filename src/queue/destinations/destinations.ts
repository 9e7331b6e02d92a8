import { goesWrong } from '../../faults/catalog.js'
import { AddressPattern } from '../../kernel/address-pattern.js'
import { bindMethods } from '../../kernel/bind-methods.js'
import { toArray } from '../../kernel/bytes.js'
import { callerLine } from '../../kernel/caller-line.js'
import { errorText } from '../../kernel/error-text.js'
import { type Hints, inProcess } from '../../kernel/hints.js'
import { headerOf } from '../../kernel/http.js'
import { type Changes, type InputRecorder, type MethodEffects, unrecorded } from '../../kernel/input-recorder.js'
import { type Internals, internals } from '../../kernel/internals.js'
import type { Task } from '../../kernel/time.js'
import { shownPattern, shownUrl } from '../../secrets/urls.js'
import type { RawOutcome } from '../message/message.js'
import type { Attempt } from '../message/message-entries.js'
import { isIpAddress, isLoopback } from '../settings/url.js'
import { type AppliedFault, type AttemptInjectionContext, applyFaults, arrives } from './apply-faults.js'
import type { DeliveryContext } from './delivery-context.js'
import { networkErrors, type Step } from './delivery-script.js'
import { checkedSteps, checkResponse, type DestinationResponse, responseProblem } from './destination-responses.js'
import { parted, withLines } from './header-lines.js'
import { type HeldResponse, Network, ownRoom, ResponseCutOff } from './network.js'
import { inNoTime, ProbeAttempt } from './probe.js'
import {
  failedOutcome,
  hostname,
  networkErrorText,
  plainStatus,
  rawResponse,
  requestOf,
  withCredentials,
} from './raw-response.js'
import { type Recorder, RecorderList } from './recorder.js'
import { RedirectedAttempt } from './redirected-attempt.js'
import {
  BrokenBody,
  isResponse,
  knownFailure,
  LostConnection,
  replyOfResponse,
  UnusableResponse,
  unreadable,
} from './response.js'

/**
 * Destination as an app defines it: a route handler, a Hono app, or any other function that takes a `Request` and
 * returns a `Response`.
 */
export type DestinationHandler = (request: Request, task: Task) => Response | Promise<Response>

/**
 * Destination as a plain function, without `Request` and `Response`. This is faster, because creating these two objects
 * takes ten times as long as all other work of an attempt.
 */
export type DestinationResponder = (delivery: Attempt, task: Task) => DestinationResponse | Promise<DestinationResponse>

/** Hosts to which the configured `fetch` may send deliveries. */
export type DeliveryHosts = 'loopback' | 'none' | 'any' | readonly string[]

export interface DestinationsOptions {
  /** Sends a delivery if no destination is registered for its URL. */
  readonly fetch?: typeof fetch | undefined
  /**
   * Hosts to which `fetch` may send deliveries. Each URL is checked, including the target of each redirect. Default
   * `loopback`.
   */
  readonly deliver?: DeliveryHosts | undefined
  /**
   * Production hosts of the vendor. Deliveries to these hosts and their subdomains fail, unless the option `deliver`
   * lists the host.
   */
  readonly refusedHosts?: readonly string[] | undefined
  /**
   * Outcome of an attempt if its URL has no destination: `error` for a network error, or the status of a response.
   * Default `error`.
   */
  readonly unhandled?: 'error' | number | undefined
  /** Whether redirects are followed. If `false`, a redirect response fails the attempt. */
  readonly followRedirects?: boolean | undefined
  /** Tracks for which attempt each handler runs. That attempt is the cause of the handler's outbound requests. */
  readonly callers?: WorkTracker | undefined
  /** Records inputs from outside the sandbox for the journal. */
  readonly inputs?: InputRecorder | undefined
  /** Name of the header that forbids retries, in the dialect of the sandbox. */
  readonly nonRetryableHeader?: string | undefined
  /** Texts of advice for error messages. Default: advice for a test in this process. */
  readonly hints?: Hints | undefined
  /** Limits how many deliveries run over the network at the same time, and the memory for their responses. */
  readonly network?: Network | undefined
}

/** Tracks which code runs for a log entry. The entry is the cause of the outbound requests of this code. */
export interface WorkTracker {
  readonly watching: boolean
  /**
   * Runs the code that handles an entry.
   * @param seq `seq` of the entry
   * @param place `inside`: all the code runs in this process; `outside`: some of the code may run at the other end of a
   *   socket
   */
  runs<T>(seq: number, work: () => T, place?: 'inside' | 'outside'): T
}

type Maybe<T> = T | Promise<T>

/** Registered function in the form in which it is called. */
type CalledHandler = (delivery: Attempt, task: Task, context: DeliveryContext) => ReturnType<DestinationResponder>

type HandlerResult = RawOutcome | Step

/** Methods of `Destinations` that the queue calls. */
export interface DeliveryTarget {
  recordPublisher(url: string): void
  deliver(attempt: Attempt, context: DeliveryContext, injected?: readonly AppliedFault[]): Maybe<RawOutcome>
}

/** Responds to an attempt if its URL is registered, for example by running a handler of the app. */
type Underneath = (url: string, attempt: Attempt, context: DeliveryContext) => Maybe<RawOutcome>

interface Route {
  readonly pattern: AddressPattern
  handler: Underneath | undefined
  script: Step[]
  recorders: RecorderList[]
}

interface Resolved {
  readonly handler: Underneath | undefined
  readonly scripted: readonly Route[]
  readonly recorders: readonly RecorderList[]
}

/** Operations on `Destinations` for other code of this package. */
export interface DestinationsInternals {
  /**
   * Takes over the publish positions of another instance: for each URL, the position in the test code that published to
   * it. This instance publishes the messages again, but error messages must name the original position. `settleIn()`
   * ends this mode.
   */
  inherit(from: Destinations): void
  /** Ends the mode that `inherit()` began. From now on, the code that publishes is recorded. */
  settleIn(): void
  /**
   * Replaces the `fetch` for URLs without a destination, and the hosts that it may reach. Without a `fetch`, deliveries
   * to these URLs fail.
   */
  reconnect(send: typeof fetch | undefined, reach: DeliveryHosts | undefined): void
  end(): void
  /**
   * Registers a handler for URLs of the sandbox itself, in the same way as `on()`.
   * @param when `in turn`: each call of the handler counts as a delivery over the network, and waits until the network
   *   limits allow it to start
   */
  serveOwn(pattern: string, handler: DestinationHandler, when?: 'in turn'): void
  /** Removes the handler of a pattern. Its scripts and recorders stay. */
  unhandle(pattern: string): void
  recorderAt(pattern: string): Recorder | undefined
  /**
   * Whether a registered handler or fixed response was used at least once. It is never used if a script determines the
   * response to every delivery.
   */
  hasAsked(answerer: unknown): boolean
}

export const destinationsInternals: Internals<Destinations, DestinationsInternals> = internals('destinations')

export const maxRedirects = 10
const cacheLimit = 10_000

export type DestinationsEffects = MethodEffects<
  Destinations,
  {
    on: 'changes'
    respond: 'changes'
    record: 'changes'
    script: 'changes'
    off: 'changes'
    responderAt: 'reads'
  },
  keyof DeliveryTarget
>

/**
 * Responds to deliveries. If a destination is registered for the URL, the destination responds. If not, `fetch` sends
 * the delivery over the network. Without a `fetch`, the delivery gets a network error.
 */
export class Destinations {
  static {
    bindMethods(Destinations)
  }

  readonly #options: DestinationsOptions
  readonly #inputs: InputRecorder<Changes<DestinationsEffects>>
  readonly #network: Network
  #fetch: typeof fetch | undefined
  #reach: DeliveryHosts | undefined
  #routes: Route[] = []
  #resolved = new Map<string, Resolved>()
  #publishers = new Map<string, Error>()
  #inherited: ReadonlyMap<string, Error> | undefined
  #unhandled = new Map<string, string>()
  readonly #asked = new Set<unknown>()
  /** Errors that handlers threw. The queue received a 500; a test can check them here. */
  readonly errors: unknown[] = []

  /** @internal */
  constructor(options: DestinationsOptions = {}) {
    this.#options = options
    this.#inputs = options.inputs ?? unrecorded
    this.#network = options.network ?? new Network(ownRoom())
    this.#fetch = options.fetch
    this.#reach = options.deliver
    destinationsInternals.attach(this, {
      inherit: (from) => {
        this.#inherited = from.#publishers
      },
      settleIn: () => {
        this.#inherited = undefined
      },
      reconnect: (send, reach) => {
        this.#fetch = send
        this.#reach = reach
      },
      end: () => this.#network.end(),
      serveOwn: (pattern, handler, when) => {
        this.#route(pattern).handler = this.#calls(requesting(handler), when)
      },
      unhandle: (pattern) => {
        this.#route(pattern).handler = undefined
      },
      recorderAt: (pattern) => this.#routes.find((route) => route.pattern.text === pattern)?.recorders[0],
      hasAsked: (answerer) => this.#asked.has(answerer),
    })
  }

  /**
   * Registers a handler for a URL; `*` matches any characters. A pattern without `?` matches any query. Exact patterns
   * win over wildcards, later ones over earlier ones.
   * @throws TypeError when the pattern is not a URL or the handler is not a function
   * @example
   * sandbox.destinations.on('https://shop.test/orders', async (request) => {
   *   const { id } = (await request.json()) as { id: number }
   *   sandbox.store.run('SET', `charged:${id}`, 1)
   *   return new Response()
   * })
   */
  on(pattern: string | URL, handler: DestinationHandler): this {
    const [at] = this.#inputs.record('on', pattern, handler)
    if (typeof handler !== 'function') {
      throw new TypeError(
        `destinations.on(${JSON.stringify(String(pattern))}): the second argument must be a function (request, task) => Response (got ${errorText(handler)}).`,
      )
    }
    this.#route(at).handler = this.#calls(requesting(handler))
    return this
  }

  /**
   * Registers a fixed response, or a plain function that receives the delivery and returns a response. The function is
   * several times faster than a handler for `on()`.
   * @throws TypeError when the second argument is not a response that a destination can send
   * @example sandbox.destinations.respond('https://shop.test/orders', ({ retried }) => (retried === 0 ? 503 : 200))
   */
  respond(pattern: string | URL, answer: DestinationResponder | DestinationResponse): this {
    const [at, given] = this.#inputs.record('respond', pattern, answer)
    const called = `destinations.respond(${JSON.stringify(String(at))})`
    if (given === undefined || given === null) {
      throw new TypeError(
        `${called}: the second argument must be a status, { status, headers, body }, or a function that receives the delivery and returns a response (got ${given}).`,
      )
    }
    const handler =
      typeof given === 'function' ? this.#calls((delivery, task) => given(delivery, task)) : this.#gives(given, called)
    this.#route(at).handler = handler
    return this
  }

  /**
   * Records the deliveries to a URL. The status of the response is 200, unless another response is registered for the
   * URL or passed as the second argument.
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * await checkout()
   * await sandbox.clock.drain()
   * expect(orders.last().json()).toEqual({ id: 42 })
   */
  record(pattern: string | URL, answer?: DestinationResponse): Recorder {
    const [at, given] = this.#inputs.record('record', pattern, answer)
    const called = `destinations.record(${JSON.stringify(String(at))})`
    const handler = given === undefined ? undefined : this.#gives(given, called)
    const recorder = new RecorderList(String(at))
    const route = this.#route(at)
    route.recorders.push(recorder)
    if (handler !== undefined) route.handler = handler
    return recorder
  }

  /**
   * Sets a list of steps for the next deliveries. Each delivery uses up one step. A number is the status of a response.
   * After the last step, the registered handler responds. Without a handler, the status is 200.
   * @throws TypeError when a step is neither a status nor a fault
   * @example destinations.script('https://shop.example/orders', [503, fault.reset(), 200])
   */
  script(pattern: string | URL, steps: readonly (Step | number)[]): this {
    const [at, given] = this.#inputs.record('script', pattern, steps)
    const checked = checkedSteps(given, `destinations.script(${JSON.stringify(String(at))})`)
    const { script } = this.#route(at)
    for (const step of checked) script.push(step)
    return this
  }

  /** Unused steps of scripts. */
  get unused(): readonly { readonly pattern: string; readonly steps: readonly Step[] }[] {
    return this.#routes
      .filter((route) => route.script.length > 0)
      .map((route) => ({ pattern: route.pattern.text, steps: [...route.script] }))
  }

  /**
   * Removes the registration of a pattern, or without a pattern all registrations.
   * @example
   * sandbox.destinations.respond('https://shop.test/*', 503)
   * sandbox.destinations.off('https://shop.test/*')
   */
  off(pattern?: string | URL): void {
    this.#inputs.record('off', pattern)
    this.#routes = pattern === undefined ? [] : this.#routes.filter((route) => route.pattern.text !== String(pattern))
    this.#resolved.clear()
  }

  /**
   * Returns the handler or fixed response that is registered for a URL. Returns `undefined` if only scripts and
   * recorders are registered. Compare the value only by identity.
   * @internal
   */
  responderAt(url: string): unknown {
    return this.#resolve(url).handler
  }

  /** Messages about deliveries to URLs that have no destination. Each URL has one message. */
  get unhandled(): readonly string[] {
    return [...this.#unhandled.values()]
  }

  /**
   * Records which code published to a URL without a destination. The position of this code is taken from an `Error`,
   * whose stack is formatted only if a message needs it.
   * @internal
   */
  recordPublisher(url: string): void {
    if (this.#publishers.has(url) || this.#fetch !== undefined || this.#publishers.size >= 1000) return
    if (answers(this.#resolve(url))) return
    this.#publishers.set(url, this.#inherited?.get(url) ?? new Error('published here'))
  }

  /**
   * Delivers an attempt.
   * @param injected faults from fault rules; if one of them responds, no script step is used up
   * @internal
   */
  deliver(attempt: Attempt, context: DeliveryContext, injected?: readonly AppliedFault[]): Maybe<RawOutcome> {
    const reply = this.#deliverTo(attempt.url, attempt, context, injected)
    if (this.#options.followRedirects !== true) return reply
    return reply instanceof Promise
      ? reply.then((given) => this.#follow(given, attempt, context))
      : this.#follow(reply, attempt, context)
  }

  #deliverTo(
    url: string,
    attempt: Attempt,
    context: DeliveryContext,
    injected?: readonly AppliedFault[],
  ): Maybe<RawOutcome> {
    const resolved = this.#resolve(url)
    if (injected === undefined) return this.#meet(nextStep(resolved.scripted), url, attempt, context, resolved)
    const last = injected.at(-1)
    if (last?.phase === 'before' && arrives(last.fault)) record(attempt, resolved)
    return this.#perform(
      injected,
      this.#scene(attempt, context, (given) => this.#meet(nextStep(resolved.scripted), url, attempt, given, resolved)),
    )
  }

  /**
   * Responds with a step of a script. Without a step, runs the handler or sends the delivery over the network.
   * Recorders record only deliveries that reach the destination.
   */
  #meet(
    step: Step | undefined,
    url: string,
    attempt: Attempt,
    context: DeliveryContext,
    resolved: Resolved,
  ): Maybe<RawOutcome> {
    const underneath = (given: DeliveryContext): Maybe<RawOutcome> => {
      record(attempt, resolved)
      return this.#underneath(url, attempt, given, resolved)
    }
    if (step === undefined) return underneath(context)
    // A delivery with a fault such as `lost-ack` reaches the destination. Record the delivery here, even if no handler
    // is called for it.
    if (arrives(step)) record(attempt, resolved)
    return this.#play(step, attempt, context, underneath)
  }

  #play(
    step: Step,
    attempt: Attempt,
    context: DeliveryContext,
    underneath: AttemptInjectionContext['underneath'],
  ): Maybe<RawOutcome> {
    if (goesWrong(step)) attempt.fault = step.kind
    const draw = (below: number): number => context.draw(below)
    return this.#perform([{ fault: step, phase: 'before', draw }], this.#scene(attempt, context, underneath))
  }

  /**
   * Applies faults. If a fault throws an error, the attempt fails. For example, a delay throws if it ends after the
   * latest possible date.
   */
  #perform(encounters: readonly AppliedFault[], scene: AttemptInjectionContext): Maybe<RawOutcome> {
    const failed = (error: unknown): RawOutcome => ({
      ...failedOutcome(networkErrors.closed),
      note: `a fault could not be injected: ${errorText(error)}`,
    })
    try {
      const reply = applyFaults(encounters, scene)
      return reply instanceof Promise ? reply.catch(failed) : reply
    } catch (error) {
      return failed(error)
    }
  }

  #scene(
    attempt: Attempt,
    context: DeliveryContext,
    underneath: AttemptInjectionContext['underneath'],
  ): AttemptInjectionContext {
    return { attempt, context, underneath }
  }

  /**
   * Responds with the registered handler. If there is none, sends the delivery over the network, or responds with a
   * network error.
   */
  #underneath(url: string, attempt: Attempt, context: DeliveryContext, resolved: Resolved): Maybe<RawOutcome> {
    const { message, seq } = attempt
    const staged = message.part?.stage?.({
      message,
      seq,
      probe: (body) => this.#answer(url, new ProbeAttempt(attempt, body), inNoTime(context), resolved),
      send: () => this.#answer(url, attempt, context, resolved),
    })
    return staged ?? this.#answer(url, attempt, context, resolved)
  }

  #answer(url: string, attempt: Attempt, context: DeliveryContext, resolved: Resolved): Maybe<RawOutcome> {
    const { handler } = resolved
    if (handler === undefined) {
      if (answers(resolved)) return rawResponse(200)
      return this.#fetch === undefined ? this.#nobody(url, attempt) : this.#send(url, attempt, context, this.#fetch)
    }
    this.#asked.add(handler)
    return handler(url, attempt, context)
  }

  /** Checks fixed data immediately, and returns a function that responds with this data. */
  #gives(answer: DestinationResponse, called: string): Underneath {
    if (typeof answer === 'object' && isResponse(answer)) {
      const reason = unreadable(answer)
      if (reason !== undefined) throw new TypeError(`${called}: the response is ${reason}`)
      // Read the body only once and keep the result, because the destination may respond many times.
      let reply: Promise<RawOutcome> | undefined
      return (url, _, { longestBody }) => {
        reply ??= replyOfResponse(answer, from(url), longestBody, this.#network.answer()).then(given, (error) =>
          this.#failed(error),
        )
        return reply
      }
    }
    checkResponse(answer, called)
    if (typeof answer === 'number') return constant(plainStatus(answer))
    if ('kind' in answer) {
      const [step] = checkedSteps([answer], called)
      return (_url, attempt, context) => this.#play(step!, attempt, context, () => rawResponse(200))
    }
    const { status = 200, headers, body } = answer
    // Build the response now, so that it stays the same if the test changes its object later.
    return constant(rawResponse(status, headers, body))
  }

  /** Wraps a handler. The attempt then ends even if the handler throws or returns an invalid value. */
  #calls(handler: CalledHandler, when?: 'in turn'): Underneath {
    return (url, attempt, context) => {
      const heard = this.#outside(context.task, (task) => {
        const hear = (): Maybe<HandlerResult> => this.#hear(handler, url, attempt, task, context)
        return when === undefined ? hear() : this.#inTurn(context, hear)
      })
      return heard instanceof Promise
        ? heard.then((given) => this.#played(given, attempt, context))
        : this.#played(heard, attempt, context)
    }
  }

  async #inTurn(context: DeliveryContext, hear: () => Maybe<HandlerResult>): Promise<HandlerResult> {
    const abort = new AbortController()
    const wait = (): (() => void) => {
      context.onTimeout(() => abort.abort())
      return context.waits()
    }
    const heard = await this.#network.run(abort.signal, wait, async () => {
      const turn = this.#network.hostTurn()
      if (turn !== undefined) await turn
      return hear()
    })
    return heard ?? failedOutcome(networkErrors.closed)
  }

  #outside<T>(task: Task, work: (task: Task) => Maybe<T>): Maybe<T> {
    const { journal } = this.#inputs
    return journal === undefined ? work(task) : journal.outside(task, work)
  }

  #hear(
    handler: CalledHandler,
    url: string,
    attempt: Attempt,
    task: Task,
    context: DeliveryContext,
  ): Maybe<HandlerResult> {
    const { longestBody } = context
    try {
      const { callers } = this.#options
      const answer =
        callers?.watching === true
          ? callers.runs(attempt.seq, () => handler(attempt, task, context))
          : handler(attempt, task, context)
      if (answer instanceof Promise || isThenable(answer)) return this.#awaited(answer, url, longestBody)
      const heard = heardOf(answer, url, longestBody, this.#network)
      return heard instanceof Promise ? heard.catch((error) => this.#failed(error)) : heard
    } catch (error) {
      return this.#failed(error)
    }
  }

  async #awaited(answer: PromiseLike<DestinationResponse>, url: string, longestBody: number): Promise<HandlerResult> {
    try {
      const heard = heardOf(await answer, url, longestBody, this.#network)
      return heard instanceof Promise ? await heard : heard
    } catch (error) {
      return this.#failed(error)
    }
  }

  /** Returns the outcome of a handler for the queue. If the handler returned a fault, applies the fault. */
  #played(heard: HandlerResult, attempt: Attempt, context: DeliveryContext): Maybe<RawOutcome> {
    return 'kind' in heard ? this.#play(heard, attempt, context, () => rawResponse(200)) : heard
  }

  /** Returns the outcome of a handler that threw: status 500, as from a web framework. */
  #failed(error: unknown): RawOutcome {
    this.errors.push(error)
    const known = knownFailure(error)
    if (known instanceof BrokenBody) return { ...failedOutcome(networkErrors.closed), note: known.message }
    if (known instanceof LostConnection) return { ...failedOutcome(networkErrors.reset), note: known.message }
    if (known !== undefined) return { ...rawResponse(500, undefined, known.message), note: known.message }
    const text = errorText(error)
    return { ...rawResponse(500, undefined, text), note: `the handler threw ${text}` }
  }

  #nobody(url: string, attempt: Attempt): RawOutcome {
    if (typeof this.#options.unhandled === 'number') return plainStatus(this.#options.unhandled)
    const publisher = this.#publishers.get(url)
    const place = publisher === undefined ? '' : callerLine(publisher)
    const by =
      attempt.message.source === undefined ? 'published' : `${attempt.kind} of ${attempt.message.source.id}, published`
    const sentence =
      `No destination responds at ${shownUrl(url)} (message ${attempt.messageId}, ${by}${place === '' ? '' : ` at ${place}`}). ` +
      (this.#options.hints ?? inProcess).destination(shownPattern(url))
    if (!this.#unhandled.has(url)) this.#unhandled.set(url, sentence)
    return { ...failedOutcome(unanswered(hostname(url))), note: sentence }
  }

  #send(url: string, attempt: Attempt, context: DeliveryContext, send: typeof fetch): Maybe<RawOutcome> {
    const refusal = this.#refusal(url)
    if (refusal !== undefined) {
      if (!this.#unhandled.has(url)) this.#unhandled.set(url, refusal)
      return { ...failedOutcome('delivery refused'), note: refusal }
    }
    const abort = new AbortController()
    context.onTimeout(() => abort.abort())
    const sent = async (): Promise<RawOutcome> => {
      const deliver = (): Promise<RawOutcome> =>
        sendBy(send, url, attempt, abort.signal, context.longestBody, this.#network.answer())
      return (
        (await this.#network.run(abort.signal, () => context.waits(), deliver)) ?? failedOutcome(networkErrors.closed)
      )
    }
    const { callers } = this.#options
    return this.#outside(context.task, () =>
      callers?.watching === true ? callers.runs(attempt.seq, sent, 'outside') : sent(),
    )
  }

  /** Returns a message if a delivery over the network to this URL is not allowed. */
  #refusal(url: string): string | undefined {
    const { refusedHosts = [], hints = inProcess } = this.#options
    const deliver = this.#reach ?? 'loopback'
    const host = hostname(url)
    const named = Array.isArray(deliver) && deliver.some((name: string) => name === host || name === new URL(url).host)
    if (named) return undefined
    if (refusedHosts.some((name) => host === name || host.endsWith(`.${name}`))) {
      return `Delivery to ${shownUrl(url)} was refused: ${host} is a production host of the vendor. ${hints.production(host)}`
    }
    if (deliver === 'any' || (deliver === 'loopback' && isLoopback(host))) return undefined
    return `Delivery to ${shownUrl(url)} was refused: ${deliver === 'none' ? 'the option deliverTo allows no deliveries over the network' : deliver === 'loopback' ? 'the option deliverTo allows only this machine' : 'the option deliverTo does not list this host'}. ${hints.reach(shownPattern(url), host)}`
  }

  async #follow(first: RawOutcome, attempt: Attempt, context: DeliveryContext): Promise<RawOutcome> {
    let reply = first
    let url = attempt.url
    let { method } = attempt
    for (let hop = 0; hop < maxRedirects; hop++) {
      const location = [301, 302, 303, 307, 308].includes(reply.status)
        ? headerOf(reply.headers, 'location')
        : undefined
      if (location === undefined || !URL.canParse(location, url)) return reply
      url = new URL(location, url).href
      if (reply.status < 307) method = 'GET'
      reply = await this.#deliverTo(url, new RedirectedAttempt(attempt, url, method), context)
    }
    return { ...failedOutcome('stopped after 10 redirects'), headers: reply.headers }
  }

  #route(given: string | URL): Route {
    const pattern = new AddressPattern(String(given))
    this.#resolved.clear()
    const known = this.#routes.find((route) => route.pattern.text === pattern.text)
    if (known !== undefined) {
      // A pattern that is registered again moves to the end of the list, because later patterns win over earlier ones.
      this.#routes = [...this.#routes.filter((route) => route !== known), known]
      return known
    }
    const route: Route = { pattern, handler: undefined, script: [], recorders: [] }
    this.#routes.push(route)
    return route
  }

  #resolve(url: string): Resolved {
    const known = this.#resolved.get(url)
    if (known !== undefined) return known
    const matching = this.#routes.filter((route) => route.pattern.matches(url)).reverse()
    const routes = [
      ...matching.filter((route) => route.pattern.exact),
      ...matching.filter((route) => !route.pattern.exact),
    ]
    const resolved: Resolved = {
      handler: routes.find((route) => route.handler !== undefined)?.handler,
      scripted: routes,
      recorders: routes.flatMap((route) => route.recorders),
    }
    if (this.#resolved.size >= cacheLimit) this.#resolved.clear()
    this.#resolved.set(url, resolved)
    return resolved
  }
}

function requesting(handler: DestinationHandler): CalledHandler {
  return (delivery, task, { signal }) => handler(requestOf(delivery, delivery.url, delivery.method, signal), task)
}

async function sendBy(
  send: typeof fetch,
  url: string,
  attempt: Attempt,
  signal: AbortSignal,
  longestBody: number,
  held: HeldResponse,
): Promise<RawOutcome> {
  try {
    const { method } = attempt
    const body = attempt.body === '' && (method === 'GET' || method === 'DELETE') ? null : toArray(attempt.body)
    const { url: address, headers } = withCredentials(url, attempt.headers)
    const init: RequestInit = { method, headers: [...headers], body, redirect: 'manual', signal }
    const { response, lines } = await withLines(() => send(address, init))
    const reply = await replyOfResponse(response, url, longestBody, held)
    return lines.length === 0 ? reply : { ...reply, headers: parted(reply.headers, lines) }
  } catch (error) {
    const known = knownFailure(error)
    if (known?.cause instanceof ResponseCutOff) return { ...failedOutcome(networkErrors.closed), note: known.message }
    const told = networkErrorText(known instanceof BrokenBody ? known.cause : error)
    const note = noHandler[told]
    return note === undefined
      ? failedOutcome(told)
      : { ...failedOutcome(told), note: `No destination responds at ${shownUrl(url)}: ${note}` }
  }
}

function constant(reply: RawOutcome): Underneath {
  const answer = given(reply)
  return () => answer
}

function given(reply: RawOutcome): RawOutcome {
  return { ...reply, isGiven: true }
}

/** Advice for each network error, such as a refused connection. Used if a delivery over the network fails. */
const noHandler: Readonly<Record<string, string>> = {
  [networkErrors.refused]: 'the connection was refused. Start the app there, or correct the URL.',
  [networkErrors.unresolved]: 'the host has no address. Correct the URL.',
}

/**
 * Returns the network error for a URL without a destination. An IP address or loopback name needs no DNS look-up, so
 * the error is a refused connection. For other hosts, the look-up fails.
 */
function unanswered(host: string): string {
  return isLoopback(host) || isIpAddress(host) ? networkErrors.refused : `dial tcp: lookup ${host}: no such host`
}

/**
 * Converts the return value of a handler to plain values.
 * @throws UnusableResponse when the value is not a response; also any error that a getter of the value throws
 */
function heardOf(
  answer: DestinationResponse,
  url: string,
  longestBody: number,
  network: Network,
): Maybe<HandlerResult> {
  if (typeof answer === 'object' && answer !== null && isResponse(answer)) {
    return replyOfResponse(answer, from(url), longestBody, network.answer())
  }
  const sentence = responseProblem(answer)
  if (sentence !== undefined) throw new UnusableResponse(`${from(url)} ${sentence}`)
  if (typeof answer === 'number') return plainStatus(answer)
  if ('kind' in answer) return answer
  try {
    return rawResponse(answer.status ?? 200, answer.headers, answer.body)
  } catch (error) {
    throw new UnusableResponse(`${from(url)} returned no response that can be sent: ${(error as Error).message}`)
  }
}

function record(attempt: Attempt, { recorders }: Resolved): void {
  for (const recorder of recorders) recorder.requests.push(attempt)
}

function from(url: string): string {
  return `The handler of ${url}`
}

/** Whether a value is a promise. It may come from another realm or another promise library. */
function isThenable(answer: unknown): answer is PromiseLike<DestinationResponse> {
  return typeof answer === 'object' && answer !== null && 'then' in answer && typeof answer.then === 'function'
}

function answers(resolved: Resolved): boolean {
  return resolved.scripted.length > 0
}

function nextStep(routes: readonly Route[]): Step | undefined {
  for (const route of routes) if (route.script.length > 0) return route.script.shift()
  return undefined
}
