import { utf8 } from '../../../../src/kernel/bytes.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { Answered, Case, ComparisonMode, Delivery, DriftRequest, Need, Observation, Side } from '../case.js'
import { observed } from '../observe.js'

// Cases for the message queue. Their waits are short. All messages go to the endpoint of the run.

/** The side on which a queue case runs, with a function that receives the observations. */
class Stage {
  constructor(
    readonly side: Side,
    readonly see: (seen: Observation) => void,
  ) {}

  get prefix(): string {
    return this.side.prefix
  }

  /** Sends a request and observes the response. */
  async ask(title: string, method: string, path: string, more: Asking = {}): Promise<Answered> {
    const { loose = ['normal'] } = more
    const ask = askOf(method, path, more)
    const answered = await this.side.ask(ask)
    this.see(observed(ask, answered, { asked: title, loose }))
    return answered
  }

  /** Sends a request without observing the response. */
  quietly(method: string, path: string, more: Asking = {}): Promise<Answered> {
    return this.side.ask(askOf(method, path, more))
  }

  /** Registers that the resource at a path is deleted when the case has ended. */
  undo(path: string): void {
    this.side.undo(path, (side) => side.ask(askOf('DELETE', path)))
  }

  note(asked: string, value: unknown): void {
    this.see({ asked, value, loose: ['normal'] })
  }

  /** Publishes to the endpoint. @returns the ID of the message */
  async publish(
    title: string,
    settings: Headers,
    { asked = {}, body = '{"drift":1}', loose = ['normal'] }: Publishing = {},
  ): Promise<string> {
    const headers = { 'content-type': 'application/json', ...settings }
    const answered = await this.ask(title, 'POST', `/v2/publish/${this.side.endpoint(asked)}`, { headers, body, loose })
    return this.idIn(answered)
  }

  /**
   * Returns the first message ID in a response. When the case has ended, every message in the response is canceled if
   * it still exists.
   */
  idIn({ body }: Answered): string {
    const value = parsedJson(body)
    const ids = [value].flat().map((one) => (one as { messageId?: string } | null)?.messageId)
    for (const id of ids) if (id !== undefined) this.side.undo(`the message ${id}`, (side) => takeBack(side, id))
    return ids[0] ?? 'msg_stuntdouble_none'
  }

  /** Waits until a condition holds. It waits at most one minute on the clock of the side. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    for (let waited = 0, wait = 50; waited < 60_000; waited += wait, wait = Math.min(wait * 2, 1000)) {
      if (await isSo()) return
      await this.side.wait(wait)
    }
  }

  /** Waits for the dead letter of a message and returns it. Returns `undefined` if none appears within a minute. */
  async deadLetter(id: string): Promise<DeadLetter | undefined> {
    let letter: DeadLetter | undefined
    await this.until(async () => {
      const { body } = await this.quietly('GET', `/v2/dlq?messageId=${id}`)
      letter = (parsedJson(body) as { messages?: DeadLetter[] } | undefined)?.messages?.[0]
      return letter !== undefined
    })
    return letter
  }

  /** Waits until a message has ended, and then observes its states in order. */
  async story(id: string): Promise<void> {
    let entries: readonly LogEntry[] = []
    await this.until(async () => {
      const { body } = await this.quietly('GET', `/v2/events?messageId=${id}&order=earliestFirst`)
      entries = (parsedJson(body) as { events?: LogEntry[] } | undefined)?.events ?? []
      return entries.some(({ state }) => /^(?:DELIVERED|FAILED|CANCELL?ED)$/.test(state))
    })
    this.note(
      'the states of the message',
      entries.map(({ state }) => state),
    )
    const [last] = entries.slice(-1)
    this.note('the last entry of its log', withoutPlaces(last))
  }
}

/** Cancels a message and deletes its dead letter. */
async function takeBack(side: Pick<Side, 'ask'>, id: string): Promise<void> {
  await side.ask(askOf('DELETE', `/v2/messages/${id}`))
  const { body } = await side.ask(askOf('GET', `/v2/dlq?messageId=${id}`))
  const { messages = [] } = (parsedJson(body) ?? {}) as { messages?: readonly { dlqId: string }[] }
  for (const { dlqId } of messages) await side.ask(askOf('DELETE', `/v2/dlq/${dlqId}`))
}

