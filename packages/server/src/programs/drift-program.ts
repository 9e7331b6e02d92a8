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
      description: `REST address of a real data store; its token is read from ${tokenVariable}, a read-only one from ${readOnlyTokenVariable}`,
    },
    queue: {
      type: 'string',
      valueHint: 'URL',
      description: `address of a real message queue; its token is read from ${queueTokenVariable}`,
    },
    endpoint: {
      type: 'string',
      valueHint: 'URL',
      description: 'where the queue delivers to: an address of yours that answers as the page on drift says',
    },
    listen: {
      type: 'string',
      valueHint: 'PORT',
      description:
        'answer there, at a port of this machine to which --endpoint leads: then deliveries are compared, too',
    },
    dialect: {
      type: 'string',
      valueHint: dialectNames.join('|'),
      default: 'upstash',
      description: 'words that the real service speaks',
    },
    against: {
      type: 'string',
      valueHint: 'service|redis',
      default: 'service',
      description: 'whose known differences have names: the service, or a redis-server behind its surface',
    },
    scenario: {
      type: 'string',
      valueHint: 'FILE',
      description: 'what a scenario does with the data store, instead of the contract; may be given several times',
    },
    only: { type: 'string', valueHint: 'TEXT', description: 'only the cases whose names contain this' },
    yes: { type: 'boolean', description: 'begin without asking, as where there is no terminal' },
    record: {
      type: 'string',
      valueHint: 'FILE',
      description: 'write what was found to a file that can be sent in: without tokens and hosts',
    },
  },
  repeated: ['scenario'],
  examples: [
    `${tokenVariable}=… stuntdouble drift --url https://….example`,
    `${queueTokenVariable}=… stuntdouble drift --queue https://….example --endpoint https://tunnel.example/hook --listen 8787`,
    'stuntdouble drift --url "$URL" --scenario test/scenarios/cart.yaml',
    'stuntdouble drift --url "$URL" --only "sorted set" --yes --record drift.json',
  ],
  run: async (given) => {
    const plan = planOf(given, process.env, await scenariosOf(given))
    for (const line of plan.introduction) console.log(plainText(line))
    await agree(given)
    await knock(plan)
    const done = await compared(plan)
    const outcome = { ...done, leftOut: [...plan.leftOut, ...done.leftOut] }
    console.log(`\n${reportText(outcome, plan.hide)}`)
    for (const line of outcome.remains) console.error(plainText(`stuntdouble: not removed: ${plan.hide(line)}`))
    if (outcome.remains.length > 0) console.error(plainText(howToRemove(plan)))
    const file = textOf(given, 'record', 'FILE')
    if (file !== undefined) await record(file, outcome, plan)
    return exitCode(outcome)
  },
}

async function scenariosOf(given: ParsedArguments): Promise<readonly Scenario[]> {
  const words = given.scenario as readonly string[]
  if (words.includes('')) throw new UsageError('--scenario needs a value: --scenario FILE.')
  const files = words.map(scenarioFile)
  return Promise.all(files.map(async (file) => readScenarioFile(await readText(file), file).scenario))
}

/** Asks before anything is sent. @throws UsageError unless it is agreed to */
async function agree(given: ParsedArguments): Promise<void> {
  if (given.yes === true) return
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError('Nothing was sent: there is no terminal to ask at. Give --yes if that is what you want.')
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await asking.question('Go on? [y/N] ')
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new UsageError('Nothing was sent.')
  } finally {
    asking.close()
  }
}

/** Asks for nothing, to see whether the token opens the door. @throws UsageError */
async function knock({ connection, prefix, has, hide }: DriftPlan): Promise<void> {
  const [ask, variable] = has.has('store')
    ? ([{ service: 'store', method: 'GET', path: '/ping' }, tokenVariable] as const)
    : ([{ service: 'queue', method: 'GET', path: '/v2/queues' }, queueTokenVariable] as const)
  const { status, body } = await new RealSide(prefix, connection, undefined).ask(ask).catch((error: Error) => {
    throw new UsageError(`The service cannot be asked: ${hide(error.message)}.`)
  })
  if (status === 401 || status === 403)
    throw new UsageError(
      `The service refuses the token in ${variable} with ${status}: look whether it is that of this url.`,
    )
  if ((status >= 300 && status < 400) || parsedJson(body) === undefined)
    throw new UsageError(
      `What answers there is no ${has.has('store') ? 'data store' : 'message queue'}: it answered ${ask.method} ${ask.path} with ${status} and without JSON. Nothing was made; look whether the url is right.`,
    )
}

/** The run, which Ctrl-C ends: what was made is taken back then, too. A second one ends at once. */
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
      console.error('stuntdouble: interrupted; what was made is being removed. Once more, and it stays.')
      connection.interrupt()
    } else {
      console.error(`stuntdouble: ended at once. Names that begin with ${prefix} may be left.`)
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

/** The endpoint, once it does what is asked of it. @throws UsageError */
async function openEndpoint(
  { url, port }: NonNullable<DriftPlan['endpoint']>,
  dialect: Dialect,
): Promise<DriftDestination & { close(): void }> {
  const endpoint =
    port === undefined
      ? { url, deliveries: () => [], close: () => {} }
      : await LocalDestination.open(url, port, dialect).catch((error: Error) => {
          throw new UsageError(`Port ${port} cannot be listened at: ${error.message}.`)
        })
  const wrong = await wrongWithEndpoint(url)
  if (wrong === undefined) return endpoint
  endpoint.close()
  throw new UsageError(wrong)
}

/** Asks the endpoint for a status, as a delivery would. */
async function wrongWithEndpoint(url: string): Promise<string | undefined> {
  try {
    const asked = await fetch(`${url}?status=503`, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(15_000),
    })
    if (asked.status === 503) return undefined
    return `The endpoint answered ${asked.status} to ?status=503, and not 503: let it answer the status that its query names.`
  } catch (error) {
    return `The endpoint does not answer: ${(error as Error).message}.`
  }
}

/** For people only: a pipe stays quiet. */
function showProgress(line: string): void {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${plainText(line).slice(0, (process.stderr.columns ?? 80) - 1)}`)
}

function howToRemove({ prefix }: DriftPlan): string {
  return `stuntdouble: to remove it, look for names that begin with ${prefix}: in a database SCAN 0 MATCH ${prefix}* until the cursor is 0, and DEL what it tells; in a queue the lists of messages, queues, groups and schedules.`
}

async function record(file: string, outcome: DriftReport, { version, dialect, hide }: DriftPlan): Promise<void> {
  await writeFile(file, recordText(outcome, { version, dialect: dialect.name, hide })).catch((error: Error) => {
    throw new UsageError(`${file} cannot be written: ${error.message}.`)
  })
  console.log('')
  console.log(
    plainText(
      `${plural(outcome.findings.length, 'difference')} recorded in ${file}. Look through it before you send it in.`,
    ),
  )
}
