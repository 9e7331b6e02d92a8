import { plainText } from '../../../../src/report/safe-text.js'
import type { InterleavingStep } from './client-run.js'
import { keysUsed } from './touched.js'

// Finds anomalies between clients that use the same keys. The anomalies have the names that the literature uses.
// [Berenson and others: A critique of ANSI SQL isolation levels, 1995; Adya: Weak consistency, 1999]

/** The name of an isolation failure, such as `lost-update`. */
export type AnomalyName =
  | 'lost-update'
  | 'double-spend'
  | 'stale-check'
  | 'write-skew'
  | 'foreign-delete'
  | 'dirty-read'
  | 'non-repeatable-read'
  | 'read-skew'
  | 'mixed-writes'
  | 'not-serializable'
  | 'none'

/** An isolation failure of one order. */
export interface Anomaly {
  /** Name of the isolation failure. `none` if no anomaly between the clients was found. */
  readonly name: AnomalyName
  /** Description of the anomaly. It contains the numbers of the steps. */
  readonly sentence: string
  /** Numbers of the steps that cause the anomaly, counted from 1. */
  readonly steps: readonly number[]
  /** Keys that the steps use. For a published message, the URL of its destination. */
  readonly keys: readonly string[]
}

const atomicWrite = 'Check and write in one atomic step, for example with a single command or a Lua script.'
const atomicRead = 'Read all values in one atomic step, for example with MGET or a Lua script.'
const advice: Readonly<Partial<Record<AnomalyName, string>>> = {
  'lost-update': atomicWrite,
  'double-spend': atomicWrite,
  'stale-check': atomicWrite,
  'write-skew': atomicWrite,
  'foreign-delete': 'Delete a key only if it has your own value, in one atomic step such as a Lua script.',
  'dirty-read': 'Write all values in one atomic step, for example with a transaction or a Lua script.',
  'mixed-writes': 'Write all values in one atomic step, for example with a transaction or a Lua script.',
  'non-repeatable-read': atomicRead,
  'read-skew': atomicRead,
}

/** Returns advice on how to prevent an anomaly. */
export function hintsFor({ name }: Pick<Anomaly, 'name'>): string[] {
  const hint = advice[name]
  return hint === undefined ? [] : [hint]
}

interface Use {
  readonly at: number
  readonly who: string
  readonly key: string
  readonly command: string
  readonly reads: boolean
  readonly writes: boolean
  readonly reply: string
  readonly words: readonly string[]
}

/** Commands that add or remove an amount or an element. They do not overwrite the changes of other clients. */
const adding =
  /^(?:INCR|DECR|INCRBY|DECRBY|INCRBYFLOAT|HINCRBY|HINCRBYFLOAT|ZINCRBY|APPEND|[LR]PUSHX?|[LR]POP|SADD|SREM|SPOP|ZADD|ZREM|ZPOPM(?:IN|AX)|XADD|XDEL|LREM|JSON\.NUMINCRBY|JSON\.ARRAPPEND)$/
/** The commands of `adding` that remove an amount or an element. */
const taking = /^(?:DECR|DECRBY|[LR]POP|SREM|SPOP|ZREM|ZPOPM(?:IN|AX)|LREM)$/
/** Publishing changes no key. It counts as a change, because a client may publish only if a key has a certain value. */
const publishing = 'PUBLISH to the queue'

/**
 * Maximum number of uses of keys that the search reads. The search compares all quadruples of uses, so more would take
 * too long.
 */
const maxUses = 40

/** Returns the keys that the steps used, in order. Commands that failed are left out. */
function usesOf(steps: readonly InterleavingStep[]): Use[] {
  const uses = steps.flatMap(({ client: who, entries }, index) =>
    entries.flatMap((entry): Use[] => {
      const at = index + 1
      if (entry.type === 'published')
        return [{ at, who, key: entry.url, command: publishing, reads: false, writes: true, reply: '', words: [] }]
      if (entry.type !== 'command' || entry.error !== undefined) return []
      const words = entry.argv.map((word) => word.toUpperCase())
      const reply = String(entry.reply ?? null)
      const isRefused = (entry.reply === null && words.includes('NX')) || (words[0] === 'SETNX' && reply === '0')
      return (keysUsed(entry) ?? []).map((used) => {
        const writes = used.writes && !isRefused
        return { at, who, ...used, reads: used.reads || isRefused, writes, reply, words }
      })
    }),
  )
  return uses.slice(0, maxUses)
}

