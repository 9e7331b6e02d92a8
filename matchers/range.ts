import { literal } from './literal.js'

/**
 * A count: a number, or a minimum, maximum or range such as `'>=2'`, `'<=3'` or `'2..4'`. A range includes both of its
 * ends.
 */
export type CountRange =
  | number
  | `${'>=' | '<=' | '>' | '<'}${number}`
  | `${number}..${number}`
  | {
      /** Minimum, included. */
      readonly min: number
      /** Maximum. The maximum itself is allowed. Default: no limit. */
      readonly max?: number
    }
  | {
      /** Minimum. The minimum itself is allowed. Default: 0. */
      readonly min?: number
      /** Maximum, included. */
      readonly max: number
    }

export interface Bounds {
  readonly min: number
  readonly max: number
}

const text = /^\s*(?:(>=|<=|>|<)\s*(\d+)|(\d+)\s*\.\.\s*(\d+))\s*$/

/** Parses a range of whole numbers. Returns `undefined` for any other value. */
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

/** Returns a range as text: `exactly 2`, `at least 2`, `at most 3`, `2 to 4`. */
export function boundsText({ min, max }: Bounds): string {
  if (min === max) return `exactly ${min}`
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`
  return min === 0 ? `at most ${max}` : `${min} to ${max}`
}

/**
 * Parses a range and throws an error for an invalid one, because `.not` would always pass with it.
 * @throws TypeError when the range is invalid or can never hold
 */
export function requireBounds(matcher: string, name: string, range: unknown): Bounds {
  const bounds = boundsOf(range)
  if (bounds !== undefined) return bounds
  throw new TypeError(
    `${matcher}(): ${name} must be a whole number or a range (got ${literal(range)}). Write for example { ${name}: 2 }, { ${name}: '>=2' }, { ${name}: '2..4' } or { ${name}: { min: 2, max: 4 } }.`,
  )
}
