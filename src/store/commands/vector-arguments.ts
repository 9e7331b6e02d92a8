import type { Bytes } from '../../kernel/bytes.js'
import { areFinite, floatsOf, floatsOfBase64 } from '../../kernel/float32.js'
import { type Arg, type ArgReader, word } from '../command/arguments.js'
import { replyError } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
import { parseDouble, parseInt64 } from '../command/text.js'
import { type Profile, profiles } from '../values/nearest.js'
import { type Metric, maxDimension, metrics } from '../values/vector-index.js'

// Argument types of VECTOR.* commands. Most error texts are those of this package; public sources leave them open.
// [vector.md 2]

/** Maximum number of neighbors of one query. [vector.md 2] */
export const maxNeighbors = 1000

function refusal(text: string): ReplyError {
  return new ReplyError(`ERR ${text}`)
}

function whole(word: Bytes, most: number, what: string): number {
  const value = parseInt64(word)
  if (value === undefined || value < 1 || value > most) throw refusal(`${what} must be between 1 and ${most}`)
  return Number(value)
}

/** Parser for the ID of a vector. */
export const vectorId: Arg<Bytes> = word('id', (id) => {
  if (id === '') throw refusal('vector id must not be empty')
  return id
})

export interface NewVectorIndex {
  readonly dimension: number
  readonly metric: Metric
  readonly existsOk: boolean
}

/** Parser for everything after the name in VECTOR.CREATE. */
export const newVectorIndex: Arg<NewVectorIndex> = {
  usage: 'DIM dimension METRIC COSINE|EUCLIDEAN|DOT [EXISTSOK]',
  min: 4,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    let dimension: number | undefined
    let metric: Metric | undefined
    let existsOk = false
    while (from.left > 0) {
      if (from.takes('DIM')) dimension = whole(from.next(), maxDimension, 'DIM')
      else if (from.takes('METRIC')) metric = metricOf(from.next())
      else if (from.takes('EXISTSOK')) existsOk = true
      else throw replyError('syntax')
    }
    if (dimension === undefined || metric === undefined) throw replyError('syntax')
    return { dimension, metric, existsOk }
  },
}

function metricOf(word: Bytes): Metric {
  const metric = metrics.find((one) => one === word.toUpperCase())
  if (metric === undefined) throw refusal('unknown metric')
  return metric
}

/**
 * A vector as it was sent. Its elements are read only after its length was compared with the index, so a wrong vector
 * costs little.
 */
export interface SentVector {
  readonly dimension: number
  /** Units of work for reading the elements. */
  readonly cost: number
  /** @throws ReplyError if an element is not a finite 32-bit float */
  read(): Float32Array
}

/** Units of work for a number as text, and for four bytes of a blob. [measured] */
const unitsPerText = 16
const unitsPerFloat = 4

const vectorUsage = 'VALUES count value [value …] | FP32 blob | BASE64-FP32 text'

/** Parser for one vector in any of its forms. */
export const vector: Arg<SentVector> = {
  usage: vectorUsage,
  min: 2,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    const sent = takeVector(from)
    if (sent === undefined) throw replyError('syntax')
    return sent
  },
}

function takeVector(from: ArgReader): SentVector | undefined {
  if (from.takes('VALUES')) return valuesOf(from)
  if (from.takes('FP32')) return blobOf(floatsOf(from.next()))
  if (from.takes('BASE64-FP32')) return blobOf(floatsOfBase64(from.next()))
  return undefined
}

function valuesOf(from: ArgReader): SentVector {
  const count = parseInt64(from.next())
  if (count === undefined || count < 1 || count > from.left) throw replyError('syntax')
  const words: Bytes[] = []
  for (let left = Number(count); left > 0; left--) words.push(from.next())
  return {
    dimension: words.length,
    cost: unitsPerText * words.length,
    read() {
      const floats = new Float32Array(words.length)
      for (let at = 0; at < words.length; at++) floats[at] = parseDouble(words[at]!) ?? Number.NaN
      return finiteFloats(floats)
    },
  }
}

function blobOf(floats: Float32Array | undefined): SentVector {
  if (floats === undefined) throw refusal('vector blob must be 32-bit floats, and not empty')
  return { dimension: floats.length, cost: unitsPerFloat * floats.length, read: () => finiteFloats(floats) }
}

function finiteFloats(floats: Float32Array): Float32Array {
  if (!areFinite(floats)) throw refusal('vector contains an invalid value')
  return floats
}

export interface NeighborQuery {
  readonly top: number
  readonly profile: Profile
  readonly vector: SentVector
}

/** Parser for everything after the name in VECTOR.QUERY. */
export const neighborQuery: Arg<NeighborQuery> = {
  usage: `TOPK count ${vectorUsage} [PROFILE FAST|BALANCED|PRECISE]`,
  min: 4,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    let top: number | undefined
    let profile: Profile = 'BALANCED'
    let sent: SentVector | undefined
    while (from.left > 0) {
      if (from.takes('TOPK')) top = whole(from.next(), maxNeighbors, 'TOPK')
      else if (from.takes('PROFILE')) profile = profileOf(from.next())
      else {
        const another = takeVector(from)
        // Exactly one vector is allowed.
        if (another === undefined || sent !== undefined) throw replyError('syntax')
        sent = another
      }
    }
    if (top === undefined || sent === undefined) throw replyError('syntax')
    return { top, profile, vector: sent }
  },
}

function profileOf(word: Bytes): Profile {
  const profile = profiles.find((one) => one === word.toUpperCase())
  if (profile === undefined) throw replyError('syntax')
  return profile
}
