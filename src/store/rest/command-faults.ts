import { actionAt } from '../../faults/catalog.js'
import type { FaultFacts, FaultSource, Injection } from '../../faults/fault.js'
import type { CommandFaultContext } from '../../faults/fault-context.js'
import type { Bytes } from '../../kernel/bytes.js'
import { ConnectionBroken, type HeaderList } from '../../kernel/http.js'
import type { CommandEntry } from '../../kernel/traffic-log.js'
import { empty } from '../../protocol/call.js'
import type { ServiceFaults, ServiceRequest } from '../../protocol/service.js'
import type { User } from '../access/user.js'
import type { Blocked } from '../blocking/blocked.js'
import { monthlyLimit } from '../command/errors.js'
import { type Reply, ReplyError } from '../command/reply.js'
import type { LoggedStore } from '../logged-store.js'
import type { StoreEngine } from '../store-engine.js'
import type { Argv } from './request.js'
import { errorResponse, syncToken } from './rest-responses.js'
import type { StaleReads } from './stale-reads.js'

// Injects the faults of rules into requests and commands of the store. Rules get error texts in the dialect of the
// request, and facts about requests and commands.

/** Commands per month in the free plan. [store.md 10] */
const freePlan = 500_000

/** Store with the parts that fault injection needs. */
export interface StrikableStore {
  readonly store: StoreEngine
  readonly journal: LoggedStore
  readonly faults?: FaultSource | undefined
  readonly staleReads: StaleReads | undefined
  /** Whether any fault rule is active for commands. */
  readonly isStruck: boolean
}

export const storeFaults: ServiceFaults<StrikableStore> = {
  answer(fault, call) {
    if (fault.kind === 'quota-exceeded') return errorResponse(quotaError(call), 400, call)
    if (fault.kind === 'status') return errorResponse(new ReplyError(fault.text), fault.status, call)
    return empty(429)
  },
  restart: (_until, { store }) => store.pubsub.close(),
}

export function quotaError({ dialect }: CommandOrigin): ReplyError {
  return monthlyLimit(freePlan, freePlan, dialect.docs)
}

/**
 * Returns facts about a request. A request that cannot be parsed has no facts, and is rejected later, when it is
 * served.
 * @param facts parses the request
 */
export function readableFacts(facts: () => FaultFacts): FaultFacts {
  try {
    return facts()
  } catch (error) {
    if (error instanceof ReplyError) return {}
    throw error
  }
}

export function commandFacts(rows: readonly Argv[], store: StoreEngine): FaultFacts {
  return { commands: rows.map(nameOf), keys: rows.flatMap((argv) => keysOf(argv, store)) }
}

function nameOf(argv: Argv): string {
  return (argv[0] ?? '').toUpperCase()
}

function keysOf(argv: Argv, store: StoreEngine): readonly Bytes[] {
  try {
    return store.lookup(argv).keysOf(argv)
  } catch (error) {
    if (error instanceof ReplyError) return []
    throw error
  }
}

/** Origin of a command: a request or a connection. Of a connection, only the dialect is known. */
export interface CommandOrigin {
  readonly path?: string
  readonly method?: string
  readonly headers?: HeaderList
  readonly settings?: ServiceRequest['settings']
  /** `seq` of the request's entry. */
  readonly cause?: number | undefined
  readonly dialect: Pick<ServiceRequest['dialect'], 'docs'>
}

/**
 * Facts about one command for the conditions of rules. Facts that few rules read are getters. Plain values instead of
 * getters would make each command 10 % slower while any rule is active.
 */
export class CommandFaultFacts implements FaultFacts {
  readonly service = 'store'
  readonly path: string | undefined
  readonly method: string | undefined
  readonly headers: HeaderList | undefined
  readonly database: string | undefined
  readonly #store: StoreEngine

  constructor(
    readonly argv: Argv,
    call: CommandOrigin,
    store: StoreEngine,
  ) {
    this.path = call.path
    this.method = call.method
    this.headers = call.headers
    this.database = store.options.database
    this.#store = store
  }

  get commands(): readonly string[] {
    return [nameOf(this.argv)]
  }

  get keys(): readonly Bytes[] {
    return keysOf(this.argv, this.#store)
  }

  get reads(): boolean {
    return this.#store.commands.find(this.argv)?.writes === false && this.keys.length > 0
  }
}

export interface PendingCommand<R> {
  readonly argv: Argv
  readonly user: User
  readonly via: CommandEntry['via']
  readonly run: () => R
}

/** Runs a command and injects a fault into it if a rule requires one. */
export function executeFaulty<R extends Reply | Blocked>(
  front: StrikableStore,
  coming: PendingCommand<R>,
  call: CommandOrigin,
): R | Reply {
  const strike = injectionOf(front, coming.argv, call)
  return strike === undefined ? coming.run() : applyInjection(strike, front, coming, call)
}

/** Returns the fault injected into a command. Every command fault produces the reply, so at most one is injected. */
export function injectionOf(front: StrikableStore, argv: Argv, call: CommandOrigin): Injection | undefined {
  if (!front.isStruck) return undefined
  return front.faults!.injections('store.command', new CommandFaultFacts(argv, call, front.store))?.[0]
}

/**
 * Injects a fault into a command.
 * @returns the reply of the fault. The fault may run the command.
 */
export function applyInjection<R>(
  strike: Injection,
  front: StrikableStore,
  { argv, user, via, run }: PendingCommand<R>,
  call: CommandOrigin,
): R | Reply {
  const { journal, staleReads } = front
  const { fault, phase } = strike
  let cause: number | undefined = call.cause
  let effect: string | undefined
  const log = (): void => {
    strike.log(cause, nameOf(argv), effect)
  }
  const fail = (error: Error): never => {
    log()
    throw error
  }
  const refuse = (error: ReplyError): never => {
    if (phase === 'before') journal.note(argv, user, via, call.cause, { error: error.message })
    cause = journal.last
    return fail(error)
  }
  const moment: CommandFaultContext<R | Reply> = {
    phase,
    draw: (below) => strike.draw(below),
    tell(told) {
      effect = told
    },
    run() {
      const reply = run()
      cause = journal.last
      return reply
    },
    past(versions) {
      const stale = staleReads?.read(argv, user, versions)
      if (stale === undefined) return undefined
      journal.note(argv, user, via, call.cause, stale)
      cause = journal.last
      return stale
    },
    get isSynced() {
      return call.settings?.get('sync-token') === syncToken(front.store.writesBefore)
    },
    fail: (error) => refuse(new ReplyError(error)),
    failOverQuota: () => refuse(quotaError(call)),
    breakConnection: () => fail(new ConnectionBroken('ECONNRESET', 'read ECONNRESET')),
  }
  const reply = actionAt('store.command', fault)(fault, moment)
  log()
  return reply
}
