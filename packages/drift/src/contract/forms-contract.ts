import { type Bytes, utf8 } from '../../../../src/kernel/bytes.js'
import type { Case, ComparisonMode, DriftRequest, Need, Side } from '../case.js'
import { fillingOf } from '../command-cases.js'
import { observed } from '../observe.js'
import { filled } from '../written-commands.js'

// Cases for the format of requests: all paths, bodies, headers and tokens in the reference.

interface Form {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly token?: DriftRequest['token']
  readonly loose?: readonly ComparisonMode[]
}

/** Returns a case that sends these requests in order. In paths and bodies, `{p}` is the prefix of the case. */
function forms(name: string, rows: readonly Form[], needs: readonly Need[] = ['store']): Case {
  return {
    name: `requests: ${name}`,
    needs,
    requests: rows.length,
    async run(side, see) {
      for (const { method, path, headers, body, token, loose } of rows) {
        const filling = fillingOf(side)
        const ask: DriftRequest = {
          service: 'store',
          method,
          path: filled(path, filling),
          ...(headers && { headers }),
          ...(body !== undefined && { body: utf8(filled(body, filling)) }),
          ...(token && { token }),
        }
        const asked = [method, path, ...Object.entries(headers ?? {}).map(([key, value]) => `${key}: ${value}`), body]
        see(observed(ask, await side.ask(ask), { asked: asked.filter(Boolean).join(' '), ...(loose && { loose }) }))
      }
    },
  }
}

const get = (path: string, more: Partial<Form> = {}): Form => ({ method: 'GET', path, ...more })
const post = (path: string, body?: string, more: Partial<Form> = {}): Form => ({ method: 'POST', path, body, ...more })

const base64 = { headers: { 'Service-Encoding': 'base64' } }
const resp2 = { headers: { 'Service-Response-Format': 'resp2' } }

const paths = forms('paths', [
  get('/set/{p}k/bar'),
  get('/get/{p}k'),
  get('/SET/{p}k/bar/EX/100'),
  get('/set/{p}k/a%2Fb'),
  get('/get/{p}k'),
  get('/set/{p}k/100%25'),
  get('/get/{p}k'),
  get('/set/{p}k/a+b'),
  get('/get/{p}k'),
  get('/set/{p}k/%E2%98%83'),
  get('/get/{p}k'),
  get('/set/{p}k/'),
  get('/get/{p}k'),
  get('/ping/'),
  get('/set/{p}k/%zz'),
  get('/'),
  get('/incr/{p}n'),
  get('/stuntdouble'),
  get('/PIPELINE'),
])

const queries = forms('queries', [
  get('/set/{p}k/v?EX=60&NX'),
  get('/ttl/{p}k', { loose: ['near'] }),
  get('/set/{p}k/v?NX=&EX=60'),
  get('/set/{p}k/v?NX=true&EX=60'),
  get('/set/{p}k?v&EX=60'),
  get('/rpush/{p}l?a+b=c%2Bd&x=1'),
  get('/lrange/{p}l/0/-1'),
  get('/rpush/{p}m?A=1&A=2'),
  get('/lrange/{p}m/0/-1'),
])

const bodies = forms('bodies in path form', [
  post('/set/{p}k', '{"a": [1, 2]}'),
  get('/get/{p}k'),
  post('/set/{p}k?EX=100', 'V'),
  get('/get/{p}k'),
  { method: 'PUT', path: '/set/{p}k', body: 'put' },
  get('/get/{p}k'),
  post('/get/{p}k', ''),
])

const json = forms('JSON bodies', [
  ...['"text"', '100', '1.50', '1e3', '-0', '12345678901234567890', 'true', 'false', '""', '"\\u2603"'].map((word) =>
    post('/', `["ECHO", ${word}]`),
  ),
  ...['["SET","{p}k",null]', '[null]', '[["PING"]]', '["ECHO",[]]', '["ECHO",{"a":1}]'].map((body) => post('/', body)),
  ...['', '{}', '"x"', '1', 'null', '[]', '[""]', '[1,', '["PING",]', 'PING'].map((body) => post('/', body)),
])

const pipelines = forms('pipelines', [
  post('/pipeline', '[["SET","{p}k","1"],["INCR","{p}k"],["GET","{p}k"]]'),
  post('/pipeline', '[["SET","{p}t","text"],["INCR","{p}t"],["STUNTDOUBLE"],["GET"],["GET","{p}t"]]'),
  post('/pipeline', '[]'),
  post('/pipeline', ''),
  post('/pipeline', '{}'),
  post('/pipeline', '["PING"]'),
  post('/pipeline', '[["PING"],[]]'),
  post('/pipeline', '[["SET","{p}k",null]]'),
  post('/pipeline', '[["PING"]'),
  get('/pipeline'),
  post('/pipeline', '[["GET","{p}k"],["LRANGE","{p}none","0","-1"],["PING"]]', base64),
  post('/pipeline', '[["GET","{p}k"],["PING"],["INCR","{p}t"]]', resp2),
])

