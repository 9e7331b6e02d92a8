import { type Message, readMessage } from './messages.ts'

// Each run has its own frame, which has no origin, network or storage and is removed after the run. A worker in the frame
// runs the code, so that an endless loop does not block the page. Chromium gives the frame its own process. If the code
// uses all memory, only that process crashes, and the page stops waiting. In other browsers, the page may crash as well.

/** Maximum duration of a run, in milliseconds. */
export const limit = 10_000

/** Maximum time in milliseconds to start the worker. It does not count as time of the code. */
const startLimit = 30_000

/** Maximum number of messages of a run, and of characters in all of them. A timeline needs fewer. */
const maxMessages = 250
const maxCharacters = 8_000_000

const policy = "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:"

const script = `
addEventListener('message', ({ source, data: { core, code, limit, startLimit, maxMessages, maxCharacters } }) => {
  if (source !== parent) return
  const url = URL.createObjectURL(new Blob([core], { type: 'text/javascript' }))
  // Chromium does not start a module worker without an origin, but any worker can import a module.
  const first = 'onmessage = ({ data }) => import(data.core).then(({ begin }) => { postMessage("begun"); begin(data.code, data.core) })'
  const worker = new Worker(URL.createObjectURL(new Blob([first], { type: 'text/javascript' })))
  const send = (message) => parent.postMessage(typeof message === 'string' ? message : JSON.stringify(message), '*')
  const end = (reason) => { worker.terminate(); clearTimeout(timer); send({ kind: 'ended', reason }) }
  let timer = setTimeout(end, startLimit, 'time')
  let hasBegun = false
  let messages = 0
  let characters = 0
  worker.onmessage = ({ data }) => {
    // The worker sends the first message before it runs the code.
    if (!hasBegun) {
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(end, limit, 'time')
      send('"begun"')
    } else if (++messages > maxMessages || typeof data !== 'string' || (characters += data.length) > maxCharacters) end('flood')
    else send(data)
  }
  worker.onerror = ({ message }) => send({ kind: 'broken', text: String(message || 'The worker could not start. Reload the page.') })
  worker.postMessage({ code, core: url })
}, { once: true })
parent.postMessage('"ready"', '*')
`

/** A run that has started. */
export interface Running {
  /** Resolves when the run has ended for any reason. */
  readonly ended: Promise<void>
  end(): void
}

/**
 * Runs code in a fresh frame.
 * @param core source of the module that is built from worker.ts
 * @param show receives each message of the run
 */
export function runInFrame(code: string, core: string, place: HTMLElement, show: (message: Message) => void): Running {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.title = 'Run of the code'
  frame.hidden = true
  frame.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><script>${script}</script>`
  let resolve = (): void => {}
  const ended = new Promise<void>((done) => {
    resolve = done
  })
  const end = (): void => {
    window.removeEventListener('message', listen)
    clearTimeout(timer)
    frame.remove()
    resolve()
  }
  // The frame applies the limits. These timers end the run if the frame does not, for example because it has crashed.
  const giveUp = (): void => {
    show({ kind: 'ended', reason: 'silence' })
    end()
  }
  let timer = setTimeout(giveUp, startLimit + limit + 2_000)
  let hasBegun = false
  const listen = ({ source, data }: MessageEvent): void => {
    if (source !== frame.contentWindow) return
    // The origin of the frame is opaque, so a message to it cannot name an origin.
    if (data === '"ready"')
      frame.contentWindow?.postMessage({ core, code, limit, startLimit, maxMessages, maxCharacters }, '*')
    // The frame sends this message before the code runs. The code could send it again.
    if (data === '"begun"' && !hasBegun) {
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(giveUp, limit + 2_000)
    }
    const message = readMessage(data)
    if (message === undefined) return
    show(message)
    if (message.kind !== 'printed') end()
  }
  window.addEventListener('message', listen)
  place.append(frame)
  return { ended, end }
}
