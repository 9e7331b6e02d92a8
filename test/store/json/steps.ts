import { expect, it } from 'vitest'
import { utf8 } from '../../../src/kernel/bytes.js'
import { createRandom } from '../../../src/kernel/random.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { AccessControl } from '../../../src/store/access/access-control.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import { type PlainReply, plainReply } from '../../../src/store/direct-store.js'
import { StoreEngine } from '../../../src/store/store-engine.js'

/** Command line and its reply. Arguments are separated by blanks; one in single quotes may contain some. */
export type Step = readonly [line: string, reply: PlainReply | Failure]

/** Error reply with exactly this text. */
export interface Failure {
  readonly error: string
}

export const error = (text: string): Failure => ({ error: text })
export const wrongType: Failure = error('WRONGTYPE Operation against a key holding the wrong kind of value')
export const noKey: Failure = error("ERR could not perform this operation on a key that doesn't exist")
export const noPath: Failure = error('ERR Path does not exist')
export const syntax: Failure = error('ERR syntax error')
export const badJson: Failure = error('ERR invalid JSON value')
export const notRoot: Failure = error('ERR new objects must be created at the root')

export function createStore(): StoreEngine {
  const access = new AccessControl({ standard: 'standard', readOnly: 'readonly' })
  return new StoreEngine({
    clock: { now: () => 0 },
    random: createRandom(1),
    access,
    policy: defaultPolicy,
    docs: 'docs.test',
  })
}

export function words(line: string): string[] {
  return Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '')
}

export function reply(store: StoreEngine, argv: readonly string[]): PlainReply | Failure {
  try {
    return plainReply(store.execute(argv.map(utf8)))
  } catch (thrown) {
    if (thrown instanceof ReplyError) return error(thrown.message)
    throw thrown
  }
}

/** Declares one test per entry: its steps run in order in a separate store. */
export function stories(table: Readonly<Record<string, readonly Step[]>>): void {
  for (const [story, steps] of Object.entries(table)) {
    it(story, () => {
      const store = createStore()
      steps.forEach(([line, expected], index) => {
        expect(reply(store, words(line)), `step ${index + 1}: ${line}`).toEqual(expected)
      })
    })
  }
}
