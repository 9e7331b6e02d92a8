import { type Bytes, latin1, text } from '../../kernel/bytes.js'
import { formatFloat32 } from '../../kernel/float32.js'
import { key } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { nilArray, ReplyError } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import { nearest } from '../values/nearest.js'
import { VectorIndex } from '../values/vector-index.js'
import { neighborQuery, newVectorIndex, type SentVector, vector, vectorId } from './vector-arguments.js'

const since = 'service'

/** Units of work for the text of one element. [measured] */
const unitsPerElement = 24

function existing(db: Database, name: Bytes): VectorIndex {
  const index = db.container(name, VectorIndex)
  if (index === undefined) throw new ReplyError(`ERR Index ${text(name)} is not found`)
  return index
}

/** Returns the elements of a vector for an index, after checking its length. */
function elementsFor(index: VectorIndex, sent: SentVector, { work }: Database): Float32Array {
  if (sent.dimension !== index.dimension)
    throw new ReplyError(`ERR vector dimension mismatch: expected ${index.dimension}, got ${sent.dimension}`)
  work.charge(sent.cost)
  return sent.read()
}

/** Commands of the group `vector`. [vector.md] */
export const vectorCommands: readonly Command[] = [
  command('VECTOR.CREATE', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), newVectorIndex],
    run({ db }, name, { dimension, metric, existsOk }) {
      const index = db.container(name, VectorIndex)
      if (index === undefined) {
        db.set(name, new VectorIndex(dimension, metric))
        db.notify('d', 'vector.create', name)
        return 1
      }
      if (!existsOk) throw new ReplyError(`ERR Index ${text(name)} already exists`)
      if (index.dimension === dimension && index.metric === metric) return 0
      throw new ReplyError(`ERR Index ${text(name)} already exists with a different configuration`)
    },
  }),

  command('VECTOR.ADD', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), vectorId, vector],
    run({ db }, name, id, sent) {
      const index = existing(db, name)
      const isNew = index.set(id, elementsFor(index, sent, db))
      db.notify('d', 'vector.add', name)
      return Number(isNew)
    },
  }),

  command('VECTOR.GET', {
    flags: ['read', 'fast'],
    since,
    args: [key('R'), vectorId],
    run({ db }, name, id) {
      const index = existing(db, name)
      const floats = index.get(id)
      if (floats === undefined) return nilArray
      db.work.charge(unitsPerElement * floats.length)
      const elements: Bytes[] = []
      for (let at = 0; at < floats.length; at++) elements.push(latin1(formatFloat32(floats[at]!)))
      return elements
    },
  }),

  command('VECTOR.QUERY', {
    flags: ['read', 'slow'],
    since,
    deviations:
      'The search is exact, and reads every vector. `policy.vectorRecall` makes it miss neighbors. The formulas of the scores are those of the separate vector product, see `policy.vectorScore`.',
    args: [key('R'), neighborQuery],
    work: (db, name) => db.sizeOf(name),
    run({ db, store, random }, name, { top, profile, vector: sent }) {
      const index = existing(db, name)
      const query = elementsFor(index, sent, db)
      const found = nearest(index, query, { top, profile, policy: store.options.policy, random })
      return found.map(({ id, score }) => [id, latin1(formatFloat32(score))])
    },
  }),

  command('VECTOR.DEL', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), vectorId],
    run({ db }, name, id) {
      if (!existing(db, name).delete(id)) return 0
      db.notify('d', 'vector.del', name)
      return 1
    },
  }),

  command('VECTOR.COUNT', {
    flags: ['read', 'fast'],
    since,
    args: [key('R')],
    run: ({ db }, name) => db.container(name, VectorIndex)?.size ?? 0,
  }),

  command('VECTOR.INFO', {
    flags: ['read', 'fast'],
    since,
    args: [key('R')],
    run({ db }, name) {
      const index = db.container(name, VectorIndex)
      if (index === undefined) return nilArray
      return [latin1('dimension'), index.dimension, latin1('metric'), latin1(index.metric)]
    },
  }),

  command('VECTOR.DROP', {
    flags: ['write', 'slow'],
    since,
    args: [key('W')],
    run({ db }, name) {
      if (db.container(name, VectorIndex) === undefined) return 0
      db.delete(name)
      db.notify('g', 'del', name)
      return 1
    },
  }),
]
