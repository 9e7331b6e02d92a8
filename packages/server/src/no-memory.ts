import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { decodeSegment } from '../../../src/kernel/http.js'
import type { locator } from '../../../src/protocol/address.js'
import { json } from '../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../src/protocol/service.js'
import { frees } from '../../../src/store/command/memory.js'
import { blockingTable, commandTable } from '../../../src/store/commands/index.js'
import type { HeapWatch } from './heap-watch.js'

/** Error text of redis-server when its memory limit is reached. */
export const outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."

/** Commands with short replies, such as those of health checks. They also run when the heap is critical. */
const small = new Set(
  `PING ECHO TIME INFO DBSIZE EXISTS TOUCH TTL PTTL EXPIRETIME PEXPIRETIME TYPE STRLEN GETBIT LLEN SCARD SISMEMBER HLEN
HEXISTS HSTRLEN ZCARD ZSCORE XLEN`.split(/\s+/),
)
/** Commands that have no write flag but may store data, such as scripts. */
const runs = new Set(['EVAL', 'EVALSHA', 'FCALL', 'SCRIPT LOAD', 'FUNCTION LOAD', 'FUNCTION RESTORE'])

/** Returns whether a command may make the store hold more data. */
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

/**
 * Returns the error for a command of the Redis protocol that must not run because memory is low. Otherwise returns
 * `undefined`.
 */
export function refusesCommand(heap: HeapWatch, argv: readonly Bytes[]): string | undefined {
  heap.look()
  if (!heap.isFull) return undefined
  if (makesRoom(argv)) heap.freed()
  return storesMore(argv) ? outOfMemory : undefined
}

/** Maximum length of a body that is inspected, in bytes. A longer body is rejected. */
const legible = 65_536

/**
 * Returns the error response for a request to a tenant's services that must not run because memory is low. Otherwise
 * returns `undefined`.
 */
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

/** Control operations that also run when memory is low, because they delete data, cancel work, or advance time. */
const freeing =
  /^(?:(?:queue\/)?reset|stats\/clear|clock(?:\/.*)?|(?:queue\/messages|workflow\/runs)(?:\/[^/]+)?\/cancel)$/

/**
 * Returns the error response for a control call that must not run because memory is low. Otherwise returns `undefined`.
 * Operations that free memory or advance time always run.
 */
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

/** Control operations whose response contains all stored data. */
const large = /^(?:state|snapshot|(?:store|queue)\/dump|store\/changes|traffic\/trace)$/

function unavailable(heap: HeapWatch): RawResponse {
  return json({ error: heap.sentence }, 503, [['retry-after', '1']])
}

/**
 * Returns the commands of a request to the store. Arguments that the checks do not need may be missing. Returns
 * `undefined` for a body that is too long to inspect.
 */
function rowsOf(path: string, body: Bytes): readonly (readonly Bytes[])[] | undefined {
  const [, first = '', second = ''] = path.split('/', 3)
  const isRow = first === 'pipeline' || first === 'multi-exec'
  // The name and subcommand are in the path. The body can only contain the last argument, which the checks do not need.
  if (first !== '' && !isRow) return [[decodeSegment(first), decodeSegment(second)].map((word) => latin1(word))]
  if (body.length > legible) return undefined
  try {
    const given = JSON.parse(body) as unknown
    const rows = isRow ? given : [given]
    return (rows as unknown[][]).map((words) => words.map((word) => latin1(String(word))))
  } catch {
    // The store will reject this body, because it is not a list of commands.
    return []
  }
}

/** Returns the command in the body of a control call; `undefined` if the body is invalid or too long to inspect. */
function commandIn(body: Bytes | Promise<Bytes>): readonly Bytes[] | undefined {
  if (typeof body !== 'string' || body.length > legible) return undefined
  try {
    const { command } = JSON.parse(body) as { readonly command: readonly unknown[] }
    return command.map((word) => latin1(String(word)))
  } catch {
    return undefined
  }
}
