import { type HostContext, hostChannels, hostContext } from '../../kernel/host.js'
import type { HeaderList } from '../../kernel/http.js'

// Keeps repeated response headers separate, as the service does. `fetch` joins the values of a header that occurs
// several times. The separate values are available from the diagnostics channels of Node.js.

interface ReceivedLines {
  lines: HeaderList
}

let context: HostContext<ReceivedLines> | undefined
/**
 * Number of `fetch` calls in progress. If it is 0, no listener is registered at the diagnostics channels of Node.js.
 */
let calls = 0
const byRequest = new WeakMap<object, ReceivedLines>()

/**
 * Makes one `fetch` call. `lines` contains the response headers as received. It is empty if the runtime does not
 * provide them.
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
 * Stores the received headers of a response: a list in which names and values alternate. The `fetch` call is found by
 * its request object. Its asynchronous context cannot be used, because the event may fire in the context of another
 * call on the same connection.
 */
function answered(message: unknown): void {
  const { request, response } = message as { request: object; response: { headers: readonly Uint8Array[] } }
  const heard = byRequest.get(request)
  if (heard === undefined) return
  const parts = response.headers.map((bytes) => String.fromCharCode(...bytes))
  heard.lines = parts.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), parts[at + 1] ?? ''] as const] : []))
}

/** Returns the headers of a response. Values that `fetch` joined are separate again. */
export function parted(headers: HeaderList, lines: HeaderList): HeaderList {
  return headers.flatMap(([name, value]) => {
    const own = lines.filter(([other]) => other === name)
    const isJoined = own.length > 1 && own.map(([, one]) => one).join(', ') === value
    return isJoined ? own : [[name, value] as const]
  })
}
