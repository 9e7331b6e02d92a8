import fc from 'fast-check'
import { createSandbox, fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { redactedChanges } from '../../../src/report/redacted-changes.js'
import type { DumpedKey, StoreDump } from '../../../src/store/dump/store-dump.js'
import { appliedTo } from '../../../src/store/history/key-change.js'
import { amount, runs, seedOr } from '../../support/effort.js'
import { rows } from '../../support/random-rows.js'

/** Returns the keys in a fixed order: expired keys may have been between others. */
function content(dump: StoreDump): readonly DumpedKey[] {
  return [...dump.keys].sort((a, b) => (JSON.stringify(a.key) < JSON.stringify(b.key) ? -1 : 1))
}

const random = [
  ['SPOP', 'key:1'],
  ['SRANDMEMBER', 'key:1', '2'],
  ['EVAL', "return redis.call('SET', KEYS[1], ARGV[1])", '1', 'key:2', 'x'],
  ['FLUSHDB'],
  ['NOSUCH'],
  ['SET', 'key:1'],
]

test.each(Array.from({ length: runs(60, 60, 600) }, (_, index) => seedOr(1) + index))(
  'random program %i gives the same store at each instant, by reads and by changes',
  async (seed) => {
    using sandbox = createSandbox({ seed, onWarning: () => {} })
    const { store, clock, traffic } = sandbox
    if (seed % 3 === 0)
      sandbox.faults.add({ on: 'store.command', chance: [1, 5], fault: fault.errorReply('ERR struck') })
    if (seed % 4 === 0) sandbox.faults.add({ on: 'store.request', chance: [1, 5], fault: fault.lostAck() })
    const program = fc
      .sample(rows({}), { numRuns: amount(80, 80, 160), seed })
      .flatMap((row, index) => (index % 9 === 8 ? [row, { argv: random[(index + seed) % random.length]! }] : [row]))
    const moments: { seq: number; at: number; keys: readonly DumpedKey[] }[] = []
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    for (const [index, row] of program.entries()) {
      if ('advance' in row) await clock.advance(row.advance)
      else if (index % 4 === 0)
        await sandbox
          .fetch(sandbox.urls.store, { method: 'POST', headers, body: JSON.stringify(row.argv) })
          .catch(() => {})
      else if (index % 4 === 1)
        await sandbox
          .fetch(`${sandbox.urls.store}/multi-exec`, {
            method: 'POST',
            headers,
            body: JSON.stringify([row.argv, ['INCR', 'count']]),
          })
          .catch(() => {})
      else {
        try {
          store.run(...row.argv)
        } catch {}
      }
      if (index === 40 && seed % 5 === 0)
        store.load({ format: 'stuntdouble/store', version: 1, keys: [{ key: 'loaded', type: 'string', value: 'x' }] })
      const dump = store.dump()
      const last = traffic.last()
      if (last?.at === clock.now()) moments.push({ seq: last.seq, at: last.at, keys: content(dump) })
    }
    expect(moments.length).toBeGreaterThan(20)
    for (const place of [5, 60, 30, 2, 70, 31]) {
      const moment = moments[place % moments.length]!
      expect(content(sandbox.asOf({ seq: moment.seq }).store.dump())).toEqual(moment.keys)
    }
    // Applies the recorded changes of each command.
    const keys = new Map<string, DumpedKey>()
    const changes = redactedChanges(store, traffic.redaction())
    let next = 0
    for (const { seq, at, keys: then } of moments) {
      for (; next < changes.length && changes[next]!.seq <= seq; next++) {
        const change = changes[next]!
        const id = JSON.stringify(change.key)
        const now = appliedTo(keys.get(id), change)
        if (now === undefined) keys.delete(id)
        else keys.set(id, now)
      }
      const present = [...keys.values()].filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > at)
      const living = content({ format: 'stuntdouble/store', version: 1, keys: present }).map((key) =>
        key.type === 'hash'
          ? { ...key, fields: key.fields.filter(([, , end = Number.POSITIVE_INFINITY]) => end > at) }
          : key,
      )
      expect(living.filter((key) => key.type !== 'hash' || key.fields.length > 0)).toEqual(then)
    }
  },
)