type Headers = Readonly<Record<string, string>>

interface LogEntry {
  readonly state: string
}

type DeadLetter = Readonly<Record<string, unknown>>

function dlqIdIn(letter: DeadLetter | undefined): string {
  return String(letter?.dlqId ?? '0000000000000-0')
}

interface Asking {
  readonly headers?: Headers
  readonly body?: string
  readonly token?: DriftRequest['token']
  readonly loose?: readonly ComparisonMode[]
}

interface Publishing {
  readonly asked?: Readonly<Record<string, string | number>>
  readonly body?: string
  readonly loose?: readonly ComparisonMode[]
}

function askOf(method: string, path: string, { headers, body, token }: Asking = {}): DriftRequest {
  return {
    ...{ service: 'queue', method, path },
    ...(headers && { headers }),
    ...(body !== undefined && { body: utf8(body) }),
    ...(token && { token }),
  }
}

/**
 * Removes fields of a log entry whose values differ between machines: the IP address of the publisher and the headers
 * of the endpoint's server.
 */
function withoutPlaces(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return entry
  const places = /^(?:callerIp|callerIP|responseHeaders?)$/
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !places.test(name)))
}

function queueCase(
  name: string,
  requests: number,
  run: (stage: Stage) => Promise<void>,
  ...more: readonly Need[]
): Case {
  return {
    name: `queue: ${name}`,
    needs: ['queue', 'endpoint', ...more],
    requests,
    run: (side, see) => run(new Stage(side, see)),
  }
}

const once = { 'Service-Retries': '0' }
const often = { 'Service-Retries': '2', 'Service-Retry-Delay': '1000' }
const late = { 'Service-Delay': '1d' }
const jsonBody = { 'content-type': 'application/json' }

const publishing = queueCase('a message is delivered', 12, async (stage) => {
  const id = await stage.publish('publish', {
    ...once,
    'Service-Forward-X-Drift': 'yes',
    'Service-Label': `${stage.prefix}a`,
  })
  await stage.story(id)
})

const arriving = queueCase(
  'the format of a delivery',
  12,
  async (stage) => {
    const settings = { ...once, 'Service-Forward-X-Drift': 'yes', 'Service-Method': 'PUT' }
    await stage.publish('publish', settings, { body: '{"some":"body"}' })
    await stage.until(async () => stage.side.deliveries().length > 0)
    const [delivery] = stage.side.deliveries()
    stage.note('the delivery', delivery && shownDelivery(delivery))
  },
  'listener',
)

const failing = queueCase('retries, and a dead letter', 30, async (stage) => {
  const id = await stage.publish('publish', often, { asked: { status: 500 } })
  await stage.story(id)
  const letter = await stage.deadLetter(id)
  stage.note('the dead letter', withoutHeaders(letter))
  const dlqId = dlqIdIn(letter)
  await stage.ask('delete the dead letter', 'DELETE', `/v2/dlq/${dlqId}`)
  await stage.ask('read the dead letter again', 'GET', `/v2/dlq/${dlqId}`, { loose: ['kind'] })
})

const again = queueCase('a dead letter that is published again', 30, async (stage) => {
  const id = await stage.publish('publish', once, { asked: { status: 500 } })
  const dlqId = dlqIdIn(await stage.deadLetter(id))
  const published = await stage.ask('publish it again', 'POST', `/v2/dlq/retry/${dlqId}`)
  await stage.story(stage.idIn(published))
  await stage.ask('read the dead letter', 'GET', `/v2/dlq/${dlqId}`, { loose: ['kind'] })
})

const recovering = queueCase('a retry that succeeds', 20, async (stage) => {
  await stage.story(await stage.publish('publish', often, { asked: { fails: 1 } }))
})

/**
 * A case with status 489, which needs a certain header. Only the listener of this program sends this header, so the
 * case needs the listener.
 */
