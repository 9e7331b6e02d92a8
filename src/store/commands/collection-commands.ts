import type { Bytes } from '../../kernel/bytes.js'
import { type Arg, key } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import type { ContainerClass, EventClass } from '../keyspace/database.js'
import type { Container } from '../values/value.js'

/** Declares a command that returns the number of members. */
export function lengthOf<T extends Container>(
  name: string,
  type: ContainerClass<T>,
  length: (container: T) => number,
  since = '1.0.0',
): Command {
  return command(name, {
    flags: ['read', 'fast'],
    since,
    args: [key('')],
    run({ db }, key) {
      const container = db.container(key, type)
      return container === undefined ? 0 : length(container)
    },
  })
}

interface Removal<T extends Container> {
  readonly since?: string
  readonly names: Arg<Bytes[]>
  readonly type: ContainerClass<T>
  readonly eventClass: EventClass
  /** Removes a member and returns whether it existed. */
  remove(container: T, name: Bytes): boolean
}

/**
 * Declares a command that removes members and replies with the number of members that existed. The event that it causes
 * has the same name as the command.
 */
export function removal<T extends Container>(
  name: string,
  { since = '1.0.0', names, type, eventClass, remove }: Removal<T>,
): Command {
  return command(name, {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), names],
    run({ db }, key, given) {
      const container = db.container(key, type)
      if (container === undefined) return 0
      let removed = 0
      for (const member of given) if (remove(container, member)) removed++
      if (removed > 0) db.notify(eventClass, name.toLowerCase(), key)
      return removed
    },
  })
}
