import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import {
  type DriftDestination,
  type DriftPlan,
  type DriftReport,
  drift,
  exitCode,
  LocalDestination,
  planOf,
  queueTokenVariable,
  RealSide,
  readOnlyTokenVariable,
  recordText,
  reportText,
  tokenVariable,
} from '@stuntdouble/drift'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import { plural } from '../../../../src/kernel/plural.js'
import { type Dialect, dialectNames } from '../../../../src/protocol/dialect.js'
import { plainText } from '../../../../src/report/safe-text.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import { readScenarioFile } from '../tenant-scenario/scenario-file.js'
import { scenarioFile } from '../tenant-scenario/shipped-scenario.js'
import { readText } from '../text-file.js'

export const program: Program = {
  args: {
    url: {
      type: 'string',
      valueHint: 'URL',
      description: `REST URL of a real store; token in ${tokenVariable}`,
    },
    queue: {
      type: 'string',
      valueHint: 'URL',
      description: `URL of a real queue; token in ${queueTokenVariable}`,
    },
    endpoint: {
      type: 'string',
      valueHint: 'URL',
      description: 'your URL that the queue delivers to, as docs/drift.md describes',
    },
    listen: {
      type: 'string',
      valueHint: 'PORT',
      description: 'local port behind --endpoint, to compare deliveries, too',
    },
    dialect: {
      type: 'string',
      valueHint: dialectNames.join('|'),
      default: 'upstash',
      description: 'dialect of the real service',
    },
    against: {
      type: 'string',
      valueHint: 'service|redis',
      default: 'service',
      description: 'known differences to accept: of the service or of a redis-server',
    },
    scenario: {
      type: 'string',
      valueHint: 'FILE',
      description: 'scenario whose store steps replace the built-in cases; repeatable',
    },
    only: { type: 'string', valueHint: 'TEXT', description: 'only cases whose names contain this text' },
    yes: { type: 'boolean', description: 'start without a question; required without a terminal' },
    record: {
      type: 'string',
      valueHint: 'FILE',
      description: 'save the differences, without tokens and hosts',
    },
  },
  repeated: ['scenario'],
  notes: () => ({
    title: 'Tokens in the environment',
    lines: [tokenVariable, `${readOnlyTokenVariable} (optional)`, queueTokenVariable],
  }),
  examples: [
    `${tokenVariable}=… stuntdouble drift --url https://….example`,
    'stuntdouble drift --url "$URL" --scenario test/scenarios/cart.yaml',
    'stuntdouble drift --url "$URL" --only "sorted set" --yes --record drift.json',
    `${queueTokenVariable}=… stuntdouble drift --queue https://….example --endpoint https://tunnel.example/hook --listen 8787`,
  ],
  run: async (given) => {
    const plan = planOf(given, process.env, await scenariosOf(given))
    for (const line of plan.introduction) console.log(plainText(line))
    await agree(given)
    await knock(plan)
    const done = await compared(plan)
    const outcome = { ...done, leftOut: [...plan.leftOut, ...done.leftOut] }
    console.log(`\n${reportText(outcome, plan.hide)}`)
    for (const line of outcome.remains) console.error(plainText(`stuntdouble: could not delete ${plan.hide(line)}`))
    if (outcome.remains.length > 0) console.error(plainText(howToRemove(plan)))
    const file = textOf(given, 'record', 'FILE')
    if (file !== undefined) await record(file, outcome, plan)
    return exitCode(outcome)
  },
}

async function scenariosOf(given: ParsedArguments): Promise<readonly Scenario[]> {
  const words = given.scenario as readonly string[]
  if (words.includes('')) throw new UsageError('--scenario needs a value. Write --scenario FILE.')
  const files = words.map(scenarioFile)
  return Promise.all(files.map(async (file) => readScenarioFile(await readText(file), file).scenario))
}

/** Asks the user before the first request is sent. @throws UsageError when the user declines */
async function agree(given: ParsedArguments): Promise<void> {
  if (given.yes === true) return
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError(
      'drift needs a terminal to ask before it sends requests. Add --yes to start without the question.',
    )
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await asking.question('Continue? [y/N] ')
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new UsageError('drift was declined, and no request was sent.')
  } finally {
    asking.close()
  }
}

