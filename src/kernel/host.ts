// These host functions are read when the module loads, so that fake timers of a test never affect virtual clocks.
const hostDate: () => number = Date.now.bind(Date)
let told = Number.NEGATIVE_INFINITY

/**
 * Returns system time in milliseconds since the epoch.
 * If system time goes back, the result stays the same until system time catches up. All sandboxes of the process share
 * the result, so that no client sees time go back.
 */
export function hostTime(): number {
  told = Math.max(told, hostDate())
  return told
}

export const hostSetTimeout: typeof globalThis.setTimeout = globalThis.setTimeout
export const hostClearTimeout: typeof globalThis.clearTimeout = globalThis.clearTimeout
const hostSetImmediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate

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

/**
 * Waits for one turn of the host's event loop. Fake timers replace all functions that can wait for a turn, except
 * message ports. So this function uses a message port.
 */
export function hostTurn(): Promise<void> {
  // Node.js loads twenty modules when this global is read, so it is not read when the module loads.
  const { MessageChannel } = globalThis
  if (MessageChannel === undefined) return new Promise((resolve) => hostSetTimeout(resolve, 0))
  turns ??= openTurns(new MessageChannel())
  const { receiver, sender, waiters } = turns
  return new Promise((resolve) => {
    // The port is referenced only while code waits for a turn, so that it does not keep an idle process alive.
    if (waiters.push(resolve) === 1) hold(receiver, 'ref')
    sender.postMessage(null)
  })
}

/**
 * Whether `setImmediate`, as this module read it, is the host's own function; `undefined` until this is known. If fake
 * timers were already installed, this module read their `setImmediate`, which fires only on demand. The fakes of
 * @sinonjs/fake-timers, which Vitest and Jest use, have a property `clock`. `hostPause()` recognizes other fakes,
 * because they do not fire.
 */
let immediatesFire: boolean | undefined =
  hostSetImmediate !== undefined && 'clock' in hostSetImmediate ? false : undefined
/**
 * Maximum number of turns to wait for `setImmediate` before it counts as fake. Node.js delivers 1,000 messages of a
 * port before it does other work, so the real `setImmediate` fires earlier.
 */
const messagesInARow = 2_000

/**
 * Lets the host do all its work, including sockets. One turn is not enough, because Node.js delivers a thousand
 * messages of a port before it reads a socket. If `setImmediate` may be fake, this function waits for at most as many
 * turns as the real `setImmediate` needs to fire.
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

/**
 * Returns a number that stays the same until the host has done all its other work, such as reading its sockets.
 * Afterwards, the number is higher.
 */
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
  // Ports of other hosts have no `ref` and `unref`.
  const known = port as Partial<Record<typeof how, () => void>>
  known[how]?.()
}

/** Gives a value to all code that `work` starts, also after `await`, like `AsyncLocalStorage` of Node.js. */
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

/** Diagnostics channels, through which parts of the host report what they do. */
export interface HostChannels {
  subscribe(channel: string, hear: (message: unknown) => void): void
  unsubscribe(channel: string, hear: (message: unknown) => void): void
}

/** Returns the diagnostics channels of the host, or `undefined` if the host has none, as in browsers. */
export function hostChannels(): HostChannels | undefined {
  return builtin('diagnostics_channel') as HostChannels | undefined
}

/** Returns a module of Node.js without an import, or `undefined` if the host has none, as in browsers. */
export function builtin(name: string): unknown {
  return hostProcess()?.getBuiltinModule?.(name)
}

interface HostProcess {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: () => string
  readonly getBuiltinModule?: (name: string) => unknown
}

/** Browsers have no `process`, and neither has a Cloudflare Worker without the flag `nodejs_compat`. */
function hostProcess(): HostProcess | undefined {
  return (globalThis as { process?: HostProcess }).process
}

/**
 * Returns variables of the environment. Returns `undefined` if the host has no environment, or does not permit to read
 * these variables, like Deno without `--allow-env`.
 */
export function hostVariables<Name extends string>(
  ...names: readonly Name[]
): Readonly<Partial<Record<Name, string>>> | undefined {
  try {
    const env = hostProcess()?.env
    return env && (Object.fromEntries(names.map((name) => [name, env[name]])) as Partial<Record<Name, string>>)
  } catch {
    return undefined
  }
}

/** Returns the working directory, or `undefined` if the host has none or does not permit to read it. */
export function hostDirectory(): string | undefined {
  try {
    return hostProcess()?.cwd?.()
  } catch {
    return undefined
  }
}
