import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readState } from '../../src/state/state-file.js'
import { flushInterval } from '../../src/state/state-writer.js'
import type { Built } from './built.js'

export interface KillsOutcome {
  readonly kills: number
  readonly acknowledged: number
  /** Number of kills that left an incomplete file next to the complete one. */
  readonly midway: number
  readonly wrong: readonly string[]
}

/**
 * Kills a server many times while it saves writes to a file. Everything that was acknowledged before the last flush but
 * one, plus the interval between the two, must be there.
 */
export async function kills(times: number, { place, program }: Built): Promise<KillsOutcome> {
  const file = join(place, `state-${times}.json`)
  const wrong: string[] = []
  let [acknowledged, midway, number] = [0, 0, 0]
  for (let turn = 0; turn < times; turn++) {
    const child = spawn(process.execPath, [
      program('cli'),
      ...['serve', '--port', '0', '--clock', 'manual', '--store-token', 't', '--state', file],
    ])
    try {
      const origin = await originOf(child)
      const kept = await read(origin)
      if (kept < (await floorOf(file))) wrong.push(`turn ${turn}: ${kept} served, more is in the file`)
      const acks: [at: number, number: number][] = []
      const written: number[] = []
      // Kill at another time of the interval in each turn.
      const until = performance.now() + 300 + ((turn * 37) % 400)
      number = Math.max(number, kept)
      while (performance.now() < until) {
        number++
        await write(origin, number)
        acks.push([Date.now(), number])
        const at = existsSync(file) ? statSync(file).mtimeMs : 0
        if (at !== 0 && written.at(-1) !== at) written.push(at)
      }
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('close', resolve))
      acknowledged += acks.length
      if (existsSync(`${file}.new`)) midway++
      const left = await floorOf(file)
      const last = statSync(file).mtimeMs
      // The last flush began one interval after the previous one had been written.
      const before = written.filter((at) => at < last).at(-1)
      const safe = before === undefined ? 0 : before + flushInterval - 1
      const due = acks.filter(([at]) => at < safe).at(-1)?.[1] ?? 0
      if (left < due) wrong.push(`turn ${turn}: ${due} was acknowledged before the last flush, the file has ${left}`)
      if (left > number) wrong.push(`turn ${turn}: ${number} was written, the file has ${left}`)
    } catch (error) {
      wrong.push(`turn ${turn}: ${(error as Error).message}`)
    } finally {
      child.kill('SIGKILL')
    }
  }
  return { kills: times, acknowledged, midway, wrong }
}

function originOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (/^ready$/m.test(out)) resolve(/(http:\S+)\/main\/store/.exec(out)![1]!)
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.once('close', (code) => reject(new Error(`it ended with ${code}: ${out}`)))
  })
}

const headers = { authorization: 'Bearer t' }

async function write(origin: string, number: number): Promise<void> {
  // Large values make writing the file slow.
  const body = JSON.stringify(['MSET', 'number', number, `weight ${number % 200}`, 'x'.repeat(5_000)])
  const answer = await fetch(`${origin}/main/store`, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(`a write was answered ${answer.status}`)
  await answer.text()
}

async function read(origin: string): Promise<number> {
  const { result } = (await (await fetch(`${origin}/main/store/get/number`, { headers })).json()) as {
    result: string | null
  }
  return Number(result ?? 0)
}

/** Returns the number in the file, which must always be readable. */
async function floorOf(file: string): Promise<number> {
  const { main } = readState(file)
  const keys = (main?.store.keys ?? []) as unknown as readonly { key: unknown; value: unknown }[]
  return Number(keys.find(({ key }) => key === 'number')?.value ?? 0)
}
