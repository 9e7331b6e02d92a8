import { readSaid, type Said } from './messages.ts'

// A run has a frame of its own: no origin, no network, no storage, and gone when the run is over. In it a worker runs the
// code, so that a loop without end holds up nobody. Chromium gives such a frame a process of its own: code that takes all
// memory ends that, and the page, which hears nothing of it, stops waiting. Elsewhere it may end the page, too.

/** Milliseconds that code may take. */
export const limit = 10_000

/** Milliseconds until the core must have begun: a slow machine's start is not the code's time. */
const startLimit = 30_000

/** Messages of a run, and characters of all of them: more than a story has. */
const most = 250
const maxCharacters = 8_000_000

const policy = "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:"

const script = `
addEventListener('message', ({ source, data: { core, code, limit, startLimit, most, mostCharacters } }) => {
  if (source !== parent) return
  const url = URL.createObjectURL(new Blob([core], { type: 'text/javascript' }))
  // Chromium starts no module worker without an origin, but lets any worker import a module.
  const first = 'onmessage = ({ data }) => import(data.core).then(({ begin }) => { postMessage("begun"); begin(data.code, data.core) })'
  const worker = new Worker(URL.createObjectURL(new Blob([first], { type: 'text/javascript' })))
  const tell = (said) => parent.postMessage(typeof said === 'string' ? said : JSON.stringify(said), '*')
  const end = (why) => { worker.terminate(); clearTimeout(timer); tell({ kind: 'ended', why }) }
  let timer = setTimeout(end, startLimit, 'time')
  let hasBegun = false
  let messages = 0
  let characters = 0
  worker.onmessage = ({ data }) => {
    // The first message comes before the code does.
    if (!hasBegun) {
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(end, limit, 'time')
      tell('"begun"')
    } else if (++messages > most || typeof data !== 'string' || (characters += data.length) > mostCharacters) end('flood')
    else tell(data)
  }
  worker.onerror = ({ message }) => tell({ kind: 'broken', text: String(message || 'The worker could not start.') })
  worker.postMessage({ code, core: url })
}, { once: true })
parent.postMessage('"ready"', '*')
`

/** A run that is under way. */
export interface Running {
  /** Resolves when it is over, whichever way. */
  readonly over: Promise<void>
  end(): void
}

/**
 * Runs code in a fresh frame.
 * @param core the text of the module that worker.ts is built into
 * @param hear what the run says, as it comes
 */
export function runInFrame(code: string, core: string, place: HTMLElement, hear: (said: Said) => void): Running {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.title = 'The run'
  frame.hidden = true
  frame.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><script>${script}</script>`
  let resolve = (): void => {}
  const over = new Promise<void>((done) => {
    resolve = done
  })
  const end = (): void => {
    window.removeEventListener('message', listen)
    clearTimeout(timer)
    frame.remove()
    resolve()
  }
  // The frame keeps the limits; these are for a frame that does not, or is no more.
  const giveUp = (): void => {
    hear({ kind: 'ended', why: 'silence' })
    end()
  }
  let timer = setTimeout(giveUp, startLimit + limit + 2_000)
  let hasBegun = false
  const listen = ({ source, data }: MessageEvent): void => {
    if (source !== frame.contentWindow) return
    // Its origin is opaque, so it cannot be named.
    if (data === '"ready"')
      frame.contentWindow?.postMessage({ core, code, limit, startLimit, most, mostCharacters: maxCharacters }, '*')
    // The frame says it before any word of the code, which may say it, too.
    if (data === '"begun"' && !hasBegun) {
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(giveUp, limit + 2_000)
    }
    const said = readSaid(data)
    if (said === undefined) return
    hear(said)
    if (said.kind !== 'printed') end()
  }
  window.addEventListener('message', listen)
  place.append(frame)
  return { over, end }
}
