import { parseArgs } from 'node:util'
import { ArchiveError } from './archive.js'
import { compareItems } from './compare.js'
import { explain, type SourcedRow } from './known-differences.js'
import { FetchError, readFromNpm, vendorPackages } from './npm-packages.js'
import { containersOf, knownIn, type OurTables, ourTables } from './our-tables.js'
import { jsonReport, type ReadSource, textReport } from './protocol-report.js'
import { DocumentsError, readDocuments } from './read-documents.js'
import type { Extract } from './read-package.js'
import { readRecord, writeRecord } from './records.js'

// `npm run protocol:drift`: what the vendor's packages and documents contain and this repository does not, and what has
// changed in them. See docs/contributing/protocol-drift.md.

const usage = `Usage: npm run protocol:drift -- [PACKAGE@VERSION …] [--docs DIR [--since DIR]] [--json] [--record]

  PACKAGE@VERSION  packages to read (default: the newest versions of all)
  --docs DIR       also read the OpenAPI and MDX files of this folder
  --since DIR      an older state of these files
  --json           print the report as JSON
  --record         record what the packages contain, instead of comparing`

class UsageError extends Error {
  override name = 'UsageError'
}

interface Options {
  readonly packages: readonly string[]
  readonly docs: string | undefined
  readonly since: string | undefined
  readonly json: boolean
  readonly record: boolean
}

process.exitCode = await main(process.argv.slice(2))

/** Returns the exit code: 0 without a difference, 1 with differences, 2 if the comparison did not take place. */
async function main(argv: readonly string[]): Promise<number> {
  try {
    const options = optionsOf(argv)
    return options === undefined ? 0 : await run(options)
  } catch (error) {
    const isExpected = [UsageError, FetchError, ArchiveError, DocumentsError].some((one) => error instanceof one)
    if (!isExpected) throw error
    console.error(`protocol:drift: ${(error as Error).message}`)
    return 2
  }
}

function optionsOf(argv: readonly string[]): Options | undefined {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(argv)
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage}`)
  }
  const { docs, since, json, record, help } = parsed.values
  if (help) {
    console.log(usage)
    return undefined
  }
  if (since !== undefined && docs === undefined) throw new UsageError('--since needs --docs, the newer state.')
  for (const spec of parsed.positionals) {
    const name = spec.replace(/(?<=.)@.*$/, '')
    if (!vendorPackages.includes(name))
      throw new UsageError(`${JSON.stringify(spec)} is not one of ${vendorPackages.join(', ')}.`)
  }
  return { packages: parsed.positionals, docs, since, json: json === true, record: record === true }
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      docs: { type: 'string' },
      since: { type: 'string' },
      json: { type: 'boolean' },
      record: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
}

async function run({ packages, docs, since, json, record }: Options): Promise<number> {
  // Reading the tables takes as long as fetching the packages. Without a network, it is not needed.
  let read: OurTables | undefined
  const tables = (): OurTables => {
    read ??= ourTables()
    return read
  }
  const specs = packages.length > 0 ? packages : vendorPackages.map((name) => `${name}@latest`)
  const extracts = await readFromNpm(specs, () => containersOf(tables()))
  if (record) {
    for (const extract of extracts) console.log(`Recorded ${writeRecord(extract)}`)
    return 0
  }
  const sources: ReadSource[] = []
  const rows: SourcedRow[] = []
  const compare = (extract: Extract, recorded: Extract | undefined): void => {
    const from = extract.name.replace(/^@\w+\//, '')
    sources.push({ name: extract.name, version: extract.version, recorded: recorded?.version })
    for (const row of compareItems(recorded?.items, extract.items, knownIn(tables()))) rows.push({ from, ...row })
  }
  for (const extract of extracts) compare(extract, readRecord(extract.name))
  if (docs !== undefined) compare(readDocuments(docs), since === undefined ? undefined : readDocuments(since))
  const result = explain(rows, new Set(sources.map(({ name }) => name.replace(/^@\w+\//, ''))))
  console.log(json ? jsonReport(sources, result) : textReport(sources, result))
  return result.rows.length + result.stale.length === 0 ? 0 : 1
}