const refusing = queueCase(
  'a failure that is not retried',
  20,
  async (stage) => {
    await stage.story(await stage.publish('publish', often, { asked: { status: 489 } }))
  },
  'listener',
)

const callbacks = queueCase(
  'callbacks',
  30,
  async (stage) => {
    const settings = {
      ...{ 'Service-Retries': '1', 'Service-Retry-Delay': '1000' },
      'Service-Callback': stage.side.endpoint({ role: 'callback' }),
      'Service-Failure-Callback': stage.side.endpoint({ role: 'failure' }),
    }
    const id = await stage.publish('publish', settings, { asked: { status: 500, role: 'message' } })
    await stage.story(id)
    const told = (role: string): readonly Delivery[] =>
      stage.side.deliveries().filter(({ asked }) => asked.role === role)
    await stage.until(async () => told('callback').length >= 2 && told('failure').length >= 1)
    stage.note('the number of attempts', told('message').length)
    stage.note('the number of callbacks', told('callback').length)
    stage.note('the number of failure callbacks', told('failure').length)
    for (const role of ['callback', 'failure']) {
      const [last] = told(role).slice(-1)
      stage.note(`the body of the ${role}`, last && withoutHeaders(parsedJson(last.body)))
    }
  },
  'listener',
)

const waiting = queueCase('a message that waits', 8, async (stage) => {
  const id = await stage.publish('publish', { ...late, ...often, 'Service-Label': `${stage.prefix}a,${stage.prefix}b` })
  const { body } = await stage.quietly('GET', `/v2/messages/${id}`)
  stage.note('the message', withoutPlaces(parsedJson(body)))
  await stage.ask('cancel the message', 'DELETE', `/v2/messages/${id}`)
  await stage.ask('read the message again', 'GET', `/v2/messages/${id}`, { loose: ['kind'] })
})

const hurried = queueCase('a message that is delivered immediately', 12, async (stage) => {
  const id = await stage.publish('publish', { ...late, ...once })
  await stage.ask('deliver the message now', 'POST', `/v2/messages/${id}/retry`)
  await stage.story(id)
})

const duplicates = queueCase('deduplication', 6, async (stage) => {
  const settings = { ...late, 'Service-Deduplication-Id': `${stage.prefix}once` }
  await stage.publish('publish', settings)
  await stage.publish('publish again', settings)
  const byContent = { ...late, 'Service-Content-Based-Deduplication': 'true' }
  await stage.publish('publish by content', byContent)
  await stage.publish('publish the same content again', byContent)
})

const groups = queueCase('groups', 16, async (stage) => {
  const name = `${stage.prefix}group`
  const path = `/v2/topics/${name}`
  const [one, two] = [stage.side.endpoint({ n: 1 }), stage.side.endpoint({ n: 2 })]
  stage.undo(path)
  await stage.ask('read a group that does not exist', 'GET', path)
  const body = JSON.stringify({ endpoints: [{ url: one, name: 'one' }, { url: two }] })
  await stage.ask('create a group', 'POST', `${path}/endpoints`, { body, headers: jsonBody })
  await stage.ask('read the group', 'GET', path)
  await stage.ask('set a header of the group', 'PATCH', path, { headers: { 'Service-Forward-X-Drift': 'group' } })
  await stage.ask('read the group with its header', 'GET', path)
  const answered = await stage.ask('publish to the group', 'POST', `/v2/publish/${name}`, {
    headers: { ...late, ...jsonBody },
    body: '{}',
  })
  stage.idIn(answered)
  const removed = JSON.stringify({ endpoints: [{ name: 'one' }] })
  await stage.ask('remove an endpoint', 'DELETE', `${path}/endpoints`, { body: removed, headers: jsonBody })
  await stage.ask('read the group again', 'GET', path)
  await stage.ask('delete the group', 'DELETE', path)
  await stage.ask('read the group at the end', 'GET', path)
})

