import type { RecordQuery } from '../kernel/indexed-records.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import { type FilterRules, type QueryValues, readCancel, readFilters } from '../queue/message/message-filters.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import { hostsOf, pathOf } from '../queue/settings/url.js'
import type { VendorRunState, WorkflowRunState } from './workflow-run.js'

/** Filters by facts that never change during a run. An index supports them. [workflow.md 1] */
const indexed = ['workflowRunId', 'workflowCreatedAt', 'label', 'callerIp', 'flowControlKey']
const states: readonly VendorRunState[] = ['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED']

/** Page size of an endpoint, and those of its query parameters that are not filters. */
export type RunRules = Pick<FilterRules, 'defaultCount' | 'maxCount' | 'order' | 'others'>

/** Parses the filters of a request. @throws Refusal 400 */
export function readRunFilters(
  query: QueryValues,
  rules: RunRules,
  urlIsPrefix: boolean,
): RecordQuery<WorkflowRunState> {
  const selection = readFilters<WorkflowRunState>(query, {
    ...rules,
    filters: indexed,
    others: [...(rules.others ?? []), 'workflowUrl', 'workflowUrlExactMatch', 'state', 'host', 'path', 'messageId'],
  })
  const tests = [byUrl(query, urlIsPrefix), byState(query), byPlace(query), byMessage(query)].filter(
    (test) => test !== undefined,
  )
  return { ...selection, only: (run) => tests.every((test) => test(run)) }
}

/** Maximum number of runs that one request can cancel if `count` is honored; also the default. [workflow.md 1] */
const canceledAtOnce = 100

/** Parses the filters of a cancel of runs. It selects only runs that have not ended. @throws Refusal 400 */
export function readRunCancel(
  query: QueryValues,
  policy: Pick<ResolvedPolicy, 'cancelCount'>,
): RecordQuery<WorkflowRunState> {
  const rules = { defaultCount: canceledAtOnce, maxCount: canceledAtOnce, others: ['async'] }
  const { only, ...wanted } = readCancel(query, policy, (given) => readRunFilters(given, rules, true))
  return { ...wanted, only: (run) => run.isStarted && only!(run) }
}

type RunTest = (run: WorkflowRunState) => boolean

function byUrl(query: QueryValues, isPrefix: boolean): RunTest | undefined {
  const urls = query.get('workflowUrl')
  if (urls === undefined || urls.length === 0) return undefined
  const exact = !isPrefix || query.get('workflowUrlExactMatch')?.[0] === 'true'
  return ({ url }) => urls.some((wanted) => (exact ? url === wanted : url.startsWith(wanted)))
}

function byState(query: QueryValues): RunTest | undefined {
  const wanted = query.get('state')?.flatMap((value) => value.split(','))
  if (wanted === undefined || wanted.length === 0) return undefined
  const unknown = wanted.find((state) => !states.includes(state as VendorRunState))
  if (unknown !== undefined) throw refusals.invalid('state', `${JSON.stringify(unknown)} is not a state`)
  return ({ state }) => wanted.includes(state)
}

function byPlace(query: QueryValues): RunTest | undefined {
  const [hosts, paths] = [query.get('host'), query.get('path')]
  if (hosts === undefined && paths === undefined) return undefined
  return ({ url }) =>
    (hosts === undefined || hostsOf(url).some((host) => hosts.includes(host))) &&
    (paths === undefined || paths.includes(pathOf(url) ?? ''))
}

function byMessage(query: QueryValues): RunTest | undefined {
  const ids = query.get('messageId')
  if (ids === undefined) return undefined
  return ({ entries }) => entries.some(({ message }) => ids.includes(message.id))
}
