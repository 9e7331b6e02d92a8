import { type ClockMode, checkClockMode } from '../kernel/clock-mode.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import { checkOptionNames, didYouMean, type OptionNames, unknownOptions } from '../kernel/nearest-name.js'
import { shownValue } from '../kernel/shown-value.js'
import type { Policy } from '../policy/policy.js'
import { policyWith } from '../policy/schema.js'
import { engineUrls, queueRegions, type UrlOptions } from '../protocol/address.js'
import { type Dialect, type DialectName, neutralDialect } from '../protocol/dialect.js'
import type { DeliveryHosts } from '../queue/destinations/destinations.js'
import type { SignatureWindow, SigningKeyPair } from '../queue/signing/signing.js'
import type { Embed } from '../store/values/search-definition.js'
import { checkSecret, type DatabaseTokens, type TokenOptions } from './credentials.js'
import { checkDatabases } from './databases.js'

/** Options of `createSandbox()`. */
export interface SandboxOptions {
  /** Name that distinguishes the sandbox from others: `https://{name}.store.test`. */
  readonly name?: string | undefined
  /**
   * URLs of the services. Default: `https://store.test`, `https://queue.test` and `https://mgmt.test`.
   * @example createSandbox({ urls: { base: 'http://localhost:8000/double' } })
   */
  readonly urls?: UrlOptions | undefined
  /** Seed of all random values: IDs, random replies and draws of fault rules. Default 1. */
  readonly seed?: number | string
  /**
   * Virtual time at the start: ISO text, `Date` or milliseconds. Default `2030-01-01T00:00:00Z`. Not allowed with a
   * real clock.
   */
  readonly startAt?: Instant
  /**
   * Clock mode. `manual` (default): the test moves time. `auto`: time skips to the next timer when no work runs.
   * `real`: system time.
   */
  readonly clock?: ClockMode
  /**
   * Spelling of headers, parameters and variables. `auto` (default): the sandbox responds to each request in the
   * dialect of that request, and delivers each message in the dialect of its publisher.
   * `neutral`, `upstash` and custom dialects accept only their own names and report names of other dialects.
   */
  readonly dialect?: DialectName | Dialect
  /** Policies that differ from the defaults, by name. */
  readonly policy?: Partial<Policy>
  /**
   * Names of databases that are added to the data store, up to 16. `sandbox.storeIn(name)` returns an added database.
   * `sandbox.store` stays the first database and has no name. All databases share the clock, faults and traffic log.
   * @example
   * using sandbox = createSandbox({ databases: ['eu', 'us'] })
   * sandbox.storeIn('us').run('SET', 'greeting', 'hello')
   * expect(sandbox.storeIn('eu').get('greeting')).toBeNull()
   */
  readonly databases?: readonly string[] | undefined
  /** Tokens that clients authenticate with. An omitted token is derived from `secret`, or is a public default. */
  readonly tokens?: TokenOptions | undefined
  /** Keys that sign deliveries. An omitted key is derived from `secret`, or is a public default. */
  readonly signingKeys?: Partial<SigningKeyPair> | undefined
  /**
   * Secret of at least 16 characters. Omitted tokens and keys are derived from it and from `name`, by HMAC-SHA256.
   * Without a secret, they are public defaults.
   */
  readonly secret?: string
  /**
   * Period in which signatures are valid. `wide`: at any system time. `real`: for 5 minutes of the sandbox's time.
   * Default: `real` with a real clock, otherwise `wide`.
   */
  readonly signatureWindow?: SignatureWindow | undefined
  /** Function that receives deliveries to URLs without a destination, if `deliverTo` allows their hosts. */
  readonly fetch?: typeof globalThis.fetch
  /**
   * Function that embeds the texts of HYBRID search fields and of `$ann` queries: one vector for each text, all of the
   * same length. It must be synchronous and pure, because vectors are cached by text. Without it, a HYBRID field works
   * as TEXT, and `$ann` is rejected. [search.md 16]
   * @experimental The service has published HYBRID fields only in part.
   * @example
   * // A small embedding for a test: how often each of a few words occurs.
   * const topics = ['cat', 'dog', 'stock']
   * const embed = (texts: readonly string[]) =>
   *   texts.map((text) => Float32Array.from(topics, (topic) => text.toLowerCase().split(topic).length - 1))
   * using sandbox = createSandbox({ embed })
   */
  readonly embed?: Embed | undefined
  /** Hosts that `fetch` may reach. Default `loopback`. */
  readonly deliverTo?: DeliveryHosts
  /**
   * Whether inputs are recorded. Default true. `false` saves memory in very long runs, but `asOf()` and `fork()` then
   * throw.
   */
  readonly journal?: boolean
  /** Receives warnings. Default `console.warn`. */
  readonly onWarning?: (text: string) => void
}

