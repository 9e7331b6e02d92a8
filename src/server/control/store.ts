import * as v from 'valibot'
import { wireReply, wordOfWire } from '../../client/wire-value.js'
import type { StoreDump } from '../../store/dump/snapshot.js'
import { type Order, order } from './order.js'
import { base64, nothing } from './schemas.js'

const word = v.union([v.string(), v.number(), base64])
const dump = v.custom<StoreDump>(
  (given) => typeof given === 'object' && given !== null,
  'is not what GET /store/dump returned',
)

export const storeOrders: readonly Order[] = [
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
      next: 'store_get or run_command to look at keys, timeline to see the command in the story.',
      args: { command: 'such as `["HGETALL", "user:1"]`' },
      command: 'command',
    },
    run: ({ store }, { command }) => ({ reply: wireReply(store.run(...command.map(wordOfWire))) }),
  }),
  order({
    method: 'POST',
    path: '/store/get',
    summary: 'The value of a string key as text, `null` when there is none. Leaves no trace in the traffic.',
    body: v.strictObject({ key: v.union([v.string(), base64]) }),
    example: { key: 'greeting' },
    tool: {
      name: 'store_get',
      does: 'The value of a string key.',
      when: 'To look at it without leaving an entry in the traffic. For other types: run_command.',
      effect: 'reads',
      next: 'run_command with TYPE and HGETALL, LRANGE, SMEMBERS … where the key is no string.',
    },
    run: ({ store }, { key }) => ({ value: store.get(wordOfWire(key) as string | Uint8Array) }),
  }),
  {
    method: 'GET',
    path: '/store/dump',
    summary: 'Everything that is stored.',
    tool: {
      name: 'store_dump',
      when: 'To look at all keys at once. In a large store ask run_command with SCAN and a pattern.',
      effect: 'reads',
      next: 'store_get or run_command for one key.',
    },
    run: ({ store }) => store.dump(),
  },
  order({
    method: 'PUT',
    path: '/store/dump',
    summary: 'Replaces everything that is stored with what GET returned.',
    body: dump,
    run: ({ store }, given) => store.load(given),
  }),
  order({
    method: 'POST',
    path: '/store/diff',
    summary: 'What has changed since a dump.',
    body: v.strictObject({ before: dump }),
    run: ({ store }, { before }) => store.diff(before),
  }),
  {
    method: 'GET',
    path: '/store/spend',
    summary: 'What the service would have billed.',
    run: ({ store }) => store.spend(),
  },
  order({
    method: 'POST',
    path: '/store/reset-password',
    summary: 'Revokes both tokens and answers with new ones.',
    body: nothing,
    run: ({ store }) => store.resetPassword(),
  }),
]
