import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostPause } from '../../src/kernel/host.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { EventReader } from '../support/event-reader.js'

let sandbox: Sandbox

beforeEach(() => {
  sandbox = createSandbox({ seed: 1 })
})

afterEach(() => sandbox.dispose())

const open = async (path: string, init: RequestInit & { token?: string } = {}): Promise<EventReader> => {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${init.token ?? sandbox.tokens.store}` }
  const response = await sandbox.fetch(sandbox.urls.store + path, { method: 'POST', body: '[]', headers, ...init })
  expect(response.status).toBe(200)
  return new EventReader(response)
}

const refusal = async (path: string, token = sandbox.tokens.store): Promise<string> => {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` }
  const response = await sandbox.fetch(sandbox.urls.store + path, { method: 'POST', body: '[]', headers })
  expect(response.headers.get('content-type')).toBe('application/json')
  return `${response.status} ${((await response.json()) as { error: string }).error}`
}

const run = (...words: (string | number)[]): unknown => sandbox.store.run(...words)

describe('/subscribe', () => {
  it('has the response headers of the service', async () => {
    const reader = await open('/subscribe/news')
    const { headers } = reader.response
    expect(headers.get('content-type')).toBe('text/event-stream')
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(headers.get('service-sync-token')).toBe('0')
    expect(headers.get('access-control-allow-credentials')).toBe('true')
  })

  it('begins with a confirmation and continues with messages, with exact bytes', async () => {
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const response = await sandbox.fetch(`${sandbox.urls.store}/subscribe/news`, { headers })
    run('PUBLISH', 'news', '{"a": 1, "b": "ü"}')
    run('PUBLISH', 'news', '')
    run('PUBLISH', 'other', 'not for you')
    sandbox.dispose()
    expect(await response.text()).toBe(
      'data: subscribe,news,1\n\ndata: message,news,{"a": 1, "b": "ü"}\n\ndata: message,news,\n\n',
    )
  })

  it('accepts several channels and counts them per connection', async () => {
    const both = await open('/subscribe/a/b/a')
    const other = await open('/subscribe/a')
    expect(await both.take(3)).toEqual(['data: subscribe,a,1', 'data: subscribe,b,2', 'data: subscribe,a,2'])
    expect(await other.next()).toBe('data: subscribe,a,1')
    expect(run('PUBLISH', 'a', 'x')).toBe(2)
    expect(run('PUBLISH', 'b', 'y')).toBe(1)
    expect(await both.take(2)).toEqual(['data: message,a,x', 'data: message,b,y'])
  })

  it('decodes each segment of the path and ignores the query', async () => {
    const reader = await open('/subscribe/ch%20a%2Fb%3f/%C3%BC%25?ignored')
    expect(await reader.take(2)).toEqual(['data: subscribe,ch a/b?,1', 'data: subscribe,ü%,2'])
    expect(run('PUBSUB', 'CHANNELS')).toEqual(['ch a/b?', 'ü%'])
  })

  it('splits a payload of several lines by the rules of event streams', async () => {
    const reader = await open('/subscribe/news')
    run('PUBLISH', 'news', 'first\nsecond')
    expect(await reader.take(2)).toEqual(['data: subscribe,news,1', 'data: message,news,first\ndata: second'])
  })

  it('accepts GET with the token in the query, as EventSource sends it', async () => {
    const url = `${sandbox.urls.store}/subscribe/news?_token=${encodeURIComponent(sandbox.tokens.store)}`
    const reader = new EventReader(await sandbox.fetch(url))
    expect(await reader.next()).toBe('data: subscribe,news,1')
  })

  it('ignores a request for base64', async () => {
    const headers = { authorization: `Bearer ${sandbox.tokens.store}`, 'service-encoding': 'base64' }
    const reader = await open('/subscribe/news', { headers })
    run('PUBLISH', 'news', 'plain')
    expect(await reader.take(2)).toEqual(['data: subscribe,news,1', 'data: message,news,plain'])
  })

  it('receives messages published by path, in a pipeline and in a transaction', async () => {
    const reader = await open('/subscribe/news')
    const post = (path: string, body = '') =>
      sandbox.fetch(sandbox.urls.store + path, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      })
    expect(await (await post('/publish/news/one')).json()).toEqual({ result: 1 })
    expect(await (await post('/pipeline', '[["publish","news","two"],["get","k"]]')).json()).toEqual([
      { result: 1 },
      { result: null },
    ])
    await post('/multi-exec', '[["set","k","v"],["publish","news","three"]]')
    expect(await reader.take(4)).toEqual([
      'data: subscribe,news,1',
      'data: message,news,one',
      'data: message,news,two',
      'data: message,news,three',
    ])
  })
})

