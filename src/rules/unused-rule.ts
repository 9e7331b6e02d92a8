import type { FaultRule } from '../faults/fault.js'
import type { InjectionPoint } from '../faults/points.js'
import { plural } from '../kernel/plural.js'

export interface UnusedRule {
  readonly rule: FaultRule
  readonly points: readonly InjectionPoint[]
  /** All conditions of the rule, including the conditions of its fault. */
  readonly match: object
  /** `file:line:column` of the code that added the rule, or `''` if unknown. */
  readonly line: string
  /** Number of events that reached an injection point of the rule since the rule was added. */
  readonly reached: number
  /** Number of times that all conditions held, before the counters were applied. */
  readonly matched: number
  /**
   * Number of events that met all conditions of the rule but did not reach the rule, because an earlier rule ended the
   * evaluation.
   */
  readonly preceded: number
  /**
   * Whether a service was down since the rule was added. Requests that a service refuses while it is down reach no
   * injection point.
   */
  readonly wasDown: boolean
}

interface Words {
  readonly one: string
  readonly many: string
  /** Participle for a message such as "no request was sent". */
  readonly happens: string
  /** Possible reason why no event reached the injection point. */
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
    none: `no message has a callback URL, or ${moveTime}`,
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
    none: 'nothing was published while the app was subscribed',
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
    none: `no run reached a context.call(), or ${moveTime}`,
  },
  'workflow.wait': {
    one: 'wait of a workflow',
    many: 'waits of workflows',
    happens: 'requested',
    none: `no run reached a wait, or ${moveTime}`,
  },
}

const since = 'after it was added'
const orFix = 'Fix the rule or remove it.'

/**
 * Returns a message with the reason why a rule was never injected, and a suggestion. The reason is derived only from
 * the counters of the rule, not from the log.
 */
export function unusedMessage(unused: UnusedRule): string {
  const { rule, points, line } = unused
  const name = rule.name === undefined ? '' : ` ${JSON.stringify(rule.name)}`
  // Editors open `file:line` links, so the column is removed.
  const declared = line === '' ? '' : ` (${line.replace(/(:\d+):\d+$/, '$1')})`
  return `Fault '${rule.fault.kind}'${name} on ${points.join(', ')}${declared} was never injected: ${reason(unused)}`
}

function reason({ rule, points, match, reached, matched, preceded, wasDown }: UnusedRule): string {
  const at = points.map((point) => words[point])
  const [first] = at as [Words]
  if (matched > 0) {
    const { skip, every, times } = rule
    return `it matched ${plural(matched, 'time')}, but its counters ${JSON.stringify({ skip, every, times })} skipped every match. ${orFix}`
  }
  if (preceded > 0) {
    return `it matched ${plural(preceded, 'time')}, but each time an earlier rule determined the outcome. Add it before that rule, or remove it.`
  }
  if (reached === 0) {
    if (wasDown) return `its points were not reached ${since}, and a service was down in the meantime. ${orFix}`
    const none = at.map(({ one, happens }) => `no ${one} was ${happens}`).join(', and ')
    return `${none} ${since}. Either ${first.none}, or the rule isn't needed.`
  }
  const came =
    at.length > 1
      ? `its points were reached ${plural(reached, 'time')}`
      : `${plural(reached, first.one, first.many)} ${reached === 1 ? 'was' : 'were'} ${first.happens}`
  const within = [rule.from, rule.until, rule.cron].some((part) => part !== undefined)
  const isAny = Object.keys(match).length === 0
  const fitted = isAny && within ? 'happened' : `matched ${JSON.stringify(match)}`
  return `${came} ${since}, and none ${fitted}${within ? ' within its window' : ''}. ${orFix}`
}
