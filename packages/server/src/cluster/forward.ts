import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestOf } from 'node:http'
import { Agent as HttpsAgent, request as secureRequestOf } from 'node:https'
import { Readable } from 'node:stream'
import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { hostClearTimeout, hostSetTimeout } from '../../../../src/kernel/host.js'
import { ConnectionBroken, type HeaderList, headerOf } from '../../../../src/kernel/http.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import { endToEnd } from '../listener.js'
import type { Signer } from './node-signature.js'
import type { Watched } from './owner-watch.js'
import { passHeader } from './pass-header.js'
import type { ClusterNode } from './tenant-lease.js'

/** Header of a response that a node sends itself because the tenant did not respond. The value is the reason. */
export const nodeHeader = 'stuntdouble-node'

/** Values of the header `stuntdouble-node` in a response to a forwarded request. */
type NodeWord = 'elsewhere' | 'refused' | `broken ${ConnectionBroken['code']}`

/** The other node was not reachable or does not own the tenant. The request has not run. */
export class NotTaken extends Error {}

/** The request was sent, and there was no response. It may or may not have run. */
export class NoResponse extends Error {}

/** Timeout for connecting to another node, in milliseconds of host time. */
const dialing = 1_000
/**
 * Timeout of idle connections, in milliseconds of host time. Servers close idle connections later. No request is
 * therefore sent on a connection that the server is closing.
 */
const idle = 20_000

/** Maximum bytes of the head of a response. No response of a tenant has a longer head. */
export const maxHead = 1_048_576

/** Forwards requests to the nodes that own their tenants. */
export class Forwarder {
  readonly #signer: Signer
  readonly #agents = { 'http:': new HttpAgent(keeping), 'https:': new HttpsAgent(keeping) }

  constructor(signer: Signer) {
    this.#signer = signer
  }

  /**
   * Forwards a request to another node and returns its response. Event streams are passed on as they arrive.
   * @param watched its signal aborts when `node` no longer owns the tenant; the response of `node` is then ignored
   * @throws NotTaken, NoResponse, or ConnectionBroken if the tenant breaks the connection
   */
  async forward(call: RawRequest, target: string, node: ClusterNode, watched: Watched): Promise<RawResponse> {
    const request = this.#request(call, target, node, await call.body())
    const { signal } = watched
    const signals = call.signal === undefined ? [signal] : [signal, call.signal]
    const give = (): void => void request.destroy(new NoResponse('the other node no longer owns this tenant'))
    request.once('close', () => {
      for (const each of signals) each.removeEventListener('abort', give)
      watched.end()
    })
    if (signals.some(({ aborted }) => aborted)) give()
    else for (const each of signals) each.addEventListener('abort', give)
    return await answerOf(await answered(request), call.method)
  }

  #request({ method, headers }: RawRequest, target: string, { id, address }: ClusterNode, body: Bytes): ClientRequest {
    const signature = this.#signer.sign({ method, target, headers, body }, id)
    const url = new URL(address)
    const isSecure = url.protocol === 'https:'
    const own: HeaderList = [...hostOf(headers, url), [passHeader, signature], ...lengthOf(method, body)]
    const request = (isSecure ? secureRequestOf : requestOf)({
      agent: this.#agents[isSecure ? 'https:' : 'http:'],
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port || (isSecure ? 443 : 80),
      method,
      path: target,
      headers: [...headers, ...own].flat(),
      maxHeaderSize: maxHead,
    })
    request.end(body, 'latin1')
    return request
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }
}

const keeping = { keepAlive: true, timeout: idle, maxFreeSockets: 256 }

/** Resolves when the head of the response has arrived. */
function answered(request: ClientRequest): Promise<IncomingMessage> {
  let isConnected = false
  return new Promise((resolve, reject) => {
    const late = hostSetTimeout(() => {
      if (!isConnected) request.destroy(new NotTaken(`The node did not accept a connection within ${dialing} ms.`))
    }, dialing)
    request.once('socket', (socket) => {
      if (!socket.connecting) isConnected = true
      else
        socket.once('connect', () => {
          isConnected = true
        })
    })
    request.once('response', (response) => {
      hostClearTimeout(late)
      resolve(response)
    })
    request.on('error', (error) => {
      hostClearTimeout(late)
      if (error instanceof NotTaken || error instanceof NoResponse) reject(error)
      else reject(new (isConnected ? NoResponse : NotTaken)(error.message, { cause: error }))
    })
  })
}

/**
 * Returns the response to pass on. A response of known length is read completely first, because an incomplete response
 * must not be passed on.
 */
async function answerOf(response: IncomingMessage, method: string): Promise<RawResponse> {
  const status = response.statusCode ?? 502
  const { headers, bodyLength } = endToEnd(response.rawHeaders)
  const word = headerOf(headers, nodeHeader) as NodeWord | undefined
  if (word?.startsWith('broken ')) {
    response.resume()
    throw new ConnectionBroken(
      word.slice('broken '.length) as ConnectionBroken['code'],
      'the owner broke the connection',
    )
  }
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  if (bodyLength === undefined && !isEmpty && word === undefined) {
    return { status, headers, body: Readable.toWeb(response) as ReadableStream<Uint8Array> }
  }
  const body = await read(response)
  if (word === 'elsewhere') throw new NotTaken('The other node does not own the tenant.')
  if (word === 'refused') throw new NotTaken(`The other node rejects the signature of this node: ${body}`)
  return { status, headers, body: isEmpty ? null : body }
}

function read(response: IncomingMessage): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    let body = ''
    response.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1')
    })
    response.on('end', () => resolve(latin1(body)))
    response.on('error', (cause) => reject(new NoResponse(cause.message, { cause })))
    response.on('close', () => {
      if (!response.complete) reject(new NoResponse('The connection broke during the response.'))
    })
  })
}

function lengthOf(method: string, body: Bytes): HeaderList {
  return body === '' && /^(?:GET|HEAD|DELETE|OPTIONS)$/.test(method) ? [] : [['content-length', String(body.length)]]
}

/**
 * Returns a `Host` header for a request that has none, because HTTP 1.0 does not require it. The value is the host of
 * the other node.
 */
function hostOf(headers: HeaderList, { host }: URL): HeaderList {
  return headerOf(headers, 'host') === undefined ? [['host', host]] : []
}
