import { type Bytes, latin1, toBase64, utf8 } from '../../kernel/bytes.js'
import type { TraceEntry } from '../trace.js'
import { bashWord } from './quoting.js'
import { hidden, partsOf, variablesOf, wordsOf } from './secrets.js'
import {
  bodyOf,
  type CapturedBody,
  type CopyContext,
  entryOf,
  type Headers,
  headersOf,
  type Selection,
} from './selection.js'

/** What is sent again. */
interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: CapturedBody
  /** Of the services; absent elsewhere. */
  readonly service?: unknown
}

/** Headers of one connection, which curl makes for its own. */
const ownOfConnection = new Set([
  ...['host', 'content-length', 'connection', 'transfer-encoding', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer'],
  ...['accept-encoding', 'proxy-connection'],
])
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Bytes that one argument of a program can have, with room. */
const longestArgument = 100_000

/** A request, delivery or call as a command of bash; lines that begin with `#` say what curl cannot do. */
export function curlOf(selection: Selection, context: CopyContext): string {
  const entry = entryOf(selection)
  if (entry === undefined) return '# There is no such entry.'
  const sent = sentBy(entry, selection, context)
  if (!token.test(sent.method)) return '# The method of this request is no word of HTTP, and curl cannot send it.'
  if (!/^https?:\/\//i.test(sent.url)) return '# The url of this request does not begin with http:// or https://.'
  return commandOf(sent, context)
}

function sentBy(entry: TraceEntry, { entries }: Selection, context: CopyContext): Sent {
  if (entry.type === 'command') return commandRequest(entry, context)
  // What was published by a request is that request again; what was not is delivered as it will be.
  const request = entry.type === 'published' ? entries.find(({ seq }) => seq === entry.cause) : undefined
  if (request?.type === 'request' && !String(request.url).includes('/batch'))
    return sentBy(request, { entries }, context)
  if (entry.type === 'published') return publishRequest(entry, context)
  const { method, url, headers, body, service } = entry
  return {
    method: String(method),
    url: String(url),
    headers: headersOf(headers),
    body: bodyOf(body),
    ...(service !== undefined && { service }),
  }
}

/** A command in the form of the store's REST: a list of words, base64 of none of them. */
function commandRequest({ argv }: TraceEntry, { addresses }: CopyContext): Sent {
  const words = (argv as unknown[]).map((word) => {
    const { bytes, text } = bodyOf(word)
    return text ?? bytes
  })
  return {
    method: 'POST',
    url: addressOf('store', addresses),
    headers: [
      ['Authorization', `Bearer ${hidden}`],
      ['Content-Type', 'application/json'],
    ],
    body: bodyOf(JSON.stringify(words)),
    service: 'store',
  }
}

function publishRequest(entry: TraceEntry, context: CopyContext): Sent {
  const { headerPrefix: prefix } = wordsOf([], context)
  const { method, url, headers, maxRetries, callback, failureCallback, flowControlKey, deduplicationId, labels } = entry
  const own: readonly (readonly [name: string, value: unknown])[] = [
    ['Method', method === 'POST' ? undefined : method],
    ['Retries', maxRetries],
    [
      'Delay',
      Number(entry.notBefore) > entry.at ? `${Math.ceil((Number(entry.notBefore) - entry.at) / 1000)}s` : undefined,
    ],
    ['Callback', callback],
    ['Failure-Callback', failureCallback],
    ['Retry-Delay', entry.retryDelay],
    ['Flow-Control-Key', flowControlKey],
    ['Deduplication-Id', deduplicationId],
    ['Label', Array.isArray(labels) ? labels.join(',') : undefined],
  ]
  const to = entry.queue === undefined ? 'publish' : `enqueue/${encodeURIComponent(String(entry.queue))}`
  return {
    method: 'POST',
    url: `${addressOf('queue', context.addresses)}/v2/${to}/${url}`,
    headers: [
      ['Authorization', `Bearer ${hidden}`],
      ...headersOf(headers).map(([name, value]): [string, string] =>
        name.toLowerCase() === 'content-type' ? [name, value] : [`${prefix}Forward-${name}`, value],
      ),
      ...own.flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[prefix + name, String(value)]],
      ),
    ],
    body: bodyOf(entry.body),
    service: 'queue',
  }
}

