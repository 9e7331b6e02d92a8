import { writeFile } from 'node:fs/promises'
import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { consoleText, plainText } from '../../../../src/report/safe-text.js'
import { RunHistoryError } from '../../../../src/workflow/history-file.js'
import { type HistorySource, parseRunHistory } from '../../../../src/workflow/history-reading.js'
import type { RunHistory } from '../../../../src/workflow/run-history.js'
import { controlTokenOption } from '../config.js'
import { readText } from '../text-file.js'
import { connected, refuseUnknownTenant } from './env-program.js'

/**
 * Maximum size of the input, in bytes. The history of one run is smaller, even with the largest payload and results
 * that the service accepts.
 */
export const maxRun = 67_108_864

export const program: Program = {
  args: {
    run: { type: 'string', valueHint: 'ID', description: 'ID of a run on a server, or in a log with several runs' },
    url: {
      type: 'string',
      valueHint: 'URL',
      description: 'endpoint of the workflow, if FILE is a list of steps',
    },
    header: {
      type: 'string',
      valueHint: 'NAME:VALUE',
      description: 'header that the trigger forwards; repeatable',
    },
    'created-at': { type: 'string', valueHint: 'ISO', description: 'start of the run, if FILE is a list of steps' },
    out: { type: 'string', valueHint: 'FILE', description: 'file for the history (default: standard output)' },
    'include-secrets': {
      type: 'boolean',
      description: 'include secret headers and values that the trigger redacts',
    },
    server: {
      type: 'string',
      valueHint: 'URL',
      default: 'http://127.0.0.1:4010',
      description: 'running server, instead of a FILE',
    },
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'tenant of the run' },
    'control-token': controlTokenOption,
  },
  operands: { hint: '[FILE]', least: 0, most: 1 },
  repeated: ['header'],
  examples: [
    'stuntdouble history --run wfr_1 > order.json   # from stuntdouble serve',
    'stuntdouble history steps.json --url https://app.test/api/order --header x-user:u1',
    'curl … "$QSTASH_URL/v2/workflows/runs/wfr_1" | stuntdouble history - --out order.json',
    'curl -H "Authorization: Bearer $QSTASH_TOKEN" "$QSTASH_URL/v2/workflows/runs/wfr_1" | stuntdouble history - --url https://app.test/api/order > histories/order.json',
    'curl -H "Authorization: Bearer $QSTASH_TOKEN" "$QSTASH_URL/v2/workflows/logs?workflowRunId=wfr_1" | stuntdouble history - --out histories/order.json',
  ],
  run: async (given) => {
    const [file] = given._
    const history = await sentences(() => (file === undefined ? ofServer(given) : ofFile(file, given)))
    const written = `${JSON.stringify(history, undefined, 2)}\n`
    const out = textOf(given, 'out', 'FILE')
    if (out === undefined) process.stdout.write(written)
    else
      await writeFile(out, written).catch((error: Error) => {
        throw new UsageError(`--out ${out} cannot be written: ${error.message}.`)
      })
    process.stderr.write(consoleText(report(history)))
    return 0
  },
}

async function ofServer(given: ParsedArguments): Promise<RunHistory> {
  const runId = textOf(given, 'run', 'ID')
  if (runId === undefined)
    throw new UsageError(
      'history needs a FILE or --run ID. Pass a file, - for standard input, or the ID of a run on a running server.',
    )
  const asked = { ...given, url: given.server }
  await refuseUnknownTenant(asked)
  const sandbox = await connected(asked)
  const history = await sandbox.workflow
    .getRun(runId)
    .history({ secrets: given['include-secrets'] === true })
    .catch((error: Error) => {
      throw new UsageError(error.message)
    })
  // Check the history, because the program at this URL may not be a server of stuntdouble.
  return parseRunHistory(history, sourceOf(given))
}

async function ofFile(file: string, given: ParsedArguments): Promise<RunHistory> {
  return parseRunHistory(await readText(file, maxRun), sourceOf(given))
}

/** Converts the error of an invalid history to a usage error. */
async function sentences<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RunHistoryError) throw new UsageError(plainText(error.message))
    throw error
  }
}

function sourceOf(given: ParsedArguments): HistorySource {
  const url = textOf(given, 'url', 'URL')
  const runId = textOf(given, 'run', 'ID')
  const createdAt = textOf(given, 'created-at', 'ISO')
  const headers = given.header as readonly string[]
  return {
    secrets: given['include-secrets'] === true,
    ...(url !== undefined && { url }),
    ...(runId !== undefined && { runId }),
    ...(createdAt !== undefined && { createdAt }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(headerOf)) }),
  }
}

function headerOf(given: string): readonly [string, string] {
  const colon = given.indexOf(':')
  if (colon > 0) return [given.slice(0, colon).trim().toLowerCase(), given.slice(colon + 1).trim()]
  throw new UsageError(`--header must be NAME:VALUE, such as --header x-user:u1 (got ${JSON.stringify(given)}).`)
}

/** Describes the saved history and what is missing in it. The text contains no value of the history. */
function report({ runId, url, state, entries, missing = [] }: RunHistory): string {
  const about = `${plainText(runId)} of ${plainText(url)}: ${state}, ${entries.length === 1 ? '1 entry' : `${entries.length} entries`}`
  const lines = [about, ...missing.map((sentence) => `missing: ${plainText(sentence)}`)]
  lines.push('The history contains the payload and all results unchanged. Check it before you commit it.')
  return `${lines.join('\n')}\n`
}
