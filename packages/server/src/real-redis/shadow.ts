import { type Bytes, latin1, text } from '../../../../src/kernel/bytes.js'
import { hidden, standardRedaction } from '../../../../src/report/redaction.js'
import type { ExternalStore } from '../../../../src/sandbox/core-plan.js'
import { type Reply, ReplyError } from '../../../../src/store/command/reply.js'
import { commandTable } from '../../../../src/store/commands/index.js'
import { withoutWaiting } from '../../../../src/store/commands/stream-arguments.js'
import { type KnownDifference, namedDifference } from '../../../../src/store/differences.js'
import { plainReply } from '../../../../src/store/plain.js'
import type { StoreEngine } from '../../../../src/store/store-engine.js'
import { withoutMarkers } from './hidden-markers.js'
import type { RealRedis } from './real-redis.js'
import { RealRedisError } from './real-redis-errors.js'
import { type CommandOutcome, matchesLoosely } from './reply-comparison.js'

// A shadow is a real Redis that also gets every command, in the same order. Clients get the reply of the double, and
// the two replies are compared.

/** A command with differing replies. */
export interface ShadowDifference {
  /** Name and arguments of the command. Secrets are not redacted. */
  readonly argv: readonly string[]
  /** Reply of the double as JSON, with errors as `{ error }`. */
  readonly double: unknown
  /** Reply of the real Redis as JSON, with errors as `{ error }`. */
  readonly redis: unknown
  /** Known difference that explains the differing replies; `undefined` if there is none. */
  readonly known: KnownDifference | undefined
}

export function shadowDifferenceText({ argv, double, redis: engine, known: named }: ShadowDifference): string {
  const why = named === undefined ? 'unknown' : `${named.name}: ${named.about} [${named.where}]`
  const words = standardRedaction.words(argv).map(shownWord).join(' ')
  return `${words}\n  double ${told(withoutSecrets(argv, double))}\n  redis  ${told(withoutSecrets(argv, engine))}\n  ${why}`
}

function withoutSecrets(argv: readonly string[], reply: unknown): unknown {
  if (standardRedaction.hidesReply(argv)) return hidden
  const { error } = (reply ?? {}) as { readonly error?: unknown }
  if (typeof error === 'string') return { error: standardRedaction.errorOf(argv, error) }
  return standardRedaction.reply(argv, reply)
}

function shownWord(word: string): string {
  return /^[\w.:*{}@-]{1,80}$/.test(word) ? word : JSON.stringify(word.slice(0, 200))
}

function told(reply: unknown): string {
  const shown = JSON.stringify(reply, (_, value) => (typeof value === 'bigint' ? `${value}` : value)) ?? 'nothing'
  return shown.length > 500 ? `${shown.slice(0, 500)}…` : shown
}

export class Shadow {
  readonly #engine: RealRedis
  readonly #differs: (difference: ShadowDifference) => void
  readonly #fails: (sentence: string) => void
  #last: Promise<void> = Promise.resolve()
  #isOver = false

  /**
   * @param differs called for each difference
   * @param fails called with the reason if the comparison ends early
   */
  constructor(engine: RealRedis, differs: (difference: ShadowDifference) => void, fails: (sentence: string) => void) {
    this.#engine = engine
    this.#differs = differs
    this.#fails = fails
  }

  /** Function that attaches the shadow to the store of a sandbox, and to the new store after each reset. */
  get beside(): ExternalStore {
    return (own) => {
      this.#follow(own.state.store)
      return { service: own, attach: () => undefined }
    }
  }

  /** Resolves when all commands so far were compared. */
  async idle(): Promise<void> {
    for (let seen: Promise<void> | undefined; seen !== this.#last; ) {
      seen = this.#last
      await seen
    }
  }

