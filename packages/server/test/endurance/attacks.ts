import { type ChildProcess, fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { type Attack, attacks, type Got, type Target } from './attack-list.js'
import type { Built } from './built.js'
import { told as nextOf } from './told.js'

export interface AttacksOutcome {
  readonly attacks: number
  readonly wrong: readonly string[]
  /** Blocks above their budget. They are separate, because they also depend on the machine. */
  readonly slow: readonly string[]
}

/** The longest block without an explanation: about 100 ms. */
const maxLoops = 10
/** Timeout of an attack, in host milliseconds. */
const patience = 60_000
/** Time in which a server must end, in host milliseconds: it waits two seconds for running requests. */
const maxToEnd = 5_000
/** Bytes by which the memory of a server may have grown after an attack, when its tenant was dropped. */
const maxGrown = 12_000_000

/** Runs each attack on a server in its own process, and checks the response, the blocking time and the memory. */
export async function attacked(
  place: Built,
  { names = [], told = () => undefined }: { names?: readonly string[]; told?: (line: string) => void } = {},
): Promise<AttacksOutcome> {
  const chosen = attacks.filter(({ name }) => names.length === 0 || names.some((word) => name.includes(word)))
  const wrong: string[] = []
  const slow: string[] = []
  for (const attack of chosen) {
    const { loops, complaints } = await one(attack, place)
    for (const complaint of complaints) wrong.push(`${attack.name}: ${complaint}`)
    told(`${loops.toFixed(1).padStart(6)} loops  ${attack.name}${complaints.length > 0 ? '  ✗' : ''}`)
    const most = attack.over?.loops ?? maxLoops
    if (loops > most) slow.push(`${attack.name}: blocked for ${Math.round(loops)} loops, ${most} are accepted`)
  }
  return { attacks: chosen.length, wrong, slow }
}

async function one(attack: Attack, { program }: Built): Promise<{ loops: number; complaints: readonly string[] }> {
  const heap = attack.heap === undefined ? [] : [`--max-old-space-size=${attack.heap}`]
  const child = fork(program('attack'), [attack.clock ?? 'manual'], {
    execArgv: ['--expose-gc', ...heap],
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  })
  const complaints: string[] = []
  try {
    const { origin, redisPort } = await nextOf<{ origin: string; redisPort: number }>(child)
    const before = await asked<{ bytes: number }>(child, 'memory')
    await asked(child, 'watch')
    complaints.push(...(await struck(origin, redisPort, attack)))
    const { loops, reports } = await asked<{ loops: number; reports: string[] }>(child, 'block')
    // A server with a small heap warns when the heap is full.
    const failures = reports.filter((report) => attack.heap === undefined || !report.includes('--max-old-space-size'))
    for (const report of failures) complaints.push(`it failed by mistake: ${report.slice(0, 300)}`)
    const after = await asked<{ bytes: number }>(child, 'memory')
    const grown = after.bytes - before.bytes
    if (grown > maxGrown) complaints.push(`${Math.round(grown / 1e6)} MB are held when it is over`)
    const code = await endOf(child)
    if (code !== 0) complaints.push(`it ends with ${code}`)
    return { loops, complaints }
  } catch (error) {
    return { loops: Number.NaN, complaints: [...complaints, (error as Error).message] }
  } finally {
    child.kill('SIGKILL')
  }
}

/** Returns how a server ends after a signal. */
async function endOf(child: ChildProcess): Promise<number | string | null> {
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal))
    setTimeout(resolve, maxToEnd, 'nothing: it goes on').unref()
  })
  child.send('end')
  return ended
}

async function asked<T>(child: ChildProcess, question: string): Promise<T> {
  const answer = nextOf<T>(child)
  child.send(question, (error) => error && child.kill())
  return answer
}

async function struck(origin: string, redisPort: number, attack: Attack): Promise<string[]> {
  const open: Socket[] = []
  const late = AbortSignal.timeout(patience)
  try {
    const complaints = await attack.strike(targetAt(origin, redisPort, 'mallory', open, late))
    return complaints.filter((complaint) => complaint !== false)
  } catch (error) {
    return [late.aborted ? `no end after ${patience} ms` : String((error as Error).cause ?? error)]
  } finally {
    for (const socket of open) socket.destroy()
  }
}

function targetAt(origin: string, redisPort: number, tenant: string, open: Socket[], late: AbortSignal): Target {
  const store = { authorization: 'Bearer t' }
  const queue = { authorization: 'Bearer q' }
  const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))
  return {
    store: (path, body) => ask(`${origin}/${tenant}/store${path}`, 'POST', textOf(body), store, late),
    queue: (path, body, headers) =>
      ask(`${origin}/${tenant}/queue${path}`, 'POST', textOf(body), { ...queue, ...headers }, late),
    order: (path, body, method = body === undefined ? 'GET' : 'POST') =>
      ask(`${origin}/_control/${tenant}${path}`, method, body === undefined ? undefined : textOf(body), {}, late),
    raw: (text) =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(new URL(origin).port), '127.0.0.1')
        open.push(socket)
        socket.on('error', reject)
        socket.write(text.replaceAll('TENANT', tenant), 'latin1', () => setTimeout(resolve, 20))
      }),
    native: (parts, until) =>
      new Promise((resolve) => {
        const socket = connect(redisPort, '127.0.0.1')
        open.push(socket)
        let got = ''
        const end = (): void => resolve(got)
        socket.on('error', end)
        socket.on('close', end)
        if (until === undefined) socket.pause()
        else
          socket.on('data', (chunk) => {
            got = (got + chunk.toString('latin1')).slice(-kept)
            if (got.includes(until)) end()
          })
        late.addEventListener('abort', end)
        socket.write(`AUTH ${tenant}/default t\r\n`)
        for (const part of parts) socket.write(part, 'latin1')
        // The server gets time to respond to a client that reads nothing.
        if (until === undefined) setTimeout(end, 200)
      }),
    givenUp: async (path, body, after) => {
      const url = `${origin}/_control/${tenant}${path}`
      await ask(url, 'POST', textOf(body), {}, AbortSignal.timeout(after)).catch(() => undefined)
    },
  }
}

/** Maximum characters of a response that are kept. */
const kept = 100_000

async function ask(
  url: string,
  method: string,
  body: string | undefined,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Got> {
  const response = await fetch(url, { method, headers, ...(signal && { signal }), ...(body !== undefined && { body }) })
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (text.length < kept) text += decoder.decode(chunk, { stream: true })
  }
  return { status: response.status, text, size }
}
