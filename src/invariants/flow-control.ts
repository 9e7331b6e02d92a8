import type { EntryOf } from '../kernel/traffic.js'
import { Course } from './course.js'
import { endOf, type History } from './history.js'

/** What happened to one flow-control key, in order. */
export interface KeyCourse {
  readonly key: string
  readonly parallelism: Course
  readonly rate: Course
  readonly steps: readonly KeyStep[]
}

export interface KeyStep {
  /** Place in the story. */
  readonly place: number
  readonly at: number
  readonly is: 'start' | 'end' | 'limits' | 'reset' | 'rate-reset' | 'unsure'
  readonly attempt?: EntryOf<'attempt'>
  readonly setting?: EntryOf<'setting'>
  /** From where on the limits may have let this attempt in. */
  readonly since?: number
}

const order = ({ place: one }: KeyStep, { place: other }: KeyStep): number => one - other

/** The calls and limits of every flow-control key. */
export function keyCourses(history: History, isExcused: (messageId: string) => boolean): readonly KeyCourse[] {
  const steps = new Map<string, KeyStep[]>()
  const stepsOf = (key: string): KeyStep[] => {
    const list = steps.get(key) ?? []
    steps.set(key, list)
    return list
  }
  settingSteps(history, steps, stepsOf)
  for (const { id, published, attempts, changes } of history.stories.values()) {
    const key = published.flowControlKey
    if (key === undefined || isExcused(id)) continue
    const list = stepsOf(key)
    for (const attempt of attempts) {
      const held = history.world.policy.enforceQuotas
        ? changes.find((change) => change.state === 'WAITING' && change.seq < attempt.seq)
        : undefined
      const since = held?.seq ?? instantOf(history, attempt.seq)
      list.push({ place: attempt.seq, at: attempt.at, is: 'start', attempt, since })
      if (attempt.outcome) list.push({ place: endOf(attempt), at: attempt.outcome.at, is: 'end', attempt })
    }
    // A call that was let in and then cancelled or held by a pause used its turn unseen.
    for (const change of changes) {
      const isUnseen =
        change.state === 'CANCELLED' || (change.state === 'WAITING' && history.world.policy.enforceQuotas)
      const isPaused = change.state === 'WAITING' && change.reason?.endsWith('is paused') === true
      if (isUnseen || isPaused) list.push({ place: change.seq, at: change.at, is: 'unsure' })
    }
  }
  return [...steps].map(([key, list]) => courseOf(key, list.sort(order)))
}

function settingSteps(
  history: History,
  steps: ReadonlyMap<string, KeyStep[]>,
  stepsOf: (key: string) => KeyStep[],
): void {
  for (const setting of history.of('setting')) {
    const { seq: place, at, of, change } = setting
    if (of === 'service') for (const list of steps.values()) list.push({ place, at, is: 'reset', setting })
    if (of !== 'flow-control') continue
    const list = stepsOf(setting.name)
    if (change === 'limited' || change === 'pinned') list.push({ place, at, is: 'limits', setting })
    if (change === 'reset') list.push({ place, at, is: 'reset' })
    if (change === 'pinned' || change === 'rate-reset') list.push({ place, at, is: 'rate-reset' })
  }
}

function courseOf(key: string, steps: readonly KeyStep[]): KeyCourse {
  const parallelism = new Course(Number.POSITIVE_INFINITY)
  const rate = new Course(Number.POSITIVE_INFINITY)
  return { key, parallelism, rate, steps }
}

/** The first entry of the instant that an entry belongs to. */
function instantOf({ world }: History, seq: number): number {
  const { entries } = world
  const first = entries[0]!.seq
  const { at } = entries[seq - first]!
  let low = 0
  let high = seq - first
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.at < at) low = middle + 1
    else high = middle
  }
  return low + first
}

/** A limit as a setting tells it; absent means none. */
export function limitOf(setting: EntryOf<'setting'> | undefined, name: string): number {
  const value = setting?.value?.[name]
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY
}
