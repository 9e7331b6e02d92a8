// Compiled, never run: what the checks of an app may be asked, and what not.
import type { Sandbox } from 'stuntdouble'
import { expectIdempotent, expectVerified } from 'stuntdouble/checks'
import { checkDelivery, type DeliveryBroken, disputedPolicies, type PolicyChoices } from 'stuntdouble/fast-check'

declare const broken: DeliveryBroken
const handler = () => new Response()
const subject = {
  deliver: ({ queue }: Sandbox) => queue.publish({ to: 'https://a.test/' }),
  handler,
  holds: () => true,
}

export const written: readonly Promise<unknown>[] = [
  checkDelivery({
    ...subject,
    policies: { deduplicationWindow: ['10m', '90d', 600_000], flowControlOrder: ['fifo', 'shuffled'] },
  }),
  checkDelivery({ ...subject, policies: disputedPolicies }),
  checkDelivery({ ...subject, policies: { maxStorageSize: [undefined, 1000], deliveredRetention: [undefined, '1h'] } }),
  // @ts-expect-error: there is no such policy
  checkDelivery({ ...subject, policies: { deduplicationWindw: ['10m'] } }),
  // @ts-expect-error: a list, although of one
  checkDelivery({ ...subject, policies: { deduplicationWindow: '10m' } }),
  // @ts-expect-error: a span has a unit
  checkDelivery({ ...subject, policies: { deduplicationWindow: ['10'] } }),
  // @ts-expect-error: a number is no span of time
  checkDelivery({ ...subject, policies: { retries: ['3s'] } }),
  // @ts-expect-error: no such value
  checkDelivery({ ...subject, policies: { flowControlOrder: ['lifo'] } }),

  expectVerified(handler),
  expectVerified((request, task, sandbox) => sandbox.fetch(request).finally(() => task.sleep('1s'))),
  expectVerified({ 'https://a.test/': handler }),
  expectVerified(new URL('http://localhost:3000/'), { hosts: ['app.test'] }),
  expectVerified(handler, {
    except: ['url', 'unsigned', 'next', 'indented'],
    keys: { current: 'a', next: 'b', former: ['c'] },
  }),
  // @ts-expect-error: no such flaw
  expectVerified(handler, { only: ['expird'] }),
  // @ts-expect-error: `rotated` is no flaw
  expectVerified(handler, { only: ['rotated'] }),
  // @ts-expect-error: an app knows two keys
  expectVerified(handler, { keys: { current: 'a' } }),

  expectIdempotent(handler, { only: ['lost-ack 2', 'reorder 1'] }),
  // @ts-expect-error: which delivery is struck
  expectIdempotent(handler, { only: ['lost-ack'] }),
  // @ts-expect-error: no such repetition
  expectIdempotent(handler, { only: ['twice 1'] }),
]

export const choices: PolicyChoices = { workflowCallCallbacks: ['last', 'every'] }
export const found: number | undefined = broken.policy.deduplicationWindow