function addressOf(service: 'store' | 'queue', addresses: CopyContext['addresses']): string {
  const known = addresses?.[service]
  return typeof known === 'string' ? known : `https://${service}.test`
}

function commandOf(sent: Sent, context: CopyContext): string {
  const notes: string[] = []
  const variables = variablesOf(sent.service, wordsOf(sent.headers, context))
  const { input, args: body } = bodyArgs(sent, notes)
  const method =
    sent.method === 'HEAD'
      ? ['--head']
      : sent.method === 'GET' && body.length === 0
        ? []
        : [`-X ${bashWord(sent.method)}`]
  const parts = [
    `${input}curl -sS --globoff --path-as-is --proto =http,https`,
    ...method,
    `--url ${urlWord(sent, variables, context)}`,
    ...headerArgs(sent, variables.token, body.length > 0, notes),
    ...body,
  ]
  return [...notes.map((note) => `# ${note}`), parts.join(' \\\n  ')].join('\n')
}

function withVariables(text: string, variable: string, latin = false): string {
  // A captured text may have had three stars by itself.
  const named = variable === 'SECRET' ? `"\${SECRET:-***}"` : `"$${variable}"`
  const words = partsOf(text, variable).map((part) =>
    'variable' in part ? named : latin ? bashWord(headerBytes(part.text), true) : bashWord(part.text),
  )
  return words.join('') || "''"
}

/** The address of a service is a variable, too: a copied command goes wherever the environment says. */
function urlWord({ url, service }: Sent, { url: variable }: { url?: string }, { addresses }: CopyContext): string {
  const known = service === undefined ? undefined : addresses?.[String(service)]
  const legal = (text: string): string => text.replace(/[^\x21-\x7e]+|["\\^`{|}<>]/g, percent)
  if (variable !== undefined && typeof known === 'string' && `${url}/`.startsWith(`${known}/`)) {
    const path = url.slice(known.length)
    return `"$${variable}"${path === '' ? '' : withVariables(legal(path), 'SECRET')}`
  }
  return withVariables(legal(url), 'SECRET')
}

function percent(text: string): string {
  return [...utf8(text)].map((byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** Values of headers are bytes, which a program reads as the first 256 characters. */
function headerBytes(text: string): Bytes {
  return /[^\x00-\xff]/.test(text) ? utf8(text) : latin1(text)
}

function headerArgs({ headers, service }: Sent, variable: string, hasBody: boolean, notes: string[]): string[] {
  const args: string[] = []
  let left = 0
  for (const [name, value] of headers) {
    if (ownOfConnection.has(name.toLowerCase())) continue
    if (!token.test(name) || /[\r\n\0]/.test(value)) left++
    else if (value.trim() === '') args.push(`-H ${bashWord(`${name};`)}`)
    else {
      const isOwn = service !== undefined && name.toLowerCase() === 'authorization'
      args.push(`-H ${withVariables(`${name}: ${value}`, isOwn ? variable : 'SECRET', true)}`)
    }
  }
  if (left > 0) notes.push(`Left out: ${left} header(s) that HTTP cannot carry.`)
  // What curl would add of its own.
  if (hasBody && !headers.some(([name]) => name.toLowerCase() === 'content-type')) args.push("-H 'Content-Type:'")
  return args
}

function bodyArgs({ body: { bytes, text, cut } }: Sent, notes: string[]): { input: string; args: string[] } {
  if (cut !== undefined) notes.push(`Only the first ${bytes.length} of the ${cut} bytes of the body are known.`)
  if (bytes === '') return { input: '', args: [] }
  if (bytes.length > longestArgument || bytes.includes('\0')) {
    return { input: `printf %s ${bashWord(toBase64(bytes))} | base64 -d | `, args: ['--data-binary @-'] }
  }
  // Not --data: it reads the file that a text beginning with @ names.
  return {
    input: '',
    args: [`--data-raw ${text === undefined ? bashWord(bytes, true) : withVariables(text, 'SECRET')}`],
  }
}
