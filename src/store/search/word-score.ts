import { log } from '../../kernel/portable-math.js'
import type { TextField } from './text-field.js'

/**
 * Constants of BM25 with their usual values: `saturation` limits the influence of repeated words, `lengthWeight`
 * controls the influence of the length of the text. Public sources do not name the constants that the service uses.
 */
const saturation = 1.2
const lengthWeight = 0.75

/**
 * Returns the BM25 score function of a word. [search.md 12]
 * @param documents the number of documents that contain the word
 */
export function wordScore(field: TextField, documents: number): (id: number, count: number) => number {
  return scoreOf(field, rarity(field, documents))
}

/**
 * Returns the BM25 score function of words in sequence.
 * @param documents the number of documents that contain each word
 */
export function phraseScore(field: TextField, documents: readonly number[]): (id: number, count: number) => number {
  return scoreOf(
    field,
    documents.reduce((sum, count) => sum + rarity(field, count), 0),
  )
}

function rarity({ documentCount }: TextField, documents: number): number {
  return log(1 + (documentCount - documents + 0.5) / (documents + 0.5))
}

function scoreOf(field: TextField, rarity: number): (id: number, count: number) => number {
  const average = field.averageLength
  return (id, count) => {
    const length = average === 0 ? 1 : field.lengthOf(id) / average
    return (rarity * (saturation + 1) * count) / (count + saturation * (1 - lengthWeight + lengthWeight * length))
  }
}
