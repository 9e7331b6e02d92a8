import { text } from '../src/kernel/bytes.js'
import { nearestName } from '../src/kernel/nearest-name.js'
import type { EntryOf } from '../src/kernel/traffic-log.js'
import { urlText } from '../src/report/describe.js'
import type { Redaction } from '../src/report/redaction.js'
import { plainText } from '../src/report/safe-text.js'
import { type StoreCostTotals, sumOfCosts } from '../src/report/traffic-context.js'
import { Traffic, type TrafficMark } from '../src/report/traffic-view.js'
import type { Store } from '../src/store/direct-store.js'
import { grouped } from './failure/circumstance.js'
import { composeFailure } from './failure/compose-failure.js'
import { isPlainObject, literal } from './literal.js'
import { type Bounds, boundsText, type CountRange, requireBounds, within } from './range.js'
import { evidenceOf, evidenceSince, inDatabase, type MatcherInput, type Perhaps } from './received.js'
import { callLine, type Verdict, verdict } from './verdict.js'

/** Expected costs. Each is a number or a range: `5`, `'<=5'`, `'2..4'` or `{ min, max }`. */
export interface CostPattern {
  /** Billed messages of the queue: every delivery and every retry. Callbacks and their retries count, too. */
  readonly messages?: CountRange
  /** Bytes of the bodies that attempts send, and of the response bodies that they receive. */
  readonly bandwidth?: CountRange
  /** Billed commands of the store, including each command in pipelines, transactions and scripts. */
  readonly commands?: CountRange
  /** Billed commands of the store that cannot change data, such as `GET`. */
  readonly reads?: CountRange
  /** Billed commands of the store that can change data, such as `SET`. */
  readonly writes?: CountRange
  /** Bytes in arguments of commands. */
  readonly bytesIn?: CountRange
  /** Bytes in replies. */
  readonly bytesOut?: CountRange
  /** HTTP requests to all services, or to the service in `expect()`. */
  readonly requests?: CountRange
}

/** Options of `toHaveCost()`. */
export interface CostOptions {
  /** Mark from `sandbox.traffic.mark()`. Only entries after it count, for example those of one user action. */
  readonly since?: TrafficMark
}

type Cost = keyof CostPattern

/** The entries whose costs are counted, and the costs that the store had billed before them. */
interface Period extends MatcherInput {
  readonly before?: StoreCostTotals
}

interface Counted {
  readonly amount: number
  /** Amounts per kind of request or command, as text, the largest first. */
  readonly parts?: readonly string[]
}

/** Maximum number of entries that are named for one kind of message. */
const maxSeqs = 3

const costs: Readonly<Record<Cost, (evidence: Period) => Counted | undefined>> = {
  messages: (evidence) =>
    notOf(evidence, 'store', () =>
      countedBy(evidence.ofType('attempt'), attemptName(evidence.redaction), ({ seq }) => seq),
    ),
  bandwidth: (evidence) => notOf(evidence, 'store', () => ({ amount: bandwidthOf(evidence.ofType('attempt')) })),
  commands: (evidence) => {
    const amount = spendOf(evidence)?.commands
    if (amount === undefined) return undefined
    const sent = evidence.ofType('command').filter(({ via }) => via !== 'direct')
    const nameOf = ({ argv }: EntryOf<'command'>): string => evidence.redaction.words([text(argv[0]!)])[0]!
    const { parts = [] } = countedBy(sent, (entry) => plainText(nameOf(entry).slice(0, 40).toUpperCase()))
    // Commands in scripts, and the MULTI and EXEC of transactions, are billed, but the log does not contain them.
    const rest = amount - sent.length
    return { amount, parts: rest > 0 ? [...parts, `${rest} in scripts or as MULTI and EXEC of transactions`] : parts }
  },
  reads: (evidence) => ofStore(evidence, 'reads'),
  writes: (evidence) => ofStore(evidence, 'writes'),
  bytesIn: (evidence) => ofStore(evidence, 'bytesIn'),
  bytesOut: (evidence) => ofStore(evidence, 'bytesOut'),
  requests: (evidence) => {
    const { role } = evidence
    const own = evidence
      .ofType('request')
      .filter(({ service }) => (role !== 'store' && role !== 'queue') || service === role)
    return countedBy(own, ({ method, service }) => `${plainText(method)} to the ${service}`)
  },
}

