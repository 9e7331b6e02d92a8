import { utf8 } from '../kernel/bytes.js'
import type { HeaderList } from '../kernel/http.js'
import { timeOf, type UnknownRecord } from './history-file.js'
import { alwaysDefined, groupsIn, isDone, type LoggedStep, RebuiltRunLog, type StepGroup } from './rebuilt-list.js'
import { historyHead, type RunHistory, shownHeaders } from './run-history.js'

// The grouped log shows steps as people read them; here they become the list again that a delivery carries.
// [workflow.md 3.1, 5 to 10]

/** A run as `GET /v2/workflows/logs` shows it, as a history. What the log leaves out is told. */
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
      ? ['Headers that the trigger forwarded are not in the log. If code outside steps reads any, give them.']
      : []),
    ...headers.missing,
    ...(isTime(created) ? [] : ['When the run began is not in the log. If code outside steps reads it, give it.']),
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
    // What is not there may be the end.
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

/** Whether the log was asked for without bodies: results that must be there are not. */
function showsNothing(groups: readonly StepGroup[]): boolean {
  const steps = groups.flatMap((group) => group.steps)
  return (
    steps.every(({ out }) => out === undefined) &&
    steps.some((step) => alwaysDefined.has(step.stepType ?? '') && isDone(step) && step.waitTimeout !== true)
  )
}
