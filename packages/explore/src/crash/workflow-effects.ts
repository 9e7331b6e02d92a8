import { AddressPattern } from '../../../../src/kernel/address-pattern.js'
import { latin1, text } from '../../../../src/kernel/bytes.js'
import { headerOf } from '../../../../src/kernel/http.js'
import { portableString } from '../../../../src/kernel/portable.js'
import type { Message } from '../../../../src/queue/message/message.js'
import { workflowsOf } from '../../../../src/workflow/workflow-internals.js'
import type { WorkflowRunState } from '../../../../src/workflow/workflow-run.js'
import { differences, type EffectOptions, type Effects, storeEffects } from '../delivery/delivery-effects.js'
import type { CrashRun } from './crash-run.js'

export interface WorkflowEffects extends Effects {
  /** End of each workflow run. The key is a name of the run that is the same in every crash plan. */
  readonly runs: ReadonlyMap<string, string>
}

/**
 * Effects of an app's runs that other systems can see: the data store, the end of each run, the app's own messages, and
 * outbound requests. Requests with the same idempotency key count once.
 */
export function workflowEffects({ sandbox, calls }: CrashRun, options: EffectOptions): WorkflowEffects {
  const silent = (options.ignoreOutbound ?? []).map((pattern) => new AddressPattern(pattern))
  const heard = (url: string): boolean => !silent.some((pattern) => pattern.matches(url))
  const outgoing: string[] = []
  const keyed = new Set<string>()
  const add = (effect: string, key: string | undefined): void => {
    if (key !== undefined && keyed.has(`${effect} ${key}`)) return
    if (key !== undefined) keyed.add(`${effect} ${key}`)
    outgoing.push(key === undefined ? effect : `${effect} (${key})`)
  }
  const runs = workflowsOf(sandbox.workflow).records.select({}).items
  const ofRuns = new Set(runs.flatMap(messagesOf))
  for (const entry of sandbox.traffic.ofType('published')) {
    const { kind, deduplicated, url, method, body, deduplicationId, messageId } = entry
    if (kind !== 'message' || deduplicated || !heard(url) || ofRuns.has(messageId)) continue
    add(`message ${method} ${url} ${shown(body)}`, deduplicationId)
  }
  for (const run of runs) {
    for (const { message, callType } of run.entries)
      if (callType === 'toCallback' && heard(message.url))
        for (let times = attemptsOf(message); times > 0; times--) add(callText(message), idempotencyKeyOf(message))
  }
  for (const { method, url, body, idempotencyKey } of calls)
    if (heard(url)) add(`call ${method} ${url} ${JSON.stringify(body)}`, idempotencyKey)
  const store = storeEffects(sandbox, { ...options, streamIds: false })
  return { store, outgoing: outgoing.sort(), runs: runsByName(runs) }
}

export function workflowDifferences(now: WorkflowEffects, once: WorkflowEffects): string[] {
  const told = differences(now, once)
  for (const [run, ending] of now.runs) {
    const before = once.runs.get(run)
    if (before !== ending) told.push(`${run} ${ending}, without faults ${before ?? 'it does not exist'}`)
  }
  for (const [run, ending] of once.runs)
    if (!now.runs.has(run)) told.push(`${run} did not begin, without faults it ${ending}`)
  return told
}

function runsByName(runs: readonly WorkflowRunState[]): Map<string, string> {
  const named = new Map<string, string>()
  for (const run of runs) {
    const name = `the run of ${run.url} ${run.payload === '' ? '' : shown(run.payload)}`.trim()
    let each = name
    for (let nth = 2; named.has(each); nth++) each = `${name} (${nth})`
    named.set(each, endingOf(run))
  }
  return named
}

function messagesOf({ entries, failureFunction }: WorkflowRunState): string[] {
  const messages = entries.map(({ message }) => message.id)
  return failureFunction === undefined ? messages : [...messages, failureFunction.id]
}

/** Returns the number of requests that an external host received, including failed attempts. */
function attemptsOf({ state, retried }: Message): number {
  return state === 'CREATED' ? 0 : retried + 1
}

function callText({ method, url, body }: Message): string {
  return `call ${method} ${url} ${shown(body)}`
}

function idempotencyKeyOf({ headers }: Message): string | undefined {
  return headerOf(headers, 'idempotency-key')
}

function endingOf({ state, result }: WorkflowRunState): string {
  if (state === 'RUN_STARTED') return 'has not ended'
  const returned = result === undefined || result === '' ? '' : ` with ${text(result)}`
  return `ended ${state}${returned}`
}

function shown(body: Message['body']): string {
  return JSON.stringify(portableString(latin1(body)))
}
