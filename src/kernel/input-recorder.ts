import { deepCopy } from './deep-copy.js'
import type { CallPath, InputJournal, JournaledCall } from './input-journal.js'
import type { Replacement } from './replacement.js'

/**
 * Table of the methods of a public class. The compiler reports a method that is missing in the table. `changes`: the
 * method changes the sandbox, so it must record its call as an input before it does anything else. `reads`: the method
 * does not record its call. Either it changes nothing, or its changes are recorded as other inputs, such as commands of
 * a connection and clock moves.
 * @template Internal methods that only the engine calls
 * @example export type KeysEffects = MethodEffects<DirectKeys, { pair: 'reads'; rotate: 'changes' }>
 */
export type MethodEffects<
  PublicClass,
  Table extends Record<Exclude<MethodNames<PublicClass>, Internal>, 'reads' | 'changes'> &
    Record<Exclude<keyof Table, MethodNames<PublicClass>>, never>,
  Internal extends PropertyKey = never,
> = Table

type MethodNames<T> = {
  [Name in keyof T]: T[Name] extends (...args: never[]) => unknown ? Name : never
}[keyof T] &
  string

/** Names of the methods that have `changes` in a `MethodEffects` table. */
export type Changes<Table> = {
  [Name in keyof Table]: Table[Name] extends 'changes' ? Name : never
}[keyof Table] &
  string

/**
 * Records calls of the methods of one public object as inputs of its sandbox. Only methods that users call may record.
 * Engines must call each other's internal methods, so that no input is recorded twice.
 * @example
 * load(dump: StoreDump): void {
 *   const [given] = this.#inputs.record('load', dump)
 *   this.#engine.load(given)
 * }
 */
export class InputRecorder<Method extends string = string> {
  readonly journal: InputJournal | undefined
  readonly #core: RecordedCore
  readonly #path: CallPath

  /** @param path how a replay finds the object from the sandbox: `'store'`, or `['queueIn', 'us-east-1']` */
  constructor(core: RecordedCore, ...path: CallPath) {
    this.journal = core.journal
    this.#core = core
    this.#path = path
  }

  /**
   * Records a call of a public method.
   * @returns copies of the arguments; the method must use them, because the caller may change the originals later and a
   * `Response` can be read only once
   */
  record<Args extends readonly unknown[]>(method: Method, ...args: Args): Args {
    const [, ...recorded] = this.recordCall(method, args)
    return recorded.map(deepCopy) as unknown as Args
  }

  /**
   * Records a call of a method that is called very often. The journal keeps the only copy of the arguments, so the
   * method must neither keep nor change them.
   * @returns the recorded call
   */
  recordCall<Args extends readonly unknown[]>(method: Method, args: Args): JournaledCall<Args> {
    if (!cleanups.has(method)) this.warnIfOutdated(method)
    if (this.journal === undefined) return [method, ...args]
    // `concat()` makes an array without spare capacity. The journal keeps it, and a spread would take five times as much.
    const call = [method as unknown].concat(args.map(deepCopy)) as unknown as JournaledCall<Args>
    this.journal.direct(this.#path, call)
    return call
  }

  /**
   * Returns a recorder for an object that a property or a method of this object returns.
   * @param step name of that property, or call of that method
   */
  below(step: CallPath[number]): InputRecorder {
    return new InputRecorder(this.#core, ...this.#path, step)
  }

  /**
   * Warns once if a reset or load replaced the core of the object. Methods that record their call need not call this.
   * @param method name of the public method that was called
   */
  warnIfOutdated(method: string): void {
    const { replacement } = this.#core
    if (replacement?.by === undefined) return
    const [root = '', ...steps] = this.#path
    const part = typeof root === 'string' ? root : `${root[0]}('${root[1]}')`
    replacement.warnAbout(part, `${steps.length === 0 ? `${part}.` : ''}${method}() was called on`)
  }
}

/** The core of a sandbox, as far as its recorders need it. */
export interface RecordedCore {
  readonly journal: InputJournal | undefined
  /** Whether the core was replaced. Omitted for objects without a sandbox. */
  readonly replacement?: Replacement
}

/** Methods that remove something. A test may call them after the reset of its sandbox, when nothing is left to remove. */
const cleanups: ReadonlySet<string> = new Set(['remove', 'removeAdded', 'off', 'clear', 'reset'])

/** Recorder for objects without a sandbox. It records nothing. */
export const unrecorded: InputRecorder = new InputRecorder({ journal: undefined })