const transactions = forms('transactions', [
  post(
    '/multi-exec',
    '[["SET","{p}a","valuex"],["SETEX","{p}b",13,"valuez"],["INCR","{p}a"],["ZADD","{p}z",11,"item1",22,"item2"]]',
  ),
  post('/multi-exec', '[["SET","{p}k","1"],["STUNTDOUBLE"]]'),
  get('/exists/{p}k'),
  post('/multi-exec', '[["SET","{p}k","1"],["GET"]]'),
  get('/exists/{p}k'),
  post('/multi-exec', '[["SET","{p}k",null]]'),
  post('/multi-exec', '[]'),
  post('/multi-exec', ''),
  post('/multi-exec', '[["PING"]'),
  post('/multi-exec', '[["GET","{p}a"],["PING"]]', base64),
  post('/multi-exec', '[["GET","{p}a"]]', resp2),
])

const encodings = forms('base64', [
  post('/', '["SET","{p}k","bar"]', base64),
  post('/', '["GET","{p}k"]', base64),
  post('/', '["GET","{p}none"]', base64),
  post('/', '["PING"]', base64),
  post('/', '["STRLEN","{p}k"]', base64),
  post('/', '["TYPE","{p}k"]', base64),
  post('/', '["SET","{p}ok","OK"]', base64),
  post('/', '["GET","{p}ok"]', base64),
  post('/', '["MGET","{p}k","{p}none","{p}ok"]', base64),
  post('/', '["EVAL","return {redis.status_reply(\'OK\'), {ARGV[1]}}","0","x"]', base64),
  post('/', '["GET"]', base64),
  get('/set/{p}bytes/%ff%00%80', base64),
  get('/get/{p}bytes', base64),
  get('/get/{p}bytes'),
  post('/', '["GET","{p}k"]', { headers: { 'Service-Encoding': 'nonsense' } }),
])

const respForms = forms('RESP2', [
  post('/', '["SET","{p}k","bar"]', resp2),
  post('/', '["GET","{p}k"]', resp2),
  post('/', '["GET","{p}none"]', resp2),
  post('/', '["STRLEN","{p}k"]', resp2),
  post('/', '["MGET","{p}k","{p}none"]', resp2),
  post('/', '["XREAD","STREAMS","{p}x","0"]', resp2),
  post('/', '["INCR","{p}k"]', resp2),
  post('/', '["GET"]', resp2),
  post('/', '["PING"]', { headers: { 'Service-Response-Format': 'nonsense' } }),
  post('/', '["PING"]', { headers: { 'Service-Response-Format': 'resp2', 'Service-Encoding': 'base64' } }),
])

const methods = forms('methods', [
  { method: 'HEAD', path: '/set/{p}k/v' },
  get('/get/{p}k'),
  { method: 'HEAD', path: '/stuntdouble' },
  { method: 'DELETE', path: '/get/{p}k' },
  { method: 'PATCH', path: '/get/{p}k' },
  {
    method: 'OPTIONS',
    path: '/get/{p}k',
    token: 'none',
    headers: { origin: 'https://app.test', 'access-control-request-method': 'POST' },
  },
  get('/get/{p}k', { headers: { origin: 'https://app.test' } }),
])

const tokens = forms('tokens', [
  get('/ping', { token: 'in the query' }),
  post('/rpush/{p}l?a=1', undefined, { token: 'in the query' }),
  get('/lrange/{p}l/0/-1'),
  get('/ping', { token: 'wrong' }),
  get('/ping', { token: 'none' }),
  post('/pipeline', '[["PING"]]', { token: 'none' }),
  get('/ping', { token: 'wrong', headers: { 'Service-Response-Format': 'resp2' } }),
])

const readOnly = forms(
  'the read-only token',
  [
    post('/', '["SET","{p}k","v"]'),
    post('/', '["GET","{p}k"]', { token: 'read-only' }),
    post('/', '["PING"]', { token: 'read-only' }),
    ...['["SET","{p}k","w"]', '["DEL","{p}k"]', '["KEYS","{p}*"]', '["SCAN","0","MATCH","{p}*"]'].map((body) =>
      post('/', body, { token: 'read-only' }),
    ),
    post('/', '["EVAL","return 1","1","{p}k"]', { token: 'read-only' }),
    post('/', '["PUBLISH","{p}c","x"]', { token: 'read-only' }),
    post('/pipeline', '[["GET","{p}k"],["SET","{p}k","w"]]', { token: 'read-only' }),
    post('/multi-exec', '[["GET","{p}k"],["SET","{p}k","w"]]', { token: 'read-only' }),
    post('/', '["GET","{p}k"]'),
  ],
  ['store', 'read-only token'],
)