/**
 * Table with every option, so that a misspelled option in JavaScript is reported. The compiler rejects a missing
 * option.
 */
const optionNames: Readonly<Record<keyof SandboxOptions, true>> = {
  name: true,
  urls: true,
  seed: true,
  startAt: true,
  clock: true,
  dialect: true,
  policy: true,
  databases: true,
  tokens: true,
  signingKeys: true,
  secret: true,
  signatureWindow: true,
  fetch: true,
  embed: true,
  deliverTo: true,
  journal: true,
  onWarning: true,
}

/**
 * Checks the names of options.
 * @param called call that the message about an invalid argument names, such as `createSandbox()`
 * @param who subject of the message about an unknown option, such as `A sandbox`
 * @param more names of additional options that the caller accepts
 * @throws TypeError when an option is unknown; the message suggests the nearest name
 */
export function checkNames(options: object, called = 'createSandbox()', who = 'A sandbox', more: object = {}): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`${called}: options must be an object such as { seed: 7 } (got ${shownValue(options)}).`)
  }
  const known = Object.keys({ ...more, ...optionNames })
  const unknown = Object.keys(options).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const redis = unknown.find((name) => /^(?:realRedis|shadowRedis|allowRedisHosts)$/.test(name))
  if (redis !== undefined) {
    throw new TypeError(`${who} has no option ${JSON.stringify(redis)} for a Redis or Valkey: ${engineUrls}`)
  }
  throw new TypeError(`${who} has no ${unknownOptions(unknown, known)}`)
}

function checkDialect(dialect: Dialect): void {
  const { environment, packages, sdkErrors } = neutralDialect
  checkOptionNames('dialect', dialect, [...Object.keys(neutralDialect), 'trialStore', 'realMgmtUrl', 'both'])
  for (const [name, part] of Object.entries({ environment, packages, sdkErrors }))
    checkOptionNames(`dialect.${name}`, dialect[name as 'packages'], Object.keys(part))
}

function checkStart({ clock = 'manual', startAt }: SandboxOptions): void {
  checkClockMode(clock)
  if (startAt === undefined) return
  if (clock !== 'real') return void instant(startAt)
  throw new TypeError(
    `startAt must be omitted with clock: 'real', which uses system time (got ${iso(instant(startAt))}). Use clock: 'manual' or 'auto', or omit startAt.`,
  )
}

export const defaultStart = '2030-01-01T00:00:00Z'

/** Options of `sandbox.load()`. */
export interface LoadOptions {
  /**
   * Instant at which the sandbox continues, if it is later than the time of the dump. Not allowed with a real clock,
   * which continues at system time.
   */
  readonly at?: Instant
  /** Whether to accept a dump from the future and move all its times back to now. Default false. */
  readonly rebaseTime?: boolean
}

/**
 * Returns the period in which signatures are valid. Receivers check this period against system time. Only a real clock
 * uses system time, so only a real clock has `real` as its default.
 */
export function signatureWindowOf({ signatureWindow, clock }: SandboxOptions): SignatureWindow {
  return signatureWindow ?? (clock === 'real' ? 'real' : 'wide')
}

/** Names of the options inside other options. The compiler reports a name that is missing here. */
const nestedNames: {
  readonly urls: Readonly<Record<keyof UrlOptions, true>>
  readonly tokens: Readonly<Record<keyof TokenOptions, true>>
  readonly signingKeys: Readonly<Record<keyof SigningKeyPair, true>>
} = {
  urls: {
    base: true,
    store: true,
    queue: true,
    mgmt: true,
    regions: true,
    databases: true,
    redis: true,
    redisNoAuth: true,
  },
  tokens: {
    store: true,
    storeReadonly: true,
    queue: true,
    queueReadonly: true,
    mgmtUser: true,
    mgmtKey: true,
    databases: true,
  },
  signingKeys: { current: true, next: true },
}

const databaseTokens: OptionNames<DatabaseTokens> = { store: true, storeReadonly: true }

/** Checks that all values are texts that are not empty. */
function checkTexts(option: string, texts: object): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined || (typeof text === 'string' && text !== '')) continue
    throw new TypeError(`${option}.${name} must be a string that is not empty (got ${shownValue(text)}).`)
  }
}

/**
 * Checks the names and values of nested options.
 * @throws TypeError when a name or value is invalid; the message suggests the nearest name
 */
