import type { Bytes } from '../../kernel/bytes.js'
import { type Arg, bytes, type KeyUse, named, oneOrMore, toInt, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { ok, type Reply } from '../command/reply.js'
import { flushMode, scriptError } from '../scripting/script-errors.js'
import { helpCommand } from './help.js'

/** Arguments `numkeys [key …] [arg …]` of all commands that run Lua. */
interface Input {
  readonly keys: readonly Bytes[]
  readonly args: readonly Bytes[]
}

const input = (use: KeyUse): Arg<Input> => ({
  usage: 'numkeys [key …] [arg …]',
  min: 1,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    const count = toInt(from.next())
    if (count > from.left) throw replyError('tooManyKeys')
    if (count < 0) throw scriptError('negativeKeys')
    const keys: Bytes[] = []
    const args: Bytes[] = []
    while (keys.length < count) keys.push(from.key(use))
    while (from.left > 0) args.push(from.next())
    return { keys, args }
  },
})

type Evaluation = (source: Bytes, input: Input, context: CommandContext, isReadOnly: boolean) => Reply

const bySource: Evaluation = (source, { keys, args }, { store, user }, isReadOnly) =>
  store.scripts.evaluate(source, keys, args, user, isReadOnly)

const byDigest: Evaluation = (digest, { keys, args }, { store, user }, isReadOnly) =>
  store.scripts.evaluate(store.scripts.source(digest), keys, args, user, isReadOnly)

function evaluation(name: string, script: Arg<Bytes>, run: Evaluation, isReadOnly: boolean): Command {
  return command(name, {
    flags: ['slow', 'scripting', 'noscript'],
    since: isReadOnly ? '7.0.0' : '2.6.0',
    deviations:
      "Errors have the service's format. Numbers that are passed to redis.call have as few digits as possible. A script is stopped after policy.maxScriptSteps steps, or when it exceeds policy.maxWork.",
    args: [script, input(isReadOnly ? 'R' : 'RW')],
    run: (context, source, input) => run(source, input, context, isReadOnly),
  })
}

const source = named('script', bytes)
const digest = named('sha1', bytes)
/**
 * Parser for the digest of a script. An invalid digest is not a syntax error, but matches no script. Permissions for
 * the keys are checked before.
 */
const digestOfScript: Arg<Bytes> = {
  ...digest,
  read(from) {
    const word = digest.read(from)
    if (word.length !== 40 && from.names === undefined) throw scriptError('noScript')
    return word
  },
}

export const scriptingCommands: readonly Command[] = [
  evaluation('EVAL', source, bySource, false),
  evaluation('EVALSHA', digestOfScript, byDigest, false),
  evaluation('EVAL_RO', source, bySource, true),
  evaluation('EVALSHA_RO', digestOfScript, byDigest, true),

  command('SCRIPT LOAD', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '2.6.0',
    args: [source],
    run: ({ store }, script) => store.scripts.add(script),
  }),

  command('SCRIPT EXISTS', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '2.6.0',
    args: [oneOrMore(digest)],
    run: ({ store }, digests) => digests.map((each) => (store.scripts.has(each) ? 1 : 0)),
  }),

  command('SCRIPT FLUSH', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '2.6.0',
    args: [named('[ASYNC|SYNC]', zeroOrMore(bytes))],
    run({ store }, mode) {
      if (mode.length > 1 || (mode[0] !== undefined && !/^a?sync$/i.test(mode[0]))) throw flushMode('SCRIPT')
      store.scripts.flush()
      return ok
    },
  }),

  helpCommand(
    'SCRIPT',
    '5.0.0',
    ['slow', 'scripting'],
    {
      'EXISTS <sha1> [<sha1> ...]': 'Returns 1 for each loaded script, 0 for others.',
      'FLUSH [ASYNC|SYNC]': 'Deletes all scripts.',
      KILL: 'Always an error, because no script is running when another command begins.',
      'LOAD <script>': 'Loads a script without running it.',
    },
    'redis',
  ),

  command('SCRIPT KILL', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '2.6.0',
    deviations: 'No script can be killed, because a script ends before the next command begins.',
    args: [],
    run() {
      throw scriptError('notBusy')
    },
  }),
]
