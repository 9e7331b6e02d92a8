import type { IncomingMessage } from 'node:http'
import { hostTime } from '../../../../src/kernel/host.js'
import { ConnectionBroken, type HeaderList, headerOf } from '../../../../src/kernel/http.js'
import { json } from '../../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import { endToEnd, targetOf } from '../listener.js'
import type { Tenants } from '../tenants.js'
import { elsewhere, refused, unavailable } from './cluster-rejections.js'
import { StoreUnreachable } from './cluster-store.js'
import { withCommits } from './committed-stream.js'
import { type Forwarder, NoResponse, NotTaken, nodeHeader } from './forward.js'
import type { JournaledSandbox } from './journaled-sandbox.js'
import type { PassageHead, Verifier } from './node-signature.js'
import type { OwnedTenant } from './owned-tenant.js'
import type { OwnerWatch } from './owner-watch.js'
import { CannotOpen, type Ownership, type TenantLocation } from './ownership.js'
import { passHeader } from './pass-header.js'
import { type ClusterNode, NotOwner } from './tenant-lease.js'

export interface RouterParts {
  readonly tenants: Tenants
  readonly ownership: Ownership<JournaledSandbox>
  readonly forwarder: Forwarder
  readonly verifier: Verifier
  readonly watch: OwnerWatch
  /** This node. */
  readonly node: ClusterNode
  /** Returns whether a tenant is saved, even if no node owns it now. */
  readonly exists: (tenant: string) => Promise<boolean>
  /** Maximum number of tenants on this node. At this limit, no new tenants are created. */
  readonly most: number
  /** Timeout for finding the owner of a tenant, in milliseconds of host time. */
  readonly patience: number
}

const noCluster =
  'A tenant of a cluster cannot have the name "cluster", because GET /_control/cluster returns the nodes. Use another name. Nothing was done.'

const noFork =
  'fork: a cluster saves each tenant as its own inputs, but a fork also needs the inputs of another tenant. Load the response of GET /_control/{tenant}/state into a server without --cluster, and fork the tenant there.'

/**
 * Passes a request to its tenant if this node owns the tenant. Otherwise forwards the request to the node that owns the
 * tenant.
 */
export class RequestRouter {
  readonly #parts: RouterParts

  constructor(parts: RouterParts) {
    this.#parts = parts
  }

  /** Returns the response to a request after its effects are saved. */
  async exchange(call: RawRequest): Promise<RawResponse> {
    const { verifier } = this.#parts
    const signature = headerOf(call.headers, passHeader)
    if (signature === undefined) return await this.#entered(call, false)
    const verdict = verifier.verify(signature, { ...this.#passageOf(call), body: await call.body() })
    if ('wrong' in verdict) return refused(verdict.wrong)
    return await this.#passedOn(withHeaders(call, verdict.headers))
  }

  /**
   * Returns whether another node has admitted and forwarded a request. The body of the request may not have arrived
   * yet.
   */
  isPassed(request: IncomingMessage): boolean {
    const signature = request.headers[passHeader]
    if (typeof signature !== 'string') return false
    const head = { method: request.method ?? 'GET', target: targetOf(request) }
    const { headers } = endToEnd(request.rawHeaders)
    return this.#parts.verifier.wrongWith(signature, { ...head, headers: withoutPass(headers) }) === undefined
  }

  #passageOf(call: RawRequest): PassageHead {
    const { method, headers } = call
    return { method, target: this.#parts.tenants.targetOf(call), headers: withoutPass(headers) }
  }

  /**
   * Responds to a forwarded request. If the tenant breaks the connection, the response makes the forwarding node break
   * the connection to its client.
   */
  async #passedOn(call: RawRequest): Promise<RawResponse> {
    try {
      return await this.#entered(call, true)
    } catch (error) {
      if (!(error instanceof ConnectionBroken)) throw error
      return { status: 502, headers: [[nodeHeader, `broken ${error.code}`]], body: null }
    }
  }

  /**
   * Returns the response to a request that is rejected before its body is read, otherwise `undefined`. A request with a
   * token is not rejected here, because only the owner of the tenant knows all valid tokens. A forwarded request is
   * rejected if its signature is invalid.
   */
  turnsAway(call: RawRequest): RawResponse | Promise<RawResponse> | undefined {
    const { tenants, verifier } = this.#parts
    const signature = headerOf(call.headers, passHeader)
    if (signature !== undefined) {
      const wrong = verifier.wrongWith(signature, this.#passageOf(call))
      return wrong === undefined ? undefined : refused(wrong)
    }
    const isForOthers = headerOf(call.headers, 'authorization') !== undefined || call.url.includes('?')
    return isForOthers ? undefined : tenants.turnsAway(call)
  }

  async #entered(call: RawRequest, isPassed: boolean): Promise<RawResponse> {
    const { tenants, most, exists } = this.#parts
    const own = await this.#ofNode(call)
    if (own !== undefined) return own
    const tenant = tenants.nameOf(call)
    if (tenant === undefined) return await tenants.exchange(call)
    if (tenant === 'cluster') return json({ error: noCluster }, 400)
    try {
      // If the tenant does not exist and the request must not create it, let the server respond with the error.
      const isKnown = tenants.has(tenant) || tenants.mayMake(call, tenant) || (await exists(tenant))
      if (!isKnown) return await tenants.exchange(call)
      if (tenants.names.length >= most && !tenants.has(tenant) && !(await exists(tenant)))
        return json({ error: tooMany(most) }, 503)
      return await this.#found(tenant, call, isPassed)
    } catch (error) {
      // The request has not run. The node that forwarded it searches for the new owner, or takes the tenant over.
      if (isPassed && error instanceof NotOwner) return elsewhere()
      return unavailable(error)
    }
  }

  /** Returns the response to a request about the node or the cluster; `undefined` for a request to a tenant. */
  async #ofNode(call: RawRequest): Promise<RawResponse | undefined> {
    const { tenants, ownership, node } = this.#parts
    const [path = ''] = tenants.targetOf(call).split(/[?#]/)
    const list = /^\/_control(\/(?:cluster\/?)?)?$/.exec(path)
    if (list === null || call.method !== 'GET') return undefined
    if (!tenants.mayControl(call)) return undefined
    try {
      const description = await ownership.describe()
      if (list[1]?.startsWith('/cluster')) return json({ node: node.id, ...description })
      return json({ tenants: description.tenants.map(({ name }) => name) })
    } catch (error) {
      return unavailable(error)
    }
  }

  async #found(tenant: string, call: RawRequest, isPassed: boolean): Promise<RawResponse> {
    const { patience } = this.#parts
    const until = hostTime() + patience
    for (let again = false; ; again = true) {
      const found = await this.#where(tenant, call, again)
      if (found === 'to be dropped') return await this.#dropped(tenant)
      if ('own' in found) {
        return await this.#served(found.own, tenant, call)
      } else if (isPassed) return elsewhere()
      else {
        try {
          return await this.#handedOn(tenant, call, found.node)
        } catch (error) {
          if (!(error instanceof NotTaken)) throw error
          if (hostTime() >= until) throw error
        }
      }
    }
  }

  /**
   * Returns the location of a tenant. For a request that deletes the tenant, this method may return `to be dropped`
   * instead. Such a request succeeds even if the journal cannot be replayed or the last changes cannot be saved.
   */
  async #where(
    tenant: string,
    call: RawRequest,
    again: boolean,
  ): Promise<TenantLocation<JournaledSandbox> | 'to be dropped'> {
    const { ownership, tenants } = this.#parts
    const isDropped = orderOf(call, tenants.targetOf(call)) === 'drop'
    if (isDropped && ownership.owns(tenant)) return 'to be dropped'
    try {
      return await ownership.where(tenant, again ? { again } : {})
    } catch (error) {
      if (isDropped && error instanceof CannotOpen) return 'to be dropped'
      throw error
    }
  }