/** Sends a harmless request to check the token. @throws UsageError when the service rejects it */
async function knock({ connection, prefix, has, hide }: DriftPlan): Promise<void> {
  const [ask, variable] = has.has('store')
    ? ([{ service: 'store', method: 'GET', path: '/ping' }, tokenVariable] as const)
    : ([{ service: 'queue', method: 'GET', path: '/v2/queues' }, queueTokenVariable] as const)
  const { status, body } = await new RealSide(prefix, connection, undefined).ask(ask).catch((error: Error) => {
    throw new UsageError(`drift: the request to the service failed: ${hide(error.message)}.`)
  })
  if (status === 401 || status === 403)
    throw new UsageError(
      `${variable}: the service rejected the token with status ${status}. Check that the token belongs to this URL.`,
    )
  if ((status >= 300 && status < 400) || parsedJson(body) === undefined)
    throw new UsageError(
      `${has.has('store') ? '--url is not the URL of a store' : '--queue is not the URL of a queue'}: ${ask.method} ${ask.path} returned status ${status} without JSON. Check the URL; nothing was created.`,
    )
}

/**
 * Runs the comparison. Ctrl-C stops the comparison, and everything that it has created is removed. A second Ctrl-C ends
 * the process immediately.
 */
async function compared({
  cases,
  connection,
  dialect,
  prefix,
  has,
  against,
  endpoint: where,
}: DriftPlan): Promise<DriftReport> {
  const endpoint = where && (await openEndpoint(where, dialect))
  let interrupts = 0
  const interrupt = (): void => {
    interrupts++
    if (interrupts === 1) {
      console.error(
        'stuntdouble: interrupted; removing everything that was created. Press Ctrl-C again to end without removing anything more.',
      )
      connection.interrupt()
    } else {
      console.error(`stuntdouble: ended immediately. Names that begin with ${prefix} may remain.`)
      process.exit(2)
    }
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  try {
    return await drift({
      ...{ cases, connection, dialect, prefix, has, endpoint, against },
      onCase: (name, index) => showProgress(`${index + 1} of ${cases.length}: ${name}`),
    })
  } finally {
    endpoint?.close()
    showProgress('')
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
  }
}

/**
 * Opens the endpoint, and checks that it returns the requested status.
 * @throws UsageError if it returns another status or does not respond
 */
async function openEndpoint(
  { url, port }: NonNullable<DriftPlan['endpoint']>,
  dialect: Dialect,
): Promise<DriftDestination & { close(): void }> {
  const endpoint =
    port === undefined
      ? { url, deliveries: () => [], close: () => {} }
      : await LocalDestination.open(url, port, dialect).catch((error: Error) => {
          throw new UsageError(`--listen ${port} failed: ${error.message}.`)
        })
  const wrong = await wrongWithEndpoint(url)
  if (wrong === undefined) return endpoint
  endpoint.close()
  throw new UsageError(wrong)
}

/**
 * Requests a status from the endpoint, as a delivery does. Returns an error message, or `undefined` if the endpoint
 * responds with this status.
 */
async function wrongWithEndpoint(url: string): Promise<string | undefined> {
  try {
    const asked = await fetch(`${url}?status=503`, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(15_000),
    })
    if (asked.status === 503) return undefined
    return `--endpoint returned status ${asked.status} for ?status=503. Make the endpoint respond with the status in its query.`
  } catch (error) {
    return `--endpoint does not respond: ${(error as Error).message}.`
  }
}

function showProgress(line: string): void {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${plainText(line).slice(0, (process.stderr.columns ?? 80) - 1)}`)
}

function howToRemove({ prefix }: DriftPlan): string {
  return `stuntdouble: to remove what is left, find names that begin with ${prefix}. In a store, repeat SCAN 0 MATCH ${prefix}* until the cursor is 0 and DEL every key; in a queue, check the lists of messages, queues, URL groups and schedules.`
}

async function record(file: string, outcome: DriftReport, { version, dialect, hide }: DriftPlan): Promise<void> {
  await writeFile(file, recordText(outcome, { version, dialect: dialect.name, hide })).catch((error: Error) => {
    throw new UsageError(`--record ${file} cannot be written: ${error.message}.`)
  })
  console.log('')
  console.log(
    plainText(
      `${plural(outcome.findings.length, 'difference')} recorded in ${file}. Check the file before you send it.`,
    ),
  )
}