describe('/psubscribe', () => {
  it('sends the pattern and the channel', async () => {
    const reader = await open('/psubscribe/n*s/h%5Bae%5Dllo')
    expect(await reader.take(2)).toEqual(['data: psubscribe,n*s,1', 'data: psubscribe,h[ae]llo,2'])
    expect([run('PUBLISH', 'news', '1'), run('PUBLISH', 'hallo', '2'), run('PUBLISH', 'hillo', '3')]).toEqual([1, 1, 0])
    expect(await reader.take(2)).toEqual(['data: pmessage,n*s,news,1', 'data: pmessage,h[ae]llo,hallo,2'])
  })

  it('delivers once for each matching pattern', async () => {
    const reader = await open('/psubscribe/a*/*b')
    const channel = await open('/subscribe/ab')
    expect(run('PUBLISH', 'ab', 'x')).toBe(3)
    expect(await reader.take(4)).toEqual([
      'data: psubscribe,a*,1',
      'data: psubscribe,*b,2',
      'data: pmessage,a*,ab,x',
      'data: pmessage,*b,ab,x',
    ])
    expect(await channel.take(2)).toEqual(['data: subscribe,ab,1', 'data: message,ab,x'])
  })
})

describe('PUBSUB', () => {
  it('returns the subscribers', async () => {
    expect(run('PUBSUB', 'CHANNELS')).toEqual([])
    expect(run('PUBSUB', 'NUMSUB')).toEqual([])
    await open('/subscribe/a1/b')
    await open('/subscribe/a1')
    await open('/psubscribe/p*/q*')
    await open('/psubscribe/p*')
    expect(run('PUBSUB', 'CHANNELS')).toEqual(['a1', 'b'])
    expect(run('PUBSUB', 'CHANNELS', 'a?')).toEqual(['a1'])
    expect(run('PUBSUB', 'CHANNELS', 'p*')).toEqual([])
    expect(run('PUBSUB', 'NUMSUB', 'a1', 'b', 'none')).toEqual(['a1', 2, 'b', 1, 'none', 0])
    expect(run('PUBSUB', 'NUMPAT')).toBe(2)
  })

  it.each([
    [['PUBSUB'], "ERR wrong number of arguments for 'pubsub' command"],
    [
      ['PUBSUB', 'CHANNELS', 'a', 'b'],
      "ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.",
    ],
    [['PUBSUB', 'NUMPAT', 'x'], "ERR wrong number of arguments for 'pubsub|numpat' command"],
    [['PUBLISH', 'a'], "ERR wrong number of arguments for 'publish' command"],
    [['SUBSCRIBE', 'a'], 'ERR Command "SUBSCRIBE" is not allowed in REST or it has a special context path'],
    [['PSUBSCRIBE', 'a'], 'ERR Command "PSUBSCRIBE" is not allowed in REST or it has a special context path'],
    [['MONITOR'], 'ERR Command "MONITOR" is not allowed in REST or it has a special context path'],
    [
      ['SSUBSCRIBE', 'a'],
      "ERR Command is not available: 'SSUBSCRIBE'. See https://docs.service.test/redis/overall/rediscompatibility for details",
    ],
  ])('rejects %j', (words, text) => {
    let message = ''
    try {
      run(...words)
    } catch (error) {
      message = (error as Error).message
    }
    expect(message.replace(/https:\/\/[^/]+/, 'https://docs.service.test')).toBe(
      text.replace(/https:\/\/[^/]+/, 'https://docs.service.test'),
    )
  })
})

