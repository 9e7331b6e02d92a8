import { describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../src/kernel/random.js'
import { randomProgram, randomText } from './random-programs.js'
import { createScriptStore, type ScriptStore } from './script-store.js'

/** Unusual programs. The store must return a reply or an error within the budget, and continue to work. */
const steps = 3000

describe('random programs', () => {
  it('10,000 of them end in a reply or an error', () => {
    const random = createRandom('programs')
    const scripts = createScriptStore({ maxScriptSteps: steps })
    const kinds = new Map<string, number>()
    for (let count = 0; count < 10_000; count++) {
      const source = program(random, count)
      const reply = answer(scripts, source)
      const kind = kindOf(reply)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
    // The generator is useful only while its programs reach all of these ends.
    expect([...kinds.keys()].sort()).toEqual(['budget', 'reply', 'run-time error', 'syntax error'])
    expect(kinds.get('reply')).toBeGreaterThan(2000)
    expect(kinds.get('run-time error')).toBeGreaterThan(2000)
    expect(scripts.execute(['EVAL', 'return 1', '0'])).toBe(':1\r\n')
  })

  it('the same programs give the same replies twice', () => {
    const replies = [1, 2].map(() => {
      const random = createRandom('twice')
      const scripts = createScriptStore({ maxScriptSteps: steps })
      return Array.from({ length: 500 }, (_, count) => answer(scripts, program(random, count)))
    })
    expect(replies[1]).toEqual(replies[0])
  })
})

function program(random: Random, count: number): string {
  return count % 5 === 0 ? randomText(random) : randomProgram(random)
}

function answer(scripts: ScriptStore, source: string): string {
  try {
    return scripts.execute(['EVAL', source, '2', 'k1', 'k2', '5', 'text', ''])
  } catch (error) {
    throw new Error(`no reply to:\n${source}`, { cause: error })
  }
}

function kindOf(reply: string): string {
  if (!reply.startsWith('-')) return 'reply'
  if (reply.includes('Script killed')) return 'budget'
  if (reply.includes('syntax error')) return 'syntax error'
  // A script may also return an error reply.
  return reply.startsWith('-ERR Error running script:') ? 'run-time error' : 'reply'
}
