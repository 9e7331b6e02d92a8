import { deepCopy } from './deep-copy.js'
import type { CallPath, InputJournal, JournaledCall } from './input-journal.js'

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
  readonly #path: CallPath

  /** @param path how a replay finds the object from the sandbox: `'store'`, or `['queueIn', 'us-east-1']` */
  constructor(journal: InputJournal | undefined, ...path: CallPath) {
    this.journal = journal
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
    if (this.journal === undefined) return [method, ...args]
    const call = [method, ...args.map(deepCopy)] as unknown as JournaledCall<Args>
    this.journal.note('direct', [...this.#path, call])
    return call
  }

  /**
   * Returns a recorder for an object that a property or a method of this object returns.
   * @param step name of that property, or call of that method
   */
  below(step: CallPath[number]): InputRecorder {
    return new InputRecorder(this.journal, ...this.#path, step)
  }
}

/** Recorder for objects without a sandbox. It records nothing. */
export const unrecorded: InputRecorder = new InputRecorder(undefined)
