import { type ChildProcess, fork } from 'node:child_process'
import { connect } from 'node:net'
import { createRandom, type Random } from '../../../../src/kernel/random.js'
import { controlOperations } from '../../src/control/control.js'
import type { Built } from './built.js'
import { told } from './told.js'

export interface MalformedOutcome {
  readonly requests: number
  readonly connections: number
  readonly answers: number
  /** Bytes of the heap after a collection: at the start, and at the end. */
  readonly heap: readonly [before: number, after: number]
  readonly wrong: readonly string[]
}

const atOnce = 24
/** Milliseconds without another response. */
const patience = 15

/** Sends malformed requests by seed. The server must continue, and its memory must not grow. */
export async function malformed(requests: number, { program }: Built, seed = 1): Promise<MalformedOutcome> {
  const child = fork(program('server'), { execArgv: ['--expose-gc'], stdio: 'inherit' })
  try {
    const { origin } = await told<{ origin: string }>(child)
    const random = createRandom(seed)
    const wrong: string[] = []
    let [sent, connections, answers] = [0, 0, 0]
    const storm = async (most: number): Promise<void> => {
      const one = async (): Promise<void> => {
        while (sent < most) {
          // A request that cannot be framed ends its connection, so half of the connections have none.
          const isFramed = random.int(2) === 0
          const batch = Array.from({ length: 1 + random.int(16) }, () => oneOf(random, isFramed))
          sent += batch.length
          connections++
          const got = await send(origin, batch, random)
          answers += got
        }
      }
      await Promise.all(Array.from({ length: atOnce }, one))
    }
    // Code that is loaded and compiled once is not a leak.
    const warm = Math.min(requests / 4, 5_000)
    await storm(warm)
    const before = await memory(child)
    await storm(requests)
    await isServing(origin, wrong)
    const after = await memory(child)
    for (const report of [...before.reports, ...after.reports]) wrong.push(`it failed by mistake: ${report}`)
    return { requests: sent, connections, answers, heap: [before.heap, after.heap], wrong: wrong.slice(0, 10) }
  } finally {
    child.disconnect()
  }
}

async function isServing(origin: string, wrong: string[]): Promise<void> {
  // Uses a separate tenant, because one of the operations changes tokens.
  const answer = await fetch(`${origin}/afterwards/store/ping`, { headers: { authorization: 'Bearer t' } })
  if (answer.status !== 200) wrong.push(`afterwards PING is answered ${answer.status}: ${await answer.text()}`)
}

async function memory(child: ChildProcess): Promise<{ heap: number; reports: readonly string[] }> {
  child.send('memory')
  return told(child)
}

/** Sends requests over one connection, some in pieces, some cut off. @returns the number of responses */
function send(origin: string, batch: readonly string[], random: Random): Promise<number> {
  return new Promise((resolve) => {
    const { port } = new URL(origin)
    const socket = connect(Number(port), '127.0.0.1')
    let text = ''
    const giveUp = setTimeout(() => socket.destroy(), 3_000)
    // A half-closed connection would be given up immediately, so the connection ends when no more responses arrive.
    let quiet: ReturnType<typeof setTimeout> | undefined
    const endSoon = (): void => {
      clearTimeout(quiet)
      quiet = setTimeout(() => socket.end(), patience)
    }
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (quiet !== undefined) endSoon()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(giveUp)
      clearTimeout(quiet)
      resolve(text.match(/HTTP\/1\.1 \d/g)?.length ?? 0)
    })
    const all = batch.join('')
    const isSlow = random.int(10) === 0
    if (!isSlow) {
      socket.write(all, 'latin1')
      // Some connections do not wait for the response.
      if (random.int(12) === 0) socket.destroy()
      else endSoon()
      return
    }
    const pieces = all.match(new RegExp(`[^]{1,${1 + Math.ceil(all.length / 6)}}`, 'g')) ?? []
    const next = (): void => {
      const piece = pieces.shift()
      if (piece === undefined || socket.destroyed) endSoon()
      else socket.write(piece, 'latin1', () => setTimeout(next, 1))
    }
    next()
  })
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random.int(list.length)]!
const noise = (random: Random, length: number): string =>
  Array.from({ length: random.int(length) }, () => String.fromCharCode(random.int(256))).join('')

