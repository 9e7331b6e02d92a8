import type { Said } from './messages.ts'
import { play } from './world.ts'

// The reader's code runs here: in a worker of a frame that has no origin and no network. It is not told to whom this
// speaks, and what it prints is bounded.

export * from './world.ts'

const maxLines = 200
const maxLine = 10_000

/**
 * Plays the reader's code and says how it went.
 * @param core where this module is
 */
export function begin(code: string, core: string): void {
  const say = takeVoice()
  let lines = 0
  const print = (...values: unknown[]): void => {
    if (++lines > maxLines) return
    const text = lines === maxLines ? '… and more, which the playground does not show' : values.map(shown).join(' ')
    say({ kind: 'printed', text: text.slice(0, maxLine) })
  }
  Object.assign(console, { log: print, info: print, warn: print, error: print, debug: print })
  const load = (module: string): Promise<unknown> =>
    import(/* @vite-ignore */ URL.createObjectURL(new Blob([module], { type: 'text/javascript' })))
  void play(code, core, load).then(say)
}

/** The way to the frame, which the code does not find any more. */
function takeVoice(): (said: Said) => void {
  const post = (globalThis.postMessage as unknown as (text: string) => void).bind(globalThis)
  for (let holder = globalThis as object | null; holder !== null; holder = Object.getPrototypeOf(holder)) {
    Reflect.deleteProperty(holder, 'postMessage')
  }
  return (said) => post(JSON.stringify(said))
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value, undefined, 2) ?? String(value)
  } catch {
    return String(value)
  }
}