function takes({ command, words }: Use): boolean {
  if (taking.test(command)) return true
  return (
    /^(?:INCRBY|INCRBYFLOAT|HINCRBY|HINCRBYFLOAT|ZINCRBY)$/.test(command) && words.some((word) => /^-\d/.test(word))
  )
}

type Finder = (uses: readonly Use[]) => Generator<Anomaly, void>

const looksOnly = ({ reads, writes }: Use): boolean => reads && !writes

/**
 * Yields lost updates: a client reads a key, another client changes it, and the first client writes based on the old
 * value.
 */
function* overwritten(uses: readonly Use[]): Generator<Anomaly, void> {
  for (const [look, change, act] of triples(uses)) {
    if (!looksOnly(look) || !change.writes || !act.writes) continue
    if (change.key !== look.key || change.who === look.who || act.who !== look.who) continue
    const seenSince = uses.some(
      (use) => use.who === look.who && use.key === look.key && looksOnly(use) && use.at > change.at && use.at <= act.at,
    )
    if (seenSince) continue
    const steps = [look.at, change.at, act.at]
    const told = `${look.who} read ${shown(look.key)} in step ${look.at}, ${change.who} changed it in step ${change.at}`
    const keys = [...new Set([look.key, act.key])]
    if (act.key !== look.key) {
      const what = act.command === publishing ? 'published' : `changed ${shown(act.key)}`
      yield {
        name: 'stale-check',
        steps,
        keys,
        sentence: `${told}, and ${look.who} ${what} in step ${act.at} based on the old value.`,
      }
    } else if (!adding.test(act.command))
      yield {
        name: 'lost-update',
        steps,
        keys,
        sentence: `${told}, and ${look.who} overwrote it in step ${act.at} without having read the change.`,
      }
    else {
      const name = takes(act) ? 'double-spend' : 'stale-check'
      const went = takes(act) ? 'took from it' : 'changed it'
      yield {
        name,
        steps,
        keys,
        sentence: `${told}, and ${look.who} ${went} in step ${act.at} because of the old value.`,
      }
    }
  }
}

/** Yields write skews: two clients each read a key that the other one changes afterwards. */
function* skewed(uses: readonly Use[]): Generator<Anomaly, void> {
  const rivals = [...pairs(uses)].filter(
    ([look, change]) => looksOnly(look) && change.writes && look.key === change.key && look.who !== change.who,
  )
  for (const [look, change] of rivals) {
    for (const [other, answer] of rivals) {
      if (other.who !== change.who || answer.who !== look.who || other.key === look.key || look.at > other.at) continue
      const steps = [...new Set([look.at, other.at, change.at, answer.at])].sort((a, b) => a - b)
      const sentence = `${look.who} read ${shown(look.key)} in step ${look.at} and ${other.who} read ${shown(other.key)} in step ${other.at}; then each changed what the other had read, in steps ${change.at} and ${answer.at}.`
      yield { name: 'write-skew', steps, keys: [look.key, other.key], sentence }
    }
  }
}

/** Yields deletions of a key whose value another client has written in the meantime. */
function* deleted(uses: readonly Use[]): Generator<Anomaly, void> {
  for (const [own, other, gone] of triples(uses)) {
    if (!/^(?:DEL|UNLINK)$/.test(gone.command) || own.key !== other.key || other.key !== gone.key) continue
    if (own.who !== gone.who || other.who === own.who || !own.writes || !other.writes) continue
    if (
      uses.some(
        (use) => use.who === own.who && use.key === own.key && use.reads && use.at > other.at && use.at <= gone.at,
      )
    )
      continue
    const sentence = `${gone.who} deleted ${shown(gone.key)} in step ${gone.at}, but its value was from ${other.who}, written in step ${other.at}.`
    yield { name: 'foreign-delete', steps: [own.at, other.at, gone.at], keys: [own.key], sentence }
  }
}

