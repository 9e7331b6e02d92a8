import { createHash } from 'node:crypto'
import { hostTime } from '../../../../src/kernel/host.js'
import { slotOfTag } from '../redis-cluster/hash-slots.js'
import { type ClusterStore, type LuaScript, type ScriptReply, StoreUnreachable } from './cluster-store.js'
import { ClusterStoreError, Link, type LinkOptions } from './store-link.js'

export interface RedisEngineOptions {
  /** `redis://user:password@host:port`, or `rediss://` for TLS; several are servers of one Redis Cluster. */
  readonly urls: readonly string[]
  /** Host milliseconds in which the engine has to reply. */
  readonly patience: number
  readonly report: (text: string) => void
}

/** Servers that hold the same keys for good may say this for a while. */
const awayCodes = /^(?:CLUSTERDOWN|LOADING|MASTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MISCONF|NOREPLICAS|UNBLOCKED)\b/
/** Of these its operator has to hear: it answers, and keeps nothing. */
const fullCodes = /^(?:OOM|MISCONF|NOREPLICAS)\b/
/** Host milliseconds without such a refusal after which the next one is news. */
const quiet = 60_000
/** A slot moves once, and asks once more; more is a cluster that is not of one mind. */
const maxMoves = 5
/** So many times as patient is a node that starts, which has more to do. */
const starting = 5

/** How a server's own options may spoil the promise that what was answered is kept. */
export interface Setting {
  readonly server: string
  readonly name: string
  /** `undefined` where the engine does not tell. */
  readonly value: string | undefined
}

/** Redis or Valkey, alone or in Cluster mode, whose map of slots it keeps by itself. */
export class RedisEngine implements ClusterStore {
  readonly #seeds: readonly LinkOptions[]
  readonly #links = new Map<string, Link>()
  readonly #digests = new WeakMap<LuaScript, string>()
  /** Links by slot; one for all where it is no Cluster. */
  #map: Link[] = []
  #isCluster = false
  #drawing: Promise<void> | undefined
  readonly #report: (text: string) => void
  /** When a server last refused to keep something. */
  readonly #refused = new Map<Link, number>()

  private constructor(options: RedisEngineOptions) {
    this.#report = options.report
    this.#seeds = options.urls.map((url) => seedOf(url, options))
  }

  /** @throws TypeError for a url that is none; EngineAway where no server answers */
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

  /** The first of the addresses that answers tells of the others. */
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
            `Several addresses were given for --cluster, and ${link.name} is not in Cluster mode: give one address, or servers of one Redis Cluster.`,
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
          last = new TypeError(`The engine at ${link.name} refuses: ${error.message}`)
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
          // Another server may have taken its place.
          if (this.#isCluster) void this.#draw().catch(() => undefined)
          throw error
        }
        const [, how, host, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(error.message) ?? []
        if (how === undefined) throw this.#refusal(link, error)
        if (moves === maxMoves) throw new StoreUnreachable(`its servers do not agree who has the keys of ${tag}`)
        isAsked = how === 'ASK'
        link = this.#linkTo({ ...this.#seeds[0]!, ...(host !== '' && { host: host! }), port: Number(port) })
        await link.open()
        if (!isAsked) await this.#draw().catch(() => undefined)
      }
    }
  }

  /** Told once when it begins: whoever asks is refused with the same words. */
  #refusal(link: Link, error: ClusterStoreError): Error {
    // Where in which of our scripts it was is nobody's business.
    const why = error.message.replace(/\.? script: \w+, on @\S+$/, '')
    if (!awayCodes.test(why)) return new ClusterStoreError(why)
    if (fullCodes.test(error.message)) {
      const last = this.#refused.get(link)
      this.#refused.set(link, hostTime())
      if (last === undefined || hostTime() - last > quiet)
        this.#report(`the engine at ${link.name} keeps nothing: ${why}`)
    }
    return new StoreUnreachable(why)
  }

  /** By its digest; a server that has not seen the script yet gets all of it. */
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
    // Written behind each other on one connection, nothing comes between the two.
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
    throw new StoreUnreachable('no server of it has these keys')
  }

  /** Draws the map of slots anew, once for all who ask meanwhile. */
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
      // A server that does not know its own name is the one that was asked.
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

  /** What each server that holds keys says of some of its settings. */
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

/** @throws TypeError; a password of the url is in no sentence */
function seedOf(url: string, { patience, report }: RedisEngineOptions): LinkOptions {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError(
      '--cluster is the address of a Redis or Valkey, such as redis://:PASSWORD@127.0.0.1:6379, or rediss:// for TLS; several of one Redis Cluster with commas between them.',
    )
  }
  if (!/^\/?0?$/.test(parsed.pathname)) {
    throw new TypeError(
      '--cluster uses database 0 of its engine, because Redis Cluster has no other: leave the path out of its address.',
    )
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