export function spent(received: unknown, pattern: CostPattern, options?: CostOptions): Verdict {
  const matcher = 'toHaveCost'
  const all = evidenceOf(matcher, received, 'sandbox')
  const wanted = checkedPattern(matcher, pattern)
  const since = checkedMark(matcher, all, options)
  const evidence = since === undefined ? all : periodSince(matcher, all, since, wanted)
  const lines = wanted.map(([name, bounds]) => {
    const counted = costs[name](evidence)
    if (counted === undefined) throw new TypeError(cannotCount(matcher, name, evidence))
    return { name, bounds, counted, fits: within(counted.amount, bounds) }
  })
  return verdict(
    lines.every(({ fits }) => fits),
    (not, place) => {
      const told = lines.map(({ name, bounds, counted, fits }) => {
        const parts = counted.parts === undefined || counted.parts.length === 0 ? '' : `: ${counted.parts.join(', ')}`
        return `      ${fits ? '✓' : '✗'} ${name}: expected ${boundsText(bounds)}, received ${counted.amount}${parts}`
      })
      const period = since === undefined ? '' : ` since the mark (after entry ${since})`
      return composeFailure({
        evidence,
        place,
        call: callLine(evidence, not, matcher, since === undefined ? [pattern] : [pattern, { since }]),
        expected: not
          ? `Expected other costs${inDatabase(evidence)}${period} than these:`
          : `Expected these costs${inDatabase(evidence)}${period}:`,
        parts: [told],
        hints: droppedHints(all),
        focus: [],
      })
    },
  )
}

function checkedMark(matcher: string, evidence: MatcherInput, options: unknown): TrafficMark | undefined {
  if (options === undefined) return undefined
  const other = isPlainObject(options) ? Object.keys(options).find((name) => name !== 'since') : ''
  if (other !== undefined) {
    throw new TypeError(
      `${matcher}(): the last argument must be { since: mark } (got ${literal(options)}). Take the mark with sandbox.traffic.mark().`,
    )
  }
  const { since } = options as { since?: unknown }
  if (since === undefined) return undefined
  if (!Number.isInteger(since) || (since as number) < 0) {
    throw new TypeError(
      `${matcher}(): since must be a mark (got ${literal(since)}). Write const mark = sandbox.traffic.mark() before the action, with await for a sandbox on a server.`,
    )
  }
  const latest = evidence.entries.at(-1)?.seq ?? 0
  // The log of one database can end before a mark of the sandbox.
  const isKnown = marksOf(evidence)?.has(since as TrafficMark) === true
  if ((since as number) <= latest || isKnown) return since as TrafficMark
  throw new TypeError(
    `${matcher}(): the mark in since is after entry ${since as number}, but this log ends with entry ${latest}, because the mark is from another sandbox or from before a reset. Take a mark with sandbox.traffic.mark() right before the action.`,
  )
}

const ofLog: readonly Cost[] = ['messages', 'bandwidth', 'requests']

function periodSince(matcher: string, all: MatcherInput, mark: TrafficMark, wanted: readonly [Cost, Bounds][]): Period {
  const evidence = evidenceSince(all, mark)
  if (mark === 0) return evidence
  const before = marksOf(all)?.get(mark)
  if (before !== undefined) return { ...evidence, before }
  const name = wanted.find(([cost]) => !ofLog.includes(cost))?.[0]
  if (name === undefined || spendOf(all) === undefined) return evidence
  throw new TypeError(
    `${matcher}(): ${name} cannot be counted since entry ${mark}, because the store records its costs only when a mark is taken. Take a mark with sandbox.traffic.mark() right before the action.`,
  )
}

