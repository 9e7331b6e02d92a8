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
import { type Forwarder, NotTaken, nodeHeader, Unanswered } from './forward.js'
import type { JournaledSandbox } from './journaled-sandbox.js'
import type { PassageHead, Verifier } from './node-signature.js'
import type { OwnedTenant } from './owned-tenant.js'
import type { OwnerWatch } from './owner-watch.js'
import { CannotOpen, type Ownership, type TenantLocation } from './ownership.js'
import { passHeader } from './pass-header.js'
import { type ClusterNode, NotOwner } from './tenant-lease.js'

/** What the front door of a node is made of. */
export interface RouterParts {
  readonly tenants: Tenants
  readonly ownership: Ownership<JournaledSandbox>
  readonly forwarder: Forwarder
  readonly verifier: Verifier
  readonly watch: OwnerWatch
  /** This one. */
  readonly node: ClusterNode
  /** Whether a tenant is kept, although perhaps nobody has it just now. */
  readonly exists: (tenant: string) => Promise<boolean>
  /** New tenants are made as long as this node has fewer. */
  readonly most: number
  /** Host milliseconds in which an owner has to be found. */
  readonly patience: number
}

const noCluster =
  'In a cluster no tenant can have the name "cluster", because GET /_control/cluster tells of the nodes: give it another one. Nothing was done.'

const noFork =
  'A cluster keeps tenants by what came into them, and a fork begins with what came into another one: fork it on a server without --cluster, from GET /_control/{tenant}/state.'

/** Where each request of a node comes in: its tenant is here, or at the node that it is handed on to. */
export class RequestRouter {
  readonly #parts: RouterParts

  constructor(parts: RouterParts) {
    this.#parts = parts
  }

  /** An answer is given when what it tells of is kept. */
  async exchange(call: RawRequest): Promise<RawResponse> {
    const { verifier } = this.#parts
    const signature = headerOf(call.headers, passHeader)
    if (signature === undefined) return await this.#entered(call, false)
    const verdict = verifier.verify(signature, { ...this.#passageOf(call), body: await call.body() })
    if ('wrong' in verdict) return refused(verdict.wrong)
    return await this.#passedOn(withHeaders(call, verdict.headers))
  }

  /** Whether another node has let a request in and handed it on; its body may not be there yet. */
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

  /** A connection that a tenant wants broken is broken where its client is. */
  async #passedOn(call: RawRequest): Promise<RawResponse> {
    try {
      return await this.#entered(call, true)
    } catch (error) {
      if (!(error instanceof ConnectionBroken)) throw error
      return { status: 502, headers: [[nodeHeader, `broken ${error.code}`]], body: null }
    }
  }

  /**
   * The answer for a call whose body is not worth reading. A token that is not known here may be one that the tenant has
   * given to somebody, and its owner judges; what a node hands on it has to have signed.
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
      // A stray request shall not make a tenant; who may not, is told so by the server itself.
      const isKnown = tenants.has(tenant) || tenants.mayMake(call, tenant) || (await exists(tenant))
      if (!isKnown) return await tenants.exchange(call)
      if (tenants.names.length >= most && !tenants.has(tenant) && !(await exists(tenant)))
        return json({ error: tooMany(most) }, 503)
      return await this.#found(tenant, call, isPassed)
    } catch (error) {
      // Nothing was done, and the node that asks finds who has it now, or takes it over itself.
      if (isPassed && error instanceof NotOwner) return elsewhere()
      return unavailable(error)
    }
  }

  /** What a node is asked, and no tenant. */
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

  /** A tenant can be deleted although its journal cannot be played, or what it did last cannot be kept. */
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
      throw cause instanceof StoreUnreachable ? new Unanswered(cause.message, { cause }) : cause
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
    // Whoever has gone while an owner was looked for is told nothing, and nothing is done for them.
    if (call.signal?.aborted) throw new NotTaken('The client has gone.')
    tenants.serve(tenant, own.world.sandbox)
    try {
      const answer = await tenants.exchange(call)
      await committed(own)
      return withCommits(withoutNodeWords(answer), own)
    } catch (error) {
      // What happened before it broke is to be kept as well.
      if (error instanceof ConnectionBroken) await committed(own)
      throw error
    }
  }
}

function withoutPass(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => name.toLowerCase() !== passHeader)
}

/** What only a node may say. */
function withoutNodeWords(answer: RawResponse): RawResponse {
  if (headerOf(answer.headers, nodeHeader) === undefined) return answer
  return { ...answer, headers: answer.headers.filter(([name]) => name.toLowerCase() !== nodeHeader) }
}

function tooMany(most: number): string {
  return `This node has ${most} tenants already. Drop one with DELETE /_control/NAME, or start the nodes with a larger --max-tenants. Nothing was done.`
}

async function committed(own: OwnedTenant<JournaledSandbox>): Promise<void> {
  await own.commit().catch((cause: Error) => {
    throw new Unanswered(cause.message, { cause })
  })
}

/** Orders that are about a tenant as a whole, which its world cannot carry out. */
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
