import { replaceChance } from '../crash/step-chance.js'
import { differences, type Effects } from './delivery-effects.js'

// An app whose effects differ without any fault cannot be checked by its effects.

/** Effects of a run, and the result of the test's own `effect()`. */
export interface LeftBehind {
  readonly effects: Effects
  readonly more: string | undefined
}

/** Milliseconds by which the host's date is moved: enough to change every value that is derived from the date. */
const later = 90_061_001

/** Moves the host's date during the work, unless the test has replaced `Date`. */
export async function anotherDay<T>(work: () => Promise<T>): Promise<T> {
  const { now, isFake } = globalThis.Date as DateConstructor & { readonly isFake?: boolean }
  // Fake timers of Vitest and Jest set this property.
  if (isFake === true) return work()
  const restore = replaceChance(() => ({ now: () => now() + later }))
  try {
    return await work()
  } finally {
    restore()
  }
}

interface Source {
  /** Pattern of values from this source. */
  readonly looks: RegExp
  readonly told: string
}

const sources: readonly Source[] = [
  {
    looks: /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/gi,
    told: 'random ids, as crypto.randomUUID() makes them',
  },
  {
    looks: /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?|\b\d{10}(?:\d{3})?(?:\.\d+)?\b/g,
    told: "the host's time, as Date returns it",
  },
  { looks: /\b0\.\d{6,}\b/g, told: 'random numbers, as Math.random() returns them' },
  {
    looks: /\b\d+\b/g,
    told: 'numbers that increase from one run to the next: the process keeps state between deliveries',
  },
]

/** Thrown if two runs without any fault had different effects. Runs with a fault cannot be compared then. */
export class NotRepeatableError extends Error {
  /** Name of the error class. */
  override readonly name = 'NotRepeatableError'

  constructor(message: string) {
    super(message)
    this.stack = `${this.name}: ${message}`
  }
}

/** Returns an error if two runs without any fault differ; `undefined` if they are equal. */
export function notRepeatable(first: LeftBehind, second: LeftBehind): Error | undefined {
  const different = differences(second.effects, first.effects, 'in the first run')
  if (first.more !== second.more) different.push(`effect() returned ${second.more}, in the first run ${first.more}`)
  if (different.length === 0) return undefined
  return new NotRepeatableError(
    [
      'Two runs without any fault had different effects, so repeated deliveries cannot be checked:',
      ...different.slice(0, maxTold).map((line) => `  → ${line}`),
      ...(different.length > maxTold ? [`  and ${different.length - maxTold} more`] : []),
      `They differ by ${sourceOf(first, second)}.`,
      "Derive the value from the message, such as its id or its body, or exclude it: ignoreKeys: ['orders:*'], ignoreOutbound: ['https://log.test/*'].",
    ].join('\n'),
  )
}

const maxTold = 8

/** Returns the source of the differing values, if all of them match its pattern. */
function sourceOf(first: LeftBehind, second: LeftBehind): string {
  let [one, other] = [linesOf(first), linesOf(second)]
  const found: string[] = []
  for (const { looks, told } of sources) {
    if (valuesOf(one, looks) !== valuesOf(other, looks)) found.push(told)
    ;[one, other] = [one, other].map((lines) => lines.map((line) => line.replace(looks, '…'))) as [string[], string[]]
    if (String(one.sort()) === String(other.sort())) return found.join(', and by ')
  }
  return "randomness, the host's time, or state that the process keeps from one run to the next"
}

function linesOf({ effects, more = '' }: LeftBehind): string[] {
  return [...[...effects.store].map(([key, value]) => `${key} = ${value}`), ...effects.outgoing, more]
}

function valuesOf(lines: readonly string[], looks: RegExp): string {
  return String(lines.flatMap((line) => line.match(looks) ?? []).sort())
}
