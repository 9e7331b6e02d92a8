import { iso } from '../../kernel/instant.js'
import { copyRangeOf, type ObservedOutcome, type TestAction } from './copy-range.js'
import { jsonLiteral } from './quoting.js'
import type { CopyContext, CopySelection } from './selection.js'

/** Names of fields that a scenario file must not contain. They are removed. */
const refused = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Converts the selected range to a scenario file for `stuntdouble play`. The file is JSON, which is also valid YAML.
 */
export function scenarioOf(selection: CopySelection, context: CopyContext): string {
  const stretch = copyRangeOf(selection, context)
  if (stretch === undefined) return '# The selection contains nothing that a scenario can play.\n'
  const { startAt, scripts, rules, inputs, databases, seen, notes } = stretch
  const ids = new Map<string, string>()
  const steps = inputs.flatMap((input) => stepOf(input, ids))
  const dead = seen.some(({ what }) => what === 'deadLetter')
  return `${jsonLiteral(
    withoutRefused({
      name: 'repeats the recorded outcome',
      ...(notes.length > 0 && { description: notes.join(' ') }),
      ...(context.seed !== undefined && { seed: context.seed }),
      startAt: iso(startAt),
      ...(databases.length > 0 && { databases }),
      destinations: [...scripts].map(([url, script]) => {
        const answers = script.slice(0, script.findLastIndex((step) => step !== 200) + 1)
        return { url, ...(answers.length > 0 && { script: answers }) }
      }),
      ...(rules.length > 0 && { faults: rules }),
      steps,
      expect: [...seen.map(expectationOf), ...(dead || seen.length === 0 ? [] : [{ deadLetters: 0 }])],
    }),
    2,
  )}\n`
}

function stepOf(input: TestAction, ids: Map<string, string>): readonly object[] {
  if (input.does === 'advance') return [{ advance: input.ms }]
  if (input.does === 'command') {
    const { database, words } = input
    return [{ command: database === undefined ? words : { database, argv: words } }]
  }
  if (input.does === 'request') return [{ request: input.request }]
  if (input.does === 'fault') return [{ addFaults: input.rule }]
  if (input.does !== 'publish') return [{ [input.does]: ids.get(input.messageId) }]
  // If the queue accepts a duplicate, it responds with the ID of the first message.
  const known = ids.get(input.messageId)
  const as = known ?? `message ${ids.size + 1}`
  ids.set(input.messageId, as)
  const { publish } = input
  const isRefused =
    typeof publish.body === 'object' && JSON.stringify(withoutRefused(publish.body)) !== JSON.stringify(publish.body)
  if (!isRefused) return [{ publish: { ...publish, as } }]
  const headers = { 'content-type': 'application/json', ...(publish.headers as object) }
  return [{ publish: { ...publish, body: JSON.stringify(publish.body), headers, as } }]
}

function withoutRefused(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRefused)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (refused.has(name) ? [] : [[name, withoutRefused(field)]])),
  )
}

function expectationOf({ what, pattern, times }: ObservedOutcome): object {
  if (what === 'deduplicated') return { published: { ...pattern, deduplicated: true, times } }
  return { [what]: { ...pattern, times } }
}