const queues = queueCase('queues', 16, async (stage) => {
  const name = `${stage.prefix}queue`
  const path = `/v2/queues/${name}`
  stage.undo(path)
  await stage.ask('read a queue that does not exist', 'GET', path)
  const body = JSON.stringify({ queueName: name, parallelism: 2, paused: true })
  await stage.ask('create a queue', 'POST', '/v2/queues', { body, headers: jsonBody })
  await stage.ask('resume the queue', 'POST', `${path}/resume`)
  await stage.ask('read the resumed queue', 'GET', path)
  await stage.ask('pause the queue', 'POST', `${path}/pause`)
  await stage.ask('read the queue', 'GET', path)
  const enqueued = await stage.ask('enqueue', 'POST', `/v2/enqueue/${name}/${stage.side.endpoint()}`, {
    body: '{}',
    headers: jsonBody,
  })
  stage.idIn(enqueued)
  await stage.ask('read the queue with a message', 'GET', path)
  await stage.ask('delete the queue', 'DELETE', path)
  await stage.ask('read the queue at the end', 'GET', path)
})

const schedules = queueCase('schedules', 14, async (stage) => {
  const id = `${stage.prefix}schedule`
  const path = `/v2/schedules/${id}`
  stage.undo(path)
  await stage.ask('read a schedule that does not exist', 'GET', path, { loose: ['kind'] })
  const create = (cron: string, settings: Headers): DriftRequest['headers'] => ({
    ...jsonBody,
    ...settings,
    'Service-Schedule-Id': id,
    'Service-Cron': cron,
  })
  const to = `/v2/schedules/${stage.side.endpoint()}`
  await stage.ask('create a schedule', 'POST', to, {
    headers: create('0 4 1 1 *', { ...often, 'Service-Delay': '5s' })!,
    body: '{"a":1}',
  })
  const read = async (): Promise<unknown> =>
    withSlot(withoutPlaces(parsedJson((await stage.quietly('GET', path)).body)))
  stage.note('the schedule', await read())
  await stage.ask('pause the schedule', 'POST', `${path}/pause`)
  stage.note('the paused schedule', await read())
  await stage.ask('resume the schedule', 'POST', `${path}/resume`)
  await stage.ask('replace the schedule', 'POST', to, { headers: create('CRON_TZ=America/New_York 30 4 1 1 *', {})! })
  stage.note('the replaced schedule', await read())
  await stage.ask('replace the schedule with an invalid cron', 'POST', to, { headers: create('99 * * * *', {})! })
  await stage.ask('replace the schedule with a cron of six fields', 'POST', to, { headers: create('0 0 4 1 1 *', {})! })
  await stage.ask('delete the schedule', 'DELETE', path)
  await stage.ask('read the schedule at the end', 'GET', path, { loose: ['kind'] })
})

const batches = queueCase('batches', 4, async (stage) => {
  const item = (n: number): object => ({
    destination: stage.side.endpoint({ n }),
    headers: { 'content-type': 'application/json', [stage.side.own('Service-Delay')]: '1d' },
    body: `{"n":${n}}`,
  })
  const answered = await stage.ask('a batch', 'POST', '/v2/batch', {
    body: JSON.stringify([item(1), item(2)]),
    headers: jsonBody,
  })
  stage.idIn(answered)
  await stage.ask('a batch that is not a list', 'POST', '/v2/batch', { body: '{}', headers: jsonBody })
  await stage.ask('a batch that is not valid JSON', 'POST', '/v2/batch', { body: '[{', headers: jsonBody })
})

const flow = queueCase('flow control', 10, async (stage) => {
  const key = `${stage.prefix}flow`
  const path = `/v2/flowControl/${key}`
  const settings = {
    ...late,
    'Service-Flow-Control-Key': key,
    'Service-Flow-Control-Value': 'parallelism=2, rate=10, period=1m',
  }
  await stage.publish('publish', settings)
  await stage.ask('read the key', 'GET', path)
  await stage.ask('pause the key', 'POST', `${path}/pause`)
  await stage.ask('read the paused key', 'GET', path)
  await stage.ask('resume the key', 'POST', `${path}/resume`)
  await stage.ask('publish with an invalid flow-control value', 'POST', `/v2/publish/${stage.side.endpoint()}`, {
    headers: { ...late, 'Service-Flow-Control-Key': key, 'Service-Flow-Control-Value': 'nonsense' },
  })
})

