import { nearestName } from '../../../../src/kernel/nearest-name.js'
import { defaultPolicy, type Policy, type ResolvedPolicy } from '../../../../src/policy/policy.js'
import { policyWith, resolvedPolicy } from '../../../../src/policy/schema.js'
import { literal } from './rule-literal.js'

// Policies that a check varies. Each is a choice that public sources of the service leave open, so an app must not
// depend on it.

/** Value of a policy. A duration can be a text such as `'90d'`. */
export type PolicyChoice<Name extends keyof Policy> = Policy[Name]

/** Possible values of each varied policy, the simplest value first. */
export type PolicyChoices = { readonly [Name in keyof Policy]?: readonly PolicyChoice<Name>[] }

/**
 * Policies whose value is open, because the service's documentation, its API reference and its SDKs disagree or are
 * silent. The default value is first. [queue.md 16, workflow.md 0 and 13]
 */
export const disputedPolicies: PolicyChoices = {
  deduplicationWindow: ['10m', '90d'],
  backoffFactor: [2.5, 2],
  canceledSpelling: ['CANCELLED', 'CANCELED'],
  callbackTimestampType: ['string', 'number'],
  rejectCallbackDelay: [false, true],
  flowControlOrder: ['fifo', 'shuffled'],
  workflowNotifyOrder: ['oldest', 'newest'],
  workflowCallCallbacks: ['last', 'every'],
}

/** One value of each varied policy, as the test wrote it. */
export type Combination = Readonly<Record<string, unknown>>

/** Maximum number of combinations that are all tried. */
const maxCombinations = 32

/**
 * Returns the combinations to try. If there are more than `maxCombinations`, only one policy at a time has a value
 * other than its first value.
 */
export function combinationsOf(choices: PolicyChoices): readonly Combination[] {
  const lists = Object.entries(choices) as [string, readonly unknown[]][]
  const first = Object.fromEntries(lists.map(([name, [value]]) => [name, value]))
  const count = lists.reduce((product, [, values]) => product * values.length, 1)
  if (count > maxCombinations)
    return [first, ...lists.flatMap(([name, values]) => values.slice(1).map((value) => ({ ...first, [name]: value })))]
  return lists.reduce<readonly Combination[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  )
}

/** Converts a combination to the policies of a sandbox. */
export function policyOf(combination: Combination): Partial<ResolvedPolicy> {
  return resolvedPolicy(combination)
}

/** Formats a value for a report: `90d`. */
export function choiceText(value: unknown): string {
  return typeof value === 'string' ? value : literal(value)
}

/**
 * Checks the option `policies`.
 * @param fixed policies that the option `sandbox` sets and the check cannot vary
 * @throws TypeError if a policy or one of its values is invalid
 */
export function checkChoices(choices: PolicyChoices, fixed: Partial<Policy> = {}): void {
  if (typeof choices !== 'object' || choices === null || Array.isArray(choices))
    throw new TypeError(
      `assertResilient(): policies must be an object with a list of values for each policy. ${example}`,
    )
  for (const [name, values] of Object.entries(choices) as [string, unknown][]) {
    checkName(name)
    if (Object.hasOwn(fixed, name))
      throw new TypeError(
        `assertResilient(): ${name} is in policies and in sandbox.policy. Remove it from one of them.`,
      )
    if (!Array.isArray(values) || values.length === 0)
      throw new TypeError(`assertResilient(): policies.${name} must be a list of values. ${example}`)
    for (const value of values) checkValue(name, value)
  }
}

const example = "Write assertResilient({ …, policies: { deduplicationWindow: ['10m', '90d'] } })."

function checkName(name: string): void {
  const names = Object.keys(defaultPolicy)
  if (names.includes(name)) return
  const near = nearestName(name, names)
  throw new TypeError(
    `assertResilient(): there is no policy ${JSON.stringify(name)}. ${near === undefined ? `The policies are ${names.join(', ')}.` : `Did you mean ${near}?`}`,
  )
}

function checkValue(name: string, value: unknown): void {
  try {
    policyWith({ [name]: value })
  } catch (error) {
    throw new TypeError(`assertResilient(): policies.${name}: ${(error as Error).message}`)
  }
}
