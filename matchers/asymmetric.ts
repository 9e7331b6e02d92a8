import { type Bytes, utf8 } from '../src/kernel/bytes.js'
import type { EntryOf, EntryType } from '../src/kernel/traffic-log.js'
import { standardRedaction } from '../src/report/redaction.js'
import { type CommandArgPattern, checkArguments, compareWord } from './command-matchers.js'
import { withoutSecrets } from './failure/hidden-values.js'
import { type AsymmetricMatcher, argumentList, literal } from './literal.js'
import { attemptFields, publishedFields } from './message-lifecycle.js'
import { testOf } from './near-misses.js'
import { checkPattern, type PatternFields } from './pattern-fields.js'
import type { PublishedPattern, Text } from './patterns.js'
import { isEntry } from './received.js'
import { type SequenceStep, stepTest } from './step-matchers.js'

/** A matcher for use inside other values: `toEqual([entryOf(…)])`, `toHaveBeenCalledWith(messageTo(…))`. */
class Inside implements AsymmetricMatcher {
  constructor(
    private readonly name: string,
    private readonly given: readonly unknown[],
    readonly asymmetricMatch: (other: unknown) => boolean,
  ) {}

  toString(): string {
    return this.name
  }

  /** Returns the text that test runners print for this matcher in a diff. */
  toAsymmetricMatcher(): string {
    return `${this.name}(${argumentList(this.given)})`
  }

  getExpectedType(): string {
    return 'object'
  }
}

/**
 * Matches a message: an entry that published it, one of its deliveries, or the message that `queue.publish()` returned.
 * @throws TypeError when the pattern has an unknown field or an impossible value
 * @example
 * const orders = sandbox.destinations.record('https://shop.test/orders')
 * await checkout()
 * await sandbox.clock.drain()
 * expect(orders.requests).toEqual([messageTo('https://shop.test/orders', { body: { id: 42 } })])
 */
export function messageTo(to: Text, pattern: Omit<PublishedPattern, 'to'> = {}): AsymmetricMatcher {
  const wanted = { to, ...pattern }
  checkPattern('messageTo', wanted, publishedFields)
  return new Inside('messageTo', Object.keys(pattern).length === 0 ? [to] : [to, pattern], (other) => {
    const fields = fieldsOfMessage(other)
    if (fields === undefined || Object.keys(wanted).some((name) => !Object.hasOwn(fields, name))) return false
    return testOf(fields, wanted).fits(other)
  })
}

function fieldsOfMessage(other: unknown): PatternFields<unknown> | undefined {
  if (typeof other !== 'object' || other === null) return undefined
  if (isEntry(other)) {
    if (other.type === 'published') return publishedFields as PatternFields<unknown>
    return other.type === 'attempt' ? ({ ...attemptFields, ...ofAttempt } as PatternFields<unknown>) : undefined
  }
  const { id, url, settings } = other as Record<string, unknown>
  return typeof id === 'string' && typeof url === 'string' && typeof settings === 'object' ? ofMessage : undefined
}

/** Pattern fields of an attempt that are read from the message of the attempt. */
const ofAttempt: PatternFields<EntryOf<'attempt'>> = {
  retries: { ...publishedFields.retries, read: (entry) => entry.maxRetries },
}

/**
 * Fields of a message that `queue.publish()` returned. Each field reads the message as if it were a `published` entry.
 */
const ofMessage: PatternFields<unknown> = Object.fromEntries(
  Object.entries(publishedFields).map(([name, field]) => [
    name,
    { ...field, read: (message: unknown) => field.read(entryOfMessage(message as LooseMessage)) },
  ]),
)

interface LooseMessage {
  readonly id: string
  readonly kind: EntryOf<'published'>['kind']
  readonly url: string
  readonly method: string
  readonly headers: EntryOf<'published'>['headers']
  readonly body: Bytes
  readonly createdAt: number
  readonly notBefore: number
  readonly maxRetries: number
  readonly settings: {
    readonly queue?: string
    readonly labels?: readonly string[]
    readonly flowControl?: { readonly key: string }
    readonly callback?: { readonly url: string }
    readonly failureCallback?: { readonly url: string }
    readonly deduplicationId?: string
  }
  readonly origin: { readonly urlGroup?: string; readonly endpointName?: string; readonly scheduleId?: string }
  readonly source?: { readonly id: string }
}

function entryOfMessage(message: LooseMessage): EntryOf<'published'> {
  const {
    id,
    kind,
    url,
    method,
    headers,
    body,
    createdAt: time,
    notBefore,
    maxRetries,
    settings,
    origin,
    source,
  } = message
  const optional = {
    ...origin,
    queue: settings.queue,
    labels: settings.labels,
    flowControlKey: settings.flowControl?.key,
    callback: settings.callback?.url,
    failureCallback: settings.failureCallback?.url,
    deduplicationId: settings.deduplicationId,
    sourceMessageId: source?.id,
  }
  const own = { type: 'published' as const, seq: 0, at: time, messageId: id, kind, url, method, headers, body }
  return { ...own, maxRetries, notBefore, deduplicated: false, ...(optional as object) }
}

/**
 * Matches a command: an entry of the log, or the arguments that a client sends.
 * @throws TypeError when an argument can never match
 * @example
 * const send = vi.fn()
 * send(sandbox.traffic.last('command'))
 * expect(send).toHaveBeenCalledWith(commandOf('SET', 'profile:42'))
 */
export function commandOf(...argv: readonly CommandArgPattern[]): AsymmetricMatcher {
  checkArguments('commandOf', argv)
  return new Inside('commandOf', argv, (other) => {
    const sent = argvOf(other)
    return sent !== undefined && argv.every((word, index) => compareWord(sent[index], word, index).length === 0)
  })
}

function argvOf(other: unknown): readonly Bytes[] | undefined {
  if (Array.isArray(other))
    return other.map((word) => utf8(typeof word === 'object' ? JSON.stringify(word) : String(word)))
  return isEntry(other) && other.type === 'command' ? other.argv : undefined
}

/**
 * Matches an entry of the log by its type and fields, like a step of `toFollowSequence`.
 * @throws TypeError when the type or a field is unknown
 * @example expect(sandbox.traffic.last('attempt')).toEqual(entryOf('attempt', { status: 200 }))
 */
export function entryOf<T extends EntryType>(
  type: T,
  pattern: Omit<Extract<SequenceStep, { type: T }>, 'type'> = {} as never,
): AsymmetricMatcher {
  const step = stepTest('entryOf', { type, ...pattern })
  return new Inside('entryOf', Object.keys(pattern).length === 0 ? [type] : [type, pattern], (other) => {
    return isEntry(other) && other.type === step.type && step.test.fits(other)
  })
}

/**
 * Returns the failure text for an asymmetric matcher that is used as an assertion: `expect(entry).entryOf('attempt')`.
 */
export function insideText(name: string, given: readonly unknown[], received: unknown, not: boolean): string {
  return `expect(received)${not ? '.not' : ''}.${name}(${argumentList(given)})\n\nReceived: ${literal(withoutSecrets(received, standardRedaction))}`
}