const mistakes = queueCase('mistakes', 24, async (stage) => {
  const to = `/v2/publish/${stage.side.endpoint()}`
  const wrong = (title: string, headers: Headers): Promise<Answered> =>
    stage.ask(title, 'POST', to, { headers: { ...late, ...headers } })
  await stage.ask('a wrong token', 'POST', to, { token: 'wrong' })
  await stage.ask('no token', 'POST', to, { token: 'none' })
  await stage.ask('a destination without a scheme', 'POST', '/v2/publish/stuntdouble.test/hook')
  await stage.ask('a group that does not exist', 'POST', `/v2/publish/${stage.prefix}none`)
  for (const [title, headers] of [
    ['a deduplication ID with a colon', { 'Service-Deduplication-Id': 'a:b' }],
    ['an invalid delay', { 'Service-Delay': 'soon' }],
    ['invalid retries', { 'Service-Retries': 'many' }],
    ['an invalid retry delay', { 'Service-Retry-Delay': '1 +' }],
    ['an invalid method', { 'Service-Method': 'FETCH' }],
    ['a callback that is not a URL', { 'Service-Callback': 'nowhere' }],
    ['an invalid timeout', { 'Service-Timeout': 'long' }],
  ] as const)
    stage.idIn(await wrong(title, headers))
  await stage.ask('a message that does not exist', 'GET', '/v2/messages/msg_stuntdouble_none')
  await stage.ask('cancel a message that does not exist', 'DELETE', '/v2/messages/msg_stuntdouble_none')
  await stage.ask('a dead letter that does not exist', 'GET', '/v2/dlq/0000000000000-0')
  await stage.ask('a queue with a wrong name', 'POST', '/v2/queues', {
    body: JSON.stringify({ queueName: `${stage.prefix}a b` }),
    headers: jsonBody,
  })
  await stage.ask('an unknown filter', 'GET', '/v2/events?stuntdouble=1')
  await stage.ask('the log of an unknown user', 'GET', '/v2/logs?messageId=msg_stuntdouble_none', { loose: ['kind'] })
  await stage.ask('whether the queue is ready', 'GET', '/v2/readiness')
})

/**
 * Converts the next fire time of a schedule to minutes. A time in milliseconds would be replaced by a placeholder and
 * not compared, although it must be equal on both sides.
 */
function withSlot(schedule: unknown): unknown {
  const { nextScheduleTime } = (schedule ?? {}) as { nextScheduleTime?: unknown }
  if (typeof nextScheduleTime !== 'number') return schedule
  return { ...(schedule as object), nextScheduleTime: `minute ${nextScheduleTime / 60_000}` }
}

/** Returns a delivery for the comparison. Headers that the network may change are omitted. */
function shownDelivery({ method, headers, body }: Delivery): unknown {
  const told = Object.entries(headers)
    .filter(([name]) => name === 'content-type' || name === 'user-agent' || /^(?:service-|x-drift$)/.test(name))
    .map(([name, value]): [string, string] => [name, /signature|region|caller-ip/.test(name) ? 'there' : value])
  return { method, headers: Object.fromEntries(told.sort(([a], [b]) => (a < b ? -1 : 1))), body }
}

/**
 * Replaces the headers of the endpoint's response by a constant, because the endpoint's server adds headers of its own.
 */
function withoutHeaders(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) =>
      /^(?:header|responseHeaders?)$/.test(name) && name !== 'sourceHeader'
        ? [name, 'headers']
        : /^callerI[pP]$/.test(name)
          ? [name, 'an IP address']
          : [name, field],
    ),
  )
}

export const queueContract: readonly Case[] = [
  ...[publishing, arriving, failing, again, recovering, refusing, callbacks, waiting, hurried, duplicates],
  ...[groups, queues, schedules, batches, flow, mistakes],
]
