// Host functions are read when the module loads, so that fake timers of a test never affect this clock.
const hostDate: () => number = Date.now.bind(Date)
let told = Number.NEGATIVE_INFINITY

/**
 * Returns system time in milliseconds since the epoch.
 * If system time goes back, the result stays the same until it catches up, for all sandboxes of the process, so that no
 * client sees time go back.
 */
export function hostTime(): number {
  told = Math.max(told, hostDate())
  return told
}

export const hostSetTimeout: typeof globalThis.setTimeout = globalThis.setTimeout
export const hostClearTimeout: typeof globalThis.clearTimeout = globalThis.clearTimeout
const hostSetImmediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate
const HostMessageChannel = globalThis.MessageChannel

/** Lets the process exit although the timer is pending. */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
}

interface Turns {
  readonly receiver: MessagePort
  readonly sender: MessagePort
  readonly waiters: (() => void)[]
}
let turns: Turns | undefined

/** Waits for one turn of the host's event loop. It uses a message port, because fake timers replace every other way. */
export function hostTurn(): Promise<void> {
  if (HostMessageChannel === undefined) return new Promise((resolve) => hostSetTimeout(resolve, 0))
  turns ??= openTurns(new HostMessageChannel())
  const { receiver, sender, waiters } = turns
  return new Promise((resolve) => {
    // The port keeps the process alive exactly while code waits for it.
    if (waiters.push(resolve) === 1) hold(receiver, 'ref')
    sender.postMessage(null)
  })
}

/**
 * Whether this module has the host's own immediates. Fake timers may have been installed before, and those fire only on
 * demand.
 * Immediates of @sinonjs/fake-timers, which Vitest and Jest use, have a `clock` property; others are detected over
 * time.
 */
let immediatesFire: boolean | undefined =
  hostSetImmediate !== undefined && 'clock' in hostSetImmediate ? false : undefined
/** Messages that a port of Node.js delivers in a row before other work, times two. */
const messagesInARow = 2_000

/**
 * Lets the host do all its work, including sockets.
 * One turn is not enough, because Node.js delivers a thousand messages of a port before it reads a socket. If
 * immediates may be fake, this takes as many turns as a real one needs to fire.
 */
export function hostPause(): Promise<void> {
  if (hostSetImmediate === undefined || immediatesFire === false) return hostTurn()
  return new Promise((resolve) => {
    hostSetImmediate(() => {
      immediatesFire = true
      resolve()
    })
    if (immediatesFire === undefined) void turnsInARow().then(resolve)
  })
}

async function turnsInARow(): Promise<void> {
  for (let count = 0; count < messagesInARow && immediatesFire === undefined; count++) await hostTurn()
  immediatesFire ??= false
}

let number = 0
let isCounting = false

/** Returns a number that changes when the host has read its sockets again. */
export function hostTurnNumber(): number {
  if (!isCounting) {
    isCounting = true
    number++
    void hostPause().then(() => {
      isCounting = false
    })
  }
  return number
}

function openTurns(channel: MessageChannel): Turns {
  const opened: Turns = { receiver: channel.port1, sender: channel.port2, waiters: [] }
  opened.receiver.onmessage = () => {
    const next = opened.waiters.shift()
    if (opened.waiters.length === 0) hold(opened.receiver, 'unref')
    next?.()
  }
  hold(opened.sender, 'unref')
  return opened
}

function hold(port: MessagePort, how: 'ref' | 'unref'): void {
  // Only ports of Node.js have these methods.
  const known = port as Partial<Record<typeof how, () => void>>
  known[how]?.()
}

/** A value that asynchronous code inherits across awaits. */
export interface HostContext<T> {
  run<R>(value: T, work: () => R): R
  getStore(): T | undefined
}

type ContextClass = new <T>() => HostContext<T>

/** Creates an asynchronous context of the host, or returns `undefined` if the host has none, as in browsers. */
export function hostContext<T>(): HostContext<T> | undefined {
  const hooks = builtin('async_hooks') as { AsyncLocalStorage?: ContextClass } | undefined
  return hooks?.AsyncLocalStorage && new hooks.AsyncLocalStorage<T>()
}

/** Channels on which parts of the host report their activity. */
export interface HostChannels {
  subscribe(channel: string, hear: (message: unknown) => void): void
  unsubscribe(channel: string, hear: (message: unknown) => void): void
}

/** Returns the channels of the host, or `undefined` if it has none, as in browsers. */
export function hostChannels(): HostChannels | undefined {
  return builtin('diagnostics_channel') as HostChannels | undefined
}

function builtin(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  return process?.getBuiltinModule?.(name)
}
