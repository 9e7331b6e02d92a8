import { createHash } from 'node:crypto'
import { hostTime } from '../../../../src/kernel/host.js'
import { slotOfTag } from '../redis-cluster/hash-slots.js'
import { type ClusterStore, type LuaScript, type ScriptReply, StoreUnreachable } from './cluster-store.js'
import { ClusterStoreError, Link, type LinkOptions } from './store-link.js'

export interface RedisEngineOptions {
  /**
   * URLs such as `redis://user:password@host:port`, or `rediss://` for TLS. Several URLs must be servers of one Redis
   * Cluster.
   */
  readonly urls: readonly string[]
  /** Time limit for a reply of Redis, in milliseconds of host time. */
  readonly patience: number
  readonly report: (text: string) => void
}

/** Codes of temporary errors. The server keeps its data during such an error. */
const awayCodes = /^(?:CLUSTERDOWN|LOADING|MASTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MISCONF|NOREPLICAS|UNBLOCKED)\b/
/**
 * Error codes of a server that rejects writes, for example because its memory is full. These errors are reported to the
 * user who runs the node.
 */
const fullCodes = /^(?:OOM|MISCONF|NOREPLICAS)\b/
/**
 * A rejected write is reported again only after this time without rejected writes, in milliseconds of host time.
 */
const quiet = 60_000
/**
 * Maximum redirects of one script. If a script needs more redirects, the servers of the Cluster seem to disagree about
 * the hash slots.
 */
const maxMoves = 5
/** Factor for the timeout of the node's first connections, which take longer. */
const starting = 5

export interface Setting {
  readonly server: string
  readonly name: string
  /** Value; `undefined` if the server does not return it. */
  readonly value: string | undefined
}

/** Redis or Valkey, as a single server or in Cluster mode. This class keeps the map of hash slots up to date. */
export class RedisEngine implements ClusterStore {
  readonly #seeds: readonly LinkOptions[]
  readonly #links = new Map<string, Link>()
  readonly #digests = new WeakMap<LuaScript, string>()
  /** Links by hash slot. For a single server, only index 0 is used. */
  #map: Link[] = []
  #isCluster = false
  #drawing: Promise<void> | undefined
  readonly #report: (text: string) => void
  /** Servers that have rejected writes, each with the host time of the last rejection. */
  readonly #refused = new Map<Link, number>()

  private constructor(options: RedisEngineOptions) {
    this.#report = options.report
    this.#seeds = options.urls.map((url) => seedOf(url, options))
  }

  /**
   * Connects to the Redis server or Cluster.
   * @throws TypeError for an invalid URL; StoreUnreachable if no server replies
   */
  static async open(options: RedisEngineOptions): Promise<RedisEngine> {
    const engine = new RedisEngine(options)
    try {
      await engine.#begin()
      return engine
    } catch (error) {
      engine.close()
      throw error
    }
  }

  /**
   * Connects to the first URL whose server replies. A server of a Cluster returns the addresses of the other servers.
   */
  async #begin(): Promise<void> {
    let last: unknown
    for (const seed of this.#seeds) {
      const link = new Link({ ...seed, report: () => undefined })
      try {
        await link.open(starting * seed.patience)
        const info = textOf(await link.send(['INFO', 'cluster']))
        this.#isCluster = /^cluster_enabled:1/m.test(info)
        if (!this.#isCluster && this.#seeds.length > 1) {
          throw new TypeError(
            `--cluster: several URLs were given, and ${link.name} is not in Cluster mode. Use one URL, or servers of one Redis Cluster.`,
          )
        }
        if (this.#isCluster) this.#drawn(await link.send(['CLUSTER', 'SLOTS']), seed)
        else this.#map = [this.#linkTo(seed)]
        await Promise.allSettled(this.masters.map((master) => master.open(starting * seed.patience)))
        return
      } catch (error) {
        last = error
        if (error instanceof TypeError) break
        if (error instanceof ClusterStoreError)
          last = new TypeError(`--cluster: the Redis at ${link.name} rejects a command: ${error.message}`)
      } finally {
        link.close()
      }
    }
    throw last
  }

  get isCluster(): boolean {
    return this.#isCluster
  }

