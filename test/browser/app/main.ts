// A page with the services, msw's service worker in front of them, and the SDKs, all in the browser.
import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { fault } from 'stuntdouble'
import { sandbox } from './sandbox.js'

const { urls, env, tokens } = sandbox
const redis = new Redis({ url: urls.store, token: tokens.store, enableTelemetry: false })
const queue = new Client({ baseUrl: urls.queue, token: tokens.queue })
const receiver = new Receiver({
  currentSigningKey: env.QSTASH_CURRENT_SIGNING_KEY!,
  nextSigningKey: env.QSTASH_NEXT_SIGNING_KEY!,
})

/** Objects that the test uses. */
const world = { fault, queue, receiver, redis, sandbox }
export type World = typeof world

Object.assign(globalThis, { world })
