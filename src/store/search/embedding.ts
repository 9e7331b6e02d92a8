import type { Bytes } from '../../kernel/bytes.js'
import { errorText } from '../../kernel/error-text.js'
import { areFinite, formatFloat32 } from '../../kernel/float32.js'
import type { Random } from '../../kernel/random.js'
import type { Work } from '../../kernel/work.js'
import { type NearestPolicy, nearest, type Profile } from '../values/nearest.js'
import type { Embed } from '../values/search-definition.js'
import { maxDimension, VectorIndex } from '../values/vector-index.js'
import { refusal } from './search-errors.js'

// Embeddings of HYBRID fields. The service computes them with a model that is not public, so a test supplies a
// function. [search.md 16]

/**
 * Size of the cached texts and vectors in bytes, after which the cache is emptied: queries can have any number of long
 * texts. The function is pure, so this has no visible effect.
 */
const mostCached = 128 * 1024 * 1024

interface Cache {
  readonly vectors: Map<string, Float32Array>
  bytes: number
}

/** Vectors by text. Forks and views of the past have the same function, and thus the same cache. */
const caches = new WeakMap<Embed, Cache>()

function embedded(texts: readonly string[], embed: Embed): readonly Float32Array[] {
  let cache = caches.get(embed)
  if (cache === undefined || cache.bytes > mostCached) {
    cache = { vectors: new Map(), bytes: 0 }
    caches.set(embed, cache)
  }
  const known = cache.vectors
  const missing = [...new Set(texts)].filter((text) => !known.has(text))
  if (missing.length > 0) {
    const vectors = checked(missing, called(embed, missing))
    for (const [at, text] of missing.entries()) {
      const vector = vectors[at]!.slice()
      known.set(text, vector)
      cache.bytes += 2 * text.length + vector.byteLength
    }
  }
  return texts.map((text) => known.get(text)!)
}

function called(embed: Embed, texts: readonly string[]): unknown {
  try {
    return embed(texts)
  } catch (error) {
    throw misuse(`embed() threw ${errorText(error)}`)
  }
}

function checked(texts: readonly string[], vectors: unknown): readonly Float32Array[] {
  if (isOf('Promise', vectors)) {
    // A rejection that is not handled would end the process.
    ;(vectors as Promise<unknown>).catch(() => {})
    throw misuse(
      'embed() must be synchronous (got a promise). Compute the vectors first, and let embed() look them up.',
    )
  }
  const wanted = 'embed() must return one Float32Array for each text'
  if (!Array.isArray(vectors)) throw misuse(`${wanted}, in an array (got ${kindOf(vectors)})`)
  const wrong = vectors.findIndex((one) => !isOf('Float32Array', one))
  if (wrong !== -1) {
    const convert = Array.isArray(vectors[wrong]) ? '. Convert arrays with Float32Array.from()' : ''
    throw misuse(`${wanted} (got ${kindOf(vectors[wrong])} as vector ${wrong + 1} of ${vectors.length})${convert}`)
  }
  if (vectors.length !== texts.length) throw misuse(`${wanted} (texts: ${texts.length}, vectors: ${vectors.length})`)
  for (const vector of vectors) {
    if (vector.length === 0 || vector.length > maxDimension)
      throw misuse(`embed() must return vectors of 1 to ${maxDimension} numbers (got ${vector.length})`)
    if (!areFinite(vector)) throw misuse('embed() must return finite numbers (got NaN or an infinity)')
  }
  return vectors
}

/** Unlike `instanceof`, this also recognizes objects of other realms, such as those of a test runner. */
function isOf(kind: 'Float32Array' | 'Promise', value: unknown): boolean {
  return Object.prototype.toString.call(value) === `[object ${kind}]`
}

/** Returns what a value is, without its content, which may be long: `an array`, `a Float64Array`, `a string`. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  const kind = typeof value === 'object' ? Object.prototype.toString.call(value).slice(8, -1) : typeof value
  return kind === 'Array' ? 'an array' : kind === 'Object' ? 'an object' : `a ${kind}`
}

function misuse(text: string): Error {
  return refusal(`createSandbox({ embed }): ${text}`)
}

export interface TextLookup {
  readonly query: string
  readonly top: number
  readonly profile: Profile
  readonly embed: Embed
  readonly policy: NearestPolicy
  readonly random: Random
  readonly work: Work
  /** Returns the key of a document, because the number of a document changes when the index is built again. */
  keyOf(document: number): Bytes
  readonly accepts?: (document: number) => boolean
}

/** Texts of a HYBRID field, and their vectors. A text gets its vector when a search first needs it. */
export class EmbeddedTexts {
  readonly #texts = new Map<number, string>()
  /** Documents whose text has changed since the last search. */
  readonly #changed = new Set<number>()
  #vectors: VectorIndex | undefined

  /** Sets the text of a document. A document without text has no vector. */
  set(document: number, texts: readonly string[]): void {
    const text = texts.join(' ')
    if ((this.#texts.get(document) ?? '') === text) return
    if (text === '') this.#texts.delete(document)
    else this.#texts.set(document, text)
    this.#changed.add(document)
  }

  /** Returns the documents whose texts are most similar to a text, best first. */
  nearest({ query, embed, work, accepts, keyOf, ...lookup }: TextLookup): { document: number; score: number }[] {
    const [wanted] = embedded([query], embed)
    const dimension = this.#vectors?.dimension ?? wanted!.length
    checkLength(wanted!.length, dimension)
    this.#update(dimension, embed, work)
    const vectors = this.#vectors
    if (vectors === undefined) return []
    work.charge(vectors.cost)
    return nearest(vectors, wanted!, {
      ...lookup,
      recallKeyOf: (id) => keyOf(Number(id)),
      ...(accepts && { accepts: (id) => accepts(Number(id)) }),
    }).map(({ id, score }) => ({ document: Number(id), score: Number(formatFloat32(score)) }))
  }

  /**
   * Updates the vectors of changed texts, in batches. If the work of a batch is refused, the next search continues
   * after the batches that are done.
   */
  #update(dimension: number, embed: Embed, work: Work): void {
    while (this.#changed.size > 0) {
      const batch = firstOf(this.#changed, batchSize)
      work.charge(unitsPerText * batch.length)
      const texts = new Map(batch.map((document) => [document, this.#texts.get(document)]))
      const present = [...texts].filter((one): one is [number, string] => one[1] !== undefined)
      const vectors = embedded(
        present.map(([, text]) => text),
        embed,
      )
      for (const { length } of vectors) checkLength(length, dimension)
      for (const document of batch) if (!this.#texts.has(document)) this.#vectors?.delete(nameOf(document))
      if (present.length > 0) this.#vectors ??= new VectorIndex(dimension, 'COSINE')
      for (const [at, [document]] of present.entries()) this.#vectors!.set(nameOf(document), vectors[at]!)
      for (const document of batch) this.#changed.delete(document)
    }
  }
}

/** Number of texts in one call of the function. */
const batchSize = 1_000

/** Units of work for a text. The time of the function itself is unknown. */
const unitsPerText = 8

function firstOf(documents: Iterable<number>, most: number): number[] {
  const first: number[] = []
  for (const document of documents) {
    if (first.length === most) break
    first.push(document)
  }
  return first
}

function checkLength(length: number, dimension: number): void {
  if (length !== dimension)
    throw misuse(`embed() must return vectors of the same length (got ${dimension} and ${length})`)
}

/** Names a document so that the order of names is the order of arrival, in which documents of equal score are listed. */
function nameOf(document: number): Bytes {
  return String(document).padStart(12, '0') as Bytes
}
