import { ownManifest, type ParsedArguments, textOf, UsageError } from '@stuntdouble/command-line'
import { type Dialect, type DialectName, dialectNames, dialectOf } from '../../../src/protocol/dialect.js'
import type { Scenario } from '../../../src/scenarios/written-scenario.js'
import type { ComparedSystem } from '../../../src/store/differences.js'
import { neverSent } from './allowed-requests.js'
import type { Case, LeftOut, Need } from './case.js'
import { queueContract } from './contract/queue-contract.js'
import { storeContract } from './contract/store-contract.js'
import { scenarioCase } from './drift-scenario.js'
import { hider } from './drift-secrets.js'
import {
  queueTokenVariable,
  readOnlyTokenVariable,
  runPrefix,
  serviceUrl,
  tokenFrom,
  tokenVariable,
} from './drift-settings.js'
import { neverAsked } from './harmless-queue.js'
import type { Address } from './in-dialect.js'
import { RealConnection } from './real-side.js'

// Converts the command line to the plan of a run, and describes the plan to the user.

/** What a run compares, and how it connects to the real service. */
export interface DriftPlan {
  readonly introduction: readonly string[]
  readonly cases: readonly Case[]
  readonly connection: RealConnection
  readonly dialect: Dialect
  readonly prefix: string
  readonly has: ReadonlySet<Need>
  readonly hide: (text: string) => string
  readonly version: string
  readonly against: ComparedSystem
  /** Parts of scenarios that are not compared, with the reason. */
  readonly leftOut: readonly LeftOut[]
  readonly endpoint: { readonly url: string; readonly port: number | undefined } | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the plan of a run. @throws UsageError for arguments that are invalid or cannot be combined */
export function planOf(given: ParsedArguments, env: Environment, scenarios: readonly Scenario[]): DriftPlan {
  if (scenarios.length > 0 && given.url === undefined)
    throw new UsageError(
      '--scenario needs a data store on which the scenario runs, too. Name the store with --url URL.',
    )
  const dialect = dialectGiven(given)
  const store = storeOf(given, env, dialect)
  const queue = queueOf(given, env, dialect)
  if (store === undefined && queue === undefined)
    throw new UsageError(
      `drift needs the URL of a real service: --url URL for a data store, --queue URL for a queue.${trialOf(dialect)}`,
    )
  const endpoint = endpointOf(given, queue)
  const version = ownManifest().version
  const has = new Set<Need>()
  if (store !== undefined) has.add('store')
  if (store?.readOnlyToken !== undefined) has.add('read-only token')
  if (queue !== undefined) has.add('queue').add('endpoint')
  if (endpoint?.port !== undefined) has.add('listener')
  const only = textOf(given, 'only', 'TEXT')
  const service = (needs: readonly Need[]): boolean => has.has(needs[0]!)
  const own = scenarios.map(scenarioCase)
  const contract = own.length > 0 ? own.map((one) => one.case) : [...storeContract, ...queueContract]
  const cases = contract.filter(({ name, needs }) => service(needs) && (only === undefined || name.includes(only)))
  if (cases.length === 0) throw new UsageError(`No case has ${JSON.stringify(only)} in its name.`)
  const prefix = runPrefix()
  const connection = new RealConnection({
    store,
    queue,
    userAgent: `stuntdouble-drift/${version}`,
    fetch: globalThis.fetch,
  })
  const known = [store?.token, store?.readOnlyToken, queue?.token].filter((token) => token !== undefined)
  const urls = [store?.address, queue?.address, endpoint?.url].filter((url) => url !== undefined)
  return {
    ...{
      cases,
      connection,
      dialect,
      prefix,
      has,
      version,
      endpoint,
      against: againstOf(given),
      leftOut: own.flatMap((one) => one.leftOut),
    },
    hide: hider(known, urls, dialect),
    introduction: introduction({ version, store, queue, endpoint, prefix, cases }),
  }
}

interface Introduced {
  readonly version: string
  readonly store: Address | undefined
  readonly queue: Address | undefined
  readonly endpoint: DriftPlan['endpoint']
  readonly prefix: string
  readonly cases: readonly Case[]
}

/**
 * Returns the lines that tell the user what the run will do: what it compares, how many requests it sends, and which
 * requests it never sends.
 */
function introduction({ version, store, queue, endpoint, prefix, cases }: Introduced): string[] {
  const count = (which: Need): number =>
    cases.filter(({ needs }) => needs[0] === which).reduce((sum, { requests }) => sum + requests + 1, 0)
  const lines = [`stuntdouble drift ${version} compares the double with a real service.`]
  if (store !== undefined) {
    lines.push(
      `The data store at ${new URL(store.address).host}: about ${count('store')} requests, each of them billed as one or more commands.`,
      `Never sent to it: ${neverSent.map(({ name }) => name).join('; ')}.`,
    )
  }
  if (queue !== undefined) {
    lines.push(
      `The queue at ${new URL(queue.address).host}: at most ${count('queue')} requests; about 20 messages, 15 of them delivered to ${endpoint?.url}, including retries and callbacks.`,
      `Never sent to it: ${neverAsked.map(({ name }) => name).join('; ')}.`,
    )
  }
  return [
    ...lines,
    `The run only creates and changes keys and resources whose names begin with ${prefix}, and deletes them at the end.`,
  ]
}

function storeOf(given: ParsedArguments, env: Environment, dialect: Dialect): Address | undefined {
  const url = textOf(given, 'url', 'URL')
  if (url === undefined) return undefined
  const readOnlyToken = env[readOnlyTokenVariable]?.trim() || undefined
  const token = tokenFrom(tokenVariable, env, 'The data store', trialOf(dialect))
  return { address: serviceUrl('url', url), token, readOnlyToken, dialect }
}

/** Returns a hint about how to get a trial database. Returns `''` for a dialect whose vendor offers none. */
function trialOf({ trialStore }: Dialect): string {
  return trialStore === undefined ? '' : ` You can get a database for 72 hours without an account: ${trialStore}`
}

function queueOf(given: ParsedArguments, env: Environment, dialect: Dialect): Address | undefined {
  const url = textOf(given, 'queue', 'URL')
  if (url === undefined) return undefined
  const token = tokenFrom(queueTokenVariable, env, 'The queue')
  return { address: serviceUrl('queue', url), token, readOnlyToken: undefined, dialect }
}

function endpointOf(given: ParsedArguments, queue: Address | undefined): DriftPlan['endpoint'] {
  const url = textOf(given, 'endpoint', 'URL')
  const port = textOf(given, 'listen', 'PORT')
  if (queue === undefined) {
    if (url === undefined && port === undefined) return undefined
    throw new UsageError('--endpoint and --listen are for the deliveries of a queue. Name the queue with --queue URL.')
  }
  if (url === undefined)
    throw new UsageError('The queue needs a URL to deliver to. Pass a URL that you control with --endpoint URL.')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || /[?#]/.test(url))
    throw new UsageError('--endpoint must be a URL that begins with https:// or http://, without ? and #.')
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535))
    throw new UsageError(`--listen must be a port from 1 to 65535 (got ${JSON.stringify(port)}).`)
  return { url: new URL(url).href, port: port === undefined ? undefined : Number(port) }
}

function dialectGiven(given: ParsedArguments): Dialect {
  const name = textOf(given, 'dialect', dialectNames.join('|'))!
  if (!(dialectNames as readonly string[]).includes(name))
    throw new UsageError(`--dialect must be one of ${dialectNames.join(', ')} (got ${JSON.stringify(name)}).`)
  return dialectOf(name as DialectName)
}

function againstOf(given: ParsedArguments): ComparedSystem {
  const name = textOf(given, 'against', 'service|redis')
  if (name === 'service' || name === 'redis') return name
  throw new UsageError(`--against must be service or redis (got ${JSON.stringify(name)}).`)
}
