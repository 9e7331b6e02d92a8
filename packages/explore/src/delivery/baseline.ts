import { replaceChance } from '../crash/step-chance.js'
import { differences, type Effects } from './delivery-effects.js'

// Compares two runs without faults. If their effects differ, the effects of runs with faults cannot be checked.

/** Effects of a run, and the value that the `effect()` option of the test returned. */
export interface LeftBehind {
  readonly effects: Effects
  readonly more: string | undefined
}

/**
 * Milliseconds by which the second run moves the host's date. All values that the app derives from the date then
 * differ.
 */
const later = 90_061_001

/** Moves the host's date while `work` runs, unless the test has replaced `Date`. */
export async function anotherDay<T>(work: () => Promise<T>): Promise<T> {
  const { now, isFake } = globalThis.Date as DateConstructor & { readonly isFake?: boolean }
  // Fake timers of Vitest and Jest set `isFake`.
  if (isFake === true) return work()
  const restore = replaceChance(() => ({ now: () => now() + later }))
  try {
    return await work()
  } finally {
    restore()
  }
}

interface Source {
  /** Pattern that matches values from this source. */
  readonly looks: RegExp
  readonly told: string
}

const sources: readonly Source[] = [
  {
    looks: /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/gi,
    told: 'random IDs, as crypto.randomUUID() makes them',
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

/**
 * Thrown if two runs without faults had different effects. In that case, the effects of runs with faults cannot be
 * checked.
 */
export class NotRepeatableError extends Error {
  /** Name of the error class. */
  override readonly name = 'NotRepeatableError'

  constructor(message: string) {
    super(message)
    this.stack = `${this.name}: ${message}`
  }
}

/** Returns an error if two runs without faults had different effects, or `undefined` if the effects are equal. */
export function notRepeatable(first: LeftBehind, second: LeftBehind): Error | undefined {
  const different = differences(second.effects, first.effects, 'in the first run')
  if (first.more !== second.more) different.push(`effect() returned ${second.more}, in the first run ${first.more}`)
  if (different.length === 0) return undefined
  return new NotRepeatableError(
    [
      'Two runs without any fault had different effects, so repeated deliveries cannot be checked:',
      ...different.slice(0, maxTold).map((line) => `  → ${line}`),
      ...(different.length > maxTold ? [`  and ${different.length - maxTold} more`] : []),
      `The difference comes from ${sourceOf(first, second)}.`,
      "Derive the value from the message, such as its ID or its body, or exclude it: ignoreKeys: ['orders:*'], ignoreOutbound: ['https://log.test/*'].",
    ].join('\n'),
  )
}

const maxTold = 8

/** Returns the sources of the values that differ. If a difference matches no pattern, it returns a general text. */
function sourceOf(first: LeftBehind, second: LeftBehind): string {
  let [one, other] = [linesOf(first), linesOf(second)]
  const found: string[] = []
  for (const { looks, told } of sources) {
    if (valuesOf(one, looks) !== valuesOf(other, looks)) found.push(told)
    ;[one, other] = [one, other].map((lines) => lines.map((line) => line.replace(looks, '…'))) as [string[], string[]]
    if (String(one.sort()) === String(other.sort())) return found.join(', and from ')
  }
  return "randomness, the host's time, or state that the process keeps from one run to the next"
}

function linesOf({ effects, more = '' }: LeftBehind): string[] {
  return [...[...effects.store].map(([key, value]) => `${key} = ${value}`), ...effects.outgoing, more]
}

function valuesOf(lines: readonly string[], looks: RegExp): string {
  return String(lines.flatMap((line) => line.match(looks) ?? []).sort())
}