export function checkNested(options: SandboxOptions): void {
  checkDatabases(options.databases)
  for (const [option, names] of Object.entries(nestedNames) as [keyof typeof nestedNames, object][]) {
    const nested: unknown = options[option]
    if (nested === undefined) continue
    if (typeof nested !== 'object' || nested === null) {
      throw new TypeError(
        `${option} must be an object with ${Object.keys(names).join(', ')} (got ${shownValue(nested)}).`,
      )
    }
    checkOptionNames(option, nested, Object.keys(names))
    for (const [name, text] of Object.entries(nested)) {
      if (text === undefined || name === 'regions' || name === 'databases') continue
      const isSwitch = name === 'redisNoAuth'
      if (isSwitch ? typeof text !== 'boolean' : typeof text !== 'string' || text === '') {
        const expected = isSwitch ? 'true or false' : 'a string that is not empty'
        throw new TypeError(`${option}.${name} must be ${expected} (got ${shownValue(text)}).`)
      }
      if (option === 'tokens') checkEnds(`tokens.${name}`, text)
    }
  }
  const { urls, tokens, dialect, policy, databases = [] } = options
  if (urls?.databases !== undefined) {
    checkOptionNames('urls.databases', urls.databases, databases)
    checkTexts('urls.databases', urls.databases)
  }
  if (tokens?.databases !== undefined) {
    checkOptionNames('tokens.databases', tokens.databases, databases)
    for (const [name, given] of Object.entries(tokens.databases)) {
      checkOptionNames(`tokens.databases.${name}`, given, databaseTokens)
      checkTexts(`tokens.databases.${name}`, given)
      for (const [key, token] of Object.entries(given)) checkEnds(`tokens.databases.${name}.${key}`, token)
    }
  }
  if (urls?.regions !== undefined) checkOptionNames('urls.regions', urls.regions, queueRegions)
  if (typeof dialect === 'object') checkDialect(dialect)
  if (policy !== undefined) policyWith(policy)
}

/** Checks a token. The message must not contain it, because it differs from the intended token only by a space. */
function checkEnds(name: string, token: string | undefined): void {
  if (token === undefined || token === token.trim()) return
  throw new TypeError(`${name} must not begin or end with white space, because clients do not send it.`)
}

/**
 * Merges options. If both arguments have an option, the value of `before` wins. Neither argument is changed. Options
 * inside `urls`, `tokens`, `signingKeys` and `policy` are merged one by one, so that a token of the queue does not
 * remove the token of the data store. The limits in `policy.queueLimits` are merged in the same way, because `--policy
 * queueLimits.maxRetries=5` sets one limit at a time.
 */
export function mergedOptions<T extends SandboxOptions>(options: T, before: T): T {
  const merged = { ...options, ...before }
  for (const name of ['urls', 'tokens', 'signingKeys', 'policy'] as const) {
    if (options[name] === undefined || before[name] === undefined) continue
    Object.assign(merged, { [name]: { ...options[name], ...before[name] } })
  }
  const [limits, limitsBefore] = [options.policy?.queueLimits, before.policy?.queueLimits]
  if (limits !== undefined && limitsBefore !== undefined)
    Object.assign(merged, { policy: { ...merged.policy, queueLimits: { ...limits, ...limitsBefore } } })
  return merged
}

const windows: readonly unknown[] = ['wide', 'real']
const hosts = ['loopback', 'none', 'any']
const areTexts = (list: unknown): boolean => Array.isArray(list) && list.every((item) => typeof item === 'string')
const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Checks of those options that are not checked anywhere else before they are used. */
const values: {
  readonly [Name in keyof SandboxOptions]?: readonly [
    fits: (value: unknown) => boolean,
    expected: string,
    choices?: readonly string[],
  ]
} = {
  name: [(name) => typeof name === 'string', 'a string'],
  seed: [(seed) => typeof seed === 'string' || Number.isFinite(seed), 'a number or a string'],
  signatureWindow: [(window) => windows.includes(window), "'wide' or 'real'", windows as string[]],
  deliverTo: [
    (reach) => hosts.includes(reach as string) || areTexts(reach),
    "'loopback', 'none', 'any' or a list of hosts",
    hosts,
  ],
  journal: [(journal) => typeof journal === 'boolean', 'true or false'],
  fetch: [isFunction, 'a function'],
  embed: [isFunction, 'a function'],
  onWarning: [isFunction, 'a function'],
}

function checkValues(options: SandboxOptions): void {
  for (const [name, [fits, expected, choices = []]] of Object.entries(values)) {
    const value: unknown = options[name as keyof SandboxOptions]
    if (value === undefined || fits(value)) continue
    throw new TypeError(`${name} must be ${expected} (got ${shownValue(value)}).${didYouMean(value, choices)}`)
  }
}

/** @throws TypeError when an option is invalid */
export function checkOptions(options: SandboxOptions): void {
  checkNames(options)
  checkValues(options)
  checkNested(options)
  checkStart(options)
  checkSecret(options.secret)
}
