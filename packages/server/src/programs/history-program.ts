import { writeFile } from 'node:fs/promises'
import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { consoleText, plainText } from '../../../../src/report/safe-text.js'
import { RunHistoryError } from '../../../../src/workflow/history-file.js'
import { type HistorySource, parseRunHistory } from '../../../../src/workflow/history-reading.js'
import type { RunHistory } from '../../../../src/workflow/run-history.js'
import { controlTokenVariable } from '../config.js'
import { readText } from '../text-file.js'
import { connected, refuseUnknownTenant } from './env-program.js'

/** Bytes of a run: a list whose payload and results are as large as the service lets them be. */
export const maxRun = 67_108_864

export const program: Program = {
  args: {
    run: { type: 'string', valueHint: 'ID', description: 'which run: of a running server, or of a log with several' },
    url: {
      type: 'string',
      valueHint: 'URL',
      description: 'endpoint of the workflow, which a list of steps does not tell',
    },
    header: {
      type: 'string',
      valueHint: 'NAME:VALUE',
      description: 'a header that the trigger forwards; may be given several times',
    },
    'created-at': { type: 'string', valueHint: 'ISO', description: 'when the run began, which a list does not tell' },
    out: { type: 'string', valueHint: 'FILE', description: 'file for the history; standard output without it' },
    'include-secrets': {
      type: 'boolean',
      description: 'also write headers that look like secrets, and what the trigger redacts',
    },
    server: {
      type: 'string',
      valueHint: 'URL',
      default: 'http://127.0.0.1:4010',
      description: 'the running server, where no file is given',
    },
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'whose run' },
    'control-token': {
      type: 'string',
      valueHint: 'T',
      description: `token that the server asks other machines for, also as ${controlTokenVariable}`,
    },
  },
  operands: { hint: '[FILE]', least: 0, most: 1 },
  repeated: ['header'],
  examples: [
    'stuntdouble history --run wfr_1 > histories/order.json   # from stuntdouble serve',
    'curl -H "Authorization: Bearer $QSTASH_TOKEN" "$QSTASH_URL/v2/workflows/runs/wfr_1" | stuntdouble history - --url https://app.test/api/order > histories/order.json',
    'stuntdouble history steps.json --url https://app.test/api/order --header x-user:u1 --out histories/order.json',
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
        throw new UsageError(`${out} cannot be written: ${error.message}.`)
      })
    process.stderr.write(consoleText(report(history)))
    return 0
  },
}

async function ofServer(given: ParsedArguments): Promise<RunHistory> {
  const runId = textOf(given, 'run', 'ID')
  if (runId === undefined)
    throw new UsageError('history needs a file, - for the standard input, or --run ID for a run of a running server.')
  const asked = { ...given, url: given.server }
  await refuseUnknownTenant(asked)
  const sandbox = await connected(asked)
  const history = await sandbox.workflow
    .getRun(runId)
    .history({ secrets: given['include-secrets'] === true })
    .catch((error: Error) => {
      throw new UsageError(error.message)
    })
  // What answers may be no server of ours.
  return parseRunHistory(history, sourceOf(given))
}

async function ofFile(file: string, given: ParsedArguments): Promise<RunHistory> {
  return parseRunHistory(await readText(file, maxRun), sourceOf(given))
}

/** What is wrong with a run is a sentence, whoever gave it. */
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
  throw new UsageError(`--header is NAME:VALUE, as --header x-user:u1; not ${JSON.stringify(given)}.`)
}

/** What was taken, and what is not there. It shows no value. */
function report({ runId, url, state, entries, missing = [] }: RunHistory): string {
  const about = `${plainText(runId)} of ${plainText(url)}: ${state}, ${entries.length === 1 ? '1 entry' : `${entries.length} entries`}`
  const lines = [about, ...missing.map((sentence) => `missing: ${plainText(sentence)}`)]
  lines.push('Payload and results are in it as they are: look through it before you commit it.')
  return `${lines.join('\n')}\n`
}
