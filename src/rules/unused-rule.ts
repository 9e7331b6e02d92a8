import type { FaultRule } from '../faults/fault.js'
import type { InjectionPoint } from '../faults/points.js'
import { plural } from '../kernel/plural.js'

/** What is known of a rule that was never injected. */
export interface UnusedRule {
  readonly rule: FaultRule
  readonly points: readonly InjectionPoint[]
  /** All that it wants, what its fault asks for included. */
  readonly match: object
  /** `file:line:column` of the code that added it, `''` when unknown. */
  readonly line: string
  /** How often its points were reached since. */
  readonly reached: number
  /** How often it matched, but for its counters. */
  readonly matched: number
  /** How often it would have matched, if a rule before it had not answered. */
  readonly preceded: number
  /** Whether a service was down meanwhile: what it turned away reached no point. */
  readonly wasDown: boolean
}

interface Words {
  readonly one: string
  readonly many: string
  /** What happens to it: `was made`. */
  readonly happens: string
  /** Why there may be none. */
  readonly none: string
}

const moveTime = 'time has not moved (await clock.drain())'

const words: Readonly<Record<InjectionPoint, Words>> = {
  'store.request': {
    one: 'store request',
    many: 'store requests',
    happens: 'made',
    none: 'the app skipped the store (a cache? another client?)',
  },
  'store.command': {
    one: 'command of the app',
    many: 'commands of the app',
    happens: 'run',
    none: 'the app skipped the store (a cache? another client?)',
  },
  'queue.request': {
    one: 'queue request',
    many: 'queue requests',
    happens: 'made',
    none: 'the app skipped the queue (another client?)',
  },
  'queue.delivery': {
    one: 'delivery',
    many: 'deliveries',
    happens: 'attempted',
    none: `nothing was published, or ${moveTime}`,
  },
  'queue.callback': {
    one: 'callback',
    many: 'callbacks',
    happens: 'attempted',
    none: `no message asked for one, or ${moveTime}`,
  },
  'stats.request': {
    one: 'statistics request',
    many: 'statistics requests',
    happens: 'made',
    none: 'the app skipped the statistics (another client?)',
  },
  'outbound.request': {
    one: 'request to a host of sandbox.outbound',
    many: 'requests to hosts of sandbox.outbound',
    happens: 'made',
    none: 'the app skipped the host (a cache? a host that is not registered?)',
  },
  'stream.open': { one: 'event stream', many: 'event streams', happens: 'opened', none: 'the app never subscribed' },
  'stream.event': {
    one: 'event of a stream',
    many: 'events of streams',
    happens: 'sent',
    none: 'nobody published while the app was subscribed',
  },
  'schedule.fire': {
    one: 'schedule',
    many: 'runs of schedules',
    happens: 'fired',
    none: 'time has not moved far enough (await clock.advance())',
  },
  'workflow.step': {
    one: 'workflow step',
    many: 'workflow steps',
    happens: 'delivered',
    none: `no run was triggered, or ${moveTime}`,
  },
  'workflow.call': {
    one: 'context.call()',
    many: 'context.call() requests',
    happens: 'made',
    none: `no run came to one, or ${moveTime}`,
  },
  'workflow.wait': {
    one: 'wait of a workflow',
    many: 'waits of workflows',
    happens: 'requested',
    none: `no run came to one, or ${moveTime}`,
  },
}

const since = 'after it was added'
const orFix = 'Fix the rule or remove it.'

/** What is wrong with a rule that was never injected, and what to do: only what its counters prove. */
export function unusedMessage(unused: UnusedRule): string {
  const { rule, points, line } = unused
  const name = rule.name === undefined ? '' : ` ${JSON.stringify(rule.name)}`
  // An editor opens a file at its line without the column.
  const declared = line === '' ? '' : ` (${line.replace(/(:\d+):\d+$/, '$1')})`
  return `Fault '${rule.fault.kind}'${name} on ${points.join(', ')}${declared} was never injected: ${reason(unused)}`
}

function reason({ rule, points, match, reached, matched, preceded, wasDown }: UnusedRule): string {
  const at = points.map((point) => words[point])
  const [first] = at as [Words]
  if (matched > 0) {
    const { skip, every, times } = rule
    return `it matched ${plural(matched, 'time')}, and its counters ${JSON.stringify({ skip, every, times })} let all of them pass. ${orFix}`
  }
  if (preceded > 0) {
    return `it matched ${plural(preceded, 'time')}, and each time a rule that was added before it answered. Add it before that rule, or remove it.`
  }
  if (reached === 0) {
    if (wasDown) return `nothing got that far ${since}, and a service was down meanwhile. ${orFix}`
    const none = at.map(({ one, happens }) => `no ${one} was ${happens}`).join(', and ')
    return `${none} ${since}. Either ${first.none}, or the rule isn't needed.`
  }
  const came =
    at.length > 1
      ? `its points were reached ${plural(reached, 'time')}`
      : `${plural(reached, first.one, first.many)} ${reached === 1 ? 'was' : 'were'} ${first.happens}`
  const within = [rule.from, rule.until, rule.cron].some((part) => part !== undefined)
  const isAny = Object.keys(match).length === 0
  const fitted = isAny && within ? 'came' : `matched ${JSON.stringify(match)}`
  return `${came} ${since}, and none ${fitted}${within ? ' within its window' : ''}. ${orFix}`
}
