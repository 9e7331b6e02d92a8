import { deepCopy } from './deep-copy.js'
import type { CallPath, InputJournal, JournaledCall } from './input-journal.js'

/**
 * Classifies the methods of a public class; a missing method is a compile error.
 * `changes`: a call is an input, and the method records it before it does anything else. `reads`: a call changes
 * nothing, or its changes are recorded as other inputs, such as commands of a connection and clock moves.
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

/** Names of the methods with `changes` in a `MethodEffects` type. */
export type Changes<Table> = {
  [Name in keyof Table]: Table[Name] extends 'changes' ? Name : never
}[keyof Table] &
  string

/**
 * Records calls of one public object as inputs of its sandbox. Only user-facing methods record. Engines call each other
 * and never these methods, so that nothing is recorded twice.
 * @example
 * load(dump: StoreDump): void {
 *   const [given] = this.#inputs.record('load', dump)
 *   this.#engine.load(given)
 * }
 */
export class InputRecorder<Method extends string = string> {
  readonly journal: InputJournal | undefined
  readonly #path: CallPath

  /** @param path path from the sandbox to the object, for replays: `'store'`, or `['queueIn', 'us-east-1']` */
  constructor(journal: InputJournal | undefined, ...path: CallPath) {
    this.journal = journal
    this.#path = path
  }

  /**
   * Records a call of a public method.
   * @returns copies of the arguments, which the method must use, because the originals may change later and a
   * `Response` can be read only once
   */
  record<Args extends readonly unknown[]>(method: Method, ...args: Args): Args {
    const [, ...recorded] = this.recordCall(method, args)
    return recorded.map(deepCopy) as unknown as Args
  }

  /**
   * Records a call of a frequently used method. Makes only one copy of the arguments, which belongs to the journal.
   * @returns the recorded call, for a method that neither keeps nor changes its arguments
   */
  recordCall<Args extends readonly unknown[]>(method: Method, args: Args): JournaledCall<Args> {
    if (this.journal === undefined) return [method, ...args]
    const call = [method, ...args.map(deepCopy)] as unknown as JournaledCall<Args>
    this.journal.note('direct', [...this.#path, call])
    return call
  }

  /**
   * Returns a recorder for an object that is reached from this one.
   * @param step property name or method call that returns that object
   */
  below(step: CallPath[number]): InputRecorder {
    return new InputRecorder(this.journal, ...this.#path, step)
  }
}

/** Recorder for objects that do not belong to a sandbox. It records nothing. */
export const unrecorded: InputRecorder = new InputRecorder(undefined)
