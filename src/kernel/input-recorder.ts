import { deepCopy } from './deep-copy.js'
import type { CallPath, InputJournal, JournaledCall } from './input-journal.js'

/**
 * Says what each method of a public class does; a method that is missing does not compile. `changes`: a call is an input,
 * and the method records it first thing. `reads`: it changes nothing, or what it changes comes in as an input of its own,
 * such as the commands of a connection and the moves of time.
 * @template Internal methods that users do not call: those of the engine
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

/** The methods that change something, of a type made with `MethodEffects`. */
export type Changes<Table> = {
  [Name in keyof Table]: Table[Name] extends 'changes' ? Name : never
}[keyof Table] &
  string

/**
 * Records the calls of one public object as inputs of its sandbox. Only methods that users call have one: engines call
 * each other and never those, so that nothing is recorded twice.
 * @example
 * load(dump: StoreDump): void {
 *   const [given] = this.#inputs.record('load', dump)
 *   this.#engine.load(given)
 * }
 */
export class InputRecorder<Method extends string = string> {
  readonly journal: InputJournal | undefined
  readonly #path: CallPath

  /** @param path from the sandbox to the object, for replays: `'store'`, or `['queueIn', 'us-east-1']` */
  constructor(journal: InputJournal | undefined, ...path: CallPath) {
    this.journal = journal
    this.#path = path
  }

  /** @returns copies of the arguments to go on with: what was given may change later, and a `Response` is read once */
  record<Args extends readonly unknown[]>(method: Method, ...args: Args): Args {
    const [, ...recorded] = this.recordCall(method, args)
    return recorded.map(deepCopy) as unknown as Args
  }

  /**
   * The same for methods that are called often: only one copy is made, and belongs to the journal.
   * @returns the recorded call, for a method that neither keeps nor changes its arguments
   */
  recordCall<Args extends readonly unknown[]>(method: Method, args: Args): JournaledCall<Args> {
    if (this.journal === undefined) return [method, ...args]
    const call = [method, ...args.map(deepCopy)] as unknown as JournaledCall<Args>
    this.journal.note('direct', [...this.#path, call])
    return call
  }

  /** For an object that a method or a property of this one gives. */
  below(step: CallPath[number]): InputRecorder {
    return new InputRecorder(this.journal, ...this.#path, step)
  }
}

/** For objects that belong to no sandbox. */
export const unrecorded: InputRecorder = new InputRecorder(undefined)