/** Compares the sync token. It must change with every write and stay the same with reads. */
const syncToken: Case = {
  name: 'requests: the sync token',
  needs: ['store'],
  requests: 5,
  async run(side, see) {
    let last: string | undefined
    for (const [command, ...words] of [['SET', 'v'], ['SET', 'v'], ['GET'], ['INCR'], ['GET']] as const) {
      const key = `${side.prefix}${command === 'INCR' ? 'n' : 'k'}`
      const ask: DriftRequest = {
        service: 'store',
        method: 'POST',
        path: '/',
        headers: { 'Service-Sync-Token': last ?? '' },
        body: utf8(JSON.stringify([command, key, ...words])),
      }
      const { headers } = await side.ask(ask)
      const token = headers['service-sync-token']
      const value = token === undefined ? 'none' : token === last ? 'as before' : 'a new one'
      if (last !== undefined) see({ asked: `the sync token after ${command}`, value, loose: [] })
      last = token
    }
  },
}

/** Copies a key with DUMP and RESTORE. The payload is not valid UTF-8, so RESTORE is sent in the path. */
const dumped: Case = {
  name: 'requests: DUMP and RESTORE',
  needs: ['store'],
  requests: 5,
  async run(side, see) {
    const asked = async (title: string, ask: DriftRequest, loose: readonly ComparisonMode[] = []): Promise<unknown> => {
      const seen = observed(ask, await side.ask(ask), { asked: title, loose })
      see(seen)
      return (seen.value as { result?: unknown } | null)?.result
    }
    const key = `${side.prefix}k`
    const line = (words: string, more: Partial<DriftRequest> = {}): DriftRequest => ({
      service: 'store',
      method: 'GET',
      path: words,
      ...more,
    })
    await asked('SET @k v', line(`/set/${key}/v`))
    const payload = await asked('DUMP @k', line(`/dump/${key}`, base64), ['kind'])
    const bytes = Buffer.from(typeof payload === 'string' ? payload : '', 'base64')
    const escaped = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    await asked('RESTORE @copy 0 …', line(`/restore/${side.prefix}copy/0/${escaped}`))
    await asked('GET @copy', line(`/get/${side.prefix}copy`))
    await asked('RESTORE @copy 0 … again', line(`/restore/${side.prefix}copy/0/${escaped}`))
  },
}

/** Returns a case that opens an event stream and observes its first event and one message. */
function streamCase(name: string, path: (side: Side) => string, message: string): Case {
  return {
    name: `event streams: ${name}`,
    needs: ['store'],
    requests: 2,
    async run(side, see) {
      const ask: DriftRequest = {
        service: 'store',
        method: 'POST',
        path: path(side),
        headers: { accept: 'text/event-stream' },
      }
      const stream = await side.open(ask)
      const own = (line: string | undefined): string => (line ?? 'nothing').replaceAll(side.prefix, '@')
      try {
        see(observed(ask, { ...stream.answered, body: '' as Bytes }, { asked: `POST ${own(path(side))}` }))
        see({ asked: 'the first event', value: own(await stream.next()), loose: [] })
        await side.ask({ service: 'store', method: 'GET', path: `/publish/${side.prefix}c/hello` })
        see({
          asked: message,
          value: monitorLine(await ownLine(stream, side.prefix)).replaceAll(side.prefix, '@'),
          loose: [],
        })
      } finally {
        stream.close()
      }
    },
  }
}

/** Returns the next event that contains the prefix. Events of other clients are ignored. */
async function ownLine(stream: { next(): Promise<string | undefined> }, prefix: string): Promise<string> {
  for (let count = 0; count < 1000; count++) {
    const line = await stream.next()
    if (line === undefined || line.includes(prefix)) return line ?? 'nothing'
  }
  return 'nothing'
}

/** Removes the time from a line of MONITOR. */
function monitorLine(line: string): string {
  return line.replace(/^\d+\.\d{6} /, '<seconds> ')
}

/** A stream with a wrong token. The service must reject it before the first event. */
const refusedStream = forms('event streams that are rejected', [
  post('/subscribe/{p}c', undefined, { token: 'wrong', headers: { accept: 'text/event-stream' } }),
])

export const formCases: readonly Case[] = [
  ...[paths, queries, bodies, json, pipelines, transactions, encodings, respForms, methods, tokens, readOnly],
  ...[syncToken, dumped, refusedStream],
  streamCase('SUBSCRIBE', ({ prefix }) => `/subscribe/${prefix}c`, 'a message'),
  streamCase('PSUBSCRIBE', ({ prefix }) => `/psubscribe/${prefix}*`, 'a message for a pattern'),
  streamCase('MONITOR', () => '/monitor', 'a line about a command'),
]
