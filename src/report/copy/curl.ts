import { type Bytes, latin1, toBase64, utf8 } from '../../kernel/bytes.js'
import { copyDialectOf, partsOf, variablesNote, variablesOf } from './copied-secrets.js'
import { bashWord } from './quoting.js'
import { baseOf, type CopyContext, type CopySelection, entryOf } from './selection.js'
import { type Sent, sentBy } from './sent.js'

/** Headers of a connection. curl adds them itself. */
const ownOfConnection = new Set([
  ...['host', 'content-length', 'connection', 'transfer-encoding', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer'],
  ...['accept-encoding', 'proxy-connection'],
])
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Maximum number of bytes in one argument of a program. The limit of Linux is higher. */
const maxArgument = 100_000

/**
 * Returns a bash command that sends a request, a delivery or an outbound request again. Comment lines in it state which
 * parts curl cannot send.
 */
export function curlOf(selection: CopySelection, context: CopyContext): string {
  const entry = entryOf(selection)
  if (entry === undefined) return '# The entry does not exist.'
  const sent = sentBy(entry, selection, context)
  if (!token.test(sent.method)) return '# The method of this request is not a valid HTTP token, so curl cannot send it.'
  if (!/^https?:\/\//i.test(sent.url)) return '# The URL of this request does not begin with http:// or https://.'
  return commandOf(sent, context)
}

function commandOf(sent: Sent, context: CopyContext): string {
  const notes = sent.database === undefined ? [] : [variablesNote(sent.database)]
  const variables = variablesOf(sent.service, copyDialectOf(sent.headers, context))
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
  // The captured text may itself contain `***`. So `***` is the default value of the variable `SECRET`.
  const named = variable === 'SECRET' ? `"\${SECRET:-***}"` : `"$${variable}"`
  const words = partsOf(text, variable).map((part) =>
    'variable' in part ? named : latin ? bashWord(headerBytes(part.text), true) : bashWord(part.text),
  )
  return words.join('') || "''"
}

/**
 * Returns the URL with a variable instead of its base URL. The command then uses the server that the environment names.
 */
function urlWord({ url, service, database }: Sent, { url: variable }: { url?: string }, context: CopyContext): string {
  const known = service === undefined ? undefined : baseOf(service, database, context)
  const legal = (text: string): string => text.replace(/[^\x21-\x7e]+|["\\^`{|}<>]/g, percent)
  if (variable !== undefined && known !== undefined && `${url}/`.startsWith(`${known}/`)) {
    const path = url.slice(known.length)
    return `"$${variable}"${path === '' ? '' : withVariables(legal(path), 'SECRET')}`
  }
  return withVariables(legal(url), 'SECRET')
}

function percent(text: string): string {
  return [...utf8(text)].map((byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/**
 * Returns the bytes of a header value. Each character becomes one byte, because programs read a byte of a header as one
 * of the first 256 characters.
 */
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
  if (left > 0) notes.push(`Not included: ${left} header(s) that are not valid in HTTP.`)
  // An empty `Content-Type` prevents curl from adding its default.
  if (hasBody && !headers.some(([name]) => name.toLowerCase() === 'content-type')) args.push("-H 'Content-Type:'")
  return args
}

function bodyArgs({ body: { bytes, text, cut } }: Sent, notes: string[]): { input: string; args: string[] } {
  if (cut !== undefined) notes.push(`Only the first ${bytes.length} of the ${cut} bytes of the body were captured.`)
  if (bytes === '') return { input: '', args: [] }
  if (bytes.length > maxArgument || bytes.includes('\0')) {
    return { input: `printf %s ${bashWord(toBase64(bytes))} | base64 -d | `, args: ['--data-binary @-'] }
  }
  // curl's `--data` would read a file if the text begins with `@`.
  return {
    input: '',
    args: [`--data-raw ${text === undefined ? bashWord(bytes, true) : withVariables(text, 'SECRET')}`],
  }
}
