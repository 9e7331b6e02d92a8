import { copied } from '../kernel/copied.js'
import { makeDetachable } from '../kernel/detachable.js'
import type { Journal } from '../kernel/journal.js'
import { type FaultHandle, Faults } from '../rules/rules.js'
import type { Statistics } from '../stats/statistics.js'
import { SearchNotLoaded } from '../store/search/stems.js'
import { DirectWorkflows } from '../workflow/direct.js'

// What a test, or whoever has the sandbox, does to a world by calling its faces. Requests and moves of time tell of
// themselves.

/** The methods of a face that change something. */
interface Face {
  readonly changes: readonly string[]
  /** Properties that are a face of their own. */
  readonly parts?: Readonly<Record<string, Face>>
  /** Methods that give one. */
  readonly gives?: Readonly<Record<string, Face>>
  /** To be asked for it is an input, too. */
  readonly isInput?: boolean
  /** What is written down in another way. */
  readonly own?: PropertyDescriptorMap
}

/** The faces of a sandbox, by the names that they have there. */
export type FaceName = 'store' | 'queue' | 'workflow' | 'stats' | 'faults' | 'destinations' | 'calls' | 'traffic'

type Method = (this: object, ...args: unknown[]) => unknown

/** One step of the way from a sandbox to what is called: a property, or a method with its arguments. */
export type Step = string | readonly [method: string, ...args: unknown[]]

/** Where what is done to an object is written, and how the object is found again. */
interface Kept {
  readonly journal: Journal
  readonly way: readonly Step[]
}
const keptBy = new WeakMap<object, Kept>()

/**
 * Writes down what is done to a face. It stays the object that it is, and gets a prototype between itself and its class:
 * one for all of them, because each test has a world of its own.
 */
export function keepInputs(face: object, name: FaceName, journal: Journal, region?: string): void {
  keep(face, faces[name], { journal, way: [region === undefined ? name : [`${name}In`, region]] })
}

/** The same for the figures of the queue, which are always the same ones. */
export function keepStatistics(stats: Statistics, journal: Journal): void {
  keepInputs(stats, 'stats', journal)
  keep(stats.queue, figures, { journal, way: ['stats', 'queue'] })
}

/**
 * Does something to an engine behind the faces, which no face tells of.
 * @param run is given the sandbox, and later each world that is made as this one was: it changes nothing else
 */
export function act<S extends { readonly queue: object }, T>(sandbox: S, run: (sandbox: S) => T): T {
  keptBy.get(sandbox.queue)?.journal.note('acted', run as (sandbox: never) => T)
  return run(sandbox)
}

/** By the class that they stand in front of. */
const prototypes = new WeakMap<object, object>()

function keep(target: object, face: Face, by: Kept): void {
  if (keptBy.has(target)) return
  keptBy.set(target, by)
  const above: object = Object.getPrototypeOf(target)
  let prototype = prototypes.get(above)
  if (prototype === undefined) {
    prototype = prototypeOf(face, above)
    prototypes.set(above, prototype)
  }
  Object.setPrototypeOf(target, prototype)
  // The house may have used methods before, which are bound as they were then.
  for (const name of Object.getOwnPropertyNames(prototype)) Reflect.deleteProperty(target, name)
}

function prototypeOf({ changes, parts = {}, gives = {}, own = {} }: Face, above: object): object {
  const made: object = Object.create(above, own)
  for (const name of changes) {
    const method = Reflect.get(above, name) as Method
    define(made, name, function (...args) {
      const { given, way } = noteCall(this, name, args)
      try {
        return method.apply(this, given)
      } catch (error) {
        if (error instanceof SearchNotLoaded) tooEarly.add(way)
        throw error
      }
    })
  }
  for (const [name, face] of Object.entries(parts)) {
    const { get } = Object.getOwnPropertyDescriptor(above, name)!
    Object.defineProperty(made, name, {
      get(this: object) {
        return partOf(get!.call(this) as object, face, below(this, name))
      },
    })
  }
  for (const [name, face] of Object.entries(gives)) {
    const method = Reflect.get(above, name) as Method
    define(made, name, function (...args) {
      const given = args.map(copied)
      // Some are inputs by themselves, such as a promise of an event.
      if (face.isInput === true) noteCall(this, name, given)
      const found = method.apply(this, given) as object
      keep(found, face, below(this, [name, ...given]))
      return found
    })
  }
  makeDetachable(made)
  return made
}

