import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Bytes } from '../../../src/kernel/bytes.js'
import { createRandom } from '../../../src/kernel/random.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { AccessControl } from '../../../src/store/access/access-control.js'
import { Blocked } from '../../../src/store/blocking/blocked.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import { typedReply } from '../../../src/store/command/typed-reply.js'
import { wireOf } from '../../../src/store/resp/reply-writer.js'
import { StoreEngine } from '../../../src/store/store-engine.js'
import { skeletonOf } from '../../support/resp3.js'
import { type Section, wordsAt } from '../../support/steps.js'
import { resp3Sections } from './resp3-sections.js'

const recorded = JSON.parse(readFileSync(new URL('../../transcripts/resp3.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly string[]>
>

/** The service has a flat list in both versions of the protocol. [search.md, part 2] */
const flat = /^CONFIG GET\b/i

/** The result of a script has the types of RESP2, for all tables it creates: a limit that the reference documents. */
const ofScripts = /^EVAL$/i

const sections = await resp3Sections()

test.each(sections.map((section) => [section.title, section] as const))(
  'replies to %s have the RESP3 types of redis-server',
  (title, section) => {
    expect(differences(section, recorded[title] ?? [])).toEqual([])
  },
)

/**
 * Returns the steps whose replies have other types, without those that deliberately differ in the service.
 */
function differences({ steps }: Section, rows: readonly string[]): string[] {
  let now = Date.UTC(2026, 0, 1)
  const store = new StoreEngine({
    clock: { now: () => now },
    random: createRandom('resp3'),
    access: new AccessControl({ standard: 'standard-token', readOnly: 'read-only-token' }),
    policy: { ...defaultPolicy, commands: 'all' },
    docs: 'docs.test',
  })
  const found: string[] = []
  let at = 0
  for (const step of steps) {
    if (step.advance !== undefined) {
      now += step.advance
      continue
    }
    const expected = rows[at++]
    const argv = wordsAt(step, now) as readonly string[] as readonly Bytes[]
    const skeleton = skeletonOf(wireIn(store, argv))!.skeleton
    if (skeleton === expected || step.ours !== undefined || flat.test(argv.join(' '))) continue
    // The transcripts test which commands fail.
    if (skeleton === '-' || expected === '-' || ofScripts.test(argv[0]!)) continue
    found.push(`${step.text}: ${skeleton}, redis-server ${expected}`)
  }
  return found
}

function wireIn(store: StoreEngine, argv: readonly Bytes[]): string {
  try {
    const begun = store.begin(argv)
    if (begun instanceof Blocked) begun.cancel()
    const reply = begun instanceof Blocked ? begun.want.nothing : begun
    const command = store.blockingCommands.find(argv) ?? store.lookup(argv)
    return wireOf(typedReply(command.name, argv, reply), 3)
  } catch (error) {
    if (error instanceof ReplyError) return '-ERR\r\n'
    throw error
  }
}
