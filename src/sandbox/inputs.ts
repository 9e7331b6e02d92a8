import type { Journal } from '../kernel/journal.js'
import type { Faults } from '../rules/rules.js'
import type { DirectWorkflows } from '../workflow/direct.js'

// What a test, or whoever has the sandbox, does to a world by calling its faces. Requests and moves of time tell of
// themselves.

/** The methods of a face that change something. */
interface Face {
  readonly changes: readonly string[]
  /** Properties and methods that give a face of their own. */
  readonly gives?: Readonly<Record<string, Face>>
}

const routes: Face = { changes: ['on', 'answer', 'record', 'script', 'off'] }
const figures: Face = { changes: ['set', 'script', 'clear'] }

/** The faces of a sandbox, by the names that they have there. */
export type FaceName = 'store' | 'queue' | 'workflow' | 'stats' | 'faults' | 'destinations' | 'calls' | 'traffic'

/** One row a face: what stands here is written into the journal, and played again. */
const faces: Readonly<Record<FaceName, Face>> = {
  store: { changes: ['run', 'load', 'resetPassword'] },
  queue: {
    changes: [
      ...['publish', 'cancel', 'release', 'retryDeadLetter', 'urlGroup', 'load', 'reset'],
      ...['upsertQueue', 'pauseQueue', 'resumeQueue', 'deleteQueue'],
    ],
    gives: { schedules: { changes: ['fire'] }, urlGroups: { changes: ['delete'] }, keys: { changes: ['rotate'] } },
  },
  workflow: {
    changes: ['notify', 'skipSleeps', 'skipRetryDelays'],
    gives: {
      step: { changes: ['returns', 'fails', 'timesOut'] },
      event: { changes: ['timesOut'] },
      run: { changes: ['cancel'] },
    },
  },
  stats: { changes: ['forbid', 'clear'], gives: { queue: figures, search: figures } },
  faults: { changes: ['clear'] },
  destinations: routes,
  calls: routes,
  traffic: { changes: ['clear'] },
}

type Method = (...args: unknown[]) => unknown

/** One step of the way from a sandbox to what is called: a property, or a method with its arguments. */
export type Step = string | readonly [method: string, ...args: unknown[]]

/** Writes down what is done to a face, which stays the object that it is. */
export function keepInputs(face: object, name: FaceName, journal: Journal, region?: string): void {
  keep(face, faces[name], [region === undefined ? name : [`${name}In`, region]], journal)
}

/** The same for rules, which are removed by what `add()` returned. */
export function keepFaults(faults: Faults, journal: Journal): void {
  keepInputs(faults, 'faults', journal)
  const [add, remove] = [faults.add.bind(faults), faults.remove.bind(faults)]
  let added = 0
  define(faults, 'add', (rules: never, options?: { readonly line?: string }) => {
    const line = options?.line ?? new Error('declared here')
    journal.note('direct', ['faults', ['add', kept(rules), kept(options)]])
    const handle = add(rules, { line: line as string })
    const number = added++
    const removed = (): void => {
      journal.note('direct', [['unplug', number]])
      handle.remove()
    }
    return { remove: removed, [Symbol.dispose]: removed }
  })
  define(faults, 'remove', (which: never) => {
    if (typeof which === 'string') journal.note('direct', ['faults', ['remove', which]])
    remove(which)
  })
}

/** Runs are handed out one by one, and all together. */
export function keepRuns(workflow: DirectWorkflows, journal: Journal, region?: string): void {
  const all = getterOf(workflow, 'runs')
  keepInputs(workflow, 'workflow', journal, region)
  const each = (): unknown => (all() as DirectWorkflows['runs']).map(({ id }) => workflow.run(id))
  Object.defineProperty(workflow, 'runs', { get: each, configurable: true })
}

/** Those that are handed out more than once. */
const known = new WeakSet<object>()

function keep(target: object, { changes, gives = {} }: Face, way: readonly Step[], journal: Journal): void {
  if (known.has(target)) return
  known.add(target)
  for (const name of changes) {
    const method = (target as Record<string, Method>)[name]!
    define(target, name, (...args) => {
      journal.note('direct', [...way, [name, ...args.map((arg) => kept(arg))]])
      return method.apply(target, args)
    })
  }
  for (const [name, face] of Object.entries(gives)) {
    const read = getterOf(target, name)
    const given = read()
    if (typeof given === 'function') {
      define(target, name, (...args) => {
        // Some are inputs by themselves, such as a promise of an event.
        const step = [name, ...args.map((arg) => kept(arg))] as const
        if (name === 'event') journal.note('direct', [...way, step])
        const found = (given as Method).apply(target, args) as object
        keep(found, face, [...way, step], journal)
        return found
      })
    } else {
      const get = (): unknown => faceOf(read() as object, face, [...way, name], journal)
      Object.defineProperty(target, name, { get, configurable: true })
    }
  }
}

const faceOfEngine = new WeakMap<object, object>()

/** Parts of an engine are called by the engine itself, too, and that is no input: the face is another object. */
function faceOf(part: object, { changes }: Face, way: readonly Step[], journal: Journal): object {
  const made = faceOfEngine.get(part)
  if (made !== undefined) return made
  const face = new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (!changes.includes(String(name))) return value.bind(target)
      return (...args: unknown[]) => {
        journal.note('direct', [...way, [String(name), ...args.map((arg) => kept(arg))]])
        return value.apply(target, args)
      }
    },
  })
  faceOfEngine.set(part, face)
  return face
}

/** A property as it was before it was replaced. */
function getterOf(target: object, name: string): () => unknown {
  const own = Object.getOwnPropertyDescriptor(target, name)
  if (own !== undefined) return () => own.value as unknown
  const prototype: object = Object.getPrototypeOf(target)
  return () => Reflect.get(prototype, name, target)
}

function define(target: object, name: string, value: (...args: never[]) => unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true })
}

/** Plain data is copied so deep; what is deeper, or goes round in circles, stays what it is. */
const deepest = 50

/** A copy of plain data, which may change after the call; code and instances stay what they are. */
function kept(given: unknown, depth = 0): unknown {
  if (typeof given !== 'object' || given === null || depth > deepest) return given
  if (Array.isArray(given)) return given.map((item) => kept(item, depth + 1))
  if (given instanceof Uint8Array) return given.slice()
  if (given instanceof Response) return given.bodyUsed ? given : given.clone()
  const prototype: unknown = Object.getPrototypeOf(given)
  if (prototype !== Object.prototype && prototype !== null) return given
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, kept(value, depth + 1)]))
}
