import { randomBytes } from 'node:crypto'
import { latin1 } from '../../../src/kernel/bytes.js'
import { addressesOf, locator, relocator, type ServiceUrl } from '../../../src/protocol/address.js'
import { basicCredentials, RoutedRequest, storeTokenQuery, tokenOf } from '../../../src/protocol/call.js'
import { vocabularyOf } from '../../../src/protocol/dialect.js'
import { DialectDetector } from '../../../src/protocol/dialect-detector.js'
import type { RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { isPublic, tokensOf } from '../../../src/sandbox/credentials.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import { storeInternals } from '../../../src/store/store-internals.js'
import { isSameText } from './same-text.js'

/**
 * Who comes in where other machines can call. A call without a valid token reaches no world: none is made for it, none
 * logs it, none waits for its body. It gets what the services themselves say, from a world that nobody has a token of.
 */
export class AccessGate {
  readonly #optionsOf: (tenant: string) => SandboxOptions
  #porter: Sandbox | undefined

  /** @param optionsOf what a tenant is made with, its `urls` among it */
  constructor(optionsOf: (tenant: string) => SandboxOptions) {
    this.#optionsOf = optionsOf
  }

  /** The answer for a call to a tenant, who may not exist yet; `undefined` lets it in. */
  turnsAway(
    call: RawRequest,
    tenant: string,
    known: Sandbox | undefined,
  ): RawResponse | Promise<RawResponse> | undefined {
    if (this.lets(call, tenant, known)) return undefined
    const addresses = known?.urls ?? addressesOf(this.#optionsOf(tenant).urls)
    this.#porter ??= porterOf(this.#optionsOf('porter'))
    const url = relocator(addresses, this.#porter.urls)(call.url) ?? this.#porter.urls.queue
    return this.#porter.exchange({ method: call.method, url, headers: call.headers, body: () => latin1('') })
  }

  lets(call: RawRequest, tenant: string, known: Sandbox | undefined): boolean {
    return hasToken(call, known?.options ?? this.#optionsOf(tenant), known, true)
  }
}

/**
 * Whether a call has a valid token for the service that it is for.
 * @param options what the tenant is made with, its `urls` among it
 * @param isWide whether other machines can call: tokens that everybody knows do not count then
 */
export function hasToken(
  call: RawRequest,
  options: SandboxOptions,
  known: Sandbox | undefined,
  isWide = false,
): boolean {
  const addresses = known?.urls ?? addressesOf(options.urls)
  const location = locator(addresses)(call.url)
  if (location === undefined) return false
  const bears = (given: string | undefined, expected: readonly string[]): boolean =>
    !(isWide && given !== undefined && isPublic(given)) && isOneOf(given, expected)
  return mayEnter(call, location, options, known, bears)
}

/** Keeps nothing of what it is asked, and its tokens are known to nobody. */
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
  const vocabulary = known?.dialect ?? vocabularyOf(options.dialect ?? 'auto')
  const asked = new RoutedRequest(call, latin1(''), location, new DialectDetector(vocabulary), 0)
  const tokens = known?.tokens ?? tokensOf(options)
  if (location.service === 'stats') {
    const { user = '', password = '' } = basicCredentials(asked) ?? {}
    return bears(password, [tokens.mgmtKey]) && user === tokens.mgmtUser
  }
  if (location.service === 'queue') {
    return bears(tokenOf(asked, asked.vocabulary.queueTokenQuery), [tokens.queue, tokens.queueReadonly])
  }
  const token = tokenOf(asked, storeTokenQuery)
  if (bears(token, [tokens.store, tokens.storeReadonly])) return true
  // A look into a table compares hashes first: its time tells nothing of a token that is nearly right.
  if (token === undefined || known === undefined) return false
  return storeInternals.of(known.store).engine.access.holderOf(token) !== undefined
}

function isOneOf(given: string | undefined, expected: readonly string[]): boolean {
  if (given === undefined) return false
  return expected.filter((token) => isSameText(given, token)).length > 0
}
