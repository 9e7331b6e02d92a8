// Cost of the server over node:http with the same constant text, and over a proxy in front of redis-server, with 32
// open connections; and the time until it is ready.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { startServer } from 'stuntdouble/server'
import { againIfClosed, type Figure, type Variant } from '../harness.ts'
import { startRedis } from '../redis-server.ts'

const body = '["GET","greeting"]'
const connections = 32

function client(name: string, origin: string, path: string, token: string, each?: () => void): Variant {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(origin + path, { agent, method: 'POST', headers }, (response) => {
        response.on('data', () => {}).on('end', () => resolve())
      })
      againIfClosed(sent, ask, resolve, reject)
      sent.end(body)
    })
  return {
    name,
    async run(times) {
      let left = times
      const one = async (): Promise<void> => {
        while (left-- > 0) await ask()
      }
      await Promise.all(Array.from({ length: connections }, one))
      each?.()
    },
  }
}

function constantServer(): Promise<Server> {
  const server = createServer((incoming, response) => {
    incoming
      .on('data', () => {})
      .on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 18 }).end('{"result":"hello"}')
      })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

async function storeOverServer(): Promise<Figure> {
  const constant = await constantServer()
  const server = await startServer({ port: 0, clock: 'manual' })
  const sandbox = server.tenant('main')
  sandbox.store.run('SET', 'greeting', 'hello')
  const origin = `http://127.0.0.1:${(constant.address() as AddressInfo).port}`
  const token = sandbox.tokens.store
  return {
    name: 'store GET over the server, over a constant node:http response, client included',
    baseline: client('constant', origin, '/', token),
    variants: [client('stuntdouble/server', server.origin, '/main/store/', token, () => sandbox.traffic.clear())],
    // At least 0.85 of the throughput.
    atMost: { 'stuntdouble/server': 1.18 },
    turn: 150,
    dispose: async () => {
      await server.close()
      constant.closeAllConnections()
      constant.close()
    },
  }
}

/** A minimal proxy: reads the JSON, writes it as RESP to one connection, and returns the reply as JSON. */
function proxyServer(redisPort: number): Promise<{ server: Server; end(): void }> {
  const redis = connect(redisPort, '127.0.0.1').setNoDelay(true).setEncoding('latin1')
  const waiting: ((reply: string) => void)[] = []
  let rest = ''
  redis.on('data', (chunk: string) => {
    rest += chunk
    // Only bulk strings, because these figures request nothing else.
    for (let end = rest.indexOf('\r\n'); end > 0; end = rest.indexOf('\r\n')) {
      const length = Number(rest.slice(1, end))
      if (rest.length < end + 4 + length) return
      waiting.shift()!(rest.slice(end + 2, end + 2 + length))
      rest = rest.slice(end + 4 + length)
    }
  })
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.setEncoding('utf8')
    incoming.on('data', (chunk: string) => {
      text += chunk
    })
    incoming.on('end', () => {
      const words = JSON.parse(text) as string[]
      waiting.push((reply) => {
        const answer = JSON.stringify({ result: reply })
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer)
      })
      redis.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`)
    })
  })
  return new Promise((resolve) => {
    const end = (): void => {
      redis.destroy()
      server.closeAllConnections()
      server.close()
    }
    server.listen(0, '127.0.0.1', () => resolve({ server, end }))
  })
}

async function storeOverProxy(): Promise<Figure | undefined> {
  const redis = await startRedis()
  if (redis === undefined) return undefined
  await new Promise<void>((resolve) => {
    const socket = connect(redis.port, '127.0.0.1')
    socket.once('data', () => socket.end()).once('close', () => resolve())
    socket.write('*3\r\n$3\r\nSET\r\n$8\r\ngreeting\r\n$5\r\nhello\r\n')
  })
  const proxy = await proxyServer(redis.port)
  const server = await startServer({ port: 0, clock: 'manual' })
  const sandbox = server.tenant('main')
  sandbox.store.run('SET', 'greeting', 'hello')
  const origin = `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}`
  const token = sandbox.tokens.store
  // The process of the database also works, so its time counts.
  let spent = 0
  const counted = (variant: Variant): Variant => ({
    name: variant.name,
    async run(times) {
      const before = cpuOf(redis.pid)
      await variant.run(times)
      spent = cpuOf(redis.pid) - before
    },
  })
  return {
    name: 'store GET over the server, over an HTTP to RESP proxy before redis-server, client included',
    baseline: counted(client('proxy', origin, '/', token)),
    variants: [
      counted(client('stuntdouble/server', server.origin, '/main/store/', token, () => sandbox.traffic.clear())),
    ],
    reading: () => spent,
    // At least 1.2 of the throughput.
    atMost: { 'stuntdouble/server': 0.8 },
    turn: 150,
    dispose: async () => {
      await server.close()
      proxy.end()
      redis.stop()
    },
  }
}

/** Returns the processor time of this process and another one, in µs. */
function cpuOf(pid: number): number {
  const { user, system } = process.cpuUsage()
  // Ticks of 10 ms. [proc(5)]
  const [utime, stime] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
  return user + system + (Number(utime) + Number(stime)) * 10_000
}

/** Elapsed time from the start of the process to the line `ready`. */
function untilReady(): Figure {
  let took = 0
  const run = (name: string, ...words: string[]): Variant => ({
    name,
    async run() {
      const begun = performance.now()
      const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
      await new Promise<void>((resolve) => {
        child.stdout.on('data', (text) => {
          if (String(text).includes('ready')) resolve()
        })
      })
      took = (performance.now() - begun) * 1000
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('close', resolve))
    },
  })
  const program = new URL('../../dist/cli.js', import.meta.url).pathname
  return {
    name: 'time until stuntdouble serve is ready, over that of Node with an empty http server',
    baseline: run('node', '-e', "require('http').createServer().listen(0, () => console.log('ready'))"),
    variants: [run('stuntdouble serve', program, 'serve', '--port', '0')],
    // 300 ms.
    within: { 'stuntdouble serve': 300_000 },
    times: 1,
    reading: () => took,
  }
}

export const figures = [storeOverServer, storeOverProxy, untilReady]
