import { utf8 } from '../kernel/bytes.js'
import { type HeaderList, isHeader } from '../kernel/http.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import {
  checkedHistory,
  entryOf,
  fieldsOf,
  isEndpoint,
  isObject,
  kindOf,
  listHint,
  logHint,
  RunHistoryError,
  shown,
  someOf,
  timeOf,
  type UnknownRecord,
  whatToGive,
} from './history-file.js'
import { historyOfLog } from './history-of-log.js'
import { historyHead, type RunHistory, type RunHistoryOptions, shownHeaders } from './run-history.js'

/** What a file with a run does not say of itself. */
export interface HistorySource extends RunHistoryOptions {
  /** The endpoint of the workflow. */
  readonly url?: string
  /** What the trigger forwarded to it. */
  readonly headers?: Readonly<Record<string, string>>
  /** Which run of a log it is; the id of a run whose steps are given. */
  readonly runId?: string
  /** When the run began: milliseconds since the Unix epoch, or a date as ISO 8601 has it. */
  readonly createdAt?: number | string
}

/** The id of a run that nobody told. */
const unknownRun = 'wfr_unknown'
/**
 * The history of a run out of what the service says of it: the answer of `GET /v2/workflows/runs/{id}` while the run
 * lasts, of `GET /v2/workflows/logs?workflowRunId={id}` at any time, or a history that was written before.
 * @param json the answer, parsed or as text
 * @throws RunHistoryError for anything else, with what to do
 * @example const history = parseRunHistory(readFileSync('run.json', 'utf8'), { url: 'https://shop.test/api/order' })
 */
export function parseRunHistory(json: unknown, source: HistorySource = {}): RunHistory {
  checkOptionNames('parseRunHistory()', source, {
    url: true,
    headers: true,
    runId: true,
    createdAt: true,
    secrets: true,
  })
  const given = typeof json === 'string' ? parsed(json) : json
  checkSource(source)
  if (Array.isArray(given))
    return given.length > 0 && isRun(given[0]) ? ofLog(given, '', source) : ofList(given, source)
  if (!isObject(given)) throw new RunHistoryError(`A run is a list or an object, not ${kindOf(given)}. ${whatToGive}`)
  if ('format' in given) return withSource(checkedHistory(given), source)
  if (Array.isArray(given.runs)) return ofLog(given.runs, textOf(given.cursor), source)
  if (isRun(given)) return ofLog([given], '', source)
  if (Array.isArray(given.events))
    throw new RunHistoryError(
      `This is the flat log, which has no results. Ask for the grouped one: ${logHint}, or /v2/workflows/events?groupBy=workflowRunId.`,
    )
  if (typeof given.error === 'string') {
    throw new RunHistoryError(
      `The service answered with an error: ${given.error.slice(0, 200)}. ${listHint} knows a run while it lasts; of one that has ended take the log: ${logHint}.`,
    )
  }
  throw new RunHistoryError(`This is no run: its fields are ${fieldsOf(given)}. ${whatToGive}`)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new RunHistoryError(
      json.trim() === ''
        ? `There is nothing in it. ${whatToGive}`
        : `It is not JSON: ${(error as Error).message}. ${whatToGive}`,
    )
  }
}

type LoggedRun = UnknownRecord & { readonly steps: readonly unknown[]; readonly workflowRunId: string }

function isRun(given: unknown): given is LoggedRun {
  return isObject(given) && Array.isArray(given.steps) && typeof given.workflowRunId === 'string'
}

function textOf(given: unknown): string {
  return typeof given === 'string' ? given : ''
}

function checkSource({ url, headers = {}, runId, createdAt }: HistorySource): void {
  if (url !== undefined && !isEndpoint(url))
    throw new RunHistoryError(
      `The url is that of the workflow's endpoint, as https://app.test/api/order; not ${shown(url)}.`,
    )
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && isHeader(name, utf8(value))) continue
    throw new RunHistoryError(`${shown(name)} with ${shown(value)} is no header. Give { 'x-user': 'u1' }.`)
  }
  if (runId !== undefined && (typeof runId !== 'string' || !/^[\x21-\x7e]{1,500}$/.test(runId)))
    throw new RunHistoryError(`${shown(runId)} is no id of a run.`)
  if (createdAt !== undefined && timeOf(createdAt) === undefined)
    throw new RunHistoryError(
      `createdAt is milliseconds or a date such as 2030-01-31T09:00:00Z, not ${shown(createdAt)}.`,
    )
}

