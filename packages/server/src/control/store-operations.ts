import * as v from 'valibot'
import { type PortableReply, wireReply, wordOfWire } from '../../../../src/client/portable-reply.js'
import { latin1 } from '../../../../src/kernel/bytes.js'
import { iso } from '../../../../src/kernel/instant.js'
import { weightOf } from '../../../../src/kernel/weight.js'
import { changesSince, redactedChange } from '../../../../src/report/redacted-changes.js'
import type { PastInstant } from '../../../../src/sandbox/past.js'
import type { Reply } from '../../../../src/store/command/reply.js'
import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import { bytesOfWord, plainReply } from '../../../../src/store/plain.js'
import { searchLoading } from '../../../../src/store/search/load-search.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { inSlices, maxInSlices, refuseLarge, roomAtOnce, sizeOfStore } from './large.js'
import { type AddressedDatabase, type ControlOperation, ofDatabase, order } from './operation.js'
import { maxItems, wholeNumber } from './operation-parts.js'
import { base64, nothing, pastInstant } from './schemas.js'

const word = v.union([v.string(), v.number(), base64])
const dump = v.custom<StoreDump>(
  (given) => typeof given === 'object' && given !== null,
  'must be a response of GET /store/dump',
)

function replied(reply: Reply): { reply: PortableReply } {
  return { reply: wireReply(plainReply(reply)) }
}

const scanIt = 'Read it with SCAN and POST /store/run.'

