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
import { type ControlOperation, order } from './operation.js'
import { maxItems, wholeNumber } from './operation-parts.js'
import { base64, nothing, pastInstant } from './schemas.js'

const word = v.union([v.string(), v.number(), base64])
const dump = v.custom<StoreDump>(
  (given) => typeof given === 'object' && given !== null,
  'is not what GET /store/dump returned',
)

function replied(reply: Reply): { reply: PortableReply } {
  return { reply: wireReply(plainReply(reply)) }
}

const scanIt = 'Read it with SCAN and POST /store/run.'

export const storeOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/store/run',
    summary: 'Runs one command as the owner: no token, no limits, nothing billed. Bytes are `{"base64":…}`.',
    body: v.strictObject({ command: v.pipe(v.array(word), v.minLength(1)) }),
    example: { command: ['SET', 'greeting', 'hello', 'EX', 60] },
    tool: {
      name: 'run_command',
      does: 'Runs one command of the data store, as its owner.',
      when: 'To look at keys of any type, or to change them; it may also delete.',
      effect: 'destroys',
      next: 'get_key or run_command to look at keys, get_timeline to see the command in the story.',
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
    summary: 'The value of a string key as text, `null` when there is none. Leaves no trace in the traffic.',
    body: v.strictObject({ key: v.union([v.string(), base64]) }),
    example: { key: 'greeting' },
    tool: {
      name: 'get_key',
      does: 'The value of a string key.',
      when: 'To look at it without leaving an entry in the traffic. For other types: run_command.',
      effect: 'reads',
      next: 'run_command with TYPE and HGETALL, LRANGE, SMEMBERS … where the key is no string.',
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
    summary: 'Everything that is stored.',
    tool: {
      name: 'dump_store',
      when: 'To look at all keys at once. In a large store ask run_command with SCAN and a pattern.',
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
    summary: 'Replaces everything that is stored with what GET returned.',
    body: dump,
    run: ({ store }, given) => store.load(given),
  }),
  order({
    method: 'POST',
    path: '/store/diff',
    storedHere: true,
    summary: 'What has changed since a dump.',
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
      'What commands, loads and resets left at keys, in order; secrets are hidden. Of a long collection only what is different: `splice`.',
    query: {
      after: 'the `seq` of the last change that is known',
      limit: 'changes of one answer, and the rest of the last entry',
    },
    tool: {
      name: 'list_store_changes',
      does: 'What commands, loads and resets left at keys, in order.',
      when: 'To find who changed a key, and when: `seq` is the number of the entry in the timeline.',
      effect: 'reads',
      next: 'list_entries with `after` for the command, read_store_as_of for what was there before.',
      defaults: { limit: 30 },
    },
    run: ({ store, traffic }, _, { query }) => {
      const redaction = traffic.redaction()
      const changes = changesSince(store, redaction, wholeNumber(query, 'after'))
      const limit = Math.min(wholeNumber(query, 'limit') ?? maxItems, maxItems)
      // One entry may have left something at many keys: who asks for what comes after it has to have all of it.
      const last = changes[limit - 1]?.seq
      const asked = last === undefined ? changes : changes.filter(({ seq }, index) => index < limit || seq === last)
      const size = asked.reduce((sum, change) => sum + weightOf(change), 0)
      if (asked.length > 1) refuseLarge(size, maxInSlices, 'What has changed', 'Ask for less with `limit`.')
      return inSlices(asked, weightOf, (change) => redactedChange(change, redaction))
    },
  },
  order({
    method: 'POST',
    path: '/store/as-of',
    storedHere: true,
    summary:
      'Runs one command that only reads in the store as it was at an instant; or everything that was stored then.',
    body: v.strictObject({ at: pastInstant, command: v.optional(v.pipe(v.array(word), v.minLength(1))) }),
    example: { at: '2030-01-01T00:00:00Z', command: ['GET', 'greeting'] },
    tool: {
      name: 'read_store_as_of',
      does: 'Runs one command that only reads in the store as it was at an instant; without a command tells all that was stored.',
      when: 'To see what the app saw when it decided.',
      effect: 'reads',
      next: 'diff_store for what became of it, fork_sandbox to go on from there.',
      args: {
        at: 'ISO text, milliseconds, a span back such as `-5m`, or `{"seq":12}` for right behind that entry',
        command: 'such as `["HGETALL", "user:1"]`',
      },
      command: 'command',
    },
    run: (sandbox, { at, command }) => {
      const { store, now } = sandbox.asOf(at as PastInstant)
      const then = { now: iso(now), milliseconds: now }
      if (command === undefined) return { ...then, dump: store.dump() }
      return { ...then, reply: wireReply(store.run(...command.map(wordOfWire))) }
    },
  }),
  order({
    method: 'POST',
    path: '/store/diff-between',
    storedHere: true,
    summary: 'What was different in the store between two instants; `to` is now without it.',
    body: v.strictObject({ from: pastInstant, to: v.optional(pastInstant) }),
    example: { from: '2030-01-01T00:00:00Z' },
    tool: {
      name: 'diff_store',
      when: 'To see what a step of the story did to the data.',
      effect: 'reads',
      next: 'list_store_changes for which entry did it.',
      args: { from: 'ISO text, milliseconds, a span back such as `-5m`, or `{"seq":12}`', to: 'the same' },
    },
    run: (sandbox, { from, to }) => {
      refuseLarge(sizeOfStore(sandbox), roomAtOnce, 'The store', 'Ask for GET /store/changes with `limit`.')
      const before = sandbox.asOf(from as PastInstant).store.dump()
      return (to === undefined ? sandbox.store : sandbox.asOf(to as PastInstant).store).diff(before)
    },
  }),
  {
    method: 'GET',
    path: '/store/commands',
    summary: 'The commands that there are: their words, group and flags, and in what they differ from redis-server.',
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
    summary: 'Commands that were accepted although the service may refuse them, as sentences.',
    tool: {
      name: 'list_store_diagnostics',
      when: 'Before deploying: commands without a page in the documentation, BLOCK over REST.',
      effect: 'reads',
      next: 'get_timeline for the commands themselves.',
    },
    run: ({ store }) => store.diagnostics,
  },
  {
    method: 'GET',
    path: '/store/cost',
    summary: 'What the service would have billed.',
    run: ({ store }) => store.cost(),
  },
  order({
    method: 'POST',
    path: '/store/reset-password',
    summary: 'Revokes both tokens and answers with new ones.',
    body: nothing,
    run: ({ store }) => store.resetPassword(),
  }),
]
