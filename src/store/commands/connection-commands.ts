import { bytes, named, optional } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { ok, Status } from '../command/reply.js'
import { within } from './collection-arguments.js'

const pong = new Status('PONG')

export const connectionCommands: readonly Command[] = [
  command('PING', {
    flags: ['fast', 'connection'],
    args: [optional(named('message', bytes))],
    surplus: 'arity',
    run: (_context, message) => message ?? pong,
  }),

  command('ECHO', {
    flags: ['fast', 'connection'],
    args: [named('message', bytes)],
    run: (_context, message) => message,
  }),

  command('SELECT', {
    flags: ['fast', 'connection'],
    deviations: 'There is one database, so the index must be 0.',
    args: [within('index', 0, 0, 'dbIndex')],
    run: () => ok,
  }),
]
