import type { ClockMode } from '../kernel/clock.js'
import { type Instant, instant, iso } from '../kernel/instant.js'
import { didYouMean } from '../kernel/nearest-name.js'
import type { Policy } from '../policy/policy.js'
import { type UrlOptions, whereEngines } from '../protocol/address.js'
import type { Dialect, DialectName } from '../protocol/dialect.js'
import type { DeliveryHosts } from '../queue/destinations/destinations.js'
import type { SignatureWindow } from '../queue/signing/signing.js'
import { checkSecret } from './credentials.js'

export interface SandboxOptions extends UrlOptions {
  /** Replays everything that is left to chance: ids, random replies, dice. Default 1. */
  readonly seed?: number | string
  /** Virtual time at the start: ISO text, `Date` or milliseconds. Default `2030-01-01T00:00:00Z`. Not with a real clock. */
  readonly startAt?: Instant
  /** `manual` (default): the test moves time. `auto`: time skips when nothing runs. `real`: time is the host's. */
  readonly clock?: ClockMode
  /**
   * Whose words count: `auto` (default) answers each request in its own and delivers each message in its publisher's;
   * `service`, `upstash` and a vocabulary of your own are strict, and tell of words that are not theirs.
   */
  readonly dialect?: DialectName | Dialect
  readonly policy?: Partial<Policy>
  /** Standard token of the data store. */
  readonly storeToken?: string
  /** Read-only token of the data store. */
  readonly readonlyToken?: string
  /** Token of the queue. */
  readonly queueToken?: string
  /** Read-only token of the queue. */
  readonly queueReadonlyToken?: string
  /** Keys that deliveries are signed with. */
  readonly signingKey?: string
  readonly nextSigningKey?: string
  /** User name and key of the management API. */
  readonly mgmtUser?: string
  readonly mgmtKey?: string
  /**
   * Tokens and keys that are not given are derived from this and `name`, by HMAC-SHA256. Without it they are defaults that
   * everybody can read. At least 16 characters.
   */
  readonly secret?: string
  /**
   * `wide`: signatures verify at any host time. `real`: valid for five minutes of the sandbox's time; the default with a
   * real clock, `wide` with the others.
   */
  readonly signing?: { readonly window?: SignatureWindow }
  /** Takes deliveries that no registered destination answers, as far as `deliver` allows. */
  readonly fetch?: typeof globalThis.fetch
  /** Hosts that `fetch` may reach. Default `loopback`. */
  readonly deliverTo?: DeliveryHosts
  /**
   * `false`: what comes into the world is not written down, which saves memory in very long runs; `at()` and `fork()` are
   * refused then.
   */
  readonly journal?: boolean
  /** Receives warnings, `console.warn` by default. */
  readonly onWarning?: (text: string) => void
}

/** A list that the compiler keeps complete: a misspelt option in JavaScript is reported, not ignored. */
const optionNames: Readonly<Record<keyof SandboxOptions, true>> = {
  name: true,
  base: true,
  store: true,
  queue: true,
  mgmt: true,
  regions: true,
  redis: true,
  seed: true,
  startAt: true,
  clock: true,
  dialect: true,
  policy: true,
  storeToken: true,
  readonlyToken: true,
  queueToken: true,
  queueReadonlyToken: true,
  signingKey: true,
  nextSigningKey: true,
  mgmtUser: true,
  mgmtKey: true,
  secret: true,
  signing: true,
  fetch: true,
  deliverTo: true,
  journal: true,
  onWarning: true,
}

/** @throws TypeError with the nearest name for an option that neither a sandbox has nor whoever takes more than one does */
export function checkNames(options: object, called = 'createSandbox()', who = 'A sandbox', more: object = {}): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${called} takes an object of options such as { seed: 7 }, got ${String(options)}.`)
  }
  const known = Object.keys({ ...more, ...optionNames })
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  if (/^(?:engine|twin|allowEngines)$/.test(unknown)) {
    throw new TypeError(`${who} has no option ${JSON.stringify(unknown)} for a Redis or Valkey: ${whereEngines}`)
  }
  throw new TypeError(
    `${who} has no option ${JSON.stringify(unknown)}.${didYouMean(unknown, known)} The options are ${known.join(', ')}.`,
  )
}

function checkStart({ clock, startAt }: SandboxOptions): void {
  if (clock !== 'real' || startAt === undefined) return
  throw new TypeError(
    `With clock: 'real' time is the host's, and cannot start at ${iso(instant(startAt))}. Use clock: 'manual' or 'auto', or leave startAt out.`,
  )
}

export const defaultStart = '2030-01-01T00:00:00Z'

export interface LoadOptions {
  /** When the world continues, if that is later than the dump. Not with a real clock, which continues now. */
  readonly at?: Instant
  /** Moves all times of a dump that is ahead back. */
  readonly rebaseTime?: boolean
}

/** Receivers have the host's date: on its clock they get what the service signs, else what they accept at any time. */
export function signingOf({ signing, clock }: SandboxOptions): { readonly window: SignatureWindow } {
  return { window: signing?.window ?? (clock === 'real' ? 'real' : 'wide') }
}

/** Refuses invalid options. */
export function checkOptions(options: SandboxOptions): void {
  checkNames(options)
  checkStart(options)
  checkSecret(options.secret)
}
