import { replaceChance } from '../crash/step-chance.js'
import { differences, type Effects } from './delivery-effects.js'

// An app whose effects differ although nothing disturbed it cannot be judged by its effects.

/** What a run left behind, and what only its test knows of it. */
export interface LeftBehind {
  readonly effects: Effects
  readonly more: string | undefined
}

/** Long enough for anything that is made of the date to be another. */
const later = 90_061_001

/** Moves the host's date on meanwhile, unless a test has its own date. */
export async function anotherDay<T>(work: () => Promise<T>): Promise<T> {
  const { now, isFake } = globalThis.Date as DateConstructor & { readonly isFake?: boolean }
  // The fake timers of Vitest and Jest say so.
  if (isFake === true) return work()
  const restore = replaceChance(() => ({ now: () => now() + later }))
  try {
    return await work()
  } finally {
    restore()
  }
}

interface Source {
  /** What a value of it looks like. */
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
    told: "the host's time, as Date gives it",
  },
  { looks: /\b0\.\d{6,}\b/g, told: 'random numbers, as Math.random() gives them' },
  {
    looks: /\b\d+\b/g,
    told: 'numbers that go on from one run to the next: the process remembers something between deliveries',
  },
]

/** Two runs without any fault left different things behind: nothing can be said about runs with one. */
export class NotRepeatableError extends Error {
  override readonly name = 'NotRepeatableError'

  constructor(message: string) {
    super(message)
    this.stack = `${this.name}: ${message}`
  }
}

/** Why two runs without any fault are different, as an error; `undefined` when they are alike. */
export function notRepeatable(first: LeftBehind, second: LeftBehind): Error | undefined {
  const different = differences(second.effects, first.effects, 'in the first run')
  if (first.more !== second.more) different.push(`effect() gave ${second.more}, in the first run ${first.more}`)
  if (different.length === 0) return undefined
  return new NotRepeatableError(
    [
      'Two runs without any fault left different things behind, so that nothing can be said about repeated deliveries:',
      ...different.slice(0, maxTold).map((line) => `  → ${line}`),
      ...(different.length > maxTold ? [`  and ${different.length - maxTold} more`] : []),
      `They differ by ${sourceOf(first, second)}.`,
      "Make such a value from the message, such as its id or its body, or say that it does not count: ignoreKeys: ['orders:*'], ignoreOutbound: ['https://log.test/*'].",
    ].join('\n'),
  )
}

const maxTold = 8

/** What the differing values come from, where all that is different has the looks of it. */
function sourceOf(first: LeftBehind, second: LeftBehind): string {
  let [one, other] = [linesOf(first), linesOf(second)]
  const found: string[] = []
  for (const { looks, told } of sources) {
    if (valuesOf(one, looks) !== valuesOf(other, looks)) found.push(told)
    ;[one, other] = [one, other].map((lines) => lines.map((line) => line.replace(looks, '…'))) as [string[], string[]]
    if (String(one.sort()) === String(other.sort())) return found.join(', and by ')
  }
  return "chance, the host's time, or something that the process remembers from one run to the next"
}

function linesOf({ effects, more = '' }: LeftBehind): string[] {
  return [...[...effects.store].map(([key, value]) => `${key} = ${value}`), ...effects.outgoing, more]
}

function valuesOf(lines: readonly string[], looks: RegExp): string {
  return String(lines.flatMap((line) => line.match(looks) ?? []).sort())
}