/** Yields reads that see only some of another client's changes. */
function* between(uses: readonly Use[]): Generator<Anomaly, void> {
  for (const [first, middle, last] of triples(uses)) {
    if (first.who !== last.who || middle.who === first.who) continue
    const steps = [first.at, middle.at, last.at]
    if (first.writes && last.writes && looksOnly(middle) && middle.key === first.key && last.key === first.key)
      yield {
        name: 'dirty-read',
        steps,
        keys: [first.key],
        sentence: `${middle.who} read ${shown(first.key)} in step ${middle.at}, between ${first.who}'s changes of it in steps ${first.at} and ${last.at}.`,
      }
    if (
      looksOnly(first) &&
      looksOnly(last) &&
      middle.writes &&
      middle.key === first.key &&
      last.key === first.key &&
      first.reply !== last.reply
    )
      yield {
        name: 'non-repeatable-read',
        steps,
        keys: [first.key],
        sentence: `${first.who} read ${shown(first.key)} in steps ${first.at} and ${last.at} and got different values, because ${middle.who} changed it in step ${middle.at}.`,
      }
  }
  for (const [first, second, third, fourth] of quadruples(uses)) {
    const keys = [first.key, third.key]
    if (first.key === third.key) continue
    const steps = [...new Set([first.at, second.at, third.at, fourth.at])].sort((a, b) => a - b)
    // The first client uses the first key, the other client uses both keys, and then the first client uses the second
    // key.
    const [own, others] = [first.who === fourth.who, second.who === third.who && second.who !== first.who]
    if (own && others && first.key === second.key && third.key === fourth.key) {
      if (first.writes && fourth.writes && looksOnly(second) && looksOnly(third))
        yield {
          name: 'read-skew',
          steps,
          keys,
          sentence: `${second.who} saw the work of ${first.who} half done: ${shown(first.key)} in step ${second.at} after its change, ${shown(third.key)} in step ${third.at} before its change.`,
        }
      else if (looksOnly(first) && looksOnly(fourth) && second.writes && third.writes)
        yield {
          name: 'read-skew',
          steps,
          keys,
          sentence: `${first.who} saw the work of ${second.who} half done: ${shown(first.key)} in step ${first.at} before its change, ${shown(third.key)} in step ${fourth.at} after it.`,
        }
      else if (first.writes && second.writes && third.writes && fourth.writes)
        yield {
          name: 'mixed-writes',
          steps,
          keys,
          sentence: `${shown(first.key)} is what ${second.who} wrote in step ${second.at}, ${shown(third.key)} what ${first.who} wrote in step ${fourth.at}: the writes of two clients are mixed.`,
        }
    }
  }
}

const finders: readonly Finder[] = [deleted, overwritten, skewed, between]
const precedence: readonly AnomalyName[] = [
  'foreign-delete',
  'lost-update',
  'double-spend',
  'write-skew',
  'stale-check',
  'read-skew',
  'dirty-read',
  'non-repeatable-read',
  'mixed-writes',
]

/**
 * Returns the most important anomaly of an order.
 * @param differing keys whose values occur in no serial order. Anomalies of these keys are preferred.
 */
export function flawIn(steps: readonly InterleavingStep[], differing: ReadonlySet<string>): Anomaly {
  const uses = usesOf(steps)
  const found = finders.flatMap((find) => [...find(uses)])
  const rank = ({ name, keys, steps }: Anomaly): number =>
    (keys.some((key) => differing.has(key)) ? 0 : 10_000) +
    100 * precedence.indexOf(name) +
    Math.min(99, steps.at(-1)! - steps[0]!)
  const [best] = found.sort((a, b) => rank(a) - rank(b))
  if (best !== undefined) return best
  const names = [...new Set(steps.map(({ client: who }) => who))].join(' and ')
  return {
    name: 'not-serializable',
    steps: [],
    keys: [],
    sentence: `No serial order of ${names} has this outcome.`,
  }
}

function shown(key: string): string {
  return plainText(/\s/.test(key) ? JSON.stringify(key) : key)
}

function* pairs(uses: readonly Use[]): Generator<readonly [Use, Use], void> {
  for (const one of uses) for (const two of uses) if (two.at > one.at) yield [one, two]
}

function* triples(uses: readonly Use[]): Generator<readonly [Use, Use, Use], void> {
  for (const [one, two] of pairs(uses)) for (const three of uses) if (three.at > two.at) yield [one, two, three]
}

/**
 * Yields quadruples of uses. The second and the third use may belong to one step, because a transaction is one step.
 */
function* quadruples(uses: readonly Use[]): Generator<readonly [Use, Use, Use, Use], void> {
  for (const [one, two] of pairs(uses))
    for (const three of uses)
      if (three.at >= two.at && three !== two)
        for (const four of uses) if (four.at > three.at) yield [one, two, three, four]
}
