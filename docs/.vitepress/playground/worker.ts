import { play } from './core.ts'
import type { Message } from './messages.ts'

// Runs the reader's code in a worker of a frame that has no origin and no network. The code cannot find the channel to
// the frame, and its output is limited.

export * from './core.ts'

const maxLines = 200
const maxLine = 10_000

/**
 * Runs the reader's code and sends the result to the frame.
 * @param core URL of this module
 */
export function begin(code: string, core: string): void {
  const send = takeChannel()
  let lines = 0
  const print = (...values: unknown[]): void => {
    if (++lines > maxLines) return
    const text = lines === maxLines ? '… more lines, which the playground does not show' : values.map(shown).join(' ')
    send({ kind: 'printed', text: text.slice(0, maxLine) })
  }
  Object.assign(console, { log: print, info: print, warn: print, error: print, debug: print })
  const load = (module: string): Promise<unknown> =>
    import(/* @vite-ignore */ URL.createObjectURL(new Blob([module], { type: 'text/javascript' })))
  void play(code, core, load).then(send)
}

/** Returns the channel to the frame and hides it from the code. */
function takeChannel(): (message: Message) => void {
  const post = (globalThis.postMessage as unknown as (text: string) => void).bind(globalThis)
  for (let holder = globalThis as object | null; holder !== null; holder = Object.getPrototypeOf(holder)) {
    Reflect.deleteProperty(holder, 'postMessage')
  }
  return (message) => post(JSON.stringify(message))
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value, undefined, 2) ?? String(value)
  } catch {
    return String(value)
  }
}
