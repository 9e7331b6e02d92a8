import { outboundInternals } from '../../../src/calls/outbound.js'
import { Account } from '../../../src/kernel/account.js'
import type { Bytes } from '../../../src/kernel/bytes.js'
import { onServer, unknownDatabase } from '../../../src/kernel/database-name.js'
import { hostSetTimeout, hostTime, unref } from '../../../src/kernel/host.js'
import { decodeSegment } from '../../../src/kernel/http.js'
import { locator, relocator, sandboxUrlsOf } from '../../../src/protocol/address.js'
import { HttpError, json, moved } from '../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../src/protocol/service.js'
import type { RoomForResponses } from '../../../src/queue/destinations/network.js'
import type { ExternalStore } from '../../../src/sandbox/core-plan.js'
import { isPublic, secretTokens, tokensOf, withoutPublicOnes } from '../../../src/sandbox/credentials.js'
import { type LoadOptions, Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import type { SandboxDump } from '../../../src/sandbox/sandbox-dump.js'
import { isTenantName, tenantNameFlaw } from '../../../src/sandbox/tenant-name.js'
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
import { homeOf, porterOf } from './redis-port/connections.js'
import { isSameText } from './same-text.js'
import { hintsFor } from './server-hints.js'
import { defaultLimits, responsesShare, TenantsFull } from './server-limits.js'
import type { TenantScenario } from './tenant-scenario/tenant-scenario.js'

/** An outbound request that the app has sent to the server instead of the external host: its tenant and its URL. */
interface ForeignAddress {
  readonly name: string
  readonly url: string
}

/** Parses `/w1/outbound/https://bank.test/charges`. Some clients merge the two slashes or escape them. */
function foreignIn(path: string): ForeignAddress | undefined {
  const match = /^\/([^/?#]+)\/outbound\/(https?)(?::|%3a)(?:\/|%2f){1,2}(.+)$/i.exec(path)
  if (match === null) return undefined
  const url = `${match[2]!.toLowerCase()}://${match[3]!}`
  return URL.canParse(url) ? { name: decodeSegment(match[1]!), url: new URL(url).href } : undefined
}

/** The sandboxes of a server, by name. */
export class Tenants {
  origin = ''
  /** URL of the Redis port, if the server has one. */
  redis: string | undefined
  /** Whether clients of the Redis port need no password for `main`. */
  redisNoAuth = false
  /** Function that connects the store of the only tenant with a real Redis, if the server uses one. */
  elsewhere: ExternalStore | undefined
  /** Host names from the option `allowHosts`. Web pages on these hosts may create tenants. */
  hosts: readonly string[] = []
  /** ID of this node, if the server is a node of a cluster. */
  node: string | undefined
  readonly #options: SandboxOptions
  readonly #most: number
  readonly #controlToken: string | undefined
  readonly #scene: TenantScenario | undefined
  /** Checks tokens when other machines can connect. */
  readonly #door: AccessGate | undefined
  readonly #heap: HeapWatch
  readonly #buffered: Account
  /** Account of the memory of large responses of destinations. */
  readonly #answers: Account
  #orders = 0
  #sandboxes = new Map<string, Sandbox>()

  /**
   * @param options options of the sandbox of each tenant
   * @param most maximum number of tenants
   * @param controlToken token of the control API, or `undefined` if it needs none
   * @param scene scenario that every new tenant begins with
   * @param isWide whether other machines can connect; then every request needs a valid token
   * @param tell function that prints a line for the user who runs the server
   * @param buffered account of the bytes in transit
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

  /**
   * Number of control calls that may have changed a sandbox. These calls are counted, because some of their changes add
   * no entry to the traffic log.
   */
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

  /**
   * Checks that a new tenant is possible.
   * @throws TypeError for an invalid name, RangeError at the maximum number of tenants
   */
  #checkNew(name: string): void {
    const [only] = this.#sandboxes.keys()
    if (this.elsewhere !== undefined && only !== undefined) {
      throw new RangeError(
        `tenant ${JSON.stringify(name)}: the real Redis of this server is used by tenant ${JSON.stringify(only)}, and a real Redis can have only one tenant. Start another server with its own Redis.`,
      )
    }
    checkTenantName(name)
    if (this.#sandboxes.size < this.#most) return
    throw new TenantsFull(
      `The server has ${this.#most} tenants, which is its limit. Drop one with DELETE /_control/NAME, or start the server with a larger --max-tenants.`,
    )
  }

  #optionsOf(name: string): SandboxOptions {
    const { redis, redisNoAuth } = this
    const own = { name, urls: { base: `${this.origin}/${name}`, redis, redisNoAuth } }
    const options = { ...(this.#scene?.options(this.#options) ?? this.#options), ...own }
    // Remove public tokens and signing keys of an imported scenario, because they are not safe when other machines can
    // connect.
    return this.#door === undefined ? options : withoutPublicOnes(options)
  }

  /**
   * Returns the sandbox of a tenant, and creates it if the request may create it.
   * @throws HttpError if the request must not create it
   */
  asked(name: string, { headers }: RawRequest): Sandbox {
    const known = this.#sandboxes.get(name)
    if (known !== undefined) return known
    // If other machines can connect, the request has a valid token. Such a request does not come from a page of another
    // site.
    if (this.#door !== undefined || mayMakeTenant(headers, this.hosts)) return this.#newcomer(name)
    throw new HttpError(
      403,
      `tenant ${JSON.stringify(name)} does not exist, and a page of another site cannot create it. Send a request from the test process first.`,
    )
  }

  /**
   * Signs in a user of the Redis protocol. The user name `w1/default` means user `default` of tenant `w1`, and a name
   * without a slash means a user of `main`. After the tenant, a name can contain an added database, as in
   * `w1/us/default`. A tenant that does not exist is created only if the password is a token of this tenant.
   * @throws ReplyError when the tenant cannot be created
   */
  enter(name: string | undefined, password: string): ReturnType<RespHost['enter']> {
    const [, tenant = 'main', userName = ''] = /^(?:([^/]*)\/)?(.*)$/s.exec(name ?? '') ?? []
    const known = this.#sandboxes.get(tenant)
    if (this.#door !== undefined && isPublic(password)) return undefined
    if (known === undefined) {
      if (!isTenantName(tenant)) return undefined
      const { databases, ...first } = tokensOf(this.#optionsOf(tenant))
      const named = Object.entries(databases).find(([database]) => userName.startsWith(`${database}/`))?.[1]
      const places = name === undefined ? [first, ...Object.values(databases)] : [named ?? first]
      const accepted = places.flatMap(({ store, storeReadonly }) => [store, storeReadonly])
      if (!accepted.some((token) => isSameText(password, token))) return undefined
    }
    const sandbox = known ?? this.#madeBy(() => this.#newcomer(tenant))
    if (sandbox instanceof Error) throw new ReplyError(`ERR ${sandbox.message}`)
    return porterOf(sandbox, this.#refusesCommand).enter(
      name === undefined ? undefined : userName || 'default',
      password,
    )
  }

  /**
   * Signs in a client of the Redis protocol that needs no password, as user `default` of `main`. If the tenant does not
   * exist, this method creates it.
   * @throws ReplyError when the tenant cannot be created
   */
  enterWithoutPassword(): NonNullable<ReturnType<RespHost['enter']>> {
    const sandbox = this.#madeBy(() => this.#sandboxes.get('main') ?? this.#newcomer('main'))
    if (sandbox instanceof Error) throw new ReplyError(`ERR ${sandbox.message}`)
    const user = storeInternals.of(sandbox.store).engine.access.standardUser
    return { home: homeOf(sandbox, this.#refusesCommand), user }
  }

  /** Returns the Redis error for a command that must not run because memory is low. Otherwise returns `undefined`. */
  readonly #refusesCommand = (argv: readonly Bytes[]): string | undefined => refusesCommand(this.#heap, argv)

  #newcomer(name: string): Sandbox {
    this.#heap.look()
    if (this.#heap.isFull) throw new HttpError(503, this.#heap.sentence)
    return this.get(name)
  }

  /** Returns the sandbox of a tenant for a request, or the error for the response. */
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

  /** Serves a sandbox as a tenant of this server. The sandbox also keeps its own URLs. */
  adopt(name: string, sandbox: Sandbox): void {
    checkTenantName(name)
    const { tokens, queue } = sandbox
    if (
      this.#door !== undefined &&
      [...secretTokens(tokens), ...Object.values(queue.signingKeys.pair())].some(isPublic)
    ) {
      throw new TypeError(
        `server.adopt(${JSON.stringify(name)}): the sandbox has public tokens, and other machines can connect to this server. Create it with a secret, createSandbox({ secret, name }).`,
      )
    }
    this.#sandboxes.set(name, sandbox)
  }

  adoptFork(sandbox: Sandbox, of: string, given: string | undefined): string {
    let name = given ?? `${of}-fork`
    for (let number = 2; given === undefined && this.#sandboxes.has(name); number++) name = `${of}-fork-${number}`
    this.#checkNew(name)
    if (this.#sandboxes.has(name)) {
      throw new TypeError(`fork(): tenant ${JSON.stringify(name)} already exists. Use another name, or omit it.`)
    }
    this.#sandboxes.set(name, sandbox)
    return name
  }

  get all(): ReadonlyMap<string, Sandbox> {
    return this.#sandboxes
  }

  restore(name: string, dump: SandboxDump, options: LoadOptions): void {
    this.get(name).load(dump, options)
  }

  /**
   * Converts a URL of a tenant to a URL that the client can use. Clients on other machines, or outside of a container,
   * use another address than the server itself. The URL therefore gets the host of the client's request. The sandbox of
   * a fork has the URLs of its original. In these URLs, the name of the fork replaces the name of the original.
   */
  reached(given: string, { headers }: RawRequest, name: string): string {
    const address = this.#addressOf(given, name)
    const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1]
    if (this.#door === undefined || host === undefined || !address.startsWith(`${this.origin}/`)) return address
    return `http://${host}${address.slice(this.origin.length)}`
  }

  #addressOf(given: string, name: string): string {
    const own = this.#sandboxes.get(name)?.urls
    const served = sandboxUrlsOf({ base: `${this.origin}/${name}` }, undefined, Object.keys(own?.databases ?? {}))
    if (own === undefined || own.store === served.store || !URL.canParse(given)) return given
    return relocator(own, served)(given) ?? given
  }

  /** Stops serving the sandbox of a tenant without disposing the sandbox. */
  release(name: string): boolean {
    return this.#sandboxes.delete(name)
  }

  /**
   * Disposes the sandbox of a tenant.
   * @throws TypeError for a tenant with a real Redis, because the next tenant would find the data of this tenant
   */
  drop(name: string): boolean {
    if (this.elsewhere !== undefined && this.#sandboxes.has(name)) {
      throw new TypeError(
        `tenant ${JSON.stringify(name)} uses the real Redis of this server and cannot be dropped. Reset it with POST /_control/${name}/reset, or stop the server.`,
      )
    }
    this.#sandboxes.get(name)?.dispose()
    return this.#sandboxes.delete(name)
  }

  /** Serves the sandbox of a tenant that this node of a cluster owns. */
  serve(name: string, sandbox: Sandbox): void {
    this.#sandboxes.set(name, sandbox)
  }

  /** Returns a new sandbox with the initial state of a tenant. */
  fresh(name: string): Sandbox {
    return new Sandbox(this.#optionsOf(name), hintsFor(this.origin, name), this.elsewhere, this.#room())
  }

  /**
   * Returns the memory accounts for a tenant's responses in transit. Large responses of one tenant may use at most half
   * of the total, so that other tenants can receive responses.
   */
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

  /** Returns whether a path belongs to the server itself: control API, health, inspector. */
  isOwnPath({ url }: RawRequest): boolean {
    return url.startsWith('/_', this.origin.length)
  }

  /** Returns the path and query of a request. */
  targetOf({ url }: RawRequest): string {
    return url.slice(this.origin.length)
  }

  /** Returns the tenant of a request, or `undefined` for a request to the server itself. */
  nameOf(call: RawRequest): string | undefined {
    const path = this.targetOf(call)
    const [, ordered] = /^\/_control\/([^/?#]+)/.exec(path) ?? []
    if (ordered === undefined) return this.#addressee(call, path)?.name ?? foreignIn(path)?.name
    const name = decodeSegment(ordered)
    return this.mayControl(call) && name !== 'openapi.json' && isTenantName(name) ? name : undefined
  }

  /** Returns whether a request may create its tenant. */
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
    // Serve a request to a known tenant first. A path below `/v2/` is an exception, because it may belong to the queue
    // at the origin. No tenant name begins with `_`.
    if (known !== undefined && !isV2(first) && known.owns(call.url)) return this.#entered(call, first, known)
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
    // If other machines can connect, only clients with a token may learn the names of databases.
    const mistaken = this.#door === undefined ? this.#missingDatabase(path) : undefined
    if (mistaken !== undefined) return json({ error: mistaken }, 404)
    const error = `Not found: ${path}. The services of tenant "main" are at /main/store, /main/queue and /main/mgmt, and its control API is at /_control/main. At the root, its store serves POST /, /pipeline, /multi-exec and paths that begin with a command, such as /get/KEY.`
    return json({ error }, 404)
  }

  /** Returns the error for a path of a database that does not exist, such as `/main/store-us/get/a`. */
  #missingDatabase(path: string): string | undefined {
    const [, tenant = '', name] = /^\/([^/?#]+)\/store-([^/?#]*)/.exec(path) ?? []
    if (name === undefined || !isTenantName(tenant)) return undefined
    const { databases = [] } = this.#sandboxes.get(tenant)?.options ?? this.#optionsOf(tenant)
    return unknownDatabase(name, databases, onServer)
  }

  #isRegistered(call: RawRequest, path: string): boolean {
    const foreign = foreignIn(path)
    return (
      foreign !== undefined &&
      this.#sandboxes.get(foreign.name)?.outbound.isRegistered(call.method, foreign.url) === true
    )
  }

  /**
   * Responds to an outbound request with the registered response. This method never contacts the external host. A
   * request without a registered response is logged as rejected.
   */
  #standIn(call: RawRequest, { name, url }: ForeignAddress): RawResponse | Promise<RawResponse> {
    const calls = this.#sandboxes.get(name)?.outbound
    if (calls?.takes(call.method, url) === true) return calls.exchange(moved(call, url), { outside: true })
    const known = calls?.wrongWith(call.method, url)
    const error =
      known ??
      `tenant ${JSON.stringify(name)} has no response for ${call.method} ${shownUrl(url)}, and requests are not forwarded. ${hintsFor(this.origin, name).call(shownPattern(url))}.`
    if (calls !== undefined) outboundInternals.of(calls).refuse(call.method, url, error)
    return json({ error }, 502)
  }

  /**
   * Returns the error response for a request without a valid token, otherwise `undefined`. This method is called before
   * the body is read.
   */
  turnsAway(call: RawRequest): RawResponse | Promise<RawResponse> | undefined {
    if (this.#door === undefined && !this.isOwnPath(call)) return undefined
    const path = this.targetOf(call)
    if (/^\/_control(?:[/?#]|$)/.test(path)) return this.mayControl(call) ? undefined : noToken(call)
    if (this.#door === undefined) return undefined
    const to = this.#addressee(call, path)
    return to && this.#door.turnsAway(to.call, to.name, to.sandbox)
  }

  /**
   * Returns whether the response to an admitted request is the same for every body. Reasons: the service rejects the
   * token, the path does not exist, or no response is registered for the external URL.
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

  /**
   * Returns the tenant that a request is for, with its sandbox. The URL of the returned request is a URL of this
   * sandbox.
   */
  #addressee(
    call: RawRequest,
    path: string,
  ): { name: string; call: RawRequest; sandbox: Sandbox | undefined } | undefined {
    // The queue SDK in development mode expects the queue directly at the origin. [queue.md 13]
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
    const adopted =
      sandbox &&
      relocator(
        sandboxUrlsOf({ base: `${this.origin}/${name}` }, undefined, sandbox.options.databases),
        sandbox.urls,
      )(call.url)
    return adopted === undefined ? undefined : { name, call: moved(call, adopted), sandbox }
  }

  /** Returns the response of a tenant. The first admitted request creates the tenant. */
  #entered(call: RawRequest, name: string, known: Sandbox | undefined): RawResponse | Promise<RawResponse> {
    const refusal = this.#door?.turnsAway(call, name, known)
    if (refusal !== undefined) return refusal
    const sandbox = known ?? this.#made(name, call)
    if (!(sandbox instanceof Error)) {
      return refusedFor(this.#heap, call, (url) => locator(sandbox.urls)(url)) ?? sandbox.exchange(call)
    }
    return json({ error: sandbox.message }, sandbox instanceof HttpError ? sandbox.status : 503)
  }

  /**
   * Returns the number of tenants for the health check. If other machines can connect, only clients with the control
   * token get this number.
   */
  #census(call: RawRequest): { tenants?: number; node?: string } {
    if (this.#door !== undefined && !this.mayControl(call)) return {}
    return { tenants: this.#sandboxes.size, ...(this.node !== undefined && { node: this.node }) }
  }

  /** Returns whether a request has the token of the control API. */
  mayControl({ headers }: RawRequest): boolean {
    const token = this.#controlToken
    if (token === undefined) return true
    return headers.some(
      ([name, value]) => name.toLowerCase() === 'authorization' && isSameText(value, `Bearer ${token}`),
    )
  }

  /** Returns whether a URL would belong to a tenant with this name. The tenant is not created. */
  #wouldOwn(name: string, url: string): boolean {
    if (!isTenantName(name)) return false
    const { urls, databases } = this.#optionsOf(name)
    return locator(sandboxUrlsOf(urls, undefined, databases))(url) !== undefined
  }

  /** Starts to watch the heap. When it is nearly full, requests that store data are rejected. */
  watchMemory(): void {
    this.#heap.start()
  }

  /**
   * Frees memory. This method drops the older half of each traffic log, and the journals, which only past instants
   * need.
   */
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

/** @throws TypeError for a name that a tenant cannot have */
function checkTenantName(name: string): void {
  const flaw = tenantNameFlaw(name)
  if (flaw !== undefined) throw new TypeError(`tenant ${JSON.stringify(name)}: ${flaw}`)
}

/** Matches paths of the queue at the origin, but not the services of a tenant with the name `v2`. */
const queueAtOrigin = /^\/v2\/(?!store(?:[-/?#]|$)|queue(?:[-/?#]|$)|mgmt(?:[/?#]|$))./i

function isV2(segment: string): boolean {
  return segment.length === 2 && segment.toLowerCase() === 'v2'
}

function noToken(call: RawRequest): RawResponse {
  const given = call.headers.every(([name]) => name.toLowerCase() !== 'authorization')
    ? ''
    : ', and the given token is wrong'
  const error = `The control API requires its token, which the server printed when it started${given}. Pass it as --control-token, STUNTDOUBLE_CONTROL_TOKEN, connect(url, { controlToken }) or Authorization: Bearer TOKEN.`
  return json({ error }, 401, [['www-authenticate', 'Bearer']])
}
