import { type HostContext, hostChannels, hostContext } from '../../kernel/host.js'
import type { HeaderList } from '../../kernel/http.js'

// `fetch` joins the values of a header that occurs several times, but the service keeps them separate. Node.js
// publishes the separate values on its diagnostics channels.

interface ReceivedLines {
  lines: HeaderList
}

let context: HostContext<ReceivedLines> | undefined
/** Number of calls in progress. The diagnostics channels of Node.js have a listener only while there are any. */
let calls = 0
const byRequest = new WeakMap<object, ReceivedLines>()

/**
 * Makes one `fetch` call. `lines` are the headers of the response as received; the list is empty if the host does not
 * report them.
 */
export async function withLines(
  call: () => Promise<Response>,
): Promise<{ readonly response: Response; readonly lines: HeaderList }> {
  context ??= hostContext()
  const channels = hostChannels()
  if (context === undefined || channels === undefined) return { response: await call(), lines: [] }
  const heard: ReceivedLines = { lines: [] }
  if (calls++ === 0) {
    channels.subscribe('undici:request:create', created)
    channels.subscribe('undici:request:headers', answered)
  }
  try {
    const response = await context.run(heard, call)
    return { response, lines: heard.lines }
  } finally {
    if (--calls === 0) {
      channels.unsubscribe('undici:request:create', created)
      channels.unsubscribe('undici:request:headers', answered)
    }
  }
}

function created(message: unknown): void {
  const heard = context?.getStore()
  if (heard !== undefined) byRequest.set((message as { request: object }).request, heard)
}

/**
 * Stores the header lines of a response, in which names and values alternate. They are found by the request, because
 * the event may fire in the asynchronous context of another call on the same connection.
 */
function answered(message: unknown): void {
  const { request, response } = message as { request: object; response: { headers: readonly Uint8Array[] } }
  const heard = byRequest.get(request)
  if (heard === undefined) return
  const parts = response.headers.map((bytes) => String.fromCharCode(...bytes))
  heard.lines = parts.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), parts[at + 1] ?? ''] as const] : []))
}

/** Returns the headers of a response, with joined lines of one name separated again. */
export function parted(headers: HeaderList, lines: HeaderList): HeaderList {
  return headers.flatMap(([name, value]) => {
    const own = lines.filter(([other]) => other === name)
    const isJoined = own.length > 1 && own.map(([, one]) => one).join(', ') === value
    return isJoined ? own : [[name, value] as const]
  })
}
