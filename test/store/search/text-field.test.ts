import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { maxSlop } from '../../../src/store/search/field-operators.js'
import { TextField } from '../../../src/store/search/text-field.js'
import { runs } from '../../support/effort.js'

// A document whose texts are replaced keeps the terms that stay. The field must not depend on the earlier texts.

const words = ['red', 'blue', 'shoe', 'desk', 'lamp']
const short = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((some) => some.join(' '))
/** A text of more than one step. */
const long = fc.constantFrom(...words).map((word) => `${word} lamp `.repeat(2000))
const texts = fc.array(fc.oneof({ weight: 20, arbitrary: short }, { weight: 1, arbitrary: long }), { maxLength: 3 })
const changes = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), texts), { minLength: 1, maxLength: 12 })

type Documents = ReadonlyMap<number, readonly string[]>

function fieldOf(writes: Iterable<readonly [id: number, texts: readonly string[]]>): TextField {
  const field = new TextField((text, hear) => {
    for (const { 0: word, index } of text.matchAll(/\S+/g)) hear(word, index, index + word.length)
  }, true)
  for (const [id, texts] of writes) {
    const steps: (() => number)[] = []
    field.set(id, texts, (step) => steps.push(step))
    for (const step of steps) step()
  }
  return field
}

/** Positions of each word in each document, found by reading all texts. */
function positionsIn(documents: Documents): Record<string, Record<number, number[]>> {
  const found: Record<string, Record<number, number[]>> = {}
  for (const [id, texts] of documents) {
    let at = 0
    for (const text of texts) {
      for (const [word] of text.matchAll(/\S+/g)) {
        found[word] ??= {}
        found[word][id] ??= []
        found[word][id].push(at++)
      }
      at += maxSlop + 1
    }
  }
  return found
}

function postingsOf(field: TextField): Record<string, Record<number, number[]>> {
  const shown = Array.from(field.terms, ([term, postings]) => {
    const positions = Array.from(postings.keys(), (id) => [id, [postings.get(id)!].flat()])
    return [term, Object.fromEntries(positions)]
  })
  return Object.fromEntries(shown)
}

it('contains the latest texts of each document, in place of all earlier ones', () => {
  fc.assert(
    fc.property(changes, (changes) => {
      const latest: Documents = new Map(changes.filter(([, texts]) => texts.length > 0 || true))
      const [field, plain] = [fieldOf(changes), fieldOf(latest)]
      expect(postingsOf(field)).toEqual(positionsIn(latest))
      expect([field.size, field.termCount, field.documentCount, field.averageLength]).toEqual([
        plain.size,
        plain.termCount,
        plain.documentCount,
        plain.averageLength,
      ])
      for (const id of latest.keys()) expect(field.lengthOf(id)).toBe(plain.lengthOf(id))
    }),
    { numRuns: runs(60, 600, 6000) },
  )
})
