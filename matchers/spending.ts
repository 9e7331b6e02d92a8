import { text } from '../src/kernel/bytes.js'
import { nearestName } from '../src/kernel/nearest-name.js'
import type { EntryOf } from '../src/kernel/traffic.js'
import { urlText } from '../src/report/describe.js'
import type { Redaction } from '../src/report/redaction.js'
import { plainText } from '../src/report/safe-text.js'
import { failureText } from './failure-text.js'
import { isPlainObject, literal } from './literal.js'
import { type Bounds, boundsText, type Range, requireBounds, within } from './range.js'
import { type Evidence, evidenceOf } from './received.js'
import { callLine, type Verdict } from './verdict.js'

/** What may be spent: numbers or ranges (`5`, `'<=5'`, `'2..4'`, `{ min, max }`). */
export interface SpentPattern {
  /** Attempts of the queue, as the service bills them: every delivery and retry, those of callbacks too. */
  readonly messages?: Range
  /** Bytes of the bodies of attempts and of their answers. */
  readonly bandwidth?: Range
  /** Commands of the store, as the service bills them: those of pipelines, transactions and scripts each. */
  readonly commands?: Range
  readonly reads?: Range
  readonly writes?: Range
  /** Bytes of arguments of commands. */
  readonly bytesIn?: Range
  /** Bytes of replies. */
  readonly bytesOut?: Range
  /** HTTP requests, to all services or to the one that is asked. */
  readonly requests?: Range
}

type Cost = keyof SpentPattern

interface Spend {
  readonly commands: number
  readonly reads: number
  readonly writes: number
  readonly bytesIn: number
  readonly bytesOut: number
}

interface Counted {
  readonly amount: number
  /** What it was spent on, most first. */
  readonly parts?: readonly string[]
}

const costs: Readonly<Record<Cost, (evidence: Evidence) => Counted | undefined>> = {
  messages: (evidence) =>
    notOf(evidence, 'store', () => countedBy(evidence.of('attempt'), attemptName(evidence.redaction))),
  bandwidth: (evidence) => notOf(evidence, 'store', () => ({ amount: bandwidthOf(evidence.of('attempt')) })),
  commands: (evidence) => {
    const amount = spendOf(evidence)?.commands
    if (amount === undefined) return undefined
    const sent = evidence.of('command').filter(({ via }) => via !== 'direct')
    const { parts = [] } = countedBy(sent, ({ argv }) => plainText(text(argv[0]!).slice(0, 40).toUpperCase()))
    // Commands of scripts and the ends of transactions are billed, and not in the log.
    const rest = amount - sent.length
    return { amount, parts: rest > 0 ? [...parts, `${rest} within scripts and around transactions`] : parts }
  },
  reads: (evidence) => ofStore(evidence, 'reads'),
  writes: (evidence) => ofStore(evidence, 'writes'),
  bytesIn: (evidence) => ofStore(evidence, 'bytesIn'),
  bytesOut: (evidence) => ofStore(evidence, 'bytesOut'),
  requests: (evidence) => {
    const { role } = evidence
    const own = evidence
      .of('request')
      .filter(({ service }) => (role !== 'store' && role !== 'queue') || service === role)
    return countedBy(own, ({ method, service }) => `${plainText(method)} to the ${service}`)
  },
}

/** What the code under test has cost. */
export function spent(received: unknown, pattern: SpentPattern): Verdict {
  const matcher = 'toHaveSpent'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  const lines = checkedPattern(matcher, pattern).map(([name, bounds]) => {
    const counted = costs[name](evidence)
    if (counted === undefined) throw new TypeError(cannotCount(matcher, name, evidence))
    return { name, bounds, counted, fits: within(counted.amount, bounds) }
  })
  return {
    pass: lines.every(({ fits }) => fits),
    found: [],
    explain: (not, place) => {
      const told = lines.map(({ name, bounds, counted, fits }) => {
        const parts = counted.parts === undefined || counted.parts.length === 0 ? '' : `: ${counted.parts.join(', ')}`
        return `      ${fits ? '✓' : '✗'} ${name}: expected ${boundsText(bounds)}, received ${counted.amount}${parts}`
      })
      return failureText({
        evidence,
        place,
        call: callLine(evidence, not, matcher, [pattern]),
        expected: not ? 'Expected other costs than these:' : 'Expected these costs, but:',
        parts: [told],
        hints: droppedHints(evidence),
        focus: [],
      })
    },
  }
}

function checkedPattern(matcher: string, pattern: unknown): [Cost, Bounds][] {
  const known = Object.keys(costs)
  if (!isPlainObject(pattern) || Object.keys(pattern).length === 0) {
    throw new TypeError(
      `${matcher}() needs what may be spent, for example { messages: '<=3', commands: '<=5' }. It counts ${known.join(', ')}.`,
    )
  }
  return Object.entries(pattern).map(([name, range]) => {
    if (!known.includes(name)) {
      const near = nearestName(name, known)
      throw new TypeError(
        `${matcher}() does not count ${literal(name)}.${near === undefined ? '' : ` Did you mean ${near}?`} It counts ${known.join(', ')}.`,
      )
    }
    return [name as Cost, requireBounds(matcher, name, range)]
  })
}

function cannotCount(matcher: string, name: Cost, { role }: Evidence): string {
  if (role === 'traffic') {
    return `${matcher}() cannot count ${name} in a list of entries: the store counts them itself. Write expect(sandbox).${matcher}(…) or expect(sandbox.store).`
  }
  return `${matcher}() cannot count ${name} in a ${role}. Write expect(sandbox).${matcher}(…).`
}

function notOf(evidence: Evidence, role: Evidence['role'], count: () => Counted): Counted | undefined {
  return evidence.role === role ? undefined : count()
}

function spendOf({ received }: Evidence): Spend | undefined {
  const { spend, store } = received as { spend?: unknown; store?: { spend?: unknown } }
  if (typeof spend === 'function') return (received as { spend(): Spend }).spend()
  return typeof store?.spend === 'function' ? (store as { spend(): Spend }).spend() : undefined
}

function ofStore(evidence: Evidence, name: keyof Spend): Counted | undefined {
  const amount = spendOf(evidence)?.[name]
  return amount === undefined ? undefined : { amount }
}

const mostParts = 5

function countedBy<T>(things: readonly T[], name: (thing: T) => string): Counted {
  const counts = new Map<string, number>()
  for (const thing of things) {
    const key = name(thing)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1])
  const parts = sorted.slice(0, mostParts).map(([key, count]) => `${count} × ${key}`)
  if (sorted.length > mostParts) parts.push(`… ${sorted.length - mostParts} more kinds`)
  return { amount: things.length, parts }
}

function attemptName(redaction: Redaction): (attempt: EntryOf<'attempt'>) => string {
  return ({ kind, url, retried }) => {
    const what = retried > 0 ? 'retry' : kind === 'message' ? 'delivery' : kind.replace('-', ' ')
    return `${what} to ${urlText(url, redaction)}`
  }
}

function bandwidthOf(attempts: readonly EntryOf<'attempt'>[]): number {
  let bytes = 0
  for (const { body, outcome } of attempts) bytes += body.length + (outcome?.body.length ?? 0)
  return bytes
}

function droppedHints(evidence: Evidence): string[] {
  const [dropped] = evidence.of('dropped')
  if (dropped === undefined) return []
  return [
    `the log has dropped ${dropped.count} entries, which are not counted; raise policy.trafficLimit to keep more.`,
  ]
}
