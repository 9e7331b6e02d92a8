import { plural } from '../../../../src/kernel/plural.js'
import { multiLine } from '../../../../src/report/safe-text.js'
import { effectsOf } from '../delivery/delivery-effects.js'
import type { HandledOutbound } from '../delivery/handled-outbound.js'
import type { ClientOutcome, OrderRun } from './client-run.js'

/** Effects of an order. The key is the name in a report: a key of the store, a message, or `what alice returned`. */
export type Ending = ReadonlyMap<string, string>

/** An effect that differs from the same effect in the serial orders. */
export interface SerialDifference {
  /** Name of the effect: a key of the data store, a message, or `what alice returned`. */
  readonly subject: string
  /** The value in this run, as text. `not there` if it is missing. */
  readonly actual: string
  /** Value of the effect in the serial order whose effects are most similar to those of this run. */
  readonly expected: string
  /** Names of the clients in that serial order. */
  readonly serial: readonly string[]
}

export interface SerialEnding {
  readonly clients: readonly string[]
  readonly ending: Ending
  readonly holds: boolean
}

const absent = 'not there'

/**
 * Returns the effects of an order.
 * @param calls outbound requests that count as effects
 */
export function endingOf(
  { sandbox, results }: Pick<OrderRun, 'sandbox' | 'results'>,
  calls: readonly HandledOutbound[] = [],
): Ending {
  const ids = new Set(sandbox.traffic.ofType('published').map(({ messageId }) => messageId))
  // Message IDs depend on the order of the publishes, because one random source generates all of them. Do not compare
  // them.
  const plain = (given: string): string =>
    ids.size === 0 ? given : given.replace(/msg_[\w-]+/g, (id) => (ids.has(id) ? 'msg_…' : id))
  const { store, outgoing } = effectsOf({ sandbox, calls: [], given: new Set() })
  const ending = new Map<string, string>()
  for (const [key, value] of store) ending.set(key, plain(value))
  const called = calls.map(({ method, url, body }) => `call ${method} ${url} ${JSON.stringify(body)}`)
  for (const each of [...outgoing.map((message) => `message ${message}`), ...called]) {
    const name = plain(each)
    ending.set(name, plural(Number.parseInt(ending.get(name) ?? '0', 10) + 1, 'time'))
  }
  for (const [who, result] of results) ending.set(`what ${who} returned`, plain(resultText(result)))
  return ending
}

export function resultText(result: ClientOutcome): string {
  if ('error' in result) return `threw ${messageOf(result.error)}`
  try {
    return JSON.stringify(result.value, (_, value) => (typeof value === 'bigint' ? String(value) : value)) ?? 'nothing'
  } catch {
    return String(result.value)
  }
}

export function messageOf(error: unknown): string {
  const text = String((error as Error | undefined)?.message ?? error).trim()
  return multiLine(text.split('\n')[0]!)
}

/**
 * Returns the differences from the serial order with the most similar effects. Differing keys and messages come before
 * return values of clients.
 */
export function differencesFrom(serials: readonly SerialEnding[], ending: Ending): readonly SerialDifference[] {
  const all = serials.map(({ clients, ending: expected }) => {
    const names = [...new Set([...ending.keys(), ...expected.keys()])]
    return names
      .filter((name) => ending.get(name) !== expected.get(name))
      .map((what) => ({
        subject: what,
        actual: ending.get(what) ?? absent,
        expected: expected.get(what) ?? absent,
        serial: clients,
      }))
      .sort((a, b) => Number(isResult(a.subject)) - Number(isResult(b.subject)))
  })
  return all.sort((a, b) => a.length - b.length)[0] ?? []
}

function isResult(what: string): boolean {
  return what.startsWith('what ') && what.endsWith(' returned')
}
