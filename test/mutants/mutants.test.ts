import fc from 'fast-check'
import { invariants } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { program, run } from '../invariants/program.js'
import { mutated } from './engine.js'
import { mutants } from './table.js'

// For each invariant, mistakes in the engine that break it: a thousand random programs must tell, most often a dozen do.

const programs = fc.sample(program(), { numRuns: 1000, seed: 5 })

describe.each(mutants.map((mutant, index) => ({ ...mutant, index })))('$invariant catches: $what', (mutant) => {
  test(mutant.file, { timeout: 60_000 }, async () => {
    const createSandbox = await mutated(mutant, String(mutant.index))
    let caught: string | undefined
    let tried = 0
    for (const given of programs) {
      tried++
      using sandbox = await run(createSandbox, given).catch(() => undefined)
      caught = sandbox?.examine({ only: mutant.invariant }).breaches[0]?.sentence
      if (caught !== undefined) break
    }
    if (process.env.MUTANTS_VERBOSE) console.log(`${mutant.invariant}: ${mutant.what}: after ${tried}: ${caught}`)
    expect(caught, `none of ${tried} programs broke ${mutant.invariant}`).toBeTypeOf('string')
  })
})

test('every invariant has a mutant that breaks it', () => {
  const covered = new Set(mutants.map(({ invariant }) => invariant))
  expect(invariants.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([])
})
