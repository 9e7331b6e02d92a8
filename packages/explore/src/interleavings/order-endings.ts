import { plural } from '../../../../src/kernel/plural.js'
import { multiLine } from '../../../../src/report/safe-text.js'
import { effectsOf } from '../delivery/delivery-effects.js'
import type { HandledOutbound } from '../delivery/handled-outbound.js'
import type { ClientOutcome, OrderRun } from './client-run.js'

/** What an order left behind, by names that a report can show: keys of the store, messages, what clients returned. */
export type Ending = ReadonlyMap<string, string>

/** Something that is otherwise than where the clients go one after the other. */
export interface SerialDifference {
  /** A key of the data store, `what alice returned`, or a message. */
  readonly subject: string
  readonly actual: string
  /** In the order of the clients, one after the other, that comes nearest. */
  readonly expected: string
  /** That order: who comes first, then who. */
  readonly serial: readonly string[]
}

export interface SerialEnding {
  readonly clients: readonly string[]
  readonly ending: Ending
  readonly holds: boolean
}

const absent = 'not there'

/** @param calls what other hosts did, as far as it counts */
export function endingOf(
  { sandbox, results }: Pick<OrderRun, 'sandbox' | 'results'>,
  calls: readonly HandledOutbound[] = [],
): Ending {
  const ids = new Set(sandbox.traffic.ofType('published').map(({ messageId }) => messageId))
  // Ids are drawn one after the other, whoever asks.
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

/** Keys of the store and messages come before what clients returned. */
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
