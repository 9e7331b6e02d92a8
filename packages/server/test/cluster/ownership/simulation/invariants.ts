import { replayed, type Stand, shown, writesOf } from './list-world.js'
import type { SimEngine, Written } from './sim-engine.js'
import type { Operation } from './sim-node.js'

/** A request of a client with its time and its outcome. */
export interface Done extends Operation {
  readonly begun: number
  readonly ended: number
  readonly outcome: Stand | 'not done' | 'perhaps'
}

/** Compares the journals with the outcomes of all clients. */
export function breachesOf(engine: SimEngine, done: readonly Done[]): string[] {
  return [...engine.journals].flatMap(([tenant, written]) => {
    const mine = done.filter((each) => each.tenant === tenant)
    const texts = written.map(({ text }) => text)
    try {
      const states = statesOf(texts)
      return [
        ...ownersOf(written).map((what) => `${tenant}: ${what}`),
        ...snapshotOf(engine, tenant, states).map((what) => `${tenant}: ${what}`),
        ...answersOf(writesOf(texts), states, mine).map((what) => `${tenant}: ${what}`),
        ...orderOf(mine).map((what) => `${tenant}: ${what}`),
      ]
    } catch (error) {
      return [`${tenant}: the journal cannot be replayed: ${(error as Error).message}`]
    }
  })
}

type State = ReturnType<typeof replayed>

/** The empty state, and one after each record. */
function statesOf(texts: readonly string[]): State[] {
  const states = [replayed([])]
  for (const text of texts) states.push(replayed([text], states.at(-1)))
  return states
}

/** Checks that each fence belongs to one owner, which opens the sandbox and writes until there is another owner. */
function ownersOf(written: readonly Written[]): string[] {
  const breaches: string[] = []
  const nodes = new Map<number, string>()
  for (const { fence, text } of written) {
    const { opened } = JSON.parse(text) as { opened?: string }
    const known = nodes.get(fence)
    if (opened === undefined && known === undefined)
      breaches.push(`fence ${fence} was used before its world was opened`)
    if (opened !== undefined && known !== undefined) breaches.push(`fence ${fence} was used by ${known} and ${opened}`)
    if (opened !== undefined) nodes.set(fence, opened)
  }
  return breaches
}

function snapshotOf(engine: SimEngine, tenant: string, states: readonly State[]): string[] {
  const { stands, text } = engine.snapshot(tenant)
  if (stands === 0 || (states[stands] !== undefined && shown(states[stands]) === text)) return []
  return [`the snapshot is not what its ${stands} records make`]
}

/** Checks that no acknowledged write is lost or repeated, and that every response is that of a replay. */
function answersOf(writes: readonly string[], states: readonly State[], done: readonly Done[]): string[] {
  const breaches: string[] = []
  const places = new Map(writes.map((write, at) => [write, at + 1]))
  if (places.size < writes.length) breaches.push('something was written twice')
  const digests = new Map(states.map(({ length, digest }) => [length, digest]))
  for (const { write, outcome } of done) {
    if (outcome === 'perhaps') continue
    const name = write ?? 'a read'
    if (outcome === 'not done') {
      if (write !== undefined && places.has(write)) breaches.push(`${write} was done although it was said not to be`)
      continue
    }
    if (write !== undefined && !places.has(write)) breaches.push(`${write} was acknowledged and is lost`)
    else if (write !== undefined && places.get(write) !== outcome.length)
      breaches.push(`${write} was told to be at ${outcome.length}, and is at ${places.get(write)}`)
    else if (digests.get(outcome.length) !== outcome.digest) breaches.push(`${name} was told of a world that never was`)
  }
  return breaches
}

/** Checks that a request that began after a response sees its effects. With two owners at a time it would not. */
function orderOf(done: readonly Done[]): string[] {
  const breaches: string[] = []
  const answered = done.filter((each): each is Done & { outcome: Stand } => typeof each.outcome === 'object')
  const ends = answered.toSorted((a, b) => a.ended - b.ended)
  let [next, latest] = [0, 0]
  for (const { begun, outcome, write } of answered.toSorted((a, b) => a.begun - b.begun)) {
    for (; next < ends.length && ends[next]!.ended < begun; next++)
      latest = Math.max(latest, ends[next]!.outcome.length)
    const least = write === undefined ? latest : latest + 1
    if (outcome.length < least)
      breaches.push(`${write ?? 'a read'} was answered with ${outcome.length} after ${latest} had been told`)
  }
  return breaches
}
