import { writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { stringify } from 'yaml'
import { dialectNames } from '../../../../src/protocol/dialect.js'
import { consoleText, plainText } from '../../../../src/report/safe-text.js'
import { type Imported, importDeliveries } from '../../../../src/scenarios/import/import-scenario.js'
import { ImportError } from '../../../../src/scenarios/import/imported-records.js'
import { type SecretKind, secretKinds } from '../../../../src/scenarios/import/placeholders.js'
import { testFileText } from '../../../../src/scenarios/import/test-file.js'
import { readText } from '../text-file.js'

/** Maximum size of a file with records, in bytes. A page of the log is smaller, even with all bodies. */
export const maxRecords = 67_108_864

export const program: Program = {
  args: {
    out: { type: 'string', valueHint: 'FILE', description: 'file to write (default: standard output)' },
    test: { type: 'boolean', description: 'write a Vitest test file, with a line for the code under test' },
    jest: { type: 'boolean', description: 'write a Jest test file' },
    name: { type: 'string', valueHint: 'TEXT', description: 'name of the scenario' },
    dialect: {
      type: 'string',
      valueHint: dialectNames.join('|'),
      default: 'auto',
      description: 'dialect of the scenario',
    },
    expect: {
      type: 'string',
      valueHint: 'same|delivered',
      default: 'same',
      description: 'expected outcome: as recorded, or all delivered',
    },
    keep: {
      type: 'string',
      valueHint: 'KIND,KIND',
      description: 'kinds of secrets that are not redacted, or all',
    },
    format: {
      type: 'string',
      valueHint: 'yaml|json',
      description: 'format of the scenario (default: extension of --out, or yaml)',
    },
  },
  operands: { hint: 'FILE…', least: 1, most: 1000 },
  notes: () => ({ title: 'Kinds of secrets', lines: Object.keys(secretKinds) }),
  examples: [
    'stuntdouble import dead-letter.json > test/scenarios/order-4711.yaml',
    'stuntdouble import dead-letter.json --test > test/order-4711.test.ts',
    'stuntdouble import events.json dlq.json --out test/scenarios/outage.yaml',
    'curl -H "Authorization: Bearer $QUEUE_TOKEN" "$QUEUE_URL/v2/dlq" | stuntdouble import -',
  ],
  run: async (given) => {
    const sources = await Promise.all(
      given._.map(async (name) => ({ name, value: parsedJson(await readText(name, maxRecords), name) })),
    )
    const out = textOf(given, 'out', 'FILE')
    const imported = imports(sources, given)
    const written = isTest(given)
      ? testFileText(imported, { runner: given.jest === true ? 'jest' : 'vitest', language: languageOf(out) })
      : scenarioText(imported, formatOf(given, out), out)
    if (out === undefined) process.stdout.write(written)
    else
      await writeFile(out, written).catch((error: Error) => {
        throw new UsageError(`--out ${out} cannot be written: ${error.message}.`)
      })
    process.stderr.write(consoleText(report(imported)))
    if (isTest(given))
      process.stderr.write('Put your handler into the line below FILL IN. The test fails until then.\n')
    return 0
  },
}

function imports(sources: readonly { name: string; value: unknown }[], given: ParsedArguments): Imported {
  const name = textOf(given, 'name', 'TEXT')
  try {
    return importDeliveries(sources, {
      dialect: oneOf('dialect', given, dialectNames),
      expect: oneOf('expect', given, ['same', 'delivered']),
      keep: keptKinds(textOf(given, 'keep', 'KIND')),
      ...(name !== undefined && { name }),
    })
  } catch (error) {
    if (error instanceof ImportError) throw new UsageError(error.message)
    throw error
  }
}

function parsedJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}.`)
  }
}

function oneOf<const T extends string>(name: string, given: ParsedArguments, values: readonly T[]): T {
  const value = textOf(given, name, values.join('|'))
  const found = values.find((candidate) => candidate === value)
  if (found !== undefined) return found
  throw new UsageError(`--${name} must be one of ${values.join(', ')} (got ${JSON.stringify(value)}).`)
}

function keptKinds(text: string | undefined): SecretKind[] {
  const known = Object.keys(secretKinds) as SecretKind[]
  if (text === undefined) return []
  if (text === 'all') return known
  const words = text.split(',').map((word) => word.trim())
  const wrong = words.find((word) => !(known as string[]).includes(word))
  if (wrong === undefined) return words as SecretKind[]
  throw new UsageError(`--keep must be all or a list of ${known.join(', ')} (got ${JSON.stringify(wrong)}).`)
}

function isTest(given: ParsedArguments): boolean {
  if (given.test !== true && given.jest !== true) return false
  if (given.format === undefined) return true
  throw new UsageError('--format applies only to scenarios. Omit it with --test and --jest.')
}

function languageOf(out: string | undefined): 'ts' | 'js' | 'cjs' {
  if (out?.endsWith('.cjs')) return 'cjs'
  return out !== undefined && /\.m?jsx?$/.test(out) ? 'js' : 'ts'
}

function formatOf(given: ParsedArguments, out: string | undefined): 'yaml' | 'json' {
  if (given.format !== undefined) return oneOf('format', given, ['yaml', 'json'])
  return out?.endsWith('.json') ? 'json' : 'yaml'
}

/**
 * Returns the first line of a scenario file. This line names the schema, so that editors can complete and check the
 * file.
 */
function schemaLine(out: string | undefined): string {
  const schema = relative(
    dirname(out ?? 'scenario.yaml'),
    join('node_modules', 'stuntdouble', 'dist', 'scenario.schema.json'),
  )
  return `# yaml-language-server: $schema=${schema.replaceAll('\\', '/')}`
}

function scenarioText({ scenario, notes }: Imported, format: 'yaml' | 'json', out: string | undefined): string {
  if (format === 'json') return `${JSON.stringify(scenario, undefined, 2)}\n`
  const comments = notes.map((note) => `# ${plainText(note)}`)
  const body = stringify(scenario, { version: '1.2', lineWidth: 120, aliasDuplicateObjects: false })
  return `${[schemaLine(out), ...comments].join('\n')}\n${body}`
}

/** Describes what was redacted and what was assumed. The description never contains a secret. */
function report({ scenario, redactions, notes }: Imported): string {
  const lines = [
    `${plainText(scenario.name)}: ${scenario.steps!.filter((step) => 'publish' in step).length} published, ${redactions.length} values redacted`,
  ]
  for (const { kind, place, placeholder } of redactions)
    lines.push(`  ${kind.padEnd(6)}  ${plainText(place)} → ${placeholder}`)
  for (const note of notes) lines.push(`note: ${plainText(note)}`)
  return `${lines.join('\n')}\n`
}
