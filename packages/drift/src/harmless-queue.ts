import { text } from '../../../src/kernel/bytes.js'
import { parsedJson } from '../../../src/kernel/parsed-json.js'
import type { DriftRequest, LeftOut } from './case.js'

// Decides which requests may be sent to a real queue that other applications share. The file allowed-requests.ts
// decides this for the store.

/** Requests that are never sent to a real queue. */
export const neverAsked: readonly LeftOut[] = [
  { name: 'POST /v2/keys/rotate, GET /v2/keys', because: 'the signing keys are secret, and all applications use them' },
  {
    name: 'DELETE /v2/messages, DELETE /v2/dlq, POST /v2/dlq/retry',
    because: 'their filters may match messages of other applications',
  },
  {
    name: 'GET /v2/bulkActions, GET /v2/bulkActions/:id',
    because: 'they show cancels by filters, also those of other applications',
  },
  {
    name: 'GET /v2/schedules, GET /v2/topics, GET /v2/flowControl, GET /v2/globalParallelism',
    because: 'they list resources of other applications; the contract reads each resource by its name',
  },
]

export interface Ours {
  readonly prefix: string
  /** URL of the only destination to which messages may go. */
  readonly endpoint: string | undefined
  /** IDs of messages and dead letters that this run has created. */
  readonly ids: ReadonlySet<string>
}

/** IDs that do not exist. Requests use them to compare the error. */
const madeUp = /^(?:msg_stuntdouble\w*|0000000000000-0)$/

/** Returns the reason why a request must not be sent; `undefined` if it may be sent. */
export function queueRefusal(ask: DriftRequest, ours: Ours): string | undefined {
  const [path = ''] = ask.path.split('?')
  const [, , kind = '', name = '', action = ''] = path.split('/')
  const isOurs = (found: string): boolean => decodeURIComponent(found).startsWith(ours.prefix)
  const isOurId = (id: string): boolean => ours.ids.has(decodeURIComponent(id)) || madeUp.test(id)
  const may = ((): boolean => {
    switch (kind) {
      case 'publish':
        return mayGoTo(behind(ask.path, '/v2/publish/'), ours)
      case 'enqueue':
        return isOurs(name) && mayGoTo(behind(ask.path, `/v2/enqueue/${name}/`), ours)
      case 'batch':
        return destinationsIn(ask).every((destination) => mayGoTo(destination, ours))
      case 'schedules':
        if (ask.method === 'POST' && action !== 'pause' && action !== 'resume')
          return mayGoTo(behind(ask.path, '/v2/schedules/'), ours) && isOurs(headerOf(ask, 'service-schedule-id'))
        return ask.method === 'GET' || isOurs(name)
      case 'queues':
        return ask.method === 'GET' || isOurs(name === '' ? queueIn(ask) : name)
      case 'topics':
        return (ask.method === 'GET' || isOurs(name)) && groupUrls(ask).every((url) => mayGoTo(url, ours))
      case 'messages':
        return isOurId(name)
      case 'dlq':
        if (name === 'retry') return isOurId(action)
        return name === '' ? ask.method === 'GET' : isOurId(name)
      case 'events':
      case 'logs':
      case 'globalParallelism':
      case 'readiness':
        return ask.method === 'GET'
      case 'flowControl':
        return name === '' ? ask.method === 'GET' : isOurs(name)
      default:
        return false
    }
  })()
  return may ? undefined : `${ask.method} ${path} concerns a resource or destination that does not belong to this run`
}

/**
 * Returns whether messages may go to a destination: the endpoint or a URL group of this run, or an invalid destination
 * that begins with `stuntdouble`.
 */
function mayGoTo(destination: string, { prefix, endpoint }: Ours): boolean {
  if (destination.startsWith(prefix)) return true
  if (/^https?:/i.test(destination)) return endpoint !== undefined && destination.startsWith(endpoint)
  return destination.startsWith('stuntdouble')
}

function behind(path: string, start: string): string {
  return path.slice(start.length)
}

function headerOf({ headers = {} }: DriftRequest, name: string): string {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? ''
}

function bodyOf({ body }: DriftRequest): unknown {
  return body === undefined ? undefined : parsedJson(text(body))
}

function destinationsIn(ask: DriftRequest): string[] {
  const items = bodyOf(ask)
  return Array.isArray(items)
    ? items.map((item) => String((item as { destination?: unknown } | null)?.destination))
    : []
}

function queueIn(ask: DriftRequest): string {
  const { queueName } = (bodyOf(ask) ?? {}) as { queueName?: unknown }
  return typeof queueName === 'string' ? queueName : ''
}

function groupUrls(ask: DriftRequest): string[] {
  const { endpoints } = (bodyOf(ask) ?? {}) as { endpoints?: readonly { url?: string }[] }
  return (endpoints ?? []).flatMap(({ url }) => url ?? [])
}

/**
 * Allowed format of IDs. Other values could change the meaning of a path. For example, a path with `.` as the ID means
 * all messages.
 */
const idForm = /^[\w-]{1,200}$/

/**
 * Returns the IDs of this run in a response: IDs of messages that the request published, and of dead letters of this
 * run's messages.
 */
export function ownIds(ask: DriftRequest, answer: string, known: ReadonlySet<string>): readonly string[] {
  if (ask.service !== 'queue') return []
  const publishes = /^\/v2\/(?:publish|enqueue|batch|dlq\/retry)\b/.test(ask.path) && ask.method === 'POST'
  const asked = /^\/v2\/dlq\?messageId=([^&]+)$/.exec(ask.path)?.[1]
  if (!publishes && (asked === undefined || !known.has(asked))) return []
  const found = answer.matchAll(publishes ? /"messageId":\s*"([^"]+)"/g : /"dlqId":\s*"([^"]+)"/g)
  return [...found].map(([, id]) => id!).filter((id) => idForm.test(id))
}
