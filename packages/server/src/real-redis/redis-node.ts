import { randomBytes } from 'node:crypto'
import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { ReplyError } from '../../../../src/store/command/reply.js'
import type { RedisConnection } from '../redis-client/redis-connection.js'
import type { RespValue } from '../redis-client/reply-reader.js'
import { counts, rightsOfScripts, runsScript } from './command-scope.js'
import { type Lease, Marker, markerName } from './marker.js'
import { RealRedisTaken, RealRedisUnreachable } from './real-redis-errors.js'
import { away, connectTo, nameOf, type RedisAccess } from './redis-access.js'
import type { RedisLocation } from './redis-urls.js'

/** Returns the host time in milliseconds, on a monotonic clock that also runs while this process is stopped. */
function monotonic(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

const firstPause = 50
const maxPause = 1_000
/** Maximum number of idle connections for transactions. */
const maxFree = 8
/** After a check, the marker is not checked again for this time, in milliseconds of host time. */
const trusted = 1_000

const scriptUser = latin1(`${markerName}:scripts`)

/** Redis user of a connection: `all` for the user of the URL, `scripts` for a user that cannot flush. */
type Rights = 'all' | 'scripts'

/**
 * One server, or one master of a Cluster: its connections and its marker. While the server is unavailable, every
 * command is rejected immediately. After a reconnect, the marker is checked before any command is sent.
 */
export class RedisNode {
  readonly place: RedisLocation
  readonly marker: Marker
  readonly #access: RedisAccess
  readonly #span: number
  #connection: RedisConnection | undefined
  readonly #free: Readonly<Record<Rights, RedisConnection[]>> = { all: [], scripts: [] }
  readonly #password = latin1(randomBytes(18).toString('base64url'))
  #hasUser = false
  /** Reason why the server cannot be used; `undefined` if it can be used. */
  #trouble: Error | undefined
  #leaseEnds = 0
  /** Time of the last successful check of the marker, on the monotonic clock. */
  #seen = 0
  #looking: Promise<void> | undefined
  #renewal: ReturnType<typeof hostSetTimeout> | undefined
  #closed = false

  constructor(place: RedisLocation, access: RedisAccess, key: Bytes, lease: Lease) {
    this.place = place
    this.marker = new Marker(key, lease)
    this.#access = access
    this.#span = lease.span
  }

  get name(): string {
    return nameOf(this.place)
  }

  /** Connects and sets the marker. @throws RealRedisTaken, RealRedisUnreachable, TypeError */
  async take(): Promise<void> {
    const connection = await this.connect()
    try {
      const asked = monotonic()
      await this.marker.take(connection, this.name)
      this.#adopt(connection, asked)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  connect(): Promise<RedisConnection> {
    return connectTo(this.#access, this.place)
  }

  /**
   * Sends a command and returns its reply.
   * @throws RealRedisUnreachable, RealRedisTaken if the server cannot be used
   */
  async send(argv: readonly Bytes[]): Promise<RespValue> {
    // If no check is due, send the command without an `await`, so that commands keep their order.
    if (this.#mustAsk) {
      const refused = await this.#ready().catch(replied)
      // While the server is busy with a script, the check fails. Commands that end the script are sent anyway.
      if (refused !== undefined && !endsScript(argv)) return refused
    }
    return this.#connection!.send(argv)
  }

  /** Opens a separate connection for events, if the server can be used. */
  async listener(): Promise<RedisConnection> {
    if (this.#mustAsk) await this.#ready()
    return this.connect()
  }

  /** Runs a function with a connection that no other commands use at the same time. */
  async alone<T>(work: (connection: RedisConnection) => Promise<T>, rights: Rights = 'all'): Promise<T> {
    if (this.#mustAsk) await this.#ready()
    const connection = this.#free[rights].pop() ?? (await this.#ourOwn(rights))
    try {
      return await work(connection)
    } catch (error) {
      // Do not use the connection again, because it may be in the middle of a transaction.
      if (error instanceof RealRedisUnreachable) connection.close()
      throw error
    } finally {
      if (connection.isOpen && this.#free[rights].length < maxFree && !this.#closed) this.#free[rights].push(connection)
      else connection.close()
    }
  }

  /**
   * Runs commands as one transaction, but only if the real Redis belongs to this sandbox when the transaction runs. The
   * marker is subtracted from the reply of DBSIZE.
   * @returns the replies
   * @throws RealRedisTaken if the real Redis no longer belongs to this sandbox; no command has run then
   */
  marked(rows: readonly (readonly Bytes[])[]): Promise<readonly RespValue[]> {
    return this.alone(
      async (connection) => {
        const answered = await this.marker.under(connection, rows)
        if (answered === undefined) {
          throw new RealRedisTaken(
            `The real Redis at ${this.name} no longer belongs to this sandbox, so nothing was flushed and no script ran.`,
          )
        }
        return answered.map((told, at) => (counts(rows[at]!) && typeof told === 'number' ? told - 1 : told))
      },
      rows.some(runsScript) ? 'scripts' : 'all',
    )
  }

  /** Opens a connection and checks the marker, because another server may have taken over this address. */
  async #ourOwn(rights: Rights): Promise<RedisConnection> {
    const connection = await this.connect()
    try {
      if (!(await this.marker.renew(connection))) {
        this.#lose()
        throw this.#trouble
      }
      if (rights === 'scripts') await this.#restrict(connection)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /**
   * Signs in on a connection as a user that cannot flush. Scripts on this connection then cannot flush either, because
   * they have the rights of their user.
   */
  async #restrict(connection: RedisConnection): Promise<void> {
    const rights = ['reset', 'on', ...rightsOfScripts].map(latin1)
    const set = ['ACL', 'SETUSER'].map(latin1).concat(scriptUser, rights, latin1(`>${this.#password}`))
    const answered = await this.marker.under(connection, [set])
    if (answered === undefined)
      throw new RealRedisTaken(`The real Redis at ${this.name} no longer belongs to this sandbox.`)
    this.#hasUser = true
    const told = [answered[0], await connection.send([latin1('AUTH'), scriptUser, this.#password])]
    const refused = told.find((each) => each instanceof ReplyError)
    if (refused instanceof ReplyError) throw refused
  }

  /**
   * Closes all connections. Before that, it runs the commands of `end` if the marker still belongs to this sandbox.
   * @param end commands that delete all data and the marker
   */
  async close(end: readonly (readonly Bytes[])[]): Promise<void> {
    this.#closed = true
    hostClearTimeout(this.#renewal)
    let connection: RedisConnection | undefined
    try {
      if (this.#trouble !== undefined) return
      connection = await this.connect()
      const leave = ['ACL', 'DELUSER'].map(latin1).concat(scriptUser)
      await this.marker.under(connection, this.#hasUser ? [...end, leave] : end)
    } catch (error) {
      // Ignore an unavailable server. Its data cannot be deleted.
      if (!(error instanceof RealRedisUnreachable)) throw error
    } finally {
      connection?.close()
      this.#connection?.close()
      this.#letGo()
    }
  }

  #letGo(): void {
    for (const pool of Object.values(this.#free)) for (const free of pool.splice(0)) free.close()
  }

  /** Sets the marker again on an empty server that no longer belongs to this sandbox. */
  async retake(): Promise<void> {
    this.#lose()
    const former = this.#connection
    if (former !== undefined) former.ended = undefined
    former?.close()
    this.#letGo()
    await this.take()
  }

  get #mustAsk(): boolean {
    const now = monotonic()
    return this.#trouble !== undefined || now >= this.#leaseEnds || now >= this.#seen + trusted
  }

  /**
   * Checks the marker. All commands that arrive during a check wait for the same check, so that they keep their order.
   */
  #ready(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /**
   * Checks the marker. A server without the marker may contain data of another owner, for example after a flush by
   * another client. If this process was stopped, the lease may have expired. Then the lease is renewed.
   * @throws ReplyError if the server rejects the check, RealRedisUnreachable, RealRedisTaken
   */
  async #look(): Promise<void> {
    if (this.#trouble === undefined) {
      const asked = monotonic()
      if (asked >= this.#leaseEnds) await this.#renew()
      else if (await this.marker.isOurs(this.#connection!)) this.#seen = asked
      else this.#lose()
    }
    if (this.#trouble !== undefined) throw this.#trouble
    if (monotonic() >= this.#leaseEnds) throw away(this.place, 'it does not return its marker')
  }

  #adopt(connection: RedisConnection, asked: number): void {
    this.#connection = connection
    this.#trouble = undefined
    this.#seen = asked
    this.#leaseEnds = asked + this.#span
    connection.ended = () => this.#broken()
    this.#renewLater()
  }

  #renewLater(): void {
    hostClearTimeout(this.#renewal)
    this.#renewal = hostSetTimeout(() => void this.#renew(), this.#span / 3)
    this.#renewal.unref?.()
  }

  async #renew(): Promise<void> {
    const connection = this.#connection!
    try {
      const asked = monotonic()
      if (await this.marker.renew(connection)) {
        this.#seen = asked
        this.#leaseEnds = asked + this.#span
        this.#renewLater()
      } else this.#lose()
    } catch (error) {
      // If the connection is broken, `#broken()` reconnects. A server that is loading or out of memory replies with an
      // error. Then try again later.
      if (!(error instanceof RealRedisUnreachable) && !this.#closed) this.#renewLater()
    }
  }

  #lose(): void {
    hostClearTimeout(this.#renewal)
    this.#trouble = new RealRedisTaken(
      `The real Redis at ${this.name} no longer belongs to this sandbox: its marker was deleted, for example by a restart, a flush or a pause longer than its lease. The sandbox no longer uses this Redis. reset() uses the Redis again if the Redis is empty.`,
    )
  }

  #broken(): void {
    if (this.#closed) return
    hostClearTimeout(this.#renewal)
    this.#letGo()
    if (this.#trouble instanceof RealRedisTaken) return
    this.#trouble = away(this.place, 'it closed the connection')
    this.#reopenIn(firstPause)
  }

  #reopenIn(pause: number): void {
    this.#renewal = hostSetTimeout(() => void this.#reopen(pause), pause)
    this.#renewal.unref?.()
  }

  /** Reconnects. The new connection is used only if the marker still belongs to this sandbox. */
  async #reopen(pause: number): Promise<void> {
    let connection: RedisConnection | undefined
    try {
      connection = await this.connect()
      const asked = monotonic()
      const isOurs = await this.marker.renew(connection)
      if (this.#closed) connection.close()
      else if (isOurs) this.#adopt(connection, asked)
      else {
        connection.close()
        this.#lose()
      }
    } catch {
      connection?.close()
      if (!this.#closed) this.#reopenIn(Math.min(2 * pause, maxPause))
    }
  }
}

function replied(error: unknown): ReplyError {
  if (error instanceof ReplyError) return error
  throw error
}

function endsScript([name, verb]: readonly Bytes[]): boolean {
  return /^(?:SCRIPT|FUNCTION)$/i.test(name!) && /^KILL$/i.test(verb ?? '')
}
