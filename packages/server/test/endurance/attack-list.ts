/** One response of the server. Only the beginning of a large body is kept. */
export interface Got {
  readonly status: number
  readonly text: string
  readonly size: number
}

/** Calls that an attack can make. Each way is tried on its own tenant, so that one attack does not affect the next. */
export interface Target {
  readonly store: (path: string, body: unknown) => Promise<Got>
  readonly queue: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Got>
  /** Sends a request to the control API. A body makes it a POST unless the method is given. */
  readonly order: (path: string, body?: unknown, method?: string) => Promise<Got>
  /** Sends bytes over its own connection, which stays open until the attack has ended. */
  readonly raw: (text: string) => Promise<void>
  /**
   * Sends commands over a connection of the Redis protocol, which stays open until the attack has ended.
   * @param until resolves with the output once it contains this text; without it, nothing is read
   */
  readonly native: (parts: Iterable<string>, until?: string) => Promise<string>
  /** Sends a request and cancels it after this many milliseconds of real time. */
  readonly givenUp: (path: string, body: unknown, after: number) => Promise<void>
}

/** One attempt to block all other clients or to make the server fail. */
export interface Attack {
  readonly name: string
  /** @returns descriptions of unexpected responses */
  readonly strike: (target: Target) => Promise<(string | false)[]>
  /** Limit that stops it, by its name in `limitRows`, or the reason why it needs none. */
  readonly limit: string
  /** Megabytes of the server's heap, instead of the default. */
  readonly heap?: number
  /** Clock of the tenants. Default `manual`. */
  readonly clock?: 'real'
  /** Longest accepted block, in calibration loops of 10 ms each, and why it is more than ten. */
  readonly over?: { readonly loops: number; readonly because: string }
}

/** Needs no limit: the request is not valid for the API. */
export const refusedForItsForm = 'refused for its form'
/** Needs no limit except that of a body: it is read in linear time. */
export const takesTheTimeOfItsLength = 'takes the time of its length'

const isRefused = ({ status }: Got): boolean => status >= 400 && status < 500
const told = ({ status, text }: Got): string => `${status} ${text.slice(0, 120)}`
const unless = (holds: boolean, what: string, got: Got): string | false => !holds && `${what}: ${told(got)}`

const repeat = <T>(times: number, item: T): T[] => Array.from({ length: times }, () => item)
const megabyte = 1_048_576
const maxAnswered = 110 * megabyte

const bigReply = ['EVAL', 'return string.rep("x",9000000)', '0']

/** Scripts whose single calls do much work. Each runs until its budget ends it. */
const scripts: Readonly<Record<string, string>> = {
  'a reply of one table in many places': 'local t={1,1} for i=1,40 do t={t,t} end return t',
  'an endless loop': 'while true do end',
  'a loop over LRANGE':
    'for i=1,20000 do redis.call("RPUSH",KEYS[1],i) end for i=1,1e9 do redis.call("LRANGE",KEYS[1],0,-1) end',
  'a loop over SORT':
    'for i=1,20000 do redis.call("RPUSH",KEYS[1],i) end for i=1,1e9 do redis.call("SORT",KEYS[1]) end',
  'a loop over sha1hex': 'local s=string.rep("x",1000000) for i=1,1e9 do redis.sha1hex(s) end',
  'reading a long number': 'local s=string.rep("1",1000000) for i=1,1e9 do tonumber(s) end',
  'reading a long number of another base': 'local s=string.rep("1",1000000) for i=1,1e9 do tonumber(s,16) end',
  'a number with spaces inside': 'for i=1,1e9 do tonumber("1"..string.rep(" ",40000).."1",16) end',
  'a long number that is none at its end':
    'local s=string.rep("1",200000).."x" for i=1,1e9 do tonumber(s) tonumber("0x"..s) end',
  'adding a long text': 'local s=string.rep("1",1000000) local x for i=1,1e9 do x=s+1 end',
  'next over what was deleted':
    'local t={} for i=1,100000 do t[i]=i end for i=1,100000 do t[i]=nil; next(t) end for i=1,1e9 do next(t) end',
  'next over deleted names':
    'local t={} for i=1,100000 do t["k"..i]=i end while true do local k=next(t) if k==nil then break end t[k]=nil end while true do end',
  'unpacking a long string': 'local p=struct.pack("s",string.rep("x",900000)) for i=1,1e9 do struct.unpack("s",p) end',
  'fractions to text': 'for i=1,1e9 do tostring(i*1.1) end',
  'long names of a table': 'local t={} local a=string.rep("x",900000) for i=1,1e9 do t[a..i]=1 end',
  'comparing long strings':
    'local a=string.rep("x",4000000).."a" local b=string.rep("x",4000000).."b" local n=0 for i=1,1e9 do if a<b then n=n+1 end end',
  'a pattern that backtracks': 'return string.find(string.rep("a",3000),".-.-.-.-.-.-.-b")',
  'gsub over a long text': 'local s=string.rep("ab",1000000) for i=1,1e9 do s:gsub("a","c") end',
  'table.concat again and again':
    'local t={} for i=1,10000 do t[i]=string.rep("x",100) end for i=1,1e9 do table.concat(t) end',
  'sorting again and again':
    'local t={} for i=1,10000 do t[i]=i end for i=1,1e9 do table.sort(t,function(a,b) return a>b end) end',
  'cjson again and again':
    'local t={} for i=1,10000 do t[i]=i end local s=cjson.encode(t) for i=1,1e9 do cjson.decode(s) end',
  'tables that are kept': 'local t={} for i=1,1e9 do t[i]={} end',
  'tables within tables': 'local t={} for i=1,1e9 do t={t,a=i} end',
  'closures that are kept': 'local t={} for i=1,1e9 do t[i]=function() return i end end',
  'names that are kept': 'local t={} for i=1,1e9 do t["k"..i]=i end',
  'short strings that are kept': 'local t={} for i=1,1e9 do t[i]=string.rep("x",255) end',
  'a string that doubles': 'local s="x" for i=1,1e9 do s=s..s end',
}

