import { randomBytes } from 'node:crypto'
import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { type Reply, ReplyError } from '../../../../src/store/command/reply.js'
import { type RespValue, replyIn } from '../redis-client/reply-reader.js'
import { slotOf } from '../redis-cluster/hash-slots.js'
import { specialOf } from './all-keys.js'
import { CommandCatalog, type CommandInfo } from './command-catalog.js'
import { counts, destroys, flushes, keepInside, runsScript } from './command-scope.js'
import { EventSettings } from './event-settings.js'
import { combined } from './fan-out.js'
import { markerName, transacted } from './marker.js'
import { type MasterSlots, markerIn, sharesIn, sharesOf, slotsOfCluster } from './master-slots.js'
import { RealRedisTaken } from './real-redis-errors.js'
import type { RedisAccess } from './redis-access.js'
import { RedisNode } from './redis-node.js'
import { engineUrl } from './redis-urls.js'
import { ScriptDigests } from './script-flags.js'

export interface RealRedisSettings {
  /** Name of the option that contains the URL, for error messages. */
  readonly option?: string
  /** Hosts other than this machine that are allowed in the URL. */
  readonly allowed?: readonly string[]
  /** Time for which the real Redis belongs to this sandbox without renewal, in milliseconds of host time. */
  readonly lease?: number
  /** Time after which a server that does not reply counts as disconnected, in milliseconds of host time. */
  readonly patience?: number
}

/**
 * Default lease. The lease is much longer than the time for which a slow script may block a server, so that the marker
 * does not expire during the script.
 */
const usualLease = 60_000
const usualPatience = 5_000
const maxRedirects = 5

/**
 * A real Redis or Valkey, or a Cluster, that belongs to one sandbox. The server itself returns the facts about its
 * commands.
 */
export class RealRedis {
  readonly isCluster: boolean
  readonly knowledge: CommandCatalog
  readonly #nodes: Map<string, RedisNode>
  /** Node of each hash slot in a Cluster. */
  #owners: readonly RedisNode[] = []
  readonly #events = new EventSettings()
  readonly #flags = new ScriptDigests()
  #closing: Promise<void> | undefined

  private constructor(nodes: readonly RedisNode[], shares: readonly MasterSlots[]) {
    this.#nodes = new Map(nodes.map((node) => [node.name, node]))
    this.isCluster = shares.length > 0
    this.#assign(shares)
    this.knowledge = new CommandCatalog((argv) => this.#home.send(argv))
  }

  /**
   * Connects to an empty real Redis and sets the marker of this sandbox.
   * @throws RealRedisTaken if the real Redis is in use or not empty, TypeError for an invalid URL or a host that is not
   *   allowed, RealRedisUnreachable
   */
  static async open(given: string, options: RealRedisSettings = {}): Promise<RealRedis> {
    const { option = 'engine', allowed = [], lease = usualLease, patience = usualPatience } = options
    const url = engineUrl(given, option)
    const access: RedisAccess = { url, allowed, patience }
    const shares = await sharesOf(access)
    const terms = { owner: randomBytes(18).toString('base64url'), span: lease }
    const nodes =
      shares.length === 0
        ? [new RedisNode(url, access, latin1(markerName), terms)]
        : shares.map((share) => new RedisNode(share.place, access, markerIn(share), terms))
    const taken: RedisNode[] = []
    try {
      for (const node of nodes) {
        await node.take()
        taken.push(node)
      }
    } catch (error) {
      for (const node of taken) await node.close(giveBack(node))
      throw error
    }
    return new RealRedis(nodes, shares)
  }

  /** Names of the marker keys. Clients must not use them. */
  get markers(): readonly Bytes[] {
    return [...this.#nodes.values()].map(({ marker }) => marker.key)
  }

  get nodes(): readonly RedisNode[] {
    return [...this.#nodes.values()]
  }

  /** The node for commands that every node can run. */
  get #home(): RedisNode {
    return this.#nodes.values().next().value!
  }

  /**
   * Runs one command and returns its reply.
   * @throws ReplyError with the text of the real Redis, RealRedisUnreachable, RealRedisTaken
   */
  async run(given: readonly Bytes[]): Promise<Reply> {
    const argv = this.#flags.withoutFlag(given)
    keepInside(argv)
    if (destroys(argv) || runsScript(argv)) return replyIn((await this.transact([argv]))[0]!)
    const special = specialOf(argv, this.nodes)
    if (special !== undefined) return special(argv, this.nodes)
    await this.#events.mind(argv, this.nodes)
    if (!this.isCluster) return replyIn(await this.#home.send(argv))
    const facts = await this.knowledge.of(argv)
    const keys = await this.knowledge.keysOf(argv, facts)
    if (keys.length === 0 && facts !== undefined && asksAll(facts)) {
      return combined(facts, await Promise.all(this.nodes.map((node) => node.send(argv))))
    }
    return replyIn(await this.#routed(argv, keys[0]))
  }

  /**
   * Runs commands as one transaction on a separate connection. Flushes and scripts run only if the real Redis belongs
   * to this sandbox at that instant.
   * @returns a reply or error for each command
   * @throws ReplyError if the server rejects the transaction, RealRedisTaken if the real Redis no longer belongs to
   *   this sandbox; no command has run then
   */
  async transact(given: readonly (readonly Bytes[])[]): Promise<readonly RespValue[]> {
    const rows = given.map((argv) => this.#flags.withoutFlag(argv))
    for (const row of rows) keepInside(row)
    if (rows.some(destroys)) return this.#everywhere(rows)
    const told = await this.#transacted(rows).catch(async (error) => {
      // A hash slot has moved, so no command has run. Read the hash slots again and retry.
      if (!(error instanceof ReplyError) || !error.message.startsWith('MOVED ')) throw error
      await this.#renewMap()
      return this.#transacted(rows)
    })
    if (Array.isArray(told)) return told
    throw told instanceof ReplyError ? told : new ReplyError('EXECABORT Transaction discarded')
  }

  /**
   * Runs a transaction on all masters, because it contains a flush or another command that affects the whole server. A
   * flush also deletes the markers, so they are set again.
   * @returns the replies of the first node
   * @throws RealRedisTaken; ReplyError for a flush and a script in one transaction, because scripts must not flush; in
   *   a Cluster also ReplyError for a flush and keys in one transaction
   */
  async #everywhere(rows: readonly (readonly Bytes[])[]): Promise<readonly RespValue[]> {
    if (rows.some(flushes) && rows.some(runsScript)) {
      throw new ReplyError('ERR a flush and a script cannot be commands of one transaction: send them one by one')
    }
    if (this.isCluster && !rows.every(isAboutAll)) {
      throw new ReplyError(
        'ERR in a Cluster a flush affects every master: it cannot be one of several commands of a transaction',
      )
    }
    const told = await Promise.all(
      this.nodes.map(async (node) => {
        // Set the marker again within the same transaction, before any other command can run.
        const set = rows.flatMap((row) => (flushes(row) ? [row, node.marker.setting] : [row]))
        const answered = await node.marked(set)
        return answered.filter((_, at) => set[at] !== node.marker.setting)
      }),
    )
    return told[0]!
  }

  /**
   * Deletes all data. If the real Redis no longer belongs to this sandbox, it must be empty, and the marker is set
   * again.
   */
  async reset(): Promise<void> {
    await this.#events.restore()
    try {
      await this.#everywhere(everything)
    } catch (error) {
      if (!(error instanceof RealRedisTaken)) throw error
      for (const node of this.nodes) await node.retake()
    }
  }

  /** Empties and releases all nodes of the real Redis that still belong to this sandbox. */
  close(): Promise<void> {
    this.#closing ??= this.#events
      .restore()
      .then(() => Promise.all(this.nodes.map((node) => node.close(giveBack(node)))))
      .then(() => undefined)
    return this.#closing
  }

  async #transacted(rows: readonly (readonly Bytes[])[]): Promise<RespValue> {
    const node = await this.#nodeFor(rows)
    if (rows.some((row) => runsScript(row) || counts(row))) return [...(await node.marked(rows))]
    return node.alone((connection) => transacted(connection, rows))
  }

  async #routed(argv: readonly Bytes[], key: Bytes | undefined): Promise<RespValue> {
    let node = key === undefined ? this.#home : this.#ownerOf(key)
    for (let left = maxRedirects; ; left--) {
      const told = await node.send(argv)
      const [, kind, , place] = told instanceof ReplyError ? (/^(MOVED|ASK) (\d+) (\S+)/.exec(told.message) ?? []) : []
      if (kind === undefined || left === 0) return told
      if (kind === 'MOVED') await this.#renewMap()
      const next = this.#nodes.get(place!)
      if (next === undefined) return told
      node = next
      if (kind === 'ASK')
        return node.alone(async (own) => (await Promise.all([own.send([latin1('ASKING')]), own.send(argv)]))[1])
    }
  }