describe('leaving a stream', () => {
  it('happens immediately when the request is aborted, whether or not the stream is read', async () => {
    const client = new AbortController()
    const reader = await open('/subscribe/news', { signal: client.signal })
    const idle = new AbortController()
    await open('/subscribe/news', { signal: idle.signal })
    await reader.next()
    expect(run('PUBLISH', 'news', 'x')).toBe(2)
    client.abort()
    expect(run('PUBLISH', 'news', 'y')).toBe(1)
    idle.abort()
    expect(run('PUBLISH', 'news', 'z')).toBe(0)
    expect(run('PUBSUB', 'CHANNELS')).toEqual([])
    await expect(reader.rest()).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('happens when the body is canceled', async () => {
    const reader = await open('/psubscribe/*')
    await reader.next()
    expect(run('PUBSUB', 'NUMPAT')).toBe(1)
    await reader.cancel()
    expect(run('PUBSUB', 'NUMPAT')).toBe(0)
  })

  it('leaves no timer', async () => {
    const reader = await open('/subscribe/news')
    expect(sandbox.clock.pending).toHaveLength(1)
    await reader.cancel()
    expect(sandbox.clock.pending).toEqual([])
  })

  it('happens when the sandbox is reset or disposed', async () => {
    const first = await open('/subscribe/news')
    sandbox.reset()
    expect(await first.rest()).toEqual(['data: subscribe,news,1'])
    const second = await open('/monitor')
    sandbox.dispose()
    expect(await second.rest()).toEqual(['data: "OK"'])
  })
})

describe('a slow reader', () => {
  it('is disconnected when more bytes wait than the policy allows, and the sandbox continues', async () => {
    sandbox = createSandbox({ policy: { maxStreamBuffer: 1000 } })
    const slow = await open('/subscribe/news')
    const quick = await open('/subscribe/news')
    expect(await quick.next()).toBe('data: subscribe,news,1')
    const counts: unknown[] = []
    for (let message = 0; message < 20; message++) {
      counts.push(run('PUBLISH', 'news', 'x'.repeat(80)))
      expect(await quick.next()).toBe(`data: message,news,${'x'.repeat(80)}`)
      await hostPause()
    }
    // 24 bytes of confirmation and 9 messages of 102 bytes fit into 1000; the next one does not.
    expect(counts).toEqual([...Array(10).fill(2), ...Array(10).fill(1)])
    await expect(slow.rest()).rejects.toThrow(/too slow/)
  })
})

describe('keep-alive of streams', () => {
  it('is a comment every 15 seconds of virtual time', async () => {
    const reader = await open('/subscribe/news')
    await reader.next()
    await sandbox.clock.advance('14999ms')
    run('PUBLISH', 'news', 'early')
    expect(await reader.next()).toBe('data: message,news,early')
    await sandbox.clock.advance('1ms')
    expect(await reader.next()).toBe(': keep-alive')
    await sandbox.clock.advance('15s')
    expect(await reader.next()).toBe(': keep-alive')
  })

  it('does not fill the buffer of a client that does not read for a month', async () => {
    const reader = await open('/subscribe/news')
    await sandbox.clock.advance('30d')
    run('PUBLISH', 'news', 'x')
    expect(await reader.take(2)).toEqual(['data: subscribe,news,1', 'data: message,news,x'])
  })

  it('does not keep drain() from ending', async () => {
    await open('/subscribe/news')
    const before = sandbox.clock.now()
    await sandbox.clock.drain()
    expect(sandbox.clock.now()).toBe(before)
  })
})

describe('permissions for channels', () => {
  const withUser = (...rules: string[]): string => {
    const token = String(run('ACL', 'GENTOKEN', 'ann'))
    run('ACL', 'SETUSER', 'ann', 'reset', 'on', `>${token}`, ...rules)
    return token
  }
  const noCommand = (name: string) =>
    `400 NOPERM this user has no permissions to run the '${name}' command or its subcommand`
  const noChannel = '400 NOPERM this user has no permissions to access one of the channels used as arguments'

  it('are checked before the stream begins', async () => {
    const token = withUser('+subscribe', '&news', '&a*')
    await open('/subscribe/news/apple', { token })
    expect(await refusal('/subscribe/news/other', token)).toBe(noChannel)
    expect(await refusal('/psubscribe/a*', token)).toBe(noCommand('psubscribe'))
    expect(await refusal('/monitor', token)).toBe(noCommand('monitor'))
    expect(await refusal('/subscribe/news', 'no such token')).toMatch(/^401 WRONGPASS/)
    expect(await refusal('/subscribe/news', sandbox.tokens.storeReadonly)).toBe(noCommand('subscribe'))
    expect(await refusal('/subscribe')).toBe("400 ERR wrong number of arguments for 'subscribe' command")
    expect(await refusal('/subscribe/%zz')).toBe('400 ERR invalid URL escape')
    expect(run('PUBSUB', 'CHANNELS')).toEqual(['news', 'apple'])
  })

  it('require for a pattern exactly this pattern, or all channels', async () => {
    const token = withUser('+psubscribe', '&a*')
    await open('/psubscribe/a*', { token })
    expect(await refusal('/psubscribe/ab*', token)).toBe(noChannel)
    run('ACL', 'SETUSER', 'ann', 'allchannels')
    await open('/psubscribe/ab*', { token })
  })

  it.each([
    ['the user is deleted', ['ACL', 'DELUSER', 'ann']],
    ['the user is disabled', ['ACL', 'SETUSER', 'ann', 'off']],
    ['the user loses the channel', ['ACL', 'SETUSER', 'ann', 'resetchannels', '&other']],
    ['the user loses the command', ['ACL', 'SETUSER', 'ann', '-subscribe']],
    ['the token is withdrawn', ['ACL', 'SETUSER', 'ann', 'resetpass']],
  ])('end open streams when %s', async (_, command) => {
    const token = withUser('+@pubsub', '&news', '&other')
    const lost = await open('/subscribe/news', { token })
    const another = await open('/subscribe/news')
    run(...command)
    expect(await lost.rest()).toEqual(['data: subscribe,news,1'])
    expect(run('PUBLISH', 'news', 'x')).toBe(1)
    expect(await another.take(2)).toEqual(['data: subscribe,news,1', 'data: message,news,x'])
  })

  it('end with the password of the built-in users', async () => {
    const streams = [await open('/subscribe/news'), await open('/monitor')]
    sandbox.store.resetPassword()
    expect(await Promise.all(streams.map((stream) => stream.rest()))).toEqual([
      ['data: subscribe,news,1'],
      ['data: "OK"'],
    ])
    expect(await refusal('/subscribe/news', 'the old one')).toMatch(/^401 WRONGPASS/)
  })

  it('keep streams open when something else changes', async () => {
    const token = withUser('+@pubsub', '&news')
    const reader = await open('/subscribe/news', { token })
    run('ACL', 'SETUSER', 'ann', '&more', '+get', '~*')
    expect(run('PUBLISH', 'news', 'x')).toBe(1)
    expect(await reader.take(2)).toEqual(['data: subscribe,news,1', 'data: message,news,x'])
  })

  it('apply to publishing', async () => {
    const token = withUser('+publish', '&news')
    const publish = async (channel: string) => {
      const response = await sandbox.fetch(`${sandbox.urls.store}/publish/${channel}/x`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return response.json()
    }
    expect(await publish('news')).toEqual({ result: 0 })
    expect(await publish('other')).toEqual({ error: noChannel.slice(4) })
  })
})

describe('keyspace notifications', () => {
  it('are disabled by default', async () => {
    const reader = await open('/psubscribe/__key*')
    run('SET', 'k', 'v')
    run('CONFIG', 'SET', 'notify-keyspace-events', 'KEA')
    expect(run('CONFIG', 'GET', 'notify-keyspace-events')).toEqual(['notify-keyspace-events', 'AKE'])
    run('SET', 'k', 'v', 'EX', 100)
    run('DEL', 'k')
    expect(await reader.take(7)).toEqual([
      'data: psubscribe,__key*,1',
      'data: pmessage,__key*,__keyspace@0__:k,set',
      'data: pmessage,__key*,__keyevent@0__:set,k',
      'data: pmessage,__key*,__keyspace@0__:k,expire',
      'data: pmessage,__key*,__keyevent@0__:expire,k',
      'data: pmessage,__key*,__keyspace@0__:k,del',
      'data: pmessage,__key*,__keyevent@0__:del,k',
    ])
  })

  // Which command belongs to which letter: redis-server 7.0.
  it.each([
    ['$', ['SET', 's', 'v'], 'set'],
    ['l', ['LPUSH', 'l', 'v'], 'lpush'],
    ['s', ['SADD', 'set', 'v'], 'sadd'],
    ['h', ['HSET', 'h', 'f', 'v'], 'hset'],
    ['z', ['ZADD', 'z', '1', 'v'], 'zadd'],
    ['t', ['XADD', 'x', '*', 'f', 'v'], 'xadd'],
    ['g', ['EXPIRE', 'there', '100'], 'expire'],
    ['n', ['SET', 'new one', 'v'], 'new'],
    ['m', ['GET', 'missing'], 'keymiss'],
    ['m', ['MGET', 'there', 'missing', 'missing'], 'keymiss'],
    ['d', ['JSON.SET', 'j', '$', '1'], 'json.set'],
    ['a', ['ARSET', 'numbers', '0', 'v'], 'arset'],
    ['A', ['ARSET', 'numbers', '0', 'v'], 'arset'],
  ])('with the letter %s are published for %j', async (letter, command, event) => {
    run('SET', 'there', 'v')
    run('CONFIG', 'SET', 'notify-keyspace-events', `E${letter}`)
    const reader = await open('/psubscribe/__keyevent@0__:*')
    run(...command)
    run('CONFIG', 'SET', 'notify-keyspace-events', '')
    run(...command)
    run('PUBLISH', '__keyevent@0__:end', 'end')
    const key = command[0] === 'MGET' ? 'missing' : command[1]
    expect(await reader.take(3)).toEqual([
      'data: psubscribe,__keyevent@0__:*,1',
      `data: pmessage,__keyevent@0__:*,__keyevent@0__:${event},${key}`,
      'data: pmessage,__keyevent@0__:*,__keyevent@0__:end,end',
    ])
  })

  it('are published for an expired key at its time, without any command that reads it', async () => {
    run('CONFIG', 'SET', 'notify-keyspace-events', 'Ex')
    const reader = await open('/subscribe/__keyevent@0__:expired')
    run('SET', 'late', 'v', 'PX', 5000)
    run('SET', 'early', 'v', 'PX', 2000)
    run('SET', 'kept', 'v', 'PX', 1000)
    run('PERSIST', 'kept')
    const seen: [string, number][] = []
    const reading = (async () => {
      for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
        if (event.startsWith('data: message')) seen.push([event, sandbox.clock.now()])
      }
    })()
    const start = sandbox.clock.now()
    await sandbox.clock.advance('1m')
    await reader.cancel()
    await reading
    expect(seen).toEqual([
      ['data: message,__keyevent@0__:expired,early', start + 2000],
      ['data: message,__keyevent@0__:expired,late', start + 5000],
    ])
  })

  it.each([
    ['KEA', 'AKE'],
    ['', ''],
    ['Kx', 'xK'],
    ['g$lshzxetdE', 'AE'],
    ['lKm', 'lKm'],
    ['KEAm', 'AKEm'],
  ])('configured with %j are returned as %j', (given, shown) => {
    run('CONFIG', 'SET', 'notify-keyspace-events', given)
    expect(run('CONFIG', 'GET', 'notify-*')).toEqual(['notify-keyspace-events', shown])
  })
})