const filled = (target: Target, command: string, key: string, count: number, of: (at: number) => (string | number)[]) =>
  target.store('/', [command, key, ...Array.from({ length: count }, (_, at) => of(at)).flat()])

/** Single commands on as much data as one request can store. */
const commands: Readonly<Record<string, (target: Target) => Promise<Got>>> = {
  'KEYS with stars over a long key': async (target) => {
    await target.store('/', ['SET', 'a'.repeat(32_000), 'x'])
    return target.store('/', ['KEYS', `${'*a'.repeat(100)}*b`])
  },
  'KEYS with as many stars as fit': async (target) => {
    await target.store('/', ['SET', 'a'.repeat(32_000), 'x'])
    return target.store('/', ['KEYS', `${'*a'.repeat(16_000)}*b`])
  },
  'a random field many times': async (target) => {
    await filled(target, 'HSET', 'h', 10, (at) => [at, at])
    return target.store('/', ['HRANDFIELD', 'h', -1_000_000_000])
  },
  'a random member many times': async (target) => {
    await filled(target, 'SADD', 's', 10, (at) => [at])
    return target.store('/', ['SRANDMEMBER', 's', -9_007_199_254_740_991])
  },
  'one big set, intersected many times': async (target) => {
    await filled(target, 'SADD', 's', 120_000, (at) => [at])
    return target.store('/', ['SINTERCARD', 2000, ...repeat(2000, 's')])
  },
  'one big sorted set, united many times': async (target) => {
    await filled(target, 'ZADD', 'z', 100_000, (at) => [at, `m${at}`])
    return target.store('/', ['ZUNIONSTORE', 'to', 1000, ...repeat(1000, 'z')])
  },
  'LREM over a long list': async (target) => {
    await filled(target, 'RPUSH', 'l', 500_000, (at) => [at])
    return target.store('/', ['LREM', 'l', 0, 'none'])
  },
  'SORT of a long list': async (target) => {
    await filled(target, 'RPUSH', 'l', 500_000, (at) => [(at * 7919) % 500_000])
    return target.store('/', ['SORT', 'l', 'LIMIT', 0, 1])
  },
  'the longest strings that LCS takes': async (target) => {
    const letters = (seed: number) => Array.from({ length: 11_583 }, (_, at) => (at * at * seed) % 7).join('')
    await target.store('/', ['MSET', 'a', letters(3), 'b', letters(5)])
    return target.store('/', ['LCS', 'a', 'b', 'IDX'])
  },
  'a number that is none at its end': (target) => target.store('/', ['INCRBYFLOAT', 'k', `${'1'.repeat(1_000_000)}x`]),
  'a bit far away': (target) => target.store('/', ['SETBIT', 'b', 4_294_967_295, 1]),
  'BITOP over one large value many times': async (target) => {
    await target.store('/', ['SET', 'b', 'x'.repeat(9_000_000)])
    return target.store('/', ['BITOP', 'AND', 'to', ...repeat(1000, 'b')])
  },
  'a deep path through a wide document': async (target) => {
    await target.store('/', ['JSON.SET', 'j', '$', JSON.stringify(repeat(200_000, { a: [1, 2] }))])
    return target.store('/', ['JSON.GET', 'j', '$..[?(@.a[?(@.b)])]..[?(@..x)]'])
  },
  'a regular expression that backtracks': async (target) => {
    await target.store('/', ['JSON.SET', 'j', '$', JSON.stringify([{ t: 'a'.repeat(50_000) }])])
    return target.store('/', ['JSON.GET', 'j', '$[?(@.t =~ "(a*)*(a*)*(a*)*b")]'])
  },
  'SCAN with a count of everything': async (target) => {
    await filled(target, 'MSET', 'k', 100_000, (at) => (at === 0 ? ['v'] : [`k${at}`, 'v']))
    return target.store('/', ['SCAN', 0, 'MATCH', '*none*', 'COUNT', 9_007_199_254_740_991])
  },
  'gaps of 512 MB in many keys': (target) =>
    target.store('/', ['EVAL', 'for i=1,1e9 do redis.call("SETRANGE","k"..i,536870900,"x") end', '0']),
  'a value of 512 MB': async (target) => {
    await target.store('/', ['SETRANGE', 'large', 536_870_911, 'x'])
    return target.store('/', ['GET', 'large'])
  },
}

