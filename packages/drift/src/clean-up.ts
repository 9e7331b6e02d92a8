import { type Bytes, text, utf8 } from '../../../src/kernel/bytes.js'
import type { Side } from './case.js'
import { commandAsk } from './command-cases.js'
import { errorOf } from './compare-sides.js'
import { observed } from './observe.js'
import type { RealSide } from './real-side.js'

/** Number of keys that one command deletes. */
const keysAtOnce = 100

/** Removes what a case has created. @returns what may remain */
export async function cleanUp(side: RealSide): Promise<string[]> {
  // An interruption ends requests, but not this clean-up.
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
    // Keys of a cluster may be on several nodes, so each is deleted with its own command.
    const apart = /^CROSSSLOT/.test(why ?? '') ? some.map((key) => [key]) : []
    if (why !== undefined && apart.length === 0) left.push(leftKeys(side, some, why))
    for (const one of apart) {
      const still = await undeleted(cleaner, one)
      if (still !== undefined) left.push(leftKeys(side, one, still))
    }
  }
  return left
}

/** @returns why the keys could not be deleted */
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
