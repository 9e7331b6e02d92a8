import { sandboxMatchers } from '../../../matchers/index.ts'
import { isAsymmetric, isPlainObject, literal } from '../../../matchers/literal.ts'

// A small `expect` for the playground. It has the matchers of the package and the most common matchers of test runners.

interface Verdict {
  readonly pass: boolean
  message(): string
}

type Matcher = (this: { isNot: boolean }, received: unknown, ...given: never[]) => Verdict

const matchers: Readonly<Record<string, Matcher>> = {
  ...(sandboxMatchers as unknown as Record<string, Matcher>),
  toBe: plain('toBe', Object.is),
  toEqual: plain('toEqual', equals),
  toMatchObject: plain('toMatchObject', (received, expected) => equals(received, expected, true)),
  toContain: plain('toContain', (received, item) => (received as unknown[]).includes(item)),
  toMatch: plain('toMatch', (received, part) =>
    part instanceof RegExp ? part.test(String(received)) : String(received).includes(String(part)),
  ),
  toHaveLength: plain('toHaveLength', (received, length) => (received as unknown[]).length === length),
  toBeUndefined: plain('toBeUndefined', (received) => received === undefined),
  toBeNull: plain('toBeNull', (received) => received === null),
  toBeTruthy: plain('toBeTruthy', Boolean),
  toBeGreaterThan: plain('toBeGreaterThan', (received, bound) => Number(received) > Number(bound)),
  toBeLessThan: plain('toBeLessThan', (received, bound) => Number(received) < Number(bound)),
  toThrow: plain('toThrow', throws),
}

type Assertion = Record<string, (...given: unknown[]) => unknown>

/** Returns the assertions about a value. */
export const expect: ((received: unknown) => Assertion & Record<'not' | 'resolves' | 'rejects', Assertion>) &
  Record<string, (...given: never[]) => unknown> = Object.assign(
  (received: unknown) => ({
    ...about(() => received),
    not: about(() => received, true),
    resolves: later(() => Promise.resolve(received)),
    rejects: later(() => Promise.resolve(received).then(refuse, (error: unknown) => error)),
  }),
  {
    anything: () => fitting((value) => value !== undefined && value !== null),
    any: (type: { name: string }) => fitting((value) => Object(value)?.constructor === type),
    objectContaining: (fields: object) => fitting((value) => equals(value, fields, true)),
    stringContaining: (part: string) => fitting((value) => typeof value === 'string' && value.includes(part)),
    stringMatching: (pattern: RegExp) => fitting((value) => typeof value === 'string' && pattern.test(value)),
    arrayContaining: (items: unknown[]) =>
      fitting((value) => Array.isArray(value) && items.every((item) => value.some((one) => equals(one, item)))),
  },
) as never

function about(received: () => unknown, isNot = false): Assertion {
  const all = Object.entries(matchers).map(([name, matcher]) => [
    name,
    (...given: unknown[]) => check(matcher, received(), given, isNot),
  ])
  return Object.fromEntries(all)
}

function later(received: () => Promise<unknown>): Assertion {
  const all = Object.entries(matchers).map(([name, matcher]) => [
    name,
    async (...given: unknown[]) => check(matcher, await received(), given, false),
  ])
  return Object.fromEntries(all)
}

function check(matcher: Matcher, received: unknown, given: unknown[], isNot: boolean): void {
  const verdict = matcher.call({ isNot }, received, ...(given as never[]))
  if (verdict.pass === isNot) throw new Error(verdict.message())
}

function plain(name: string, holds: (received: unknown, expected: unknown) => boolean): Matcher {
  return function (received, expected?: unknown) {
    const not = this.isNot ? '.not' : ''
    const given = expected === undefined ? '' : literal(expected)
    return {
      pass: holds(received, expected),
      message: () => `expect(received)${not}.${name}(${given})\n\nReceived: ${literal(received)}`,
    }
  }
}

function equals(received: unknown, expected: unknown, partly = false): boolean {
  if (isAsymmetric(expected)) return expected.asymmetricMatch(received)
  if (Array.isArray(expected)) {
    return (
      Array.isArray(received) &&
      received.length === expected.length &&
      expected.every((item, index) => equals(received[index], item, partly))
    )
  }
  if (!isPlainObject(expected) || typeof received !== 'object' || received === null)
    return Object.is(received, expected)
  const other = received as Record<string, unknown>
  const names = new Set([...Object.keys(expected), ...(partly ? [] : Object.keys(other))])
  return [...names].every((name) => equals(other[name], expected[name], partly))
}

function throws(received: unknown, part: unknown): boolean {
  // After `.rejects`, the value is the error.
  if (received instanceof Error) return part === undefined || received.message.includes(String(part))
  try {
    ;(received as () => unknown)()
    return false
  } catch (error) {
    return part === undefined || String((error as Error).message).includes(String(part))
  }
}

function refuse(value: unknown): never {
  throw new Error(`expect(received).rejects\n\nThe promise did not reject. It resolved to ${literal(value)}.`)
}

const fitting = (holds: (value: unknown) => boolean): { asymmetricMatch: typeof holds } => ({ asymmetricMatch: holds })