/** Values of headers are bytes. */
function asBytes(headers: Readonly<Record<string, string>> = {}): HeaderList {
  return Object.entries(headers).map(([name, value]) => [name, utf8(value)])
}

/** The list of a run that lasts. It says nothing of the run itself. */
function ofList(
  list: readonly unknown[],
  { url, headers, runId, createdAt, secrets = false }: HistorySource,
): RunHistory {
  if (list.length === 0)
    throw new RunHistoryError(`The list is empty: the run has no steps, or has ended. ${whatToGive}`)
  if (url === undefined)
    throw new RunHistoryError(
      'The steps of a run do not tell its endpoint: give the url, as --url https://app.test/api/order or { url }.',
    )
  const entries = list.map(entryOf)
  const time = timeOf(createdAt)
  const { headers: shownOnes, missing: hiddenOnes } = shownHeaders(asBytes(headers), secrets)
  const unread = entries.flatMap(({ unknown }, at) => (unknown === undefined ? [] : [`entry ${at + 1}`]))
  const missing = [
    ...(unread.length > 0 ? [`What cannot be read, cut or redacted: ${someOf(unread)}.`] : []),
    ...(headers === undefined
      ? ['Headers that the trigger forwarded are not in the list. If code outside steps reads any, give them.']
      : []),
    ...hiddenOnes,
    ...(runId === undefined ? [`The id of the run is not in the list: it is replayed as ${unknownRun}.`] : []),
    ...(time === undefined
      ? ['When the run began is not in the list. If code outside steps reads it, give it as createdAt.']
      : []),
  ]
  return {
    ...historyHead,
    url,
    runId: runId ?? unknownRun,
    ...(time !== undefined && { createdAt: time }),
    headers: shownOnes,
    state: 'RUN_STARTED',
    entries,
    ...(missing.length > 0 && { missing }),
  }
}

function ofLog(runs: readonly unknown[], cursor: string, source: HistorySource): RunHistory {
  const found = runs.filter(isRun)
  const named = source.runId === undefined ? found : found.filter(({ workflowRunId }) => isNamed(workflowRunId, source))
  const more = cursor === '' ? '' : ` The log has more pages, the next at cursor=${cursor.slice(0, 80)}.`
  const ids = someOf([...new Set(found.map(({ workflowRunId }) => String(workflowRunId).slice(0, 80)))])
  if (named.length === 0) {
    throw new RunHistoryError(
      found.length === 0
        ? `The log has no run.${more} ${whatToGive}`
        : `The log has no run ${source.runId}; it has ${ids}.${more} Ask for it: ${logHint}.`,
    )
  }
  if (new Set(named.map(({ workflowRunId }) => workflowRunId)).size > 1)
    throw new RunHistoryError(`The log has several runs: ${ids}. Name one, as --run ID or { runId }.`)
  // One id may have been used twice; the log begins with the latest.
  return withSource(historyOfLog(named[0]!, source.secrets === true), source)
}

function isNamed(id: unknown, { runId }: HistorySource): boolean {
  return id === runId || id === `wfr_${runId}`
}

/** What is given beside a file goes before what it says. */
function withSource(
  history: RunHistory,
  { url = history.url, headers, runId, createdAt, secrets }: HistorySource,
): RunHistory {
  const told = headers && shownHeaders(asBytes(headers), secrets === true)
  const time = timeOf(createdAt) ?? history.createdAt
  const missing = [...(history.missing ?? []).filter((one) => told === undefined || !ofHeaders.test(one))]
  missing.push(...(told?.missing ?? []))
  const { missing: _, ...rest } = history
  if (url === '')
    throw new RunHistoryError(
      'The log does not tell the endpoint: give the url, as --url https://app.test/api/order or { url }.',
    )
  return {
    ...rest,
    url,
    ...(runId !== undefined && history.runId === unknownRun && { runId }),
    ...(time !== undefined && { createdAt: time }),
    ...(told && { headers: told.headers }),
    ...(missing.length > 0 && { missing }),
  }
}

/** Sentences about headers, which headers that are given later make void. */
const ofHeaders = /^(?:Headers that|The values? of the headers?) /
