import type { Bytes } from '../../../../src/kernel/bytes.js'
import type { Endpoint, RawResponse, Service, ServiceRequest } from '../../../../src/protocol/service.js'
import type { User } from '../../../../src/store/access/user.js'
import { replyError } from '../../../../src/store/command/errors.js'
import { type Reply, ReplyError } from '../../../../src/store/command/reply.js'
import { asksToWait } from '../../../../src/store/commands/stream-arguments.js'
import { type CountedCommand, transactionOverhead } from '../../../../src/store/meter.js'
import { applyInjection, injectionOf } from '../../../../src/store/rest/command-faults.js'
import type { Argv } from '../../../../src/store/rest/request.js'
import {
  type Encoding,
  encodingOf,
  errorIn,
  failed,
  plain,
  ResponseBudget,
} from '../../../../src/store/rest/rest-responses.js'
import {
  anyCommand,
  argvOf,
  itemsResponse,
  preflight,
  replyResponse,
  rowItem,
  rowsOf,
  type StoreCall,
  withHeaders,
} from '../../../../src/store/rest/store-endpoints.js'
import type { RestStore } from '../../../../src/store/rest/store-front.js'
import { Oversized, type RequestForm } from '../../../../src/store/rest/store-front.js'
import { refusedCount } from '../../../../src/store/store-limits.js'
import { replyIn } from '../redis-client/reply-reader.js'
import { type Admitted, admitted } from './admitted-commands.js'
import { withoutMarkers } from './hidden-markers.js'
import type { RealRedis } from './real-redis.js'
import { refusalOf } from './redis-rejections.js'
import { streamsOf } from './redis-streams.js'

// The REST API of a store whose commands run on a real Redis. Paths, bodies, encodings, tokens, faults and traffic
// entries are the same as for a local store.

/**
 * Returns a store service that runs commands on the real Redis.
 * @param stored service of the local store, whose tokens, users, limits and dialect are used
 */
export function engineService(stored: Service<RestStore, User>, door: RedisService): Service<RestStore, User> {
  const endpoint: Endpoint<RestStore, User> = { ...anyCommand, run: (call) => answered(call, door) }
  return { ...stored, endpoints: [preflight, ...streamsOf(door.engine), endpoint] }
}

type Form = (call: StoreCall, door: RedisService, encoding: Encoding) => Promise<RawResponse>

async function answered(call: StoreCall, door: RedisService): Promise<RawResponse> {
  let encoding: Encoding = { form: 'json', strings: plain }
  let answer: RawResponse
  try {
    encoding = encodingOf(call, door.front.store.options.policy)
    answer = await (forms[call.path] ?? single)(call, door, encoding)
  } catch (error) {
    answer = refusalOf(error, encoding)
  }
  return withHeaders(answer, call, door.front.store)
}

const single: Form = async (call, door, encoding) => {
  try {
    door.front.checkBody(call)
    const reply = await door.execute(argvOf(call), call.user, 'request', call)
    return replyResponse(reply, new ResponseBudget(door.front.store.options.policy), encoding)
  } catch (error) {
    if (error instanceof Oversized) return failed(error, error.status, encoding)
    throw error
  }
}

const pipeline: Form = async (call, door, encoding) => {
  const room = new ResponseBudget(door.front.store.options.policy)
  const items: Bytes[] = []
  for (const argv of rowsOf(call, door.front.store)) {
    if (room.isFull) items.push(errorIn(room.refusal(false), encoding))
    else items.push(itemOf(await door.attempt(argv, call.user, 'pipeline', call), room, encoding))
  }
  return itemsResponse(items, encoding)
}

const transaction: Form = async (call, door, encoding) => {
  const room = new ResponseBudget(door.front.store.options.policy)
  const ends = await door.transact(rowsOf(call, door.front.store), call.user, call)
  return itemsResponse(
    ends.map((end) => itemOf(end, room, encoding)),
    encoding,
  )
}

const forms: Readonly<Record<string, Form>> = { '/pipeline': pipeline, '/multi-exec': transaction }

type End = { readonly reply: Reply } | { readonly error: ReplyError }

function itemOf(end: End, room: ResponseBudget, encoding: Encoding): Bytes {
  return rowItem(() => replyOf(end), room, encoding)
}

function replyOf(end: End): Reply {
  if ('error' in end) throw end.error
  return end.reply
}

/** Runs a function and returns an error reply as a value. @throws every other error */
function endOf(work: () => Reply): End {
  try {
    return { reply: work() }
  } catch (error) {
    if (error instanceof ReplyError) return { error }
    throw error
  }
}

/** Runs commands on the real Redis for one sandbox, and records them in the traffic log of the sandbox. */
export class RedisService {
  constructor(
    readonly front: RestStore,
    readonly engine: RealRedis,
  ) {}

  /**
   * Runs one command with the limits, faults and cost of the service.
   * @throws ReplyError, RealRedisUnreachable, RealRedisTaken
   */
  async execute(argv: Argv, user: User, via: RequestForm, call: ServiceRequest): Promise<Reply> {
    const { front } = this
    const received = front.measured(argv)
    const run = (): Promise<Reply> => this.#run(argv, user, via, call.cause)
    const strike = injectionOf(front, argv, call)
    if (strike === undefined) return front.settled(received, await run())
    // A fault of the phase "after" is applied after the command has run.
    const end = strike.phase === 'after' ? endOf(await run().then(always, thrown)) : undefined
    const played = applyInjection(
      strike,
      front,
      { argv, user, via, run: () => (end === undefined ? run() : replyOf(end)) },
      call,
    )
    return front.settled(received, await played)
  }

