import { type Bytes, latin1, utf8 } from '../../../../src/kernel/bytes.js'
import { type Reply, ReplyError, Status } from '../../../../src/store/command/reply.js'
import type { RedisConnection } from '../redis-client/redis-connection.js'
import { type RespValue, replyIn } from '../redis-client/reply-reader.js'
import { RealRedisTaken } from './real-redis-errors.js'

// The marker of an engine that a sandbox has for itself: a key with a random owner and a lease. What is flushed is flushed
// under it, in one transaction that watches it.

/** Begins every marker's name; behind it stands what puts the key on a certain node of a Cluster. */
export const markerName = 'stuntdouble:engine'

/** Who has an engine, and for how long without renewing it, in host milliseconds. */
export interface Lease {
  readonly owner: string
  readonly span: number
}

/** Takes the marker where nothing at all is stored, in any database. The scripts of other sandboxes run before or after it. */
const takeScript = `local filled = redis.call('INFO', 'keyspace')
if string.find(filled, 'db%d+:keys=') then
  local held = redis.pcall('GET', KEYS[1])
  if type(held) == 'string' then return {'held', held} end
  return {'filled', filled}
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {'taken', ''}`

const renewScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`

export class Marker {
  readonly #lease: Lease
  /** What sets it anew after a flush. */
  readonly setting: readonly Bytes[]

  constructor(
    readonly key: Bytes,
    lease: Lease,
  ) {
    this.#lease = lease
    this.setting = [latin1('SET'), key, utf8(lease.owner), latin1('PX'), latin1(String(lease.span))]
  }

  get #words(): readonly Bytes[] {
    return [latin1('1'), this.key, utf8(this.#lease.owner), latin1(String(this.#lease.span))]
  }

  /** @throws NotOurs where anything is stored, or somebody else has it; TypeError where the engine does not let us look */
  async take(connection: RedisConnection, name: string): Promise<void> {
    // A marker whose lease is over may not have been collected yet.
    await connection.send([latin1('EXISTS'), this.key])
    const libraries = await connection.send([latin1('FUNCTION'), latin1('LIST')])
    if (Array.isArray(libraries) && libraries.length > 0) {
      throw new RealRedisTaken(`The engine at ${name} has libraries of functions: somebody uses it. ${whatToDo}`)
    }
    const told = await connection.send([latin1('EVAL'), latin1(takeScript), ...this.#words])
    if (told instanceof ReplyError) {
      throw new TypeError(`The engine at ${name} does not take the marker of a sandbox: ${told.message}`)
    }
    const [how, what] = replyIn(told) as readonly Reply[]
    if (how === 'held')
      throw new RealRedisTaken(
        `Another sandbox has the engine at ${name}: one engine is for one tenant. End that one first, or give this one an engine of its own.`,
      )
    if (how === 'filled') {
      const databases = String(what).match(/db\d+:keys=\d+/g) ?? []
      throw new RealRedisTaken(
        `The engine at ${name} is not empty (${databases.join(', ').replaceAll(':keys=', ': ')} keys). ${whatToDo}`,
      )
    }
  }

  /** @returns whether it is our own: a read, which an engine answers that takes no writes @throws ReplyError */
  async isOurs(connection: RedisConnection): Promise<boolean> {
    return replyIn(await connection.send([latin1('GET'), this.key])) === utf8(this.#lease.owner)
  }

  /** @returns whether it is still our own, and then for another lease */
  async renew(connection: RedisConnection): Promise<boolean> {
    const told = await connection.send([latin1('EVAL'), latin1(renewScript), ...this.#words])
    return replyIn(told) === 1
  }

  /**
   * Runs rows as one transaction, if the marker is our own when the first of them runs and nobody has touched it since.
   * @param connection one that nobody else sends anything on
   * @returns what the rows were answered, `undefined` where it is not our own: nothing has run then
   */
  async under(
    connection: RedisConnection,
    rows: readonly (readonly Bytes[])[],
  ): Promise<readonly RespValue[] | undefined> {
    for (;;) {
      await connection.send([latin1('WATCH'), this.key])
      const held = await connection.send([latin1('GET'), this.key])
      if (held !== utf8(this.#lease.owner)) {
        await connection.send([latin1('UNWATCH')])
        // An engine that is busy does not say whose it is.
        if (held instanceof ReplyError) throw held
        return undefined
      }
      const told = await transacted(connection, rows)
      if (told instanceof ReplyError) throw told
      if (Array.isArray(told)) return told
      // Touched: by our own renewal, or by somebody else, which the next look shows.
    }
  }
}

const whatToDo =
  'A sandbox starts only on an empty engine, because it flushes it: start one for it, or flush this one yourself if nobody needs what it holds.'

/**
 * Runs rows between MULTI and EXEC. @returns what EXEC answered: a list, or nil where something watched was touched
 * @throws ReplyError for the first row that the engine does not queue; nothing has run then
 */
export async function transacted(connection: RedisConnection, rows: readonly (readonly Bytes[])[]): Promise<RespValue> {
  const sent = [[latin1('MULTI')], ...rows].map((row) => connection.send(row))
  const [, ...queued] = await Promise.all(sent)
  const refused = queued.find((told) => !(told instanceof Status))
  if (refused === undefined) return connection.send([latin1('EXEC')])
  await connection.send([latin1('DISCARD')])
  throw refused instanceof ReplyError ? refused : new ReplyError('ERR the engine did not queue a command')
}
