import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { bytes, key, named, oneOrMore, zeroOrMore } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { replyError, testFailed, unknownHyperLogLogSubcommand } from '../command/errors.js'
import { ok, type Reply, Status } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import {
  addElement,
  cachedCount,
  createHyperLogLog,
  DamagedHyperLogLog,
  estimate,
  invalidateCount,
  isDense,
  isHyperLogLog,
  mergeRegisters,
  registersOf,
  selfTest,
  sparseText,
  toDense,
  withRegisters,
  writeCachedCount,
} from '../values/hyperloglog-value.js'

/** Units of work for one counter, which has 16,384 registers. */
const unitsPerCounter = 3000

export const hyperloglogCommands: readonly Command[] = [
  command('PFADD', {
    flags: ['write', 'fast'],
    since: '2.8.9',
    args: [key('W'), zeroOrMore(named('element', bytes))],
    run: ({ db }, key, elements) =>
      reportingDamage(() => {
        const existing = counterAt(db, key)
        let hll = existing ?? createHyperLogLog()
        let changed = existing === undefined
        for (const element of elements) {
          const added = addElement(hll, element)
          hll = added.hll
          changed ||= added.changed
        }
        if (!changed) return 0
        invalidateCount(hll)
        keep(db, key, hll)
        db.notify('$', 'pfadd', key)
        return 1
      }),
  }),

  command('PFCOUNT', {
    flags: ['read', 'slow'],
    since: '2.8.9',
    args: [oneOrMore(key('R'))],
    work: (_db, keys) => (keys.length > 1 ? unitsPerCounter * keys.length : 0),
    run: ({ db }, keys) =>
      reportingDamage(() => {
        if (keys.length > 1) return estimate(mergedRegisters(keys.map((key) => counterAt(db, key))))
        const hll = counterAt(db, keys[0]!)
        if (hll === undefined) return 0
        const cached = cachedCount(hll)
        if (cached !== undefined) return cached
        const count = estimate(registersOf(hll))
        // As in redis, PFCOUNT stores the count in the string.
        writeCachedCount(hll, count)
        keep(db, keys[0]!, hll)
        return count
      }),
  }),

  command('PFMERGE', {
    flags: ['write', 'slow'],
    since: '2.8.9',
    args: [key('RW'), zeroOrMore(key('R'))],
    work: (_db, _destination, sources) => unitsPerCounter * sources.length,
    run: ({ db }, destination, sources) =>
      reportingDamage(() => {
        const counters = [destination, ...sources].map((key) => counterAt(db, key))
        const registers = mergedRegisters(counters)
        const becomeDense = counters.some((hll) => hll !== undefined && isDense(hll))
        const merged = withRegisters(counters[0] ?? createHyperLogLog(), registers, becomeDense)
        invalidateCount(merged)
        keep(db, destination, merged)
        db.notify('$', 'pfadd', destination)
        return ok
      }),
  }),

  command('PFDEBUG', {
    flags: ['write', 'slow', 'admin', 'dangerous'],
    since: '2.8.9',
    status: 'redis',
    args: [named('GETREG|DECODE|ENCODING|TODENSE', bytes), key('R')],
    work: () => 2 * unitsPerCounter,
    run: ({ db }, subcommand, key) =>
      reportingDamage(() => {
        const hll = counterAt(db, key)
        if (hll === undefined) throw replyError('hyperLogLogMissing')
        return looksInto(hll, subcommand, (dense) => keep(db, key, dense))
      }),
  }),

  command('PFSELFTEST', {
    flags: ['slow', 'admin', 'dangerous'],
    since: '2.8.9',
    status: 'redis',
    args: [],
    work: () => 300 * unitsPerCounter,
    run() {
      const failure = selfTest()
      if (failure !== undefined) throw testFailed(failure)
      return ok
    },
  }),
]

/**
 * Runs a subcommand of PFDEBUG.
 * @param keepDense called with the counter if a subcommand has converted it to the dense encoding, as in redis-server
 */
function looksInto(hll: Uint8Array, subcommand: Bytes, keepDense: (dense: Uint8Array) => void): Reply {
  const wasDense = isDense(hll)
  switch (subcommand.toUpperCase()) {
    case 'GETREG':
      if (!wasDense) keepDense(toDense(hll))
      return [...registersOf(hll)]
    case 'DECODE':
      if (wasDense) throw replyError('hyperLogLogNotSparse')
      return latin1(sparseText(hll))
    case 'ENCODING':
      return new Status(wasDense ? 'dense' : 'sparse')
    case 'TODENSE':
      if (wasDense) return 0
      keepDense(toDense(hll))
      return 1
    default:
      throw unknownHyperLogLogSubcommand(subcommand)
  }
}

/** Returns the bytes of the counter at a key. The command changes them in place and then stores them. */
function counterAt(db: Database, key: Bytes): Uint8Array | undefined {
  const value = db.use(key)
  // `rawString()` converts a string for changes in place, so a string that is not a counter is rejected before that.
  if (typeof value === 'string' && !value.startsWith('HYLL')) throw replyError('notHyperLogLog')
  const hll = db.rawString(key)?.array
  if (hll !== undefined && !isHyperLogLog(hll)) throw replyError('notHyperLogLog')
  return hll
}

function keep(db: Database, key: Bytes, hll: Uint8Array): void {
  db.rawString(key, 'create', hll.length).replace(hll)
}

function mergedRegisters(counters: readonly (Uint8Array | undefined)[]): Uint8Array {
  const registers = registersOf(createHyperLogLog())
  for (const hll of counters) if (hll !== undefined) mergeRegisters(registers, registersOf(hll))
  return registers
}

function reportingDamage<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof DamagedHyperLogLog ? replyError('damagedHyperLogLog') : error
  }
}
