import type { ClockMode } from '../kernel/clock.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import { checkOptionNames, didYouMean } from '../kernel/nearest-name.js'
import type { Policy } from '../policy/policy.js'
import { policyWith } from '../policy/schema.js'
import { engineUrls, queueRegions, type UrlOptions } from '../protocol/address.js'
import { type Dialect, type DialectName, neutralDialect } from '../protocol/dialect.js'
import type { DeliveryHosts } from '../queue/destinations/destinations.js'
import type { SignatureWindow, SigningKeyPair } from '../queue/signing/signing.js'
import { checkSecret, type SandboxTokens } from './credentials.js'

/** Options of `createSandbox()`. */
export interface SandboxOptions {
  /** A name of its own for a sandbox beside others: `https://{name}.store.test`. */
  readonly name?: string | undefined
  /**
   * Where the services are. Default: `https://store.test`, `https://queue.test` and `https://mgmt.test`.
   * @example createSandbox({ urls: { base: 'http://localhost:8000/double' } })
   */
  readonly urls?: UrlOptions | undefined
  /** Replays everything that is left to chance: ids, random replies, dice. Default 1. */
  readonly seed?: number | string
  /** Virtual time at the start: ISO text, `Date` or milliseconds. Default `2030-01-01T00:00:00Z`. Not with a real clock. */
  readonly startAt?: Instant
  /** `manual` (default): the test moves time. `auto`: time skips when nothing runs. `real`: time is the host's. */
  readonly clock?: ClockMode
  /**
   * Whose words count: `auto` (default) answers each request in its own and delivers each message in its publisher's;
   * `neutral`, `upstash` and a dialect of your own are strict, and tell of words that are not theirs.
   */
  readonly dialect?: DialectName | Dialect
  readonly policy?: Partial<Policy>
  /** What clients sign in with; each that is not given has a default, or comes of the `secret`. */
  readonly tokens?: Partial<SandboxTokens> | undefined
  /** Keys that deliveries are signed with, likewise. */
  readonly signingKeys?: Partial<SigningKeyPair> | undefined
  /**
   * Tokens and keys that are not given are derived from this and `name`, by HMAC-SHA256. Without it they are defaults that
   * everybody can read. At least 16 characters.
   */
  readonly secret?: string
  /**
   * `wide`: signatures verify at any host time. `real`: valid for five minutes of the sandbox's time; the default with a
   * real clock, `wide` with the others.
   */
  readonly signatureWindow?: SignatureWindow | undefined
  /** Takes deliveries that no registered destination answers, as far as `deliverTo` allows. */
  readonly fetch?: typeof globalThis.fetch
  /** Hosts that `fetch` may reach. Default `loopback`. */
  readonly deliverTo?: DeliveryHosts
  /**
   * `false`: what comes into the world is not written down, which saves memory in very long runs; `asOf()` and `fork()` are
   * refused then.
   */
  readonly journal?: boolean
  /** Receives warnings, `console.warn` by default. */
  readonly onWarning?: (text: string) => void
}

/** A list that the compiler keeps complete: a misspelt option in JavaScript is reported, not ignored. */
const optionNames: Readonly<Record<keyof SandboxOptions, true>> = {
  name: true,
  urls: true,
  seed: true,
  startAt: true,
  clock: true,
  dialect: true,
  policy: true,
  tokens: true,
  signingKeys: true,
  secret: true,
  signatureWindow: true,
  fetch: true,
  deliverTo: true,
  journal: true,
  onWarning: true,
}

/** @throws TypeError with the nearest name for an option that neither a sandbox has nor whoever takes more than one does */
export function checkNames(options: object, called = 'createSandbox()', who = 'A sandbox', more: object = {}): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`${called} takes an object of options such as { seed: 7 }, got ${given(options)}.`)
  }
  const known = Object.keys({ ...more, ...optionNames })
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  if (/^(?:realRedis|shadowRedis|allowRedisHosts)$/.test(unknown)) {
    throw new TypeError(`${who} has no option ${JSON.stringify(unknown)} for a Redis or Valkey: ${engineUrls}`)
  }
  throw new TypeError(
    `${who} has no option ${JSON.stringify(unknown)}.${didYouMean(unknown, known)} The options are ${known.join(', ')}.`,
  )
}

function checkDialect(dialect: Dialect): void {
  const { environment, packages, sdkErrors } = neutralDialect
  checkOptionNames('dialect', dialect, [...Object.keys(neutralDialect), 'trialStore', 'both'])
  for (const [name, part] of Object.entries({ environment, packages, sdkErrors }))
    checkOptionNames(`dialect.${name}`, dialect[name as 'packages'], Object.keys(part))
}