const coldUnits = 'its units take longer than 25 ns while its code is cold; at a higher price, honest scripts would end'
const collected = `${coldUnits}; and what it keeps is moved by the collector`
const filling = 'its preparation is one request of some hundred thousand words, as large as one may be'

/** Scripts and commands that block for more than ten loops, and why this is accepted. */
const accepted: Readonly<Record<string, readonly [loops: number, because: string]>> = {
  'a loop over LRANGE': [35, coldUnits],
  'a loop over SORT': [30, coldUnits],
  'a loop over sha1hex': [20, coldUnits],
  'next over deleted names': [40, coldUnits],
  'fractions to text': [25, coldUnits],
  'long names of a table': [15, coldUnits],
  'a pattern that backtracks': [20, coldUnits],
  'gsub over a long text': [25, coldUnits],
  'table.concat again and again': [50, coldUnits],
  'sorting again and again': [20, coldUnits],
  'tables that are kept': [45, collected],
  'tables within tables': [45, collected],
  'closures that are kept': [45, collected],
  'names that are kept': [45, collected],
  'short strings that are kept': [45, collected],
  'cjson again and again': [50, coldUnits],
  'one big set, intersected many times': [40, filling],
  'one big sorted set, united many times': [45, filling],
  'LREM over a long list': [40, filling],
  'SORT of a long list': [45, filling],
  'SCAN with a count of everything': [35, filling],
  'a deep path through a wide document': [70, filling],
  'the longest strings that LCS takes': [15, coldUnits],
  'BITOP over one large value many times': [20, 'its preparation is one request of 9 MB'],
}

function costly(name: string): Pick<Attack, 'over'> {
  const found = accepted[name]
  return found === undefined ? {} : { over: { loops: found[0], because: found[1] } }
}

function encoded(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map(bulk).join('')}`
}

function bulk(word: string): string {
  return `$${word.length}\r\n${word}\r\n`
}

const halfSent = (path: string, head: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${head}\r\ncontent-length: 125829120\r\n\r\n${'x'.repeat(100_000)}`

const unwanted =
  'body of a rejected request: a request without a valid token, from a page of another origin, to an unknown path, or to an external host without a response'

/** Unfinished bodies of 120 MB from several kinds of clients. */
const senders: Readonly<Record<string, readonly [path: string, head: string, limit: string]>> = {
  'with a token': ['/TENANT/store', 'authorization: Bearer t', '--max-buffered'],
  'without a token': ['/TENANT/store', 'accept: */*', unwanted],
  'of a foreign page': ['/TENANT/queue/v2/batch', 'origin: https://evil.example', unwanted],
  'to no service': ['/nosuch', 'accept: */*', unwanted],
  'to a foreign host': ['/TENANT/outbound/https://a.test/x', 'accept: */*', unwanted],
}

/** Ways to fill the memory of a server with a small heap, request by request. */
const fillings: Readonly<Record<string, (target: Target, turn: number) => Promise<Got>>> = {
  'new keys': ({ store }, turn) => store('/', ['SET', `k${turn}`, 'x'.repeat(500_000)]),
  'many small keys': ({ store }, turn) =>
    store('/', ['MSET', ...Array.from({ length: 20_000 }, (_, at) => `${turn}.${at}`)]),
  'a list': ({ store }, turn) => store('/', ['RPUSH', 'l', ...Array.from({ length: 20_000 }, (_, at) => turn + at)]),
  'messages with a long delay': ({ queue }) =>
    queue('/v2/publish/https://a.test', 'x'.repeat(500_000), { 'service-delay': '7d' }),
}

const dumped = 'estimated size of a state, dump, snapshot or diff of the control API'
const traced = 'estimated size of a trace or of key changes of the control API'

const ofNow = ['/state', '/snapshot', '/store/dump']

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

