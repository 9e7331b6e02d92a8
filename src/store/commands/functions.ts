import { type Bytes, latin1, utf8 } from '../../kernel/bytes.js'
import { isPortable } from '../../kernel/dump-problems.js'
import { globMatcher } from '../../kernel/glob.js'
import { bytesOf, portableString } from '../../kernel/portable.js'
import { unitsPerItem } from '../../kernel/work.js'
import { type Arg, bytes, type KeyUse, named, toInt64, zeroOrMore } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { replyError, subcommandSyntax } from '../command/errors.js'
import { ok, type Reply, ReplyError, Status } from '../command/reply.js'
import { contentOf, sealed, unsealed } from '../dump/seal.js'
import type { RestoreMode, StoredFunction, StoredLibrary } from '../scripting/function-libraries.js'
import { flushMode, scriptError, unknownListArgument, unknownLoadOption } from '../scripting/script-errors.js'
import { helpCommand } from './help.js'

/**
 * Parser for the arguments after a function's name. They are parsed after the function was found, so that the error for
 * an unknown function comes first.
 */
const input = (use: KeyUse): Arg<readonly Bytes[]> => ({
  usage: 'numkeys [key …] [arg …]',
  min: 1,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    const words = from.rest()
    const count = Number(words[0])
    if (Number.isInteger(count) && count > 0)
      for (const name of words.slice(1, 1 + count)) from.names?.keys.push({ name, use })
    return words
  },
})

function keyCount([word, ...rest]: readonly Bytes[]): number {
  let count: number
  try {
    count = Number(toInt64(word!))
  } catch (error) {
    throw error instanceof ReplyError ? scriptError('badKeyCount') : error
  }
  if (count > rest.length) throw replyError('tooManyKeys')
  if (count < 0) throw scriptError('negativeKeys')
  return count
}

function functionCall(name: string, isReadOnly: boolean): Command {
  return command(name, {
    flags: ['slow', 'scripting', 'noscript'],
    since: '7.0.0',
    deviations: isReadOnly
      ? 'Also runs a function that only reads but does not have the flag no-writes.'
      : "Errors have the service's format.",
    args: [named('function', bytes), input(isReadOnly ? 'R' : 'RW')],
    run({ store, user }, name, words) {
      const { libraries } = store.scripts
      const found = libraries.named(name)
      const count = keyCount(words)
      return libraries.call(found, words.slice(1, 1 + count), words.slice(1 + count), user, isReadOnly)
    },
  })
}

// FUNCTION LIST.

function listed(library: StoredLibrary, withCode: boolean): Reply {
  const entry: Reply[] = [
    latin1('library_name'),
    latin1(library.name),
    latin1('engine'),
    latin1('LUA'),
    latin1('functions'),
    library.functions.map(listedFunction),
  ]
  if (withCode) entry.push(latin1('library_code'), library.code)
  return entry
}

/**
 * Number of reply items for a library, without its functions. `itemsOfFunction` is the number of reply items for a
 * function, without its flags.
 */
const itemsOfLibrary = 8
const itemsOfFunction = 8

function listedFunction({ name, description, flags }: StoredFunction): Reply {
  return [
    latin1('name'),
    latin1(name),
    latin1('description'),
    description === undefined ? null : latin1(description),
    latin1('flags'),
    flags.names.map((flag) => new Status(flag)),
  ]
}

interface ListOptions {
  readonly pattern: Bytes | undefined
  readonly withCode: boolean
}

const listOptions: Arg<ListOptions> = {
  usage: '[LIBRARYNAME pattern] [WITHCODE]',
  min: 0,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    let pattern: Bytes | undefined
    let withCode = false
    while (from.left > 0) {
      if (!withCode && from.takes('WITHCODE')) {
        withCode = true
      } else if (pattern === undefined && from.takes('LIBRARYNAME')) {
        if (from.left === 0) throw scriptError('listNameMissing')
        pattern = from.next()
      } else {
        throw unknownListArgument(from.next())
      }
    }
    return { pattern, withCode }
  },
}

function loadOptions(words: readonly Bytes[]): { code: Bytes; mayReplace: boolean } {
  const options = words.slice(0, -1)
  for (const option of options) if (option.toUpperCase() !== 'REPLACE') throw unknownLoadOption(option)
  return { code: words[words.length - 1]!, mayReplace: options.length > 0 }
}

const mark = 'SF\x01'

function isRestoreMode(word: string): word is RestoreMode {
  return word === 'flush' || word === 'append' || word === 'replace'
}