  get masters(): readonly Link[] {
    return [...new Set(this.#map)].filter((link) => link !== undefined)
  }

  async run(script: LuaScript, tag: string, args: readonly (string | Uint8Array)[]): Promise<ScriptReply> {
    const keys = script.keys.map((part) => `stuntdouble:{${tag}}:${part}`)
    const rest = [String(keys.length), ...keys, ...args]
    let link = this.#linkOf(tag)
    let isAsked = false
    for (let moves = 0; ; moves++) {
      try {
        return await this.#evaluate(link, script, rest, isAsked)
      } catch (error) {
        if (!(error instanceof ClusterStoreError)) {
          // Another server may have taken over the hash slots of the server that failed.
          if (this.#isCluster) void this.#draw().catch(() => undefined)
          throw error
        }
        const [, how, host, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(error.message) ?? []
        if (how === undefined) throw this.#refusal(link, error)
        if (moves === maxMoves) throw new StoreUnreachable(`its servers disagree about the hash slot of ${tag}`)
        isAsked = how === 'ASK'
        link = this.#linkTo({ ...this.#seeds[0]!, ...(host !== '' && { host: host! }), port: Number(port) })
        await link.open()
        if (!isAsked) await this.#draw().catch(() => undefined)
      }
    }
  }

  /**
   * Converts an error reply to the error for the request. If a server rejects writes, every request gets the error, but
   * the user gets only one message.
   */
  #refusal(link: Link, error: ClusterStoreError): Error {
    // Remove the position inside the script, which does not help the user.
    const why = error.message.replace(/\.? script: \w+, on @\S+$/, '')
    if (!awayCodes.test(why)) return new ClusterStoreError(why)
    if (fullCodes.test(error.message)) {
      const last = this.#refused.get(link)
      this.#refused.set(link, hostTime())
      if (last === undefined || hostTime() - last > quiet)
        this.#report(`the Redis at ${link.name} rejects writes: ${why}`)
    }
    return new StoreUnreachable(why)
  }

  /** Runs a script by its digest. If the server does not know the script, its source is sent. */
  async #evaluate(
    link: Link,
    script: LuaScript,
    rest: (string | Uint8Array)[],
    isAsked: boolean,
  ): Promise<ScriptReply> {
    let digest = this.#digests.get(script)
    if (digest === undefined) {
      digest = createHash('sha1').update(script.source).digest('hex')
      this.#digests.set(script, digest)
    }
    // ASKING and the script are sent together on this connection, so no other command runs between them.
    if (isAsked) link.send(['ASKING']).catch(() => undefined)
    try {
      return await link.send(['EVALSHA', digest, ...rest])
    } catch (error) {
      if (!(error instanceof ClusterStoreError) || !error.message.startsWith('NOSCRIPT')) throw error
      if (isAsked) link.send(['ASKING']).catch(() => undefined)
      return await link.send(['EVAL', script.source, ...rest])
    }
  }

  #linkOf(tag: string): Link {
    const link = this.#isCluster ? this.#map[slotOfTag(tag)] : this.#map[0]
    if (link !== undefined) return link
    void this.#draw().catch(() => undefined)
    throw new StoreUnreachable('no server of the Cluster has these keys')
  }

  /** Reads the map of hash slots. Simultaneous calls share one read. */
  #draw(): Promise<void> {
    this.#drawing ??= this.#asked().finally(() => {
      this.#drawing = undefined
    })
    return this.#drawing
  }

  async #asked(): Promise<void> {
    for (const link of this.#links.values()) {
      const reply = await link.send(['CLUSTER', 'SLOTS']).catch(() => undefined)
      if (reply === undefined) continue
      const [host, port] = [link.name.slice(0, link.name.lastIndexOf(':')), Number(link.name.split(':').at(-1))]
      this.#drawn(reply, { ...this.#seeds[0]!, host, port })
      return
    }
  }

  #drawn(reply: ScriptReply, told: LinkOptions): void {
    const map: Link[] = []
    for (const range of reply as readonly ScriptReply[]) {
      const [from, to, master] = range as [number, number, readonly ScriptReply[]]
      const host = textOf(master[0] ?? null)
      // In this reply, a master without an address is the server that replied.
      const at = host === '' || host === '?' ? told.host : host
      const link = this.#linkTo({ ...this.#seeds[0]!, host: at, port: Number(master[1]) })
      for (let slot = from; slot <= to; slot++) map[slot] = link
    }
    this.#map = map
  }

  #linkTo(options: LinkOptions): Link {
    const name = `${options.host}:${options.port}`
    const known = this.#links.get(name)
    if (known !== undefined) return known
    const link = new Link(options)
    this.#links.set(name, link)
    link.start()
    return link
  }

  /** Returns the values of these settings on each master. */
  async settings(names: readonly string[]): Promise<readonly Setting[]> {
    const told = this.masters.map(async (link) => {
      const reply = await link.send(['CONFIG', 'GET', ...names]).catch(() => undefined)
      const values = reply === undefined ? new Map<string, string>() : pairsOf(reply as readonly ScriptReply[])
      return names.map((name) => ({ server: link.name, name, value: values.get(name) }))
    })
    return (await Promise.all(told)).flat()
  }

  close(): void {
    for (const link of this.#links.values()) link.close()
  }
}

/** Parses a URL of `--cluster`. @throws TypeError for an invalid URL; the message never contains the password */
function seedOf(url: string, { patience, report }: RedisEngineOptions): LinkOptions {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError(
      '--cluster must be the URL of a Redis or Valkey, such as redis://:PASSWORD@127.0.0.1:6379, or rediss:// for TLS. Separate several servers of one Redis Cluster by commas.',
    )
  }
  if (!/^\/?0?$/.test(parsed.pathname)) {
    throw new TypeError('--cluster must use database 0, because Redis Cluster has no other. Omit the path of the URL.')
  }
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: parsed.port === '' ? 6379 : Number(parsed.port),
    tls: parsed.protocol === 'rediss:',
    username: decodeURIComponent(parsed.username) || undefined,
    password: decodeURIComponent(parsed.password) || undefined,
    patience,
    report,
  }
}

function textOf(reply: ScriptReply): string {
  return reply instanceof Uint8Array ? Buffer.from(reply).toString() : String(reply ?? '')
}

function pairsOf(reply: readonly ScriptReply[]): Map<string, string> {
  const pairs = new Map<string, string>()
  for (let index = 0; index < reply.length; index += 2) pairs.set(textOf(reply[index]!), textOf(reply[index + 1]!))
  return pairs
}