export const storeOrders: readonly ControlOperation[] = ofDatabase([
  order({
    method: 'POST',
    path: '/store/run',
    summary: 'Runs one command as the owner of the store, without token, limits or cost. Bytes are `{"base64":…}`.',
    body: v.strictObject({ command: v.pipe(v.array(word), v.minLength(1)) }),
    example: { command: ['SET', 'greeting', 'hello', 'EX', 60] },
    tool: {
      name: 'run_command',
      does: 'Runs one command in the store, with all permissions.',
      when: 'Use it to read, change or delete keys of any type.',
      effect: 'destroys',
      next: 'get_key or run_command to read keys, get_timeline to see the command in context.',
      args: { command: 'such as `["HGETALL", "user:1"]`' },
      command: 'command',
    },
    run({ store }, { command }) {
      const { elsewhere } = storeInternals.of(store)
      const words = command.map(wordOfWire)
      if (elsewhere !== undefined) return elsewhere.run(words.map(bytesOfWord)).then(replied)
      const run = () => ({ reply: wireReply(store.run(...words)) })
      return searchLoading(command.map(String), storeInternals.of(store).engine)?.then(run) ?? run()
    },
  }),
  order({
    method: 'POST',
    path: '/store/get',
    summary:
      'Returns the value of a string key as text, or `null` if the key does not exist. The operation leaves no entry in the traffic log.',
    body: v.strictObject({ key: v.union([v.string(), base64]) }),
    example: { key: 'greeting' },
    tool: {
      name: 'get_key',
      does: 'Returns the value of a string key.',
      when: 'Use it to read a key without leaving an entry in the traffic log. For other types use run_command.',
      effect: 'reads',
      next: 'run_command with TYPE and HGETALL, LRANGE, SMEMBERS … if the key is not a string.',
    },
    run({ store }, { key }) {
      const { elsewhere } = storeInternals.of(store)
      const word = wordOfWire(key) as string | Uint8Array
      if (elsewhere === undefined) return { value: store.get(word) }
      return elsewhere.peek([latin1('GET'), bytesOfWord(word)]).then((value) => ({ value: plainReply(value) }))
    },
  }),
  {
    method: 'GET',
    path: '/store/dump',
    storedHere: true,
    summary: 'Returns all keys with their values.',
    tool: {
      name: 'dump_store',
      when: 'Use it to see all keys. For a large store, use run_command with SCAN and a pattern.',
      effect: 'reads',
      next: 'get_key or run_command for one key.',
    },
    run: ({ store }) => {
      refuseLarge(sizeOfStore({ store }), roomAtOnce, 'The store', scanIt)
      return store.dump()
    },
  },
  order({
    method: 'PUT',
    path: '/store/dump',
    storedHere: true,
    summary: 'Replaces the content of the store with a response of GET /store/dump.',
    body: dump,
    run: ({ store }, given) => store.load(given),
  }),
  order({
    method: 'POST',
    path: '/store/diff',
    storedHere: true,
    summary: 'Returns what has changed since a dump.',
    body: v.strictObject({ before: dump }),
    run: ({ store }, { before }) => {
      refuseLarge(sizeOfStore({ store }), roomAtOnce, 'The store', scanIt)
      return store.diff(before)
    },
  }),
  {
    method: 'GET',
    path: '/store/changes',
    storedHere: true,
    summary:
      'Returns the changes of keys by commands, loads and resets, in order; secrets are redacted. A change of a long collection contains only the difference, as `splice`.',
    query: {
      after: '`seq` of the last known change',
      limit:
        'maximum number of changes; all changes of one log entry are returned together, so a response can exceed it',
    },
    tool: {
      name: 'list_store_changes',
      does: 'Returns the changes of keys by commands, loads and resets, in order.',
      when: 'Use it to find out when a key changed and which entry changed it: `seq` is the number of the entry in the timeline.',
      effect: 'reads',
      next: 'list_entries with `after` for the command, read_store_as_of for the value before.',
      defaults: { limit: 30 },
    },
    run: ({ store, traffic }, _, { query }) => {
      const redaction = traffic.redaction()
      const changes = changesSince(store, redaction, wholeNumber(query, 'after'))
      const limit = Math.min(wholeNumber(query, 'limit') ?? maxItems, maxItems)
      // One entry may have changed many keys. Include all changes of the last entry, so that `after` does not skip any
      // of them.
      const last = changes[limit - 1]?.seq
      const asked = last === undefined ? changes : changes.filter(({ seq }, index) => index < limit || seq === last)
      const size = asked.reduce((sum, change) => sum + weightOf(change), 0)
      if (asked.length > 1) refuseLarge(size, maxInSlices, 'The list of changes', 'Reduce `limit`.')
      return inSlices(asked, weightOf, (change) => redactedChange(change, redaction))
    },
  },
  order({
    method: 'POST',
    path: '/store/as-of',
    storedHere: true,
    summary: 'Runs one read-only command in the store as of an instant, or returns all keys of that instant.',
    body: v.strictObject({ at: pastInstant, command: v.optional(v.pipe(v.array(word), v.minLength(1))) }),
    example: { at: '2030-01-01T00:00:00Z', command: ['GET', 'greeting'] },
    tool: {
      name: 'read_store_as_of',
      does: 'Runs one read-only command in the store as of an instant; without a command, returns all keys.',
      when: 'Use it to see what the app read at that instant.',
      effect: 'reads',
      next: 'diff_store for what changed since, fork_sandbox to continue from there.',
      args: {
        at: 'ISO text, milliseconds, a duration before now such as `-5m`, or `{"seq":12}` for directly after that entry',
        command: 'such as `["HGETALL", "user:1"]`',
      },
      command: 'command',
    },
    run: (database: AddressedDatabase, { at, command }) => {
      const { store, now } = database.asOf(at as PastInstant)
      const then = { now: iso(now), milliseconds: now }
      if (command === undefined) return { ...then, dump: store.dump() }
      return { ...then, reply: wireReply(store.run(...command.map(wordOfWire))) }
    },
  }),
  order({
    method: 'POST',
    path: '/store/diff-between',
    storedHere: true,
    summary: 'Returns the differences of the store between two instants. Default of `to`: now.',
    body: v.strictObject({ from: pastInstant, to: v.optional(pastInstant) }),
    example: { from: '2030-01-01T00:00:00Z' },
    tool: {
      name: 'diff_store',
      when: 'Use it to see what one step did to the data.',
      effect: 'reads',
      next: 'list_store_changes for the entry that caused a difference.',
      args: {
        from: 'ISO text, milliseconds, a duration before now such as `-5m`, or `{"seq":12}`',
        to: 'same forms as `from`',
      },
    },
    run: (database: AddressedDatabase, { from, to }) => {
      refuseLarge(sizeOfStore(database), roomAtOnce, 'The store', 'Use GET /store/changes with `limit`.')
      const before = database.asOf(from as PastInstant).store.dump()
      return (to === undefined ? database.store : database.asOf(to as PastInstant).store).diff(before)
    },
  }),
  {
    method: 'GET',
    path: '/store/commands',
    summary:
      'Returns the supported commands: their arguments, group and flags, and their differences from redis-server.',
    run: ({ store }) =>
      storeInternals.of(store).engine.commands.commands.map(({ name, usage, group, flags, since, deviations }) => ({
        name,
        usage,
        summary: [`since ${since}`, deviations].filter((part) => part !== '').join('; '),
        group,
        flags,
      })),
  },
  {
    method: 'GET',
    path: '/store/diagnostics',
    summary: 'Returns warnings about commands that the double accepted but the service may reject.',
    tool: {
      name: 'list_store_diagnostics',
      when: 'Use it before deploying. The warnings name undocumented commands, and BLOCK options over REST.',
      effect: 'reads',
      next: 'get_timeline for the commands themselves.',
    },
    run: ({ store }) => store.diagnostics,
  },
  {
    method: 'GET',
    path: '/store/cost',
    summary: 'Returns the commands and bytes that the service would have billed.',
    run: ({ store }) => store.cost(),
  },
  order({
    method: 'POST',
    path: '/store/reset-password',
    summary: 'Revokes both tokens and returns new ones.',
    body: nothing,
    run: ({ store }) => store.resetPassword(),
  }),
])
