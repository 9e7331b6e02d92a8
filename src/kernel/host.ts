// Host functions are taken when the module loads, so that fake timers installed by a test never reach this clock.
const hostDate: () => number = Date.now.bind(Date)
let told = Number.NEGATIVE_INFINITY

/**
 * The host's time, milliseconds since the Unix epoch: for the mode that follows it. It stands still while the host's clock is
 * behind an earlier reading, for every world of the process alike, so that no client sees time go back.
 */
export function hostTime(): number {
  told = Math.max(told, hostDate())
  return told
}

export const hostSetTimeout: typeof globalThis.setTimeout = globalThis.setTimeout
export const hostClearTimeout: typeof globalThis.clearTimeout = globalThis.clearTimeout
const hostSetImmediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate
const HostMessageChannel = globalThis.MessageChannel

/** Does not keep the process alive. */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
}

interface Turns {
  readonly receiver: MessagePort
  readonly sender: MessagePort
  readonly waiters: (() => void)[]
}
let turns: Turns | undefined

/** One turn of the host's event loop. A message port, because fake timers replace every other way to get one. */
export function hostTurn(): Promise<void> {
  if (HostMessageChannel === undefined) return new Promise((resolve) => hostSetTimeout(resolve, 0))
  turns ??= openTurns(new HostMessageChannel())
  const { receiver, sender, waiters } = turns
  return new Promise((resolve) => {
    // The port keeps the process alive exactly while somebody waits for it.
    if (waiters.push(resolve) === 1) hold(receiver, 'ref')
    sender.postMessage(null)
  })
}

/**
 * Whether the immediates that this module found are the host's: fake timers may have been there before it, and fire when
 * they are told to. Those of @sinonjs/fake-timers, which Vitest and Jest have, carry their clock; others show by and by.
 */
let immediatesFire: boolean | undefined =
  hostSetImmediate !== undefined && 'clock' in hostSetImmediate ? false : undefined
/** Messages that a port of Node delivers in a row before it lets anything else happen, and as many again. */
const messagesInARow = 2_000

/**
 * Lets the host do all its work, sockets included. A turn does not:  Node delivers a thousand messages of a port
 * before it looks at a socket. Where an immediate may be fake, it takes enough turns for a real one to fire.
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

/** A number that is the same as long as the host does one thing: before it looks at its sockets again. */
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
  // Only Node's ports know it.
  const known = port as Partial<Record<typeof how, () => void>>
  known[how]?.()
}

/** A value that asynchronous work carries along, whatever it awaits. */
export interface HostContext<T> {
  run<R>(value: T, work: () => R): R
  getStore(): T | undefined
}

type ContextClass = new <T>() => HostContext<T>

/** An asynchronous context of the host's own; `undefined` where there is none, as in browsers. */
export function hostContext<T>(): HostContext<T> | undefined {
  const hooks = builtin('async_hooks') as { AsyncLocalStorage?: ContextClass } | undefined
  return hooks?.AsyncLocalStorage && new hooks.AsyncLocalStorage<T>()
}

/** Where parts of the host report what they do, by the name of a channel. */
export interface HostChannels {
  subscribe(channel: string, hear: (message: unknown) => void): void
  unsubscribe(channel: string, hear: (message: unknown) => void): void
}

/** `undefined` where there are none, as in browsers. */
export function hostChannels(): HostChannels | undefined {
  return builtin('diagnostics_channel') as HostChannels | undefined
}

function builtin(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  return process?.getBuiltinModule?.(name)
}