  async #dropped(tenant: string): Promise<RawResponse> {
    await this.#parts.ownership.drop(tenant).catch((cause: Error) => {
      throw cause instanceof StoreUnreachable ? new NoResponse(cause.message, { cause }) : cause
    })
    return json({ dropped: true })
  }

  #handedOn(tenant: string, call: RawRequest, node: ClusterNode): Promise<RawResponse> {
    const { forwarder, watch, tenants } = this.#parts
    return forwarder.forward(call, tenants.targetOf(call), node, watch.on(tenant, node))
  }

  async #served(own: OwnedTenant<JournaledSandbox>, tenant: string, call: RawRequest): Promise<RawResponse> {
    const { tenants } = this.#parts
    const target = tenants.targetOf(call)
    const order = orderOf(call, target)
    if (order === 'fork') return json({ error: noFork }, 400)
    if (order === 'drop') return await this.#dropped(tenant)
    const { full } = own.world
    if (full !== undefined && !/^\/_control\/[^/?#]+\/(?:reset|state)(?:[/?#]|$)/.test(target))
      return json({ error: full }, 507)
    // Do nothing if the client disconnected while this node searched for the owner.
    if (call.signal?.aborted) throw new NotTaken('The client has disconnected.')
    tenants.serve(tenant, own.world.sandbox)
    try {
      const answer = await tenants.exchange(call)
      await committed(own)
      return withCommits(withoutNodeWords(answer), own)
    } catch (error) {
      // Save what happened before the connection broke.
      if (error instanceof ConnectionBroken) await committed(own)
      throw error
    }
  }
}

function withoutPass(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => name.toLowerCase() !== passHeader)
}

/** Removes the header with which a node marks its own responses. A tenant must not send this header. */
function withoutNodeWords(answer: RawResponse): RawResponse {
  if (headerOf(answer.headers, nodeHeader) === undefined) return answer
  return { ...answer, headers: answer.headers.filter(([name]) => name.toLowerCase() !== nodeHeader) }
}

function tooMany(most: number): string {
  return `This node has ${most} tenants, which is its limit. Drop one with DELETE /_control/NAME, or start the nodes with a larger --max-tenants. Nothing was done.`
}

async function committed(own: OwnedTenant<JournaledSandbox>): Promise<void> {
  await own.commit().catch((cause: Error) => {
    throw new NoResponse(cause.message, { cause })
  })
}

/**
 * Returns the operation that a request asks for, if the node must run it instead of the tenant's sandbox. Otherwise
 * returns `undefined`.
 */
function orderOf({ method }: RawRequest, target: string): 'drop' | 'fork' | undefined {
  if (method === 'DELETE' && /^\/_control\/[^/?#]+\/*(?:[?#]|$)/.test(target)) return 'drop'
  return method === 'POST' && /^\/_control\/[^/?#]+\/fork\/*(?:[?#]|$)/.test(target) ? 'fork' : undefined
}

function withHeaders(call: RawRequest, headers: RawRequest['headers']): RawRequest {
  return {
    method: call.method,
    url: call.url,
    headers,
    body: () => call.body(),
    get signal() {
      return call.signal
    },
  }
}
