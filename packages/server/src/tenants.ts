import { outboundInternals } from '../../../src/calls/outbound.js'
import { Account } from '../../../src/kernel/account.js'
import type { Bytes } from '../../../src/kernel/bytes.js'
import { hostSetTimeout, hostTime, unref } from '../../../src/kernel/host.js'
import { decodeSegment } from '../../../src/kernel/http.js'
import { locator, relocator, sandboxUrlsOf } from '../../../src/protocol/address.js'
import { HttpError, json } from '../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../src/protocol/service.js'
import type { RoomForResponses } from '../../../src/queue/destinations/network.js'
import type { ExternalStore } from '../../../src/sandbox/core.js'
import { isPublic, tokensOf, withoutPublicOnes } from '../../../src/sandbox/credentials.js'
import { type LoadOptions, Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import type { SandboxDump } from '../../../src/sandbox/sandbox-dump.js'
import { shownPattern, shownUrl } from '../../../src/secrets/urls.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import type { RespHost } from '../../../src/store/resp/resp-connection.js'
import { storeInternals } from '../../../src/store/store-internals.js'
import { AccessGate, hasToken } from './access.js'
import { control, isUnknownOperation } from './control/control.js'
import { collectGarbage, HeapWatch, heapLimit, heldBytes } from './heap-watch.js'
import { pageResponse } from './inspector/page-response.js'
import { refusedFor, refusedOrder, refusesCommand } from './no-memory.js'
import { mayMakeTenant } from './origin-check.js'
import { porterOf } from './redis-port/connections.js'
import { isSameText } from './same-text.js'
import { hintsFor } from './server-hints.js'
import { defaultLimits, responsesShare, TenantsFull } from './server-limits.js'
import { isTenantName } from './tenant-name.js'
import type { TenantScenario } from './tenant-scenario/tenant-scenario.js'

/** A call to a foreign host, as it comes to the address that stands for it. */
interface ForeignAddress {
  readonly name: string
  readonly url: string
}

/** `/w1/outbound/https://bank.test/charges`; on the way a client may have made one slash of two, or escaped them. */
function foreignIn(path: string): ForeignAddress | undefined {
  const match = /^\/([^/?#]+)\/outbound\/(https?)(?::|%3a)(?:\/|%2f){1,2}(.+)$/i.exec(path)
  if (match === null) return undefined
  const url = `${match[2]!.toLowerCase()}://${match[3]!}`
  return URL.canParse(url) ? { name: decodeSegment(match[1]!), url: new URL(url).href } : undefined
}

/** The sandboxes of a server by name. */
export class Tenants {
  origin = ''
  /** Where the native protocol is served, if it is. */
  redis: string | undefined
  /** The data store of the one tenant, where it is a real engine. */
  elsewhere: ExternalStore | undefined
  /** Names that the user listed: pages of them are pages of this machine. */
  hosts: readonly string[] = []
  /** Its id in a cluster. */
  node: string | undefined
  readonly #options: SandboxOptions
  readonly #most: number
  readonly #controlToken: string | undefined
  readonly #scene: TenantScenario | undefined
  /** Where other machines can call: who comes in. */
  readonly #door: AccessGate | undefined
  /** What is refused for want of memory. */
  readonly #heap: HeapWatch
  readonly #buffered: Account
  /** Large answers of destinations. */
  readonly #answers: Account
  #orders = 0
  #sandboxes = new Map<string, Sandbox>()

  /**
   * @param most tenants that may exist at once
   * @param controlToken what the control API asks for
   * @param scene what every new tenant begins with
   * @param isWide whether other machines can call: then nothing is made or answered without a valid token
   * @param tell says what whoever runs the server should know
   * @param buffered counts what is on its way
   */
  constructor(
    options: SandboxOptions,
    most: number,
    controlToken: string | undefined,
    scene: TenantScenario | undefined,
    isWide: boolean,
    tell: (line: string) => void,
    buffered: Account = new Account(defaultLimits.buffered),
  ) {
    this.#buffered = buffered
    this.#answers = new Account(Math.floor(buffered.limit * (responsesShare / 100)), buffered)
    this.#heap = new HeapWatch({
      limit: heapLimit(),
      held: heldBytes,
      forget: () => this.#forget(),
      tell,
      collect: collectGarbage,
      now: hostTime,
      later: (run, ms) => unref(hostSetTimeout(run, ms)),
    })
    this.#options = options
    this.#most = most
    this.#controlToken = controlToken
    this.#scene = scene
    if (isWide) this.#door = new AccessGate((name) => this.#optionsOf(name))
  }

  /** How many orders were given: some change a world without leaving an entry in its traffic. */
  get orders(): number {
    return this.#orders
  }

  get names(): readonly string[] {
    return [...this.#sandboxes.keys()]
  }

  get(name: string): Sandbox {
    const known = this.#sandboxes.get(name)
    if (known !== undefined) return known
    this.#checkNew(name)
    const sandbox = this.fresh(name)
    this.#scene?.begin(sandbox)
    this.#sandboxes.set(name, sandbox)
    return sandbox
  }

  /** @throws TypeError, RangeError */
  #checkNew(name: string): void {
    const [only] = this.#sandboxes.keys()
    if (this.elsewhere !== undefined && only !== undefined) {
      throw new RangeError(
        `One engine is for one tenant, and ${JSON.stringify(only)} has it: there is none for ${JSON.stringify(name)}. Start another server with an engine of its own.`,
      )
    }
    if (!isTenantName(name)) {
      throw new TypeError(
        `${JSON.stringify(name)} cannot be the name of a tenant: use letters, digits, '-', '_' and '.', not beginning with '_' or '.'.`,
      )
    }
    if (this.#sandboxes.size < this.#most) return
    throw new TenantsFull(
      `There are ${this.#most} tenants already. Drop one with DELETE /_control/NAME, or start the server with a larger limit.`,
    )
  }

  #optionsOf(name: string): SandboxOptions {
    const own = { name, urls: { base: `${this.origin}/${name}`, redis: this.redis } }
    const options = { ...(this.#scene?.options(this.#options) ?? this.#options), ...own }
    // A scenario that was imported verifies with keys that everybody knows.
    return this.#door === undefined ? options : withoutPublicOnes(options)
  }

  /** The tenant that a request asks for, made where it may make one. @throws HttpError where it may not */
  asked(name: string, { headers }: RawRequest): Sandbox {
    const known = this.#sandboxes.get(name)
    if (known !== undefined) return known
    // Who passes the door has a token, which no foreign page has.
    if (this.#door !== undefined || mayMakeTenant(headers, this.hosts)) return this.#newcomer(name)
    throw new HttpError(
      403,
      `There is no tenant ${JSON.stringify(name)} yet, and a page of another site cannot create one. Call it from the test process first.`,
    )
  }

  /**
   * Whom a name and a password of the native protocol open: `w1/default`, or a user of `main`. A tenant is made by its
   * own tokens only.
   * @throws ReplyError where it cannot be made
   */
  enter(name: string | undefined, password: string): ReturnType<RespHost['enter']> {
    const [, tenant = 'main', userName = 'default'] = /^(?:([^/]*)\/)?(.*)$/s.exec(name ?? '') ?? []
    const known = this.#sandboxes.get(tenant)
    if (this.#door !== undefined && isPublic(password)) return undefined
    if (known === undefined) {
      if (!isTenantName(tenant)) return undefined
      const { store, storeReadonly: readonly } = tokensOf(this.#optionsOf(tenant))
      if (![store, readonly].some((token) => isSameText(password, token))) return undefined
    }
    const sandbox = known ?? this.#madeBy(() => this.#newcomer(tenant))
    if (sandbox instanceof Error) throw new ReplyError(`ERR ${sandbox.message}`)
    return porterOf(sandbox, this.#refusesCommand).enter(userName || 'default', password)
  }

  /** What the native protocol says to a command for which there is no memory. */
  readonly #refusesCommand = (argv: readonly Bytes[]): string | undefined => refusesCommand(this.#heap, argv)

  #newcomer(name: string): Sandbox {
    this.#heap.look()
    if (this.#heap.isFull) throw new HttpError(503, this.#heap.sentence)
    return this.get(name)
  }

  /** A stray request is told why it has no tenant, as an answer. */
  #made(name: string, call: RawRequest): Sandbox | RangeError | HttpError {
    return this.#madeBy(() => this.asked(name, call))
  }

  #madeBy(make: () => Sandbox): Sandbox | RangeError | HttpError {
    try {
      return make()
    } catch (error) {
      if (error instanceof RangeError || error instanceof HttpError) return error
      throw error
    }
  }

  /** Serves a sandbox that lives at addresses of its own under a name of this server as well. */
  adopt(name: string, sandbox: Sandbox): void {
    const { tokens, queue } = sandbox
    if (
      this.#door !== undefined &&
      [...Object.values(tokens), ...Object.values(queue.signingKeys.pair())].some(isPublic)
    ) {
      throw new TypeError(
        `The sandbox for ${JSON.stringify(name)} has public tokens, and other machines can call this server: create it with a secret, createSandbox({ secret, name }).`,
      )
    }
    this.#sandboxes.set(name, sandbox)
  }

  adoptFork(sandbox: Sandbox, of: string, given: string | undefined): string {
    let name = given ?? `${of}-fork`
    for (let number = 2; given === undefined && this.#sandboxes.has(name); number++) name = `${of}-fork-${number}`
    this.#checkNew(name)
    if (this.#sandboxes.has(name)) {
      throw new TypeError(`There is a tenant ${JSON.stringify(name)} already: give the fork another name, or none.`)
    }
    this.#sandboxes.set(name, sandbox)
    return name
  }

  get all(): ReadonlyMap<string, Sandbox> {
    return this.#sandboxes
  }

  /** Makes a tenant as it was. */
  restore(name: string, dump: SandboxDump, options: LoadOptions): void {
    this.get(name).load(dump, options)
  }

  /**
   * Other machines, and those before a container, have another address of the server than it has of itself; and a fork
   * speaks of its origin's addresses, where it does not answer.
   */
  reached(given: string, { headers }: RawRequest, name: string): string {
    const address = this.#addressOf(given, name)
    const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1]
    if (this.#door === undefined || host === undefined || !address.startsWith(`${this.origin}/`)) return address
    return `http://${host}${address.slice(this.origin.length)}`
  }

  #addressOf(given: string, name: string): string {
    const own = this.#sandboxes.get(name)?.urls
    const served = sandboxUrlsOf({ base: `${this.origin}/${name}` })
    if (own === undefined || own.store === served.store || !URL.canParse(given)) return given
    return relocator(own, served)(given) ?? given
  }

  /** Serves a sandbox no more that its owner goes on with. */
  release(name: string): boolean {
    return this.#sandboxes.delete(name)
  }

  /** @throws TypeError for the one that has the engine: another one would find what it left there */
  drop(name: string): boolean {
    if (this.elsewhere !== undefined && this.#sandboxes.has(name)) {
      throw new TypeError(
        `The tenant ${JSON.stringify(name)} has the engine of this server: reset it with POST /_control/${name}/reset, or end the server.`,
      )
    }
    this.#sandboxes.get(name)?.dispose()
    return this.#sandboxes.delete(name)
  }

  /** Serves the world of a tenant that is kept elsewhere, for as long as it is here. */
  serve(name: string, sandbox: Sandbox): void {
    this.#sandboxes.set(name, sandbox)
  }

  /** A world as a tenant of this name begins. */
  fresh(name: string): Sandbox {
    return new Sandbox(this.#optionsOf(name), hintsFor(this.origin, name), this.elsewhere, this.#room())
  }

  /** Of what answers hold that are on their way, one tenant has half at most, so that others can be answered. */
  #room(): RoomForResponses {
    return {
      all: this.#buffered,
      large: new Account(Math.floor(this.#answers.limit / 2), this.#answers),
      isFull: () => this.#heap.isFull,
      whenRoom: (run) => this.#heap.whenRoom(run),
    }
  }

  outline(name: string): Pick<Sandbox, 'urls' | 'env'> {
    const known = this.#sandboxes.get(name)
    const sandbox = known ?? this.fresh(name)
    const { urls, env } = sandbox
    if (known === undefined) sandbox.dispose()
    return { urls, env }
  }

  has(name: string): boolean {
    return this.#sandboxes.has(name)
  }

  /** Path and query of a call. */
  targetOf({ url }: RawRequest): string {
    return url.slice(this.origin.length)
  }

  /** The tenant that a call is for; `undefined` where it is for the server itself. */
  nameOf(call: RawRequest): string | undefined {
    const path = this.targetOf(call)
    const [, ordered] = /^\/_control\/([^/?#]+)/.exec(path) ?? []
    if (ordered === undefined) return this.#addressee(call, path)?.name ?? foreignIn(path)?.name
    const name = decodeSegment(ordered)
    return this.mayControl(call) && name !== 'openapi.json' && isTenantName(name) ? name : undefined
  }

  /** Whether a call may make the tenant that it is for. */
  mayMake(call: RawRequest, name: string): boolean {
    const path = this.targetOf(call)
    if (/^\/_control\//.test(path))
      return this.mayControl(call) && (this.#door !== undefined || mayMakeTenant(call.headers, this.hosts))
    const to = this.#addressee(call, path)
    if (to === undefined) return false
    return this.#door?.lets(to.call, name, to.sandbox) ?? mayMakeTenant(call.headers, this.hosts)
  }

  exchange(call: RawRequest): RawResponse | Promise<RawResponse> {
    const path = this.targetOf(call)
    const first = path.slice(1, path.indexOf('/', 1))
    const known = this.#sandboxes.get(first)
    // Names of tenants begin with neither `_` nor, in this form, with `v2`.
    if (known !== undefined && !/^\/v2\//i.test(path) && known.owns(call.url)) return this.#entered(call, first, known)
    if (/^\/_control(?:[/?#]|$)/.test(path)) {
      if (!this.mayControl(call)) return noToken(call)
      const refused = refusedOrder(this.#heap, call, path)
      if (refused !== undefined) return refused
      if (call.method !== 'GET') this.#orders++
      return control(call, path, this)
    }
    if (/^\/_health(?:[/?#]|$)/.test(path)) return json({ status: 'ok', ...this.#census(call) })
    const page = pageResponse(call, path)
    if (page !== undefined) return page
    const to = this.#addressee(call, path)
    if (to !== undefined) return this.#entered(to.call, to.name, to.sandbox)
    const foreign = foreignIn(path)
    if (foreign !== undefined) return this.#standIn(call, foreign)
    const error = `There is nothing at ${path}. The services of the tenant "main" are at /main/store, /main/queue and /main/mgmt, its control API at /_control/main.`
    return json({ error }, 404)
  }

  #isRegistered(call: RawRequest, path: string): boolean {
    const foreign = foreignIn(path)
    return (
      foreign !== undefined &&
      this.#sandboxes.get(foreign.name)?.outbound.isRegistered(call.method, foreign.url) === true
    )
  }

  /** Answers for a foreign host what the tenant has registered, and never asks the host itself: it notes what it refuses. */
  #standIn(call: RawRequest, { name, url }: ForeignAddress): RawResponse | Promise<RawResponse> {
    const calls = this.#sandboxes.get(name)?.outbound
    if (calls?.takes(call.method, url) === true) return calls.exchange(moved(call, url), { outside: true })
    const known = calls?.wrongWith(call.method, url)
    const error =
      known ??
      `The tenant ${JSON.stringify(name)} has nothing registered for ${call.method} ${shownUrl(url)}, and nothing is forwarded. ${hintsFor(this.origin, name).call(shownPattern(url))}.`
    if (calls !== undefined) outboundInternals.of(calls).refuse(call.method, url, error)
    return json({ error }, 502)
  }

  /**
   * The answer for a call that has no right to another one: a server gives it before it reads a body.
   * `undefined` lets it in.
   */
  turnsAway(call: RawRequest): RawResponse | Promise<RawResponse> | undefined {
    const path = this.targetOf(call)
    if (/^\/_control(?:[/?#]|$)/.test(path)) return this.mayControl(call) ? undefined : noToken(call)
    if (this.#door === undefined) return undefined
    const to = this.#addressee(call, path)
    return to && this.#door.turnsAway(to.call, to.name, to.sandbox)
  }

  /**
   * Whether what a call that was let in is answered does not depend on its body: the services refuse it, or it is for no
   * service, and for no foreign host that a tenant has registered.
   */
  isUnwanted(call: RawRequest): boolean {
    const path = this.targetOf(call)
    if (/^\/_control(?:[/?#]|$)/.test(path)) return isUnknownOperation(call, path)
    const to = this.#addressee(call, path)
    if (to === undefined) return !this.#isRegistered(call, path)
    if (this.#door !== undefined) return false
    if (to.sandbox === undefined && !mayMakeTenant(call.headers, this.hosts)) return true
    return !hasToken(to.call, to.sandbox?.options ?? this.#optionsOf(to.name), to.sandbox)
  }

  /** Whose services a call is for, and as they know it. */
  #addressee(
    call: RawRequest,
    path: string,
  ): { name: string; call: RawRequest; sandbox: Sandbox | undefined } | undefined {
    // The queue SDK in development mode expects the queue right at the origin. [queue.md 13]
    if (queueAtOrigin.test(path)) {
      return {
        name: 'main',
        call: moved(call, `${this.origin}/main/queue${path}`),
        sandbox: this.#sandboxes.get('main'),
      }
    }
    const [, name = ''] = /^\/([^/?#]*)/.exec(path) ?? []
    const sandbox = this.#sandboxes.get(name)
    if (sandbox?.owns(call.url) ?? this.#wouldOwn(name, call.url)) return { name, call, sandbox }
    const adopted = sandbox && relocator(sandboxUrlsOf({ base: `${this.origin}/${name}` }), sandbox.urls)(call.url)
    return adopted === undefined ? undefined : { name, call: moved(call, adopted), sandbox }
  }

  /** What a tenant answers, who is made at the first call that may come in. */
  #entered(call: RawRequest, name: string, known: Sandbox | undefined): RawResponse | Promise<RawResponse> {
    const refusal = this.#door?.turnsAway(call, name, known)
    if (refusal !== undefined) return refusal
    const sandbox = known ?? this.#made(name, call)
    if (!(sandbox instanceof Error)) {
      return refusedFor(this.#heap, call, (url) => locator(sandbox.urls)(url)) ?? sandbox.exchange(call)
    }
    return json({ error: sandbox.message }, sandbox instanceof HttpError ? sandbox.status : 503)
  }

  /** How many tenants there are is for those to know who may call. */
  #census(call: RawRequest): { tenants?: number; node?: string } {
    if (this.#door !== undefined && !this.mayControl(call)) return {}
    return { tenants: this.#sandboxes.size, ...(this.node !== undefined && { node: this.node }) }
  }

  /** Whether a call brings what the control API asks for. */
  mayControl({ headers }: RawRequest): boolean {
    const token = this.#controlToken
    if (token === undefined) return true
    return headers.some(
      ([name, value]) => name.toLowerCase() === 'authorization' && isSameText(value, `Bearer ${token}`),
    )
  }

  /** Whether a tenant of this name would answer: a stray request shall not make one. */
  #wouldOwn(name: string, url: string): boolean {
    return isTenantName(name) && locator(sandboxUrlsOf({ base: `${this.origin}/${name}` }))(url) !== undefined
  }

  /** From now on what stores more is refused when there is no memory. */
  watchMemory(): void {
    this.#heap.start()
  }

  /** What is known of the past can be missed: the older half of each log, and what past worlds are played from. */
  #forget(): void {
    for (const { store } of this.#sandboxes.values()) {
      const { front, inputs } = storeInternals.of(store)
      front.journal.traffic.forgetOlderHalf()
      inputs?.forget()
    }
  }

  dispose(): void {
    this.#heap.end()
    for (const sandbox of this.#sandboxes.values()) sandbox.dispose()
  }
}

/** Not the services of a tenant that is called `v2`. */
const queueAtOrigin = /^\/v2\/(?!store(?:[/?#]|$)|queue(?:[-/?#]|$)|mgmt(?:[/?#]|$))./i

function noToken(call: RawRequest): RawResponse {
  const given = call.headers.every(([name]) => name.toLowerCase() !== 'authorization')
    ? ''
    : ', and the one given is a different one'
  const error = `The control API asks for its token, which the server printed${given}. Give it with --control-token or STUNTDOUBLE_CONTROL_TOKEN, in connect(url, { controlToken }), or as Authorization: Bearer TOKEN.`
  return json({ error }, 401, [['www-authenticate', 'Bearer']])
}

function moved(call: RawRequest, url: string): RawRequest {
  return {
    method: call.method,
    url,
    headers: call.headers,
    body: () => call.body(),
    get signal() {
      return call.signal
    },
  }
}
