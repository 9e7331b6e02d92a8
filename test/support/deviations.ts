/** Rules by which the service's replies differ from those of redis-server 7.0. Single cases are in the steps. */
import { asScriptFrame, asShortest } from '../../src/store/redis-replies.js'
import type { RespReply } from './resp.js'

interface Deviation {
  /** Line of the specification that decides it. */
  readonly because: string
  /** Returns the service's reply; the same reply if the rule does not apply. */
  readonly translate: (reply: RespReply, argv: readonly string[]) => RespReply
}

export const deviations: readonly Deviation[] = [
  {
    because: 'store.md 7.3: the service says "int" wherever redis says "integer" with these words',
    translate: (reply) =>
      'error' in reply && reply.error === 'ERR value is not an integer or out of range'
        ? { error: 'ERR value is not an int or out of range' }
        : reply,
  },
  {
    because: 'store.md 7.4: text for commands that do not exist',
    translate: (reply, argv) =>
      'error' in reply && reply.error.startsWith('ERR unknown command ')
        ? {
            error: `ERR Command is not available: '${argv[0]!.toUpperCase()}'. See https://docs.test/redis/overall/rediscompatibility for details`,
          }
        : reply,
  },
  {
    because: 'store.md 7.2: the service passes over what redis-server refuses',
    translate(reply, argv) {
      if (!('error' in reply)) return reply
      return passedOver.find(([words, error]) => words.test(argv.join(' ')) && error.test(reply.error))?.[2] ?? reply
    },
  },
  {
    because: 'store.md 3.4: scores have their shortest digits, redis 7.0 prints 17',
    translate: shortestScores,
  },
  {
    because: 'store.md 9.4: errors that end a script come in the frame of the service',
    translate: (reply, argv) =>
      'error' in reply && scriptCommands.test(argv[0] ?? '') ? { error: asScriptFrame(reply.error) } : reply,
  },
]

/** [store.md 7.2] */
const passedOver: readonly (readonly [words: RegExp, error: RegExp, reply: RespReply])[] = [
  [/^UNLINK$/i, /^ERR wrong number of arguments/, { integer: '0' }],
  [/^COPY /i, /^ERR source and destination objects are the same$/, { integer: '0' }],
  [/^XINFO CONSUMERS /i, /^NOGROUP /, { array: [] }],
]

const scriptCommands = /^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$/i

/** Commands whose bulk replies may be scores. In other replies, a text that looks like a score is data. */
const scoreCommands = /^Z/i

function shortestScores(reply: RespReply, argv: readonly string[]): RespReply {
  if (!scoreCommands.test(argv[0] ?? '')) return reply
  if ('array' in reply) return { array: reply.array.map((item) => shortestScores(item, argv)) }
  return 'bulk' in reply ? { bulk: asShortest(reply.bulk) ?? reply.bulk } : reply
}

/** Returns whether only the service accepts these arguments: LIMIT with ranks, and approximate lengths of streams. */
export function isServicesOwn(argv: readonly string[]): boolean {
  const [name, ...words] = argv.map((word) => word.toUpperCase())
  if (name === 'XADD' || name === 'XTRIM') return words.includes('~')
  if (name !== 'ZRANGE' && name !== 'ZRANGESTORE') return false
  const options = words.slice(name === 'ZRANGE' ? 3 : 4)
  return options.includes('LIMIT') && !options.includes('BYSCORE') && !options.includes('BYLEX')
}

/** Returns the service's reply for a reply of redis-server. */
export function asService(reply: RespReply, argv: readonly string[]): RespReply {
  return deviations.reduce((translated, { translate }) => translate(translated, argv), reply)
}
