import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.js'
import type { Recording } from './recording.js'
import { findRedisServer } from './redis-server.ts'
import { RespClient, type RespReply } from './resp.js'
import { type Section, wordsAt } from './steps.js'

/** A real server for recordings and comparisons: `REDIS_PORT`, or a new one on a free loopback port. */
export interface LiveRedis {
  readonly client: RespClient
  readonly port: number
  stop(): Promise<void>
}

export async function startRedis(): Promise<LiveRedis> {
  const given = process.env.REDIS_PORT
  if (given) {
    const client = await RespClient.connect(Number(given))
    return { client, port: Number(given), stop: async () => client.close() }
  }
  const server = findRedisServer()
  if (!server)
    throw new Error(
      'there is no redis-server on this machine: `node test/support/obtain-redis-server.ts` obtains one from Debian',
    )
  const directory = mkdtempSync(join(tmpdir(), 'stuntdouble-redis-'))
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory]
  const child = spawn(server.path, args, { env: { ...process.env, ...server.env }, stdio: 'ignore' })
  const client = await connect(port, child)
  return {
    client,
    port,
    async stop() {
      client.close()
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function connect(port: number, child: ChildProcess): Promise<RespClient> {
  for (let attempt = 0; attempt < 100 && child.exitCode === null; attempt++) {
    try {
      return await RespClient.connect(port)
    } catch {
      await wait(50)
    }
  }
  throw new Error('redis-server did not start')
}

/** Runs the steps on the server, without rows that it does not support. */
export async function record(client: RespClient, sections: readonly Section[]): Promise<Recording> {
  const recording: Record<string, [string, string][]> = {}
  for (const section of sections) {
    if (section.source !== undefined) continue
    if (section.title in recording) throw new Error(`two sections are called "${section.title}"`)
    const rows: [string, string][] = []
    await flush(client)
    for (const step of section.steps) {
      if (step.advance !== undefined) await wait(step.advance)
      else rows.push([step.text, await client.raw(wordsAt(step, Date.now()))])
    }
    recording[section.title] = rows
  }
  return recording
}

async function flush(client: RespClient): Promise<void> {
  const reply: RespReply = await client.send(['FLUSHALL'])
  if (!('status' in reply)) throw new Error(`FLUSHALL: ${JSON.stringify(reply)}`)
}