export const attacks: readonly Attack[] = [
  {
    name: 'thirty heads that announce 120 MB and send nothing',
    limit: '--max-buffered',
    strike: async ({ raw, store }) => {
      const head =
        'POST /TENANT/store HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer t\r\ncontent-length: 125829120\r\n\r\n'
      for (let number = 0; number < 30; number++) await raw(head)
      const got = await store('/set/k', 'x'.repeat(2_000_000))
      return [unless(got.status === 200, 'a larger body is not taken', got)]
    },
  },
  {
    name: 'thirty readers of a long traffic log',
    limit: 'bodies of entries that arrive while a reader of a traffic stream reads nothing',
    strike: async ({ raw, store }) => {
      for (let part = 0; part < 50; part++)
        await store(
          '/pipeline',
          Array.from({ length: 1000 }, (_, at) => ['SET', `k${at}`, 'v']),
        )
      for (let number = 0; number < 30; number++)
        await raw('GET /_control/TENANT/traffic/stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
      const got = await store('/', ['PING'])
      return [unless(got.status === 200, 'nobody else is served', got)]
    },
  },
  ...Object.entries(senders).map(
    ([name, [path, head, limit]]): Attack => ({
      name: `thirty bodies that never end, ${name}`,
      limit,
      heap: 512,
      strike: async ({ raw, store }) => {
        for (let number = 0; number < 30; number++) await raw(halfSent(path, head)).catch(() => undefined)
        const got = await store('/', ['PING'])
        return [unless(got.status === 200, 'nobody else is served', got)]
      },
    }),
  ),
  ...Object.entries(fillings).map(
    ([name, fill]): Attack => ({
      name: `a heap of 256 MB filled with ${name}`,
      limit: 'data of all tenants together',
      heap: 256,
      strike: async (target) => {
        let got: Got | undefined
        for (let turn = 0; turn < 2_000 && (got === undefined || got.status < 300); turn++)
          got = await fill(target, turn)
        const read = await target.store('/', ['DEL', 'none'])
        const emptied = await target.order('/reset', {})
        // Deleted data is garbage-collected a second later.
        await new Promise((resolve) => setTimeout(resolve, 1_100))
        const again = await target.store('/', ['SET', 'again', 'x'])
        return [
          unless(got!.status >= 400, 'never refused', got!),
          unless(read.status === 200, 'not answered', read),
          unless(emptied.status === 200, 'not emptied', emptied),
          unless(again.status === 200, 'not free again', again),
        ]
      },
      over: { loops: 30, because: 'a heap that is nearly full is collected, and that stops everything' },
    }),
  ),
  {
    name: 'a heap of 256 MB filled, and emptied by FLUSHALL',
    limit: 'data of all tenants together',
    heap: 256,
    strike: async ({ store }) => {
      let got: Got | undefined
      for (let turn = 0; turn < 2_000 && (got === undefined || got.status < 300); turn++)
        got = await store('/', ['SET', `k${turn}`, 'x'.repeat(500_000)])
      const alive = await store('/', ['PING'])
      const emptied = await store('/', ['FLUSHALL'])
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      const again = await store('/', ['SET', 'again', 'x'])
      return [
        unless(got!.status >= 400, 'never refused', got!),
        unless(alive.status === 200, 'no sign of life', alive),
        unless(emptied.status === 200, 'not emptied', emptied),
        unless(again.status === 200, 'not free again', again),
      ]
    },
    over: { loops: 30, because: 'a heap that is nearly full is collected, and that stops everything' },
  },
  ...[...ofNow, '/traffic/trace', '/traffic', '/store/changes'].map(
    (path): Attack => ({
      name: `GET ${path} of a tenant that holds 300 MB`,
      limit: ofNow.includes(path) ? dumped : traced,
      strike: async ({ store, order }) => {
        for (let turn = 0; turn < 60; turn++) await store('/', ['SET', `k${turn}`, 'x'.repeat(5_000_000)])
        const got = await order(path)
        return [
          // The kept history is smaller than that.
          unless(got.status === 400 || !ofNow.includes(path), 'not refused', got),
          unless(got.status < 500 && !got.text.includes('string length'), 'fails', got),
        ]
      },
      over: { loops: 25, because: 'its preparation is requests of 5 MB' },
    }),
  ),
  {
    name: 'three hundred deliveries whose answers are large',
    limit: 'concurrent deliveries of one tenant over the network',
    heap: 512,
    clock: 'real',
    strike: async ({ store, queue, order }) => {
      const set = await store('/', ['SET', 'k', 'x'.repeat(9_000_000)])
      const { urls } = JSON.parse((await order('')).text) as { urls: { store: string } }
      const message = {
        destination: `${urls.store}/get/k`,
        headers: { 'service-method': 'GET', 'service-forward-authorization': 'Bearer t', 'service-retries': '0' },
      }
      const sent = await queue('/v2/batch', repeat(300, message))
      const pending = async (): Promise<Got> => order('/clock/pending')
      let got = await pending()
      for (let turn = 0; turn < 200 && !/^(\[\]|\{"pending":\[\])/.test(got.text); turn++) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        got = await pending()
      }
      return [
        unless(set.status === 200, 'not stored', set),
        unless(sent.status === 200, 'not sent', sent),
        unless(got.status === 200 && got.size < 1_000, 'not delivered', got),
      ]
    },
    over: { loops: 40, because: 'an answer of 9 MB is written, read and logged in one go' },
  },
  {
    name: 'a batch of 40 million empty messages',
    limit: 'values in the JSON of a request to the queue',
    strike: async ({ queue }) => {
      const got = await queue('/v2/batch', `[${'{},'.repeat(40_000_000)}{}]`)
      return [unless(isRefused(got), 'not refused', got)]
    },
    over: { loops: 40, because: 'a body of 120 MB is received' },
  },
  ...['/pipeline', '/multi-exec'].flatMap((path): Attack[] => [
    {
      name: `${path}: a thousand large replies`,
      limit: 'policy.maxResponseSize',
      strike: async ({ store }) => {
        const got = await store(path, repeat(1000, bigReply))
        return [
          unless(got.status === 200, 'not answered item by item', got),
          unless(got.size < maxAnswered, `the answer has ${got.size} bytes`, got),
        ]
      },
      over: {
        loops: 200,
        because: 'a pipeline is a row of commands, each with a budget of its own; 100 MB are answered',
      },
    },
    {
      name: `${path}: a large value read a thousand times`,
      limit: 'policy.maxWork',
      strike: async ({ store }) => {
        await store('/', ['SET', 'large', 'x'.repeat(9_000_000)])
        const got = await store(path, repeat(1000, ['GET', 'large']))
        return [unless(got.size < maxAnswered, `the answer has ${got.size} bytes`, got)]
      },
      over: { loops: 200, because: 'an answer of 100 MB is written' },
    },
    {
      name: `${path}: sixty times 9 MB`,
      limit: 'policy.maxResponseSize',
      strike: async ({ store }) => {
        const got = await store(path, repeat(14, ['SET', 'large', 'x'.repeat(9_000_000)]))
        return [unless(got.status < 500, 'failed', got)]
      },
      over: { loops: 200, because: 'a body of 126 MB is read' },
    },
  ]),
  {
    name: '/pipeline: a thousand copies of a set of 200,000',
    limit: 'policy.maxWork',
    strike: async (target) => {
      await filled(target, 'SADD', 's', 200_000, (at) => [at])
      const got = await target.store(
        '/pipeline',
        Array.from({ length: 1_000 }, (_, at) => ['COPY', 's', `to${at}`]),
      )
      return [unless(got.text.includes('"result":1') && got.status === 200, 'not answered row by row', got)]
    },
    over: { loops: 40, because: filling },
  },
  ...Object.entries(scripts).map(
    ([name, script]): Attack => ({
      name: `a script: ${name}`,
      limit: 'policy.maxScriptSteps',
      strike: async ({ store }) => {
        const got = await store('/', ['EVAL', script, 1, 'key'])
        return [unless(got.status === 400, 'not stopped', got)]
      },
      ...costly(name),
    }),
  ),
  ...Object.entries(commands).map(
    ([name, strike]): Attack => ({
      name: `a command: ${name}`,
      limit: 'policy.maxWork',
      strike: async (target) => {
        const got = await strike(target)
        return [unless(got.status < 500, 'failed', got)]
      },
      ...costly(name),
    }),
  ),
  {
    name: 'a header to redact whose name begins with 12,000 spaces',
    limit: takesTheTimeOfItsLength,
    strike: async ({ queue, order }) => {
      const got = await queue('/v2/publish/https://a.test', 'x', {
        'service-redact-fields': `header[${' '.repeat(12_000)}x`,
      })
      const traffic = await order('/traffic')
      return [unless(got.status === 400, 'not refused', got), unless(traffic.status === 200, 'no traffic', traffic)]
    },
  },
  {
    // Limit: memory of a connection.
    name: 'native: 1 GB between MULTI and EXEC',
    limit:
      'memory of a connection: commands between `MULTI` and `EXEC`, subscriptions, watched keys, keys of a blocking command, names',
    strike: async ({ native }) => {
      const row = encoded('SET', 'k', 'x'.repeat(1_000_000))
      const got = await native(['MULTI\r\n', ...repeat(1000, row), 'EXEC\r\n'], 'EXECABORT')
      return [!got.includes('OOM') && `nothing is refused: ${got.slice(-200)}`]
    },
    over: { loops: 30, because: 'a command of 1 MB is read again and again' },
  },
  {
    // Limit: unread data of a subscriber. A message is stored once.
    name: 'native: 9 MB for 200 readers who read nothing',
    limit:
      'unread data of a subscriber that had not read everything before this turn of the event loop; also the size of one message',
    strike: async ({ native, store }) => {
      await Promise.all(repeat(200, 'SUBSCRIBE c\r\n').map((hear) => native([hear])))
      const heard: string[] = []
      for (let count = 0; count < 6; count++)
        heard.push((await store('/', ['PUBLISH', 'c', 'x'.repeat(9_000_000)])).text)
      return [!heard.at(-1)?.includes(':0') && `they stay: ${heard}`]
    },
    over: { loops: 25, because: 'a body of 9 MB is read, and 200 sockets take what they can' },
  },
  {
    // Limit: --max-buffered.
    name: 'native: 200 who ask for 9 MB each and read nothing',
    limit: '--max-buffered',
    strike: async ({ native, store }) => {
      await store('/', ['SET', 'large', 'x'.repeat(9_000_000)])
      await Promise.all(repeat(200, 'GET large\r\n').map((ask) => native([ask])))
      const got = await native(['ECHO still-there\r\n'], 'still-there')
      return [!got.includes('still-there') && 'who reads is not answered']
    },
    over: { loops: 25, because: 'each socket takes some megabytes' },
  },
  {
    name: 'sixty who ask for 9 MB each and read nothing, beside one who reads',
    limit: '--max-buffered',
    heap: 512,
    strike: async ({ raw, store }) => {
      await store('/set/large', 'x'.repeat(9_000_000))
      const ask = 'GET /TENANT/store/get/large HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer t\r\n\r\n'
      for (let number = 0; number < 60; number++) await raw(ask)
      const got = await store('/get/large', '')
      return [unless(got.size > 9_000_000, 'who reads does not get everything', got)]
    },
    over: { loops: 25, because: 'each socket takes some megabytes' },
  },
  {
    // Limit: policy.maxResponseSize.
    name: 'native: EXEC with a reply that is longer than a string',
    limit: 'policy.maxResponseSize',
    strike: async ({ native, store }) => {
      await store('/', ['SET', 'large', 'x'.repeat(9_000_000)])
      const rows = ['MULTI\r\n', 'GET large\r\n'.repeat(100), 'SET last 1\r\nEXEC\r\n', 'ECHO the-end\r\n']
      const got = await native(rows, 'the-end')
      const last = await store('/', ['GET', 'last'])
      return [
        !got.includes('max response size') && `not refused: ${got.slice(-200)}`,
        unless(last.text.includes('"1"'), 'not all commands have run', last),
      ]
    },
    over: { loops: 40, because: 'an answer of 100 MB is written' },
  },
  {
    // Limit: consecutive commands.
    name: 'native: a hundred scripts in one write',
    limit: 'work of commands of one connection without a break',
    strike: async ({ native }) => {
      const row = encoded('EVAL', 'for i=1,1000000 do end return 1', '0')
      const got = await native([row.repeat(100), 'ECHO the-end\r\n'], 'the-end')
      return [!got.includes('the-end') && 'not answered']
    },
    over: { loops: 20, because: coldUnits },
  },
  {
    name: 'native: CLIENT LIST a thousand times in a transaction, with names of 9 MB',
    limit: 'name of a connection, or of its client library',
    strike: async ({ native }) => {
      const named = await Promise.all(
        repeat(2, encoded('CLIENT', 'SETNAME', 'n'.repeat(9_000_000))).map((name) => native([name], 'OOM')),
      )
      const rows = ['MULTI\r\n', 'CLIENT LIST\r\n'.repeat(1_000), 'EXEC\r\n', 'ECHO the-end\r\n']
      const got = await native(rows, 'the-end')
      return [
        !named.every((answer) => answer.includes('OOM')) && 'a name of 9 MB is taken',
        !got.includes('the-end') && 'not answered',
      ]
    },
  },
  {
    name: 'native: CLIENT LIST a thousand times in a transaction, with many long names',
    limit: 'policy.maxWork',
    strike: async ({ native }) => {
      const name = encoded('CLIENT', 'SETNAME', 'n'.repeat(65_536))
      await Promise.all(repeat(100, name).map((one) => native([one, 'ECHO named\r\n'], 'named')))
      const rows = ['MULTI\r\n', 'CLIENT LIST\r\n'.repeat(1_000), 'EXEC\r\n', 'ECHO the-end\r\n']
      const got = await native(rows, 'the-end')
      return [!/max (?:work|response size) exceeded/.test(got) && `nothing is refused: ${got.slice(-200)}`]
    },
    over: { loops: 40, because: 'an answer of 100 MB is written' },
  },
  ...['INFO', 'DOCS', 'LIST'].flatMap((which): Attack[] => [
    {
      name: `native: COMMAND ${which} two thousand times in one write`,
      limit: 'work of commands of one connection without a break',
      strike: async ({ native }) => {
        const got = await native([`COMMAND ${which}\r\n`.repeat(2_000), 'ECHO the-end\r\n'], 'the-end')
        return [!got.includes('the-end') && 'not answered']
      },
    },
    {
      name: `native: COMMAND ${which} a thousand times in a transaction`,
      limit: 'policy.maxWork',
      strike: async ({ native }) => {
        const rows = ['MULTI\r\n', `COMMAND ${which}\r\n`.repeat(1_000), 'EXEC\r\n', 'ECHO the-end\r\n']
        const got = await native(rows, 'the-end')
        return [!got.includes('the-end') && 'not answered']
      },
      over: { loops: 40, because: coldUnits },
    },
    {
      name: `/multi-exec: COMMAND ${which} a thousand times`,
      limit: 'policy.maxWork',
      strike: async ({ store }) => {
        const got = await store('/multi-exec', repeat(1_000, ['COMMAND', which]))
        return [unless(got.status === 200, 'failed', got), unless(got.size < 15 * megabyte, 'not bounded', got)]
      },
      over: { loops: 40, because: coldUnits },
    },
  ]),
  {
    name: 'native: BLPOP of 500,000 keys',
    limit: 'policy.maxWork',
    strike: async ({ native }) => {
      const keys = Array.from({ length: 500_000 }, (_, at) => `q${at}`)
      const got = await native(
        [`*${keys.length + 2}\r\n$5\r\nBLPOP\r\n`, keys.map(bulk).join(''), bulk('0')],
        'max work exceeded',
      )
      return [!got.includes('max work exceeded') && `not refused: ${got.slice(-200)}`]
    },
    over: { loops: 25, because: 'a command of 500,000 words is read' },
  },
  {
    name: 'native: sixty who wait for 100,000 keys each, and leave',
    limit: '--max-buffered',
    strike: async ({ native }) => {
      for (let number = 0; number < 60; number++) {
        const keys = Array.from({ length: 100_000 }, (_, at) => `k${number}.${at}`)
        await native([`*${keys.length + 2}\r\n$5\r\nBLPOP\r\n`, keys.map(bulk).join(''), bulk('0')])
      }
      const got = await native(['ECHO still-there\r\n'], 'still-there')
      return [!got.includes('still-there') && 'nobody else is served']
    },
    over: {
      loops: 150,
      because: 'two million keys are held before those who hold most are closed, and the heap is collected',
    },
  },
  {
    name: 'the slots of a schedule to the end of time',
    limit: 'fire times in one response to `upcoming`',
    strike: async ({ queue, order }) => {
      const made = await queue('/v2/schedules/https://a.test', 'x', {
        'service-cron': '* * * * *',
        'service-schedule-id': 'each',
      })
      const got = await order('/queue/schedules/each/upcoming', { from: 0, to: 8_640_000_000_000_000 })
      return [unless(made.status < 300, 'no schedule', made), unless(got.size < megabyte, 'not bounded', got)]
    },
  },
  {
    name: 'a thousand years of a schedule, given up',
    limit: takesTheTimeOfItsLength,
    strike: async ({ queue, givenUp, order }) => {
      await queue('/v2/schedules/https://a.test', 'x', { 'service-cron': '* * * * *' })
      await givenUp('/clock/advance', { by: '365000d' }, 500)
      const got = await order('/clock/interrupt', {})
      const moved = await order('/clock/advance', { by: '1m' })
      return [
        unless(got.status === 200, 'not ended', got),
        unless(moved.status === 200, 'the clock is not free', moved),
      ]
    },
  },
  {
    name: 'a destination pattern with eight stars',
    limit: takesTheTimeOfItsLength,
    strike: async ({ queue, order }) => {
      const to = `https://a.test/${'a'.repeat(4_000)}`
      const made = await order('/destinations/respond', { to: `https://a.test/${'*a'.repeat(8)}*b`, response: 200 })
      await queue(`/v2/publish/${to}`, 'x')
      const moved = await order('/clock/advance', { by: '1s' })
      return [unless(made.status < 300, 'not taken', made), unless(moved.status === 200, 'no move', moved)]
    },
  },
  {
    name: "a fault's url with eight stars",
    limit: takesTheTimeOfItsLength,
    strike: async ({ queue, order }) => {
      const match = { url: `https://a.test/${'*a'.repeat(8)}*b` }
      const rules = { on: 'queue.delivery', match, fault: { kind: 'reset' } }
      const made = await order('/faults', { rules })
      await queue(`/v2/publish/https://a.test/${'a'.repeat(4_000)}`, 'x')
      const moved = await order('/clock/advance', { by: '1s' })
      return [unless(made.status < 300, 'not taken', made), unless(moved.status === 200, 'no move', moved)]
    },
  },
  ...['timeout', 'delay', 'latency', 'nonsense'].map(
    (kind): Attack => ({
      name: `an answer and a step of kind ${kind} that lack what they need`,
      limit: refusedForItsForm,
      strike: async ({ queue, order }) => {
        const to = 'https://a.test/in'
        await order('/destinations/respond', { to, response: { kind } })
        await order('/destinations/script', { to, steps: [{ kind }] })
        await queue(`/v2/publish/${to}`, 'x')
        const drained = await order('/clock/drain', {})
        const left = await order('/queue/messages')
        return [
          unless(drained.status === 200, 'no end', drained),
          unless(left.text === '[]', 'a message is stuck', left),
        ]
      },
    }),
  ),
  {
    name: 'a retry delay of 12,000 terms',
    limit: refusedForItsForm,
    strike: async ({ queue, order }) => {
      const headers = { 'service-retry-delay': `1${'+1'.repeat(12_000)}` }
      const got = await queue('/v2/publish/https://a.test', 'x', headers)
      const nestedGot = await queue('/v2/publish/https://a.test', 'x', {
        'service-retry-delay': `${'('.repeat(6_000)}1${')'.repeat(6_000)}`,
      })
      const drained = await order('/clock/drain', {})
      return [
        unless(got.status === 400, 'taken', got),
        unless(nestedGot.status === 400, 'taken', nestedGot),
        unless(drained.status === 200, 'no end', drained),
      ]
    },
  },
  {
    name: 'one large field, and every way to read it',
    limit: takesTheTimeOfItsLength,
    strike: async ({ store, order }) => {
      const field = JSON.stringify({ text: 'x'.repeat(8_400_000) })
      const set = await store('/', ['SET', 'k', field])
      const ways = ['/traffic', '/traffic/trace', '/traffic/timeline', '/traffic/diagram', '/snapshot']
      const got: Got[] = []
      for (const way of ways) got.push(await order(way))
      return [
        unless(set.status === 200, 'not stored', set),
        ...got.map((one) => unless(one.status === 200, 'failed', one)),
      ]
    },
    over: { loops: 100, because: 'a body of 8 MB is decoded, hidden and written in each of these forms' },
  },
  {
    name: 'a body 100,000 levels deep, and every way to read it',
    limit: takesTheTimeOfItsLength,
    strike: async ({ queue, order }) => {
      await queue('/v2/publish/https://a.test', nested(100_000))
      await order('/clock/drain', {})
      const got: Got[] = []
      for (const way of ['/traffic', '/traffic/trace', '/traffic/timeline', '/traffic/diagram'])
        got.push(await order(way))
      return got.map((one) => unless(one.status === 200, 'failed', one))
    },
  },
  {
    name: 'a request that is never sent to its end, and time',
    limit: '--request-timeout',
    strike: async ({ raw, order }) => {
      await raw(
        'POST /TENANT/store HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer t\r\ncontent-length: 100\r\n\r\n["SET"',
      )
      const got = await order('/clock/advance', { by: '1s' })
      return [unless(got.status === 200, 'time stands still', got)]
    },
  },
  {
    name: 'batch items nested 5,000 deep',
    limit: refusedForItsForm,
    strike: async ({ queue }) => {
      const got = await queue('/v2/batch', nested(5_000))
      const body = await queue('/v2/batch', `[{"destination":"https://a.test","body":${nested(5_000)}}]`)
      return [unless(isRefused(got), 'not refused', got), unless(body.status < 500, 'failed', body)]
    },
  },
  {
    name: 'a status fault with a header that HTTP cannot carry',
    limit: refusedForItsForm,
    strike: async ({ store, order }) => {
      for (const value of ['\u{1f600}', 'a\r\nb: c', '\0']) {
        const fault = { kind: 'status', status: 503, headers: { 'x-odd': value } }
        await order('/faults', { rules: { on: 'store.request', fault } })
      }
      const got = await store('/', ['PING'])
      return [unless(got.status !== 500, 'failed', got)]
    },
  },
  {
    name: 'a scenario of unknown keys',
    limit: refusedForItsForm,
    strike: async ({ order }) => {
      const odd = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`unknown-${at}`, 1]))
      const got = await order('/scenarios/play', { scenario: { name: 'odd', ...odd } })
      return [unless(isRefused(got), 'not refused', got), unless(got.size < 20_000, 'a long refusal', got)]
    },
    over: { loops: 45, because: 'the schema looks at each of 40,000 names before the first is told' },
  },
  {
    name: 'a scenario with a year of a schedule of each second',
    limit: takesTheTimeOfItsLength,
    strike: async ({ order }) => {
      const steps = [{ advance: '3650d' }]
      const got = await order('/scenarios/play', { scenario: { name: 'long', steps } })
      return [unless(got.status < 500, 'failed', got)]
    },
  },
  {
    name: 'a hundred thousand fault rules',
    limit: 'fault rules of a tenant',
    strike: async ({ store, order }) => {
      const rule = { on: 'store.request', match: { command: 'NONE' }, fault: { kind: 'status', status: 503 } }
      const got = await order('/faults', { rules: repeat(100_000, rule) })
      const ping = await store('/', ['PING'])
      return [unless(got.status < 500, 'failed', got), unless(ping.status === 200, 'failed', ping)]
    },
    over: { loops: 150, because: 'a body of 9 MB is read and checked rule by rule' },
  },
  {
    name: 'a state that is none',
    limit: refusedForItsForm,
    strike: async ({ order }) => {
      const state = JSON.parse((await order('/state')).text) as Record<string, unknown>
      const got: Got[] = []
      for (const [name] of Object.entries(state)) {
        for (const value of [null, 7, 9e15, 'x', [], {}, [null]]) {
          got.push(await order('/state', { ...state, [name]: value }, 'PUT'))
        }
      }
      const now = await order('/clock')
      return [...got.map((one) => unless(one.status < 500, 'failed', one)), unless(now.status === 200, 'broken', now)]
    },
  },
]
