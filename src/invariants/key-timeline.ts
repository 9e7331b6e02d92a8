import type { EntryOf } from '../kernel/traffic-log.js'
import { type CheckedMessage, endOf, type InvariantIndex } from './invariant-index.js'

export interface KeyTimeline {
  readonly key: string
  readonly steps: readonly KeyStep[]
}

export interface KeyStep {
  readonly place: number
  readonly at: number
  /**
   * Kind of the step. `vain`: a message took a slot and released the slot without a delivery. The slot still counts for
   * the rate limit.
   */
  readonly is: 'take' | 'vain' | 'release' | 'limits' | 'reset' | 'rate-reset' | 'service'
  /** Message that takes or releases a slot. */
  readonly story?: CheckedMessage
  readonly entry?: EntryOf<'attempt' | 'flow-control' | 'setting'>
}

/**
 * Returns the timeline of each flow-control key: the slots that messages took and released, and the changes of the
 * limits of the key.
 */
export function keyTimelines(
  history: InvariantIndex,
  isExcused: (messageId: string) => boolean,
): readonly KeyTimeline[] {
  const steps = new Map<string, KeyStep[]>()
  const stepsOf = (key: string): KeyStep[] => {
    const list = steps.get(key) ?? []
    steps.set(key, list)
    return list
  }
  settingSteps(history, steps, stepsOf)
  for (const story of history.stories.values()) {
    const key = story.published.flowControlKey
    if (key !== undefined && !isExcused(story.id)) stepsOf(key).push(...slotsOf(story))
  }
  return [...steps].map(([key, list]) => ({ key, steps: list.sort((one, other) => one.place - other.place) }))
}

function settingSteps(
  history: InvariantIndex,
  steps: ReadonlyMap<string, KeyStep[]>,
  stepsOf: (key: string) => KeyStep[],
): void {
  for (const entry of history.of('setting')) {
    const { seq: place, at, resource: of, change } = entry
    if (of === 'service') for (const list of steps.values()) list.push({ place, at, is: 'service', entry })
    if (of !== 'flow-control') continue
    const list = stepsOf(entry.name)
    if (change === 'limited' || change === 'pinned') list.push({ place, at, is: 'limits', entry })
    if (change === 'reset') list.push({ place, at, is: 'reset' })
    if (change === 'pinned' || change === 'reset' || change === 'rate-reset') {
      list.push({ place, at, is: 'rate-reset' })
    }
  }
}

type Sign = EntryOf<'attempt'> | EntryOf<'flow-control'> | EntryOf<'message'>

/** Returns the steps in which a message took and released slots of its flow-control key. */
function slotsOf(story: CheckedMessage): readonly KeyStep[] {
  const signs: Sign[] = [...story.attempts, ...story.decisions, ...story.changes].sort(
    (one, other) => one.seq - other.seq,
  )
  const steps: KeyStep[] = []
  /**
   * Entry in the log that shows that the message took a slot. `undefined` without a slot, and after the attempt has
   * begun.
   */
  let taken: EntryOf<'flow-control'> | undefined
  const take = (is: 'take' | 'vain', entry: EntryOf<'attempt' | 'flow-control'>): void => {
    steps.push({ place: entry.seq, at: entry.at, is, story, entry })
  }
  for (const sign of signs) {
    if (sign.type === 'attempt') {
      take('take', taken ?? sign)
      taken = undefined
      if (sign.outcome) steps.push({ place: endOf(sign), at: sign.outcome.at, is: 'release', story })
    } else if (sign.type === 'flow-control') {
      // If a message is held by the limit of the plan, the message already has a slot of its flow-control key.
      if ((sign.decision === 'admitted') === (sign.flowControlKey !== undefined)) taken ??= sign
    } else if (taken !== undefined && isVain(sign)) {
      take('vain', taken)
      taken = undefined
    }
  }
  if (taken !== undefined) take('vain', taken)
  return steps
}

function isVain({ state, reason }: EntryOf<'message'>): boolean {
  return state === 'CANCELLED' || (state === 'WAITING' && reason?.endsWith('is paused') === true)
}

/** Returns the value of a limit in a setting. Infinity if the setting has no such limit. */
export function limitOf(setting: KeyStep['entry'], name: string): number {
  const value = setting?.type === 'setting' ? setting.value?.[name] : undefined
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY
}
