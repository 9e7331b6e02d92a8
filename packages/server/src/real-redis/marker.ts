import { type Bytes, latin1, utf8 } from '../../../../src/kernel/bytes.js'
import { type Reply, ReplyError, Status } from '../../../../src/store/command/reply.js'
import type { RedisConnection } from '../redis-client/redis-connection.js'
import { type RespValue, replyIn } from '../redis-client/reply-reader.js'
import { RealRedisTaken } from './real-redis-errors.js'

// The marker is a key that marks a real Redis as used by one sandbox. Its value is the random ID of its owner, and it
// expires after a lease. A flush runs in a transaction that watches this key.

/**
 * Beginning of the name of every marker. In a Cluster, a suffix determines the hash slot of the marker, and therefore
 * the node of the marker.
 */
export const markerName = 'stuntdouble:engine'

/**
 * `owner` is the ID of a sandbox. `span` is the time for which the sandbox owns a real Redis without a renewal, in
 * milliseconds of host time.
 */
export interface Lease {
  readonly owner: string
  readonly span: number
}

/**
 * Sets the marker if no database contains a key. Redis runs scripts one after another, so only one of several sandboxes
 * can succeed.
 */
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
  /** Command that sets the marker again after a flush. */
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

  /**
   * Sets the marker on an empty server.
   * @throws RealRedisTaken if a key exists or another sandbox has the marker; TypeError if the server rejects the
   *   script
   */
  async take(connection: RedisConnection, name: string): Promise<void> {
    // A marker with an expired lease may still count as a key. When the marker is read, Redis deletes it.
    await connection.send([latin1('EXISTS'), this.key])
    const libraries = await connection.send([latin1('FUNCTION'), latin1('LIST')])
    if (Array.isArray(libraries) && libraries.length > 0) {
      throw new RealRedisTaken(`The real Redis at ${name} has function libraries, so it is in use. ${whatToDo}`)
    }
    const told = await connection.send([latin1('EVAL'), latin1(takeScript), ...this.#words])
    if (told instanceof ReplyError) {
      throw new TypeError(`The real Redis at ${name} rejects the marker of a sandbox: ${told.message}`)
    }
    const [how, what] = replyIn(told) as readonly Reply[]
    if (how === 'held')
      throw new RealRedisTaken(
        `The real Redis at ${name} is used by another sandbox. Close that sandbox first, or use another Redis.`,
      )
    if (how === 'filled') {
      const databases = String(what).match(/db\d+:keys=\d+/g) ?? []
      throw new RealRedisTaken(
        `The real Redis at ${name} is not empty (${databases.join(', ').replaceAll(':keys=', ': ')} keys). ${whatToDo}`,
      )
    }
  }

  /**
   * Returns whether the marker belongs to this sandbox. This check only reads, so it also works on a server that
   * accepts no writes.
   * @throws ReplyError
   */
  async isOurs(connection: RedisConnection): Promise<boolean> {
    return replyIn(await connection.send([latin1('GET'), this.key])) === utf8(this.#lease.owner)
  }

  /** Renews the lease. Returns whether the marker still belongs to this sandbox. */
  async renew(connection: RedisConnection): Promise<boolean> {
    const told = await connection.send([latin1('EVAL'), latin1(renewScript), ...this.#words])
    return replyIn(told) === 1
  }

  /**
   * Runs commands as one transaction, but only if the marker belongs to this sandbox when the transaction runs.
   * @param connection connection that no other commands use at the same time
   * @returns the replies; `undefined` if the marker does not belong to this sandbox, so that no command has run
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
        // A server that is busy with a script returns an error instead of the value of the marker.
        if (held instanceof ReplyError) throw held
        return undefined
      }
      const told = await transacted(connection, rows)
      if (told instanceof ReplyError) throw told
      if (Array.isArray(told)) return told
      // The marker was changed after it was read, by a renewal of this sandbox or by another owner. Read it again.
    }
  }
}

const whatToDo =
  'A sandbox needs an empty Redis, because it deletes all data there. Start an empty Redis for the sandbox, or flush this one yourself if its data is not needed.'

/**
 * Runs commands between MULTI and EXEC. Returns the reply of EXEC: a list, or nil if a watched key has changed.
 * @throws ReplyError for the first command that is not queued; no command has run then
 */
export async function transacted(connection: RedisConnection, rows: readonly (readonly Bytes[])[]): Promise<RespValue> {
  const sent = [[latin1('MULTI')], ...rows].map((row) => connection.send(row))
  const [, ...queued] = await Promise.all(sent)
  const refused = queued.find((told) => !(told instanceof Status))
  if (refused === undefined) return connection.send([latin1('EXEC')])
  await connection.send([latin1('DISCARD')])
  throw refused instanceof ReplyError ? refused : new ReplyError('ERR the real Redis did not queue a command')
}
