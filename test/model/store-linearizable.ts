import type { Findings, Invariant } from '../../src/invariants/invariant.js'
import { checkInvariantsOf, type InvariantReport } from '../../src/invariants/invariant-check.js'
import type { InvariantIndex } from '../../src/invariants/invariant-index.js'
import { invariants } from '../../src/invariants/invariant-table.js'
import { type Bytes, text } from '../../src/kernel/bytes.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { examinedBy } from '../../src/sandbox/check-invariants.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { type Expected, KeyModel } from './key-model.js'

const storeLinearizable: Invariant = {
  name: 'store-linearizable',
  guarantee:
    'Every reply of the store is what its key held when the command took effect, each command takes effect between its request and the answer, and nothing comes between the commands of a transaction.',
  suspendedBy: {
    'error-reply': 'for the command it struck',
    'stale-read': 'for the reply it struck',
    'clock-skew': 'for deadlines that it moved',
    'quota-exceeded': 'for the command it struck',
    restart: 'for the keys that it touched',
  },
  examine(history, findings) {
    if (!history.isWhole) findings.unknown('replies about keys that were written before the first entry that is left')
    checkReplies(history, this.suspendedBy!, findings)
    checkOrder(history, findings)
  },
}

/** The invariants that users check, and one of the store that only tests check. */
export const allInvariants: readonly Invariant[] = [...invariants, storeLinearizable]

/**
 * Checks invariants as `sandbox.checkInvariants()` does, with that of the store.
 * @param only name of one invariant
 */
export function examineAll(sandbox: Sandbox, only?: string): InvariantReport {
  const chosen = allInvariants.filter(({ name }) => only === undefined || name === only)
  return examinedBy(sandbox, (world) => checkInvariantsOf(world, chosen))
}

/** Commands that may write keys that they do not name. */
const opaque = /^(EVAL|EVALSHA|FCALL)(_RO)?$/

function checkReplies(history: InvariantIndex, suspending: Readonly<Record<string, string>>, findings: Findings): void {
  const model = new KeyModel(history.isWhole)
  for (const entry of history.world.entries) {
    if (entry.type === 'setting' && entry.resource === 'store') model.forgetAll()
    else if (entry.type === 'keyspace' && entry.event === 'evicted') model.forget([entry.key])
    if (entry.type !== 'command') continue
    const [first = '', ...words] = entry.argv
    const name = first.toUpperCase()
    model.now = entry.at
    // A script that fails keeps what it wrote before the error.
    if (opaque.test(name)) model.forgetAll()
    else if (entry.error === undefined) {
      const expected = model.run(name, words)
      if (expected === undefined) continue
      if (history.struck(entry, suspending)) model.forget(words)
      else if (!isAsExpected(entry.reply, expected)) {
        findings.broken(
          `${name} replied ${shown(plain(entry.reply))}; the commands before it make that ${shownExpected(expected)}`,
          ...aboutKey(history, entry),
        )
        model.forget(words)
      }
    }
  }
}

/** Returns the last commands that named the same key, and the command itself. */
function aboutKey(history: InvariantIndex, entry: EntryOf<'command'>): readonly Entry[] {
  const { entries } = history.world
  const key = entry.argv[1]
  const related: Entry[] = [entry]
  for (let at = entries.indexOf(entry) - 1; at >= 0 && related.length < 5; at--) {
    const before = entries[at]!
    if (before.type === 'command' && before.error === undefined && before.argv.includes(key!)) related.unshift(before)
  }
  return related
}

/**
 * Checks that a command takes effect between its request and the response, and that the commands of a transaction are
 * adjacent.
 */
function checkOrder(history: InvariantIndex, findings: Findings): void {
  let before: EntryOf<'command'> | undefined
  const done = new Set<number>()
  for (const command of history.of('command')) {
    const request = history.find(command.cause)
    if (
      request?.type === 'request' &&
      (request.endedAfterSeq ?? command.seq) < command.seq &&
      !history.struck(request, anyFault)
    ) {
      findings.broken('a command took effect after its request had been answered', request, command)
    }
    if (before?.via === 'transaction' && before.cause !== undefined && before.cause !== command.cause)
      done.add(before.cause)
    if (command.via === 'transaction' && command.cause !== undefined && done.has(command.cause)) {
      findings.broken('a command of another client came between those of a transaction', request, before, command)
    }
    before = command
  }
}

/** Faults after which a request may take effect later than its response. */
const anyFault = {
  hang: '',
  'lost-ack': '',
  'late-response': '',
  reset: '',
  latency: '',
  restart: '',
  outage: '',
  status: '',
}

type Plain = null | string | { readonly status: string } | readonly Plain[]

/** Returns a reply without the types of the store: numbers as digits, both nils as `null`. */
function plain(reply: unknown): Plain {
  if (typeof reply === 'string') return `"${reply}"`
  if (typeof reply === 'number' || typeof reply === 'bigint') return String(reply)
  if (Array.isArray(reply)) return reply.map(plain)
  if (reply === null || reply === undefined) return null
  const { text: word, status } = reply as { text?: string; status?: string }
  return typeof (word ?? status) === 'string' ? { status: (word ?? status)! } : null
}

function isAsExpected(reply: unknown, expected: Expected): boolean {
  if ('error' in expected) return false
  const [ours, theirs] = [plain(reply), plain(expected.reply)].map((side) => JSON.stringify(sorted(side, expected)))
  return ours === theirs
}

function sorted(reply: Plain, { unordered }: { readonly unordered?: 'items' | 'pairs' }): unknown {
  if (unordered === undefined || !Array.isArray(reply)) return reply
  if (unordered === 'items') return [...reply].sort()
  return reply.flatMap((field, at) => (at % 2 === 0 ? [JSON.stringify([field, reply[at + 1]])] : [])).sort()
}

function shownExpected(expected: Expected): string {
  return 'error' in expected ? `the error ${expected.error}` : shown(plain(expected.reply))
}

function shown(reply: Plain): string {
  if (reply === null) return 'nil'
  if (typeof reply === 'string') return text(reply.slice(0, 80) as Bytes)
  if ('status' in reply) return reply.status
  const items = reply.slice(0, 8).map(shown).join(', ')
  return `[${items}${reply.length > 8 ? ', …' : ''}]`
}