  #follow(store: StoreEngine): void {
    // The store of the sandbox is empty now, so empty the shadow, too.
    this.#next(() => this.#engine.reset())
    store.listen({
      executed: (argv, _user, reply, error) => {
        if (error !== undefined && !(error instanceof ReplyError)) return
        const double: CommandOutcome = error === undefined ? { reply: reply! } : { error: error as ReplyError }
        this.#next(() => this.#compare(argv, double))
      },
    })
  }

  #next(work: () => Promise<void>): void {
    this.#last = this.#last.then(async () => {
      if (this.#isOver) return
      try {
        await work()
      } catch (error) {
        if (!(error instanceof RealRedisError)) throw error
        this.#isOver = true
        this.#fails(`The comparison with the shadow has ended: ${error.message}`)
      }
    })
  }

  async #compare(given: readonly Bytes[], double: CommandOutcome): Promise<void> {
    const turn = turnOf(given, double)
    if (turn === undefined) return
    const engine = await this.#asked(turn.argv)
    const words = given.map((word) => text(word))
    if (turn.isDone?.(engine) ?? matchesLoosely(words, double, engine)) return
    const seen = { argv: words, double: jsonOf(double), other: jsonOf(engine) }
    this.#differs({ argv: words, double: seen.double, redis: seen.other, known: namedDifference(seen, 'redis') })
  }

  async #asked(argv: readonly Bytes[]): Promise<CommandOutcome> {
    const engine = this.#engine
    try {
      return { reply: withoutMarkers(argv, await engine.run(argv), engine.markers) }
    } catch (error) {
      if (error instanceof ReplyError) return { error }
      throw error
    }
  }
}

interface ShadowTurn {
  readonly argv: readonly Bytes[]
  /**
   * Returns whether the shadow did the same as the double. This function exists only for a command whose replies must
   * differ. It replaces the comparison of replies.
   */
  readonly isDone?: (engine: CommandOutcome) => boolean
}

/**
 * Commands that are not sent to the shadow. Users belong to the double, and replies about connections or the server
 * always differ.
 */
const apart =
  /^(?:ACL|SELECT|WAIT|WAITAOF|CONFIG|CLIENT|AUTH|HELLO|B[LRZ].*|MOVE|SWAPDB|ROLE|SAVE|BGSAVE|BGREWRITEAOF|LASTSAVE|SLOWLOG|LATENCY|MODULE|LOLWUT|PFSELFTEST)$/i
const apartToo = /^MEMORY (?!USAGE$)/i

/**
 * Returns the command for the shadow; `undefined` if the shadow gets no command. Random choices of the double become
 * arguments, so that the double and the shadow keep the same data.
 */
function turnOf(argv: readonly Bytes[], double: CommandOutcome): ShadowTurn | undefined {
  const name = argv[0]?.toUpperCase() ?? ''
  // Do not send a command that the double does not know. Such a command could have any effect, as SHUTDOWN does.
  if (apart.test(name) || apartToo.test(`${name} ${argv[1]}`)) return undefined
  if (commandTable.find(argv) === undefined) return undefined
  const reply = 'reply' in double ? double.reply : undefined
  if (name === 'SPOP' && reply !== undefined) return popped(argv, reply)
  if (name === 'XADD' && typeof reply === 'string')
    return { argv: argv.map((word, at) => (isChosenId(argv, at) ? reply : word)) }
  return { argv: withoutWaiting(argv) }
}

function popped(argv: readonly Bytes[], reply: Reply): ShadowTurn {
  const members = (Array.isArray(reply) ? reply : reply === null ? [] : [reply]) as readonly Bytes[]
  if (members.length === 0) return { argv }
  return {
    argv: [latin1('SREM'), argv[1]!, ...members],
    isDone: (engine) => 'reply' in engine && engine.reply === members.length,
  }
}

/**
 * Returns whether an argument of XADD is an ID that Redis must complete, such as `*`. Only the first such argument can
 * be the ID, and pairs of fields and values must follow it.
 */
function isChosenId(argv: readonly Bytes[], at: number): boolean {
  const first = argv.findIndex((word, index) => index >= 2 && (word === '*' || /^\d+-\*$/.test(word)))
  return at === first && (argv.length - at) % 2 === 1
}

function jsonOf(end: CommandOutcome): unknown {
  return 'error' in end ? { error: end.error.message } : plainReply(end.reply)
}
