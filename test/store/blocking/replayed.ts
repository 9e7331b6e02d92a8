import type { Bytes } from '../../../src/kernel/bytes.js'
import { Clock } from '../../../src/kernel/clock.js'
import { createRandom } from '../../../src/kernel/random.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { AccessControl } from '../../../src/store/access/access-control.js'
import { Blocked, type WaitEnd } from '../../../src/store/blocking/blocked.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import { resp2, resp2Error } from '../../../src/store/rest/rest-responses.js'
import { StoreEngine } from '../../../src/store/store-engine.js'
import { asService } from '../../support/deviations.js'
import { decodeReply, type RespReply } from '../../support/resp.js'
import { showReply } from '../../support/steps.js'
import { type Row, rowsOf } from './programs.js'

type Rows = readonly (readonly string[])[]

/** Replays a program recorded from a real server; returns the steps with different replies, as a few lines each. */
export async function replayProgram(rows: readonly Row[]): Promise<string[]> {
  const clock = new Clock({ startAt: Date.UTC(2026, 0, 1) })
  const store = new StoreEngine({
    clock,
    random: createRandom('program'),
    access: new AccessControl({ standard: 'standard-token', readOnly: 'read-only-token' }),
    policy: { ...defaultPolicy, commands: 'all' },
    docs: 'docs.test',
  })
  let got: Record<string, string> = {}
  const waiting = new Map<string, Blocked>()
  const latest = new Map<string, Rows>()
  const answer = (name: string, end: WaitEnd): void => {
    waiting.delete(name)
    got[name] = rawOf(end)
  }
  const send = (name: string, line: string): void => {
    const argvs = rowsOf(line)
    latest.set(name, argvs)
    if (line.startsWith('MULTI')) {
      const raws = store.waiting.transaction(() => argvs.map((argv) => rawOf(begin(store, argv) as WaitEnd)))
      got[name] = `*${raws.length}\r\n${raws.join('')}`
      return
    }
    const begun = begin(store, argvs[0]!)
    if (begun instanceof Blocked) {
      waiting.set(name, begun)
      begun.onEnd((end) => answer(name, end))
    } else answer(name, begun)
  }

  const differences: string[] = []
  for (const [step, replies] of rows) {
    got = {}
    const [name, ...words] = step.split(' ')
    if (name === 'advance') await clock.advance(Number(words[0]))
    else if (name === 'unblock') waiting.get(words[0]!)?.unblock(words[1] as 'TIMEOUT')
    else send(name!, words.join(' '))
    const expected = shown(replies, latest, true)
    const reply = shown(got, latest, false)
    if (expected !== reply) differences.push(`${step}\n  expected ${expected}\n  got      ${reply}`)
    if (differences.length > 9) break
  }
  return differences
}

function begin(store: StoreEngine, argv: readonly string[]): Blocked | WaitEnd {
  try {
    const begun = store.begin(argv as readonly Bytes[])
    return begun instanceof Blocked ? begun : { reply: begun }
  } catch (error) {
    if (error instanceof ReplyError) return { error }
    throw error
  }
}

function rawOf(end: WaitEnd): string {
  return 'reply' in end ? resp2(end.reply) : resp2Error(end.error as ReplyError)
}

function shown(replies: Readonly<Record<string, string>>, latest: ReadonlyMap<string, Rows>, isReal: boolean): string {
  return Object.keys(replies)
    .sort()
    .map((name) => {
      const reply = decodeReply(replies[name]!)
      return `${name}: ${showReply(isReal ? translated(reply, latest.get(name) ?? []) : reply)}`
    })
    .join('; ')
}

function translated(reply: RespReply, rows: Rows): RespReply {
  return 'array' in reply && rows.length > 1
    ? { array: reply.array.map((item, at) => asService(item, rows[at]!)) }
    : asService(reply, rows[0]!)
}
