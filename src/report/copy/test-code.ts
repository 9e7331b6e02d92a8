import { formatDuration } from '../../kernel/duration.js'
import { iso } from '../../kernel/instant.js'
import { type CopyRange, copyRangeOf, type ObservedOutcome, type TestAction } from './copy-range.js'
import { CodeExpression, jsLiteral } from './quoting.js'
import type { CopyContext, CopySelection } from './selection.js'

export type TestRunner = 'vitest' | 'jest' | 'playwright'

/** Returns a test file that plays the selected range and fails if the outcome is different. */
export function testOf(runner: TestRunner, selection: CopySelection, context: CopyContext): string {
  const stretch = copyRangeOf(selection, context)
  if (stretch === undefined) return '// The selection contains nothing that a test can play.\n'
  const options = jsLiteral({
    ...(context.seed !== undefined && { seed: context.seed }),
    startAt: iso(stretch.startAt),
    ...(stretch.databases.length > 0 && { databases: stretch.databases }),
    // In the log, a message was still pending at the end. It is also pending at the end of the test, so the test must
    // not fail because of it.
    ...(stretch.seen.some(isLeftOver) && { strict: { pending: false } }),
  })
  const { head, args } = frames[runner](options)
  const { entries, range } = selection
  const [first = 0, last = 0] = [entries[0]?.seq, entries.at(-1)?.seq]
  const what = range === undefined ? 'a message' : `entries ${Math.max(first, range[0])} to ${Math.min(last, range[1])}`
  return [
    ...head,
    '',
    ...notesOf(stretch),
    `test('repeats the recorded outcome of ${what}', async (${args}) => {`,
    ...lines(stretch).map((line) => (line === '' ? '' : `  ${line}`)),
    '})',
    '',
  ].join('\n')
}

function isLeftOver({ pattern }: ObservedOutcome): boolean {
  return ['CREATED', 'RETRY', 'ACTIVE', 'CANCEL_REQUESTED'].includes(String(pattern.state))
}

interface Frame {
  readonly head: readonly string[]
  readonly args: string
}

/** The code around a test, by test runner. It gives the test its sandbox. */
const frames: Readonly<Record<TestRunner, (options: string) => Frame>> = {
  vitest: (options) => ({
    head: ["import { expect, test } from 'stuntdouble/vitest'", '', `test.override('sandboxOptions', ${options})`],
    args: '{ sandbox }',
  }),
  jest: (options) => ({
    head: ["const { useSandbox } = require('stuntdouble/jest')", '', `const sandbox = useSandbox(${options})`],
    args: '',
  }),
  playwright: (options) => ({
    head: ["import { expect, test } from 'stuntdouble/playwright'", '', `test.use({ sandboxOptions: ${options} })`],
    args: '{ sandbox }',
  }),
}

function notesOf({ notes }: CopyRange): string[] {
  return notes.map((note) => `// ${note}`)
}

function lines({ scripts, rules, inputs, seen }: CopyRange): string[] {
  const named = namesOf(inputs)
  const declared = new Set<string>()
  const before = [
    ...[...scripts].map(([url, steps]) => {
      const answers = steps.findLastIndex((step) => step !== 200) + 1
      return answers === 0
        ? `sandbox.destinations.record(${jsLiteral(url)})`
        : `sandbox.destinations.script(${jsLiteral(url)}, ${jsLiteral(steps.slice(0, answers), 2)}).record(${jsLiteral(url)})`
    }),
    ...rules.map((rule) => `sandbox.faults.add(${jsLiteral(rule, 2)})`),
  ]
  const during = inputs.flatMap((input, index) => codeOf(input, index, named, declared))
  const after = [...seen.map(expected), ...(seen.some(({ what }) => what === 'deadLetter') ? [] : noDeadLetter(seen))]
  return [before, during, after]
    .filter((part) => part.length > 0)
    .flatMap((part, at) => (at === 0 ? part : ['', ...part]))
}

function noDeadLetter(seen: readonly ObservedOutcome[]): string[] {
  return seen.length === 0 ? [] : ['expect(sandbox).not.toHaveDeadLetter()']
}

/** Returns variable names for messages to which a later action refers. */
function namesOf(inputs: readonly TestAction[]): ReadonlyMap<string, string> {
  const later = inputs.flatMap((input) =>
    input.does === 'cancel' || input.does === 'deliverNow' ? [input.messageId] : [],
  )
  return new Map([...new Set(later)].map((id, index) => [id, `message${index + 1}`]))
}

function codeOf(input: TestAction, index: number, named: ReadonlyMap<string, string>, declared: Set<string>): string[] {
  if (input.does === 'advance') return [`await sandbox.clock.advance(${spanOf(input.ms)})`]
  if (input.does === 'command') {
    const store = input.database === undefined ? 'store' : `storeIn(${jsLiteral(input.database)})`
    return [`sandbox.${store}.run(${input.words.map((word) => jsLiteral(word)).join(', ')})`]
  }
  if (input.does === 'request') return requestCode(input.request, index)
  if (input.does === 'fault') return [`sandbox.faults.add(${jsLiteral(input.rule, 2)})`]
  const name = named.get(input.messageId)
  if (input.does !== 'publish') return [`sandbox.queue.${input.does}(${name}.id)`]
  const { bodyBase64, ...publish } = input.publish
  const body =
    bodyBase64 === undefined ? {} : { body: new CodeExpression(`Buffer.from(${jsLiteral(bodyBase64)}, 'base64')`) }
  // A duplicate has the ID of the first message, so its variable is already declared.
  const declares = name !== undefined && !declared.has(name)
  if (declares) declared.add(name)
  return [`${declares ? `const ${name} = ` : ''}sandbox.queue.publish(${jsLiteral({ ...publish, ...body }, 2)})`]
}

function requestCode(
  { service, database, method, path, headers, body, status }: Extract<TestAction, { does: 'request' }>['request'],
  index: number,
): string[] {
  const added = database === undefined ? undefined : `databases[${jsLiteral(database)}]`
  const token = added === undefined ? service : `${added}.store`
  const init = {
    method,
    headers: { authorization: new CodeExpression(`\`Bearer \${sandbox.tokens.${token}}\``), ...headers },
    ...(body !== undefined && { body }),
  }
  const sent = `sandbox.fetch(sandbox.urls.${added ?? service} + ${jsLiteral(path)}, ${jsLiteral(init, 2)})`
  if (status === 0) return [`await expect(${sent}).rejects.toThrow()`]
  return [`const response${index} = await ${sent}`, `expect(response${index}.status).toBe(${status})`]
}

const matchers: Readonly<Record<ObservedOutcome['what'], string>> = {
  delivered: 'toHaveDelivered',
  deadLetter: 'toHaveDeadLetter',
  deduplicated: 'toHaveDeduplicated',
}

function expected({ what, pattern, times }: ObservedOutcome): string {
  return `expect(sandbox).${matchers[what]}(${jsLiteral(pattern, 2)}, { times: ${times} })`
}

/** Formats a duration: `'1d12s'` for whole seconds, and a number of milliseconds otherwise. */
function spanOf(ms: number): string {
  return ms === 0 || ms % 1000 !== 0 ? String(ms) : `'${formatDuration(ms)}'`
}