const paths = [
  ...['/', '//', '/main', '/main/store', '/main/store/', '/main/store/pipeline', '/main/store/multi-exec'],
  ...['/main/store/get', '/main/store/set/a/b/EX/nan', '/main/store/%zz', '/main/store/eval/return', '/main/mgmt'],
  ...['/main/store/../../etc/passwd', '/main/queue/v2/publish/', '/main/queue/v2/publish/https://x.test', '/v2/batch'],
  ...[
    '/main/queue/v2/schedules/x',
    '/main/queue/v2/dlq/%00',
    '/v2/messages/a%2Fb',
    '/main/mgmt/v2/vector/index/x/stats',
  ],
  ...['/_health', '/_control', '/_control/%', '/_control/..', '/_control//', '/constructor/store', '/__proto__/store'],
  ...[
    'http://elsewhere.test/main/store',
    '*',
    '',
    '?',
    '/main/store?_token=',
    '/main/queue/v2/events?cursor=zz&count=-1',
  ],
]
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'get', 'FOO', '', 'G\x00T']
const bodies = [
  ...[
    '',
    '[]',
    '{}',
    'null',
    '[',
    '[[[[',
    '{"a":',
    '["SET"]',
    '["SET","a"]',
    '[["GET"],7]',
    '"x"',
    '\xff\xfe',
    '1e999',
  ],
  ...[
    '["EVAL","return 1",-1]',
    '["XADD","s","*"]',
    '[null]',
    '[{"destination":7}]',
    '[{"destination":"x","headers":[]}]',
  ],
  ...['{"by":-1}', '{"by":"soon"}', '{"at":"never"}', '{"command":[]}', '{"steps":[{"kind":7}]}', '{"rules":[null]}'],
  ...[
    '{"format":"stuntdouble/sandbox","version":1}',
    '{"__proto__":{"a":1}}',
    '{"scenario":{"name":7}}',
    '["SUBSCRIBE"]',
  ],
]
const oddHeaders = [
  ...['x: y', 'X'.repeat(9_000), `x: ${'y'.repeat(40_000)}`, ': empty', 'no colon', 'x:\x00', 'content-length: -1'],
  ...['content-length: 1\r\ncontent-length: 2', 'transfer-encoding: gzip', 'expect: 100-continue', 'expect: 7'],
  ...['authorization: Basic %%%', 'authorization: Bearer t', 'authorization: Bearer q', 'upgrade: websocket'],
  ...['connection: upgrade', 'host: evil.example', 'origin: null', 'origin: https://evil.example', 'encoding: base64'],
  ...['service-delay: -5s', 'service-cron: * * *', 'service-retries: 99999999999', 'service-not-before: soon'],
  ...['service-forward-\x7f: x', 'content-type: application/json', 'content-type: \xff', 'cookie: a=b'],
]

const framedPaths = paths.filter((path) => /^(?:\/|http)/.test(path))
const oddValues = oddHeaders.filter((header) =>
  /^(?:authorization|service|encoding|content-type|cookie)[^\x7f]*$/.test(header),
)

function oneOf(random: Random, isFramed: boolean): string {
  const method = !isFramed && random.int(3) === 0 ? pick(random, methods) : pick(random, ['GET', 'POST'])
  let path = pick(random, isFramed ? framedPaths : paths)
  const kind = random.int(6)
  if (kind === 0) path += isFramed ? encodeURIComponent(noise(random, 60)) : noise(random, 60)
  else if (kind === 1)
    path = `/_control/main${pick(random, controlOperations).path.replace(/:\w+/g, () => encodeURIComponent(noise(random, 6)))}`
  else if (kind === 2) path += `/${'a'.repeat(random.int(3_000))}`
  const headers = ['host: 127.0.0.1']
  if (!isFramed && random.int(10) === 0) headers.pop()
  if (random.int(2) === 0) headers.push(pick(random, ['authorization: Bearer t', 'authorization: Bearer q']))
  while (random.int(3) === 0) headers.push(pick(random, isFramed ? oddValues : oddHeaders))
  let body = pick(random, bodies)
  if (random.int(5) === 0) body = mutated(body, random)
  if (random.int(40) === 0) body = '['.repeat(20_000)
  switch (isFramed ? 5 : random.int(6)) {
    case 0:
      return `${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\n${chunked(body, random)}`
    case 1:
      // The length is wrong.
      return `${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\ncontent-length: ${random.int(body.length + 4)}\r\n\r\n${body}`
    case 2:
      return noise(random, 200)
    case 3:
      return `${method} ${path} HTTP/${pick(random, ['1.0', '1.1', '2.0', '9', ''])}\r\n${headers.join('\r\n')}\r\n\r\n`
    default:
      return `${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  }
}

function mutated(body: string, random: Random): string {
  const at = random.int(body.length + 1)
  return body.slice(0, at) + noise(random, 8) + body.slice(at + random.int(3))
}

function chunked(body: string, random: Random): string {
  const size = pick(random, [
    body.length.toString(16),
    'zz',
    '-1',
    'fffffffffffffffff',
    '0',
    `${body.length.toString(16)};x=y`,
  ])
  return `${size}\r\n${body}\r\n${pick(random, ['0\r\n\r\n', '0\r\nx: y\r\n\r\n', '', '\r\n'])}`
}