function checkStart({ clock, startAt }: SandboxOptions): void {
  if (clock !== 'real' || startAt === undefined) return
  throw new TypeError(
    `With clock: 'real' time is the host's, and cannot start at ${iso(instant(startAt))}. Use clock: 'manual' or 'auto', or leave startAt out.`,
  )
}

export const defaultStart = '2030-01-01T00:00:00Z'

/** Options of `sandbox.load()`. */
export interface LoadOptions {
  /** When the world continues, if that is later than the dump. Not with a real clock, which continues now. */
  readonly at?: Instant
  /** Moves all times of a dump that is ahead back. */
  readonly rebaseTime?: boolean
}

/** Receivers have the host's date: on its clock they get what the service signs, else what they accept at any time. */
export function signatureWindowOf({ signatureWindow, clock }: SandboxOptions): SignatureWindow {
  return signatureWindow ?? (clock === 'real' ? 'real' : 'wide')
}

/** The names within the options that nest; the compiler keeps them complete. */
const nestedNames: {
  readonly urls: Readonly<Record<keyof UrlOptions, true>>
  readonly tokens: Readonly<Record<keyof SandboxTokens, true>>
  readonly signingKeys: Readonly<Record<keyof SigningKeyPair, true>>
} = {
  urls: { base: true, store: true, queue: true, mgmt: true, regions: true, redis: true },
  tokens: { store: true, storeReadonly: true, queue: true, queueReadonly: true, mgmtUser: true, mgmtKey: true },
  signingKeys: { current: true, next: true },
}

/** @throws TypeError for an unknown name in an option that nests, with the nearest one, and for what is no text there */
export function checkNested(options: SandboxOptions): void {
  for (const [option, names] of Object.entries(nestedNames) as [keyof typeof nestedNames, object][]) {
    const nested: unknown = options[option]
    if (nested === undefined) continue
    if (typeof nested !== 'object' || nested === null) {
      throw new TypeError(`${option} takes an object with ${Object.keys(names).join(', ')}, got ${given(nested)}.`)
    }
    checkOptionNames(option, nested, Object.keys(names))
    for (const [name, text] of Object.entries(nested)) {
      if (text === undefined || (typeof text === 'string' && text !== '') || name === 'regions') continue
      throw new TypeError(`${option}.${name} is a text that is not empty, got ${given(text)}.`)
    }
  }
  const { urls, dialect, policy } = options
  if (urls?.regions !== undefined) checkOptionNames('urls.regions', urls.regions, queueRegions)
  if (typeof dialect === 'object') checkDialect(dialect)
  policyWith(policy)
}

/**
 * Options, and others that go before them. Those that nest are merged one level deep: who gives a token of the queue keeps
 * that of the data store; and so are the limits of a policy, which `--policy queueLimits.maxRetries=5` gives one by one.
 * Neither argument is changed.
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

/** What the options may be that nothing else looks at before they are used. */
const values: {
  readonly [Name in keyof SandboxOptions]?: readonly [
    fits: (value: unknown) => boolean,
    sentence: string,
    words?: readonly string[],
  ]
} = {
  name: [(name) => typeof name === 'string', 'is a text'],
  seed: [(seed) => typeof seed === 'string' || Number.isFinite(seed), 'is a number or a text'],
  signatureWindow: [(window) => windows.includes(window), "is 'wide' or 'real'", windows as string[]],
  deliverTo: [
    (reach) => hosts.includes(reach as string) || areTexts(reach),
    "is 'loopback', 'none', 'any' or a list of hosts",
    hosts,
  ],
  journal: [(journal) => typeof journal === 'boolean', 'is true or false'],
  fetch: [isFunction, 'is a function'],
  onWarning: [isFunction, 'is a function'],
}

function checkValues(options: SandboxOptions): void {
  for (const [name, [fits, sentence, words = []]] of Object.entries(values)) {
    const value: unknown = options[name as keyof SandboxOptions]
    if (value === undefined || fits(value)) continue
    throw new TypeError(`${name} ${sentence}, got ${given(value)}.${didYouMean(value, words)}`)
  }
}

function given(value: unknown): string {
  return typeof value === 'string' || Array.isArray(value) ? JSON.stringify(value) : String(value)
}

/** Refuses invalid options. */
export function checkOptions(options: SandboxOptions): void {
  checkNames(options)
  checkValues(options)
  checkNested(options)
  checkStart(options)
  checkSecret(options.secret)
}