function marksOf({ received }: MatcherInput): ReadonlyMap<TrafficMark, StoreCostTotals> | undefined {
  const { traffic } = received as { traffic?: object }
  return Traffic.of(traffic ?? (received as object))?.costs
}

function checkedPattern(matcher: string, pattern: unknown): [Cost, Bounds][] {
  const known = Object.keys(costs)
  if (!isPlainObject(pattern) || Object.keys(pattern).length === 0) {
    throw new TypeError(
      `${matcher}(): the expected costs are missing (got ${literal(pattern)}). Pass for example { messages: '<=3', commands: '<=5' }; the costs are ${known.join(', ')}.`,
    )
  }
  return Object.entries(pattern).map(([name, range]) => {
    if (!known.includes(name)) {
      const near = nearestName(name, known)
      throw new TypeError(
        `${matcher}(): unknown cost ${literal(name)}.${near === undefined ? '' : ` Did you mean \`${near}\`?`} The costs are ${known.join(', ')}.`,
      )
    }
    return [name as Cost, requireBounds(matcher, name, range)]
  })
}

function cannotCount(matcher: string, name: Cost, { role }: MatcherInput): string {
  if (role === 'traffic') {
    return `${matcher}(): ${name} cannot be counted in a list of entries, because only the store counts this cost. Write expect(sandbox).${matcher}(…) or expect(sandbox.store).`
  }
  return `${matcher}(): ${name} cannot be counted in a ${role}. Write expect(sandbox).${matcher}(…).`
}

function notOf(evidence: MatcherInput, role: MatcherInput['role'], count: () => Counted): Counted | undefined {
  return evidence.role === role ? undefined : count()
}

function spendOf({ received, before }: Period): StoreCostTotals | undefined {
  const total = totalOf(received)
  if (total === undefined || before === undefined) return total
  return {
    commands: total.commands - before.commands,
    reads: total.reads - before.reads,
    writes: total.writes - before.writes,
    bytesIn: total.bytesIn - before.bytesIn,
    bytesOut: total.bytesOut - before.bytesOut,
  }
}

function totalOf(received: unknown): StoreCostTotals | undefined {
  const { cost, store, stores } = received as Perhaps<Store, 'cost'> & {
    readonly store?: Perhaps<Store, 'cost'>
    readonly stores?: readonly Store[]
  }
  if (typeof cost === 'function') return (received as Pick<Store, 'cost'>).cost()
  if (stores !== undefined) return sumOfCosts(stores.map((database) => database.cost()))
  return typeof store?.cost === 'function' ? (store as Pick<Store, 'cost'>).cost() : undefined
}

function ofStore(evidence: Period, name: keyof StoreCostTotals): Counted | undefined {
  const amount = spendOf(evidence)?.[name]
  return amount === undefined ? undefined : { amount }
}

const maxParts = 5

/** @param seqOf `seq` of the entry to print; without it, only the amounts are printed */
function countedBy<T>(things: readonly T[], name: (thing: T) => string, seqOf?: (thing: T) => number): Counted {
  const sorted = [...grouped(things, name)].sort(([, a], [, b]) => b.length - a.length)
  const parts = sorted.slice(0, maxParts).map(([key, all]) => {
    const seqs = seqOf === undefined ? [] : all.slice(0, maxSeqs).map((thing) => `#${seqOf(thing)}`)
    if (all.length > seqs.length && seqs.length > 0) seqs.push('…')
    return `${all.length} × ${key}${seqs.length === 0 ? '' : ` (${seqs.join(', ')})`}`
  })
  if (sorted.length > maxParts) parts.push(`… ${sorted.length - maxParts} more kinds`)
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

function droppedHints(evidence: MatcherInput): string[] {
  const [dropped] = evidence.ofType('dropped')
  if (dropped === undefined) return []
  return [
    `The log has dropped ${dropped.count} entries, which are not counted. Raise policy.maxTrafficEntries to keep more.`,
  ]
}
