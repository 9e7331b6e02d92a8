import { literal } from './literal.js'

/** How many: exactly so many, at least or at most, or between two numbers, both included. */
export type CountRange =
  | number
  | `${'>=' | '<=' | '>' | '<'}${number}`
  | `${number}..${number}`
  | { readonly min: number; readonly max?: number }
  | { readonly min?: number; readonly max: number }

export interface Bounds {
  readonly min: number
  readonly max: number
}

const text = /^\s*(?:(>=|<=|>|<)\s*(\d+)|(\d+)\s*\.\.\s*(\d+))\s*$/

/** Reads a range of whole numbers; `undefined` for anything that is none. */
export function boundsOf(range: unknown): Bounds | undefined {
  if (typeof range === 'number') return checked(range, range)
  if (typeof range === 'string') return boundsOfText(range)
  if (typeof range !== 'object' || range === null) return undefined
  const { min, max, ...rest } = range as { min?: unknown; max?: unknown }
  if (Object.keys(rest).length > 0 || (min === undefined && max === undefined)) return undefined
  return checked(min ?? 0, max ?? Number.POSITIVE_INFINITY)
}

function boundsOfText(range: string): Bounds | undefined {
  const match = text.exec(range)
  if (match === null) return undefined
  const [, sign, limit, from, to] = match
  if (sign === undefined) return checked(Number(from), Number(to))
  const number = Number(limit)
  if (sign === '>=' || sign === '>') return checked(sign === '>' ? number + 1 : number, Number.POSITIVE_INFINITY)
  return checked(0, sign === '<' ? number - 1 : number)
}

function checked(min: unknown, max: unknown): Bounds | undefined {
  if (!isCount(min) || !(isCount(max) || max === Number.POSITIVE_INFINITY) || min > (max as number)) return undefined
  return { min, max: max as number }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

export function within(count: number, { min, max }: Bounds): boolean {
  return count >= min && count <= max
}

/** `exactly 2`, `at least 2`, `at most 3`, `2 to 4`. */
export function boundsText({ min, max }: Bounds): string {
  if (min === max) return `exactly ${min}`
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`
  return min === 0 ? `at most ${max}` : `${min} to ${max}`
}

/** A range that can never hold, or an invalid one, would make `.not` always pass. */
export function requireBounds(matcher: string, name: string, range: unknown): Bounds {
  const bounds = boundsOf(range)
  if (bounds !== undefined) return bounds
  throw new TypeError(
    `${matcher}() needs a whole number or a range as ${name}, for example { ${name}: 2 }, { ${name}: '>=2' }, { ${name}: '2..4' } or { ${name}: { min: 2, max: 4 } }; got ${literal(range)}.`,
  )
}
