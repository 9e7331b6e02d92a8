import { UsageError } from '@stuntdouble/command-line'
import { didYouMean } from '../../../src/kernel/nearest-name.js'
import type { Policy } from '../../../src/policy/policy.js'
import { policySchema, policyWith } from '../../../src/policy/schema.js'

/** Placeholder for the value of `--policy` in the help. */
export const policyHint = 'NAME=VALUE'

interface Group {
  [name: string]: unknown
}

/**
 * Returns the policies of `--policy name=value`. A name may be a path, such as `queueLimits.maxRetries`. A value is
 * parsed as JSON, and a value that is not JSON is a text. `null` removes a limit.
 * @throws UsageError for an unknown name, and for a value that the policy cannot have; the message suggests the nearest
 *   name
 * @example policyFrom(['retries=5', 'queueLimits.maxRetries=5', 'queuePlan=free'])
 */
export function policyFrom(given: readonly string[]): Partial<Policy> {
  const policy: Group = {}
  for (const word of given) {
    const [, path, value] = /^([^=]+)=(.*)$/s.exec(word) ?? []
    if (path === undefined || value === undefined) throw new UsageError(needsBoth(word))
    const names = path.split('.')
    checkNames(names)
    const last = names.pop()!
    const group = names.reduce<Group>((at, name) => {
      at[name] = { ...(at[name] as Group | undefined) }
      return at[name] as Group
    }, policy)
    group[last] = valueFrom(value)
  }
  try {
    policyWith(policy)
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(`--policy: ${error.message}`) : error
  }
  return policy
}

function needsBoth(word: string): string {
  if (word === '') return `--policy needs a value. Write --policy ${policyHint}.`
  return `--policy must be ${policyHint}, such as --policy retries=5 or --policy queueLimits.maxRetries=5 (got ${JSON.stringify(word)}).`
}

function checkNames(names: readonly string[]): void {
  let schema: unknown = policySchema()
  for (const [index, name] of names.entries()) {
    const entries = entriesOf(schema)
    const above = names.slice(0, index).join('.')
    if (entries === undefined)
      throw new UsageError(`--policy: ${above} has no field ${JSON.stringify(name)}. Write --policy ${above}=VALUE.`)
    if (!Object.hasOwn(entries, name)) {
      const what = index === 0 ? '--policy: there is no policy' : `--policy: ${above} has no`
      throw new UsageError(`${what} ${JSON.stringify(name)}.${didYouMean(name, Object.keys(entries))}`)
    }
    schema = entries[name]
  }
}

/** Returns the fields of an object schema, which may be wrapped as optional. */
function entriesOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  const { entries, wrapped } = schema as { entries?: Readonly<Record<string, unknown>>; wrapped?: unknown }
  return entries ?? (wrapped === undefined ? undefined : entriesOf(wrapped))
}

/** Parses a value as JSON. A value that is not JSON is a text, because a shell removes the quotes of a JSON string. */
function valueFrom(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return text
  }
}
