// Compiled, never run: the result of a publish, by its destination.
import type { Sandbox } from 'stuntdouble'
import type { RemoteSandbox } from 'stuntdouble/client'

declare const sandbox: Sandbox
declare const remote: RemoteSandbox
declare const either: Sandbox | RemoteSandbox
declare const base: string
declare const anything: string

export const one: string = sandbox.queue.publish({ to: 'https://a.test/orders', retries: 0 }).id
export const onPath: string = sandbox.queue.publish({ to: `${base}/orders` }).id
export const each: string[] = sandbox.queue.publish({ to: 'warehouses', body: { n: 1 } }).map(({ id }) => id)
export const oneAway: string = (await remote.queue.publish({ to: 'http://localhost:3000/orders' })).id
export const eachAway: string[] = (await remote.queue.publish({ to: 'warehouses' })).map(({ id }) => id)
export const oneSomewhere: string = (await either.queue.publish({ to: 'https://a.test/orders' })).id

// @ts-expect-error: a URL group has no ID, but its messages have one
sandbox.queue.publish({ to: 'warehouses' }).id
// @ts-expect-error: one message is not a list
sandbox.queue.publish({ to: 'https://a.test/orders' })[0]
// @ts-expect-error: the text may be a URL or a name
sandbox.queue.publish({ to: anything }).id
// @ts-expect-error: the text may contain a scheme
sandbox.queue.publish({ to: `${base}-orders` }).id
// @ts-expect-error: a message needs a destination
sandbox.queue.publish({ body: 1 })
// @ts-expect-error: there is no such option
sandbox.queue.publish({ to: 'https://a.test/orders', retires: 0 })

// @ts-expect-error: a bare number is seconds for the SDK
sandbox.queue.publish({ to: 'https://a.test/orders', delay: 90 })
// @ts-expect-error: a duration needs a unit
sandbox.queue.publish({ to: 'https://a.test/orders', timeout: '30' })
// @ts-expect-error: the same for a connected sandbox
remote.queue.publish({ to: 'https://a.test/orders', timeout: 30 })
// @ts-expect-error: the same for a callback
sandbox.queue.publish({ to: 'https://a.test/orders', callback: base, callbackDelay: 5 })
export const later = sandbox.queue.publish({ to: 'https://a.test/', delay: '1h30m', failureCallbackTimeout: '5s' }).id

const unknown = sandbox.queue.publish({ to: anything })
export const told: string | undefined = 'id' in unknown ? unknown.id : unknown[0]?.id
