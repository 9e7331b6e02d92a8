import { utf8 } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import { timeOf, type UnknownRecord } from './history-file.js'
import { alwaysDefined, groupsIn, isDone, type LoggedStep, RebuiltRunLog, type StepGroup } from './rebuilt-list.js'
import { historyHead, type RunHistory, shownHeaders } from './run-history.js'

// The log that the API groups by run shows steps for people. This module reconstructs from it the list of entries that
// a delivery contains. [workflow.md 3.1, 5 to 10]

/**
 * Converts a run from `GET /v2/workflows/logs` to a run history. The field `missing` lists what the log does not
 * contain.
 */
export function historyOfLog(run: UnknownRecord, secrets: boolean): RunHistory {
  const groups = groupsIn(run.steps)
  const [first] = groups
  const init = first?.steps[0]?.stepType === 'Initial' ? first.steps[0] : undefined
  const list = new RebuiltRunLog(init === undefined || showsNothing(groups))
  list.begin(init)
  let isWhole = true
  for (const group of init === undefined ? groups : groups.slice(1)) {
    isWhole = group.type === 'next' ? isWhole : list.add(group)
    if (!isWhole) break
  }
  const headers = shownHeaders(listed(init?.headers), secrets)
  const created = run.workflowRunCreatedAt
  const state = typeof run.workflowState === 'string' ? run.workflowState : 'RUN_STARTED'
  const missing = [
    ...list.missing(),
    ...(init?.headers === undefined
      ? ['Headers that the trigger forwarded are not in the log. Provide them if code outside steps reads any.']
      : []),
    ...headers.missing,
    ...(isTime(created)
      ? []
      : ['The creation time of the run is not in the log. Provide it if code outside steps reads it.']),
  ]
  return {
    ...historyHead,
    url: typeof run.workflowUrl === 'string' && URL.canParse(run.workflowUrl) ? run.workflowUrl : '',
    runId:
      String(run.workflowRunId)
        .slice(0, 500)
        .replace(/[^\x21-\x7e]/g, '_') || 'wfr_unknown',
    ...(isTime(created) && { createdAt: created }),
    headers: headers.headers,
    // If the list is incomplete, the end of the run may be missing. So the run counts as still running.
    state: isWhole ? state : 'RUN_STARTED',
    entries: list.entries,
    ...(list.open !== undefined && { open: list.open }),
    ...(missing.length > 0 && { missing }),
  }
}

function isTime(given: unknown): given is number {
  return typeof given === 'number' && timeOf(given) === given
}

function listed(headers: LoggedStep['headers'] = {}): HeaderList {
  return Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, utf8(value)] as const),
  )
}

/**
 * Returns whether the log was requested without bodies. A log without bodies lacks even results that a step always has.
 */
function showsNothing(groups: readonly StepGroup[]): boolean {
  const steps = groups.flatMap((group) => group.steps)
  return (
    steps.every(({ out }) => out === undefined) &&
    steps.some((step) => alwaysDefined.has(step.stepType ?? '') && isDone(step) && step.waitTimeout !== true)
  )
}
