import type { Random } from '../../../../src/kernel/random.js'

/** Clock and random numbers of the code that handles one delivery, or of one client. */
export interface Chance {
  readonly random: Random
  /** Returns milliseconds since the Unix epoch. */
  now(): number
}

/** Passes a value to all asynchronous code that `work` starts, as `AsyncLocalStorage` of Node.js does. */
export interface AsyncCarrier<T> {
  run<R>(carried: T, work: () => R): R
  getStore(): T | undefined
}

/**
 * Replaces `Date`, `Math.random()` and the random functions of `crypto`, until the returned function is called. If
 * `current` returns `undefined`, the functions of the host are used.
 * @param caller name of the check, for the error message
 * @throws TypeError on a platform other than Node.js
 */
export function carrier<T>(caller: string): AsyncCarrier<T> {
  const host = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const hooks = host.process?.getBuiltinModule?.('node:async_hooks') as
    | { readonly AsyncLocalStorage: new () => AsyncCarrier<T> }
    | undefined
  if (hooks === undefined)
    throw new TypeError(
      `${caller} requires Node.js 22.3 or later, because it distinguishes deliveries with AsyncLocalStorage.`,
    )
  return new hooks.AsyncLocalStorage()
}

/**
 * Silences the console until the returned function is called. Otherwise every crash plan would print the output of the
 * app again.
 */
export function replaceChance(current: () => Partial<Chance> | undefined): () => void {
  const HostDate = globalThis.Date
  const { crypto } = globalThis
  const hostRandom = Math.random
  const now = (): number => current()?.now?.() ?? HostDate.now()
  const bytes = <A extends ArrayBufferView | null>(array: A): A => {
    const random = current()?.random
    if (random === undefined || array === null)
      return Crypto.prototype.getRandomValues.call(crypto, array as never) as A
    const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    for (let at = 0; at < view.length; at++) view[at] = random.int(256)
    return array
  }
  globalThis.Date = new Proxy(HostDate, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
    apply: () => new HostDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
  Math.random = () => current()?.random?.float() ?? hostRandom()
  Object.defineProperties(crypto, {
    getRandomValues: { value: bytes, configurable: true, writable: true },
    randomUUID: { value: () => uuid(bytes(new Uint8Array(16))), configurable: true, writable: true },
  })
  return () => {
    globalThis.Date = HostDate
    Math.random = hostRandom
    for (const name of ['getRandomValues', 'randomUUID']) Reflect.deleteProperty(crypto, name)
  }
}

function uuid(bytes: Uint8Array): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/**
 * Silences the console until the returned function is called. Otherwise every crash plan would print the same output
 * again.
 */
export function silence(isSilent: () => boolean): () => void {
  const { console } = globalThis
  const names = ['debug', 'error', 'info', 'log', 'warn'] as const
  const before = names.map((name) => console[name])
  for (const [index, name] of names.entries())
    console[name] = (...said: unknown[]) => {
      if (!isSilent()) before[index]!.apply(console, said)
    }
  return () => {
    for (const [index, name] of names.entries()) console[name] = before[index]!
  }
}
