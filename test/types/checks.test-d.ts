// Compiled, never run: valid and invalid options of the checks of an app.
import type { Sandbox } from 'stuntdouble'
import { assertIdempotent, assertVerifiesSignatures } from 'stuntdouble/checks'
import { assertResilient, disputedPolicies, type PolicyChoices, type ResilienceError } from 'stuntdouble/fast-check'

declare const broken: ResilienceError
const handler = () => new Response()
const subject = {
  publish: ({ queue }: Sandbox) => queue.publish({ to: 'https://a.test/' }),
  handler,
  holds: () => true,
}

export const written: readonly Promise<unknown>[] = [
  assertResilient({
    ...subject,
    policies: { deduplicationWindow: ['10m', '90d', 600_000], flowControlOrder: ['fifo', 'shuffled'] },
  }),
  assertResilient({ ...subject, policies: disputedPolicies }),
  assertResilient({
    ...subject,
    policies: { maxStorageSize: [undefined, 1000], deliveredRetention: [undefined, '1h'] },
  }),
  // @ts-expect-error: there is no such policy
  assertResilient({ ...subject, policies: { deduplicationWindw: ['10m'] } }),
  // @ts-expect-error: a list, although of one
  assertResilient({ ...subject, policies: { deduplicationWindow: '10m' } }),
  // @ts-expect-error: a duration needs a unit
  assertResilient({ ...subject, policies: { deduplicationWindow: ['10'] } }),
  // @ts-expect-error: a number is not a duration
  assertResilient({ ...subject, policies: { retries: ['3s'] } }),
  // @ts-expect-error: no such value
  assertResilient({ ...subject, policies: { flowControlOrder: ['lifo'] } }),

  assertVerifiesSignatures(handler),
  assertVerifiesSignatures((request, task, sandbox) => sandbox.fetch(request).finally(() => task.sleep('1s'))),
  assertVerifiesSignatures({ 'https://a.test/': handler }),
  assertVerifiesSignatures(new URL('http://localhost:3000/'), { hosts: ['app.test'] }),
  assertVerifiesSignatures(handler, {
    except: ['url', 'unsigned', 'next', 'indented'],
    keys: { current: 'a', next: 'b', former: ['c'] },
  }),
  // @ts-expect-error: no such flaw
  assertVerifiesSignatures(handler, { only: ['expird'] }),
  // @ts-expect-error: `rotated` is not a flaw
  assertVerifiesSignatures(handler, { only: ['rotated'] }),
  // @ts-expect-error: an app knows two keys
  assertVerifiesSignatures(handler, { keys: { current: 'a' } }),

  assertIdempotent(handler, { only: ['lost-ack 2', 'reorder 1'] }),
  // @ts-expect-error: the delivery is missing
  assertIdempotent(handler, { only: ['lost-ack'] }),
  // @ts-expect-error: no such repetition
  assertIdempotent(handler, { only: ['twice 1'] }),
]

export const choices: PolicyChoices = { workflowCallCallbacks: ['last', 'every'] }
export const found: number | undefined = broken.policy.deduplicationWindow
