import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { copyFormats, copyFormatsFor } from '../../../../src/report/copy/copy-forms.js'
import { type CopySelection, kindOf } from '../../../../src/report/copy/selection.js'
import { readTrace } from '../trace-file.js'

const names = copyFormats.map(({ name }) => name)

export const program: Program = {
  args: {
    as: { type: 'string', valueHint: 'FORM', description: `format: ${names.join(', ')}` },
    entry: { type: 'string', valueHint: 'NUMBER', description: 'one entry, by its number' },
    message: { type: 'string', valueHint: 'ID', description: 'one message with all entries that it caused' },
    from: {
      type: 'string',
      valueHint: 'NUMBER',
      description: 'first entry of a range (default: first entry)',
    },
    to: { type: 'string', valueHint: 'NUMBER', description: 'last entry of a range (default: last entry)' },
    question: { type: 'string', valueHint: 'TEXT', description: 'question that the prompt asks' },
  },
  operands: { hint: '[TRACE.json]', least: 0, most: 1 },
  examples: [
    'stuntdouble copy trace.json --as curl --entry 12',
    'stuntdouble copy trace.json --as vitest --message msg_… > test/found.test.ts',
    'stuntdouble copy trace.json --as scenario --from 3 --to 40 > found.json',
  ],
  run: async (given) => {
    const [file = '-'] = given._
    if (file === '-' && process.stdin.isTTY)
      throw new UsageError('copy needs a trace. Pass a file, or pipe a trace into it.')
    const form = copyFormats.find(({ name }) => name === textOf(given, 'as', 'FORM'))
    if (form === undefined) throw new UsageError(`--as must be one of ${names.join(', ')}.`)
    const trace = (await readTrace(file)).toTrace()
    const selection = selectionOf(given, trace.entries)
    if (!form.kinds.includes(kindOrFail(selection)))
      throw new UsageError(
        `--as ${form.name} is not possible for this selection. Use one of ${copyFormatsFor(selection)
          .map(({ name }) => name)
          .join(', ')}.`,
      )
    const question = textOf(given, 'question', 'TEXT')
    process.stdout.write(ended(form.render(selection, { ...trace, ...(question !== undefined && { question }) })))
    return 0
  },
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}

function kindOrFail(selection: CopySelection): string {
  const kind = kindOf(selection)
  if (kind !== 'nothing') return kind
  const { entries } = selection
  throw new UsageError(
    `--entry ${selection.entry} is not in this trace. Use a number from ${entries[0]?.seq ?? 0} to ${entries.at(-1)?.seq ?? 0}.`,
  )
}

function selectionOf(given: ParsedArguments, entries: CopySelection['entries']): CopySelection {
  const [entry, from, to] = ['entry', 'from', 'to'].map((name) => numberOf(given, name))
  const message = textOf(given, 'message', 'ID')
  if ([entry, message, from ?? to].filter((one) => one !== undefined).length > 1)
    throw new UsageError(
      'copy takes only one selection. Use --entry for an entry, --message for a message, or --from and --to for a range.',
    )
  if (entry !== undefined) return { entries, entry }
  if (message === undefined) return { entries, range: [from ?? 0, to ?? Number.MAX_SAFE_INTEGER] }
  if (!entries.some(({ messageId }) => messageId === message))
    throw new UsageError('--message is not the ID of a message in this trace. Pass the complete ID.')
  return { entries, message }
}

function numberOf(given: ParsedArguments, name: string): number | undefined {
  const text = textOf(given, name, 'NUMBER')
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--${name} must be the number of an entry, such as 12.`)
}
