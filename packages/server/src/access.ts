import { randomBytes } from 'node:crypto'
import { latin1 } from '../../../src/kernel/bytes.js'
import { locator, relocator, type SandboxUrls, type ServiceUrl, sandboxUrlsOf } from '../../../src/protocol/address.js'
import { basicCredentials, RoutedRequest, storeTokenQuery, tokenOf } from '../../../src/protocol/call.js'
import { dialectOf } from '../../../src/protocol/dialect.js'
import { DialectDetector } from '../../../src/protocol/dialect-detector.js'
import type { RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { isPublic, tokensOf } from '../../../src/sandbox/credentials.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import { storeInternals } from '../../../src/store/store-internals.js'
import { databaseOf } from './redis-port/connections.js'
import { isSameText } from './same-text.js'

/**
 * Checks tokens when other machines can connect. A request without a valid token reaches no tenant: it creates no
 * sandbox and no log entry, and its body is not read. Its error response comes from a separate sandbox whose tokens no
 * client knows.
 */
export class AccessGate {
  readonly #optionsOf: (tenant: string) => SandboxOptions
  #porter: Sandbox | undefined

  /** @param optionsOf function that returns the options of a tenant, including its `urls` */
  constructor(optionsOf: (tenant: string) => SandboxOptions) {
    this.#optionsOf = optionsOf
  }

  /**
   * Returns the error response if a request must not reach its tenant, otherwise `undefined`. The tenant may not exist
   * yet.
   */
  turnsAway(
    call: RawRequest,
    tenant: string,
    known: Sandbox | undefined,
  ): RawResponse | Promise<RawResponse> | undefined {
    if (this.lets(call, tenant, known)) return undefined
    const addresses = known?.urls ?? urlsOf(this.#optionsOf(tenant))
    this.#porter ??= porterOf(this.#optionsOf('porter'))
    const { urls } = this.#porter
    // The error of a database does not depend on its name.
    const databases = Object.fromEntries(Object.keys(addresses.databases).map((name) => [name, urls.store]))
    const url = relocator(addresses, { ...urls, databases })(call.url) ?? urls.queue
    return this.#porter.exchange({ method: call.method, url, headers: call.headers, body: () => latin1('') })
  }

  lets(call: RawRequest, tenant: string, known: Sandbox | undefined): boolean {
    return hasToken(call, known?.options ?? this.#optionsOf(tenant), known, true)
  }
}

/**
 * Returns whether a request has a valid token for its service.
 * @param options options of the tenant, including its `urls`
 * @param isWide whether other machines can connect; then public tokens are not valid
 */
export function hasToken(
  call: RawRequest,
  options: SandboxOptions,
  known: Sandbox | undefined,
  isWide = false,
): boolean {
  const addresses = known?.urls ?? urlsOf(options)
  const location = locator(addresses)(call.url)
  if (location === undefined) return false
  const bears = (given: string | undefined, expected: readonly string[]): boolean =>
    !(isWide && given !== undefined && isPublic(given)) && isOneOf(given, expected)
  return mayEnter(call, location, options, known, bears)
}

function urlsOf({ urls, databases }: SandboxOptions): SandboxUrls {
  return sandboxUrlsOf(urls, undefined, databases)
}

/**
 * Creates the sandbox that produces error responses. This sandbox records nothing, and no client knows its random
 * tokens.
 */
function porterOf({ dialect, policy }: SandboxOptions): Sandbox {
  return createSandbox({
    ...(dialect !== undefined && { dialect }),
    policy: { ...policy, maxTrafficEntries: 0 },
    secret: randomBytes(32).toString('base64url'),
  })
}

function mayEnter(
  call: RawRequest,
  location: ServiceUrl,
  options: SandboxOptions,
  known: Sandbox | undefined,
  bears: typeof isOneOf,
): boolean {
  const dialect = known?.dialect ?? dialectOf(options.dialect ?? 'auto')
  const asked = new RoutedRequest(call, latin1(''), location, new DialectDetector(dialect), 0)
  const tokens = known?.tokens ?? tokensOf(options)
  if (location.service === 'stats') {
    const { user = '', password = '' } = basicCredentials(asked) ?? {}
    return bears(password, [tokens.mgmtKey]) && user === tokens.mgmtUser
  }
  if (location.service === 'queue') {
    return bears(tokenOf(asked, asked.dialect.queueTokenQuery), [tokens.queue, tokens.queueReadonly])
  }
  const token = tokenOf(asked, storeTokenQuery)
  const { database } = location
  const own = database === undefined ? tokens : tokens.databases[database]!
  if (bears(token, [own.store, own.storeReadonly])) return true
  // This lookup in a map compares hashes first. Its duration therefore reveals nothing about a token that is nearly
  // right.
  if (token === undefined || known === undefined) return false
  return storeInternals.of(databaseOf(known, database)).engine.access.holderOf(token) !== undefined
}

function isOneOf(given: string | undefined, expected: readonly string[]): boolean {
  if (given === undefined) return false
  return expected.filter((token) => isSameText(given, token)).length > 0
}
