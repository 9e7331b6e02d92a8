import { bytes, named, optional } from '../arguments.js'
import { type Command, command } from '../command.js'
import { Status } from '../reply.js'

const pong = new Status('PONG')

export const connectionCommands: readonly Command[] = [
  command('PING', {
    flags: ['fast', 'connection'],
    args: { message: optional(named('message', bytes)) },
    run: ({ message }) => message ?? pong,
  }),

  command('ECHO', {
    flags: ['fast', 'connection'],
    args: { message: named('message', bytes) },
    run: ({ message }) => message,
  }),
]