export const functionCommands: readonly Command[] = [
  functionCall('FCALL', false),
  functionCall('FCALL_RO', true),

  command('FUNCTION LOAD', {
    flags: ['write', 'slow', 'scripting', 'noscript'],
    since: '7.0.0',
    args: [{ ...named('[REPLACE] code', zeroOrMore(bytes)), min: 1 }],
    run({ store }, code) {
      const given = loadOptions(code)
      return latin1(store.scripts.libraries.load(given.code, given.mayReplace))
    },
  }),

  command('FUNCTION DELETE', {
    flags: ['write', 'slow', 'scripting', 'noscript'],
    since: '7.0.0',
    args: [named('library', bytes)],
    run({ store }, name) {
      store.scripts.libraries.delete(name)
      return ok
    },
  }),

  command('FUNCTION FLUSH', {
    flags: ['write', 'slow', 'scripting', 'noscript'],
    since: '7.0.0',
    args: [named('[ASYNC|SYNC]', zeroOrMore(bytes))],
    run({ store }, mode) {
      if (mode.length > 1) throw subcommandSyntax('FUNCTION', 'FLUSH')
      if (mode[0] !== undefined && !/^a?sync$/i.test(mode[0])) throw flushMode('FUNCTION')
      store.scripts.libraries.flush()
      return ok
    },
  }),

  command('FUNCTION LIST', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '7.0.0',
    args: [listOptions],
    run({ store }, { pattern, withCode }) {
      const matches = pattern === undefined ? () => true : globMatcher(pattern, store.work)
      const libraries = store.scripts.libraries.all.filter(({ name }) => matches(latin1(name)))
      let items = 0
      for (const { functions } of libraries) items += itemsOfLibrary + itemsOfFunction * functions.length
      store.work.charge(unitsPerItem * items)
      return libraries.map((library) => listed(library, withCode))
    },
  }),

  command('FUNCTION DUMP', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '7.0.0',
    status: 'redis',
    deviations: "The payload has the double's own format, with a version and a checksum.",
    args: [],
    run({ store }) {
      const libraries = store.scripts.libraries.all
      // Each byte is encoded as JSON and included in the checksum.
      for (const { code } of libraries) store.work.charge(unitsPerItem + code.length)
      const codes = libraries.map(({ code }) => portableString(code))
      return sealed(utf8(JSON.stringify(codes)), mark)
    },
  }),

  command('FUNCTION RESTORE', {
    flags: ['write', 'slow', 'scripting', 'noscript'],
    since: '7.0.0',
    status: 'redis',
    deviations: 'Accepts only payloads that the double created with FUNCTION DUMP.',
    args: [named('serialized-value', bytes), named('[FLUSH | APPEND | REPLACE]', zeroOrMore(bytes))],
    run({ store }, payload, mode) {
      if (mode.length > 1) throw subcommandSyntax('FUNCTION', 'RESTORE')
      const chosen = (mode[0] ?? 'append').toLowerCase()
      if (!isRestoreMode(chosen)) throw scriptError('restorePolicy')
      const codes = contentOf(unsealed(payload, mark))
      // Anyone can compute the checksum, so the content is not trusted.
      if (!Array.isArray(codes) || !codes.every(isPortable)) throw replyError('badDump')
      store.scripts.libraries.restore(codes.map(bytesOf), chosen)
      return ok
    },
  }),

  helpCommand(
    'FUNCTION',
    '7.0.0',
    ['slow', 'scripting'],
    {
      'LOAD [REPLACE] <FUNCTION CODE>': 'Loads a library.',
      'DELETE <LIBRARY NAME>': 'Deletes a library.',
      'LIST [LIBRARYNAME PATTERN] [WITHCODE]': 'Lists the libraries and their functions.',
      STATS: 'Returns the number of libraries and functions.',
      KILL: 'Always an error, because no function is running when another command begins.',
      'FLUSH [ASYNC|SYNC]': 'Deletes all libraries.',
      DUMP: 'Returns all libraries as one payload.',
      'RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]': 'Loads the libraries from a payload of FUNCTION DUMP.',
    },
    'redis',
  ),

  command('FUNCTION STATS', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '7.0.0',
    args: [],
    run({ store }) {
      const { libraries } = store.scripts
      const counts: Reply = [
        latin1('libraries_count'),
        libraries.all.length,
        latin1('functions_count'),
        libraries.functionCount,
      ]
      return [latin1('running_script'), null, latin1('engines'), [latin1('LUA'), counts]]
    },
  }),

  command('FUNCTION KILL', {
    flags: ['slow', 'scripting', 'noscript'],
    since: '7.0.0',
    deviations: 'No function can be killed, because a function ends before the next command begins.',
    args: [],
    run() {
      throw scriptError('notBusy')
    },
  }),
]
