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

/** Host milliseconds that do not go back, and go on while a process is stopped. */
function monotonic(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

const firstPause = 50
const maxPause = 1_000
/** Connections that wait for another transaction. */
const maxFree = 8
/** Host milliseconds for which commands trust a look at the marker. */
const trusted = 1_000

const scriptUser = latin1(`${markerName}:scripts`)

/** What runs scripts may do less. */
type Rights = 'all' | 'scripts'

/**
 * One engine, or one master of a Cluster: its connection, its marker, and whether it may be spoken to. While it is away
 * everything is refused at once; when it is back it is asked whose it is before anything else.
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
  /** Why it cannot be asked. */
  #trouble: Error | undefined
  #leaseEnds = 0
  /** When the marker was last seen to be our own. */
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

  /** Connects and takes the marker. @throws NotOurs, NotThere, TypeError */
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

  /** A connection of its own to this engine. */
  connect(): Promise<RedisConnection> {
    return connectTo(this.#access, this.place)
  }

  /** @throws NotThere, NotOurs where it cannot be asked */
  async send(argv: readonly Bytes[]): Promise<RespValue> {
    // Whoever is ready is so at once: commands keep the order in which they came.
    if (this.#mustAsk) {
      const refused = await this.#ready().catch(replied)
      // An engine that is busy with a script shows its marker to nobody, and takes nothing but the end of the script.
      if (refused !== undefined && !endsScript(argv)) return refused
    }
    return this.#connection!.send(argv)
  }

  /** A connection of its own to an engine that may be listened to. */
  async listener(): Promise<RedisConnection> {
    if (this.#mustAsk) await this.#ready()
    return this.connect()
  }

  /** A turn on a connection that nobody else uses meanwhile. */
  async alone<T>(work: (connection: RedisConnection) => Promise<T>, rights: Rights = 'all'): Promise<T> {
    if (this.#mustAsk) await this.#ready()
    const connection = this.#free[rights].pop() ?? (await this.#ourOwn(rights))
    try {
      return await work(connection)
    } catch (error) {
      // It may be within a transaction.
      if (error instanceof RealRedisUnreachable) connection.close()
      throw error
    } finally {
      if (connection.isOpen && this.#free[rights].length < maxFree && !this.#closed) this.#free[rights].push(connection)
      else connection.close()
    }
  }

  /**
   * Runs rows as one transaction, if the engine is this sandbox's own at that moment. The marker is not counted.
   * @returns what they were answered
   * @throws NotOurs where it is not: nothing has run then
   */
  marked(rows: readonly (readonly Bytes[])[]): Promise<readonly RespValue[]> {
    return this.alone(
      async (connection) => {
        const answered = await this.marker.under(connection, rows)
        if (answered === undefined) {
          throw new RealRedisTaken(
            `The engine at ${this.name} is no longer this sandbox's own: nothing was flushed, and no script was run.`,
          )
        }
        return answered.map((told, at) => (counts(rows[at]!) && typeof told === 'number' ? told - 1 : told))
      },
      rows.some(runsScript) ? 'scripts' : 'all',
    )
  }

  /** A new connection may lead to another engine than the first one did. */
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

  /** Scripts have the rights of whoever runs them: a user of the engine that cannot flush. */
  async #restrict(connection: RedisConnection): Promise<void> {
    const rights = ['reset', 'on', ...rightsOfScripts].map(latin1)
    const set = ['ACL', 'SETUSER'].map(latin1).concat(scriptUser, rights, latin1(`>${this.#password}`))
    const answered = await this.marker.under(connection, [set])
    if (answered === undefined) throw new RealRedisTaken(`The engine at ${this.name} is no longer this sandbox's own.`)
    this.#hasUser = true
    const told = [answered[0], await connection.send([latin1('AUTH'), scriptUser, this.#password])]
    const refused = told.find((each) => each instanceof ReplyError)
    if (refused instanceof ReplyError) throw refused
  }

  /** Gives the marker back with all that was stored under it, if it is our own. */
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
      // Then nobody can clean up.
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

  /** Takes an engine that was lost once more, where it is empty. */
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

  /** Commands that come during one look wait for it together, so that they keep their order. */
  #ready(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /**
   * Whatever deleted the marker, such as a foreign flush, can have stored keys since. A process that was stopped for longer
   * than its lease asks for another one.
   * @throws ReplyError where the engine refuses to tell, NotThere, NotOurs
   */
  async #look(): Promise<void> {
    if (this.#trouble === undefined) {
      const asked = monotonic()
      if (asked >= this.#leaseEnds) await this.#renew()
      else if (await this.marker.isOurs(this.#connection!)) this.#seen = asked
      else this.#lose()
    }
    if (this.#trouble !== undefined) throw this.#trouble
    if (monotonic() >= this.#leaseEnds) throw away(this.place, 'it does not tell whose it is')
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
      // What broke is opened again; an engine that is loading or out of memory is asked again.
      if (!(error instanceof RealRedisUnreachable) && !this.#closed) this.#renewLater()
    }
  }

  #lose(): void {
    hostClearTimeout(this.#renewal)
    this.#trouble = new RealRedisTaken(
      `The engine at ${this.name} is no longer this sandbox's own: its marker is gone, as after a restart, a flush or a pause longer than its lease. Nothing more is done to it; reset() takes it again where it is empty.`,
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

  /** Goes on only if the marker is still our own. */
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