  /**
   * Returns the node of a transaction. If the keys are in different hash slots, the error of the real Redis is thrown.
   */
  async #nodeFor(rows: readonly (readonly Bytes[])[]): Promise<RedisNode> {
    if (!this.isCluster) return this.#home
    const keys: Bytes[] = []
    for (const argv of rows) keys.push(...(await this.knowledge.keysOf(argv, await this.knowledge.of(argv))))
    const [first] = keys
    if (first === undefined) return this.#home
    const node = this.#ownerOf(first)
    const other = keys.find((key) => slotOf(key) !== slotOf(first))
    if (other !== undefined) replyIn(await node.send([latin1('EXISTS'), first, other]))
    return node
  }

  #ownerOf(key: Bytes): RedisNode {
    return this.#owners[slotOf(key)] ?? this.#home
  }

  #assign(shares: readonly MasterSlots[]): void {
    const owners: RedisNode[] = []
    for (const { place, ranges } of shares) {
      const node = this.nodes.find((known) => known.place.host === place.host && known.place.port === place.port)
      if (node === undefined) continue
      for (const [from, to] of ranges) for (let slot = from; slot <= to; slot++) owners[slot] = node
    }
    this.#owners = owners
  }

  /**
   * Reads the hash slots again. Masters that were added after the start are ignored, because they do not belong to this
   * sandbox.
   */
  async #renewMap(): Promise<void> {
    this.#assign(sharesIn(await this.#home.send(slotsOfCluster), this.#home.place))
  }
}

const everything = [['FLUSHALL'], ['FUNCTION', 'FLUSH'], ['SCRIPT', 'FLUSH']].map((row) => row.map(latin1))

function isAboutAll(row: readonly Bytes[]): boolean {
  return flushes(row) || /^(?:FUNCTION|SCRIPT)$/i.test(row[0]!)
}

function giveBack({ marker }: RedisNode): readonly (readonly Bytes[])[] {
  return [...everything, [latin1('DEL'), marker.key]]
}

function asksAll({ tips }: CommandInfo): boolean {
  return tips.has('request_policy:all_shards') || tips.has('request_policy:all_nodes')
}
