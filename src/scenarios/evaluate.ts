import { type Evaluator, evaluators, type Verdict } from '../../matchers/index.js'
import { wildcard } from '../kernel/address-pattern.js'
import type { Duration } from '../kernel/duration.js'
import { instant, iso } from '../kernel/instant.js'
import { plural } from '../kernel/plural.js'
import { verdictText } from '../report/failure-text.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import {
  type Expectation,
  type ExpectationName,
  type ExpectationValues,
  type ExpectationVerdict,
  expectationOf,
} from './expectations.js'
import { checkRecorded } from './recorded.js'

/** State of a play that an expectation is evaluated against. */
interface ExpectationContext {
  readonly sandbox: Sandbox
  readonly messages: ReadonlyMap<string, readonly string[]>
  /** URLs of destinations whose recorded responses are not played, because code under test responds at these URLs. */
  readonly underTest: ReadonlySet<string>
}

type Judges = {
  readonly [K in ExpectationName]: (value: ExpectationValues[K], court: ExpectationContext) => ExpectationVerdict
}

/** Evaluates one expectation against everything that has happened so far. */
export function evaluate(expectation: Expectation, court: ExpectationContext): ExpectationVerdict {
  const [name, value] = expectationOf(expectation)
  return (judgesByName[name] as (value: unknown, court: ExpectationContext) => ExpectationVerdict)(value, court)
}

const judgesByName: Judges = {
  sequence: (steps, court) => {
    const named = steps.map((step) => withIds(step, court))
    return verdictOf(`sequence of ${steps.length}`, evaluators.toFollowSequence(court.sandbox, named as never), false)
  },
  published: patternJudge('published', evaluators.toHavePublished),
  delivered: patternJudge('delivered', evaluators.toHaveDelivered),
  recorded: (value, { sandbox, messages, underTest }) =>
    checkRecorded(value, messages.get(value.message) ?? [], sandbox, underTest),
  deadLetter: patternJudge('dead letter', evaluators.toHaveDeadLetter),
  deliveredCallback: patternJudge('delivered callback', evaluators.toHaveDeliveredCallback),
  schedule: patternJudge('schedule', evaluators.toHaveSchedule),
  receivedRequest: patternJudge('received request', evaluators.toHaveReceivedRequest),
  outboundRequest: patternJudge('outbound request', evaluators.toHaveOutboundRequest),
  reached: ({ url: at, times }, { sandbox }) => {
    const fits = wildcard(at)
    const arrived = sandbox.traffic.ofType('attempt').filter(({ url }) => fits(url)).length
    return tallied(`${plural(times, 'delivery', 'deliveries')} at ${at}`, arrived, times)
  },
  executed: ({ argv: words, times, database }, { sandbox }) => {
    const given = times === undefined || times === 0 ? words : [...words, { times }]
    const expected = `executed ${words.join(' ')}${times === undefined ? '' : `, ${times} times`}${inDatabase(database)}`
    const subject = database === undefined ? sandbox : sandbox.storeIn(database)
    return verdictOf(expected, evaluators.toHaveExecuted(subject, ...(given as never[])), times === 0)
  },
  key: ({ name, absent, ttl, database, ...pattern }, { sandbox }) => {
    const wanted = { ...pattern, ...(ttl !== undefined && { ttl: ttl as Duration | null }) }
    const expected = `key ${name}${inDatabase(database)}${absent ? ' absent' : fieldsText(wanted)}`
    const subject = database === undefined ? sandbox : sandbox.storeIn(database)
    return verdictOf(expected, evaluators.toHaveKey(subject, ...([name, wanted] as never[])), absent === true)
  },
  deadLetters: (count, { sandbox }) => tallied(plural(count, 'dead letter'), sandbox.queue.deadLetters.length, count),
  pending: (count, { sandbox }) =>
    tallied(plural(count, 'message pending', 'messages pending'), sandbox.queue.messages.length, count),
  idle: (_, { sandbox }) => {
    const waiting = sandbox.clock.pending.filter(({ background }) => !background)
    if (waiting.length === 0) return { holds: true, expected: 'idle' }
    const lines = waiting.slice(0, 10).map(({ at, label }) => `${label} at ${iso(at)}`)
    return { holds: false, expected: 'idle', explanation: `Pending timers: ${lines.join(', ')}.` }
  },
  time: (at, { sandbox }) => {
    const [wanted, now] = [instant(at), sandbox.clock.now()]
    const expected = `time ${iso(wanted)}`
    return wanted === now
      ? { holds: true, expected }
      : { holds: false, expected, explanation: `The clock shows ${iso(now)}.` }
  },
  invariants: (names, { sandbox }) => judgeInvariants(names, sandbox),
}

function inDatabase(database: string | undefined): string {
  return database === undefined ? '' : ` in database ${database}`
}

function patternJudge(expected: string, judgeOf: Evaluator) {
  return (given: Readonly<Record<string, unknown>>, court: ExpectationContext): ExpectationVerdict => {
    const { times, ...pattern } = given
    const none = times === 0
    const options = times === undefined || none ? {} : { times }
    const title = `${expected}${fieldsText(given)}`
    return verdictOf(title, judgeOf(court.sandbox, ...([withIds(pattern, court), options] as never[])), none)
  }
}

function verdictOf(expected: string, verdict: Verdict, not: boolean): ExpectationVerdict {
  if (verdict.pass !== not) return { holds: true, expected }
  // Use only the explanation. The failure of a matcher also contains the matcher call, which makes sense only in a
  // test, and the timeline, which a play prints once.
  return { holds: false, expected, explanation: verdictText(verdict.failure(not)) }
}

/**
 * Replaces the field `message`, which is a name in the scenario. The new field matches the IDs of the messages that
 * were published under this name.
 */
function withIds(
  pattern: Readonly<Record<string, unknown>>,
  { messages }: ExpectationContext,
): Record<string, unknown> {
  const { message, ...rest } = pattern
  if (typeof message !== 'string') return rest
  const ids = messages.get(message) ?? []
  const messageId = {
    asymmetricMatch: (id: unknown) => ids.includes(id as string),
    toString: () => `the message ${JSON.stringify(message)}`,
  }
  return { ...rest, messageId }
}

function tallied(expected: string, found: number, wanted: number): ExpectationVerdict {
  return found === wanted
    ? { holds: true, expected }
    : { holds: false, expected, explanation: `The actual number is ${found}.` }
}

function fieldsText(pattern: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(pattern).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  const text = fields.join(', ')
  return text === '' ? '' : ` ${text.length > 120 ? `${text.slice(0, 120)}…` : text}`
}

function judgeInvariants(names: true | readonly string[], sandbox: Sandbox): ExpectationVerdict {
  const { checked, violations: breaches } = sandbox.checkInvariants(names === true ? {} : { only: names })
  const expected = `invariants ${names === true ? `(all ${checked.length})` : names.join(', ')}`
  if (breaches.length === 0) return { holds: true, expected }
  const lines = breaches.map(({ invariant, guarantee: promise, message: sentence, entries }) => {
    const where = entries.map(({ seq }) => `#${seq}`).join(' ')
    return `${invariant}: ${promise}\nBut ${sentence}.${where === '' ? '' : ` (${where})`}`
  })
  return { holds: false, expected, explanation: lines.join('\n') }
}
