import { type Bytes, text, utf8 } from '../../../src/kernel/bytes.js'
import type { Side } from './case.js'
import { commandAsk } from './command-cases.js'
import { errorOf } from './compare-sides.js'
import { observed } from './observe.js'
import type { RealSide } from './real-side.js'

/** Maximum number of keys that one DEL deletes. */
const keysAtOnce = 100

/** Deletes everything that a case has created. @returns a description of each item that may still exist */
export async function cleanUp(side: RealSide): Promise<string[]> {
  // Ctrl-C aborts requests of a case. Requests of the clean-up continue.
  const cleaner = side.forCleanUp()
  const left: string[] = []
  for (const { what, work } of side.undos) {
    try {
      await work(cleaner)
    } catch (error) {
      left.push(`${what}, under ${side.prefix} (${(error as Error).message})`)
    }
  }
  const keys = [...side.keys]
  for (let from = 0; from < keys.length; from += keysAtOnce) {
    const some = keys.slice(from, from + keysAtOnce)
    const why = await undeleted(cleaner, some)
    // In a Redis Cluster, one command cannot delete keys of different hash slots. Delete each key separately.
    const apart = /^CROSSSLOT/.test(why ?? '') ? some.map((key) => [key]) : []
    if (why !== undefined && apart.length === 0) left.push(leftKeys(side, some, why))
    for (const one of apart) {
      const still = await undeleted(cleaner, one)
      if (still !== undefined) left.push(leftKeys(side, one, still))
    }
  }
  return left
}

/** Deletes keys. @returns the reason why they could not be deleted, or `undefined` after success */
async function undeleted(cleaner: Side, keys: readonly Bytes[]): Promise<string | undefined> {
  try {
    const ask = commandAsk([utf8('DEL'), ...keys])
    const answered = observed(ask, await cleaner.ask(ask))
    return errorOf(answered.value) ?? (answered.status === 200 ? undefined : `status ${answered.status}`)
  } catch (error) {
    return (error as Error).message
  }
}

function leftKeys({ prefix }: RealSide, keys: readonly Bytes[], why: string): string {
  return `keys that begin with ${prefix}: ${keys.map((key) => text(key)).join(' ')} (${why})`
}