  /** Runs one command as the owner, without limits, faults and cost. */
  direct(argv: Argv): Promise<Reply> {
    return this.#run(argv, this.front.store.access.standardUser, 'direct', undefined)
  }

  /** Runs one command and returns an error as a value. */
  async attempt(argv: Argv, user: User, via: RequestForm, call: ServiceRequest): Promise<End> {
    return endOf(await this.execute(argv, user, via, call).then(always, thrown))
  }

  /** Runs all commands as one transaction, or none of them. @throws ReplyError for the first rejected command */
  async transact(rows: readonly Argv[], user: User, call: ServiceRequest): Promise<readonly End[]> {
    const { front, engine } = this
    const { store } = front
    const sizes = rows.map((argv) => front.measured(argv))
    const ready: Admitted[] = []
    for (const argv of rows) {
      ready.push(await admitted(argv, user, store, engine))
      if (store.commands.find(argv)?.flags.includes('nomulti')) throw replyError('notInTransaction')
    }
    const refusal = refusedCount(rows.length + transactionOverhead, store)
    if (refusal !== undefined) throw refusal
    store.meter.countTransaction()
    const strikes = rows.map((argv) => injectionOf(front, argv, call))
    // A fault may replace the reply of a command without running it. Such a command is not part of the transaction.
    const turns = rows.map((argv, at) => {
      const strike = strikes[at]
      let runs = strike === undefined || strike.phase === 'after'
      const ask = (): Reply => {
        runs = true
        return null
      }
      const coming = { argv, user, via: 'transaction' as const, run: ask }
      const end = runs ? undefined : endOf(() => applyInjection(strike!, front, coming, call))
      return { runs, end }
    })
    const sent = ready.filter(({ stays }, at) => turns[at]!.runs && !stays)
    const told = [...(await this.#sent(sent))]
    return rows.map((argv, at): End => {
      const turn = turns[at]!
      if (!turn.runs) return turn.end!
      const row = ready[at]!
      const run = (): Reply =>
        row.stays
          ? front.journal.execute(argv, user, 'transaction', call.cause)
          : this.#noted(row, argv, user, 'transaction', call.cause, () => replyIn(told.shift()!))
      const strike = strikes[at]
      const coming = { argv, user, via: 'transaction' as const, run }
      return endOf(() => {
        const reply = strike?.phase === 'after' ? applyInjection(strike, front, coming, call) : run()
        return front.settled(sizes[at]!, reply)
      })
    })
  }

  #sent(rows: readonly Admitted[]): ReturnType<RealRedis['transact']> | readonly [] {
    if (rows.length === 0) return []
    return this.engine.transact(rows.map(({ argv }) => argv))
  }

  async #run(argv: Argv, user: User, via: RequestForm | 'direct', cause: number | undefined): Promise<Reply> {
    const { front, engine } = this
    const refusal = refusedCount(1, front.store)
    if (refusal !== undefined && via !== 'direct') throw refusal
    let row: Admitted | undefined
    const told = async (): Promise<Reply> => {
      row = await admitted(argv, user, front.store, engine)
      if (row.stays) return front.journal.execute(argv, user, via, cause)
      return engine.run(row.argv)
    }
    const end = await told().then(always, thrown)
    if (row?.stays === true) return end()
    return this.#noted(row, argv, user, via, cause, end)
  }

  /** Records a command and the reply of the real Redis. A command that got no reply is not recorded. */
  #noted(
    row: Admitted | undefined,
    argv: Argv,
    user: User,
    via: RequestForm | 'direct',
    cause: number | undefined,
    told: () => Reply,
  ): Reply {
    const { journal, store } = this.front
    const end = endOf(() => withoutMarkers(argv, told(), this.engine.markers))
    if (row !== undefined && via !== 'direct') store.meter.count(countedAs(row, this.front))
    if (row?.writes === true) store.wroteElsewhere()
    if (row !== undefined) {
      const command = store.commands.find(argv)
      if (command !== undefined && command.status !== 'documented' && 'reply' in end)
        store.diagnostics.noticeUndocumented(command)
      if (via !== 'direct' && asksToWait(argv)) store.diagnostics.noticeBlock(argv[0]!.toUpperCase())
    }
    journal.note(argv, user, via, cause, 'error' in end ? { error: end.error.message } : end)
    return replyOf(end)
  }
}

/** Returns the facts by which a command counts. A command that only the real Redis knows counts by its effect. */
function countedAs({ argv, writes }: Admitted, { store }: RestStore): CountedCommand {
  const { name, group, flags } = store.commands.find(argv) ?? {
    name: argv[0]!.toUpperCase(),
    group: '',
    flags: [writes ? 'write' : 'read'] as const,
  }
  return { name, group, flags, writes }
}

function always(reply: Reply): () => Reply {
  return () => reply
}

function thrown(error: unknown): () => never {
  return () => {
    throw error
  }
}
