import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { decodeSegment } from '../../../src/kernel/http.js'
import type { locator } from '../../../src/protocol/address.js'
import { json } from '../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { frees } from '../../../src/store/command/memory.js'
import { blockingTable, commandTable } from '../../../src/store/commands/index.js'
import type { HeapWatch } from './heap-watch.js'

/** What redis-server says when it may not take more memory. */
export const outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."

/** Commands of health checks, and reads that answer a number or a word: they run while there is any memory at all. */
const small = new Set(
  `PING ECHO TIME INFO DBSIZE EXISTS TOUCH TTL PTTL EXPIRETIME PEXPIRETIME TYPE STRLEN GETBIT LLEN SCARD SISMEMBER HLEN
HEXISTS HSTRLEN ZCARD ZSCORE XLEN`.split(/\s+/),
)
/** They have no such flag, and may write or keep what they were given. */
const runs = new Set(['EVAL', 'EVALSHA', 'FCALL', 'SCRIPT LOAD', 'FUNCTION LOAD', 'FUNCTION RESTORE'])

/** Whether a command may make the data store hold more. */
export function storesMore(argv: readonly Bytes[]): boolean {
  const command = argv.length === 0 ? undefined : (blockingTable.find(argv) ?? commandTable.find(argv))
  return command !== undefined && (runs.has(command.name) || (command.writes && !frees.has(command.name)))
}

function makesRoom([name]: readonly Bytes[]): boolean {
  return name !== undefined && frees.has(name.toUpperCase())
}

function isSmall([name]: readonly Bytes[]): boolean {
  return name === undefined || small.has(name.toUpperCase())
}

/** What the native protocol says to a command for which there is no memory; `undefined` lets it in. */
export function refusesCommand(heap: HeapWatch, argv: readonly Bytes[]): string | undefined {
  heap.look()
  if (!heap.isFull) return undefined
  if (makesRoom(argv)) heap.freed()
  return storesMore(argv) ? outOfMemory : undefined
}

/** Longer ones are not looked into. */
const legible = 65_536

/** The answer to a call to a tenant's services for which there is no memory; `undefined` lets it in. */
export function refusedFor(
  heap: HeapWatch,
  call: RawRequest,
  locate: ReturnType<typeof locator>,
): RawResponse | undefined {
  heap.look()
  const location = heap.isFull ? locate(call.url) : undefined
  if (location === undefined) return undefined
  const body = call.body()
  if (location.service !== 'store') {
    const isRead = call.method === 'GET' || call.method === 'HEAD'
    if (call.method === 'DELETE') heap.freed()
    return call.method === 'DELETE' || (isRead && !heap.isCritical) ? undefined : unavailable(heap)
  }
  const rows = typeof body === 'string' ? rowsOf(location.path, body) : undefined
  if (rows === undefined || rows.some(storesMore)) return json({ error: outOfMemory }, 400)
  const doMakeRoom = rows.some(makesRoom)
  if (doMakeRoom) heap.freed()
  return heap.isCritical && !doMakeRoom && !rows.every(isSmall) ? unavailable(heap) : undefined
}

/** Orders that empty something, end something, or move time. */
const freeing = /^(?:(?:queue\/)?reset|stats\/clear|clock(?:\/.*)?|(?:queue\/messages|workflow\/runs)\/[^/]+\/cancel)$/

/** The same for an order to the control API. What frees memory, and what moves time, is still done. */
export function refusedOrder(heap: HeapWatch, call: RawRequest, path: string): RawResponse | undefined {
  heap.look()
  if (!heap.isFull) return undefined
  const [, verb = ''] = /^\/_control\/[^/?#]+\/([^?#]*)/.exec(path) ?? []
  const command = verb === 'store/run' ? commandIn(call.body()) : undefined
  const { method } = call
  if (method === 'DELETE' || freeing.test(verb) || (command !== undefined && makesRoom(command))) {
    heap.freed()
    return undefined
  }
  if (command !== undefined) {
    if (storesMore(command)) return unavailable(heap)
    return heap.isCritical && !isSmall(command) ? unavailable(heap) : undefined
  }
  return method === 'GET' && !heap.isCritical && !large.test(verb) ? undefined : unavailable(heap)
}

/** Orders whose answers are as large as what is kept. */
const large = /^(?:state|snapshot|(?:store|queue)\/dump|store\/changes|traffic\/trace)$/

function unavailable(heap: HeapWatch): RawResponse {
  return json({ error: heap.sentence }, 503, [['retry-after', '1']])
}

/** The commands of a request to the store, as far as they are needed; `undefined` for what is too long to look into. */
function rowsOf(path: string, body: Bytes): readonly (readonly Bytes[])[] | undefined {
  const [, first = '', second = ''] = path.split('/', 3)
  const isRow = first === 'pipeline' || first === 'multi-exec'
  // With the last word in the body.
  if (first !== '' && !isRow) return [[decodeSegment(first), decodeSegment(second)].map((word) => latin1(word))]
  if (body.length > legible) return undefined
  try {
    const given = JSON.parse(body) as unknown
    const rows = isRow ? given : [given]
    return (rows as unknown[][]).map((words) => words.map((word) => latin1(String(word))))
  } catch {
    // Refused for its form.
    return []
  }
}

/** The command of an order that runs one. */
function commandIn(body: Bytes | Promise<Bytes>): readonly Bytes[] | undefined {
  if (typeof body !== 'string' || body.length > legible) return undefined
  try {
    const { command } = JSON.parse(body) as { readonly command: readonly unknown[] }
    return command.map((word) => latin1(String(word)))
  } catch {
    return undefined
  }
}