/** Calls that searched before that was loaded, by the way to them. */
export const tooEarly: WeakSet<readonly Step[]> = new WeakSet()

interface Noted {
  /** As it is now and will be played again: to be passed on. */
  readonly given: unknown[]
  readonly way: readonly Step[]
}

function noteCall(target: object, name: string, args: readonly unknown[]): Noted {
  const { journal, way } = keptBy.get(target)!
  return note(journal, way, name, args)
}

/** They read at once what they are given, and keep nothing of it. */
const quick: ReadonlySet<string> = new Set(['run', 'publish'])

function note(journal: Journal, above: readonly Step[], name: string, args: readonly unknown[]): Noted {
  const given = args.map(copied)
  const way: readonly Step[] = [...above, [name, ...given]]
  journal.note('direct', way)
  // What keeps it may change it, and a Response is read once.
  return { given: quick.has(name) ? given : given.map(copied), way }
}

function below(target: object, step: Step): Kept {
  const { journal, way } = keptBy.get(target)!
  return { journal, way: [...way, step] }
}

const facesOfParts = new WeakMap<object, object>()

/** Parts of an engine are called by the engine itself, too, and that is no input: their face is another object. */
function partOf(part: object, { changes }: Face, { journal, way }: Kept): object {
  const made = facesOfParts.get(part)
  if (made !== undefined) return made
  const face = new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (!changes.includes(String(name))) return value.bind(target)
      return (...args: unknown[]) => value.apply(target, note(journal, way, String(name), args).given)
    },
  })
  facesOfParts.set(part, face)
  return face
}

const withLines: PropertyDescriptorMap = {
  add: {
    configurable: true,
    value(this: Faults, rules: never, options?: { readonly line?: string }): FaultHandle {
      // Played again, they were still declared here: the line is read when it is asked for.
      const line = (options?.line ?? new Error('declared here')) as string
      const [given] = noteCall(this, 'add', [rules, { line }]).given
      return Faults.prototype.add.call(this, given as never, { line })
    },
  },
  remove: {
    configurable: true,
    value(this: Faults, which: never): void {
      // By a handle, which tells of itself.
      if (typeof which === 'string') noteCall(this, 'remove', [which])
      Faults.prototype.remove.call(this, which)
    },
  },
}

/** Runs that are handed out all together are those that are handed out one by one. */
const withRuns: PropertyDescriptorMap = {
  runs: {
    get(this: DirectWorkflows): DirectWorkflows['runs'] {
      const runs = Reflect.get(DirectWorkflows.prototype, 'runs', this) as DirectWorkflows['runs']
      return runs.map(({ id }) => this.run(id))
    },
  },
}

const routes: Face = { changes: ['on', 'answer', 'record', 'script', 'off'] }
const figures: Face = { changes: ['set', 'script', 'clear'] }

/** One row a face: what stands here is written into the journal, and played again. */
const faces: Readonly<Record<FaceName, Face>> = {
  store: { changes: ['run', 'load', 'resetPassword'] },
  queue: {
    changes: [
      ...['publish', 'cancel', 'release', 'retryDeadLetter', 'urlGroup', 'load', 'reset'],
      ...['upsertQueue', 'pauseQueue', 'resumeQueue', 'deleteQueue'],
    ],
    parts: { schedules: { changes: ['fire'] }, urlGroups: { changes: ['delete'] }, keys: { changes: ['rotate'] } },
  },
  workflow: {
    changes: ['notify', 'skipSleeps', 'skipRetryDelays'],
    gives: {
      step: { changes: ['returns', 'fails', 'timesOut'] },
      event: { changes: ['timesOut'], isInput: true },
      run: { changes: ['cancel'] },
    },
    own: withRuns,
  },
  stats: { changes: ['forbid', 'clear'], parts: { search: figures } },
  faults: { changes: ['clear', 'removeAdded'], own: withLines },
  destinations: routes,
  calls: routes,
  traffic: { changes: ['clear'] },
}

function define(target: object, name: string, value: Method): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true })
}
