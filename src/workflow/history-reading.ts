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

/** Facts about a run, for input that does not contain them. */
export interface HistorySource extends RunHistoryOptions {
  /** URL of the workflow's endpoint. */
  readonly url?: string
  /** Headers that the trigger forwarded to the endpoint. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * ID of the run. If the input is a log, the ID selects one of its runs. If the input contains only steps, this option
   * provides the ID that the input lacks.
   */
  readonly runId?: string
  /** Creation time of the run: milliseconds since the Unix epoch, or an ISO 8601 date. */
  readonly createdAt?: number | string
}

/** ID that a run gets if neither the input nor the options contain one. */
const unknownRun = 'wfr_unknown'
/**
 * Parses a workflow run from a response of the service, for `replay()`.
 * Accepts the response of `GET /v2/workflows/runs/{id}` while the run lasts, of `GET
 * /v2/workflows/logs?workflowRunId={id}` at any time, or a saved run history.
 * @param json the response, parsed or as text
 * @throws RunHistoryError when `json` is anything else; the message names the accepted input
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
  if (!isObject(given))
    throw new RunHistoryError(`A workflow run must be a list or an object (got ${kindOf(given)}). ${whatToGive}`)
  if ('format' in given) return withSource(checkedHistory(given), source)
  if (Array.isArray(given.runs)) return ofLog(given.runs, textOf(given.cursor), source)
  if (isRun(given)) return ofLog([given], '', source)
  if (Array.isArray(given.events))
    throw new RunHistoryError(
      `This is the flat log, which has no results. Request the grouped log: ${logHint}, or /v2/workflows/events?groupBy=workflowRunId.`,
    )
  if (typeof given.error === 'string') {
    throw new RunHistoryError(
      `The service responded with an error: ${given.error.slice(0, 200)}. ${listHint} finds a run only while it lasts; for an ended run use the log: ${logHint}.`,
    )
  }
  throw new RunHistoryError(`This is not a workflow run (its fields are ${fieldsOf(given)}). ${whatToGive}`)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new RunHistoryError(
      json.trim() === ''
        ? `The input is empty. ${whatToGive}`
        : `The input is not JSON: ${(error as Error).message}. ${whatToGive}`,
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
      `url must be the endpoint of the workflow, such as https://app.test/api/order (got ${shown(url)}).`,
    )
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && isHeader(name, utf8(value))) continue
    throw new RunHistoryError(
      `headers: ${shown(name)} with value ${shown(value)} is not a valid header. Use { 'x-user': 'u1' }.`,
    )
  }
  if (runId !== undefined && (typeof runId !== 'string' || !/^[\x21-\x7e]{1,500}$/.test(runId)))
    throw new RunHistoryError(
      `runId must be the ID of a run: printable characters without spaces (got ${shown(runId)}).`,
    )
  if (createdAt !== undefined && timeOf(createdAt) === undefined)
    throw new RunHistoryError(
      `createdAt must be milliseconds or a date such as 2030-01-31T09:00:00Z (got ${shown(createdAt)}).`,
    )
}

/** Encodes header values as strings with one character per byte. */
function asBytes(headers: Readonly<Record<string, string>> = {}): HeaderList {
  return Object.entries(headers).map(([name, value]) => [name, utf8(value)])
}

/** Converts the list of a run that has not ended. The list contains only the run's steps. */
function ofList(
  list: readonly unknown[],
  { url, headers, runId, createdAt, secrets = false }: HistorySource,
): RunHistory {
  if (list.length === 0)
    throw new RunHistoryError(`The list is empty: the run has no steps or has ended. ${whatToGive}`)
  if (url === undefined)
    throw new RunHistoryError(
      'The steps of a run do not contain its endpoint. Set the URL with --url https://app.test/api/order or { url }.',
    )
  const entries = list.map(entryOf)
  const time = timeOf(createdAt)
  const { headers: shownOnes, missing: hiddenOnes } = shownHeaders(asBytes(headers), secrets)
  const unread = entries.flatMap(({ unknown }, at) => (unknown === undefined ? [] : [`entry ${at + 1}`]))
  const missing = [
    ...(unread.length > 0 ? [`Unreadable, truncated or redacted: ${someOf(unread)}.`] : []),
    ...(headers === undefined
      ? ['Headers that the trigger forwarded are not in the list. Provide them if code outside steps reads any.']
      : []),
    ...hiddenOnes,
    ...(runId === undefined ? [`The ID of the run is not in the list: it is replayed as ${unknownRun}.`] : []),
    ...(time === undefined
      ? ['The creation time of the run is not in the list. Set createdAt if code outside steps reads it.']
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
        ? `The log contains no run.${more} ${whatToGive}`
        : `The log does not contain run ${source.runId}, only ${ids}.${more} Request it: ${logHint}.`,
    )
  }
  if (new Set(named.map(({ workflowRunId }) => workflowRunId)).size > 1)
    throw new RunHistoryError(`The log contains several runs: ${ids}. Select one with --run ID or { runId }.`)
  // Two runs may have the same ID. The log begins with the latest run, so the first match is the right one.
  return withSource(historyOfLog(named[0]!, source.secrets === true), source)
}

function isNamed(id: unknown, { runId }: HistorySource): boolean {
  return id === runId || id === `wfr_${runId}`
}

/** Adds facts from the caller to a run history. They replace the facts in the file. */
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
      'The log does not contain the endpoint. Set the URL with --url https://app.test/api/order or { url }.',
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

/** Matches messages about missing headers. They are removed if the caller provides headers. */
const ofHeaders = /^(?:Headers that|The values? of the headers?) /
