import type { Outbound } from '../src/calls/outbound.js'
import type { Clock } from '../src/kernel/clock.js'
import { formatDuration } from '../src/kernel/duration.js'
import type { Destinations } from '../src/queue/destinations/destinations.js'
import type { Message } from '../src/queue/message/message.js'
import { plainText } from '../src/report/safe-text.js'
import { timeSeenFrom } from '../src/report/shown-times.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import type { Workflow } from '../src/workflow/direct-workflows.js'
import { composeFailure } from './failure/compose-failure.js'
import { waitHint } from './failure/forecasts.js'
import { listOf } from './failure/sandbox-facts.js'
import { fromHere } from './failure/test-location.js'
import { literal } from './literal.js'
import { MessageLifecycle } from './message-lifecycle.js'
import { evidenceOf, type MatcherInput, type Perhaps } from './received.js'
import { type Verdict, verdict } from './verdict.js'

/** The members of a sandbox that report pending work. */
interface Idle {
  readonly clock: Pick<Clock, 'now' | 'pending' | 'running'>
  readonly faults?: Perhaps<Sandbox['faults'], 'unused'> | undefined
  readonly queue?: Messages | undefined
  /** The queues of both regions, like `workflows`. */
  readonly queues?: readonly Messages[] | undefined
  readonly workflow?: Verbs | undefined
  readonly workflows?: readonly Verbs[] | undefined
  readonly outbound?: Perhaps<Outbound, 'unused'> | undefined
  readonly destinations?: Perhaps<Destinations, 'unused'> | undefined
}

interface Messages {
  readonly messages?: readonly Pick<Message, 'id' | 'timer' | 'running'>[]
}

type Verbs = Perhaps<Workflow, 'unused'>

/**
 * Checks that no work is pending: no timer except those of schedules, no running work, and no unused fault, stub or
 * script step.
 */
export function isIdle(received: unknown): Verdict {
  const matcher = 'toBeIdle'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  if (evidence.role !== 'sandbox')
    throw new TypeError(`${matcher}(): expect() must get the sandbox. Write expect(sandbox).${matcher}().`)
  const left = leftovers(received as Idle, evidence)
  return verdict(left.length === 0, (not, place) =>
    composeFailure({
      evidence,
      place,
      call: `expect(sandbox)${not ? '.not' : ''}.${matcher}()`,
      expected: not
        ? 'Expected pending work or an unused fault, but there is none.'
        : 'Expected no pending work and no unused fault, but found:',
      parts: not ? [] : [left.map((one) => `  ${evidence.redaction.text(one)}`)],
      hints:
        !not && left.some((one) => one.startsWith('waits'))
          ? ['Await sandbox.clock.drain() first: it runs all pending timers.']
          : [],
      tellsUnused: true,
      focus: [],
    }),
  )
}

const maxLeft = 10

function leftovers(sandbox: Idle, evidence: MatcherInput): string[] {
  const { clock } = sandbox
  const now = clock.now()
  const timers = clock.pending.filter((timer) => !timer.background)
  const lines = timers.slice(0, maxLeft).map((timer) => {
    const left = formatDuration(timer.at - now)
    return `waits ${left}, until ${timeSeenFrom(timer.at, now)}: ${plainText(timer.label)}`
  })
  if (timers.length > maxLeft) lines.push(`… and ${timers.length - maxLeft} more timers`)
  if (lines.length > 0) lines.push(...heldUp(evidence, sandbox))
  for (const label of clock.running) lines.push(`runs: ${plainText(label)}`)
  for (const fault of listOf(sandbox.faults?.unused, sandbox.faults)) lines.push(textOf(fault))
  for (const workflow of sandbox.workflows ?? [sandbox.workflow]) {
    for (const sentence of listOf(workflow?.unused, workflow)) lines.push(plainText(String(sentence)))
  }
  const scripts = [sandbox.destinations, sandbox.outbound].flatMap((owner) => listOf(owner?.unused, owner))
  for (const one of scripts) {
    const { pattern, steps } = one as { pattern: string; steps: readonly { kind?: unknown }[] }
    const kinds = steps.map((step) => String(step.kind)).join(', ')
    lines.push(`unused script steps at ${plainText(pattern)}: ${plainText(kinds)}`)
  }
  return lines
}

const maxHeldUp = 3

/** Returns hints about messages that have no timer, because they wait for other messages. */
function heldUp(evidence: MatcherInput, { queue, queues }: Idle): string[] {
  const messages = (queues ?? [queue]).flatMap((owner) => owner?.messages ?? [])
  const held = messages.filter(({ timer, running }) => timer === undefined && !running)
  const lines = held
    .slice(0, maxHeldUp)
    .map(({ id }) => waitHint(evidence, new MessageLifecycle(id, evidence.forMessage(id))))
  const more = held.length - lines.length
  return more > 0 ? [...lines, `… and ${more} more messages that wait for other messages`] : lines
}

function textOf(fault: unknown): string {
  const message = (fault as Perhaps<Sandbox['faults']['unused'][number], 'message'> | null)?.message
  if (typeof message === 'string') return fromHere(message)
  return typeof fault === 'string' ? plainText(fault) : literal(fault)
}
